//! Which line ends a new file is to have, where the project says so: `.gitattributes` and `.editorconfig`.

use std::io::Read;
use std::path::{Path, PathBuf};

use crate::glob;

use super::{Place, Workspace};

/// Bytes that are read of such a file.
const LONGEST: u64 = 1 << 20;
/// Lines that are looked at: each may be a pattern to compile.
const MAX_LINES: usize = 1000;

impl Workspace {
    /// Whether lines of a new file at `place` are to end in `\r\n`. The nearest file that says something counts, and
    /// `.gitattributes` before `.editorconfig`.
    pub(crate) fn wants_crlf(&self, place: &Place) -> bool {
        let says = |name: &str, read: fn(&str, &Path) -> Said| {
            for above in place.path.ancestors().skip(1) {
                let Ok(inner) = place.path.strip_prefix(above) else { continue };
                let Some(text) = self.small(place, &above.join(name)) else { continue };
                match read(&text, inner) {
                    Said::Nothing => {}
                    Said::Stop => break,
                    Said::Crlf(crlf) => return Some(crlf),
                }
            }
            None
        };
        says(".gitattributes", attributes).or_else(|| says(".editorconfig", editor)).unwrap_or(false)
    }

    fn small(&self, place: &Place, path: &Path) -> Option<String> {
        let (file, _) = super::open_regular(self.dir(place), path).ok()?;
        let mut text = String::new();
        file.take(LONGEST).read_to_string(&mut text).ok()?;
        Some(text)
    }
}

#[derive(Clone, Copy)]
enum Said {
    Nothing,
    /// Nothing, and files above do not count.
    Stop,
    Crlf(bool),
}

/// What `.gitattributes` says of a path in its directory: the last line that fits.
fn attributes(text: &str, path: &Path) -> Said {
    let mut said = Said::Nothing;
    for line in text.lines().take(MAX_LINES).filter(|line| !line.starts_with('#')) {
        let mut words = line.split_whitespace();
        let Some(pattern) = words.next() else { continue };
        let eol = words.filter_map(|word| word.strip_prefix("eol=")).next_back();
        if let Some(eol) = eol.filter(|_| fits(pattern, path)) {
            said = Said::Crlf(eol == "crlf");
        }
    }
    said
}

/// What `.editorconfig` says of a path in its directory: the last section that fits.
fn editor(text: &str, path: &Path) -> Said {
    let mut said = Said::Nothing;
    let mut here = None;
    for line in text.lines().take(MAX_LINES).map(str::trim) {
        if let Some(section) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            here = Some(fits(section, path));
            continue;
        }
        let Some((key, value)) = line.split_once('=') else { continue };
        let (key, value) = (key.trim().to_lowercase(), value.trim().to_lowercase());
        match (here, key.as_str()) {
            (None, "root") if value == "true" => said = Said::Stop,
            (Some(true), "end_of_line") => said = Said::Crlf(value == "crlf"),
            _ => {}
        }
    }
    said
}

/// Whether a pattern means a path: one without a slash means names in any directory.
fn fits(pattern: &str, path: &Path) -> bool {
    let (pattern, subject) = match pattern.strip_prefix('/') {
        Some(rest) => (rest, path.to_owned()),
        None if pattern.contains('/') => (pattern, path.to_owned()),
        None => (pattern, PathBuf::from(path.file_name().unwrap_or_default())),
    };
    glob::whole(pattern).is_ok_and(|glob| glob.is_match(subject))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn crlf(said: Said) -> Option<bool> {
        match said {
            Said::Crlf(crlf) => Some(crlf),
            Said::Nothing | Said::Stop => None,
        }
    }

    #[test]
    fn the_last_line_that_fits_counts() {
        let text = "# eol=crlf\n* text=auto\n*.bat eol=crlf\nunix/*.bat text eol=lf\n";
        assert_eq!(crlf(attributes(text, Path::new("a.bat"))), Some(true));
        assert_eq!(crlf(attributes(text, Path::new("deep/a.bat"))), Some(true));
        assert_eq!(crlf(attributes(text, Path::new("unix/a.bat"))), Some(false));
        assert_eq!(crlf(attributes(text, Path::new("a.rs"))), None);
    }

    #[test]
    fn sections_of_an_editor_are_read() {
        let text = "root = true\n[*]\nend_of_line = lf\n[*.{bat,cmd}]\nEnd_Of_Line = CRLF\n[lib/**.js]\nend_of_line=crlf\n";
        assert_eq!(crlf(editor(text, Path::new("x/a.cmd"))), Some(true));
        assert_eq!(crlf(editor(text, Path::new("a.rs"))), Some(false));
        assert!(matches!(editor("root=true\n", Path::new("a.rs")), Said::Stop));
    }
}
