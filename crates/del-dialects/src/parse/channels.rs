//! Channel formats: a header routes the body behind it.

use super::automaton::{Anchored, Scan};
use super::body::Reading;
use super::{Engine, Flow, Io, State};
use crate::dialect::Channels;
use crate::event::Event;
use crate::fault::FaultKind;

/// The longest header, in bytes.
const MAX_HEADER: usize = 512;

/// A header holds so many opening marks at most: that of the author, and that of the channel, which some models repeat.
const MAX_OPENERS: u8 = 3;

/// The marks of a header, in the order in which its automaton knows them.
const HEADER_MARKS: [HeaderMark; 4] =
    [HeaderMark::Message, HeaderMark::Constrain, HeaderMark::Opener, HeaderMark::Opener];

#[derive(Clone, Copy)]
enum HeaderMark {
    Message,
    Constrain,
    Opener,
}

/// Where a body goes.
enum Route<'h> {
    Text,
    Thought,
    Call(&'h str),
    /// Somebody else's message, which the model made up.
    Invented,
}

impl Engine {
    /// In a header: `at` stands at its first mark.
    pub(super) fn header(&mut self, io: &mut Io<'_>) -> Flow {
        let plan = io.plan;
        let State::Header { walk, scan, marks } = &mut self.state else { return Flow::Next };
        let number = *walk;
        let walk = &plan.walks[number];
        let Some(channels) = walk.channels() else { return Flow::Next };
        let hit = loop {
            let Some(&byte) = io.bytes.get(io.look) else { return Flow::More };
            if io.look - io.at > MAX_HEADER {
                return self.no_header(io);
            }
            if scan.is_fresh() && (is_word(byte) || byte.is_ascii_whitespace()) {
                io.look += 1;
                continue;
            }
            match walk.header.step(scan, byte, &mut io.look, &mut io.again) {
                Anchored::More => {}
                Anchored::Nothing => return self.no_header(io),
                Anchored::Found(hit) => match HEADER_MARKS.get(hit.pattern as usize) {
                    Some(HeaderMark::Message) => break hit,
                    Some(HeaderMark::Constrain) => {}
                    // A header that begins again, and again.
                    Some(HeaderMark::Opener) if *marks == MAX_OPENERS => {
                        io.fault(FaultKind::OrphanMark, None, io.at, hit.start);
                        io.at = hit.start;
                        *marks = 1;
                    }
                    Some(HeaderMark::Opener) => *marks += 1,
                    None => return self.no_header(io),
                },
            }
        };
        let header = &io.text[io.at..hit.start];
        let route = route(header, channels);
        let start = io.at;
        io.rewind(hit.end);
        match route {
            Route::Text => {
                io.at = hit.end;
                self.resume_text();
            }
            Route::Invented => {
                io.at = hit.end;
                io.fault(FaultKind::InventedResult, None, start, hit.end);
                self.state = State::Invented { kind: walk.invented, scan: Scan::default() };
            }
            Route::Thought => {
                io.at = hit.end;
                self.state = State::Thought { kind: walk.thought, scan: Scan::default() };
            }
            Route::Call(name) => {
                self.fresh = false;
                io.at = hit.end;
                if name.is_empty() || name.len() > self.turn.limits.name {
                    let kind = if name.is_empty() { FaultKind::BadCall } else { FaultKind::Limit };
                    io.fault(kind, None, start, hit.end);
                    self.state = State::Rescue { walk: number, scan: Scan::default(), skip: None };
                    return Flow::Next;
                }
                if self.call >= self.turn.limits.calls {
                    io.fault(FaultKind::Limit, None, start, hit.end);
                    self.state = State::Dropping;
                    return Flow::Next;
                }
                self.call_from = io.base + start as u64;
                name.clone_into(&mut self.name);
                let dialect = walk.dialect.name.as_str();
                io.send(Event::CallStart { call: self.call, name, id: None, dialect }, start, hit.end);
                self.state =
                    State::Reading(Reading::new(number, walk, true, self.turn.limits.depth, &mut self.spare));
            }
        }
        Flow::Next
    }

    /// What looked like a header is none: its first mark means nothing and is dropped.
    fn no_header(&mut self, io: &mut Io<'_>) -> Flow {
        let end = io.text[io.at..].find('>').map_or(io.look, |at| io.at + at + 1);
        io.fault(FaultKind::OrphanMark, None, io.at, end);
        io.at = end;
        io.rewind(end);
        self.resume_text();
        Flow::Next
    }
}

/// True when a byte may stand in a word of a header.
fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_.-=:/".contains(&byte) || byte >= 0x80
}

/// Reads a header such as `<|start|>assistant<|channel|>commentary to=functions.f <|constrain|>json`.
fn route<'h>(header: &'h str, channels: &Channels) -> Route<'h> {
    let mut author = None;
    let mut after_start = false;
    let mut recipient = None;
    let mut channel = None;
    let mut rest = header.trim_start();
    let mut after_channel = false;
    loop {
        rest = rest.trim_start();
        if rest.is_empty() {
            break;
        }
        if let Some(behind) = rest.strip_prefix(channels.start.trim()) {
            (after_start, after_channel) = (true, false);
            rest = behind;
            continue;
        }
        if let Some(behind) = rest.strip_prefix(channels.constrain.trim()) {
            after_channel = false;
            rest = behind;
            continue;
        }
        if let Some(behind) = rest.strip_prefix(channels.channel.trim()) {
            after_channel = true;
            rest = behind;
            continue;
        }
        let end = rest.find(|c: char| c.is_whitespace() || c == '<').unwrap_or(rest.len());
        let word = &rest[..end];
        if let Some(to) = word.strip_prefix("to=") {
            recipient = Some(to);
        } else if std::mem::take(&mut after_start) {
            author = Some(word);
        } else if std::mem::take(&mut after_channel) {
            channel = Some(word);
        }
        rest = &rest[end..];
    }
    if author.is_some_and(|author| author != channels.author) {
        return Route::Invented;
    }
    let tool = recipient.filter(|to| !channels.people.iter().any(|person| person == to) && !to.is_empty());
    if let Some(tool) = tool {
        return Route::Call(tool.strip_prefix(channels.prefix.as_str()).unwrap_or(tool));
    }
    let thought = channel.is_some_and(|channel| channels.reasoning.iter().any(|known| known == channel));
    if thought { Route::Thought } else { Route::Text }
}
