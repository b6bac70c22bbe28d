//! Text of others, on its way into a prompt: no mark of any dialect survives in it.

use std::borrow::Cow;

use crate::dialect::{Codec, Dialect, Frame};
use crate::parse::automaton::{Automaton, Scan};

/// Breaks a mark behind its first character. It is invisible, and no mark holds one; one of the text's own is doubled.
const BREAK: char = '\u{200b}';

/// All marks that must not survive.
#[derive(Debug)]
pub(crate) struct Marks(Automaton);

impl Marks {
    pub(crate) fn of<'d>(dialects: impl Iterator<Item = &'d Dialect>) -> Self {
        let mut marks: Vec<String> = ["<|", "<｜", "|>", "｜>", "\u{200b}"].map(str::to_owned).to_vec();
        for dialect in dialects {
            gather(dialect, &mut marks);
            dialect.variants.iter().for_each(|variant| gather(variant, &mut marks));
        }
        marks.sort_unstable();
        marks.dedup();
        Self(Automaton::new(marks.iter().map(String::as_str)))
    }

    /// `text` with every mark broken. Without its breaks it is what it was.
    pub(crate) fn neutralise<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let bytes = text.as_bytes();
        let (mut out, mut copied, mut look) = (String::new(), 0, 0);
        loop {
            let mut scan = Scan::default();
            let found = self.0.find(&mut scan, bytes, &mut look, &mut 0);
            let Some(hit) = found.or_else(|| self.0.take(&mut scan, &mut look, &mut 0)) else { break };
            // Marks may overlap, so the search goes on behind the first character.
            let first = text[hit.start..].chars().next().map_or(1, char::len_utf8);
            look = hit.start + first;
            out.push_str(&text[copied..look]);
            out.push(BREAK);
            copied = look;
        }
        if copied == 0 {
            return Cow::Borrowed(text);
        }
        out.push_str(&text[copied..]);
        Cow::Owned(out)
    }

    /// The text that `neutralise` was given, from what it made of it.
    pub(crate) fn restore<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if !text.contains(BREAK) {
            return Cow::Borrowed(text);
        }
        let mut plain = String::with_capacity(text.len());
        let mut chars = text.chars().peekable();
        while let Some(c) = chars.next() {
            if c != BREAK || chars.next_if_eq(&BREAK).is_some() {
                plain.push(c);
            }
        }
        // Only text that this function's twin has made is changed.
        if self.neutralise(&plain) == text { Cow::Owned(plain) } else { Cow::Borrowed(text) }
    }
}

fn gather(dialect: &Dialect, marks: &mut Vec<String>) {
    let mut add = |mark: &str| {
        let core = mark.trim();
        let special = core.chars().any(|c| !c.is_alphanumeric() && !c.is_whitespace());
        if core.chars().count() >= 3 && special && !core.starts_with("```") {
            marks.push(core.to_owned());
        }
    };
    dialect.marks().flat_map(|mark| &mark.read).for_each(|mark| add(mark));
    if let Some(reasoning) = &dialect.reasoning {
        reasoning.begin.iter().chain(&reasoning.end).for_each(|mark| add(mark));
    }
    dialect.results.invented.iter().flatten().for_each(|mark| add(mark));
    dialect.ends.iter().for_each(|mark| add(mark));
    if let Codec::Fields(form) = dialect.codec() {
        form.open.iter().chain(&form.value_open).chain(&form.value_close).for_each(|mark| add(mark));
    }
    if let Frame::Channels(channels) = &dialect.frame {
        channels.marks().for_each(|mark| add(mark));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use crate::collect::Collect;
    use crate::dialect::Dialect;
    use crate::dialects::Dialects;
    use crate::message::{Call, Tool};
    use crate::parse::{End, Turn};

    fn calls_in(dialect: &Arc<Dialect>, text: &str, tools: &[Tool]) -> Vec<Call> {
        let (mut parser, mut collect) = (dialect.parser(Turn::new(tools)), Collect::new());
        parser.push(text, &mut collect);
        parser.finish(End::End, &mut collect);
        collect.into_message().calls
    }

    #[test]
    fn no_marked_call_survives_and_all_of_it_comes_back() {
        let all = Dialects::builtin();
        let tools = [Tool {
            name: "read_file".into(),
            description: String::new(),
            parameters: serde_json::json!({"type": "object", "properties": {"path": {"type": "string"}}}),
        }];
        let call = Call { id: None, name: "read_file".into(), arguments: r#"{"path": "a"}"#.into() };
        for dialect in all.iter() {
            let written =
                dialect.render_calls(std::slice::from_ref(&call), &tools).expect("a call it can carry");
            let neutral = all.neutralise(&written);
            assert_eq!(all.restore(&neutral), written, "{}", dialect.name);
            // A bare call has no mark to break, nor has one whose opening mark stands in the prompt.
            let bare = |dialect: &Dialect| dialect.frame == crate::dialect::Frame::Bare;
            let reads_bare = dialect.reads.iter().filter_map(|name| all.get(name)).any(|other| bare(other));
            if !bare(dialect) && !reads_bare && neutral != written {
                assert_eq!(calls_in(dialect, &neutral, &tools), [], "{}: {neutral:?}", dialect.name);
            }
        }
    }

    #[test]
    fn plain_text_is_left_alone() {
        let all = Dialects::builtin();
        for text in ["", "1 < 2", "let a = b[0];", "# Heading\n\n```rust\nfn main() {}\n```"] {
            assert_eq!(all.neutralise(text), text);
            assert_eq!(all.restore(text), text);
        }
        for text in ["\u{200b}x", "\u{200b}</function>", "<\u{200b}|im_end|>\u{200b}\u{200b}<|im_end|>"] {
            assert_eq!(all.restore(&all.neutralise(text)), text);
        }
    }
}
