//! Conversations as they are kept: a file each, a JSON object a line, which is only ever added to.
//!
//! They lie in the folder `sessions` of the state directory, in a folder for each working directory, and only their owner
//! can read them. What a dying process leaves of a line is passed over.

mod store;

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use del_agent::Entry;
use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};
pub(crate) use store::{Store, Summary, Trouble};

use crate::input;

/// A conversation that goes on, and its file, which is there from the first question on.
#[derive(Debug)]
pub(crate) struct Record {
    id: String,
    /// Where it is kept; nowhere if that is not wanted, or has failed.
    place: Option<Place>,
    file: Option<File>,
    set: Option<Set>,
    /// How many entries are in the file.
    written: usize,
    /// Why nothing is kept any more.
    trouble: Option<String>,
}

#[derive(Debug, Clone)]
struct Place {
    store: Store,
    directory: PathBuf,
}

/// What a conversation is set to, as far as it is to be the same when it goes on.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Set {
    pub(crate) model: String,
    pub(crate) base_url: String,
    /// The one dialect that was asked for.
    pub(crate) dialect: Option<String>,
    /// Tools stand in the prompt.
    #[serde(default)]
    pub(crate) in_prompt: bool,
}

/// A conversation that was kept.
#[derive(Debug)]
pub(crate) struct Kept {
    pub(crate) head: Head,
    pub(crate) changed: SystemTime,
    pub(crate) set: Set,
    pub(crate) entries: Vec<Dated>,
    /// Lines that cannot be read.
    pub(crate) damaged: usize,
    path: PathBuf,
}

/// A step of a conversation, and when it was made, in seconds since 1970.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Dated {
    pub(crate) at: u64,
    #[serde(flatten)]
    pub(crate) entry: Entry,
}

/// What the first line of a file says.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Head {
    pub(crate) id: String,
    pub(crate) working_dir: PathBuf,
    /// In seconds since 1970.
    pub(crate) created: u64,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "line")]
enum Line {
    Session(Head),
    Set(Set),
    Entry(Dated),
    /// What stands before it does not count any more.
    Anew,
    /// One of a later version.
    #[serde(other)]
    Unknown,
}

/// The ending of the file with the title that a user gave.
const NAMED: &str = "title";
/// Characters of a title.
const TITLE: usize = 200;

impl Record {
    /// A new conversation in a directory; it is kept where there is a store.
    pub(crate) fn new(store: Option<Store>, directory: &Path) -> Self {
        let place = store.map(|store| Place { store, directory: directory.to_owned() });
        Self { id: new_id(), place, file: None, set: None, written: 0, trouble: None }
    }

    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    /// Whether there is something that can be taken up again.
    pub(crate) fn is_kept(&self) -> bool {
        self.file.is_some()
    }

    /// Where it is kept, if it is to be.
    pub(crate) fn path(&self) -> Option<PathBuf> {
        self.place.as_ref().map(|place| place.file(&self.id))
    }

    /// Whether what follows is to be kept.
    pub(crate) fn is_wanted(&self) -> bool {
        self.place.is_some()
    }

    /// The conversation ends, and another one begins.
    pub(crate) fn begin_anew(&mut self) {
        *self =
            Self { id: new_id(), place: self.place.take(), file: None, set: None, written: 0, trouble: None };
    }

    /// Gives the conversation a title in place of its first question.
    pub(crate) fn rename(&self, title: &str) -> io::Result<()> {
        let Some(place) = self.place.as_ref().filter(|_| self.file.is_some()) else {
            return Err(io::Error::other("the conversation is not kept, or nothing was asked yet"));
        };
        let title: String = title.chars().take(TITLE).collect();
        std::fs::write(place.file(&self.id).with_extension(NAMED), title)
    }

    /// The title that the user gave the conversation.
    pub(crate) fn given_title(&self) -> Option<String> {
        given_title(&self.path().filter(|_| self.is_kept())?)
    }

    /// What was read is not what the conversation goes on from: the file says it once more.
    pub(crate) fn rewrite(&mut self) {
        self.written = 0;
        self.add(&[Line::Anew]);
    }

    /// The conversation goes on from these entries and not from all that was kept. One without any is no more.
    pub(crate) fn take_back(&mut self, entries: &[Entry]) {
        if !entries.is_empty() {
            return self.rewrite();
        }
        if let (Some(place), Some(_)) = (&self.place, self.file.take()) {
            // What is left behind is one question too many in a list.
            let _ = std::fs::remove_file(place.file(&self.id));
        }
        (self.set, self.written) = (None, 0);
    }

    /// How many entries are kept.
    pub(crate) fn written(&self) -> usize {
        self.written
    }

    /// Why the conversation is not kept, if that failed; told once.
    pub(crate) fn trouble(&mut self) -> Option<String> {
        self.trouble.take()
    }

    /// Writes what is new. After a failure nothing more is kept.
    pub(crate) fn keep(&mut self, set: &Set, entries: &[Entry]) {
        let new = entries.get(self.written..).unwrap_or_default();
        if self.place.is_none() || new.is_empty() {
            return;
        }
        let mut lines = Vec::new();
        if self.set.as_ref() != Some(set) {
            lines.push(Line::Set(set.clone()));
        }
        let at = now();
        lines.extend(new.iter().map(|entry| Line::Entry(Dated { at, entry: entry.clone() })));
        self.add(&lines);
        self.set = Some(set.clone());
        self.written = entries.len();
    }

    /// Has the disk hold what was written.
    pub(crate) fn settle(&self) {
        if let Some(file) = &self.file {
            // It is in the file all the same, unless the machine dies now.
            let _ = file.sync_data();
        }
    }

    fn add(&mut self, lines: &[Line]) {
        let Some(place) = &self.place else { return };
        if let Err(error) = add(&mut self.file, place, &self.id, lines) {
            let folder = place.store.folder.display();
            self.trouble = Some(format!("{folder}: {}", input::plain(&error)));
            self.place = None;
        }
    }
}

impl Place {
    /// The file of the conversation with this id.
    fn file(&self, id: &str) -> PathBuf {
        self.store.folder_of(&self.directory).join(format!("{id}.jsonl"))
    }
}

fn add(file: &mut Option<File>, place: &Place, id: &str, lines: &[Line]) -> io::Result<()> {
    let mut text = Vec::new();
    let file = match file {
        Some(file) => file,
        None => {
            let path = place.file(id);
            let folder = path.parent().unwrap_or(&place.store.folder);
            DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
            let new = OpenOptions::new().append(true).create_new(true).mode(0o600).open(path)?;
            flock(&new, FlockOperation::NonBlockingLockExclusive)?;
            let head = Head { id: id.to_owned(), working_dir: place.directory.clone(), created: now() };
            push(&mut text, &Line::Session(head))?;
            file.insert(new)
        }
    };
    lines.iter().try_for_each(|line| push(&mut text, line))?;
    // All in one write: the lines are there or not.
    file.write_all(&text)
}

fn push(text: &mut Vec<u8>, line: &Line) -> io::Result<()> {
    serde_json::to_writer(&mut *text, line)?;
    text.push(b'\n');
    Ok(())
}

impl Kept {
    fn read(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        let changed = file.metadata()?.modified()?;
        let mut reader = BufReader::new(file);
        let (mut head, mut set, mut entries, mut damaged) = (None, Set::default(), Vec::new(), 0);
        let mut line = Vec::new();
        while reader.read_until(b'\n', &mut line)? > 0 {
            match serde_json::from_slice(&line) {
                Ok(Line::Session(first)) => head = Some(first),
                Ok(Line::Set(new)) => set = new,
                Ok(Line::Entry(entry)) => entries.push(entry),
                Ok(Line::Anew) => entries.clear(),
                Ok(Line::Unknown) => {}
                Err(_) => damaged += usize::from(!line.trim_ascii().is_empty()),
            }
            line.clear();
        }
        let head =
            head.ok_or_else(|| io::Error::other("expected the record of a session, got something else"))?;
        Ok(Self { head, changed, set, entries, damaged, path: path.to_owned() })
    }

    /// Whether the model said or did anything, or the user ran something.
    fn has_come_to_something(&self) -> bool {
        self.entries.iter().any(|dated| match &dated.entry {
            Entry::Assistant { text, calls, .. } => !text.is_empty() || !calls.is_empty(),
            Entry::Results { .. } | Entry::Summary { .. } | Entry::Ran { .. } => true,
            Entry::User { .. } | Entry::Added { .. } | Entry::Note { .. } => false,
        })
    }

    /// The title that the user gave, or the beginning of the first question, or else the first command.
    pub(crate) fn title(&self) -> String {
        if let Some(given) = given_title(&self.path) {
            return given;
        }
        let entries = || self.entries.iter().map(|dated| &dated.entry);
        entries().find_map(title).or_else(|| entries().find_map(command)).unwrap_or_default()
    }

    /// The file.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

/// An id that no other conversation has.
pub(crate) fn new_id() -> String {
    use std::hash::{BuildHasher, Hasher};
    let random = || std::hash::RandomState::new().build_hasher().finish();
    format!("{:016x}{:016x}", random(), random())
}

/// The time of an entry.
pub(crate) fn time(seconds: u64) -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(seconds)
}

/// The title that the user gave the conversation in this file.
fn given_title(path: &Path) -> Option<String> {
    let title = std::fs::read_to_string(path.with_extension(NAMED)).ok()?;
    let title: String = title.lines().next()?.trim().chars().take(TITLE).collect();
    (!title.is_empty()).then_some(title)
}

fn title(entry: &Entry) -> Option<String> {
    let Entry::User { text, .. } = entry else { return None };
    beginning(text)
}

/// What a conversation is called in which nothing was asked yet.
fn command(entry: &Entry) -> Option<String> {
    let Entry::Ran { command, .. } = entry else { return None };
    beginning(&format!("!{command}"))
}

fn beginning(text: &str) -> Option<String> {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty())?;
    Some(line.chars().take(TITLE).collect())
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}
