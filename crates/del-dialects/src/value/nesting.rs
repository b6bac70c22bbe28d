//! Brackets: what opens, closes and may be missing.

use super::on::On;
use super::{Bracket, Family, Progress, Reader, State, Stop, window};
use crate::fault::FaultKind;
use crate::tool::misplaces;

impl Reader {
    /// A bracket opens where a value stands.
    pub(super) fn open(&mut self, on: &mut On<'_, '_>, byte: u8) -> Stop {
        if self.stack.len() >= self.max_depth {
            return Some(Progress::TooDeep);
        }
        match byte {
            b'{' => {
                // Braces of an object between delimiters hold members, also in Python.
                let python = on.given.syntax.is_python() && !on.given.syntax.spaced;
                let set =
                    if python { self.look_ahead(on, on.look + 1, &window::is_set) } else { Some(false) };
                let Some(set) = set else { return Some(Progress::More) };
                if set {
                    self.replace(on, "[", 1);
                    self.push(Bracket::Set);
                    self.enter(State::Value { first: false });
                } else {
                    self.note_misplaced(on, true);
                    self.pass(on, "{");
                    self.push(Bracket::Object);
                    self.enter(State::Key);
                }
            }
            b'[' => {
                self.note_misplaced(on, false);
                self.pass(on, "[");
                self.push(Bracket::List);
                self.enter(State::Value { first: true });
            }
            _ => {
                if on.given.syntax.family != Family::Python {
                    on.at.note(FaultKind::Repaired, on.at.look);
                }
                self.flush(on, on.look);
                on.skip(1);
                self.push(Bracket::Group(self.group.len()));
                self.enter(State::Value { first: true });
            }
        }
        None
    }

    /// An object or list begins: where it is the value of an argument that takes none, that is told when it is whole.
    fn note_misplaced(&mut self, on: &On<'_, '_>, object: bool) {
        if self.wants_no_object(on, object) {
            self.misplaced = Some(on.place(on.look));
        }
    }

    /// True for the value of an argument that takes no object, or no list.
    fn wants_no_object(&self, on: &On<'_, '_>, object: bool) -> bool {
        let member = self.stack.len() == self.arguments && self.top().is_some_and(Bracket::is_keyed);
        member && misplaces(on.given.tool, &self.word, object)
    }

    /// Closes the innermost bracket, at its closer; stops behind the outermost.
    pub(super) fn close(&mut self, on: &mut On<'_, '_>) -> Stop {
        if self.watches() && matches!(self.state, State::Key) && !std::mem::replace(&mut self.told, true) {
            return Some(Progress::Empty);
        }
        match self.top() {
            Some(Bracket::Group(from)) => {
                self.flush(on, on.look);
                on.skip(1);
                self.stack.pop();
                if self.group.len() == from {
                    self.group.push_str("[]");
                }
                self.give_group(on);
                self.value_ends();
            }
            Some(Bracket::Doubled) => {
                self.flush(on, on.look);
                on.skip(1);
                self.turn_into(Bracket::Object);
                (self.state, self.told) = (State::After, true);
            }
            bracket @ Some(Bracket::Quoted) => {
                let quoted = match on.bytes.get(on.look + 1) {
                    None if !on.last() => return Some(Progress::More),
                    quote => quote == Some(&b'"'),
                };
                self.pass(on, "}");
                if quoted {
                    self.flush(on, on.look);
                    on.skip(1);
                }
                self.leave(on, bracket);
            }
            bracket @ Some(Bracket::Around(_)) => {
                self.flush(on, on.look);
                on.skip(1);
                self.leave(on, bracket);
            }
            bracket => {
                if self.is_outer() && self.keys.is_first() {
                    self.emit(on, "{");
                }
                let json = if bracket.is_some_and(Bracket::is_keyed) { "}" } else { "]" };
                if bracket.map(Bracket::closer) == json.bytes().next() {
                    self.pass(on, json);
                } else {
                    self.replace(on, json, 1);
                }
                self.leave(on, bracket);
            }
        }
        (self.state == State::Done).then_some(Progress::Done)
    }

    /// At a quote where an object stands behind it whose quotes are not escaped, unless a text is asked for: whether it was
    /// opened; none where more text decides.
    pub(super) fn open_in_quotes(&mut self, on: &mut On<'_, '_>) -> Option<bool> {
        let braced = on.bytes.get(on.look + 1) == Some(&b'{') && !self.wants_no_object(on, true);
        if !braced || self.stack.len() >= self.max_depth {
            return Some(false);
        }
        let quoted = self.look_ahead(on, on.look + 2, &window::begins_with_a_key)?;
        if quoted {
            on.at.note(FaultKind::GuessedBorder, on.at.look);
            self.flush(on, on.look);
            on.skip(1);
            self.pass(on, "{");
            self.push(Bracket::Quoted);
            self.enter(State::Key);
        }
        Some(quoted)
    }

    /// A brace once more behind that of an object, before its first key.
    pub(super) fn open_again(&mut self, on: &mut On<'_, '_>) {
        let place = on.look;
        on.note(FaultKind::Repaired, place);
        self.flush(on, place);
        on.skip(1);
        self.turn_into(Bracket::Doubled);
    }

    pub(super) fn leave(&mut self, on: &mut On<'_, '_>, bracket: Option<Bracket>) {
        let listed = self.stack.iter().rev().nth(1) == Some(&Bracket::List);
        self.unsure = match bracket {
            Some(Bracket::List) => listed,
            Some(bracket) if bracket.is_keyed() => self.may_end_early(),
            _ => false,
        };
        self.stack.pop();
        if self.stack.len() == self.arguments
            && let Some(place) = self.misplaced.take()
        {
            on.at.notes.add(FaultKind::GuessedValue, place);
        }
        if bracket.is_some_and(Bracket::is_keyed) {
            self.keys.leave();
        }
        if bracket == Some(Bracket::Tuple) {
            self.flush(on, on.look);
            self.give_group(on);
        }
        self.value_ends();
    }

    /// Closes everything that is open, where the closing brackets are missing.
    pub(super) fn close_all(&mut self, on: &mut On<'_, '_>) -> Progress {
        self.flush(on, on.look);
        while !self.stack.is_empty() {
            self.close_unseen(on);
        }
        Progress::Done
    }

    /// Closes the innermost bracket, whose closer is missing.
    pub(super) fn close_unseen(&mut self, on: &mut On<'_, '_>) {
        let bracket = self.top();
        let all = matches!(self.stack.first(), Some(Bracket::Around(_)));
        match bracket {
            Some(Bracket::Group(_) | Bracket::Around(_)) => {}
            Some(Bracket::Outer(_)) if self.keys.is_first() => self.emit(on, "{}"),
            // Of a watched object only the values go out.
            Some(Bracket::Object | Bracket::Doubled | Bracket::Quoted) if self.watches() && !all => {}
            Some(bracket) => self.emit(on, if bracket.is_keyed() { "}" } else { "]" }),
            None => {}
        }
        self.leave(on, bracket);
        self.give_group(on);
    }

    /// True where the last members of the innermost object may be meant for the one around it: both stand in the arguments.
    fn may_end_early(&self) -> bool {
        let arguments = if matches!(self.stack.first(), Some(Bracket::Outer(_))) { 0 } else { self.watch };
        let object = self.stack.iter().rposition(|bracket| bracket.is_keyed()).filter(|at| *at > arguments);
        // Where keyword arguments are written otherwise than members, none is taken for one.
        let alike = |bracket: &Bracket| matches!(bracket, Bracket::Object | Bracket::Outer(b'}'));
        let inside = object.is_some_and(|at| alike(&self.stack[at - 1]));
        self.unsure || (inside && self.keys.are_several())
    }

    /// What it is that closers are missing here.
    pub(crate) fn missing(&self) -> FaultKind {
        if self.may_end_early() { FaultKind::GuessedBorder } else { FaultKind::MissingCloser }
    }

    /// What stood in parentheses goes out once none is open that may be a list.
    pub(super) fn give_group(&mut self, on: &mut On<'_, '_>) {
        if !self.is_grouped() && !self.group.is_empty() {
            let json = std::mem::take(&mut self.group);
            (on.emit)(&json, on.at.look..on.at.look);
        }
    }

    pub(super) fn push(&mut self, bracket: Bracket) {
        if bracket.is_keyed() {
            self.keys.enter();
        }
        self.stack.push(bracket);
    }

    pub(super) fn top(&self) -> Option<Bracket> {
        self.stack.last().copied()
    }

    pub(super) fn turn_into(&mut self, bracket: Bracket) {
        if let Some(top) = self.stack.last_mut() {
            *top = bracket;
        }
    }

    /// What closes the innermost bracket.
    pub(super) fn closer(&self) -> Option<u8> {
        self.top().map(Bracket::closer)
    }

    /// True where the members of a watched object stand.
    pub(super) fn watches(&self) -> bool {
        !self.stack.is_empty() && self.stack.len() <= self.watch
    }

    /// True where the arguments of the call itself stand in brackets of their own.
    pub(super) fn is_outer(&self) -> bool {
        matches!(self.top(), Some(Bracket::Outer(_)))
    }

    pub(super) fn is_grouped(&self) -> bool {
        self.stack.iter().any(|bracket| matches!(bracket, Bracket::Group(_) | Bracket::Tuple))
    }
}
