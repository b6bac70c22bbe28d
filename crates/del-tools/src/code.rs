//! Code as the tools read it: what a call means, and the outline of a text in whatever language it is.

use std::time::{Duration, Instant};

use del_code::{Kind, Language, Outline, Unparsed, outline_by_patterns, parse};

use crate::arguments::{Arguments, CODE, LANGUAGE, PATH};
use crate::context::Context;
use crate::outcome::{Code, Failure, excerpt};
use crate::workspace::{Access, Place};

/// No text takes longer to parse.
const PATIENCE: Duration = Duration::from_secs(2);

/// What a tool is to read.
pub(crate) enum Subject {
    /// What lies at a place.
    Place(Place),
    /// A text that came with the call.
    Text { text: String, language: Option<&'static Language> },
}

impl Subject {
    /// Reads `path`, `content` and `language`; with none of them it is the whole workspace.
    pub(crate) fn read(arguments: &mut Arguments, context: &Context) -> Result<Self, Failure> {
        let path = arguments.text(&PATH).filter(|path| !path.trim().is_empty());
        let text = arguments.text(&CODE).filter(|text| !text.trim().is_empty());
        let word = arguments.text(&LANGUAGE).filter(|word| !word.trim().is_empty());
        match (path, text) {
            (Some(_), Some(_)) => {
                let cause = "'path' and 'content' were both given. Send one of them.";
                Err(Failure::new(Code::Conflict, cause))
            }
            (path, None) => Ok(Self::Place(context.existing(path.as_deref().unwrap_or("."), Access::Read)?)),
            (None, Some(text)) => {
                let language = match word {
                    Some(word) => Some(language(&word)?),
                    None => guess(&text),
                };
                Ok(Self::Text { text, language })
            }
        }
    }

    /// What the user is told is read.
    pub(crate) fn shown(&self) -> &str {
        match self {
            Self::Place(place) => &place.shown,
            Self::Text { .. } => "(content)",
        }
    }
}

fn language(word: &str) -> Result<&'static Language, Failure> {
    Language::named(word).ok_or_else(|| {
        let known: Vec<_> = Language::all().map(Language::name).collect();
        let word = excerpt(word, 40);
        let cause = format!("unknown language '{word}'. Known: {}.", known.join(", "));
        Failure::new(Code::BadType, cause)
    })
}

/// The language of a text without a name: by its first line, else the grammar that finds most symbols and no error.
fn guess(text: &str) -> Option<&'static Language> {
    let fits = |language: &'static Language| {
        let deadline = Instant::now() + PATIENCE / 4;
        let source = parse(text, language, &|| Instant::now() > deadline).ok()?;
        let outline = source.outline();
        let told = outline.symbols.len() + outline.imports;
        (!source.has_errors() && told > 0).then_some((told, language))
    };
    // Of languages that read it equally well, the first stays.
    let best =
        || Language::all().filter_map(fits).reduce(|best, next| if next.0 > best.0 { next } else { best });
    Language::of_text(text).or_else(|| best().map(|(_, language)| language))
}

/// The outline of a text, and how it was come by.
pub(crate) struct Reading {
    pub(crate) outline: Outline,
    /// By patterns: first lines only.
    pub(crate) approximate: bool,
    /// The grammar could not make sense of all of it.
    pub(crate) has_errors: bool,
}

/// Reads the outline of `text`; `None` where the language says nothing or it takes too long.
pub(crate) fn outline(
    text: &str,
    language: &'static Language,
    is_over: &dyn Fn() -> bool,
) -> Option<Reading> {
    let deadline = Instant::now() + PATIENCE;
    match parse(text, language, &|| is_over() || Instant::now() > deadline) {
        Ok(source) => {
            Some(Reading { outline: source.outline(), approximate: false, has_errors: source.has_errors() })
        }
        Err(Unparsed::NoGrammar) => {
            let outline = outline_by_patterns(text, language)?;
            Some(Reading { outline, approximate: true, has_errors: false })
        }
        Err(Unparsed::TooLong | Unparsed::Stopped) => None,
    }
}

/// How the lines of a text are counted.
pub(crate) fn kind(path: &str, text: &str, language: Option<&'static Language>) -> Option<Kind> {
    language.map_or_else(|| Kind::of_file(path, text), Kind::of_language)
}
