//! The codecs that read the arguments of a call, and what comes of reading on.

use crate::codec::ArgsProgress;
use crate::codec::call::{CallProgress, CallReader, Callee, Whole, arguments_of_text, unwrapped};
use crate::codec::fields::{self, FieldMarks, FieldsReader};
use crate::codec::literals::LiteralsReader;
use crate::codec::misplaced::misplaced;
use crate::cursor::{Cursor, Emit};
use crate::dialect::{CallForm, Codec, FieldForm, Literal};
use crate::event::End;
use crate::fault::FaultKind;
use crate::parse::plan::{Plan, Walk};
use crate::tool::{Tool, declared, has_required, meant, parameter_of_text, takes_nothing, takes_some};
use crate::value::{self, Progress, Reader, Syntax, white_space};

#[derive(Debug, Clone)]
pub(super) enum Kind {
    Object(Box<Reader>),
    /// The object inside a JSON string, read whole.
    Text(Box<Reader>, String),
    /// A text for a tool without parameters: read whole.
    Unused(Box<FieldsReader>, String),
    /// An object whose call has an id and no name: read whole, as only its keys tell the tool.
    Unnamed {
        values: Box<Reader>,
        object: String,
        name: String,
    },
    Call(Box<CallReader>),
    Literals(Box<LiteralsReader>),
    Fields(Box<FieldsReader>),
    Whole(Whole),
}

/// What came of reading on.
pub(super) enum Outcome {
    More,
    /// The arguments turned out to be written in another way: read on.
    Again,
    /// The call object says its name, or the first argument is there: the call can begin.
    Begins,
    /// The arguments are whole; the call's own closers from this step on may follow.
    Done {
        step: usize,
        fault: Option<FaultKind>,
    },
    /// A whole object that names no tool.
    Nameless,
    Broken(FaultKind),
}

/// A place in the text at hand, what is known of its call, and where the arguments go.
pub(super) struct On<'a, 'e, 't> {
    pub(super) plan: &'a Plan,
    pub(super) walk: &'a Walk,
    pub(super) tools: &'a [Tool],
    /// The tool that is called, if it is declared.
    pub(super) tool: Option<&'a Tool>,
    /// It is not sure yet that this is a call.
    pub(super) pending: bool,
    /// The call stands in a block of calls.
    pub(super) in_block: bool,
    /// The opener of its block is missing.
    pub(super) unopened: bool,
    pub(super) max_depth: usize,
    pub(super) at: &'e mut Cursor<'t>,
    pub(super) emit: Emit<'e>,
}

impl<'a> On<'a, '_, '_> {
    /// The arguments are whole, and nothing of the call behind them was read.
    fn done(&self) -> Outcome {
        Outcome::Done { step: self.walk.args + 1, fault: None }
    }

    /// What comes of arguments that were read as far.
    fn outcome(&self, progress: ArgsProgress) -> Outcome {
        match progress {
            ArgsProgress::More | ArgsProgress::Ended => Outcome::More,
            ArgsProgress::Begun => Outcome::Begins,
            ArgsProgress::Done(Some(step)) => Outcome::Done { step: step + 1, fault: None },
            ArgsProgress::Done(None) => self.done(),
            ArgsProgress::Broken => Outcome::Broken(FaultKind::BadArguments),
            ArgsProgress::TooDeep => Outcome::Broken(FaultKind::Limit),
        }
    }

    /// What a reader of values is given.
    fn given(&self, syntax: &'a Syntax) -> value::Given<'a> {
        value::Given { syntax, marks: &self.walk.expected().values, tool: self.tool }
    }

    fn skip_white_space(&mut self) {
        self.at.look += white_space(&self.at.bytes[self.at.look..]);
        self.at.kept = self.at.look;
    }
}

/// So much of a text that stands in place of the arguments is looked at, in bytes.
const MEMBERS: usize = 64;

/// True for a text that begins as arguments do in some other form: with a member but for the brace before it, the name of an
/// argument, a tag with that name, a list of objects, or the call once more; and for a word that says that there are none.
fn names_arguments(text: &str, tool: Option<&Tool>) -> bool {
    let Some(tool) = tool else { return false };
    let most = (0..=text.len().min(MEMBERS)).rev().find(|most| text.is_char_boundary(*most)).unwrap_or(0);
    let line = text[..most].split('\n').next().unwrap_or_default();
    if is_no_text(line) {
        return true;
    }
    let named = |key: &str| declared(tool).any(|name| name == key);
    let other = |c: char| !(c.is_alphanumeric() || c == '_');
    let mut members =
        line.match_indices("\":").filter_map(|(at, _)| line[..at].rsplit(['"', '{', ' ', ':']).next());
    let word = line.trim_start_matches("- ").trim_start_matches(['{', '"', '\'']);
    let (key, behind) = word.split_at(word.find(other).unwrap_or(word.len()));
    let behind = behind.trim_start_matches(['"', '\'', ' ']);
    let tag = line.strip_prefix('<').and_then(|line| line.split('>').next()).unwrap_or_default();
    members.any(named)
        || (named(key) && behind.starts_with([':', '=']))
        || (key == tool.name && behind.starts_with(['(', '{']))
        || tag.split(other).any(named)
        || line.starts_with("[{")
}

/// True for a text that says that there is none.
fn is_no_text(text: &str) -> bool {
    matches!(text.trim(), "" | "None" | "none" | "null" | "N/A" | "n/a" | "[]" | "()" | "\"\"" | "''")
}

impl Kind {
    /// True when a value has begun, as far as that is known.
    pub(super) fn has_begun(&self) -> bool {
        if let Self::Fields(reader) = self { reader.has_begun() } else { true }
    }

    /// The JSON of `text` where it is a part of a value that goes out as it comes, and nothing in it could be more.
    pub(super) fn plain<'t>(&'t mut self, walk: &Walk, text: &'t str) -> Option<&'t str> {
        let marks = &walk.expected().values;
        let passes = match self {
            Self::Object(values) => values.passes(marks, text),
            Self::Call(reader) => reader.passes(marks, text),
            Self::Literals(reader) => reader.passes(marks, text),
            Self::Fields(reader) => return reader.plain(walk.marks()?, text),
            Self::Text(..) | Self::Unused(..) | Self::Unnamed { .. } | Self::Whole(_) => false,
        };
        passes.then_some(text)
    }

    /// Lets the codec read what is there.
    pub(super) fn read(&mut self, on: &mut On<'_, '_, '_>) -> Outcome {
        match (&mut *self, on.walk.dialect.codec()) {
            (Self::Object(values), codec) if values.is_fresh() => {
                on.skip_white_space();
                let text = on.walk.dialect.takes_text && matches!(codec, Codec::Object(Literal::Json));
                *self = match on.at.bytes.get(on.at.look) {
                    Some(b'"') => Self::Text(Box::new(Reader::new(on.max_depth)), String::new()),
                    Some(byte) if text && *byte != b'{' => match parameter_of_text(on.tool) {
                        _ if on.at.bytes.len() - on.at.look < MEMBERS && !on.at.last() => {
                            return Outcome::More;
                        }
                        _ if !takes_some(on.tool) => {
                            Self::Unused(Box::new(FieldsReader::raw("", on.max_depth)), String::new())
                        }
                        Some(key) if names_arguments(on.at.rest(), on.tool) => {
                            on.at.note(FaultKind::GuessedValue, on.at.look);
                            Self::Fields(Box::new(FieldsReader::raw(key, on.max_depth)))
                        }
                        Some(key) => Self::Fields(Box::new(FieldsReader::raw(key, on.max_depth))),
                        None => return Outcome::Broken(FaultKind::BadArguments),
                    },
                    _ => return object(values, on),
                };
                Outcome::Again
            }
            (Self::Whole(whole), ..) => emit_whole(whole, on),
            (Self::Object(values), ..) => object(values, on),
            (Self::Text(values, token), ..) => object_in_text(values, token, on),
            (Self::Unnamed { values, object, name }, ..) => unnamed(values, object, name, on),
            (Self::Unused(reader, text), ..) => unused(reader, text, on),
            (Self::Call(reader), Codec::Call(form)) => call(reader, form, on),
            (Self::Literals(reader), ..) => literals(reader, on),
            (Self::Fields(reader), codec) => {
                let Some(marks) = on.walk.marks() else { return Outcome::Broken(FaultKind::BadArguments) };
                if reader.is_fresh() {
                    on.skip_white_space();
                    if on.at.bytes.get(on.at.look) == Some(&b'{') {
                        if on.pending {
                            return Outcome::Begins;
                        }
                        *self = Self::Object(Box::new(Reader::new(on.max_depth)));
                        return Outcome::Again;
                    }
                }
                match codec {
                    Codec::Fields(form) | Codec::Lines(form) => fields(reader, marks, form, on),
                    _ => fields(reader, marks, &FieldForm::raw(), on),
                }
            }
            _ => Outcome::Broken(FaultKind::BadArguments),
        }
    }
}

fn emit_whole(whole: &Whole, on: &mut On<'_, '_, '_>) -> Outcome {
    let (from, (args, rest)) = (on.at.look, whole.behind());
    if let Some(place) = misplaced(on.tool, &on.at.text[from..from + args]) {
        on.at.note(FaultKind::GuessedValue, from + place);
    }
    (on.emit)(&on.at.text[from..from + args], from..from + args);
    on.at.look = from + rest;
    on.at.kept = on.at.look;
    on.done()
}

fn object(values: &mut Reader, on: &mut On<'_, '_, '_>) -> Outcome {
    if values.is_fresh() {
        let rest = &on.at.text[on.at.look..];
        match rest.as_bytes().first() {
            Some(b'{') => {}
            // The end took the mark that the request stops at, and nothing had to stand before it.
            None if on.at.end == Some(End::End)
                && on.walk.channels().is_some()
                && !on.walk.misses(on.walk.args + 1, on.walk.steps.len())
                && on.tool.is_some_and(takes_nothing) =>
            {
                (on.emit)("{}", on.at.look..on.at.look);
                return on.done();
            }
            None => return Outcome::More,
            Some(_) if on.plan.may_end_here(rest) && on.at.end.is_none() => return Outcome::More,
            Some(_) if on.plan.ends_here(rest) => {
                (on.emit)("{}", on.at.look..on.at.look);
                return on.done();
            }
            Some(_) => return Outcome::Broken(FaultKind::BadArguments),
        }
    }
    let given = on.given(Syntax::json());
    let progress = values.read(given, on.at, on.emit);
    match progress {
        Progress::More => Outcome::More,
        Progress::Done => on.done(),
        Progress::TooDeep => Outcome::Broken(FaultKind::Limit),
        _ => Outcome::Broken(FaultKind::BadArguments),
    }
}

fn object_in_text(values: &mut Reader, token: &mut String, on: &mut On<'_, '_, '_>) -> Outcome {
    let given = on.given(Syntax::json());
    let progress = values.read(given, on.at, &mut |piece, _| token.push_str(piece));
    let object = match progress {
        Progress::More => return Outcome::More,
        Progress::Done if on.walk.dialect.takes_text && !takes_some(on.tool) => {
            on.at.note(FaultKind::Repaired, on.at.look);
            Some("{}".to_owned()).filter(|_| is_no_text(token))
        }
        Progress::Done if on.walk.dialect.takes_text && !token.contains('{') => {
            arguments_of_text(on.tool, token)
        }
        Progress::Done => unwrapped(token, on.at, on.max_depth),
        _ => None,
    };
    let Some(object) = object else { return Outcome::Broken(FaultKind::BadArguments) };
    if misplaced(on.tool, &object).is_some() {
        on.at.note(FaultKind::GuessedValue, on.at.look);
    }
    (on.emit)(&object, on.at.look..on.at.look);
    on.done()
}

fn unused(reader: &mut FieldsReader, text: &mut String, on: &mut On<'_, '_, '_>) -> Outcome {
    let Some(marks) = on.walk.marks() else { return Outcome::Broken(FaultKind::BadArguments) };
    let given = fields::Given { form: &FieldForm::raw(), marks, tool: None, begun: true, others: &[] };
    let from = on.at.look;
    let progress = reader.read(given, on.at, &mut |json, _| text.push_str(json));
    // What was cut off would have gone on.
    let ended = progress == ArgsProgress::Ended && on.at.end == Some(End::End);
    if ended || matches!(progress, ArgsProgress::Done(_)) {
        let said = serde_json::from_str::<serde_json::Value>(&format!("{text}{}", reader.closing()));
        let said = said.ok().and_then(|said| said.get("")?.as_str().map(is_no_text));
        on.at.note(if said == Some(true) { FaultKind::Repaired } else { FaultKind::GuessedValue }, from);
        (on.emit)("{}", on.at.look..on.at.look);
    }
    if ended { on.done() } else { on.outcome(progress) }
}

fn unnamed(values: &mut Reader, object: &mut String, name: &mut String, on: &mut On<'_, '_, '_>) -> Outcome {
    let given = on.given(Syntax::json());
    match values.read(given, on.at, &mut |piece, _| object.push_str(piece)) {
        Progress::More => Outcome::More,
        Progress::Done => match meant(on.tools, object) {
            Some(tool) => {
                name.clone_from(&tool.name);
                on.done()
            }
            None => Outcome::Nameless,
        },
        Progress::TooDeep => Outcome::Broken(FaultKind::Limit),
        _ => Outcome::Broken(FaultKind::BadArguments),
    }
}

fn call(reader: &mut CallReader, form: &CallForm, on: &mut On<'_, '_, '_>) -> Outcome {
    let callee = Callee { tools: on.tools, takes_text: on.walk.dialect.takes_text };
    let given = on.given(&on.walk.syntax);
    let progress = reader.read(form, callee, given, on.at, on.emit);
    match progress {
        CallProgress::More => Outcome::More,
        CallProgress::Named => Outcome::Begins,
        CallProgress::Done if reader.name.is_none() => Outcome::Nameless,
        CallProgress::Done => on.done(),
        // A brace is missing, and something that cannot belong to the call follows.
        CallProgress::Broken if !on.pending && reader.has_args() => {
            // An object behind the arguments may have been meant as some.
            let more = on.at.rest().starts_with('{');
            let fault = if more { FaultKind::GuessedBorder } else { reader.values.missing() };
            Outcome::Done { step: on.walk.args + 1, fault: Some(fault) }
        }
        CallProgress::Broken => Outcome::Broken(FaultKind::BadArguments),
        CallProgress::TooDeep => Outcome::Broken(FaultKind::Limit),
    }
}

fn literals(reader: &mut LiteralsReader, on: &mut On<'_, '_, '_>) -> Outcome {
    let given = on.given(&on.walk.syntax);
    let call = (on.tool, !on.pending);
    let progress = reader.read(given, call, on.at, on.emit);
    on.outcome(progress)
}

fn fields(
    reader: &mut FieldsReader,
    marks: &FieldMarks,
    form: &FieldForm,
    on: &mut On<'_, '_, '_>,
) -> Outcome {
    let others = if on.walk.needs_declared { on.tools } else { &[] };
    let given = fields::Given { form, marks, tool: on.tool, begun: !on.pending, others };
    let progress = reader.read(given, on.at, on.emit);
    // The model ended behind a value: the call is whole if it has all that its tool requires. Where nobody knows what
    // that is, only the outermost closer may be missing; and nothing tells that a line is whole but the closer behind it.
    // Of a text that is all the call nothing else tells.
    let codec = on.walk.dialect.codec();
    let raw = matches!(codec, Codec::Raw { .. });
    let tool = on.tool.filter(|_| !raw);
    let behind = on.walk.args + 1;
    let open = raw && on.walk.misses(behind, on.walk.steps.len()) && !on.walk.may_be_eaten(behind);
    let closed = !open && on.walk.is_whole_without_closer(on.at.end, on.in_block, on.unopened);
    let sure = if matches!(codec, Codec::Lines(_)) { closed } else { on.at.end == Some(End::End) };
    let whole = progress == ArgsProgress::Ended
        && tool.map_or(closed, |tool| sure && has_required(tool, |key| reader.has(key)));
    if whole || matches!(progress, ArgsProgress::Done(_)) {
        (on.emit)(reader.closing(), on.at.kept..on.at.kept);
    }
    if whole { on.done() } else { on.outcome(progress) }
}
