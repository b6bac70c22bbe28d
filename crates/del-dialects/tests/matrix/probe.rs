//! A text, and what has to come of it.

use std::sync::Arc;

use del_dialects::{Call, Dialect, End, FaultKind, Message, Part};

use crate::reading::{chunks, distinct_marks, in_order, lawful, read, squeezed, turn, writes_json};

/// A text that is read whole and in pieces.
pub(crate) struct Probe {
    what: String,
    text: String,
    end: End,
    /// The calls, in order; arguments to the byte where they are JSON.
    calls: Vec<Call>,
    content: Content,
    thought: &'static str,
    faults: Faults,
    /// The order of text (`t`) and calls (`c`), where it matters.
    order: Option<&'static str>,
    /// The name of the call that a fault reports as cut.
    cut: Option<String>,
    /// The ids count as well.
    ids: bool,
    /// Where one more way of reading cuts the text.
    cuts: Vec<usize>,
}

/// What has to be said of the text for the user.
enum Content {
    /// To the byte.
    Exactly(String),
    /// These words, and white space where it wants to be.
    Words(String),
    /// Whatever it is, it holds no mark.
    Clean,
    /// Whatever it is, it holds no token of a model.
    WithoutTokens,
}

enum Faults {
    None,
    Holds(FaultKind),
    Any,
}

impl Probe {
    /// A text in which these calls stand, and nothing else, and nothing is wrong.
    pub(crate) fn of(text: impl Into<String>, calls: &[Call]) -> Self {
        Self {
            what: String::new(),
            text: text.into(),
            end: End::End,
            calls: calls.to_vec(),
            content: Content::Words(String::new()),
            thought: "",
            faults: Faults::None,
            order: None,
            cut: None,
            ids: false,
            cuts: Vec::new(),
        }
    }

    pub(crate) fn what(mut self, what: impl Into<String>) -> Self {
        self.what = what.into();
        self
    }

    /// The answer was cut off.
    pub(crate) fn cut(mut self) -> Self {
        self.end = End::Cut;
        self
    }

    pub(crate) fn saying(mut self, words: &str) -> Self {
        self.content = Content::Words(words.to_owned());
        self
    }

    pub(crate) fn saying_exactly(mut self, text: &str) -> Self {
        self.content = Content::Exactly(text.to_owned());
        self
    }

    /// Whatever text is left, no mark stands in it.
    pub(crate) fn saying_no_mark(mut self) -> Self {
        self.content = Content::Clean;
        self
    }

    /// Whatever text is left, no token of a model stands in it.
    pub(crate) fn saying_no_token(mut self) -> Self {
        self.content = Content::WithoutTokens;
        self
    }

    pub(crate) fn thinking(mut self, words: &'static str) -> Self {
        self.thought = words;
        self
    }

    pub(crate) fn in_order(mut self, order: &'static str) -> Self {
        self.order = Some(order);
        self
    }

    pub(crate) fn with_fault(mut self, kind: FaultKind) -> Self {
        self.faults = Faults::Holds(kind);
        self
    }

    pub(crate) fn with_any_faults(mut self) -> Self {
        self.faults = Faults::Any;
        self
    }

    /// A fault reports the call of this name as cut.
    pub(crate) fn reporting(mut self, name: &str) -> Self {
        self.cut = Some(name.to_owned());
        self
    }

    /// The ids count as well.
    pub(crate) fn with_ids(mut self) -> Self {
        self.ids = true;
        self
    }

    /// The text is cut at these places as well.
    pub(crate) fn in_pieces(mut self, cuts: Vec<usize>) -> Self {
        self.cuts = cuts;
        self
    }

    /// Reads the text whole and in pieces; `Err` says what came instead of what should.
    pub(crate) fn check(&self, dialect: &Arc<Dialect>) -> Result<(), String> {
        let text = self.text.as_str();
        let fail = |why: String| Err(format!("{} {:?} {text:?}\n  {why}", self.what, self.end));
        let whole = read(dialect.parser(turn()), [text], self.end);
        if let Err(why) = lawful(text, &whole.1).and_then(|()| self.compare(dialect, &whole.0)) {
            return fail(why);
        }
        let size = if text.len() > 4096 { 61 } else { 1 };
        let mut places = vec![0];
        places.extend(self.cuts.iter().filter(|at| (1..text.len()).contains(*at)));
        places.push(text.len());
        let own: Vec<&str> = places.windows(2).map(|pair| &text[pair[0]..pair[1]]).collect();
        for pieces in [chunks(text, size), chunks(text, 3 * size), own] {
            let split = read(dialect.parser(turn()), pieces.iter().copied(), self.end);
            if let Some(place) = split.1.iter().zip(&whole.1).position(|(split, whole)| split != whole) {
                let [split, whole] = [&split.1[place], &whole.1[place]];
                return fail(format!("in {} pieces: {split:?}\n  whole {whole:?}", pieces.len()));
            }
            if split != whole {
                return fail(format!("in {} pieces: {:?}\n  whole {:?}", pieces.len(), split.0, whole.0));
            }
        }
        Ok(())
    }

    fn compare(&self, dialect: &Dialect, got: &Message) -> Result<(), String> {
        // What the dialect does not write as JSON has no spelling of its own to keep.
        let json = writes_json(dialect);
        let as_values =
            |got: &str, meant: &str| !json && squeezed(got) == squeezed(&in_order(dialect, meant));
        let same = |got: &Call, meant: &Call| {
            got.name == meant.name
                && (got.arguments == meant.arguments || as_values(&got.arguments, &meant.arguments))
                && (!self.ids || got.id == meant.id)
        };
        let alike = got.calls.len() == self.calls.len()
            && got.calls.iter().zip(&self.calls).all(|(got, meant)| same(got, meant));
        if !alike {
            return Err(format!(
                "calls: expected {:?}\n  got {:?}, content {:?}",
                self.calls, got.calls, got.content
            ));
        }
        let fits = match &self.content {
            Content::Exactly(text) => got.content == *text,
            Content::Words(text) => got.content.split_whitespace().eq(text.split_whitespace()),
            Content::Clean => !distinct_marks(dialect).iter().any(|mark| got.content.contains(mark)),
            Content::WithoutTokens => !["<|", "<｜"].iter().any(|token| got.content.contains(token)),
        };
        if !fits || got.reasoning.trim() != self.thought {
            return Err(format!("content {:?}, reasoning {:?}", got.content, got.reasoning));
        }
        let kinds: Vec<FaultKind> = got.faults.iter().map(|fault| fault.kind).collect();
        let fits = match self.faults {
            Faults::None => kinds.is_empty(),
            Faults::Holds(kind) => kinds.contains(&kind),
            Faults::Any => true,
        };
        if !fits {
            return Err(format!("faults {kinds:?}"));
        }
        if let Some(name) = &self.cut {
            let cut = got.faults.iter().find_map(|fault| fault.call.as_ref());
            if cut.is_none_or(|call| call.name != *name) {
                return Err(format!("expected a report of {name:?}, got {cut:?}"));
            }
        }
        let order: String = got.parts.iter().filter_map(letter).collect();
        match self.order {
            Some(meant) if order != meant => Err(format!("expected the order {meant}, got {order}")),
            _ => Ok(()),
        }
    }
}

/// Text that is no more than white space is no part.
fn letter(part: &Part) -> Option<char> {
    match part {
        Part::Text(text) => (!text.trim().is_empty()).then_some('t'),
        Part::Reasoning(_) => Some('r'),
        Part::Call(_) => Some('c'),
    }
}
