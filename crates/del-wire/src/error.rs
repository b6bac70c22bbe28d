//! What is wrong with JSON from outside.

/// JSON from outside that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WireError {
    /// It is not JSON.
    #[error("expected JSON, got `{got}` ({reason})")]
    Json {
        /// Its beginning.
        got: String,
        /// What the JSON reader says, with line and column.
        reason: String,
    },
    /// It is JSON of another shape.
    #[error("`{at}` should be {expected}, got `{got}`")]
    Shape {
        /// The member.
        at: String,
        /// What should stand there.
        expected: &'static str,
        /// The beginning of what stands there.
        got: String,
    },
}

impl WireError {
    pub(crate) fn shape(at: &str, expected: &'static str, got: &str) -> Self {
        Self::Shape { at: at.to_owned(), expected, got: excerpt(got) }
    }
}

/// The first 120 characters of `text` on one line, for an error.
pub fn excerpt(text: &str) -> String {
    const LONGEST: usize = 120;
    let text = text.trim();
    let mut out: String = text.chars().take(LONGEST).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if text.chars().nth(LONGEST).is_some() {
        out.push('…');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::excerpt;

    #[test]
    fn an_excerpt_has_a_line_and_an_end() {
        assert_eq!(excerpt(&"é".repeat(200)).chars().count(), 121);
        assert_eq!(excerpt(" a\nb "), "a b");
    }
}
