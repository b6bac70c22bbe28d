//! What is left of a header whose marks a server took out: `assistantcommentary to=functions.f json{…}`.

use super::channels::{Lead, Said, is_word};
use super::{Engine, Flow, Io, State};
use crate::fault::FaultKind;
use crate::scan::{Anchored, Scan};

/// The rest of a header that is being read. It begins at the first held byte.
#[derive(Debug, Clone)]
pub(super) struct Residue {
    scan: Scan,
    /// The spelling that was found, and where it ends.
    word: Option<(u16, usize)>,
    lead: Lead,
    /// Where the content type begins, counted from the first held byte.
    content: Option<usize>,
}

/// The longest residue, in bytes.
const MAX_RESIDUE: usize = 512;

/// What a residue says.
enum Settled {
    More,
    Nothing,
    /// The body begins here.
    Body(usize),
    /// The body begins here, and is a call.
    Call(usize),
}

impl Residue {
    pub(super) fn new() -> Self {
        Self { scan: Scan::default(), word: None, lead: Lead::Space, content: None }
    }

    /// True where the beginning of a recipient follows the word.
    pub(super) fn goes_on(&self) -> bool {
        self.lead != Lead::Space
    }
}

impl Engine {
    /// In what may be left of a header.
    pub(super) fn residue(&mut self, io: &mut Io<'_>) -> Flow {
        let plan = io.plan;
        let State::Header(header) = &mut self.state else { return Flow::Next };
        let number = header.walk;
        let walk = &plan.walks[number];
        let (Some(channels), Some(heading)) = (walk.channels(), &walk.heading) else { return Flow::Next };
        let Some(residue) = &mut header.residue else { return Flow::Next };
        if residue.word.is_none() {
            match heading.residues.follow(&mut residue.scan, io.bytes, &mut io.look, &mut io.again) {
                Anchored::More => return Flow::More,
                Anchored::Nothing => return self.no_header(io),
                Anchored::Found(hit) => {
                    residue.word = Some((hit.pattern, hit.end - io.at));
                    self.text.worded = true;
                    io.ahead = None;
                }
            }
        }
        let Some((pattern, behind)) = residue.word else { return Flow::Next };
        // Behind the words with the author come those without, which mean little by themselves.
        let (pattern, count) = (usize::from(pattern), channels.bare.len());
        let sure = pattern < count;
        let settled = residue.read(io, io.at + behind, sure, channels.recipient.as_bytes());
        let content = residue.content;
        let body = match settled {
            Settled::More => return Flow::More,
            Settled::Nothing => return self.no_header(io),
            Settled::Body(body) | Settled::Call(body) => body,
        };
        let mut said = Said::of_channel(&channels.bare[pattern % count]);
        if matches!(settled, Settled::Call(_)) {
            let content = content.map(|from| io.at + from);
            let end = content.unwrap_or(body);
            let recipient = io.text[io.at + behind..end].trim();
            said.recipient = recipient.strip_prefix(channels.recipient.as_str());
            said.content = content.map(|from| io.text[from..body].trim());
        }
        let (call, start) = (self.call.number, io.base + io.at as u64);
        io.rewind(body);
        self.follow(io, number, &said, body);
        if matches!(self.state, State::Reading(_)) {
            let at = usize::try_from(start.saturating_sub(io.base)).unwrap_or(0);
            io.fault(FaultKind::MissingOpener, Some(call), at, at);
        }
        Flow::Next
    }
}

impl Residue {
    /// What follows the word, from `from` on. `sure` says that the word alone makes a header.
    fn read(&mut self, io: &mut Io<'_>, from: usize, sure: bool, to: &[u8]) -> Settled {
        let other = if sure { Settled::Body(from) } else { Settled::Nothing };
        loop {
            let Some(&byte) = io.bytes.get(io.look) else {
                return if io.last() && self.lead == Lead::Space { other } else { Settled::More };
            };
            if io.look - from > MAX_RESIDUE {
                return other;
            }
            match (self.lead, byte) {
                (Lead::Space, byte) if io.look == from && byte != b' ' => {
                    let capital = byte >= 0x80 || byte.is_ascii_uppercase();
                    return if capital { Settled::Body(from) } else { other };
                }
                (Lead::Recipient | Lead::Behind, b'{') => return Settled::Call(io.look),
                // The content type is one word.
                (Lead::Behind, byte) if !byte.is_ascii_whitespace() => {
                    let first = io.at + *self.content.get_or_insert(io.look - io.at);
                    if !is_word(byte) || io.bytes[first..io.look].iter().any(u8::is_ascii_whitespace) {
                        return other;
                    }
                }
                _ if self.lead.step(byte, to) => {}
                _ => return other,
            }
            io.look += 1;
        }
    }
}
