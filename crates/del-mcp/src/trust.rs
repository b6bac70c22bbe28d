//! What the user agreed to run of what directories bring along.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

/// Which content of which directory's file the user trusts. A file that changed is not trusted.
#[derive(Debug)]
pub struct Trust {
    path: PathBuf,
}

impl Trust {
    /// What is kept in the file `path`; it need not be there.
    pub fn at(path: PathBuf) -> Self {
        Self { path }
    }

    /// Whether the user trusts this content of the file in this directory (absolute and without links).
    pub fn holds(&self, directory: &Path, content: &[u8]) -> bool {
        let key = directory.to_string_lossy();
        self.read().get(key.as_ref()).and_then(Value::as_str) == Some(digest(content).as_str())
    }

    /// Keeps that the user trusts it.
    pub fn keep(&self, directory: &Path, content: &[u8]) -> io::Result<()> {
        let mut kept = self.read();
        kept.insert(directory.to_string_lossy().into_owned(), json!(digest(content)));
        let folder = self.path.parent().unwrap_or(Path::new("."));
        std::fs::create_dir_all(folder)?;
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        writeln!(file, "{:#}", Value::Object(kept))?;
        file.persist(&self.path)?;
        Ok(())
    }

    fn read(&self) -> Map<String, Value> {
        let content = std::fs::read(&self.path).unwrap_or_default();
        serde_json::from_slice(&content).unwrap_or_default()
    }
}

fn digest(content: &[u8]) -> String {
    hex::encode(Sha256::digest(content))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trust_is_for_one_directory_and_one_content() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/trust.json");
        let (here, there) = (Path::new("/a"), Path::new("/b"));
        let trust = Trust::at(path.clone());
        assert!(!trust.holds(here, b"x"));
        trust.keep(here, b"x").unwrap();
        trust.keep(there, b"y").unwrap();
        let trust = Trust::at(path.clone());
        assert!(trust.holds(here, b"x") && trust.holds(there, b"y"));
        assert!(!trust.holds(here, b"y") && !trust.holds(Path::new("/c"), b"x"));
        std::fs::write(path, "{broken").unwrap();
        assert!(!trust.holds(here, b"x"));
    }
}
