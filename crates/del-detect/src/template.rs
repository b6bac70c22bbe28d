//! Chat templates, run as the library that they are written for runs them.

mod go;
mod python;
#[cfg(test)]
mod written;

use std::borrow::Cow;
use std::io;

use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Kwargs, ValueKind};
use minijinja::{Environment, Error, ErrorKind, UndefinedBehavior, Value};
use serde_json::Value as Json;
use thiserror::Error;

/// A chat template that compiles.
#[derive(Debug)]
pub(crate) struct Template {
    program: Program,
    /// It went too far once, so it is not tried again.
    over: Option<RenderError>,
}

#[derive(Debug)]
enum Program {
    Jinja(Box<Environment<'static>>),
    Go(go::Program),
}

/// Why a template gave no text.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum RenderError {
    /// The template is no Jinja.
    #[error("the template cannot be read: {0}")]
    Syntax(String),
    /// The template refused what it was given, in its own words.
    #[error("{0}")]
    Refused(String),
    /// It failed on what it was given.
    #[error("{0}")]
    Failed(String),
    /// It goes on without an end, or writes without one.
    #[error("the template does not come to an end: expected at most {STEPS} steps")]
    Endless,
    /// It asks for more than any template needs.
    #[error("expected {expected}, got {got}")]
    Excess {
        /// What is enough for a template.
        expected: &'static str,
        /// What it asks for.
        got: String,
    },
    /// It calls itself too often. Some templates do where they are given a text in the place of an object.
    #[error("expected macros, loops and JSON in a template that go a hundred levels deep at most, got more")]
    Recursion,
    /// It fails whatever it is given.
    #[error("expected a template that can be run on a plain conversation, got one that fails: {0}")]
    Broken(String),
    /// It is longer than any template.
    #[error("expected a template of at most {MAX_TEMPLATE} bytes, got {0}")]
    Long(usize),
}

impl RenderError {
    /// True where nothing else is worth trying: the template means no good.
    pub(crate) fn is_fatal(&self) -> bool {
        matches!(self, Self::Endless | Self::Excess { .. })
    }
}

/// Steps of one rendering. A long template takes some thousands for a conversation.
const STEPS: u64 = 300_000;
/// Bytes of one rendering.
const MAX_TEXT: usize = 4 << 20;
/// Bytes of a template.
const MAX_TEMPLATE: usize = 1 << 20;
const NAME: &str = "chat";
/// Makes a list that can grow.
const GROWING: &str = "__list";
/// Marks what a template says with `raise_exception` among all other errors.
const REFUSED: char = '\u{1}';

impl Template {
    /// Compiles a template.
    pub(crate) fn new(source: &str) -> Result<Self, RenderError> {
        if source.len() > MAX_TEMPLATE {
            return Err(RenderError::Long(source.len()));
        }
        let mut environment = Environment::new();
        let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build();
        environment.set_syntax(syntax.map_err(|error| told(&error))?);
        environment.set_undefined_behavior(UndefinedBehavior::Lenient);
        environment.set_auto_escape_callback(|_| minijinja::AutoEscape::None);
        environment.set_unknown_method_callback(minijinja_contrib::pycompat::unknown_method_callback);
        environment.set_formatter(|out, _, value| out.write_str(&python::text(value)?).map_err(Error::from));
        environment.add_filter("tojson", |value: Value, options: Kwargs| python::tojson(&value, &options));
        environment.add_filter("string", |value: Value| python::text(&value));
        for name in ["e", "escape", "forceescape"] {
            environment.add_filter(name, |value: Value| python::escaped(&value));
        }
        environment.add_test("iterable", |value: Value| {
            matches!(
                value.kind(),
                ValueKind::Seq
                    | ValueKind::Map
                    | ValueKind::Iterable
                    | ValueKind::String
                    | ValueKind::Undefined
            )
        });
        environment.add_filter("from_json", |text: &str| python::from_json(text));
        environment.add_filter("fromjson", |text: &str| python::from_json(text));
        environment.add_function(GROWING, || Value::from_object(python::Growing::default()));
        environment.add_function("raise_exception", |message: String| -> Result<Value, Error> {
            Err(Error::new(ErrorKind::InvalidOperation, format!("{REFUSED}{message}{REFUSED}")))
        });
        environment.add_function("strftime_now", |format: String| date(&format));
        let source = with_growing_lists(&without_generation_tags(source)).into_owned();
        environment
            .add_template_owned(NAME, source)
            .map_err(|error| RenderError::Syntax(one_line(&error.to_string())))?;
        environment.set_fuel(Some(STEPS));
        Ok(Self { program: Program::Jinja(Box::new(environment)), over: None })
    }

    /// Parses a template in Go.
    pub(crate) fn go(source: &str) -> Result<Self, RenderError> {
        if source.len() > MAX_TEMPLATE {
            return Err(RenderError::Long(source.len()));
        }
        Ok(Self { program: Program::Go(go::Program::new(source)?), over: None })
    }

    /// The text for a context, which is an object.
    pub(crate) fn render(&mut self, context: &Json) -> Result<String, RenderError> {
        if let Some(error) = &self.over {
            return Err(error.clone());
        }
        let text = self.text(context);
        self.over = text.as_ref().err().filter(|error| error.is_fatal()).cloned();
        text
    }

    fn text(&self, context: &Json) -> Result<String, RenderError> {
        let environment = match &self.program {
            Program::Jinja(environment) => environment,
            Program::Go(program) => return program.render(context),
        };
        let mut text = Bounded(Vec::new());
        let template = environment.get_template(NAME).map_err(|error| told(&error))?;
        let result = template.render_captured_to(python::value(context), &mut text);
        if let Err(error) = result {
            let endless = error.kind() == ErrorKind::OutOfFuel || text.0.len() >= MAX_TEXT;
            return Err(if endless { RenderError::Endless } else { told(&error) });
        }
        Ok(String::from_utf8_lossy(&text.0).into_owned())
    }
}

/// Takes text up to a limit.
struct Bounded(Vec<u8>);

impl io::Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let room = MAX_TEXT.saturating_sub(self.0.len()).min(bytes.len());
        self.0.extend_from_slice(&bytes[..room]);
        if room == 0 && !bytes.is_empty() { Err(io::ErrorKind::FileTooLarge.into()) } else { Ok(room) }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What went wrong, without where in the template.
fn told(error: &Error) -> RenderError {
    let mut cause: Option<&dyn std::error::Error> = Some(error);
    while let Some(at) = cause {
        let text = at.to_string();
        if let Some(message) = text.split(REFUSED).nth(1) {
            return RenderError::Refused(one_line(message));
        }
        if text.contains("recursion limit") {
            return RenderError::Recursion;
        }
        if let Some(expected) = EXCESSES.iter().find(|(sign, _)| text.contains(sign)).map(|(_, what)| *what) {
            let text = text.split(" (in ").next().unwrap_or_default();
            let got = one_line(text.strip_prefix("invalid operation: ").unwrap_or(text));
            return RenderError::Excess { expected, got };
        }
        cause = at.source();
    }
    RenderError::Failed(one_line(&error.to_string()))
}

/// What errors say of templates that ask for too much, and what would have been enough.
const EXCESSES: [(&str, &str); 7] = [
    ("too many elements", "ranges of at most 100000 numbers in a template"),
    ("too large", "texts and lists of a few megabytes in a template"),
    (python::TOO_DEEP, "values of at most 100 levels in a template"),
    (python::TOO_LONG, "texts of a few megabytes in a template"),
    ("more than once", "a template that stands alone"),
    ("could not render include", "a template that stands alone"),
    ("template not found", "a template that stands alone"),
];

fn one_line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ").chars().take(MAX_MESSAGE).collect()
}

const MAX_MESSAGE: usize = 200;

/// The year of [`date`]: words that hold it are not those of another day.
pub(crate) const YEAR: &str = "2025";

/// A date in the format of `strftime`: always the same one, for what a template is does not depend on the day.
fn date(format: &str) -> String {
    let mut out = String::new();
    let mut chars = format.chars();
    while let Some(c) = chars.next() {
        if c != '%' {
            out.push(c);
            continue;
        }
        let letter = chars.next().filter(|c| *c != '-').or_else(|| chars.next());
        out.push_str(match letter {
            Some('Y') => YEAR,
            Some('y') => "25",
            Some('m') => "01",
            Some('d' | 'e') => "15",
            Some('B') => "January",
            Some('b' | 'h') => "Jan",
            Some('A') => "Wednesday",
            Some('a') => "Wed",
            Some('H' | 'I') => "12",
            Some('M' | 'S') => "00",
            Some('p') => "PM",
            Some('j') => "015",
            Some('F') => "2025-01-15",
            Some('T' | 'X') => "12:00:00",
            Some('Z') => "UTC",
            Some('z') => "+0000",
            Some('%') => "%",
            _ => "",
        });
    }
    out
}

/// Templates mark what the model itself says by `{% generation %}`; it changes nothing in the text.
fn without_generation_tags(source: &str) -> Cow<'_, str> {
    if !source.contains("generation") {
        return Cow::Borrowed(source);
    }
    let mut out = String::with_capacity(source.len());
    let mut rest = source;
    while let Some(at) = rest.find("{%") {
        let Some(len) = rest[at..].find("%}") else { break };
        let tag = &rest[at + 2..at + len];
        let word = tag.trim_matches(['-', '+']).trim();
        out.push_str(&rest[..at + 2]);
        match word {
            "generation" => out.push_str(&tag.replacen(word, " if true ", 1)),
            "endgeneration" => out.push_str(&tag.replacen(word, " endif ", 1)),
            _ => out.push_str(tag),
        }
        out.push_str("%}");
        rest = &rest[at + len + 2..];
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// Lists do not grow here, but in some templates: there, an empty one is made by a function.
fn with_growing_lists(source: &str) -> Cow<'_, str> {
    if !source.contains(".append(") && !source.contains(".extend(") {
        return Cow::Borrowed(source);
    }
    let mut out = String::with_capacity(source.len());
    let mut chars = source.char_indices().peekable();
    let (mut inside, mut quote) = (false, None);
    while let Some((at, c)) = chars.next() {
        let rest = &source[at..];
        match (inside, quote, c) {
            (false, ..) => inside = rest.starts_with("{%") || rest.starts_with("{{"),
            (true, Some(open), _) => {
                if c == '\\' {
                    out.push(c);
                    out.extend(chars.next().map(|(_, escaped)| escaped));
                    continue;
                }
                if c == open {
                    quote = None;
                }
            }
            (true, None, '\'' | '"') => quote = Some(c),
            (true, None, '%' | '}') if rest.starts_with("%}") || rest.starts_with("}}") => inside = false,
            (true, None, '[') if rest.starts_with("[]") => {
                chars.next();
                out.push_str(GROWING);
                out.push_str("()");
                continue;
            }
            _ => {}
        }
        out.push(c);
    }
    Cow::Owned(out)
}
