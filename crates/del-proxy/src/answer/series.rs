//! Several answers of a model as one for the client: between them, calls were run here.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use del_wire::{Chunk, Citation, Delta, Failure, Piece, ToClient, Told, ToldChoice, Usage};

use crate::progress;
use crate::refusal::Refusal;

/// What the client is told of a series of answers. Calls of tools that run here are no part of it.
#[derive(Debug)]
pub(crate) struct Series {
    client: Box<dyn ToClient>,
    /// The tools that run here.
    own: Arc<BTreeSet<String>>,
    /// It goes out as it comes.
    streams: bool,
    /// All of it, where it does not.
    pieces: Vec<Piece>,
    /// Id and model for the client.
    head: Chunk,
    begun: bool,
    usage: Option<Usage>,
    /// What the model thought is told in summaries.
    summarises: bool,
    /// How likely the tokens were whose text has not gone out, as the server's lists.
    logprobs: Vec<String>,
    /// Some text went out, and its last line is open.
    said: bool,
    /// The last line of the thinking is open.
    thinks: bool,
    /// The ids of the client's calls.
    theirs: Vec<String>,
    turn: Turn,
}

/// One answer of the model.
#[derive(Debug, Default)]
struct Turn {
    usage: Option<Usage>,
    reason: Option<String>,
    /// What waits until a call begins, where one is demanded.
    held: Option<Vec<Piece>>,
    /// The model's numbers of the client's calls, and the client's.
    numbers: Vec<(u32, u32)>,
    spoke: bool,
}

/// The client in the eyes of one answer.
#[derive(Debug)]
pub(crate) struct Relay(pub(crate) Arc<Mutex<Series>>);

impl Series {
    /// Nothing yet. `id` is one that no other answer has.
    pub(crate) fn new(
        client: Box<dyn ToClient>,
        own: Arc<BTreeSet<String>>,
        streams: bool,
        id: &str,
    ) -> Self {
        let head = Chunk { id: Some(format!("chatcmpl-{id}")), ..Chunk::default() };
        Self {
            client,
            own,
            streams,
            pieces: Vec::new(),
            head,
            begun: false,
            usage: None,
            summarises: false,
            logprobs: Vec::new(),
            said: false,
            thinks: false,
            theirs: Vec::new(),
            turn: Turn::default(),
        }
    }

    /// The next answer begins. Where a call is `demanded`, nothing of it goes out before one begins.
    pub(crate) fn begin(&mut self, demanded: bool) {
        let last = std::mem::take(&mut self.turn);
        if let Some(usage) = last.usage {
            *self.usage.get_or_insert_default() += usage;
        }
        self.turn.held = demanded.then(Vec::new);
    }

    /// True once the client of a stream was told something.
    pub(crate) fn has_begun(&self) -> bool {
        self.begun
    }

    /// True once there is text for the client.
    pub(crate) fn has_said(&self) -> bool {
        self.said
    }

    /// The ids of the client's calls.
    pub(crate) fn theirs(&self) -> &[String] {
        &self.theirs
    }

    /// Why the last answer ended, in the words of chat completions.
    pub(crate) fn reason(&self) -> Option<&str> {
        self.turn.reason.as_deref()
    }

    /// Adds a line about what is done meanwhile.
    pub(crate) fn progress(&mut self, line: &str, out: &mut Vec<u8>) {
        let before = if self.thinks { "\n" } else { "" };
        self.thinks = false;
        self.emit(vec![Piece::Reasoning(progress::told(&format!("{before}{line}\n")))], out);
    }

    /// Gives out what waits for a call, as none comes.
    pub(crate) fn let_go(&mut self, out: &mut Vec<u8>) {
        let held = self.turn.held.take().unwrap_or_default();
        let pieces: Vec<Piece> = held.iter().filter_map(|piece| self.theirs_of(piece)).collect();
        self.emit(pieces, out);
    }

    /// Adds text that is none of the model's: what goes out of it.
    pub(crate) fn remark(&mut self, text: &str) -> Vec<u8> {
        let (before, mut out) = (if self.said { "\n\n" } else { "" }, Vec::new());
        self.emit(vec![Piece::Text(format!("{before}{text}"))], &mut out);
        out
    }

    /// The stream is over. `remarks` are what headers would say.
    pub(crate) fn done(&mut self, reason: &str, remarks: &[(&str, String)], out: &mut Vec<u8>) {
        self.begin(false);
        self.emit_with(Vec::new(), Some(reason.to_owned()), out);
        if self.usage.is_some() {
            let chunk = Chunk { usage: self.usage, ..self.head.clone() };
            self.client.tell(&Told { raw: None, chunk: &chunk, choices: Vec::new() }, out);
        }
        self.client.done(remarks, out);
    }

    /// The answer that comes at once.
    pub(crate) fn whole(&mut self, reason: &str) -> String {
        self.begin(false);
        let chunk = Chunk { usage: self.usage, choices: self.weighed(), ..self.head.clone() };
        let pieces = std::mem::take(&mut self.pieces);
        let reason = Some(reason.to_owned());
        let choice = ToldChoice { first: true, pieces, reason, ..ToldChoice::default() };
        self.client.whole(&Told { raw: None, chunk: &chunk, choices: vec![choice] })
    }

    /// The answer as its client may ask for it again.
    pub(crate) fn kept(&self) -> Option<String> {
        self.client.kept()
    }

    /// The stream breaks off.
    pub(crate) fn refuse(&mut self, refusal: &Refusal, out: &mut Vec<u8>) {
        refusal.end_stream(&mut *self.client, out);
    }

    fn take(&mut self, told: &Told<'_>, out: &mut Vec<u8>) {
        self.turn.usage = told.chunk.usage.or(self.turn.usage);
        if self.head.model.is_none() {
            self.head.model.clone_from(&told.chunk.model);
        }
        for delta in told.chunk.choices.iter().filter(|delta| delta.choice == 0) {
            self.summarises |= delta.summary;
            self.logprobs.extend(delta.logprobs.clone());
        }
        for new in told.choices.iter().filter(|new| new.index == 0) {
            let calls = |piece: &Piece| matches!(piece, Piece::Call { .. } | Piece::Custom { .. });
            let waited = match &mut self.turn.held {
                Some(held) if !new.pieces.iter().any(calls) => {
                    held.extend_from_slice(&new.pieces);
                    continue;
                }
                held => held.take().unwrap_or_default(),
            };
            let pieces: Vec<Piece> =
                waited.iter().chain(&new.pieces).filter_map(|piece| self.theirs_of(piece)).collect();
            self.emit(pieces, out);
            self.turn.reason = new.reason.clone().or_else(|| self.turn.reason.take());
        }
    }

    /// A piece as the client is told of it.
    fn theirs_of(&mut self, piece: &Piece) -> Option<Piece> {
        let number = |index: &u32| {
            let known = self.turn.numbers.iter().find(|(number, _)| number == index);
            known.map(|(_, number)| *number)
        };
        Some(match piece {
            Piece::Call { name, .. } if self.own.contains(name) => return None,
            Piece::Call { index, id, name } => {
                let index = self.number(*index, id);
                Piece::Call { index, id: id.clone(), name: name.clone() }
            }
            Piece::Custom { index, id, name } => {
                let index = self.number(*index, id);
                Piece::Custom { index, id: id.clone(), name: name.clone() }
            }
            Piece::Input { index, text } => Piece::Input { index: number(index)?, text: text.clone() },
            Piece::Arguments { index, json } => {
                Piece::Arguments { index: number(index)?, json: json.clone() }
            }
            Piece::Beside { index, members } => {
                Piece::Beside { index: number(index)?, members: members.clone() }
            }
            Piece::CallEnd { index } => Piece::CallEnd { index: number(index)? },
            Piece::Text(text) => {
                let before = if self.said && !self.turn.spoke { "\n\n" } else { "" };
                self.turn.spoke = true;
                self.said = true;
                Piece::Text(format!("{before}{text}"))
            }
            Piece::Refusal(_)
            | Piece::Redacted(_)
            | Piece::Citation(_)
            | Piece::Compaction(_)
            | Piece::Details(_)
            | Piece::Paragraph => piece.clone(),
            Piece::Reasoning(text) => {
                self.thinks = !text.ends_with('\n');
                piece.clone()
            }
            Piece::Signature(_) => piece.clone(),
        })
    }

    /// The number of another call of the client's.
    fn number(&mut self, index: u32, id: &str) -> u32 {
        let number = u32::try_from(self.theirs.len()).unwrap_or(u32::MAX);
        self.theirs.push(id.to_owned());
        self.turn.numbers.push((index, number));
        number
    }

    fn emit(&mut self, pieces: Vec<Piece>, out: &mut Vec<u8>) {
        if !pieces.is_empty() {
            self.emit_with(pieces, None, out);
        }
    }

    fn emit_with(&mut self, pieces: Vec<Piece>, reason: Option<String>, out: &mut Vec<u8>) {
        if !self.streams {
            return self.pieces.extend(pieces);
        }
        let first = !std::mem::replace(&mut self.begun, true);
        let choice = ToldChoice { first, pieces, reason, ..ToldChoice::default() };
        let chunk = Chunk { choices: self.weighed(), ..self.head.clone() };
        self.client.tell(&Told { raw: None, chunk: &chunk, choices: vec![choice] }, out);
    }

    /// What is told of what goes out now beside its pieces: how likely the tokens were, and what the thinking is.
    fn weighed(&mut self) -> Vec<Delta> {
        let lists = std::mem::take(&mut self.logprobs).into_iter();
        let weighed = lists.map(|list| Delta { logprobs: Some(list), ..Delta::default() });
        weighed.chain(self.summarises.then(|| Delta { summary: true, ..Delta::default() })).collect()
    }
}

impl Relay {
    fn series(&self) -> MutexGuard<'_, Series> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ToClient for Relay {
    fn tell(&mut self, told: &Told<'_>, out: &mut Vec<u8>) {
        self.series().take(told, out);
    }

    fn in_one(&self) -> bool {
        self.series().client.in_one()
    }

    fn cites(&self, citation: &Citation) -> bool {
        self.series().client.cites(citation)
    }

    /// The series goes on, or ends, as what was called decides.
    fn done(&mut self, _: &[(&str, String)], _: &mut Vec<u8>) {}

    fn fail(&mut self, failure: &Failure<'_>, out: &mut Vec<u8>) {
        self.series().client.fail(failure, out);
    }

    fn whole(&mut self, told: &Told<'_>) -> String {
        self.series().take(told, &mut Vec::new());
        String::new()
    }
}
