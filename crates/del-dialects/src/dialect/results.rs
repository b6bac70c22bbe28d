//! How results go back to the model.

/// How results go back to the model.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Results {
    /// The role of the message that carries them.
    pub role: String,
    /// Before the first.
    pub open: String,
    /// Each one: `{text}`, or `{quoted}` as a JSON string; `{name}`, `{id}`, and `{number}` of the call.
    pub each: String,
    /// Each one that failed, when it looks different.
    pub failed: Option<String>,
    /// Between two.
    pub between: String,
    /// After the last.
    pub close: String,
    /// Openers and closers of blocks that a model may invent.
    pub invented: Vec<[String; 2]>,
}

impl Results {
    /// The forms that it is written with.
    pub fn forms(&self) -> impl Iterator<Item = &str> {
        let all = [&self.open, &self.each, &self.between, &self.close];
        all.into_iter().chain(&self.failed).map(String::as_str)
    }

    /// The tags around all results and around each, opener and closer: what a model writes that makes up results.
    pub fn tags(&self) -> Vec<[String; 2]> {
        let each = std::iter::once(&self.each).chain(&self.failed).map(|form| (form, form));
        let around = std::iter::once((&self.open, &self.close)).chain(each);
        around
            .filter_map(|(front, back)| Some([opener(front)?.to_owned(), closer(back)?.to_owned()]))
            .collect()
    }
}

/// A tag has at least so many bytes.
const MIN_TAG: usize = 3;

/// The tag that a form begins with: up to its bracket, or up to its first attribute.
fn opener(form: &str) -> Option<&str> {
    let form = form.trim_start();
    let close = match form.chars().next()? {
        '<' => '>',
        '[' => ']',
        _ => return None,
    };
    let end = form.find([close, ' '])? + 1;
    Some(&form[..end]).filter(|tag| is_tag(tag.trim_end()))
}

/// The tag that a form ends with.
fn closer(form: &str) -> Option<&str> {
    let form = form.trim_end();
    let open = match form.chars().next_back()? {
        '>' => '<',
        ']' => '[',
        _ => return None,
    };
    Some(&form[form.rfind(open)?..]).filter(|tag| is_tag(tag))
}

/// True for a bracket and a name, where nothing is left to fill in.
fn is_tag(text: &str) -> bool {
    text.len() >= MIN_TAG
        && !text.contains(|c: char| c.is_whitespace() || matches!(c, '{' | '}' | '"' | '\''))
}

#[cfg(test)]
mod tests {
    use super::Results;

    #[test]
    fn tags_around_results_are_those_that_stand_at_their_ends() {
        let tags = |[open, each, close]: [&str; 3]| {
            let results =
                Results { open: open.into(), each: each.into(), close: close.into(), ..Results::default() };
            results.tags().into_iter().map(|[open, close]| format!("{open} {close}")).collect::<Vec<_>>()
        };
        for (forms, expected) in [
            (["", "<result>\n{text}\n</result>\n", ""], &["<result> </result>"][..]),
            (["<|all|>[\n", "{text}", "\n]<|end|>"], &["<|all|> <|end|>"]),
            (["<all>", "<one name=\"{name}\">{text}</one>", "</all>"], &["<all> </all>", "<one  </one>"]),
            (["", "[R] {\"x\": {text}}[/R]", ""], &["[R] [/R]"]),
            // Brackets of JSON, a tag that is a slot, one without the other.
            (["[", "{text}", "]"], &[]),
            (["[\"a\", ", "<{name}>{text}</{name}>", "\"b\"]"], &[]),
            (["<open>", "<r> {text}", ""], &[]),
        ] {
            assert_eq!(tags(forms), expected, "{forms:?}");
        }
    }
}
