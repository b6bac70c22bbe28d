//! What commands do with conversations: the kept ones, and this one.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;

use anyhow::Result;
use del_tools::visible;

use crate::command::chat::{Chat, say};
use crate::command::sessions;
use crate::folders;
use crate::keeping;
use crate::record::Store;
use crate::terminal;

/// Conversations that one is picked from.
const PICKED: usize = 20;

impl Chat {
    pub(super) fn sessions(&self) {
        let directory = self.session.hands.toolbox.directory();
        let found = Store::find().map(|store| store.list(Some(directory))).unwrap_or_default();
        if found.is_empty() {
            return say("no conversations were kept here");
        }
        say(sessions::table(&found, false).text(self.paint, Some(terminal::width())).trim_end());
    }

    /// Lists the conversations that were kept here, and goes on with the one that is picked.
    pub(super) fn pick_session(&mut self) -> Result<()> {
        let directory = self.session.hands.toolbox.directory();
        let mut found = Store::find().map(|store| store.list(Some(directory))).unwrap_or_default();
        found.retain(|summary| summary.head.id != self.session.record.id());
        if !self.terminal || found.is_empty() {
            self.sessions();
            return Ok(());
        }
        found.truncate(PICKED);
        let rows: Vec<String> = found.iter().map(keeping::row).collect();
        match keeping::pick(&rows, 0)? {
            Some(place) => self.resume(&found[place].head.id),
            None => Ok(()),
        }
    }

    pub(super) fn fork(&mut self) {
        if self.session.entries().is_empty() {
            return say("there is nothing to go on from yet");
        }
        let before = self.session.record.id()[..8].to_owned();
        if let Err(error) = self.session.fork() {
            self.fail(&format!("it has no title any more: {}", crate::input::plain(&error)));
        }
        let now = &self.session.record.id()[..8];
        say(&format!(
            "this goes on as the conversation {now}; {before} stays as it is, `/resume {before}` goes back"
        ));
    }

    pub(super) fn rename(&mut self, title: &str) {
        if title.is_empty() {
            return self.fail("expected a title behind /rename");
        }
        match self.session.record.rename(title) {
            Ok(()) => say(&format!("the conversation is called {} from now on", visible(title))),
            Err(error) => self.fail(&crate::input::plain(&error)),
        }
    }

    pub(super) fn resume(&mut self, id: &str) -> Result<()> {
        let Some(store) = Store::find() else { return Ok(()) };
        match store.take_up(id) {
            Ok((kept, record)) => {
                self.session.take_up(kept, record)?;
                self.recall();
            }
            Err(trouble) => self.fail(&trouble.to_string()),
        }
        Ok(())
    }

    /// Writes the conversation to a file that is not there yet.
    pub(super) fn export(&mut self, path: &str) {
        let record = &self.session.record;
        let kept = Store::find().filter(|_| record.is_kept()).and_then(|store| store.get(record.id()).ok());
        let Some(kept) = kept else {
            return self.fail("the conversation is not kept, or nothing was asked yet");
        };
        let name = if path.is_empty() { format!("del-{}.md", &record.id()[..8]) } else { path.to_owned() };
        let path = self.session.hands.toolbox.directory().join(folders::meant(&name));
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path);
        match file.and_then(|mut file| file.write_all(sessions::markdown(&kept).as_bytes())) {
            Ok(()) => say(&format!("the conversation is in {}", visible(&path.display().to_string()))),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                self.fail(&format!("{} is there already; `/export FILE` names another", path.display()));
            }
            Err(error) => self.fail(&format!("{}: {}", path.display(), crate::input::plain(&error))),
        }
    }
}
