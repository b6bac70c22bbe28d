//! What was typed while something else was done: what becomes of it, and what it changes at once.

use std::sync::{Arc, Mutex, PoisonError};

use del_agent::Image;
use del_tools::{Toolbox, counted};

use super::line::Lines;
use super::word::{Name, Word};
use super::{Chat, collected, files, help, said, say, status};
use crate::prompts::{self, Prompt};
use crate::screen::ahead::{self, Answer, Turn, Typed};
use crate::screen::bell;
use crate::screen::look::Look;
use crate::screen::pastes::Pastes;
use crate::screen::stage::Stage;
use crate::session::Meanwhile;

type Show = fn(&mut Chat);

/// Commands that only show something that is known without asking anybody.
const SHOWING: [(Name, Show); 7] = [
    (Name::Status, |chat| chat.tell_status()),
    (Name::Context, |chat| chat.tell_context()),
    (Name::Mode, |chat| chat.mode("")),
    (Name::Permissions, |chat| chat.permissions("")),
    (Name::Model, |chat| chat.list_models()),
    (Name::Hooks, |chat| chat.hooks()),
    (Name::Skills, |chat| chat.skills()),
];

/// What waits, where nothing but the model is to do something with it. Commands wait until it has answered, and so does
/// what stands behind them.
struct Waiting {
    pastes: Pastes,
    prompts: Arc<[Prompt]>,
    look: Look,
    stage: &'static Stage,
}

impl Meanwhile for Waiting {
    fn next(&mut self, toolbox: &Toolbox) -> Option<(String, Vec<Image>)> {
        let is_question = |line: &str| {
            let line = self.pastes.unfold(line);
            matches!(Word::read(&line), Word::Question(_)) && prompts::named(&self.prompts, &line).is_none()
        };
        loop {
            let line = ahead::take(is_question)?;
            self.stage.space();
            said::echo(self.look.paint, &line);
            let whole = files::with_files(self.pastes.unfold(&line).trim(), &[], toolbox, self.look);
            // What names a file that cannot go along is not told, which was said.
            if whole.is_some() {
                return whole;
            }
        }
    }

    fn take_back(&mut self) {
        ahead::give_back();
    }
}

impl Chat {
    /// Does something during which Esc stops it, Shift-Tab takes the next mode, and what is typed is kept.
    pub(super) fn listening<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        if self.terminal {
            let (waiting, begun) = (std::mem::take(&mut self.ahead), std::mem::take(&mut self.begun));
            let typed = Typed::begun(waiting, begun, self.pastes.clone());
            let typed = typed.turning(self.turn()).answering(self.answer());
            ahead::listen(&self.session.interrupt, typed);
        }
        let outcome = work(self);
        let typed = ahead::finish();
        self.session.hands.settle_mode();
        typed.text().clone_into(&mut self.begun);
        self.ahead.extend(typed.questions);
        self.given.extend(typed.given);
        typed.drafts.into_iter().for_each(|draft| self.held.push_front(draft));
        outcome
    }

    /// What was done is over: unless something else is done by itself, the line waits for the user.
    pub(super) fn ring(&self) {
        if self.terminal && (self.ahead.is_empty() || self.halted) {
            bell::wait("it is your turn");
        }
    }

    /// What the model is given of what waits.
    pub(super) fn meanwhile(&self) -> Box<dyn Meanwhile> {
        let (pastes, prompts) = (self.pastes.clone(), Arc::clone(self.session.prompts()));
        Box::new(Waiting { pastes, prompts, look: self.look, stage: self.stage })
    }

    /// Takes the next mode while calls run: it holds from the next one on. What to say of it.
    fn turn(&self) -> Turn {
        let hands = &self.session.hands;
        let (switch, now) = (hands.switch.clone(), Mutex::new(hands.gate.approval()));
        Turn::new(move || {
            let mut now = now.lock().unwrap_or_else(PoisonError::into_inner);
            *now = status::next(*now);
            switch.set(*now);
            format!("mode from the next call on: {}", status::name(*now))
        })
    }

    /// Answers commands that only show something: as it was when this began, since what they show is at work.
    fn answer(&mut self) -> Answer {
        let mut shown = Vec::new();
        for (name, show) in SHOWING {
            shown.push((name, collected(|| show(self))));
        }
        let (prompts, plain) = (Arc::clone(self.session.prompts()), self.look.plain);
        Answer::new(move |line| match Word::read(line) {
            Word::Command(Name::Help, rest) => {
                Some(help::text(rest, &prompts, plain).unwrap_or_else(|why| why))
            }
            Word::Command(asked, "") => {
                shown.iter().find(|(name, _)| *name == asked).map(|(_, text)| text.clone())
            }
            _ => None,
        })
    }

    /// After a stop or a failure nothing is done by itself: what waited stands in the line, one entry after the other. What was being
    /// typed comes first, so that it can be gone on with.
    pub(super) fn put_back(&mut self, line: &str) {
        let question = std::mem::take(&mut self.withdrawn).then(|| self.pastes.fold(line));
        if question.is_none() && !std::mem::take(&mut self.halted) {
            return;
        }
        self.halted = false;
        let waited = question.into_iter().chain(self.ahead.drain(..)).chain(self.held.drain(..));
        self.held = waited.filter(|entry| !entry.trim().is_empty()).collect();
    }

    /// The next of what waited stands in the line, unless something does.
    pub(super) fn next_held(&mut self) {
        if self.begun.is_empty() {
            self.begun = self.held.pop_front().unwrap_or_default();
        }
        match self.held.len() {
            0 => {}
            1 => say(&self
                .paint
                .dim("1 more that waited stands in the line after this; Ctrl-C twice drops it")),
            more => say(&self.paint.dim(format!(
                "{more} more that waited stand in the line after this, one by one; Ctrl-C twice drops them"
            ))),
        }
    }

    /// The user wants none of what waited; the arrow up brings it back.
    pub(super) fn drop_held(&mut self, lines: &mut Lines) {
        if self.held.is_empty() {
            return;
        }
        say(&self
            .paint
            .dim(format!("{} dropped; the arrow up brings them back", counted(self.held.len(), "entry"))));
        self.held.drain(..).for_each(|entry| lines.recall(&entry));
    }
}
