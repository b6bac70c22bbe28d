//! What the user said of files that directories bring along: for each file and its content a yes or a no. Of a file that
//! changed nothing has been said.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::folders;
use crate::held::Held;

/// Where the answers are kept.
#[derive(Debug)]
pub(crate) struct Trust {
    path: PathBuf,
}

/// An answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Said {
    /// What the file held.
    digest: String,
    pub(crate) trusted: bool,
}

impl Trust {
    /// The user's own answers; nothing where there is no home directory.
    pub(crate) fn find() -> Option<Self> {
        Some(Self { path: folders::state()?.join("trusted.json") })
    }

    /// What the user said of this content of the file `path` (absolute and without links), if anything.
    pub(crate) fn said(&self, path: &Path, content: &[u8]) -> Option<bool> {
        self.all().get(path).filter(|said| said.is_of(content)).map(|said| said.trusted)
    }

    /// Keeps an answer to these files.
    pub(crate) fn keep<'f>(
        &self,
        files: impl IntoIterator<Item = (&'f Path, &'f [u8])>,
        trusted: bool,
    ) -> io::Result<()> {
        let _held = Held::wait(&self.path)?;
        let mut all = self.all();
        for (path, content) in files {
            all.insert(path.to_owned(), Said { digest: digest(content), trusted });
        }
        self.write(&all)
    }

    /// Forgets what was said of the files below a directory, and gives their paths.
    pub(crate) fn revoke(&self, directory: &Path) -> io::Result<Vec<PathBuf>> {
        let _held = Held::wait(&self.path)?;
        let (revoked, left): (BTreeMap<_, _>, _) =
            self.all().into_iter().partition(|(path, _)| path.starts_with(directory));
        self.write(&left)?;
        Ok(revoked.into_keys().collect())
    }

    /// All answers.
    pub(crate) fn all(&self) -> BTreeMap<PathBuf, Said> {
        let content = std::fs::read(&self.path).unwrap_or_default();
        serde_json::from_slice(&content).unwrap_or_default()
    }

    /// Only for who holds the file.
    fn write(&self, all: &BTreeMap<PathBuf, Said>) -> io::Result<()> {
        let folder = self.path.parent().unwrap_or(Path::new("."));
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        serde_json::to_writer_pretty(&mut file, all)?;
        writeln!(file)?;
        file.persist(&self.path)?;
        Ok(())
    }
}

impl Said {
    /// Whether it was said of this content.
    pub(crate) fn is_of(&self, content: &[u8]) -> bool {
        self.digest == digest(content)
    }
}

fn digest(content: &[u8]) -> String {
    hex::encode(Sha256::digest(content))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_to_one_file_and_one_content() {
        let folder = tempfile::tempdir().unwrap();
        let trust = Trust { path: folder.path().join("deep/trusted.json") };
        let (here, there) = (Path::new("/a/x"), Path::new("/b/x"));
        assert_eq!(trust.said(here, b"x"), None);
        trust.keep([(here, &b"x"[..])], true).unwrap();
        trust.keep([(there, &b"y"[..])], false).unwrap();
        assert_eq!((trust.said(here, b"x"), trust.said(there, b"y")), (Some(true), Some(false)));
        assert_eq!((trust.said(here, b"y"), trust.said(Path::new("/c/x"), b"x")), (None, None));
        assert_eq!(trust.revoke(Path::new("/a")).unwrap(), [here]);
        assert_eq!((trust.said(here, b"x"), trust.said(there, b"y")), (None, Some(false)));
        std::fs::write(&trust.path, "{broken").unwrap();
        assert_eq!(trust.said(there, b"y"), None);
    }

    #[test]
    fn answers_that_are_given_at_once_are_all_kept_and_what_is_revoked_stays_so() {
        let folder = tempfile::tempdir().unwrap();
        let trust = Trust { path: folder.path().join("trusted.json") };
        let paths: Vec<PathBuf> = (0..16).map(|n| PathBuf::from(format!("/{n}/x"))).collect();
        trust.keep([(Path::new("/revoked/x"), &b"x"[..])], true).unwrap();
        let together = std::sync::Barrier::new(paths.len() + 1);
        std::thread::scope(|scope| {
            for path in &paths {
                scope.spawn(|| {
                    together.wait();
                    trust.keep([(path.as_path(), &b"x"[..])], true).unwrap();
                });
            }
            together.wait();
            assert_eq!(trust.revoke(Path::new("/revoked")).unwrap(), [Path::new("/revoked/x")]);
        });
        assert!(trust.all().keys().eq(paths.iter().collect::<std::collections::BTreeSet<_>>()), "{trust:?}");
    }
}
