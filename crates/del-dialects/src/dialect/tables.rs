//! The tables of a description that are neither pieces nor definitions.

use super::check::DialectError;
use super::record::record;
use super::table::Field;

record! {
    /// The marks of thinking.
    pub struct Reasoning keys(table) {
        /// Opens it; the first spelling is written.
        pub begin: Vec<String> as written_first,
        /// Closes it; the first spelling is written.
        pub end: Vec<String> as written_first,
        /// True when calls may stand inside thinking, which goes on behind them.
        pub holds_calls: bool = false,
        /// True when a call ends thinking that was not closed.
        pub until_call: bool where (!holds_calls) = false,
        /// True when the prompt normally ends inside the thinking.
        pub prefilled: bool = false,
    }
}

record! {
    /// Marks around the answer for the user, which are not for the user; empty when there are none.
    pub struct Content keys(table) {
        /// Begins it, where nothing but thinking comes before.
        pub begin: Vec<String> as marks = Vec::new(),
        /// Ends it, where it was begun.
        pub end: Vec<String> as marks = Vec::new(),
    }
}

record! {
    /// By what a chat template is known, as text.
    pub struct Detect keys(table) {
        /// All of these stand in it.
        pub all: Vec<String> = Vec::new(),
        /// One of these does, where there are any.
        pub any: Vec<String> = Vec::new(),
        /// None of these does.
        pub none: Vec<String> = Vec::new(),
    }
}

record! {
    /// How results go back to the model.
    pub struct Results keys(table) {
        /// The role of the message that carries them.
        pub role: String as said = "user".to_owned(),
        /// Before the first.
        pub open: String = String::new(),
        /// Each one: `{text}`, or `{quoted}` as a JSON string; `{name}`, `{id}`, and `{number}` of the call.
        pub each: String as result = "{text}".to_owned(),
        /// Each one that failed, when it looks different.
        pub failed: Option<String> as failed_result = None,
        /// Between two.
        pub between: String = "\n".to_owned(),
        /// After the last.
        pub close: String = String::new(),
        /// Openers and closers of blocks that a model may invent. In channels the header of a message tells who made it.
        pub invented: Vec<[String; 2]> as pairs = if table.source.in_channels() {
            Vec::new()
        } else {
            table.source.pairs(&tags(&open, &each, failed.as_ref(), &close))
        },
    }
}

impl Results {
    /// True for a mark that opens a result which a model may make up.
    pub(crate) fn makes_up(&self, mark: &str) -> bool {
        self.invented.iter().any(|[open, _]| open.trim() == mark.trim())
    }
}

impl Reasoning {
    /// Thinking as most models write it that think.
    pub(crate) fn usual() -> Self {
        let [begin, end] = ["<think>\n", "\n</think>\n\n"].map(|mark| vec![mark.to_owned()]);
        Self { begin, end, ..Self::default() }
    }
}

impl Field<'_> {
    /// A form that carries what a tool gave.
    fn result(self) -> Result<String, DialectError> {
        let slots = ["{text}", "{quoted}"];
        let carries = |form: &str| slots.iter().any(|slot| form.contains(slot));
        self.form(
            |form| if carries(form) { Ok(form.to_owned()) } else { Err("a form with {text} or {quoted}") },
        )
    }

    fn failed_result(self) -> Result<Option<String>, DialectError> {
        self.result().map(Some)
    }
}

impl Results {
    /// The forms that it is written with.
    pub fn forms(&self) -> impl Iterator<Item = &str> {
        let all = [&self.open, &self.each, &self.between, &self.close];
        all.into_iter().chain(&self.failed).map(String::as_str)
    }

    /// The tags around all results and around each, opener and closer: what a model writes that makes up results.
    pub fn tags(&self) -> Vec<[String; 2]> {
        tags(&self.open, &self.each, self.failed.as_ref(), &self.close)
    }
}

fn tags(open: &str, each: &str, failed: Option<&String>, close: &str) -> Vec<[String; 2]> {
    let around = [(open, close), (each, each)].into_iter().chain(failed.map(|form| (&**form, &**form)));
    let tag = |(front, back)| Some([opener(front)?.to_owned(), closer(back)?.to_owned()]);
    around.filter_map(tag).collect()
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
