//! Channel formats: a header routes the body behind it.

mod said;

use super::opening::Opening;
use super::plan::{Body, HeaderMark, Opener, Plan};
use super::residue::Residue;
use super::{Engine, Flow, Io, State};
use crate::dialect::Channels;
use crate::dialect::is_token;
use crate::event::{End, Event};
use crate::fault::FaultKind;
use crate::parse::character::first_char;
use crate::scan::{Anchored, Scan};
use crate::value::white_space;
pub(super) use said::Said;
use said::Way;

/// The longest header, in bytes behind each of its opening marks: what fails behind one need not be tried behind another.
const MAX_HEADER: usize = 512;

/// A header holds so many opening marks at most: that of the author, and that of the channel, which some models repeat.
const MAX_OPENERS: u8 = 3;

/// A header that is being read. It begins at the first held byte.
#[derive(Debug, Clone)]
pub(super) struct Header {
    pub(super) walk: usize,
    origin: Origin,
    scan: Scan,
    /// Opening marks so far. Without one this may still be text, and nothing but a recipient makes it a header.
    marks: u8,
    lead: Lead,
    /// The mark that ends the header, where it takes a look behind it to be sure: its number, and where it stands.
    ended: Option<(u16, usize, usize)>,
    /// What may be left of a header without its marks.
    pub(super) residue: Option<Residue>,
}

/// Where a header was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    /// The answer begins inside it, or with something else.
    Start,
    Text,
    /// In thinking of this kind.
    Thought(usize),
}

/// How far a recipient without any mark before it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lead {
    Space,
    /// So much of what stands before a recipient.
    Word(usize),
    Recipient,
    Behind,
}

impl Lead {
    /// False when this byte cannot follow. `to` stands before a recipient; nothing does where it is empty.
    pub(super) fn step(&mut self, byte: u8, to: &[u8]) -> bool {
        let next = match (*self, byte.is_ascii_whitespace()) {
            (Self::Space, true) if !to.is_empty() => Self::Space,
            (Self::Space, false) if to.is_empty() => Self::Recipient,
            (Self::Space, false) if to.first() == Some(&byte) => Self::Word(1),
            (Self::Word(len), _) if to.get(len) == Some(&byte) => Self::Word(len + 1),
            (Self::Word(len), false) if len == to.len() => Self::Recipient,
            (Self::Recipient, false) => Self::Recipient,
            (Self::Recipient | Self::Behind, true) if !to.is_empty() => Self::Behind,
            _ => return false,
        };
        *self = next;
        true
    }
}

impl Header {
    pub(super) fn new(walk: usize, origin: Origin) -> Self {
        let scan = Scan::default();
        Self { walk, origin, scan, marks: 0, lead: Lead::Space, ended: None, residue: None }
    }

    /// What is left of a header, which begins with one of its words.
    pub(super) fn bare(walk: usize, origin: Origin) -> Self {
        Self { residue: Some(Residue::new()), ..Self::new(walk, origin) }
    }
}

impl Engine {
    pub(super) fn header(&mut self, io: &mut Io<'_>) -> Flow {
        let plan = io.plan;
        let State::Header(header) = &mut self.state else { return Flow::Next };
        let walk = &plan.walks[header.walk];
        let (Some(channels), Some(heading)) = (walk.channels(), &walk.heading) else { return Flow::Next };
        if header.residue.is_some() {
            return self.residue(io);
        }
        let to = channels.recipient.as_bytes();
        while header.ended.is_none() {
            let Some(&byte) = io.bytes.get(io.look) else {
                // A model does not end inside a header by itself.
                let over = io.end == Some(End::End) && self.is_talked_of(io);
                return if over { self.no_header(io) } else { Flow::More };
            };
            if io.look - io.at > MAX_HEADER * usize::from(header.marks.max(1)) {
                return self.no_header(io);
            }
            // Behind a token a sign that follows a word is a slip in it.
            let slip = header.marks > 0 && !channels.known && is_word(io.bytes[io.look.max(1) - 1]);
            let plain = is_word(byte)
                || (byte.is_ascii_whitespace() && !channels.ends_header(byte))
                || (slip && matches!(byte, b'?' | b'!' | b'.' | b',' | b';'));
            if header.scan.is_fresh() && plain {
                if !header.lead.step(byte, to) && (header.marks == 0 || to.is_empty()) {
                    if header.origin == Origin::Start && io.look == io.at && !channels.bare.is_empty() {
                        header.residue = Some(Residue::new());
                        return self.residue(io);
                    }
                    return self.no_header(io);
                }
                io.look += 1;
                continue;
            }
            let half = matches!(header.lead, Lead::Word(len) if len < to.len());
            if half && header.marks == 0 && header.scan.is_fresh() {
                return self.no_header(io);
            }
            match heading.marks.step(&mut header.scan, byte, &mut io.look, &mut io.again) {
                Anchored::More => {}
                Anchored::Nothing => return self.no_header(io),
                Anchored::Found(hit) => match heading.kinds[hit.pattern as usize] {
                    HeaderMark::Message => {
                        header.ended = Some((hit.pattern, hit.start - io.at, hit.end - io.at));
                    }
                    HeaderMark::Constrain => {}
                    // A header that begins again, and again.
                    HeaderMark::Opener if header.marks == MAX_OPENERS => {
                        io.fault(FaultKind::OrphanMark, None, io.at, hit.start);
                        io.at = hit.start;
                        header.marks = 1;
                    }
                    HeaderMark::Opener => {
                        header.marks += 1;
                        header.lead = Lead::Space;
                    }
                },
            }
        }
        let (Some((pattern, from, behind)), own) = (header.ended, header.walk) else { return Flow::Next };
        let marked = header.marks > 0;
        let thought = match header.origin {
            Origin::Thought(kind) => Some(kind),
            Origin::Start | Origin::Text => None,
        };
        if header.origin != Origin::Start && self.may_be_mentioned(io, (io.at, io.at + behind), thought) {
            return Flow::Next;
        }
        let message = channels.message[pattern as usize].trim();
        let said = Said::read(&io.text[io.at..io.at + from], channels, message);
        if channels.known && !self.knows(&said, marked, channels, &heading.group, plan) {
            let rest = &io.bytes[io.at + behind..];
            let space = white_space(rest);
            match rest.get(space) {
                Some(b'{') => {}
                None if space <= MAX_HEADER => return Flow::More,
                _ => return self.no_header(io),
            }
        }
        let group = heading.group.iter().copied();
        let number = group.max_by_key(|&walk| said.fits(walk, plan)).unwrap_or(own);
        io.rewind(io.at + behind);
        self.follow(io, number, &said, io.at + behind);
        Flow::Next
    }

    /// True when the recipient is one that the routes name, or behind a mark the tools. Without tools anybody may be one
    /// there, where no other dialect is read.
    fn knows(
        &self,
        said: &Said<'_>,
        marked: bool,
        channels: &Channels,
        group: &[usize],
        plan: &Plan,
    ) -> bool {
        let named = said.recipient.unwrap_or_default();
        let own = |walk: &usize| plan.walks[*walk].dialect.tool.as_deref() == Some(named);
        let free = self.turn.tools.is_empty() && plan.alone && !named.is_empty();
        channels.routes.contains_key(named)
            || (marked && (free || self.tool(named).is_some()))
            || group.iter().any(own)
    }

    /// Goes where a whole header says; its body begins at `body`.
    pub(super) fn follow(&mut self, io: &mut Io<'_>, number: usize, said: &Said<'_>, body: usize) {
        let walk = &io.plan.walks[number];
        let (Some(channels), Some(heading)) = (walk.channels(), &walk.heading) else { return };
        let start = io.at;
        let way = said.way(channels, walk.body == Body::Call);
        self.call.in_tool = matches!(way, Way::Call(_)) && heading.inside;
        self.call.message = (matches!(way, Way::Text) && heading.inside).then_some(io.base + body as u64);
        if let Way::Call(name) = way {
            self.text.fresh = false;
            return self.call_in_channel(io, number, name, body);
        }
        io.at = body;
        match way {
            Way::Thought => self.state = State::Thought { kind: heading.thought, scan: Scan::default() },
            Way::Dropped | Way::Invented => {
                let invented = matches!(way, Way::Invented);
                let kind = if invented { FaultKind::InventedResult } else { FaultKind::OrphanMark };
                io.fault(kind, None, start, body);
                self.state = State::Invented { kind: heading.invented, scan: Scan::default() };
            }
            Way::Text | Way::Call(_) => {
                // What is addressed to the user is no call without marks.
                if matches!(way, Way::Text) && is_token(&io.text[start..]) {
                    self.tried.bare = u64::MAX;
                }
                self.resume_text();
            }
        }
    }

    fn call_in_channel(&mut self, io: &mut Io<'_>, number: usize, name: &str, body: usize) {
        let walk = &io.plan.walks[number];
        let start = io.at;
        if walk.is_inside() {
            io.at = body;
            return self.resume_text();
        }
        if walk.body == Body::Call {
            let reading = self.read_whole(io, number, false, u64::MAX);
            self.candidates.clear();
            self.begin_reading(reading.pending(Opening::behind_header(number), body - start, u64::MAX));
            return;
        }
        io.at = body;
        if name.is_empty() || name.len() > self.turn.limits.name {
            let kind = if name.is_empty() { FaultKind::BadCall } else { FaultKind::Limit };
            io.fault(kind, None, start, body);
            self.state = State::Rescue { walk: number, scan: Scan::default(), skip: None };
            return;
        }
        if self.call.number >= self.turn.limits.calls {
            io.fault(FaultKind::Limit, None, start, body);
            self.state = State::Dropping;
            return;
        }
        self.call.from = io.base + start as u64;
        name.clone_into(&mut self.call.name);
        let dialect = walk.dialect.name.as_str();
        io.send(Event::CallStart { call: self.call.number, name, id: None, dialect }, start, body);
        self.doubt(io, start);
        let reading = self.read_whole(io, number, false, u64::MAX);
        self.begin_reading(reading);
    }

    /// What looked like a header is none. A token of the model's markup is dropped; anything else is text.
    pub(super) fn no_header(&mut self, io: &mut Io<'_>) -> Flow {
        let State::Header(header) = &self.state else { return Flow::Next };
        let (origin, channels) = (header.origin, io.plan.walks[header.walk].channels());
        let mut end = io.look;
        while !io.text.is_char_boundary(end) {
            end -= 1;
        }
        // What stands further on may not have arrived.
        let text = &io.text[io.at..end];
        if is_token(text) && header.marks > 0 && !self.is_talked_of(io) {
            let mark = text.find('>').map_or(text.len(), |at| at + 1);
            let author = channels.map_or("", |channels| channels.author.as_str());
            let opens =
                channels.is_some_and(|channels| channels.start.iter().any(|mark| text.starts_with(mark)));
            let rest = text[mark..].trim_start();
            let with = if opens && !author.is_empty() && rest.starts_with(author) {
                text.len() - rest.len() + author.len()
            } else {
                mark
            };
            io.fault(FaultKind::OrphanMark, None, io.at, io.at + with);
            io.at += with;
            io.rewind(io.at);
        } else {
            io.rewind(io.at);
            if origin != Origin::Start && io.at < io.text.len() {
                io.look += first_char(io.text, io.at);
            }
        }
        self.state = match origin {
            Origin::Thought(kind) => State::Thought { kind, scan: Scan::default() },
            _ => State::Text(Scan::default()),
        };
        Flow::Next
    }

    /// True for a token between words, with a space on each side of it.
    fn is_talked_of(&self, io: &Io<'_>) -> bool {
        let behind = io.text[io.at..].split_once('>').map_or("", |(_, behind)| behind);
        let within = match self.before(io, io.at) {
            [word, b' '] => word != b'>' && !word.is_ascii_whitespace(),
            _ => self.stands_in_words(io, io.at),
        };
        let signs = [' ', '.', ',', ';', ':', '!', '?', ')', '"', '\'', '*', '_', '”', '’', '」'];
        within && behind.starts_with(signs)
    }

    /// The answer ended in a header, or in what looked like one.
    pub(super) fn end_header(&mut self, io: &mut Io<'_>) {
        let State::Header(header) = &self.state else { return };
        let end = io.text.len();
        let recipient = matches!(header.lead, Lead::Recipient | Lead::Behind);
        let to = io.plan.walks[header.walk].channels().map_or("", |channels| channels.recipient.as_str());
        let call = recipient || (!to.is_empty() && io.text[io.at..].contains(to));
        let rest = header.residue.as_ref().is_some_and(Residue::goes_on);
        let whole = header.marks > 0 || rest || (call && !to.is_empty()) || !header.scan.is_fresh();
        let thought = matches!(header.origin, Origin::Thought(_)) && !whole;
        if whole && io.at < end {
            let kind = if call { FaultKind::UnclosedCall } else { FaultKind::OrphanMark };
            io.fault(kind, None, io.at, end);
        } else if thought {
            io.think(end);
        } else {
            self.say(io, end);
        }
        if thought {
            io.fault(FaultKind::UnclosedReasoning, None, end, end);
        }
    }
}

impl Channels {
    /// True for white space that the mark behind a header begins with.
    fn ends_header(&self, byte: u8) -> bool {
        self.message.iter().any(|mark| mark.as_bytes().first() == Some(&byte))
    }
}

/// True when a byte may stand in a word of a header.
pub(super) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_.-=:/".contains(&byte) || byte >= 0x80
}

impl Opener {
    /// The header that begins with `mark`.
    pub(super) fn header(&self, plan: &Plan, origin: Origin, mark: &str) -> State {
        let bare =
            plan.walks[self.walk].channels().is_some_and(|all| all.residues().any(|word| word == mark));
        let header = if bare { Header::bare } else { Header::new };
        State::Header(header(self.walk, origin))
    }
}
