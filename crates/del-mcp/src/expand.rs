//! `$NAME`, `${NAME}` and `${NAME:-otherwise}` in a configuration.

/// A variable that is not set.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the variable {0} is not set")]
pub(crate) struct Unset(pub(crate) String);

/// `text` with its variables in place. A `$` that no name follows stays.
pub(crate) fn expand(text: &str, value: &dyn Fn(&str) -> Option<String>) -> Result<String, Unset> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        let braced = rest.strip_prefix('{').and_then(|inner| inner.split_once('}'));
        let (name, otherwise, after) = match braced {
            Some((inner, after)) => {
                let (name, otherwise) = match inner.split_once(":-") {
                    Some((name, otherwise)) => (name, Some(otherwise)),
                    None => (inner, None),
                };
                (name, otherwise, after)
            }
            None => {
                let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
                (&rest[..end], None, &rest[end..])
            }
        };
        if !is_name(name) {
            out.push('$');
            continue;
        }
        match (value(name).filter(|value| !value.is_empty() || otherwise.is_none()), otherwise) {
            (Some(value), _) => out.push_str(&value),
            (None, Some(otherwise)) => out.push_str(otherwise),
            (None, None) => return Err(Unset(name.to_owned())),
        }
        rest = after;
    }
    out.push_str(rest);
    Ok(out)
}

fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_put_in_and_all_else_stays() {
        let value = |name: &str| match name {
            "A" => Some("one".to_owned()),
            "EMPTY" => Some(String::new()),
            "LOOP" => Some("$LOOP".to_owned()),
            _ => None,
        };
        for (text, expanded) in [
            ("", ""),
            ("x $A y", "x one y"),
            ("${A}b", "oneb"),
            ("$A.$A", "one.one"),
            ("${NO:-else}", "else"),
            ("${NO:-}", ""),
            ("${EMPTY:-else}", "else"),
            ("[$EMPTY]", "[]"),
            ("$LOOP", "$LOOP"),
            ("5$ $5 ${ ${} $", "5$ $5 ${ ${} $"),
        ] {
            assert_eq!(expand(text, &value).as_deref(), Ok(expanded), "{text}");
        }
        assert_eq!(expand("a ${NO}", &value), Err(Unset("NO".to_owned())));
        assert_eq!(expand("$NO", &value), Err(Unset("NO".to_owned())));
    }
}
