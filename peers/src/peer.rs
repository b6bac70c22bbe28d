//! The engines, behind one way to ask them.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use del_dialects::Dialects;

use crate::case::{Call, Case};
use crate::python::Python;
use crate::{Fail, dynamo, dynamo_v2, smg};

/// How an answer reaches a parser.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// As one text.
    Batch,
    /// In pieces: a mark is whole, as it is a token for a model, and the rest comes in [`PIECE`] characters.
    Stream,
}

/// Characters in a piece of a stream that is no mark.
const PIECE: usize = 3;

/// What a parser read; an error is its own message.
pub(crate) type Reading = Result<Vec<Call>, Fail>;

/// An engine whose parsers can be asked.
pub(crate) struct Peer {
    /// As the table and `differences.toml` call it.
    pub(crate) name: &'static str,
    /// Whose names of parsers it uses in the dialects' `aliases`.
    engine: &'static str,
    ask: Ask,
}

type Ask = Box<dyn FnMut(&str, &Case, Mode) -> Option<Reading>>;

impl Peer {
    /// The engines that are crates, and those of a Python where one is named.
    pub(crate) fn all(python: Option<&str>) -> Result<Vec<Self>, Fail> {
        let mut peers = vec![
            Self { name: "smg", engine: "smg", ask: Box::new(smg::read) },
            Self { name: "dynamo", engine: "dynamo", ask: Box::new(dynamo::read) },
            Self { name: "dynamo-v2", engine: "dynamo", ask: Box::new(dynamo_v2::read) },
        ];
        if let Some(python) = python {
            for engine in ["vllm", "sglang"] {
                let Some(mut python) = Python::start(python, engine)? else {
                    eprintln!("peers: {python} cannot load {engine}, which is left out");
                    continue;
                };
                let ask = move |parser: &str, case: &Case, mode| python.read(parser, case, mode);
                peers.push(Self { name: engine, engine, ask: Box::new(ask) });
            }
        }
        Ok(peers)
    }

    /// What this engine's first parser for the dialect reads, or nothing where it has none.
    pub(crate) fn read(&mut self, case: &Case, mode: Mode) -> Option<Reading> {
        let aliases = Dialects::builtin().get(&case.dialect)?.aliases();
        let parsers = aliases.get(self.engine)?;
        parsers.iter().find_map(|parser| {
            catch_unwind(AssertUnwindSafe(|| (self.ask)(parser, case, mode)))
                .unwrap_or_else(|_| Some(Err("panicked".into())))
        })
    }
}

/// The text as a parser gets it.
pub(crate) fn pieces(text: &str, mode: Mode) -> Vec<String> {
    if mode == Mode::Batch {
        return vec![text.to_owned()];
    }
    let (mut pieces, mut rest) = (Vec::new(), text);
    while !rest.is_empty() {
        let next = rest.char_indices().map(|(at, _)| at).find(|at| mark(&rest[*at..]).is_some());
        let plain: Vec<char> = rest[..next.unwrap_or(rest.len())].chars().collect();
        pieces.extend(plain.chunks(PIECE).map(|piece| piece.iter().collect::<String>()));
        rest = &rest[next.unwrap_or(rest.len())..];
        let (token, behind) = rest.split_at(mark(rest).unwrap_or(0));
        pieces.extend((!token.is_empty()).then(|| token.to_owned()));
        rest = behind;
    }
    pieces
}

/// The length of what looks like a mark at the beginning of a text: `<word>` or `[WORD]`.
fn mark(text: &str) -> Option<usize> {
    let close = match text.as_bytes().first()? {
        b'<' => '>',
        b'[' => ']',
        _ => return None,
    };
    let (inner, _) = text.get(1..)?.split_once(close)?;
    let fits = |c: char| {
        if close == '>' { c != '<' && !c.is_whitespace() } else { c == '_' || c.is_ascii_uppercase() }
    };
    (inner.len() > 1 && inner.len() < 64 && inner.chars().all(fits)).then_some(inner.len() + 2)
}

/// Calls that come in parts, by their index.
#[derive(Default)]
pub(crate) struct Parts(BTreeMap<usize, (String, String)>);

impl Parts {
    /// A part of a call: what more of its name and of its arguments is known.
    pub(crate) fn add(&mut self, index: usize, name: Option<&str>, arguments: &str) {
        let (known, sum) = self.0.entry(index).or_default();
        if known.is_empty() {
            known.push_str(name.unwrap_or_default());
        }
        sum.push_str(arguments);
    }

    /// The calls that got a name.
    pub(crate) fn into_calls(self) -> Vec<Call> {
        self.into_calls_where(|_| true)
    }

    /// The calls that got a name and whose index fits.
    pub(crate) fn into_calls_where(self, fits: impl Fn(usize) -> bool) -> Vec<Call> {
        let parts = self.0.into_iter().filter(|(index, (name, _))| !name.is_empty() && fits(*index));
        parts.map(|(_, (name, arguments))| Call::new(name, &arguments)).collect()
    }
}

/// Runs a future that waits for nothing.
pub(crate) fn wait<T>(future: impl Future<Output = T>) -> Result<T, Fail> {
    Ok(tokio::runtime::Builder::new_current_thread().build()?.block_on(future))
}
