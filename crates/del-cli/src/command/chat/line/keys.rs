//! What keys do, besides those that everybody knows from Emacs and the shell.

use std::sync::{Arc, Mutex, PoisonError};

use crossterm::event::{Event, KeyEvent};
use reedline::{
    EditCommand, EditMode, Emacs, KeyCode, KeyModifiers, PromptEditMode, ReedlineEvent, ReedlineRawEvent,
    default_emacs_keybindings,
};

use super::popup::{NAME, Shared};

pub(super) struct Keys {
    usual: Emacs,
    pastes: Arc<Mutex<Pastes>>,
    popup: Arc<Shared>,
    /// Ctrl-X was pressed, and waits for its second key.
    chord: bool,
}

/// Long pastes, which a word stands for in the line.
#[derive(Debug, Default)]
pub(super) struct Pastes {
    texts: Vec<String>,
}

/// A paste of more lines or bytes than this is folded.
const LINES: usize = 8;
const BYTES: usize = 2000;

impl Pastes {
    /// What stands in the line for this text.
    fn fold(&mut self, text: &str) -> String {
        let lines = text.lines().count();
        if lines <= LINES && text.len() <= BYTES {
            return text.to_owned();
        }
        self.texts.push(text.to_owned());
        name(self.texts.len(), text)
    }

    /// The line with what was pasted in its place. What is left of a word that was changed stays as it is.
    pub(super) fn unfold(&mut self, line: &str) -> String {
        let mut line = line.to_owned();
        for (place, text) in self.texts.iter().enumerate() {
            line = line.replace(&name(place + 1, text), text);
        }
        line
    }
}

fn name(number: usize, text: &str) -> String {
    format!("[paste {number}: {} lines]", text.lines().count())
}

impl Keys {
    pub(super) fn new(pastes: Arc<Mutex<Pastes>>, popup: Arc<Shared>) -> Self {
        let mut bindings = default_emacs_keybindings();
        let newline = || ReedlineEvent::Edit(vec![EditCommand::InsertNewline]);
        bindings.add_binding(KeyModifiers::ALT, KeyCode::Enter, newline());
        bindings.add_binding(KeyModifiers::SHIFT, KeyCode::Enter, newline());
        bindings.add_binding(KeyModifiers::CONTROL, KeyCode::Char('j'), newline());
        bindings.add_binding(KeyModifiers::CONTROL, KeyCode::Char('g'), ReedlineEvent::OpenEditor);
        let next =
            ReedlineEvent::UntilFound(vec![ReedlineEvent::MenuAccept, ReedlineEvent::Menu(NAME.to_owned())]);
        bindings.add_binding(KeyModifiers::NONE, KeyCode::Tab, next);
        Self { usual: Emacs::new(bindings), pastes, popup, chord: false }
    }

    fn key(&mut self, key: KeyEvent) -> Option<ReedlineEvent> {
        let control = key.modifiers == KeyModifiers::CONTROL;
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
            // Enter sends what was typed. Only what was chosen in a popup is taken first.
            KeyCode::Enter if key.modifiers.is_empty() && self.popup.is_open() && !self.popup.is_chosen() => {
                Some(ReedlineEvent::Multiple(vec![ReedlineEvent::Esc, ReedlineEvent::Enter]))
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
        let event = match Event::from(event) {
            Event::Paste(text) => {
                // Terminals paste the ends of lines as they were, or as the key.
                let text = text.replace("\r\n", "\n").replace('\r', "\n");
                let text = self.pastes.lock().unwrap_or_else(PoisonError::into_inner).fold(&text);
                return ReedlineEvent::Edit(vec![EditCommand::InsertString(text)]);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_paste_is_a_word_in_the_line_and_whole_in_the_question() {
        let mut pastes = Pastes::default();
        assert_eq!(pastes.fold("two\nlines"), "two\nlines");
        let long = "a line\n".repeat(10_000);
        let line = format!("look: {} and more", pastes.fold(&long));
        assert_eq!(line, "look: [paste 1: 10000 lines] and more");
        assert_eq!(pastes.unfold(&line), format!("look: {long} and more"));
    }
}
