//! What every reader of arguments is given, and where it is.

use crate::message::Tool;
use crate::scan::Match;
use crate::turn::End;
use crate::value::Emit;

/// The text at hand, and what is known of it: how the arguments are written, and by which marks that is found.
pub(crate) struct Given<'a, F, M> {
    pub(crate) form: &'a F,
    pub(crate) marks: &'a M,
    pub(crate) tool: Option<&'a Tool>,
    pub(crate) text: &'a str,
    /// How the answer ended, if it did.
    pub(crate) end: Option<End>,
}

impl<F, M> Given<'_, F, M> {
    /// Whether a delimiter of `text` closes this call: one that goes on with a name (`named`) does so with that of its
    /// tool. None when that cannot be said yet.
    pub(super) fn closes(&self, named: Option<&str>, text: &str, hit: Match) -> Option<bool> {
        let (Some(tool), true) = (self.tool, named == Some(&text[hit.start..hit.end])) else {
            return Some(true);
        };
        repeats(&tool.name, &text[hit.end..], self.end.is_some())
    }
}

/// White space before a name, inside an opening and between two calls, in bytes; behind more of it everything is text.
pub(crate) const MAX_SPACE: usize = 256;

/// Whether `rest`, behind a closing mark, begins with this name. None when that cannot be said yet, as the answer is not
/// `over`.
pub(crate) fn repeats(name: &str, rest: &str, over: bool) -> Option<bool> {
    let space = rest.len() - rest.trim_start().len();
    if space > MAX_SPACE {
        return Some(false);
    }
    let rest = &rest[space..];
    match rest.strip_prefix(name) {
        Some("") | None if !over && name.starts_with(rest) => None,
        Some(behind) => Some(!behind.starts_with(|c: char| c.is_alphanumeric() || c == '_')),
        None => Some(false),
    }
}

/// A place in the text at hand, and where what is read goes.
pub(super) struct On<'a, 'e, F, M> {
    pub(super) given: Given<'a, F, M>,
    pub(super) bytes: &'a [u8],
    pub(super) look: usize,
    /// The first byte that has not been passed on.
    pub(super) kept: usize,
    /// Bytes that were looked at again.
    pub(super) again: u64,
    pub(super) emit: Emit<'e>,
}

impl<'a, 'e, F, M> On<'a, 'e, F, M> {
    pub(super) fn new(given: Given<'a, F, M>, look: usize, kept: usize, emit: Emit<'e>) -> Self {
        Self { bytes: given.text.as_bytes(), given, look, kept, again: 0, emit }
    }

    /// No more text will come.
    pub(super) fn last(&self) -> bool {
        self.given.end.is_some()
    }

    /// Goes back to look at something again.
    pub(super) fn rewind(&mut self, to: usize) {
        self.again += self.look.saturating_sub(to) as u64;
        self.look = to;
    }
}
