//! A call as a region of a response template.
//!
//! A region of `transformers` ends where its closing pattern is found first, also inside a string of the arguments. So the
//! patterns here read the arguments as a whole: a call opens only where its arguments and what closes them follow, and the
//! closing pattern begins with the arguments, which `\K` leaves to the region.

use del_dialects::Dialect;
use del_dialects::description::{Codec, Frame, Literal, Loose, Mark, Need, Piece, Slot};
use serde_json::{Value, json};

use super::inexpressible::{Inexpressible, because};
use super::regex::{either, head, literal, mark, may_be_missing, maybe, passed_over};
use super::{channels, fields};

/// A region for calls.
pub(super) struct Call {
    /// Opens it.
    pub(super) open: String,
    /// Closes it.
    pub(super) close: String,
    /// How a call begins, for those that end there.
    pub(super) begin: String,
    /// What may stand behind a group of calls.
    pub(super) behind: Vec<String>,
    /// How the arguments are read.
    pub(super) content: &'static str,
    pub(super) arguments: Value,
    /// The region holds a list of calls.
    pub(super) list: bool,
    /// What comes out.
    pub(super) transform: Value,
}

/// The parts of the dialect that the patterns are made of.
struct Form<'d> {
    dialect: &'d Dialect,
    before: &'d [Piece],
    behind: &'d [Piece],
    list: bool,
    /// The marks around a group are around each call.
    wrapped: bool,
    /// A call has a mark of its own before its arguments.
    marked: bool,
}

pub(super) fn of(dialect: &Dialect) -> Result<Call, Inexpressible> {
    let form = Form::of(dialect)?;
    let (content, arguments) = form.content()?;
    let ends = match dialect.frame() {
        Frame::Channels(channels) => channels.ends.as_slice(),
        _ => dialect.ends(),
    };
    let ends = either(ends.iter().map(|mark| mark.trim()));
    let (closer, ahead) = (form.closer(&ends, false), form.closer(&ends, true));
    let opener = form.opener();
    // Of the groups, those of the opener come first; one of a name is one, however often it stands there.
    let named = ["(?P<name>", "(?P<id>"].iter().filter(|group| opener.contains(*group)).count();
    let ahead = format!("{}{ahead}", form.body(&ahead, named + 1));
    let close = match dialect.codec() {
        Codec::Raw { .. } => closer.clone(),
        _ => format!(r"(?:{}\K)?{closer}", form.body(&closer, 1)),
    };
    let transform = form.transform(&opener)?;
    let behind = if form.list || form.wrapped { Vec::new() } else { form.group_closers() };
    Ok(Call {
        open: tidy(&format!("{opener}(?={ahead})")),
        close: tidy(&close),
        begin: tidy(&form.begin()),
        behind,
        content,
        arguments,
        list: form.list,
        transform,
    })
}

/// Free white space once.
fn tidy(pattern: &str) -> String {
    let mut pattern = pattern.to_owned();
    while pattern.contains(r"\s*\s*") {
        pattern = pattern.replace(r"\s*\s*", r"\s*");
    }
    pattern
}

impl<'d> Form<'d> {
    fn of(dialect: &'d Dialect) -> Result<Self, Inexpressible> {
        let place = dialect.call().iter().position(|piece| matches!(piece, Piece::Args(_)));
        let Some(place) = place else { return because("a call has no arguments") };
        let (before, behind) = (&dialect.call()[..place], &dialect.call()[place + 1..]);
        let bracket = dialect.block().open.iter().rfind(|mark| mark.need != Need::Noise);
        let heads = before.iter().all(|piece| matches!(piece, Piece::Head(_)));
        let list = heads && bracket.is_some_and(|mark| mark.write.trim() == "[");
        let must: Vec<&Mark> = dialect.block().open.iter().filter(|mark| mark.need == Need::Must).collect();
        let wrapped =
            !must.is_empty() && must.iter().all(|mark| dialect.between().contains(mark.write.trim()));
        let marks = |piece: &&Piece| matches!(piece, Piece::Mark(mark, _) if mark.need == Need::Must);
        let first = before.iter().find(marks);
        if let (Some(Piece::Mark(mark, _)), Some(Piece::Head(_))) = (first, before.get(1))
            && mark.write.trim().chars().count() <= 2
        {
            return because("only the name of a declared tool tells a call from text");
        }
        Ok(Self { dialect, before, behind, list, wrapped, marked: first.is_some() })
    }

    /// How the arguments are read, with what settings.
    fn content(&self) -> Result<(&'static str, Value), Inexpressible> {
        Ok(match self.dialect.codec() {
            Codec::Object(Literal::Json) => ("json", json!({})),
            Codec::Object(Literal::Loose(loose)) if loose.open == b'{' => ("json", Self::loose(loose)),
            Codec::Object(Literal::Loose(_)) if self.list => ("python-call-list", json!({})),
            Codec::Object(Literal::Loose(_)) => {
                return because("calls of functions are only read inside brackets");
            }
            Codec::Call(form) if form.python => return because("a call is a literal of Python"),
            Codec::Call(form) if form.name.is_none() => return because("the tool's name is a key"),
            Codec::Call(_) => ("json", json!({})),
            Codec::Fields(form) => ("xml-inline", fields::arguments(form)?),
            Codec::Lines(_) => return because("a value may have several lines"),
            Codec::Raw { .. } => ("text", json!({ "strip": false })),
        })
    }

    fn loose(loose: &Loose) -> Value {
        let delimiters: Vec<[&str; 2]> =
            loose.quotes.iter().filter(|quote| quote.len() > 1).map(|quote| [quote.as_str(); 2]).collect();
        json!({ "unquoted_keys": true, "string_delims": delimiters })
    }

    /// The arguments as a whole. `group` is the number of the first group in it.
    fn body(&self, closer: &str, group: usize) -> String {
        const TEXT: &str = r#""(?:[^"\\]|\\.)*+""#;
        const SINGLE: &str = r"'(?:[^'\\]|\\.)*+'";
        match self.dialect.codec() {
            Codec::Object(Literal::Loose(loose)) if loose.open == b'{' => {
                let own: Vec<String> =
                    loose.quotes.iter().filter(|quote| quote.len() > 1).map(|quote| literal(quote)).collect();
                let texts: Vec<String> =
                    own.iter().map(|quote| format!("{quote}(?:(?!{quote}).)*+{quote}|")).collect();
                let none: Vec<String> = own.iter().map(|quote| format!("(?!{quote})")).collect();
                let (texts, none) = (texts.concat(), none.concat());
                format!(r#"(\{{(?:{texts}{TEXT}|{none}[^{{}}"]|(?{group}))*+\}})"#)
            }
            Codec::Object(Literal::Loose(_)) => {
                format!(r#"(\[(?:[^\[\]"']++|{TEXT}|{SINGLE}|(?{group}))*+\])"#)
            }
            Codec::Object(_) => format!(r#"(\{{(?:[^{{}}"]++|{TEXT}|(?{group}))*+\}})"#),
            Codec::Call(_) if self.list => {
                format!(r#"(?=\[\s*[{{\]])(\[(?:[^\[\]"]++|{TEXT}|(?{group}))*+\])"#)
            }
            Codec::Call(_) => format!(r#"(\{{(?:[^{{}}"]++|{TEXT}|(?{group}))*+\}})"#),
            Codec::Fields(form) | Codec::Lines(form) => fields::body(form, closer, group),
            Codec::Raw { .. } => ".*?".to_owned(),
        }
    }

    /// What opens a call, up to its arguments.
    fn opener(&self) -> String {
        let mut marks = String::new();
        for one in self.dialect.block().open.iter().filter(|one| !is_bracket(one)) {
            let optional = may_be_missing(one) || (self.marked && !self.wrapped);
            marks += &if optional { maybe(one) } else { mark(one) };
        }
        for piece in self.before {
            let one = match piece {
                Piece::Mark(one, None) if may_be_missing(one) => maybe(one),
                Piece::Mark(one, Some(form)) if may_be_missing(one) => {
                    format!("(?:{}{})?", mark(one), passed_over(form))
                }
                Piece::Mark(one, None) => mark(one),
                Piece::Mark(one, Some(form)) => mark(one) + &head(form),
                // The parser of the list reads it.
                Piece::Head(_) if self.list => String::new(),
                Piece::Head(form) => head(form),
                Piece::Args(_) => String::new(),
            };
            marks.push_str(&one);
        }
        let marks = tidy(&marks);
        let marks = marks.trim_start_matches(r"\s*");
        let last = self.last();
        let leads = self.dialect.leads().iter().map(String::as_str).chain([self.dialect.lead()]);
        let leads = either(leads);
        let leads = if leads.is_empty() { leads } else { format!("(?:{leads})?") };
        if let Frame::Channels(channels) = self.dialect.frame() {
            return channels::start(channels) + marks;
        }
        if self.marked || self.wrapped {
            return format!(r"(?:(?<={last})\s*|{leads}){marks}");
        }
        // Where no mark has to be there, a line begins, and the call looks like one.
        let must = self.dialect.block().open.iter().any(|one| one.need == Need::Must && !is_bracket(one));
        if self.list && must {
            return format!("{leads}{marks}");
        }
        let line = if must { "" } else { r"(?:\A|(?<=\n))\s*" };
        let start = self.start();
        if self.list {
            // A mark that may be missing tells by itself, wherever it stands.
            let mut written =
                self.dialect.block().open.iter().filter(|one| one.need != Need::Noise && !is_bracket(one));
            let alone = match (written.next(), written.next()) {
                (Some(one), None) => format!("{}|", mark(one).trim_start_matches(r"\s*")),
                _ => String::new(),
            };
            return format!("{leads}(?:{alone}{line}{marks})(?={start})");
        }
        let again = literal(self.dialect.between().trim());
        format!(r"(?:(?<=\}})\s*{again}\s*|{leads}{line}{marks})(?={start})")
    }

    /// The last of a call, as text behind which another may come.
    fn last(&self) -> String {
        let mut all: Vec<&str> = Vec::new();
        let own = self.behind.iter().filter_map(|piece| match piece {
            Piece::Mark(mark, _) => Some(mark),
            _ => None,
        });
        for mark in own.chain(&self.dialect.block().close) {
            all.extend(mark.read.iter().map(String::as_str));
        }
        all.extend(["}", "]"]);
        either(all)
    }

    /// What closes a call. Marks that may be missing are, where another call or the end of the turn follows, and `at_end`
    /// says that the end of the text is one: a region that is open there is closed anyway.
    fn closer(&self, ends: &str, at_end: bool) -> String {
        let own = self.behind.iter().filter_map(|piece| match piece {
            Piece::Mark(mark, _) => Some(mark),
            _ => None,
        });
        let group = self.dialect.block().close.iter().filter(|mark| !is_bracket(mark));
        let grouped = self.marked && !self.wrapped && !matches!(self.dialect.frame(), Frame::Channels(_));
        let all: Vec<&Mark> = if grouped { own.collect() } else { own.chain(group).collect() };
        let last = all.iter().rposition(|mark| mark.need != Need::Noise);
        let whole = !matches!(self.dialect.codec(), Codec::Fields(_) | Codec::Raw { .. });
        if last.is_none() && whole {
            return String::new();
        }
        let (mut sequence, mut partly) = (String::new(), String::new());
        for (place, one) in all.iter().enumerate() {
            let closing = mark(one) + &self.repeated(one);
            let optional = format!("(?:{closing})?");
            let missing = may_be_missing(one) && Some(place) != last;
            sequence.push_str(if missing { &optional } else { &closing });
            partly.push_str(&optional);
        }
        let sequence = tidy(&sequence);
        let sequence = sequence.trim_end_matches(r"\s*");
        if all.iter().any(|mark| mark.need == Need::Must) {
            return sequence.to_owned();
        }
        let mut next = vec![self.begin()];
        next.extend((!ends.is_empty()).then(|| ends.to_owned()));
        next.extend(at_end.then(|| r"\Z".to_owned()));
        let missing = format!(r"{partly}(?=\s*(?:{}))", next.join("|"));
        if sequence.is_empty() { missing } else { format!("(?:{sequence}|{missing})") }
    }

    /// The name once more, behind a mark.
    fn repeated(&self, one: &Mark) -> String {
        self.behind
            .iter()
            .find_map(|piece| match piece {
                Piece::Mark(mark, Some(form)) if mark == one => Some(passed_over(form)),
                _ => None,
            })
            .unwrap_or_default()
    }

    fn group_closers(&self) -> Vec<String> {
        self.dialect.block().close.iter().flat_map(|mark| mark.read.iter().cloned()).collect()
    }

    /// How a call begins.
    fn begin(&self) -> String {
        let mut marks: Vec<&str> = Vec::new();
        let own = self.before.iter().filter_map(|piece| match piece {
            Piece::Mark(mark, _) => Some(mark),
            _ => None,
        });
        for mark in self.dialect.block().open.iter().chain(own) {
            if !is_bracket(mark) && mark.need != Need::Noise {
                marks.extend(mark.read.iter().map(String::as_str));
            }
            if mark.need == Need::Must {
                break;
            }
        }
        let marks = either(marks);
        if self.marked || self.wrapped || self.list && !marks.is_empty() {
            return marks;
        }
        // What follows another call without a mark.
        let again = format!(r"(?:{}\s*)?{}", literal(self.dialect.between().trim()), self.start());
        if marks.is_empty() { again } else { format!("(?:{marks}|{again})") }
    }

    /// How the arguments of a call without marks begin.
    fn start(&self) -> String {
        let call = match self.dialect.codec() {
            Codec::Call(form) => {
                let key = form.parts.first().and_then(|part| match part {
                    Slot::Text(text) => text.split('"').nth(1),
                    _ => None,
                });
                format!(r#"\{{\s*"{}"\s*:"#, literal(key.unwrap_or_default()))
            }
            _ => r"[\w.-]+\(".to_owned(),
        };
        if self.list { format!(r"\[\s*{call}") } else { call }
    }

    /// What comes out of a region.
    fn transform(&self, opener: &str) -> Result<Value, Inexpressible> {
        let word = |key: &str| key.chars().all(|c| c.is_alphanumeric() || c == '_');
        let at =
            |inner: &str| if self.list { format!("{{{inner}}}") } else { format!("{{content.{inner}}}") };
        let (name, arguments) = match self.dialect.codec() {
            // A call without an id would be an error where the template asks for one.
            Codec::Call(form) => {
                let name = form.name.clone().unwrap_or_default();
                let path: Vec<&str> = form.around.iter().chain([&form.args]).map(String::as_str).collect();
                if !path.iter().all(|key| word(key)) || !word(&name) {
                    return because("the keys of a call are no words");
                }
                (at(&name), json!(at(&path.join("."))))
            }
            Codec::Object(_) if self.list => ("{name}".to_owned(), json!("{arguments}")),
            Codec::Raw { key, .. } => (self.named(opener)?, json!({ key.as_str(): "{content}" })),
            _ => (self.named(opener)?, json!("{content}")),
        };
        let mut made = json!({ "type": "function", "function": { "name": name, "arguments": arguments } });
        if opener.contains("(?P<id>") {
            made["id"] = json!("{id}");
        }
        Ok(made)
    }

    /// The tool's name: what the opener holds, or the only tool's.
    fn named(&self, opener: &str) -> Result<String, Inexpressible> {
        match self.dialect.tool() {
            _ if opener.contains("(?P<name>") => Ok("{name}".to_owned()),
            Some(tool) => Ok(tool.to_owned()),
            None => because("the tool's name stands nowhere before the arguments"),
        }
    }
}

/// A bracket around a list, which the parser of the list reads.
fn is_bracket(mark: &Mark) -> bool {
    matches!(mark.write.trim(), "[" | "]")
}
