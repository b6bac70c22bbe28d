//! The popup of commands and files: there only as long as something fits.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use reedline::{
    Color, Completer, Editor, IdeMenu, Menu, MenuBuilder, MenuEvent, MenuSettings, Painter, Suggestion,
};

/// What the popup is called among menus.
pub(super) const NAME: &str = "words";

/// What the keys have to know of it.
#[derive(Debug, Default)]
pub(super) struct Shared {
    open: AtomicBool,
    chosen: AtomicBool,
}

impl Shared {
    pub(super) fn is_open(&self) -> bool {
        self.open.load(Ordering::Relaxed)
    }

    /// The user moved to what is marked in it.
    pub(super) fn is_chosen(&self) -> bool {
        self.chosen.load(Ordering::Relaxed)
    }
}

pub(super) struct Popup {
    inner: IdeMenu,
    shared: Arc<Shared>,
    /// It was asked what fits, and nothing does.
    empty: bool,
}

impl Popup {
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        let inner = IdeMenu::default()
            .with_name(NAME)
            .with_marker("> ")
            .with_max_completion_height(10)
            .with_correct_cursor_pos(true)
            .with_description_text_style(Color::Default.dimmed());
        Self { inner, shared, empty: false }
    }

    fn settle(&mut self) {
        self.empty = self.inner.get_values().is_empty();
        self.tell();
    }

    fn tell(&self) {
        self.shared.open.store(self.is_active(), Ordering::Relaxed);
    }
}

impl Menu for Popup {
    fn settings(&self) -> &MenuSettings {
        self.inner.settings()
    }

    fn is_active(&self) -> bool {
        self.inner.is_active() && !self.empty
    }

    fn set_active(&mut self, active: bool) {
        self.inner.set_active(active);
        self.tell();
    }

    fn clear_input(&mut self) {
        self.inner.clear_input();
    }

    fn menu_event(&mut self, event: MenuEvent) {
        let moved = matches!(
            event,
            MenuEvent::NextElement | MenuEvent::PreviousElement | MenuEvent::MoveUp | MenuEvent::MoveDown
        );
        match event {
            MenuEvent::Activate(_) => {
                self.empty = false;
                self.shared.chosen.store(false, Ordering::Relaxed);
            }
            // What was typed since may have another first choice.
            MenuEvent::Edit(_) => self.shared.chosen.store(false, Ordering::Relaxed),
            _ if moved => self.shared.chosen.store(true, Ordering::Relaxed),
            _ => {}
        }
        self.inner.menu_event(event);
        self.tell();
    }

    fn can_quick_complete(&self) -> bool {
        false
    }

    fn can_partially_complete(
        &mut self,
        values_updated: bool,
        editor: &mut Editor,
        completer: &mut dyn Completer,
    ) -> bool {
        self.inner.can_partially_complete(values_updated, editor, completer)
    }

    fn update_values(&mut self, editor: &mut Editor, completer: &mut dyn Completer) {
        self.inner.update_values(editor, completer);
        self.settle();
    }

    fn reset_position(&mut self) {
        self.inner.reset_position();
    }

    fn update_working_details(
        &mut self,
        editor: &mut Editor,
        completer: &mut dyn Completer,
        painter: &Painter,
    ) {
        self.inner.update_working_details(editor, completer, painter);
        self.settle();
    }

    fn replace_in_buffer(&self, editor: &mut Editor) {
        self.inner.replace_in_buffer(editor);
    }

    fn menu_required_lines(&self, columns: u16) -> u16 {
        if self.empty { 0 } else { self.inner.menu_required_lines(columns) }
    }

    fn menu_string(&self, lines: u16, coloured: bool) -> String {
        if self.empty { String::new() } else { self.inner.menu_string(lines, coloured) }
    }

    fn min_rows(&self) -> u16 {
        self.inner.min_rows()
    }

    fn get_values(&self) -> &[Suggestion] {
        self.inner.get_values()
    }

    fn set_cursor_pos(&mut self, position: (u16, u16)) {
        self.inner.set_cursor_pos(position);
    }
}
