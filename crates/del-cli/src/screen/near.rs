//! Which dialects came near in what a model wrote, for whoever wants to know why a call was read so, or not at all.

use std::sync::Arc;

use del_dialects::{Collect, Dialect, End, Start, Tool, Turn};
use del_tools::counted;

/// The dialects that answers are read in.
#[derive(Debug)]
pub(crate) struct Tried {
    pub(crate) dialects: Vec<Arc<Dialect>>,
    pub(crate) tools: Arc<[Tool]>,
}

/// A dialect that, alone, finds something of its own in a text.
struct Near<'d> {
    name: &'d str,
    what: String,
    /// Whether it finds a call that counts.
    whole: bool,
}

/// As many are named.
const NAMED: usize = 6;

impl Tried {
    /// A line about the dialects that came near in `text`, besides those that matched, where there are others.
    pub(crate) fn line(&self, text: &str, matched: &[String]) -> Option<String> {
        let others =
            || self.dialects.iter().filter(|dialect| !matched.iter().any(|name| name == dialect.name()));
        let mut near: Vec<Near<'_>> = others().filter_map(|dialect| self.near(dialect, text)).collect();
        near.sort_by_key(|near| !near.whole);
        if near.is_empty() {
            let count = others().count();
            return match (matched.is_empty(), count) {
                (true, 1) => {
                    Some(format!("{} did not come near: all of it is text", self.dialects[0].name()))
                }
                (true, _) => Some(format!("none of {count} dialects came near: all of it is text")),
                (false, 0) => None,
                (false, _) => Some(format!("none of the {} came near", counted(count, "other dialect"))),
            };
        }
        let named: Vec<String> =
            near.iter().take(NAMED).map(|near| format!("{} ({})", near.name, near.what)).collect();
        let more = near.len().saturating_sub(NAMED);
        let more = if more > 0 { format!(", and {more} more") } else { String::new() };
        Some(format!("came near, read alone: {}{more}", named.join(", ")))
    }

    fn near<'d>(&self, dialect: &'d Arc<Dialect>, text: &str) -> Option<Near<'d>> {
        let turn = Turn::new(Arc::clone(&self.tools)).starting(Start::Unknown);
        let mut parser = dialect.parser(turn);
        let mut answer = Collect::new();
        parser.push(text, &mut answer);
        parser.finish(End::End, &mut answer);
        let message = answer.into_message();
        let what = match (message.calls.first(), message.faults.first()) {
            (Some(call), _) => format!("a call of {}", call.name),
            (None, Some(fault)) => format!("byte {}: {}", fault.span.start, fault.kind.message()),
            (None, None) => return None,
        };
        Some(Near { name: dialect.name(), what, whole: !message.calls.is_empty() })
    }
}

#[cfg(test)]
mod tests {
    use del_dialects::Dialects;

    use super::*;

    fn line(text: &str, matched: &[&str]) -> String {
        line_of(Dialects::builtin().iter().cloned().collect(), text, matched).unwrap()
    }

    fn line_of(dialects: Vec<Arc<Dialect>>, text: &str, matched: &[&str]) -> Option<String> {
        let matched: Vec<String> = matched.iter().map(|name| (*name).to_owned()).collect();
        Tried { dialects, tools: Vec::new().into() }.line(text, &matched)
    }

    #[test]
    fn of_one_dialect_alone_there_is_nothing_to_say_but_that_it_did_not_match() {
        let one: Vec<_> = Dialects::builtin().iter().filter(|d| d.name() == "hermes-json").cloned().collect();
        assert_eq!(line_of(one.clone(), "x", &["hermes-json"]), None);
        let said = "hermes-json did not come near: all of it is text";
        assert_eq!(line_of(one, "x", &[]).as_deref(), Some(said));
    }

    #[test]
    fn only_those_that_find_something_of_their_own_are_named() {
        let count = Dialects::builtin().iter().count();
        assert_eq!(line("Hello.", &[]), format!("none of {count} dialects came near: all of it is text"));
        let broken = line("<tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\": }}\n</tool_call>", &[]);
        assert!(broken.contains("hermes-json (byte "), "{broken}");
        assert!(!broken.contains("harmony") && !broken.contains("command-r-plus"), "{broken}");
        let whole = "<tool_call>\n{\"name\": \"f\", \"arguments\": {}}\n</tool_call>";
        let others = line(whole, &["hermes-json"]);
        assert!(!others.contains("hermes-json") && others.contains("(a call of f)"), "{others}");
    }
}
