//! What a file is: a chat template, a file that holds one, or something that a model wrote.

mod folder;
mod gguf;

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value as Json};
use thiserror::Error;

pub use gguf::GgufError;

/// What there is to look at.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Material {
    /// What the text is.
    pub kind: Kind,
    /// The template, or what the model wrote.
    pub text: String,
    /// Which of several templates it is, and where it was found.
    pub found: Vec<String>,
    /// The other templates of the checkpoint, by name: one of them may know tools where this one does not.
    #[serde(default)]
    pub others: Vec<(String, String)>,
    /// The special tokens that a template may ask for.
    pub tokens: Map<String, Json>,
    /// The model's own name, if the file says it.
    pub model: Option<String>,
}

/// What a text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A chat template in Jinja.
    Jinja,
    /// A template in Go, as Ollama has them.
    Go,
    /// What a model wrote.
    Answer,
    /// Nothing: a checkpoint without a chat template.
    Nothing,
}

/// Why a file cannot be looked at.
#[derive(Debug, Error)]
pub enum SourceError {
    /// It cannot be read.
    #[error("cannot read {}: {error}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// It is GGUF, and broken.
    #[error("{}: {error}", path.display())]
    Gguf {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        error: GgufError,
    },
    /// It is longer than any template or answer.
    #[error("{}: expected at most {MAX_FILE} bytes of text, or a GGUF file", path.display())]
    Long {
        /// The file.
        path: PathBuf,
    },
    /// It is neither text nor GGUF.
    #[error("{}: expected text or a GGUF file, got other bytes", path.display())]
    Binary {
        /// The file.
        path: PathBuf,
    },
    /// Its name says that it is JSON, and it is none.
    #[error("{}: expected a JSON object, got {got}", path.display())]
    NoObject {
        /// The file.
        path: PathBuf,
        /// How it begins, and why it is none.
        got: String,
    },
    /// It is JSON, but not of a kind that holds a template.
    #[error("{}: expected a chat template in `chat_template`, got {got}", path.display())]
    Json {
        /// The file.
        path: PathBuf,
        /// What stands there.
        got: String,
    },
}

/// Bytes of a file that is text. The largest tokenizer configurations have a few hundred kilobytes.
const MAX_FILE: u64 = 32 << 20;

impl Material {
    /// What a file or the folder of a checkpoint holds.
    ///
    /// # Errors
    /// When it cannot be read, or is broken.
    pub fn read(path: &Path) -> Result<Self, SourceError> {
        if path.is_dir() {
            return Self::in_folder(path);
        }
        let unreadable = |error| SourceError::Unreadable { path: path.to_owned(), error };
        let mut file = File::open(path).map_err(unreadable)?;
        let mut magic = [0; 4];
        let mut len = 0;
        while len < magic.len() {
            match file.read(&mut magic[len..]).map_err(unreadable)? {
                0 => break,
                more => len += more,
            }
        }
        if gguf::is_gguf(&magic[..len]) {
            return folder::of_gguf(path, file);
        }
        let mut bytes = magic[..len].to_vec();
        file.take(MAX_FILE + 1).read_to_end(&mut bytes).map_err(unreadable)?;
        if bytes.len() as u64 > MAX_FILE {
            return Err(SourceError::Long { path: path.to_owned() });
        }
        let text = String::from_utf8(bytes.split_off(mark_len(&bytes)))
            .map_err(|_| SourceError::Binary { path: path.to_owned() })?;
        Self::of_text(&text, path)
    }

    /// What a text is. `path` is where it is from: its name may tell, and what lies beside it.
    ///
    /// # Errors
    /// When it is JSON that holds a template in a form that is none.
    pub fn of_text(text: &str, path: &Path) -> Result<Self, SourceError> {
        let text = &text[mark_len(text.as_bytes())..];
        let ends = |ending: &str| path.extension().is_some_and(|known| known.eq_ignore_ascii_case(ending));
        if ends("jinja") || ends("j2") || ends("jinja2") {
            return Ok(Self::of(Kind::Jinja, text).with_tokens_beside(path).with_additional(path));
        }
        let named = is_named_as_configuration(path);
        if named || text.trim_start().starts_with('{') {
            match serde_json::from_str::<Map<String, Json>>(text) {
                Ok(config) if named || is_configuration(&config) => {
                    return Self::of_configuration(&config, path);
                }
                Err(error) if named => {
                    let got = format!("{:?} ({error})", crate::text::start(text, 40));
                    return Err(SourceError::NoObject { path: path.to_owned(), got });
                }
                _ => {}
            }
        }
        Ok(Self::of(kind(text), text))
    }

    /// A text that is known to be of a kind.
    pub fn of(kind: Kind, text: &str) -> Self {
        Self {
            kind,
            text: text.to_owned(),
            found: Vec::new(),
            others: Vec::new(),
            tokens: Map::new(),
            model: None,
        }
    }

    /// What a server tells of a model, as JSON: `/props` of llama.cpp, `/api/show` of Ollama, `/tokenizer_info` of vLLM.
    /// Nothing where no template is in it.
    pub fn served(told: &Map<String, Json>, model: &str) -> Option<Self> {
        let keys = ["chat_template_tool_use", "chat_template", "template"];
        let mut templates = keys.iter().filter_map(|key| templates(told.get(*key)?)).flatten();
        let (_, text) = templates.find(|(_, text)| !text.trim().is_empty())?;
        let others = templates.filter(|(_, other)| *other != text).collect();
        let kind = match kind(&text) {
            Kind::Answer => Kind::Jinja,
            kind => kind,
        };
        let model = Some(model.to_owned());
        Some(Self { model, others, tokens: tokens(told), ..Self::of(kind, &text) })
    }

    fn of_configuration(config: &Map<String, Json>, path: &Path) -> Result<Self, SourceError> {
        let own = config.get("chat_template").filter(|template| !template.is_null());
        let mut templates = match own {
            Some(own) => templates(own).ok_or_else(|| wrong(path, Some(own)))?,
            None => Vec::new(),
        };
        let mut found = Vec::new();
        // The library that loads checkpoints prefers the file of its own.
        let beside = path.with_file_name("chat_template.jinja");
        if let Some(separate) = std::fs::read_to_string(&beside).ok().filter(|_| beside != path) {
            found.push(format!("the template is from {}", beside.display()));
            templates.insert(0, (String::new(), separate));
        } else if let [(name, _), _, ..] = templates.as_slice() {
            let names: Vec<&str> = templates.iter().map(|(name, _)| name.as_str()).collect();
            found.push(format!("of the templates {} it is `{name}`", names.join(", ")));
        }
        let kind = if templates.is_empty() { Kind::Nothing } else { Kind::Jinja };
        let mut templates = templates.into_iter();
        let text = templates.next().map(|(_, text)| text).unwrap_or_default();
        let model = config.get("name_or_path").or_else(|| config.get("_name_or_path")).and_then(Json::as_str);
        let material = Self {
            found,
            others: templates.collect(),
            tokens: tokens(config),
            model: model.map(str::to_owned),
            ..Self::of(kind, &text)
        };
        Ok(if kind == Kind::Jinja { material.with_additional(path) } else { material })
    }

    fn with_tokens_beside(mut self, path: &Path) -> Self {
        let config = std::fs::read_to_string(path.with_file_name("tokenizer_config.json"));
        if let Ok(Json::Object(config)) = serde_json::from_str(&config.unwrap_or_default()) {
            self.tokens = tokens(&config);
        }
        self
    }
}

fn wrong(path: &Path, got: Option<&Json>) -> SourceError {
    let got = got.map(Json::to_string).unwrap_or_default().chars().take(60).collect();
    SourceError::Json { path: path.to_owned(), got }
}

fn is_configuration(config: &Map<String, Json>) -> bool {
    config.contains_key("chat_template") || config.contains_key("tokenizer_class")
}

fn is_named_as_configuration(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == "tokenizer_config.json" || name == "chat_template.json")
}

/// The templates of a text, a list of named ones or an object of them: the one for tools first, then the default one.
fn templates(value: &Json) -> Option<Vec<(String, String)>> {
    let text = |value: &Json| value.as_str().map(str::to_owned);
    let mut all: Vec<(String, String)> = match value {
        Json::String(text) => vec![(String::new(), text.clone())],
        Json::Array(list) => list
            .iter()
            .filter_map(|entry| {
                Some((entry["name"].as_str().unwrap_or_default().to_owned(), text(&entry["template"])?))
            })
            .collect(),
        Json::Object(named) => {
            named.iter().filter_map(|(name, value)| Some((name.clone(), text(value)?))).collect()
        }
        _ => return None,
    };
    all.truncate(MAX_TEMPLATES);
    all.sort_by_key(|(name, _)| place(name));
    (!all.is_empty()).then_some(all)
}

/// So many templates of a checkpoint are looked at.
const MAX_TEMPLATES: usize = 8;

/// The order of templates by their names.
fn place(name: &str) -> usize {
    ["tool_use", "", "default"].iter().position(|known| *known == name).unwrap_or(3)
}

/// The length of the mark of byte order that a file may begin with.
fn mark_len(bytes: &[u8]) -> usize {
    if bytes.starts_with("\u{feff}".as_bytes()) { '\u{feff}'.len_utf8() } else { 0 }
}

/// The special tokens: texts, or objects that hold one.
fn tokens(config: &Map<String, Json>) -> Map<String, Json> {
    let token = |value: &Json| value.as_str().or_else(|| value["content"].as_str()).map(Json::from);
    config
        .iter()
        .filter(|(name, _)| name.ends_with("_token") && name.len() < MAX_NAME)
        .filter_map(|(name, value)| Some((name.clone(), token(value)?)))
        .collect()
}

const MAX_NAME: usize = 40;

/// What a text is, by its braces.
fn kind(text: &str) -> Kind {
    let go = [
        "{{ .",
        "{{.",
        "{{- .",
        "{{ if .",
        "{{- if .",
        "{{- range .",
        "{{ range .",
        "{{- if or .",
        "{{ range $",
        "{{- range $",
    ];
    let jinja = ["messages", "message[", "message.", "add_generation_prompt", "bos_token"];
    if go.iter().any(|mark| text.contains(mark)) && !text.contains("{%") {
        Kind::Go
    } else if text.contains("{%") || (text.contains("{{") && jinja.iter().any(|mark| text.contains(mark))) {
        Kind::Jinja
    } else {
        Kind::Answer
    }
}
