//! The proof that what is written reads as what was meant.

use std::sync::Arc;

use super::RenderError;
use super::answer::{Stretch, stretches};
use super::equal::same_json;
use crate::dialect::{Codec, Dialect, Frame, Literal, Piece};
use crate::message::Call;
use crate::tool::Tool;
use crate::turn::Turn;
use crate::value;
use crate::value::members;

/// More calls than this are always read back, as are deeper arguments and longer ones: a reader has limits.
const MAX_EVIDENT: usize = 256;
const MAX_DEPTH: usize = 64;
const MAX_BYTES: usize = 1 << 24;

impl Dialect {
    /// The proof that nothing was lost: what was written reads as what was meant.
    pub(super) fn prove(
        self: &Arc<Self>,
        meant: &[Stretch<'_>],
        tools: &[Tool],
        text: &str,
    ) -> Result<(), RenderError> {
        if self.is_evident(meant) {
            debug_assert_eq!(self.read_back(meant, tools, text), Ok(()), "{}: {text:?}", self.name);
            return Ok(());
        }
        self.read_back(meant, tools, text)
    }

    /// True where it need not be read to be known: text without anything that could be a mark, and before or alone calls
    /// whose names are words, written between marks with their arguments as JSON. A reader of JSON is not misled by what
    /// strings hold.
    fn is_evident(self: &Arc<Self>, meant: &[Stretch<'_>]) -> bool {
        let calls = match meant {
            [Stretch::Text(text)] => return self.plan().is_plain(text),
            [Stretch::Calls(calls)] => calls,
            [Stretch::Text(text), Stretch::Calls(calls)] if self.plan().is_plain(text) => calls,
            _ => return false,
        };
        let json = match self.codec() {
            Codec::Object(literal) => *literal == Literal::Json,
            Codec::Call(form) => !form.python,
            _ => false,
        };
        let mut heads = self.call.iter().filter_map(Piece::head);
        let plain_heads = heads.all(|form| !form.is_id && form.attributes.is_empty());
        let first = self.block.open.first().or_else(|| self.call.iter().find_map(Piece::mark));
        let marked = first.is_some_and(|mark| {
            !mark.line_start && !mark.write.trim_start().starts_with(char::is_alphanumeric)
        });
        // A mark that ends as a word does could take in the beginning of a name, and one of backticks quotes what follows.
        let marks = self.block.open.iter().chain(self.call.iter().filter_map(Piece::mark));
        let mut spellings = marks.flat_map(|mark| &mark.read).chain([&self.between]);
        let quotes = |spelling: &String| spelling.contains('`');
        let worded = |spelling: &String| spelling.ends_with(|end: char| end.is_alphanumeric() || end == '_');
        let apart = !spellings.any(|spelling| quotes(spelling) || worded(spelling));
        self.frame == Frame::Tags
            && self.variants.is_empty()
            && json
            && apart
            && plain_heads
            && marked
            && calls.len() <= MAX_EVIDENT
            && calls.iter().all(|call| is_word(&call.name) && !self.none.contains(&call.name))
            && calls.iter().all(|call| call.id.as_deref().is_none_or(is_word))
            && calls.iter().all(|call| is_plain_object(&call.arguments))
            && self.is_sound()
    }

    /// True where the description reads what it writes: one call and several, alone and behind text, with an id and
    /// without. Then no more depends on than what a call holds.
    fn is_sound(self: &Arc<Self>) -> bool {
        *self.once.sound.get_or_init(|| {
            let call = |id: Option<&str>| Call {
                id: id.map(str::to_owned),
                name: "a_tool".to_owned(),
                arguments: r#"{"a": {}, "b": "c"}"#.to_owned(),
            };
            let (plain, named) = (call(None), call(Some("an1d2e3f4")));
            let text = Stretch::Text("Text.".into());
            [vec![&plain], vec![&named], vec![&plain, &plain, &named], vec![&named, &named, &plain]]
                .into_iter()
                .flat_map(|calls| {
                    [vec![Stretch::Calls(calls.clone())], vec![text.clone(), Stretch::Calls(calls)]]
                })
                .all(|meant| {
                    let mut out = String::new();
                    self.write_answer(&meant, &[], &mut out).is_ok()
                        && self.read_back(&meant, &[], &out).is_ok()
                })
        })
    }

    fn read_back(
        self: &Arc<Self>,
        meant: &[Stretch<'_>],
        tools: &[Tool],
        text: &str,
    ) -> Result<(), RenderError> {
        let mut turn = Turn::new(tools);
        if self.plan().asks_for_declared() {
            turn.tools = with_called(meant, tools).into();
        }
        let message = self.parse(text, turn);
        let read = stretches(&message);
        let seen = |all: &[Stretch<'_>]| all.iter().filter(|stretch| !stretch.is_blank()).count();
        let mut first = 0;
        for (place, stretch) in meant.iter().enumerate().filter(|(_, stretch)| !stretch.is_blank()) {
            match (stretch, read.get(place)) {
                (Stretch::Reasoning(meant), Some(Stretch::Reasoning(read)))
                | (Stretch::Text(meant), Some(Stretch::Text(read)))
                    if meant.trim() == read.trim() => {}
                (Stretch::Calls(meant), Some(Stretch::Calls(read))) => {
                    self.prove_calls(meant, read, first)?;
                    first += meant.len();
                }
                _ => return Err(self.refusal(stretch)),
            }
        }
        match meant.last() {
            Some(last) if seen(&read) != seen(meant) => Err(self.refusal(last)),
            _ => Ok(()),
        }
    }

    fn prove_calls(&self, meant: &[&Call], read: &[&Call], first: usize) -> Result<(), RenderError> {
        let ids = self.carries_ids();
        let same = |place: usize, meant: &Call, read: &Call| {
            // White space around a name is easily lost, or left behind as text.
            meant.name == read.name
                && meant.name.trim() == meant.name
                && same_json(&meant.arguments, &read.arguments)
                && (!ids || meant.id.is_none() || self.renamed(meant, first + place).id == read.id)
        };
        let mut pairs = meant.iter().zip(read).enumerate();
        match pairs.find(|(place, (meant, read))| !same(*place, meant, read)) {
            Some((_, (call, _))) => Err(self.unrepresentable(call)),
            None if meant.len() == read.len() => Ok(()),
            None => Err(self.refusal(&Stretch::Calls(meant[read.len().min(meant.len() - 1)..].to_vec()))),
        }
    }

    fn refusal(&self, stretch: &Stretch<'_>) -> RenderError {
        let refused = |what: &'static str, text: &str| RenderError::Text {
            dialect: self.name.clone(),
            what,
            got: text.chars().take(40).collect(),
        };
        match stretch {
            Stretch::Reasoning(text) => refused("thinking", text),
            Stretch::Text(text) => refused("text", text),
            Stretch::Calls(calls) => {
                calls.first().map_or_else(|| refused("text", ""), |call| self.unrepresentable(call))
            }
        }
    }

    fn unrepresentable(&self, call: &Call) -> RenderError {
        RenderError::Unrepresentable { dialect: self.name.clone(), name: call.name.clone() }
    }
}

/// These tools, and those that are called and not among them: when they were called, they were declared.
fn with_called(meant: &[Stretch<'_>], tools: &[Tool]) -> Vec<Tool> {
    let mut all = tools.to_vec();
    let calls = meant.iter().flat_map(|stretch| match stretch {
        Stretch::Calls(calls) => &calls[..],
        _ => &[],
    });
    for call in calls {
        if !all.iter().any(|tool| tool.name == call.name) {
            let keys = members(&call.arguments).unwrap_or_default();
            let keys = keys.into_iter().map(|(key, _)| (key, serde_json::json!({})));
            let properties: serde_json::Map<String, serde_json::Value> = keys.collect();
            let parameters = serde_json::json!({"type": "object", "properties": properties}).into();
            all.push(Tool { name: call.name.clone(), description: String::new(), parameters });
        }
    }
    all
}

/// True for a name that no reader takes apart.
fn is_word(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    (1..=128).contains(&text.len())
        && text.bytes().all(plain)
        && !text.bytes().all(|byte| byte.is_ascii_digit())
}

/// True for an object that every reader passes on as it is.
fn is_plain_object(json: &str) -> bool {
    let limited = json.len() <= MAX_BYTES && json.starts_with('{') && !json.contains("\\u");
    limited && value::exact(json.as_bytes(), MAX_DEPTH, &mut value::Keys::default()) == Ok(json.len())
}
