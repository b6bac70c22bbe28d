//! The conversations that are kept, in a folder for each working directory.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use rustix::fs::{FlockOperation, flock};
use sha2::{Digest, Sha256};

use super::{Head, Kept, Line, NAMED, Place, Record, command, given_title, title};
use crate::{folders, input};

/// Where conversations are kept.
#[derive(Debug, Clone)]
pub(crate) struct Store {
    pub(super) folder: PathBuf,
}

/// What a list says of a conversation.
#[derive(Debug, Clone)]
pub(crate) struct Summary {
    pub(crate) head: Head,
    pub(crate) changed: SystemTime,
    pub(crate) model: String,
    /// The title that the user gave, or the beginning of the first question.
    pub(crate) title: String,
    path: PathBuf,
}

/// Why a conversation cannot be taken up or removed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Trouble {
    #[error("there is no session {0}; `del sessions list --all` lists them")]
    Unknown(String),
    #[error("{0} means several sessions; give more of the id")]
    Unclear(String),
    #[error("the session {0} goes on in another `del`; end that one, or go on with another (`del -r`)")]
    Busy(String),
    #[error("{path}: {}", input::plain(error))]
    File { path: String, error: io::Error },
}

/// Bytes at the start of a file in which a list looks for the first question.
const HEAD: u64 = 64 * 1024;
impl Store {
    /// The user's own, whether it is there or not.
    pub(crate) fn find() -> Option<Self> {
        Some(Self { folder: folders::state()?.join("sessions") })
    }

    /// The conversations in a directory, or in all, the latest first.
    pub(crate) fn list(&self, directory: Option<&Path>) -> Vec<Summary> {
        let mut found: Vec<Summary> =
            self.files(directory).into_iter().filter_map(|path| Summary::read(path).ok().flatten()).collect();
        found.sort_by_key(|summary| std::cmp::Reverse(summary.changed));
        found
    }

    /// The files in a directory, or in all, that should be conversations, and that nothing can be made of.
    pub(crate) fn damaged(&self, directory: Option<&Path>) -> Vec<PathBuf> {
        let mut files = self.files(directory);
        files.retain(|path| Summary::read(path.clone()).is_err() || has_lost_its_head(path));
        files.sort();
        files
    }

    /// The last one in a directory of which something came: a run that was killed leaves its question behind.
    pub(crate) fn last(&self, directory: &Path) -> Option<Summary> {
        let mut files: Vec<(SystemTime, PathBuf)> = self
            .files(Some(directory))
            .into_iter()
            .filter_map(|path| Some((fs::metadata(&path).ok()?.modified().ok()?, path)))
            .collect();
        files.sort();
        let newest = files.into_iter().rev().map(|(_, path)| path);
        let mut worth = newest.filter(|path| Kept::read(path).is_ok_and(|kept| kept.has_come_to_something()));
        worth.find_map(|path| Summary::read(path).ok().flatten())
    }

    /// The one whose id begins so, or that is called so.
    pub(crate) fn get(&self, start: &str) -> Result<Kept, Trouble> {
        let path = self.path_of(start)?;
        Kept::read(&path).map_err(|error| trouble(&path, error))
    }

    /// Takes one up again: what was kept, and the record of what follows.
    pub(crate) fn take_up(&self, start: &str) -> Result<(Kept, Record), Trouble> {
        let path = self.path_of(start)?;
        let fail = |error| trouble(&path, error);
        let mut file = OpenOptions::new().read(true).append(true).open(&path).map_err(fail)?;
        if flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
            return Err(Trouble::Busy(start.to_owned()));
        }
        let kept = Kept::read(&path).map_err(fail)?;
        end_line(&mut file).map_err(fail)?;
        let place = Place { store: self.clone(), directory: kept.head.working_dir.clone() };
        let record = Record {
            id: kept.head.id.clone(),
            place: Some(place),
            file: Some(file),
            set: Some(kept.set.clone()),
            written: kept.entries.len(),
            trouble: None,
        };
        Ok((kept, record))
    }

    /// Removes one that is not under way. Its id.
    pub(crate) fn remove(&self, start: &str) -> Result<String, Trouble> {
        let path = self.path_of(start)?;
        let fail = |error| trouble(&path, error);
        let file = File::open(&path).map_err(fail)?;
        let id = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        if flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
            return Err(Trouble::Busy(id));
        }
        fs::remove_file(&path).map_err(fail)?;
        // There may be none.
        let _ = fs::remove_file(path.with_extension(NAMED));
        Ok(id)
    }

    fn path_of(&self, start: &str) -> Result<PathBuf, Trouble> {
        let fits = |path: &PathBuf| {
            path.file_stem().is_some_and(|stem| stem.to_string_lossy().starts_with(start))
                && !start.is_empty()
        };
        let mut found: Vec<PathBuf> = self.files(None).into_iter().filter(fits).collect();
        if found.is_empty() {
            let called = |summary: Summary| (summary.title == start).then_some(summary.path);
            found = self.list(None).into_iter().filter_map(called).collect();
        }
        match (found.pop(), found.is_empty()) {
            (None, _) => Err(Trouble::Unknown(start.to_owned())),
            (Some(path), true) => Ok(path),
            (Some(_), false) => Err(Trouble::Unclear(start.to_owned())),
        }
    }

    /// The files for a directory, or all.
    fn files(&self, directory: Option<&Path>) -> Vec<PathBuf> {
        let folders = match directory {
            Some(directory) => vec![self.folder_of(directory)],
            None => paths(&self.folder),
        };
        // What is no regular file may never end.
        let is_record = |path: &PathBuf| {
            path.extension().is_some_and(|extension| extension == "jsonl")
                && fs::metadata(path).is_ok_and(|metadata| metadata.is_file())
        };
        folders.iter().flat_map(|folder| paths(folder)).filter(is_record).collect()
    }

    /// Where those of a directory lie.
    pub(super) fn folder_of(&self, directory: &Path) -> PathBuf {
        self.folder.join(Self::name_of(directory))
    }

    /// What a directory is called there: its name, and what tells it from others of the same name.
    pub(crate) fn name_of(directory: &Path) -> String {
        let name = directory.file_name().unwrap_or_default().to_string_lossy();
        let name: String =
            name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).take(40).collect();
        let digest = hex::encode(Sha256::digest(directory.as_os_str().as_encoded_bytes()));
        format!("{name}-{}", &digest[..16])
    }
}

impl Summary {
    /// Nothing for a file that is none of ours.
    fn read(path: PathBuf) -> io::Result<Option<Self>> {
        let file = File::open(&path)?;
        let changed = file.metadata()?.modified()?;
        let mut reader = BufReader::new(file.take(HEAD));
        let (mut head, mut model, mut ran) = (None, String::new(), None);
        let mut line = Vec::new();
        while reader.read_until(b'\n', &mut line)? > 0 {
            match serde_json::from_slice(&line) {
                Ok(Line::Session(first)) => head = Some(first),
                Ok(Line::Set(set)) => model = set.model,
                Ok(Line::Entry(dated)) => {
                    if let Some((title, head)) = title(&dated.entry).zip(head.as_ref()) {
                        let head = Head::clone(head);
                        let title = given_title(&path).unwrap_or(title);
                        return Ok(Some(Self { head, changed, model, title, path }));
                    }
                    ran = ran.or_else(|| command(&dated.entry));
                }
                _ => {}
            }
            line.clear();
        }
        // Nothing was asked yet, or the first question is longer than what was read.
        let title = given_title(&path).or(ran).unwrap_or_else(|| "(a long question)".to_owned());
        Ok(head.map(|head| Self { head, changed, model, title, path }))
    }

    /// Bytes of its file.
    pub(crate) fn bytes(&self) -> u64 {
        fs::metadata(&self.path).map_or(0, |metadata| metadata.len())
    }
}

/// Whether a file begins with something else than a conversation does. An empty one has just begun.
fn has_lost_its_head(path: &Path) -> bool {
    let mut line = Vec::new();
    let read = File::open(path).and_then(|file| BufReader::new(file.take(HEAD)).read_until(b'\n', &mut line));
    read.is_ok_and(|length| length > 0)
        && !matches!(serde_json::from_slice(&line), Ok(Line::Session(_) | Line::Unknown))
}

/// Ends a line that was cut off, so that what follows begins one.
fn end_line(file: &mut File) -> io::Result<()> {
    let mut last = [b'\n'];
    if file.seek(SeekFrom::End(-1)).is_ok() {
        file.read_exact(&mut last)?;
    }
    if last == *b"\n" { Ok(()) } else { file.write_all(b"\n") }
}

fn paths(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).collect()
}

fn trouble(path: &Path, error: io::Error) -> Trouble {
    Trouble::File { path: path.display().to_string(), error }
}

#[cfg(test)]
mod tests {
    use del_agent::Entry;

    use super::*;
    use crate::record::Set;

    fn user(text: &str) -> Entry {
        Entry::user(text)
    }

    fn store(folder: &Path) -> Store {
        Store { folder: folder.join("sessions") }
    }

    #[test]
    fn a_torn_line_costs_itself_alone() {
        let folder = tempfile::tempdir().unwrap();
        let store = store(folder.path());
        let mut record = Record::new(Some(store.clone()), folder.path());
        let set = Set { model: "m".to_owned(), ..Set::default() };
        let mut entries = vec![user("first"), user("second"), user("third")];
        record.keep(&set, &entries);
        let path = store.files(None).remove(0);
        let whole = fs::read(&path).unwrap();
        drop(record);
        let lines =
            |count: usize| whole.split_inclusive(|byte| *byte == b'\n').take(count).map(<[u8]>::len).sum();
        let (two, three): (usize, usize) = (lines(4), lines(5));
        for cut in two + 1..three {
            fs::write(&path, &whole[..cut]).unwrap();
            let (kept, mut record) = store.take_up(&id(&path)).unwrap();
            // A line that lacks nothing but its end is whole.
            let whole_line = usize::from(cut + 1 == three);
            assert_eq!((kept.entries.len(), kept.damaged), (2 + whole_line, 1 - whole_line), "{cut}");
            entries.truncate(kept.entries.len());
            entries.push(user("fourth"));
            record.keep(&kept.set, &entries);
            drop(record);
            let kept = store.get(&id(&path)).unwrap();
            let told: Vec<Entry> = kept.entries.into_iter().map(|dated| dated.entry).collect();
            assert_eq!(told, entries, "{cut}");
            entries = vec![user("first"), user("second"), user("third")];
        }
    }

    #[test]
    fn one_conversation_goes_on_in_one_place() {
        let folder = tempfile::tempdir().unwrap();
        let store = store(folder.path());
        let mut record = Record::new(Some(store.clone()), folder.path());
        record.keep(&Set::default(), &[user("hello")]);
        let id = record.id().to_owned();
        assert!(matches!(store.take_up(&id), Err(Trouble::Busy(_))));
        assert!(matches!(store.remove(&id), Err(Trouble::Busy(_))));
        drop(record);
        assert!(store.take_up(&id[..6]).is_ok());
        assert_eq!(store.remove(&id[..6]).unwrap(), id);
        assert!(matches!(store.get(&id), Err(Trouble::Unknown(_))));
    }

    fn id(path: &Path) -> String {
        path.file_stem().unwrap().to_string_lossy().into_owned()
    }
}
