//! What an engine remembers: where it is, what the text so far was, which call is open, and what was looked for in vain.

use super::fence::Fence;
use super::mention::Quotation;
use super::tail::Tail;
use crate::notes::Notes;
use crate::value::white_space;

/// Where the held text is.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Position {
    /// Where it begins in the answer.
    pub(super) base: u64,
    /// How much of it has been looked at.
    pub(super) look: usize,
    /// The last bytes before it.
    pub(super) tail: Tail,
    /// How often a byte was looked at.
    pub(super) work: u64,
}

/// What the text so far was.
#[derive(Debug, Clone, Copy)]
pub(super) struct Prose {
    /// In a code fence, as far as the text is settled or only waits for a decision.
    pub(super) fence: Fence,
    /// How far in the answer `fence` and `fresh` have seen it.
    pub(super) noted: u64,
    /// Where a line ends that opens a fence, the last that was looked for.
    pub(super) fenced: Option<u64>,
    /// It may turn out to be thinking.
    pub(super) undecided: bool,
    /// Nothing but white space and thinking so far.
    pub(super) fresh: bool,
    /// Nothing but white space since the last call.
    pub(super) behind_call: bool,
    /// A mark around the answer was read that has to be closed.
    pub(super) wrapped: bool,
    /// The answer begins with a word that a header without its marks begins with.
    pub(super) worded: bool,
    /// The thinking that the calls at hand stand in, where it goes on behind them.
    pub(super) around: Option<usize>,
    /// So far the answer, or the thought at hand, holds nothing but tokens without a meaning.
    pub(super) empty_to: u64,
}

impl Prose {
    /// The answer goes on with `text`, up to `to`.
    pub(super) fn note(&mut self, text: &[u8], to: u64) {
        if self.fresh || self.behind_call {
            let blank = white_space(text) == text.len();
            self.fresh &= blank;
            self.behind_call &= blank;
        }
        self.fence.pass(text);
        self.noted = to;
    }
}

/// The open call, or the next one.
#[derive(Debug, Clone, Default)]
pub(super) struct OpenCall {
    pub(super) number: u32,
    /// Where it begins in the answer, and its name.
    pub(super) from: u64,
    pub(super) name: String,
    pub(super) meaning: Meaning,
    /// What was odd in its arguments, told when they are over.
    pub(super) notes: Notes,
    /// The marks around a group of calls are open.
    pub(super) in_block: bool,
    /// In the message to a tool, or behind no header at all.
    pub(super) in_tool: bool,
    /// Where the message to the user begins: a call in it begins there, as its header was meant for a tool.
    pub(super) message: Option<u64>,
    /// The steps of the block's opening that were there, a bit each.
    pub(super) opened: u32,
    /// The first mark of the open call was missing, and so may be the last.
    pub(super) unopened: bool,
    /// The walk of the last whole call: a closer of its values behind it shows that it ended inside one of them.
    pub(super) last: Option<usize>,
    /// Nothing of its arguments came: what stands behind it may be them.
    pub(super) empty: bool,
    pub(super) rest: Rest,
}

/// What may still come of the last call behind its end.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Rest {
    /// It is closed.
    #[default]
    Nothing,
    /// Its closer is missing, or its arguments are a text: its closer may stand behind more of them.
    Closer,
    /// It is doubted for what followed it.
    Doubted,
}

/// How far in the answer something was looked for in vain: what lies before is not tried once more.
#[derive(Debug, Clone, Default)]
pub(super) struct Tried {
    /// Where a word was tried as the name of a call.
    pub(super) word: Option<u64>,
    /// Bare calls.
    pub(super) bare: u64,
    /// Marks that prove a call opened by a word alone.
    pub(super) proof: u64,
    /// The rest of a value.
    pub(super) value: u64,
    /// Arguments that can be read at once: where some could not, no others are tried.
    pub(super) whole: bool,
    /// Calls behind their marks that never got a name.
    pub(super) nameless: Nameless,
    /// Openings, and the marks that they passed: the walk, and where in the answer.
    pub(super) openings: u64,
    pub(super) passed: Vec<(usize, u64)>,
}

/// What was read behind marks as calls, and named no tool. Calls may begin inside it, so it is read again from the next
/// mark on; but all that is read so may not be much more than it, however many marks there are. Places in the answer.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Nameless {
    /// From the first mark on, as far as any of them was read.
    from: u64,
    to: u64,
    /// The last one that was tried, and how far it may be read without a name.
    last: u64,
    most: u64,
    /// So many bytes were read again.
    spent: u64,
}

/// So many bytes behind marks inside what named no tool are read again in any case.
const READ_AGAIN: u64 = 256;

impl Nameless {
    /// How far a call that begins at `start` may be read before it has a name.
    pub(super) fn limit(&mut self, start: u64) -> u64 {
        if start >= self.to {
            *self = Self { from: start, to: start, last: start, most: u64::MAX, spent: 0 };
        } else if start != self.last {
            let free = READ_AGAIN + start.saturating_sub(self.from) / 3;
            (self.last, self.most) = (start, start + free.saturating_sub(self.spent));
        }
        self.most
    }

    /// What begins at `start` was read as far as `look`, and is no call.
    pub(super) fn add(&mut self, start: u64, look: u64) {
        if start != self.from {
            self.spent += look.saturating_sub(start);
        }
        self.to = self.to.max(look);
    }
}

/// What is known of quotations and examples: calls in them are talked about.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Quotes {
    pub(super) quotation: Quotation,
    /// How far marks stand in quotes.
    pub(super) closed_to: u64,
    /// A quote may open before the calls at hand, which was looked into: no text came since.
    pub(super) unquoted: bool,
    /// No prose goes on behind the fence at hand: what is in it, and in all that follow, is meant.
    pub(super) fence_ends: bool,
    /// Where the fence behind text begins that is read on trial: no other one is tried in it.
    pub(super) fence: Option<u64>,
}

/// What the open call is, by its name.
#[derive(Debug, Clone, Default)]
pub(super) enum Meaning {
    #[default]
    Call,
    /// It says that nothing is called: nothing of it is emitted.
    Nothing,
    /// The model's answer: its arguments are buffered, and the text in them is emitted at the end.
    Answer(String),
}

impl Default for Prose {
    fn default() -> Self {
        Self {
            fence: Fence::default(),
            noted: 0,
            fenced: None,
            undecided: false,
            fresh: true,
            behind_call: false,
            wrapped: false,
            worded: false,
            around: None,
            empty_to: 0,
        }
    }
}
