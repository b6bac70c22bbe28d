//! A parser that takes bytes: a piece may end inside a character, as the tokens of many models do.

use std::cell::RefCell;

use del_dialects::{End, Parser, Sink};

use crate::failure::{Code, Failure};

/// Reads one answer.
#[derive(Debug)]
pub(crate) struct Reader {
    /// Borrowed while it works, so that a callback cannot come in a second time.
    state: RefCell<State>,
}

#[derive(Debug)]
struct State {
    /// None when the answer is over.
    parser: Option<Parser>,
    /// The first bytes of a character whose others are to come.
    part: Vec<u8>,
}

impl Reader {
    pub(crate) fn new(parser: Parser) -> Self {
        Self { state: RefCell::new(State { parser: Some(parser), part: Vec::new() }) }
    }

    pub(crate) fn push(&self, bytes: &[u8], sink: &mut impl Sink) -> Result<(), Failure> {
        let mut state = self.state.try_borrow_mut().map_err(|_| busy())?;
        let State { parser, part } = &mut *state;
        let parser = parser.as_mut().ok_or_else(finished)?;
        let mut whole = std::mem::take(part);
        whole.extend_from_slice(bytes);
        let (mut rest, mut wrong) = (whole.as_slice(), None);
        while let Err(error) = str::from_utf8(rest) {
            let (text, behind) = rest.split_at(error.valid_up_to());
            parser.push(str::from_utf8(text).unwrap_or_default(), sink);
            let Some(length) = error.error_len() else {
                *part = behind.to_vec();
                return wrong.map_or(Ok(()), Err);
            };
            wrong.get_or_insert_with(|| no_text(behind.first()));
            parser.push(REPLACEMENT, sink);
            rest = behind.get(length..).unwrap_or_default();
        }
        parser.push(str::from_utf8(rest).unwrap_or_default(), sink);
        wrong.map_or(Ok(()), Err)
    }

    pub(crate) fn finish(&self, end: End, sink: &mut impl Sink) -> Result<(), Failure> {
        let mut state = self.state.try_borrow_mut().map_err(|_| busy())?;
        let mut parser = state.parser.take().ok_or_else(finished)?;
        let part = std::mem::take(&mut state.part);
        // An answer that was cut off may well end inside a character.
        let wrong = part.first().filter(|_| end == End::End).map(|byte| no_text(Some(byte)));
        if wrong.is_some() {
            parser.push(REPLACEMENT, sink);
        }
        parser.finish(end, sink);
        wrong.map_or(Ok(()), Err)
    }

    /// How many bytes are held back.
    pub(crate) fn held(&self) -> usize {
        let state = self.state.try_borrow().ok();
        let held = |state: &State| state.parser.as_ref().map_or(0, Parser::held) + state.part.len();
        state.map_or(0, |state| held(&state))
    }

    /// True while a callback of this parser runs.
    pub(crate) fn is_busy(&self) -> bool {
        self.state.try_borrow_mut().is_err()
    }
}

/// What stands in the place of bytes that are no text.
const REPLACEMENT: &str = "\u{fffd}";

fn busy() -> Failure {
    Failure::new(Code::DelBusy, "expected a parser at rest, got one whose callback is running")
}

fn finished() -> Failure {
    Failure::new(Code::DelFinished, "expected an answer that goes on, got one that is over")
}

fn no_text(byte: Option<&u8>) -> Failure {
    let byte = byte.copied().unwrap_or_default();
    Failure::new(
        Code::DelUtf8,
        format_args!(
            "expected UTF-8, got the byte {byte:#04x}; U+FFFD stands in its place, all else is read"
        ),
    )
}
