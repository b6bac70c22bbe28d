//! What lies beside a file, or in a folder: more templates, other parts of a model.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::{Kind, MAX_TEMPLATES, Material, SourceError, gguf, place};

const NAMES: [&str; 3] = ["chat_template.jinja", "tokenizer_config.json", "chat_template.json"];
/// Beside `chat_template.jinja`: the folder of the others.
const ADDITIONAL: &str = "additional_chat_templates";

impl Material {
    /// What the folder of a checkpoint holds.
    pub(super) fn in_folder(folder: &Path) -> Result<Self, SourceError> {
        if let Some(path) = NAMES.iter().map(|name| folder.join(name)).find(|path| path.is_file()) {
            return Self::read(&path);
        }
        let mut models = files(folder, "gguf");
        // What reads images for a model has no template.
        models.sort_by_key(|path| name(path).contains("mmproj"));
        match models.first() {
            Some(path) => {
                let mut material = Self::read(path)?;
                material.found.insert(0, format!("the template is from {}", path.display()));
                Ok(material)
            }
            None => Err(SourceError::Unreadable {
                path: folder.to_owned(),
                error: io::Error::new(
                    io::ErrorKind::NotFound,
                    "expected chat_template.jinja, tokenizer_config.json, chat_template.json or a GGUF file in the folder",
                ),
            }),
        }
    }

    /// With the templates that lie in a folder of their own beside this one; the one for tools comes first.
    pub(super) fn with_additional(mut self, path: &Path) -> Self {
        let read = |path: PathBuf| Some((stem(&path), std::fs::read_to_string(&path).ok()?));
        let all = files(&path.with_file_name(ADDITIONAL), "jinja").into_iter().filter_map(read);
        self.others.extend(all.take(MAX_TEMPLATES));
        if let Some(at) = self.others.iter().position(|(name, _)| place(name) == 0) {
            let (name, text) = self.others.remove(at);
            let own = std::mem::replace(&mut self.text, text);
            self.others.insert(0, ("default".to_owned(), own));
            self.found.push(format!("of several templates it is `{name}`"));
        }
        self
    }
}

/// What a GGUF file tells; where it is a later part of a model, what the first one does.
pub(super) fn of_gguf(path: &Path, file: File) -> Result<Material, SourceError> {
    let read = |path: &Path, file| {
        gguf::read(file).map_err(|error| SourceError::Gguf { path: path.to_owned(), error })
    };
    let mut material = read(path, file)?;
    let Some(first) = first_part(path).filter(|_| material.kind == Kind::Nothing) else {
        return Ok(material);
    };
    match behind_magic(&first) {
        Ok(file) => {
            material = read(&first, file)?;
            material.found.push(format!("the template is from the first part, {}", first.display()));
        }
        Err(_) => material.found.push(format!(
            "this is a later part of a model: its template is in the first one, {}",
            first.display()
        )),
    }
    Ok(material)
}

/// A GGUF file behind its first bytes.
fn behind_magic(path: &Path) -> io::Result<File> {
    let mut file = File::open(path)?;
    let mut magic = [0; 4];
    file.read_exact(&mut magic)?;
    if gguf::is_gguf(&magic) { Ok(file) } else { Err(io::ErrorKind::InvalidData.into()) }
}

/// The first part of a model of which this is a later one: `NAME-00002-of-00005.gguf`.
fn first_part(path: &Path) -> Option<PathBuf> {
    let stem = stem(path);
    let (rest, of) = stem.rsplit_once("-of-")?;
    let (name, part) = rest.rsplit_once('-')?;
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let later = digits(part) && digits(of) && part.trim_start_matches('0') != "1";
    let first = format!("{:0>width$}", 1, width = part.len());
    later.then(|| path.with_file_name(format!("{name}-{first}-of-{of}.gguf")))
}

/// The files of a folder with an ending, by name.
fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut paths: Vec<PathBuf> = entries.flatten().take(MAX_FILES).map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|known| known == ending) && path.is_file());
    paths.sort();
    paths
}

/// So many entries of a folder are looked at.
const MAX_FILES: usize = 1000;

fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
