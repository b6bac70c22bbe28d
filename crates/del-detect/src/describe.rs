//! A description, as TOML, of how calls are written.

use std::fmt::Write;

use crate::syntax::{Arguments, CLOSING_NAME, Fields, Part, Shape};
use crate::text;

/// A name that no dialect has.
pub(crate) const NAME: &str = "detected";

/// Everything that a description is made of.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sketch {
    pub(crate) title: String,
    pub(crate) source: String,
    pub(crate) reasoning: Option<Reasoning>,
    /// Marks before text, and behind it.
    pub(crate) content: [Vec<String>; 2],
    /// Between text and the first call; the first is written.
    pub(crate) lead: Vec<String>,
    pub(crate) results: Option<Results>,
    pub(crate) definitions: Option<[String; 4]>,
    /// Tokens that end a turn.
    pub(crate) ends: Vec<String>,
}

/// The marks of thinking.
#[derive(Debug, Clone)]
pub(crate) struct Reasoning {
    pub(crate) begin: String,
    /// The first is written.
    pub(crate) end: Vec<String>,
    /// A call ends it as well.
    pub(crate) until_call: bool,
    pub(crate) prefilled: bool,
}

/// How results go back to the model.
#[derive(Debug, Clone)]
pub(crate) struct Results {
    pub(crate) role: &'static str,
    pub(crate) each: String,
    pub(crate) between: String,
    pub(crate) invented: Option<[String; 2]>,
}

/// The TOML text. `inline` calls may begin anywhere in a line, whatever their marks are made of.
pub(crate) fn describe(sketch: &Sketch, shape: &Shape, inline: bool) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "title = {}", quoted(&sketch.title));
    let _ = writeln!(out, "family = \"detected\"");
    let _ = writeln!(out, "source = {}", quoted(&sketch.source));
    let own = shape.parts.iter().take_while(|part| !matches!(part, Part::Arguments(_)));
    let own_mark = own.filter_map(mark).any(is_distinct);
    if !inline && !own_mark && !is_distinct(&shape.block[0]) {
        let _ = writeln!(out, "frame = \"bare\"");
    }
    if !sketch.ends.is_empty() {
        let _ = writeln!(out, "ends = {}", list(&sketch.ends));
    }
    if let Some(reasoning) = &sketch.reasoning {
        let _ = write!(out, "\n{}", thinking(reasoning));
    }
    if sketch.content.iter().any(|marks| !marks.is_empty()) {
        let [begin, end] = &sketch.content;
        let _ = write!(out, "\n[content]\nbegin = {}\nend = {}\n", list(begin), list(end));
    }
    let [open, close] = &shape.block;
    if !open.trim().is_empty() || !close.trim().is_empty() {
        out.push_str("\n[block]\n");
        let need = if own_mark { Some("soft") } else { None };
        for (key, marks, need) in [("open", open, need), ("close", close, Some("soft"))] {
            let seams = seams(marks);
            let mut opens = key == "open" && !inline;
            let pieces = seams.iter().enumerate().map(|(place, mark)| {
                // Of several the last one tells; the others may be missing behind text.
                let free = key == "open" && need.is_some() && place + 1 < seams.len();
                mark_piece(mark, if free { Some("free") } else { need }, &mut opens)
            });
            let pieces: Vec<String> = pieces.collect();
            if !pieces.is_empty() {
                let _ = writeln!(out, "{key} = [{}]", pieces.join(", "));
            }
        }
    }
    out.push_str("\n[call]\npieces = [\n");
    for piece in pieces(&shape.parts, inline) {
        let _ = writeln!(out, "  {piece},");
    }
    out.push_str("]\n");
    if !shape.between.is_empty() {
        let _ = writeln!(out, "between = {}", quoted(&shape.between));
    }
    if sketch.lead.iter().any(|lead| !lead.is_empty()) {
        let _ = writeln!(out, "lead = {}", one_or_list(&sketch.lead));
    }
    if let Some(results) = &sketch.results {
        let _ =
            write!(out, "\n[results]\nrole = {}\neach = {}\n", quoted(results.role), quoted(&results.each));
        if !results.between.is_empty() {
            let _ = writeln!(out, "between = {}", quoted(&results.between));
        }
        // What is left out here is taken from the form.
        let mut form = del_dialects::description::Results::default();
        form.each.clone_from(&results.each);
        if let Some([open, close]) = results.invented.as_ref().filter(|pair| !form.tags().contains(pair)) {
            let _ = writeln!(out, "invented = [[{}, {}]]", quoted(open), quoted(close));
        }
    }
    if let Some([open, each, between, close]) = &sketch.definitions {
        out.push_str("\n[definitions]\n");
        for (key, text) in [("open", open), ("each", each), ("between", between), ("close", close)] {
            if !text.is_empty() || key == "between" {
                let _ = writeln!(out, "{key} = {}", quoted(text));
            }
        }
    }
    out
}

/// The text with what is open named at its top.
pub(crate) fn with_open(toml: &str, open: &[String]) -> String {
    let lines: String = open.iter().flat_map(|line| ["# Open: ", line.as_str(), ".\n"]).collect();
    lines + toml
}

/// The table of these marks.
pub(crate) fn thinking(reasoning: &Reasoning) -> String {
    let (begin, end) = (quoted(&reasoning.begin), one_or_list(&reasoning.end));
    let mut out = format!("[reasoning]\nbegin = {begin}\nend = {end}\n");
    for (key, set) in [("until_call", reasoning.until_call), ("prefilled", reasoning.prefilled)] {
        if set {
            let _ = writeln!(out, "{key} = true");
        }
    }
    out
}

/// A text as a TOML string.
pub(crate) fn quoted(text: &str) -> String {
    // JSON's escapes are TOML's as well, but for one character.
    serde_json::Value::from(text).to_string().replace('\u{7f}', "\\u007f")
}

pub(crate) fn list(texts: &[String]) -> String {
    let texts: Vec<String> = texts.iter().map(|text| quoted(text)).collect();
    format!("[{}]", texts.join(", "))
}

pub(crate) fn one_or_list(texts: &[String]) -> String {
    match texts {
        [only] => quoted(only),
        many => list(many),
    }
}

fn mark(part: &Part) -> Option<&str> {
    match part {
        Part::Mark(mark) => Some(mark),
        _ => None,
    }
}

/// True for a mark that no ordinary text holds: more than brackets.
fn is_distinct(mark: &str) -> bool {
    const LETTERS: usize = 3;
    let letters = mark.chars().filter(|c| c.is_alphanumeric()).count();
    letters >= LETTERS || (letters > 0 && mark.trim().chars().count() > LETTERS)
}

/// The pieces of a call. Opening marks have to be there, closing ones may be missing.
fn pieces(parts: &[Part], inline: bool) -> Vec<String> {
    let args = parts.iter().position(|part| matches!(part, Part::Arguments(_))).unwrap_or(parts.len());
    let mut out = Vec::new();
    let mut named = false;
    let mut opens = !inline;
    for (place, part) in parts.iter().enumerate() {
        match part {
            Part::Mark(mark) => {
                // The mark before an id behind the name belongs to the id: a call without an id has neither.
                let before_id = matches!(parts.get(place + 1), Some(Part::Head(form)) if form == "{id}");
                if before_id && named && !mark.trim().is_empty() {
                    out.push(format!("{{ mark = {}, head = \"{{id}}\", need = \"id\" }}", quoted(mark)));
                    continue;
                }
                let need = (place > args).then_some("soft");
                out.extend(seams(mark).iter().map(|mark| mark_piece(mark, need, &mut opens)));
            }
            Part::Head(form) => {
                let follows_mark =
                    place > 0 && matches!(&parts[place - 1], Part::Mark(mark) if !mark.trim().is_empty());
                if form != "{id}" || !named || !follows_mark {
                    out.push(format!("{{ head = {} }}", quoted(form)));
                }
                named = named || form.contains("{name}");
                opens = false;
            }
            Part::Arguments(arguments) => {
                opens = false;
                out.push(args_piece(arguments));
            }
        }
    }
    out
}

/// One that opens a call stands at the start of a line where it is a word. Behind the first that has to be there, none
/// opens any more.
fn mark_piece(mark: &str, need: Option<&str>, opens: &mut bool) -> String {
    if let Some((open, close)) = mark.split_once(CLOSING_NAME) {
        let open = quoted(open);
        return format!(
            "{{ mark = {open}, head = \"{{name}}\", need = \"soft\" }}, {}",
            mark_piece(close, need, opens)
        );
    }
    let need = if mark.trim().is_empty() { Some("soft") } else { need };
    let mut out = format!("{{ mark = {}", quoted(mark));
    let word = mark.trim_start().starts_with(char::is_alphabetic) && is_distinct(mark);
    match need {
        Some(need) => {
            let _ = write!(out, ", need = \"{need}\"");
        }
        None => {
            if word && *opens {
                out.push_str(", line_start = true");
            }
            *opens = false;
        }
    }
    out.push_str(" }");
    out
}

/// Several marks in a row, each with the white space behind it.
fn seams(marks: &str) -> Vec<&str> {
    let mut out = Vec::new();
    let mut rest = marks;
    while let Some(mark) = text::first_mark(rest) {
        let Some(at) = rest.find(mark) else { break };
        let mut end = at + text::whole_mark(&rest[at..]);
        // A bracket of a token may lie around another mark: `]<]x[>[<call>`.
        while let Some(behind) = rest[end..].strip_prefix('[').filter(|_| text::whole_mark(&rest[end..]) == 0)
        {
            match text::whole_mark(behind) {
                0 => break,
                len => end += 1 + len,
            }
        }
        let space = rest[end..].len() - rest[end..].trim_start().len();
        let (piece, behind) = rest.split_at(end + space);
        if behind.is_empty() || !behind.starts_with(|c| text::opens(c) || c == '{') {
            break;
        }
        out.push(piece);
        rest = behind;
    }
    if !rest.is_empty() {
        out.push(rest);
    }
    out
}

fn args_piece(arguments: &Arguments) -> String {
    match arguments {
        Arguments::Object => "{ args = \"object\" }".to_owned(),
        Arguments::Call { form, python } => {
            let python = if *python { ", values = \"python\"" } else { "" };
            format!("{{ args = \"call\", form = {}{python} }}", quoted(form))
        }
        Arguments::Loose {
            outer: [open, close, pair],
            quotes,
            quoted_keys,
            python,
            comma,
            colon,
            sorted,
        } => {
            let mut loose = format!(
                "open = \"{open}\", close = \"{close}\", pair = \"{pair}\", quotes = {}",
                list(quotes)
            );
            if *quoted_keys {
                loose.push_str(", quoted_keys = true");
            }
            if *python {
                loose.push_str(", words = [\"True\", \"False\", \"None\"]");
            }
            let _ = write!(loose, ", comma = {}, colon = {}", quoted(comma), quoted(colon));
            if *sorted {
                loose.push_str(", sorted = true");
            }
            format!("{{ args = \"object\", loose = {{ {loose} }} }}")
        }
        Arguments::Fields(fields) => {
            let args = match &fields.item {
                Some(_) => "elements",
                None if fields.lines => "lines",
                None => "fields",
            };
            let mut out = format!("{{ args = \"{args}\", form = {}", quoted(&fields.form));
            if let Some(item) = &fields.item {
                let _ = write!(out, ", item = {}", quoted(item));
            }
            if let Some(types) = &fields.types {
                let _ = write!(out, ", types = {}", list(types));
            }
            let values = match fields {
                Fields { json: true, .. } => Some("json"),
                Fields { containers: true, .. } => Some("python"),
                Fields { python: true, .. } => Some("words"),
                _ => None,
            };
            if let Some(values) = values {
                let _ = write!(out, ", values = \"{values}\"");
            }
            if fields.xml && !fields.json {
                out.push_str(", xml = true");
            }
            out.push_str(" }");
            out
        }
    }
}
