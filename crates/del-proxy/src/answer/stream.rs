//! A streamed answer.

use std::collections::{BTreeMap, BTreeSet};

use del_dialects::{End, FaultKind, Report};
use del_wire::chat::to_client::Chat;
use del_wire::{
    Blocks, Chunk, Decoder, Delta, Failure, Finish, Frame, FromServer, Heard, Ids, Paragraphs, Raw, ToClient,
    Told, ToldChoice, Usage, WireError, on_one_line, read_finite,
};
use serde_json::{Map, Value};

use super::choice::Choice;
use super::{Asking, CHANGED, LEFT_OUT, REFUSED, Reader, Summary, leave_out, note_unread};
use crate::lists;

/// Turns the bytes of a streamed answer into those for the client. Where either is cut cannot show in what it says.
#[derive(Debug)]
pub struct Stream {
    reader: Reader,
    ids: Ids,
    decoder: Decoder,
    server: FromServer,
    client: Box<dyn ToClient>,
    /// Mostly one.
    choices: BTreeMap<u32, Box<Choice>>,
    /// A chunk of a server of chats with the end of a choice, and its JSON. Some servers say in every chunk that it is the
    /// last, so it waits for what comes next.
    ending: Option<(Chunk, String)>,
    paragraphs: Paragraphs,
    /// What the first choice amounts to, where somebody wants to know.
    blocks: Option<Blocks>,
    /// What the first choice asks for, once the model has nothing to say before it gets that.
    asking: Option<Asking>,
    /// What the server said last of what it cost.
    usage: Option<Usage>,
    /// Thoughts came in the member `reasoning`.
    as_reasoning: bool,
    /// Why the first choice ended, and whether that was a limit of tokens.
    reason: Option<String>,
    cut: bool,
    /// The kinds of what is left out, as the client's API has no place for it.
    left_out: BTreeSet<String>,
    over: bool,
    whole: bool,
}

/// The API allows no more.
const MOST_CHOICES: usize = 128;

impl Stream {
    /// From a server of chat completions to a client of theirs. `ids` are for calls that have none.
    pub fn new(reader: Reader, ids: Ids) -> Self {
        Self::between(reader, ids, FromServer::chat(), Box::new(Chat::new(0, false)))
    }

    /// From a server of one API to a client of another.
    pub fn between(reader: Reader, ids: Ids, server: FromServer, client: Box<dyn ToClient>) -> Self {
        Self {
            reader,
            ids,
            decoder: Decoder::new(),
            server,
            client,
            choices: BTreeMap::new(),
            ending: None,
            paragraphs: Paragraphs::default(),
            blocks: None,
            asking: None,
            usage: None,
            as_reasoning: false,
            reason: None,
            cut: false,
            left_out: BTreeSet::new(),
            over: false,
            whole: false,
        }
    }

    /// Keeps the message, for [`Self::message`].
    #[must_use]
    pub fn keeping(mut self) -> Self {
        self.blocks = Some(Blocks::default());
        self
    }

    /// True when nothing more is to come, whatever the server still says.
    pub fn is_over(&self) -> bool {
        self.over
    }

    /// Takes what the answer asks for: the answer goes on with another one of the server ([`Self::go_on`]).
    pub fn take_asking(&mut self) -> Option<Asking> {
        self.asking.take().filter(|_| self.over)
    }

    /// What comes now is the server's next answer, which goes on where the last one asked for something.
    pub fn go_on(&mut self, reader: Reader, server: FromServer) {
        self.reader = reader;
        self.server = server;
        self.decoder = Decoder::new();
        self.over = false;
        self.choices.values_mut().for_each(|choice| choice.go_on(&self.reader));
    }

    /// There is no next answer.
    pub fn give_up(&mut self, reason: &str, out: &mut Vec<u8>) {
        self.over = false;
        self.fail(reason, None, out);
    }

    /// True once something of a call has gone out.
    pub fn has_call(&self) -> bool {
        self.choices.values().any(|choice| choice.has_call())
    }

    /// True once something of a call has gone out in each of so many choices.
    pub(crate) fn has_calls(&self, choices: u64) -> bool {
        self.choices.len() as u64 >= choices && self.choices.values().all(|choice| choice.has_call())
    }

    /// True where the answer is whole, and a choice that no limit of tokens ended has no call.
    pub(crate) fn lacks_call(&self) -> bool {
        let lacks = self.choices.is_empty() || self.choices.values().any(|choice| choice.lacks_call());
        self.whole && lacks
    }

    /// The dialect of the first call that went out, and how many whole ones did.
    pub fn calls(&self) -> (Option<&str>, usize) {
        let dialect = self.choices.values().find_map(|choice| choice.dialect());
        (dialect, self.choices.values().map(|choice| choice.calls()).sum())
    }

    /// The ids of the calls whose arguments recovery may have changed.
    pub fn changed(&self) -> impl Iterator<Item = &str> {
        self.choices.values().flat_map(|choice| choice.changed())
    }

    /// The same, and what was guessed first.
    pub(crate) fn guesses(&self) -> impl Iterator<Item = (&str, FaultKind)> {
        self.choices.values().flat_map(|choice| choice.guesses())
    }

    /// The calls that do not count.
    pub(crate) fn broken(&self) -> impl Iterator<Item = &Report> {
        self.choices.values().flat_map(|choice| choice.broken())
    }

    /// The tools that were called although they may not be, and whose calls did not go out.
    pub fn refused(&self) -> impl Iterator<Item = &str> {
        self.choices.values().flat_map(|choice| choice.refused()).map(String::as_str)
    }

    /// What can be told of it so far.
    pub(crate) fn summary(&self) -> Summary {
        let (dialect, calls) = self.calls();
        let mut summary = Summary {
            dialect: dialect.map(str::to_owned),
            calls,
            changed: self.changed().count(),
            refused: self.refused().count(),
            usage: self.usage,
            reason: self.reason.clone(),
            as_reasoning: self.as_reasoning,
            ..Summary::default()
        };
        for (kind, count) in self.choices.values().flat_map(|choice| choice.faults()) {
            *summary.faults.entry(kind).or_default() += count;
        }
        summary
    }

    /// True when the first choice ended at a limit of tokens.
    pub(crate) fn is_cut(&self) -> bool {
        self.cut
    }

    /// True once the answer asks for something, and has ended so.
    pub(crate) fn asks(&self) -> bool {
        self.over && self.asking.is_some()
    }

    /// True when thoughts came in the member `reasoning`.
    pub(crate) fn thinks_as_reasoning(&self) -> bool {
        self.as_reasoning
    }

    /// True when the answer came to its end, and nothing broke it off.
    pub fn is_whole(&self) -> bool {
        self.whole
    }

    /// The message of the first choice, as chat completions have it, where it is kept and whole.
    pub fn message(&self) -> Option<Map<String, Value>> {
        self.blocks.as_ref().filter(|_| self.whole).map(Blocks::past)
    }

    /// The answer as its client may ask for it again.
    pub fn kept(&self) -> Option<String> {
        self.client.kept()
    }

    /// The type of what goes out.
    pub fn content_type(&self) -> &'static str {
        self.client.content_type()
    }

    /// What keeps a silent stream alive.
    pub fn keep_alive(&self) -> &'static str {
        self.client.keep_alive()
    }

    /// Takes bytes of the server, and adds what follows from them to `out`.
    pub fn push(&mut self, bytes: &[u8], out: &mut Vec<u8>) {
        let mut decoder = std::mem::take(&mut self.decoder);
        let pushed = decoder.push(bytes, &mut |frame| self.frame(frame, out));
        self.decoder = decoder;
        if let Err(error) = pushed {
            self.fail(&error.to_string(), None, out);
        }
    }

    /// The server's answer has ended; `broken` says why, where it ended otherwise than answers do.
    pub fn end(&mut self, broken: Option<&str>, out: &mut Vec<u8>) {
        if broken.is_none() {
            // The last line counts without its end; half of one is what a broken connection leaves.
            self.push(b"\n", out);
        }
        let decoder = std::mem::take(&mut self.decoder);
        let stray = decoder.stray().map(str::to_owned);
        if broken.is_none()
            && let Err(error) = decoder.finish(&mut |frame| self.frame(frame, out))
        {
            self.fail(&error.to_string(), None, out);
        }
        self.settle(None, out);
        if self.asking.is_some() {
            self.over = true;
        }
        if self.over {
            return;
        }
        if self.choices.is_empty() && broken.is_none() {
            let got = stray.map_or_else(|| "an empty body".to_owned(), |line| format!("`{line}`"));
            return self.fail(&format!("expected a stream of chat completion chunks, got {got}"), None, out);
        }
        if broken.is_none() && self.choices.values().all(|choice| choice.is_over()) {
            return self.done(out);
        }
        let reason = broken.unwrap_or("its stream ended");
        self.fail(&format!("the model server broke off in the middle of its answer: {reason}"), None, out);
    }

    fn frame(&mut self, frame: Frame<'_>, out: &mut Vec<u8>) {
        if self.over {
            return;
        }
        if self.asking.is_some() {
            self.over = matches!(frame, Frame::Done);
            return;
        }
        match frame {
            Frame::Done => {
                self.settle(None, out);
                self.flush(End::End, true, out);
                self.done(out);
            }
            Frame::Data { data, .. } => {
                if let Err(reason) = self.event(data, out) {
                    self.fail(&reason, None, out);
                }
            }
        }
    }

    fn event(&mut self, data: &str, out: &mut Vec<u8>) -> Result<(), String> {
        let data = &*on_one_line(data);
        let mut server = std::mem::take(&mut self.server);
        let done = read_finite(data, |data| self.heard(&mut server, data, out));
        self.server = server;
        done.map_err(|error| error.to_string())?
    }

    /// Takes an event, if it is one.
    fn heard(
        &mut self,
        server: &mut FromServer,
        data: &str,
        out: &mut Vec<u8>,
    ) -> Result<Result<(), String>, WireError> {
        let is_chat = server.is_chat();
        Ok(match server.event(data)? {
            Heard::Nothing => Ok(()),
            Heard::Done => {
                self.flush(End::End, true, out);
                self.done(out);
                Ok(())
            }
            Heard::Chunk(chunk, text) => {
                self.settle(Some(&chunk), out);
                if is_chat && chunk.choices.iter().any(|delta| delta.finish.is_some()) {
                    self.ending = Some((chunk.into_owned(), data.to_owned()));
                    return Ok(Ok(()));
                }
                self.chunk(&chunk, is_chat.then_some(Raw { json: data, text }), data, &[], out)
            }
        })
    }

    /// What said that it was the last of a choice is, unless there is more of that in the next chunk.
    fn settle(&mut self, next: Option<&Chunk>, out: &mut Vec<u8>) {
        let Some((chunk, data)) = self.ending.take() else { return };
        let next = next.into_iter().flat_map(|next| &next.choices);
        let go_on: Vec<u32> = next.filter(|delta| delta.adds()).map(|delta| delta.choice).collect();
        let raw = Raw { json: &data, text: None };
        if let Err(reason) = self.chunk(&chunk, Some(raw), &data, &go_on, out) {
            self.fail(&reason, None, out);
        }
    }

    /// Takes a chunk, whatever it says of the end of choices that `go_on`.
    fn chunk(
        &mut self,
        chunk: &Chunk,
        raw: Option<Raw<'_>>,
        data: &str,
        go_on: &[u32],
        out: &mut Vec<u8>,
    ) -> Result<(), String> {
        if let Some(error) = &chunk.error {
            self.fail(&error.message, Some(data), out);
            return Ok(());
        }
        self.usage = chunk.usage.or(self.usage);
        self.as_reasoning |= chunk.choices.iter().any(|delta| delta.as_reasoning);
        note_unread(chunk, raw.is_some(), &*self.client, &mut self.left_out);
        let mut choices = Vec::with_capacity(chunk.choices.len());
        for (place, delta) in chunk.choices.iter().enumerate() {
            choices.extend(self.choice(delta, place, !go_on.contains(&delta.choice))?);
        }
        // The end of an answer that goes on is nobody's business.
        if self.asking.is_some() {
            self.tell(Told { raw: None, chunk: &Chunk::default(), choices }, out);
            return Ok(());
        }
        self.tell(Told { raw, chunk, choices }, out);
        Ok(())
    }

    fn tell(&mut self, mut told: Told<'_>, out: &mut Vec<u8>) {
        leave_out(&mut told.choices, &*self.client, &mut self.left_out);
        for new in told.choices.iter_mut().filter(|new| new.index == 0) {
            self.paragraphs.write(&mut new.pieces, self.client.in_one());
        }
        if let Some(reason) = told.choices.iter().find_map(|new| new.reason.as_ref()) {
            self.reason.get_or_insert_with(|| reason.clone());
        }
        if let Some(blocks) = &mut self.blocks {
            let first = told.choices.iter().filter(|new| new.index == 0);
            first.flat_map(|new| &new.pieces).for_each(|piece| blocks.add(piece));
        }
        self.client.tell(&told, out);
    }

    /// What a delta adds to a choice, which it may end.
    fn choice(&mut self, delta: &Delta, place: usize, may_end: bool) -> Result<Option<ToldChoice>, String> {
        let index = delta.choice;
        let first = !self.choices.contains_key(&index);
        if first && self.choices.len() >= MOST_CHOICES {
            return Err(format!("expected at most {MOST_CHOICES} choices, got more"));
        }
        let choice = self.choices.entry(index).or_insert_with(|| Box::new(Choice::new(&self.reader)));
        if choice.is_over() {
            return Ok(None);
        }
        choice.push(delta, &self.reader, &mut self.ids);
        let reason = delta.finish.filter(|_| may_end).map(|finish| {
            let end = if finish == Finish::Length { End::Cut } else { End::End };
            choice.finish(end, &self.reader, &mut self.ids);
            self.cut |= index == 0 && end == End::Cut;
            self.asking = self.asking.take().or_else(|| choice.asking(&self.reader).filter(|_| index == 0));
            choice.reason(Some(finish), delta.reason.as_deref())
        });
        let reason = reason.filter(|_| self.asking.is_none());
        let pieces = choice.pieces();
        Ok(Some(ToldChoice { index, place: Some(place), first, pieces, reason }))
    }

    /// Ends every choice that the server did not end. Only where it said that it was done, clients are told so.
    fn flush(&mut self, end: End, done: bool, out: &mut Vec<u8>) {
        let mut choices = Vec::new();
        for (&index, choice) in self.choices.iter_mut().filter(|(_, choice)| !choice.is_over()) {
            choice.finish(end, &self.reader, &mut self.ids);
            let asking = || choice.asking(&self.reader).filter(|_| done && index == 0);
            self.asking = self.asking.take().or_else(asking);
            let reason = (done && self.asking.is_none()).then(|| choice.reason(None, None));
            choices.push(ToldChoice { index, pieces: choice.pieces(), reason, ..ToldChoice::default() });
        }
        if !choices.is_empty() {
            self.tell(Told { raw: None, chunk: &Chunk::default(), choices }, out);
        }
    }

    fn done(&mut self, out: &mut Vec<u8>) {
        if self.asking.is_some() {
            self.over = true;
            return;
        }
        let remarks = [
            (CHANGED, lists::line(self.changed())),
            (REFUSED, lists::line(self.refused())),
            (LEFT_OUT, lists::line(&self.left_out)),
        ];
        let remarks: Vec<_> = remarks.into_iter().filter(|(_, value)| !value.is_empty()).collect();
        self.client.done(&remarks, out);
        (self.over, self.whole) = (true, true);
    }

    /// Ends with an error. Text that was held comes before it.
    fn fail(&mut self, reason: &str, raw: Option<&str>, out: &mut Vec<u8>) {
        self.settle(None, out);
        if !self.over {
            self.flush(End::Cut, false, out);
            self.over = true;
            self.client.fail(&Failure { message: reason, raw, status: None }, out);
        }
    }
}
