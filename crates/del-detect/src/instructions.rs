//! What a template says of tools to the model: the words around their definitions. A model that was trained on the
//! template was trained on these.

use std::ops::Range;

use del_dialects::Dialects;
use serde::{Deserialize, Serialize};

use crate::probe::{Introduction, Turn};
use crate::template::YEAR;
use crate::text;

/// The words of a template around the definitions of tools, which stand in the form of a known dialect.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Instructions {
    /// What the template says first where the conversation begins without a system message.
    pub alone: String,
    /// What comes before the definitions.
    pub before: String,
    /// The name of the dialect in whose form the definitions are.
    pub definitions: String,
    /// What comes behind them.
    pub behind: String,
}

/// The words of a template, which writes the model's turns as this one. None where the words do not say how to call, or
/// where the tools are shown in no known form.
pub(crate) fn of(introduction: &Introduction, turn: &Turn, dialects: &Dialects) -> Option<Instructions> {
    let Introduction { plain, alone, shown } = introduction;
    // What also stands in the prompt without tools is no word about them: borders of messages, and the day's date.
    let borders: Vec<&str> =
        text::marks(plain).chain(plain.lines().filter(|line| !line.trim().is_empty())).collect();
    // Templates in Go, and engines that run one in their own way, write the same JSON with other spaces.
    let found = [exact as Find, but_for_spaces].into_iter().find_map(|find| {
        dialects.iter().find_map(|dialect| {
            let mut words = shown.iter().map(|(tools, whole)| {
                around(text::inserted(plain, whole), &dialect.definitions(tools), &borders, find)
            });
            let first = words.next()??;
            words.all(|other| other == Some(first)).then_some((first, dialect, find))
        })
    });
    let ((before, behind), dialect, find) = found?;
    let (tools, _) = shown.first()?;
    let alone = around(alone, &dialect.definitions(tools), &borders, find);
    let alone = alone.and_then(|(first, _)| first.strip_suffix(before)).unwrap_or_default().trim();
    let form = opening(&turn.text, &turn.calls.first()?.name);
    let says_how = !form.is_empty() && [before, behind].iter().any(|words| words.contains(form));
    let dated = [alone, before, behind].iter().any(|words| words.contains(YEAR));
    (says_how && !dated).then(|| Instructions {
        alone: alone.to_owned(),
        before: before.to_owned(),
        definitions: dialect.name().to_owned(),
        behind: behind.to_owned(),
    })
}

/// The words right before and behind the definitions, up to where another message begins or ends.
fn around<'t>(
    inserted: &'t str,
    definitions: &str,
    borders: &[&str],
    find: Find,
) -> Option<(&'t str, &'t str)> {
    let Range { start, end } = find(inserted, definitions.trim()).filter(|found| !found.is_empty())?;
    let (before, behind) = (&inserted[..start], &inserted[end..]);
    let from = borders.iter().filter_map(|mark| Some(before.rfind(mark)? + mark.len())).max();
    let before = match from {
        // The role of a message of its own stands behind the mark that opens it.
        Some(from) => before[from..].trim_start().trim_start_matches(|c: char| c.is_ascii_lowercase()),
        None => before,
    };
    let to = borders.iter().filter_map(|mark| behind.find(mark)).min().unwrap_or(behind.len());
    Some((before.trim_start(), behind[..to].trim_end()))
}

/// Where a text holds another one.
type Find = fn(&str, &str) -> Option<Range<usize>>;

fn exact(text: &str, part: &str) -> Option<Range<usize>> {
    text.find(part).map(|at| at..at + part.len())
}

fn but_for_spaces(text: &str, part: &str) -> Option<Range<usize>> {
    let dense = |text: &str| text.split_whitespace().collect::<String>();
    let (whole, part) = (dense(text), dense(part));
    let at = whole.find(&part).filter(|_| !part.is_empty())?;
    // Where each byte of the dense text stands.
    let words = text.char_indices().filter(|(_, c)| !c.is_whitespace());
    let places: Vec<usize> = words.flat_map(|(at, c)| at..at + c.len_utf8()).collect();
    Some(places[at]..places[at + part.len() - 1] + 1)
}

/// How a call begins, before its tool's name: its first mark, or else its first word or bracket.
fn opening<'t>(call: &'t str, name: &str) -> &'t str {
    let call = call.trim_start();
    let head = &call[..call.find(name).unwrap_or_default()];
    let first = head.split(|c: char| c.is_whitespace() || matches!(c, '"' | '\'')).next().unwrap_or_default();
    text::first_mark(head).filter(|mark| head.starts_with(mark)).unwrap_or(first)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;
    use crate::{Kind, Material, Options, detect};

    fn told(template: &str) -> Option<Instructions> {
        let material = Material {
            kind: Kind::Jinja,
            text: template.to_owned(),
            found: Vec::new(),
            others: Vec::new(),
            tokens: serde_json::Map::new(),
            model: None,
        };
        detect(&material, Dialects::builtin(), Options::default()).unwrap().report.instructions
    }

    const HERMES: &str = include_str!("../tests/families/hermes-json.jinja");

    #[test]
    fn the_words_of_a_template_are_told() {
        let found = told(HERMES).unwrap();
        assert_eq!(found.alone, "");
        assert_eq!(found.before, "You may call these functions:\n");
        assert_eq!(found.definitions, "hermes-json");
        let behind = "\nAnswer with <tool_call>\n{\"name\": …, \"arguments\": …}\n</tool_call> to call one.";
        assert_eq!(found.behind, behind);
    }

    #[test]
    fn words_inside_a_system_message_are_told_without_it() {
        let inside = HERMES
            .replace(
                "'<|im_start|>system\\nYou may",
                "'<|im_start|>system\\n' ~ (messages[0].content if messages[0].role == 'system' else 'You are Hal.') \
                 ~ '\\n\\nYou may",
            )
            .replace("in messages %}", "in (messages[1:] if tools and messages[0].role == 'system' else messages) %}");
        let found = told(&inside).unwrap();
        assert_eq!(found.alone, "You are Hal.");
        assert_eq!(Instructions { alone: String::new(), ..found }, told(HERMES).unwrap());
    }

    #[test]
    fn json_with_other_spaces_is_the_same() {
        let dense = HERMES.replace("(tool | tojson)", "(tool | tojson(separators=(',', ':')))");
        assert_ne!(dense, HERMES);
        assert_eq!(told(&dense), told(HERMES));
        assert_eq!(but_for_spaces("ä <a> b ", "<a>b"), Some(3..8));
        assert_eq!(but_for_spaces("a b", " "), None);
    }

    #[test]
    fn words_that_do_not_say_how_to_call_are_not_told() {
        let mute = HERMES.replace("Answer with <tool_call>", "Answer");
        assert_ne!(mute, HERMES);
        assert_eq!(told(&mute), None);
    }

    #[test]
    fn calls_begin_with_a_mark_a_word_or_a_bracket() {
        for (call, expected) in [
            ("<tool_call>\n{\"name\": \"f\"}", "<tool_call>"),
            ("{\"name\": \"f\"}", "{"),
            ("[f(a=1)]", "["),
            ("Action: f", "Action:"),
            ("f\n{}", ""),
        ] {
            assert_eq!(opening(call, "f"), expected, "{call}");
        }
    }

    #[test]
    fn the_date_is_no_word_about_tools() {
        let dated = |words: &str| HERMES.replace("\\nYou may call", &format!("\\n{words}You may call"));
        let everywhere =
            dated("").replacen("{%-", "{{- '<|im_start|>system\\nToday is 15 Jan 2025.' }}{%-", 1);
        assert_eq!(told(&everywhere), told(HERMES));
        assert_eq!(told(&dated("Today is ' ~ strftime_now('%d %B %Y') ~ '. ")), None);
    }

    #[test]
    fn tools_in_no_known_form_are_not_told() {
        let listed = HERMES.replace("tool | tojson", "tool.function.name ~ tool.function.description");
        assert_ne!(listed, HERMES);
        assert_eq!(told(&listed), None);
    }
}
