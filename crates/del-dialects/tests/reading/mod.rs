//! Reads texts in pieces and merges what comes of it, for all tests of this crate.
#![allow(dead_code, unused_imports, unreachable_pub, reason = "each test file uses its own part of this")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod lawful;

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use del_dialects::description::{Codec, Slot};
use del_dialects::{
    Call, Collect, Dialect, Dialects, End, Event, Fault, Limits, Message, Parser, Sink, Span, Start, Tool,
    Turn,
};

pub use lawful::lawful;

/// The folder of the built-in dialects.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("dialects")
}

/// The tools that the cases' models were told of.
pub fn tools() -> Arc<[Tool]> {
    static TOOLS: LazyLock<Arc<[Tool]>> = LazyLock::new(|| {
        let text = std::fs::read_to_string(folder().join("tools.json")).expect("dialects/tools.json");
        let tools: Vec<Tool> = serde_json::from_str(&text).expect("a list of tools");
        tools.into()
    });
    Arc::clone(&TOOLS)
}

/// A turn with the tools of the cases.
pub fn turn() -> Turn {
    Turn::new(tools())
}

/// A turn in which the number of calls does not matter.
pub fn endless(turn: &Turn) -> Turn {
    let mut turn = turn.clone();
    turn.limits.calls = u32::MAX;
    turn
}

/// A built-in dialect.
pub fn dialect(name: &str) -> Arc<Dialect> {
    Arc::clone(Dialects::builtin().get(name).unwrap_or_else(|| panic!("no dialect {name}")))
}

/// A parser of one dialect, or of all when there is no name.
pub fn parser(dialect: Option<&str>, turn: Turn) -> Parser {
    match dialect {
        Some(name) => self::dialect(name).parser(turn),
        None => Dialects::builtin().parser(turn),
    }
}

/// The usual limits but for what `change` does to them.
pub fn limits(change: impl FnOnce(&mut Limits)) -> Limits {
    let mut limits = Limits::default();
    change(&mut limits);
    limits
}

/// An event that owns its text. Neighbours of one kind are merged, so that chunking cannot show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Merged {
    Text(String),
    Reasoning(String),
    Start { call: u32, name: String, id: Option<String>, dialect: String },
    Args { call: u32, json: String },
    End { call: u32, id: Option<String> },
    Fault(Fault),
}

/// Merged events with the bytes that they stand for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Log(pub Vec<(Merged, Span)>);

impl Sink for Log {
    fn event(&mut self, event: Event<'_>, span: Span) {
        let last = self.0.last_mut();
        let next = match (event, last) {
            // What stands for no bytes is a piece of its own.
            (Event::Text(more), Some((Merged::Text(text), known)))
                if known.end == span.start && !known.is_empty() && !span.is_empty() =>
            {
                text.push_str(more);
                known.end = span.end;
                return;
            }
            (Event::Reasoning(more), Some((Merged::Reasoning(text), known))) if known.end == span.start => {
                text.push_str(more);
                known.end = span.end;
                return;
            }
            (Event::Args { call, json }, Some((Merged::Args { call: same, json: all }, known)))
                if call == *same =>
            {
                all.push_str(json);
                known.end = span.end;
                return;
            }
            (Event::Text(text), _) => Merged::Text(text.to_owned()),
            (Event::Reasoning(text), _) => Merged::Reasoning(text.to_owned()),
            (Event::CallStart { call, name, id, dialect }, _) => Merged::Start {
                call,
                name: name.to_owned(),
                id: id.map(str::to_owned),
                dialect: dialect.to_owned(),
            },
            (Event::Args { call, json }, _) => Merged::Args { call, json: json.to_owned() },
            (Event::CallEnd { call, id }, _) => Merged::End { call, id: id.map(str::to_owned) },
            (Event::Fault(fault), _) => Merged::Fault(fault),
        };
        self.0.push((next, span));
    }
}

/// Both sinks at once.
#[derive(Debug, Default)]
pub struct Both {
    pub log: Log,
    pub collect: Collect,
}

impl Sink for Both {
    fn event(&mut self, event: Event<'_>, span: Span) {
        self.log.event(event, span.clone());
        self.collect.event(event, span);
    }
}

/// Reads a text in pieces.
pub fn read<'t>(
    mut parser: Parser,
    pieces: impl IntoIterator<Item = &'t str>,
    end: End,
) -> (Message, Vec<(Merged, Span)>) {
    let mut both = Both::default();
    for piece in pieces {
        parser.push(piece, &mut both);
    }
    parser.finish(end, &mut both);
    (both.collect.into_message(), both.log.0)
}

/// What reading a text costs: bytes examined, and the most that was held.
pub fn cost<'t>(mut parser: Parser, pieces: impl IntoIterator<Item = &'t str>) -> (u64, usize) {
    let mut most = 0;
    let mut nothing = |_: Event<'_>, _: Span| {};
    for piece in pieces {
        parser.push(piece, &mut nothing);
        most = most.max(parser.held());
    }
    (parser.finish_measured(End::End, &mut nothing), most)
}

/// A text in pieces of so many characters.
pub fn chunks(text: &str, chars: usize) -> Vec<&str> {
    let mut places: Vec<usize> = text.char_indices().map(|(at, _)| at).step_by(chars).collect();
    places.push(text.len());
    places.windows(2).map(|pair| &text[pair[0]..pair[1]]).collect()
}

/// Where a text may be cut.
pub fn borders(text: &str) -> Vec<usize> {
    text.char_indices().map(|(at, _)| at).chain([text.len()]).collect()
}

/// Numbers that look random and are the same every time.
pub struct Dice(pub u64);

impl Dice {
    /// A number below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % (n.max(1) as u64)).unwrap_or(0)
    }

    /// A text in a few pieces.
    pub fn split<'t>(&mut self, text: &'t str) -> Vec<&'t str> {
        let borders = borders(text);
        let count = 1 + self.below(6);
        let mut cuts: Vec<usize> = (0..count).map(|_| borders[self.below(borders.len())]).collect();
        cuts.push(0);
        cuts.push(text.len());
        cuts.sort_unstable();
        cuts.windows(2).map(|pair| &text[pair[0]..pair[1]]).collect()
    }
}

/// Spellings of a dialect that are its markup beyond doubt: nobody writes them in prose by chance.
pub fn distinct_marks(dialect: &Dialect) -> Vec<String> {
    use del_dialects::description::{Frame, Piece};
    // A tag of one plain word inside a call is markup there, and the user's own anywhere else.
    let inner = dialect.call().iter().skip(1).take_while(|piece| !matches!(piece, Piece::Args(_)));
    let inner: Vec<&String> = inner
        .filter_map(|piece| if let Piece::Mark(mark, _) = piece { Some(&mark.read) } else { None })
        .flatten()
        .filter(|mark| is_plain_tag(mark))
        .collect();
    let mut marks: Vec<String> = dialect.marks().flat_map(|mark| mark.read.iter().cloned()).collect();
    marks.retain(|mark| !inner.contains(&mark));
    if let Frame::Channels(channels) = dialect.frame() {
        marks.extend(channels.marks().cloned());
    }
    if let Some(reasoning) = dialect.reasoning() {
        marks.extend(reasoning.begin.iter().chain(&reasoning.end).map(|mark| mark.trim().to_owned()));
    }
    marks.extend(dialect.ends().iter().cloned());
    marks.extend(dialect.results().invented.iter().flatten().cloned());
    marks.retain(|mark| mark.len() >= 5 && mark.starts_with(['<', '[', '{', '#']) || mark == "TOOL_USE:");
    for mark in &mut marks {
        *mark = mark.replace('\0', ":b-9");
    }
    marks.sort();
    marks.dedup();
    marks
}

/// The marks that never survive in text of others: all but tags of one plain word, which any document may hold.
pub fn broken_marks(dialect: &Dialect) -> Vec<String> {
    let mut marks = distinct_marks(dialect);
    marks.retain(|mark| !is_plain_tag(mark));
    marks
}

fn is_plain_tag(mark: &str) -> bool {
    let word = mark.strip_prefix('<').and_then(|rest| rest.strip_suffix('>'));
    word.is_some_and(|word| word.trim_start_matches('/').bytes().all(|byte| byte.is_ascii_lowercase()))
}

/// True where only the name of a declared tool makes a call: the mark before it is a sign like any other, or there is
/// none and the name is a key.
pub fn names_decide(dialect: &Dialect) -> bool {
    use del_dialects::description::{Frame, Need};
    let first = dialect.marks().find(|mark| mark.need == Need::Must);
    let key = matches!(dialect.codec(), Codec::Call(form) if form.name.is_none());
    key || (*dialect.frame() == Frame::Tags && first.is_some_and(|mark| mark.write.len() < 3))
}

/// JSON with its keys in the order in which the dialect writes them.
pub fn in_order(dialect: &Dialect, json: &str) -> String {
    use del_dialects::description::{Codec, Literal};
    match dialect.codec() {
        Codec::Object(Literal::Loose(loose)) if loose.sorted => sorted(json),
        _ => json.to_owned(),
    }
}

/// True when arguments keep the spelling that they have in the text.
pub fn writes_json(dialect: &Dialect) -> bool {
    use del_dialects::description::{Codec, Literal};
    match dialect.codec() {
        Codec::Object(literal) => *literal == Literal::Json,
        Codec::Call(form) => !form.python,
        _ => false,
    }
}

fn sorted(json: &str) -> String {
    use serde_json::value::RawValue;
    if let Ok(members) = serde_json::from_str::<BTreeMap<String, &RawValue>>(json) {
        let member =
            |(key, value): (String, &RawValue)| format!("{}:{}", serde_json::json!(key), sorted(value.get()));
        format!("{{{}}}", members.into_iter().map(member).collect::<Vec<_>>().join(","))
    } else if let Ok(items) = serde_json::from_str::<Vec<&RawValue>>(json) {
        format!("[{}]", items.iter().map(|item| sorted(item.get())).collect::<Vec<_>>().join(","))
    } else {
        json.to_owned()
    }
}

/// JSON without the white space between its tokens, everything else as it is spelt.
pub fn squeezed(json: &str) -> String {
    let raw: Option<&serde_json::value::RawValue> = serde_json::from_str(json).ok();
    let Some(raw) = raw else { return json.to_owned() };
    let (mut out, mut text, mut escaped) = (String::new(), false, false);
    for c in raw.get().chars() {
        if text || !c.is_ascii_whitespace() {
            out.push(c);
        }
        match (text, escaped, c) {
            (true, true, _) => escaped = false,
            (true, false, '\\') => escaped = true,
            (_, false, '"') => text = !text,
            _ => {}
        }
    }
    out
}

/// Calls as far as a dialect keeps them: where it does not write JSON, arguments have no spelling and perhaps no order.
pub fn kept(dialect: &Dialect, calls: Vec<Call>) -> Vec<Call> {
    if writes_json(dialect) {
        return calls;
    }
    let plain = |call: Call| Call { arguments: squeezed(&in_order(dialect, &call.arguments)), ..call };
    calls.into_iter().map(plain).collect()
}

/// Calls without ids that nobody gave them: in some dialects the writer has to make one up.
pub fn as_meant(mut calls: Vec<Call>, meant: &[Call]) -> Vec<Call> {
    for (call, meant) in calls.iter_mut().zip(meant) {
        call.id = call.id.take().filter(|_| meant.id.is_some());
    }
    calls
}

/// The built-in dialects, or those that `DEL_DIALECTS` names (`a,b`), while one works on them.
pub fn tested() -> impl Iterator<Item = &'static Arc<Dialect>> {
    let only = std::env::var("DEL_DIALECTS").ok();
    let named = move |name: &str| only.as_deref().is_none_or(|only| only.split(',').any(|one| one == name));
    Dialects::builtin().iter().filter(move |dialect| named(dialect.name()))
}

/// The dialects that can call any tool: all but those whose form is that of one tool alone.
pub fn of_any_tool() -> impl Iterator<Item = &'static Arc<Dialect>> {
    tested().filter(|dialect| dialect.tool().is_none())
}

/// Does this for every dialect that can call any tool, and says at the end for which of them it failed.
pub fn every_dialect(check: impl Fn(&Arc<Dialect>)) {
    let failed = |dialect: &&Arc<Dialect>| catch_unwind(AssertUnwindSafe(|| check(dialect))).is_err();
    let failed: Vec<&str> = of_any_tool().filter(failed).map(|dialect| dialect.name()).collect();
    assert!(failed.is_empty(), "failed: {}", failed.join(", "));
}

/// Does this for the parser of every dialect and for the one that reads them all, which has no name.
pub fn every_parser(check: impl Fn(Option<&str>)) {
    let names = of_any_tool().map(|dialect| Some(dialect.name())).chain([None]);
    let failed = |name: Option<&'static str>| catch_unwind(AssertUnwindSafe(|| check(name))).is_err();
    let failed: Vec<&str> =
        names.filter(|name| failed(*name)).map(|name| name.unwrap_or("all together")).collect();
    assert!(failed.is_empty(), "failed: {}", failed.join(", "));
}

/// The dialects that a parser of this name reads.
pub fn dialects_of(name: Option<&str>) -> Vec<Arc<Dialect>> {
    match name {
        Some(name) => vec![dialect(name)],
        None => of_any_tool().cloned().collect(),
    }
}

/// Declares the tools that are called and not declared yet, where any are; of the types of their arguments nothing is
/// known.
pub fn declare(turn: &mut Turn, calls: &[Call]) {
    let unknown = |call: &&Call| !turn.tools.iter().any(|tool| tool.name == call.name);
    let called = calls.iter().filter(unknown).map(|call| {
        // Numbers may be beyond any type.
        let arguments: BTreeMap<String, &serde_json::value::RawValue> =
            serde_json::from_str(&call.arguments).unwrap_or_default();
        let properties: serde_json::Map<String, serde_json::Value> =
            arguments.into_keys().map(|key| (key, serde_json::json!({}))).collect();
        let parameters = serde_json::json!({"type": "object", "properties": properties}).into();
        Tool { name: call.name.clone(), description: String::new(), parameters }
    });
    let all: Vec<Tool> = turn.tools.iter().cloned().chain(called).collect();
    if !turn.tools.is_empty() {
        turn.tools = all.into();
    }
}

/// A call as JSON text.
pub fn call(name: &str, arguments: &str) -> Call {
    Call { id: None, name: name.to_owned(), arguments: arguments.to_owned() }
}

/// The two calls of [`sample`].
pub fn sample_calls() -> [Call; 2] {
    [call("get_weather", r#"{"city":"Paris","days":3}"#), call("list_dir", r#"{"path":"."}"#)]
}

/// Two calls as this dialect writes them.
pub fn sample(dialect: &Arc<Dialect>) -> String {
    dialect
        .render_calls(&sample_calls(), &tools())
        .unwrap_or_else(|error| panic!("{}: {error}", dialect.name()))
}

/// Every event as it came, with its bytes.
#[derive(Debug, Default)]
pub struct Raw(pub Vec<(Merged, Span)>);

impl Sink for Raw {
    fn event(&mut self, event: Event<'_>, span: Span) {
        let mut one = Log::default();
        one.event(event, span);
        self.0.append(&mut one.0);
    }
}

/// Texts made of marks, halves of marks and noise.
pub fn jumble(dice: &mut Dice, marks: &[String], pieces: usize) -> String {
    const NOISE: [&str; 36] = [
        "\n",
        " ",
        "\n\n",
        "{",
        "}",
        "[",
        "]",
        "(",
        ")",
        "\"",
        "'",
        "\\",
        ",",
        ":",
        ";",
        "<",
        ">",
        "/",
        "`",
        "```",
        "|",
        "｜",
        "=",
        "name",
        "arguments",
        "get_weather",
        "{\"name\": \"get_weather\", \"arguments\": {\"city\": \"a\"}}",
        "{\"city\": \"Paris\"}",
        "city",
        "text ",
        "日本 ",
        "😀",
        "{}",
        "null",
        "<think>",
        "</think>",
    ];
    let mut text = String::new();
    for _ in 0..=dice.below(pieces) {
        match dice.below(5) {
            0 | 1 if !marks.is_empty() => text.push_str(&marks[dice.below(marks.len())]),
            2 if !marks.is_empty() => {
                let mark = &marks[dice.below(marks.len())];
                let borders = borders(mark);
                text.push_str(&mark[..borders[dice.below(borders.len())]]);
            }
            _ => text.push_str(NOISE[dice.below(NOISE.len())]),
        }
    }
    text
}

/// Every spelling that a dialect writes or reads, with the white space around it.
pub fn all_marks(dialect: &Dialect) -> Vec<String> {
    let mut marks = distinct_marks(dialect);
    marks.extend(dialect.marks().map(|mark| mark.write.clone()));
    marks.extend(dialect.marks().flat_map(|mark| mark.read.iter().cloned()));
    if let Codec::Fields(form) = dialect.codec() {
        marks.extend(form.parts.iter().filter_map(|part| match part {
            Slot::Text(text) => Some(text.trim().to_owned()),
            _ => None,
        }));
    }
    marks.retain(|mark| !mark.is_empty());
    marks.sort();
    marks.dedup();
    marks
}

/// The code spans of a cell of a table: each begins and ends with the same number of backticks.
pub fn spans(cell: &str) -> Vec<String> {
    let (mut found, mut rest) = (Vec::new(), cell);
    while let Some(at) = rest.find('`') {
        let inside = rest[at..].trim_start_matches('`');
        let fence = &rest[at..rest.len() - inside.len()];
        let len = (0..inside.len())
            .find(|&at| {
                inside.is_char_boundary(at)
                    && inside[at..].starts_with(fence)
                    && !inside[..at].ends_with('`')
                    && !inside[at + fence.len()..].starts_with('`')
            })
            .expect("a span that ends");
        let span = &inside[..len];
        let padded = span.strip_prefix(' ').and_then(|span| span.strip_suffix(' '));
        found.push(padded.unwrap_or(span).to_owned());
        rest = &inside[len + fence.len()..];
    }
    found
}
