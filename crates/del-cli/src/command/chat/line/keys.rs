//! What keys do, besides those that everybody knows from Emacs and the shell.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crossterm::event::{Event, KeyEvent};
use reedline::{
    EditCommand, EditMode, Emacs, KeyCode, KeyModifiers, PromptEditMode, ReedlineEvent, ReedlineRawEvent,
    default_emacs_keybindings,
};

use super::popup::{NAME, Shared};
use crate::screen::bell;
use crate::screen::pastes::Pastes;

/// What the line is left for: to stop the program, and to hear Ctrl-C.
pub(super) const STOP: &str = "stop";
const INTERRUPT: &str = "interrupt";

pub(super) struct Keys {
    usual: Emacs,
    pastes: Pastes,
    popup: Arc<Shared>,
    /// How often Shift-Tab was pressed.
    presses: Arc<AtomicUsize>,
    /// Another key than Ctrl-C was pressed.
    touched: Arc<AtomicBool>,
    /// Ctrl-X was pressed, and waits for its second key.
    chord: bool,
}

impl Keys {
    pub(super) fn new(
        pastes: Pastes,
        popup: Arc<Shared>,
        presses: Arc<AtomicUsize>,
        touched: Arc<AtomicBool>,
    ) -> Self {
        let mut bindings = default_emacs_keybindings();
        let newline = || ReedlineEvent::Edit(vec![EditCommand::InsertNewline]);
        bindings.add_binding(KeyModifiers::ALT, KeyCode::Enter, newline());
        bindings.add_binding(KeyModifiers::SHIFT, KeyCode::Enter, newline());
        bindings.add_binding(KeyModifiers::CONTROL, KeyCode::Char('j'), newline());
        bindings.add_binding(KeyModifiers::CONTROL, KeyCode::Char('g'), ReedlineEvent::OpenEditor);
        // As in the shell, where Ctrl-Z stops the program; older terminals send the second for Ctrl-_.
        let undo = || ReedlineEvent::Edit(vec![EditCommand::Undo]);
        bindings.add_binding(KeyModifiers::CONTROL, KeyCode::Char('_'), undo());
        bindings.add_binding(KeyModifiers::CONTROL, KeyCode::Char('7'), undo());
        bindings.add_binding(
            KeyModifiers::CONTROL,
            KeyCode::Char('z'),
            ReedlineEvent::ExecuteHostCommand(STOP.to_owned()),
        );
        // While earlier questions are searched, several events at once are none, and Esc ends that.
        let interrupt = ReedlineEvent::UntilFound(vec![
            ReedlineEvent::Multiple(vec![
                ReedlineEvent::Esc,
                ReedlineEvent::ExecuteHostCommand(INTERRUPT.to_owned()),
            ]),
            ReedlineEvent::Esc,
        ]);
        bindings.add_binding(KeyModifiers::CONTROL, KeyCode::Char('c'), interrupt);
        let next =
            ReedlineEvent::UntilFound(vec![ReedlineEvent::MenuAccept, ReedlineEvent::Menu(NAME.to_owned())]);
        bindings.add_binding(KeyModifiers::NONE, KeyCode::Tab, next);
        Self { usual: Emacs::new(bindings), pastes, popup, presses, touched, chord: false }
    }

    fn key(&mut self, key: KeyEvent) -> Option<ReedlineEvent> {
        let control = key.modifiers == KeyModifiers::CONTROL;
        self.touched.fetch_or(!(control && key.code == KeyCode::Char('c')), Ordering::Relaxed);
        if std::mem::take(&mut self.chord) {
            return Some(match key.code {
                KeyCode::Char('e') if control => ReedlineEvent::OpenEditor,
                _ => ReedlineEvent::None,
            });
        }
        match key.code {
            KeyCode::Char('x') if control => {
                self.chord = true;
                Some(ReedlineEvent::None)
            }
            // Enter sends what was typed. What was chosen in a popup, or stands there for a command that is not whole, is
            // taken first.
            KeyCode::Enter if key.modifiers.is_empty() && self.popup.is_open() && !self.popup.takes() => {
                Some(ReedlineEvent::Multiple(vec![ReedlineEvent::Esc, ReedlineEvent::Enter]))
            }
            KeyCode::BackTab if self.popup.is_open() => Some(ReedlineEvent::MenuPrevious),
            // As in other assistants.
            KeyCode::BackTab => {
                self.presses.fetch_add(1, Ordering::Relaxed);
                Some(ReedlineEvent::Repaint)
            }
            KeyCode::Char(c @ ('/' | '@')) if !control => Some(ReedlineEvent::Multiple(vec![
                ReedlineEvent::Edit(vec![EditCommand::InsertChar(c)]),
                ReedlineEvent::Menu(NAME.to_owned()),
            ])),
            _ => None,
        }
    }
}

impl EditMode for Keys {
    fn parse_event(&mut self, event: ReedlineRawEvent) -> ReedlineEvent {
        bell::touched();
        let event = match Event::from(event) {
            Event::Paste(text) => {
                return ReedlineEvent::Edit(vec![EditCommand::InsertString(self.pastes.fold(&text))]);
            }
            Event::Key(key) => match self.key(key) {
                Some(event) => return event,
                None => Event::Key(key),
            },
            other => other,
        };
        ReedlineRawEvent::try_from(event).map_or(ReedlineEvent::None, |event| self.usual.parse_event(event))
    }

    fn edit_mode(&self) -> PromptEditMode {
        PromptEditMode::Emacs
    }
}
