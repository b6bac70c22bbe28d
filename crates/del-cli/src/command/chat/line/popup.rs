//! The popup of commands and files: there only as long as something fits, a row for each.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use reedline::menu_functions::{replace_in_buffer, resolve_completer_input};
use reedline::{Completer, Editor, Menu, MenuEvent, MenuSettings, Painter, Suggestion};
use unicode_width::UnicodeWidthStr;

use super::complete::begins;
use crate::screen::look::{Look, in_ascii};
use crate::table::cut;
use crate::terminal;

/// What the popup is called among menus.
pub(super) const NAME: &str = "words";

/// What the keys have to know of it.
#[derive(Debug, Default)]
pub(super) struct Shared {
    open: AtomicBool,
    takes: AtomicBool,
}

impl Shared {
    pub(super) fn is_open(&self) -> bool {
        self.open.load(Ordering::Relaxed)
    }

    /// Enter takes what is marked: the user moved there, or what was typed is only the beginning of a command, or of a word behind one.
    pub(super) fn takes(&self) -> bool {
        self.takes.load(Ordering::Relaxed)
    }
}

pub(super) struct Popup {
    settings: MenuSettings,
    look: Look,
    shared: Arc<Shared>,
    active: bool,
    values: Vec<Suggestion>,
    /// What happened since it was drawn.
    event: Option<MenuEvent>,
    marked: usize,
    /// The first that is seen.
    top: usize,
    /// The user moved to what is marked.
    chosen: bool,
    /// What was typed is only the beginning of a command, or of a word behind one.
    begun: bool,
}

/// Rows that are seen at once.
const SEEN: usize = 10;

impl Popup {
    pub(super) fn new(look: Look, shared: Arc<Shared>) -> Self {
        Self {
            settings: MenuSettings::default().with_name(NAME).with_marker("> "),
            look,
            shared,
            active: false,
            values: Vec::new(),
            event: None,
            marked: 0,
            top: 0,
            chosen: false,
            begun: false,
        }
    }

    fn tell(&self) {
        let open = self.is_active() && !self.values.is_empty();
        self.shared.open.store(open, Ordering::Relaxed);
        self.shared.takes.store(open && (self.chosen || self.begun), Ordering::Relaxed);
    }

    /// The rows that are seen, none wider than `columns`.
    fn rows(&self, columns: usize, coloured: bool) -> Vec<String> {
        let seen = || self.values.iter().enumerate().skip(self.top).take(SEEN);
        let widest = seen().map(|(_, value)| value.value.width()).max().unwrap_or(0);
        let paint = self.look.paint;
        seen()
            .map(|(place, value)| {
                let marked = place == self.marked;
                let name = format!("{} {}", if marked { "❯" } else { " " }, value.value);
                let about = value.description.as_deref().unwrap_or_default();
                let gap = widest.saturating_sub(value.value.width()) + 2;
                let room = columns.saturating_sub(name.width() + gap);
                let about = if room < 10 { String::new() } else { cut(about, room) };
                let name = cut(&name, columns);
                let name = if marked && coloured { paint.cyan(name) } else { name };
                let about = if coloured { paint.dim(about) } else { about };
                let row = format!("{name}{}{about}", " ".repeat(gap));
                if self.look.unicode { row } else { in_ascii(&row) }
            })
            .collect()
    }
}

impl Menu for Popup {
    fn settings(&self) -> &MenuSettings {
        &self.settings
    }

    fn is_active(&self) -> bool {
        // Before it was drawn nobody has looked what there is.
        self.active && (self.event.is_some() || !self.values.is_empty())
    }

    fn set_active(&mut self, active: bool) {
        self.active = active;
        if !active {
            self.values.clear();
        }
        self.tell();
    }

    fn clear_input(&mut self) {}

    fn menu_event(&mut self, event: MenuEvent) {
        match event {
            // What was typed since may have another first choice.
            MenuEvent::Activate(_) | MenuEvent::Edit(_) => self.chosen = false,
            MenuEvent::NextElement | MenuEvent::PreviousElement | MenuEvent::MoveUp | MenuEvent::MoveDown => {
                self.chosen = true;
            }
            _ => {}
        }
        self.event = Some(event.clone());
        self.handle_menu_event(&event);
        self.tell();
    }

    fn can_quick_complete(&self) -> bool {
        false
    }

    fn can_partially_complete(&mut self, _: bool, _: &mut Editor, _: &mut dyn Completer) -> bool {
        false
    }

    fn update_values(&mut self, editor: &mut Editor, completer: &mut dyn Completer) {
        let (line, at) = resolve_completer_input(editor, &mut None, &self.settings);
        self.values = completer.complete(&line, at).suggestions().to_vec();
        let typed = line.rsplit(char::is_whitespace).next().unwrap_or_default();
        // What merely has the same letters somewhere may be chosen, but is not what was begun.
        let begins = |value: &Suggestion| begins(&value.value, typed);
        self.begun = line.starts_with('/')
            && !typed.is_empty()
            && self.values.first().is_some_and(begins)
            && !self.values.iter().any(|value| value.value == typed);
        self.reset_position();
        self.tell();
    }

    fn reset_position(&mut self) {
        self.marked = 0;
        self.top = 0;
    }

    fn update_working_details(&mut self, editor: &mut Editor, completer: &mut dyn Completer, _: &Painter) {
        let last = self.values.len().saturating_sub(1);
        match self.event.take() {
            Some(MenuEvent::Activate(updated) | MenuEvent::Edit(updated)) => {
                self.reload(updated, editor, completer);
            }
            Some(MenuEvent::NextElement | MenuEvent::MoveDown) => {
                self.marked = if self.marked < last { self.marked + 1 } else { 0 };
            }
            Some(MenuEvent::PreviousElement | MenuEvent::MoveUp) => {
                self.marked = self.marked.checked_sub(1).unwrap_or(last);
            }
            Some(MenuEvent::NextPage) => self.marked = (self.marked + SEEN).min(last),
            Some(MenuEvent::PreviousPage) => self.marked = self.marked.saturating_sub(SEEN),
            _ => {}
        }
        self.top = self.top.clamp((self.marked + 1).saturating_sub(SEEN), self.marked);
        self.tell();
    }

    fn replace_in_buffer(&self, editor: &mut Editor) {
        replace_in_buffer(self.values.get(self.marked).cloned(), editor, None);
    }

    fn menu_required_lines(&self, _: u16) -> u16 {
        self.min_rows()
    }

    fn menu_string(&self, lines: u16, coloured: bool) -> String {
        let rows = self.rows(terminal::width().saturating_sub(1), coloured);
        let shown = rows.len().min(usize::from(lines));
        // Where there is little room, what is marked is seen.
        let first = (self.marked - self.top + 1).saturating_sub(shown).min(rows.len() - shown);
        rows[first..first + shown].join("\r\n")
    }

    fn min_rows(&self) -> u16 {
        u16::try_from(self.values.len().min(SEEN)).unwrap_or(u16::MAX)
    }

    fn get_values(&self) -> &[Suggestion] {
        &self.values
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::colour::{Paint, When};

    fn popup(values: &[(&str, &str)], marked: usize) -> Popup {
        let paint = Paint::for_terminal(When::Never, false);
        let look = Look { paint, unicode: true, plain: false, spoken: false };
        let mut popup = Popup::new(look, Arc::default());
        popup.values = values
            .iter()
            .map(|(value, about)| Suggestion {
                value: (*value).to_owned(),
                description: Some((*about).to_owned()),
                ..Suggestion::default()
            })
            .collect();
        popup.marked = marked;
        popup
    }

    #[test]
    fn each_row_has_what_it_is_for_and_none_is_too_wide() {
        let about = "what is done without asking: ask, auto-edit, plan, yolo";
        let popup = popup(&[("/mode", about), ("/model", "the models there are"), ("/日本語", "x")], 1);
        assert_eq!(
            popup.rows(40, false),
            ["  /mode    what is done without asking:…", "❯ /model   the models there are", "  /日本語  x"]
        );
        for columns in [8, 20, 39] {
            let rows = popup.rows(columns, false);
            assert!(rows.iter().all(|row| row.trim_end().width() <= columns.max(10)), "{rows:#?}");
        }
        assert_eq!(popup.menu_string(1, false).trim_end(), "❯ /model   the models there are");
    }
}
