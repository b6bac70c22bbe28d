//! A written call, taken apart into its marks.

use std::sync::Arc;

use del_dialects::description::{HeadForm, Mark, Need, Piece, Slot};
use del_dialects::{Call, Dialect};

use crate::reading::tools;

/// A call as its dialect writes it: what stands before the arguments, the arguments, and what stands behind them.
#[derive(Debug, Clone)]
pub(crate) struct Anatomy {
    pub(crate) front: Vec<Part>,
    pub(crate) args: String,
    pub(crate) back: Vec<Part>,
}

/// A mark, or what is none: a head, a header. The text of a mark that is not written is empty.
#[derive(Debug, Clone)]
pub(crate) struct Part {
    pub(crate) text: String,
    /// The mark, with its other spellings.
    pub(crate) mark: Option<Mark>,
    /// True for marks around a group of calls.
    pub(crate) block: bool,
}

impl Part {
    fn mark(mark: &Mark, block: bool, call: &Call) -> Self {
        let text = if is_written(mark, call) { mark.write.clone() } else { String::new() };
        Self { text, mark: Some(mark.clone()), block }
    }

    fn plain(text: &str) -> Self {
        Self { text: text.to_owned(), mark: None, block: false }
    }

    /// True when the call cannot do without it.
    pub(crate) fn is_must(&self) -> bool {
        self.mark.as_ref().is_some_and(|mark| mark.need == Need::Must)
    }
}

impl Anatomy {
    /// The parts of one call.
    pub(crate) fn of(dialect: &Arc<Dialect>, call: &Call) -> Result<Self, String> {
        let text =
            dialect.render_calls(std::slice::from_ref(call), &tools()).map_err(|error| error.to_string())?;
        let args = |piece: &&Piece| matches!(piece, Piece::Args(_));
        let place = dialect.call().iter().position(|piece| args(&piece)).ok_or("no arguments")?;
        let around = |mark| Part::mark(mark, true, call);
        let mut front: Vec<Part> = dialect.block().open.iter().map(around).collect();
        front.extend(dialect.call()[..place].iter().flat_map(|piece| parts(piece, call)));
        let mut back: Vec<Part> =
            dialect.call()[place + 1..].iter().flat_map(|piece| parts(piece, call)).collect();
        back.extend(dialect.block().close.iter().map(around));
        let (head, tail) = (joined(&front), joined(&back));
        let args = text.strip_prefix(head.as_str()).and_then(|rest| rest.strip_suffix(tail.as_str()));
        let args = args.ok_or_else(|| format!("{text:?} is not {head:?}, arguments and {tail:?}"))?;
        Ok(Self { front, args: args.to_owned(), back })
    }

    /// All of it.
    pub(crate) fn text(&self) -> String {
        self.opening() + &self.args + &self.closing()
    }

    /// All of it without its name; a head that is an id as well is left out.
    pub(crate) fn nameless(&self, name: &str) -> String {
        let plain = |part: &Part| match &part.mark {
            Some(_) => part.text.clone(),
            None if part.text.contains('=') => part.text.replace(name, ""),
            None => String::new(),
        };
        let opening: String = self.front.iter().map(plain).collect();
        opening + &self.args.replace(name, "") + &self.closing()
    }

    /// What stands before the arguments.
    pub(crate) fn opening(&self) -> String {
        joined(&self.front)
    }

    /// What stands behind the arguments.
    pub(crate) fn closing(&self) -> String {
        joined(&self.back)
    }

    /// The part at this place, those behind the arguments last.
    pub(crate) fn part(&self, place: usize) -> &Part {
        self.front.iter().chain(&self.back).nth(place).expect("a part")
    }

    /// The same call, but for the text of one part.
    pub(crate) fn with(&self, place: usize, text: &str) -> Self {
        let mut other = self.clone();
        let part = other.front.iter_mut().chain(&mut other.back).nth(place).expect("a part");
        text.clone_into(&mut part.text);
        other
    }

    /// The marks before the name, up to and with the first that a call cannot do without.
    pub(crate) fn opener(&self) -> String {
        let last = self.front.iter().position(Part::is_must).map_or(0, |place| place + 1);
        joined(&self.front[..last])
    }
}

pub(crate) fn joined(parts: &[Part]) -> String {
    parts.iter().map(|part| part.text.as_str()).collect()
}

fn is_written(mark: &Mark, call: &Call) -> bool {
    match mark.need {
        Need::Noise => false,
        Need::Id => call.id.is_some(),
        _ => true,
    }
}

fn parts(piece: &Piece, call: &Call) -> Vec<Part> {
    match piece {
        Piece::Mark(mark, head) => {
            let written = head.iter().filter(|_| is_written(mark, call));
            let head = written.map(|form| Part::plain(&head_of(form, call)));
            std::iter::once(Part::mark(mark, false, call)).chain(head).collect()
        }
        Piece::Head(form) => vec![Part::plain(&head_of(form, call))],
        Piece::Args(_) => Vec::new(),
    }
}

fn head_of(form: &HeadForm, call: &Call) -> String {
    if let (true, Some(id)) = (form.is_id, &call.id) {
        return id.clone();
    }
    let slot = |slot: &Slot| match slot {
        Slot::Text(text) => text.clone(),
        Slot::Name => call.name.clone(),
        Slot::Id => call.id.clone().unwrap_or_default(),
        Slot::Index => "0".to_owned(),
        Slot::Number => "1".to_owned(),
        _ => String::new(),
    };
    form.parts.iter().map(slot).collect()
}
