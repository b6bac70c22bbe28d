//! A whole call as one JSON object: name, arguments, perhaps an id, in any order.

mod write;
use std::borrow::Cow;

use super::Notes;
use super::json::{Emit, Json, Literals, Progress, plain, white_space};
use crate::dialect::CallForm;
use crate::fault::FaultKind;
pub(crate) use write::{drop_id, write};

/// Reads one call object. The name is known before any argument text is passed on.
#[derive(Debug)]
pub(crate) struct CallReader {
    state: State,
    json: Json,
    /// Objects that are open around the keys: the call's own, and a wrapper such as `{"function": {…}}`.
    open: usize,
    kind: Kind,
    /// The key or value that is being read, as JSON text.
    token: String,
    pub(crate) name: Option<String>,
    pub(crate) id: Option<String>,
    /// Arguments that came before the name.
    early: String,
    args: Args,
    pub(crate) notes: Notes,
    /// Before the name, only keys of a call are taken: anything else is data.
    strict: bool,
    max_depth: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Start,
    Key { comma: bool },
    KeyText,
    BareKey,
    Colon,
    Value,
    InValue,
    After,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Name,
    Args,
    Id,
    Wrapper,
    /// The key is the name of a tool: an object behind it is its arguments.
    Tool,
    Other,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Args {
    None,
    Open,
    Done,
}

/// How far a call object is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CallProgress {
    More,
    /// The name is known, and the arguments begin at `look`, or were read before: the reader stops here once.
    Named,
    /// The object is closed.
    Done,
    /// At `look` stands something that is no part of a call object.
    Broken,
    TooDeep,
}

impl CallReader {
    pub(crate) fn new(max_depth: usize, strict: bool, literals: Literals) -> Self {
        let mut json = Json::new(max_depth);
        json.expect(literals);
        Self {
            state: State::Start,
            json,
            open: 0,
            kind: Kind::Other,
            token: String::new(),
            name: None,
            id: None,
            early: String::new(),
            args: Args::None,
            notes: Notes::default(),
            strict,
            max_depth,
        }
    }

    /// Ready for another call.
    pub(crate) fn restart(&mut self, strict: bool, literals: Literals) {
        self.state = State::Start;
        self.json.restart();
        self.json.expect(literals);
        (self.open, self.kind, self.args) = (0, Kind::Other, Args::None);
        self.token.clear();
        self.early.clear();
        (self.name, self.id, self.notes, self.strict) = (None, None, Notes::default(), strict);
    }

    /// True once the arguments are whole.
    pub(crate) fn has_args(&self) -> bool {
        self.args == Args::Done
    }

    /// True inside a string of the arguments: plain text in it is passed on as it stands.
    pub(crate) fn is_in_text(&self) -> bool {
        self.state == State::InValue && self.passes_on() && self.json.is_in_text()
    }

    /// True when the value at hand is the arguments and the name is known, so that they go out as they come.
    fn passes_on(&self) -> bool {
        self.kind == Kind::Args && self.name.is_some() && self.token.is_empty() && !self.is_text()
    }

    /// Arguments that came before the name; asking takes them.
    pub(crate) fn take_early(&mut self) -> String {
        std::mem::take(&mut self.early)
    }

    /// Reads on from `*look`. `emit` gets argument text, and only after [`CallProgress::Named`] was returned.
    pub(crate) fn read(
        &mut self,
        form: &CallForm,
        known: &dyn Fn(&str) -> bool,
        text: &str,
        look: &mut usize,
        kept: &mut usize,
        emit: Emit<'_>,
    ) -> CallProgress {
        let bytes = text.as_bytes();
        loop {
            if !matches!(self.state, State::KeyText | State::InValue | State::BareKey) {
                *look += white_space(&bytes[*look..]);
                *kept = *look;
            }
            let Some(&byte) = bytes.get(*look) else { return CallProgress::More };
            match self.state {
                State::Start if byte == b'{' => {
                    self.open += 1;
                    *look += 1;
                    self.state = State::Key { comma: false };
                }
                State::Key { comma } => match byte {
                    b'}' => {
                        if comma {
                            self.notes.add(FaultKind::Repaired, *look);
                        }
                        *look += 1;
                        if self.close() {
                            *kept = *look;
                            return CallProgress::Done;
                        }
                    }
                    b'"' | b'\'' => match plain_string(&text[*look..]) {
                        Some(key) => {
                            *look += key.len() + 2;
                            if !self.keyed(key, form, known) {
                                return CallProgress::Broken;
                            }
                        }
                        None => self.begin(State::KeyText),
                    },
                    b',' if !comma => {
                        self.notes.add(FaultKind::Repaired, *look);
                        *look += 1;
                    }
                    // Some fine-tunes double the outer braces.
                    b'{' if !comma && self.open == 1 && self.name.is_none() => {
                        self.notes.add(FaultKind::Repaired, *look);
                        self.open += 1;
                        *look += 1;
                    }
                    _ if byte.is_ascii_alphabetic() || byte == b'_' => {
                        self.token.clear();
                        self.notes.add(FaultKind::Repaired, *look);
                        self.state = State::BareKey;
                    }
                    _ => return CallProgress::Broken,
                },
                State::KeyText => match self.collect_key(text, look, kept) {
                    Progress::Done => {
                        let token = std::mem::take(&mut self.token);
                        if !self.keyed(&string(&token).unwrap_or_default(), form, known) {
                            return CallProgress::Broken;
                        }
                    }
                    Progress::More => return CallProgress::More,
                    _ => return CallProgress::Broken,
                },
                State::BareKey => {
                    if byte.is_ascii_alphanumeric() || byte == b'_' {
                        self.token.push(char::from(byte));
                        *look += 1;
                    } else {
                        let token = std::mem::take(&mut self.token);
                        if !self.keyed(&token, form, known) {
                            return CallProgress::Broken;
                        }
                    }
                }
                State::Colon if byte == b':' => {
                    *look += 1;
                    self.state = State::Value;
                }
                State::Value if self.kind == Kind::Name && self.name.is_none() && byte == b'"' => {
                    match plain_string(&text[*look..]) {
                        Some(name) => {
                            *look += name.len() + 2;
                            *kept = *look;
                            self.name = Some(name.to_owned()).filter(|name| !name.is_empty());
                            self.state = State::After;
                            if self.args == Args::Done && self.name.is_some() {
                                return CallProgress::Named;
                            }
                        }
                        None => self.begin(State::InValue),
                    }
                }
                State::Value => {
                    if let Some(end) = self.value(byte, look) {
                        *kept = *look;
                        return end;
                    }
                }
                State::InValue => {
                    let progress = if self.passes_on() {
                        self.json.read(text, look, kept, emit)
                    } else {
                        self.collect(text, look, kept)
                    };
                    self.note_mended();
                    match progress {
                        Progress::More => return CallProgress::More,
                        Progress::TooDeep => return CallProgress::TooDeep,
                        Progress::Broken => return CallProgress::Broken,
                        Progress::Done => {
                            self.state = State::After;
                            if let Some(end) = self.valued(emit, *look) {
                                return end;
                            }
                        }
                    }
                }
                State::After => match byte {
                    b',' => {
                        *look += 1;
                        self.state = State::Key { comma: true };
                    }
                    b'"' => {
                        self.notes.add(FaultKind::Repaired, *look);
                        self.state = State::Key { comma: true };
                    }
                    b'}' => {
                        *look += 1;
                        if self.close() {
                            *kept = *look;
                            return CallProgress::Done;
                        }
                    }
                    _ => return CallProgress::Broken,
                },
                State::Start | State::Colon => return CallProgress::Broken,
            }
        }
    }

    /// Closes the innermost object; true when it was the outermost.
    fn close(&mut self) -> bool {
        self.open -= 1;
        self.state = State::After;
        self.open == 0
    }

    fn begin(&mut self, state: State) {
        self.token.clear();
        self.json.restart();
        self.state = state;
    }

    fn collect_key(&mut self, text: &str, look: &mut usize, kept: &mut usize) -> Progress {
        let progress = self.collect(text, look, kept);
        self.note_mended();
        progress
    }

    fn note_mended(&mut self) {
        self.notes.add_all(self.json.take_notes());
    }

    /// Reads a value into `token`.
    fn collect(&mut self, text: &str, look: &mut usize, kept: &mut usize) -> Progress {
        let token = &mut self.token;
        let skip = self.kind == Kind::Other && self.state == State::InValue;
        self.json.read(text, look, kept, &mut |piece, _| {
            if !skip {
                token.push_str(piece);
            }
        })
    }

    /// A key is whole; false when it shows that this is no call.
    fn keyed(&mut self, key: &str, form: &CallForm, known: &dyn Fn(&str) -> bool) -> bool {
        self.kind = kind_of(key, form, self.name.is_some());
        let foreign = self.kind == Kind::Other && key != "type";
        let first = self.name.is_none() && self.args == Args::None;
        if form.name.is_none() && self.open == 1 && self.name.is_none() {
            self.name = Some(key.to_owned()).filter(|name| !name.is_empty());
            self.kind = if self.name.is_some() { Kind::Args } else { Kind::Other };
        } else if form.name.is_none() && self.open == 1 && foreign {
            // Another name, in an object of one call.
            self.kind = Kind::Args;
        } else if foreign && first && !self.strict && known(key) {
            self.kind = Kind::Tool;
            key.clone_into(&mut self.token);
        }
        self.state = State::Colon;
        !(self.strict && foreign && (self.name.is_none() || self.args == Args::None))
    }

    /// The first byte of a value.
    fn value(&mut self, byte: u8, look: &mut usize) -> Option<CallProgress> {
        match (self.kind, byte) {
            (Kind::Wrapper, b'{') => {
                self.open += 1;
                *look += 1;
                self.state = State::Key { comma: false };
                return None;
            }
            (Kind::Tool, b'{') => {
                self.notes.add(FaultKind::Repaired, *look);
                self.name = Some(std::mem::take(&mut self.token));
                self.kind = Kind::Args;
            }
            (Kind::Tool, _) => self.kind = Kind::Other,
            (Kind::Wrapper, _) => self.kind = if self.name.is_none() { Kind::Name } else { Kind::Other },
            (Kind::Name, _) if self.name.is_some() => self.kind = Kind::Other,
            (Kind::Args, _) if self.args != Args::None => {
                self.notes.add(FaultKind::DuplicateKey, *look);
                self.kind = Kind::Other;
            }
            _ => {}
        }
        if self.kind == Kind::Name && !matches!(byte, b'"' | b'\'') {
            return Some(CallProgress::Broken);
        }
        self.begin(State::InValue);
        if self.kind == Kind::Args {
            if !matches!(byte, b'{' | b'"' | b'\'' | b'n' | b'N' | b'[') {
                return Some(CallProgress::Broken);
            }
            self.args = Args::Open;
            if byte != b'{' {
                // Anything but an object is read whole before it is passed on.
                self.token.push(' ');
            }
            if self.name.is_some() {
                return Some(CallProgress::Named);
            }
        }
        None
    }

    /// True while the arguments are something else than an object.
    fn is_text(&self) -> bool {
        self.token.starts_with(' ')
    }

    /// A value is whole.
    fn valued(&mut self, emit: Emit<'_>, end: usize) -> Option<CallProgress> {
        match self.kind {
            Kind::Name => {
                self.name = string(&self.token).map(Cow::into_owned).filter(|name| !name.is_empty());
                if self.args == Args::Done && self.name.is_some() {
                    return Some(CallProgress::Named);
                }
            }
            Kind::Id => self.id = plain_text(&self.token),
            Kind::Args => {
                if self.token.is_empty() {
                    self.args = Args::Done;
                } else {
                    let object = unwrapped(&self.token, end, &mut self.notes, self.max_depth);
                    let Some(object) = object else { return Some(CallProgress::Broken) };
                    self.args = Args::Done;
                    if self.name.is_some() {
                        emit(&object, end..end);
                    } else {
                        self.early = object;
                    }
                }
            }
            Kind::Wrapper | Kind::Tool | Kind::Other => {}
        }
        self.token.clear();
        None
    }
}

/// Arguments that were read whole, as an object: JSON inside a string, or nothing at all.
pub(crate) fn unwrapped(text: &str, end: usize, notes: &mut Notes, max_depth: usize) -> Option<String> {
    let text = text.trim();
    if matches!(text, "null" | "[]") {
        notes.add(FaultKind::Repaired, end);
        return Some("{}".to_owned());
    }
    if text.starts_with('{') {
        return Some(text.to_owned());
    }
    let inner = string(text)?;
    notes.add(FaultKind::DoubleEncoded, end);
    let inner = inner.trim();
    if inner.is_empty() || inner == "null" {
        return Some("{}".to_owned());
    }
    if !inner.starts_with('{') {
        return None;
    }
    let (mut object, mut json, mut look) = (String::new(), Json::new(max_depth), 0);
    let progress = json.read(inner, &mut look, &mut 0, &mut |piece, _| object.push_str(piece));
    for (kind, _) in json.take_notes().iter().flat_map(Notes::iter) {
        notes.add(kind, end);
    }
    (progress == Progress::Done && inner[look..].trim().is_empty()).then_some(object)
}

/// True when every object of this form is read as that of any other such form.
pub(crate) fn is_usual(form: &CallForm) -> bool {
    let CallForm { name, args, id, .. } = form;
    let keys = [(name.as_deref(), Kind::Name), (Some(args.as_str()), Kind::Args), (id.as_deref(), Kind::Id)];
    name.is_some() && keys.into_iter().all(|(key, kind)| key.is_none_or(|key| usual(key, false) == kind))
}

fn kind_of(key: &str, form: &CallForm, named: bool) -> Kind {
    if form.name.as_deref() == Some(key) {
        return Kind::Name;
    }
    if form.args == key {
        return Kind::Args;
    }
    if form.id.as_deref() == Some(key) {
        return Kind::Id;
    }
    usual(key, named)
}

fn usual(key: &str, named: bool) -> Kind {
    match key {
        "name" | "tool_name" | "tool" if !named => Kind::Name,
        "function" => Kind::Wrapper,
        "arguments" | "parameters" | "args" | "input" => Kind::Args,
        "id" | "tool_call_id" | "call_id" => Kind::Id,
        _ => Kind::Other,
    }
}

/// The JSON string at the start, when all of it is there and needs no reading.
fn plain_string(text: &str) -> Option<&str> {
    let inside = text.strip_prefix('"')?;
    let end = plain(inside.as_bytes());
    (inside.as_bytes().get(end) == Some(&b'"')).then(|| &inside[..end])
}

/// A JSON string as text.
fn string(json: &str) -> Option<Cow<'_, str>> {
    match json.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        Some(plain) if !plain.contains('\\') => Some(Cow::Borrowed(plain)),
        _ => serde_json::from_str(json).ok().map(Cow::Owned),
    }
}

/// A JSON string or number as plain text.
fn plain_text(json: &str) -> Option<String> {
    match serde_json::from_str(json).ok()? {
        serde_json::Value::String(text) => Some(text),
        serde_json::Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}
