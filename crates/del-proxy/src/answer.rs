//! From the answer of a model server to that for the client: text in which calls stand becomes text and calls.
//!
//! There is no input or output here: bytes come in and bytes go out, so that an answer can be cut anywhere in a test.

mod beside;
mod choice;
mod gaps;
mod input;
mod open;
mod opening;
mod series;
mod stream;
mod together;
mod told;
mod whole;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use del_dialects::{Call, Dialect, Dialects, Report, Tool, Turn};
use del_wire::{Chunk, Piece, Reading, ToClient, ToldChoice, ToolNames, Usage, hybrid};
use serde_json::{Map, Value};

pub(crate) use self::series::{Relay, Series};
pub use self::stream::Stream;
pub use self::whole::{Answer, Trouble, translate, translate_between};

/// The header that names the calls whose arguments recovery may have changed; in a stream, the comment before its end.
pub(crate) const CHANGED: &str = "x-del-changed-arguments";
/// The same for tools that the model called although it may not, and whose calls did not go out.
pub(crate) const REFUSED: &str = "x-del-refused-calls";

/// Names what of an answer is left out, as the client's API has no place for it.
pub(crate) const LEFT_OUT: &str = "x-del-dropped-content";

/// How the answers to one request are read.
#[derive(Debug, Clone)]
pub struct Reader {
    /// All dialects that are known.
    pub dialects: &'static Dialects,
    /// The one to read; without it, all.
    pub dialect: Option<Arc<Dialect>>,
    /// The tools that the model was told of.
    pub tools: Arc<[Tool]>,
    /// No more than one call goes out.
    pub one_call: bool,
    /// The text is read for calls.
    pub reads: bool,
    /// The tools that may be called now. A call of another one never goes out.
    pub offered: Offered,
    /// The tools that take a text in place of arguments, and are functions with one parameter on their way here.
    pub custom: Arc<BTreeSet<String>>,
    /// In hybrid mode, the tools whose definitions the model has: a call of another one asks for its definition and never
    /// goes out.
    pub defined: Option<Arc<BTreeSet<String>>>,
    /// The tools that the server knows by other names than the client.
    pub names: Arc<ToolNames>,
    /// What the model said before, in an answer that goes on with this one.
    pub before: String,
    /// The answer was begun for the model with this text.
    pub begun: Option<String>,
    /// Results were neutralised on their way to the model: what it copies of them into arguments is restored.
    pub restore: bool,
    /// The calls of tools that run here: every call gets a new id, and the model is told what became of the others.
    pub runs: bool,
    /// Where calls that cannot be read, or of tools that may not be called, are all that an answer holds, the model is told
    /// what was wrong and asked again.
    pub asks_again: bool,
}

/// Which tools a model may call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Offered {
    /// Whatever it likes, as nobody knows which there are.
    Any,
    /// Those that it was told of.
    Tools,
    /// This one.
    One(String),
    /// None.
    Nothing,
}

/// An answer after which the model is asked again: it asks for the definitions of tools, or tried to call and did not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asking {
    /// What the model said with it.
    pub said: String,
    /// The calls that ask: of the tool for it, or of tools whose definitions the model has not seen.
    pub calls: Vec<Call>,
    /// Members of these calls that are not known here, as their server wants them back.
    pub beside: Vec<Map<String, Value>>,
    /// What the model thought before it asked, as members of its message.
    pub thoughts: Map<String, Value>,
    /// The calls that cannot be read.
    pub broken: Vec<Report>,
    /// The tools that were called although they may not be.
    pub refused: Vec<String>,
}

/// What can be told of answers without a word of what they say.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Summary {
    /// The dialect of the first call.
    pub dialect: Option<String>,
    /// Calls that went out.
    pub calls: usize,
    /// Those whose arguments recovery may have changed.
    pub changed: usize,
    /// Those that did not go out, as they may not be made.
    pub refused: usize,
    /// Faults, by their kinds.
    pub faults: BTreeMap<&'static str, usize>,
    /// What the server says that it cost.
    pub usage: Option<Usage>,
    /// Why it ended, in the words of chat completions.
    pub reason: Option<String>,
    /// Thoughts came in the member `reasoning`.
    pub as_reasoning: bool,
}

/// What an answer says that was nothing but calls which may not go out.
pub(crate) fn none_of_the_tools(name: &str) -> String {
    format!("The model called `{name}`, which is none of the tools that it may call now.")
}

/// The same of calls that cannot be read; this is the first.
pub(crate) fn none_to_be_read(report: &Report) -> String {
    match report.call.as_ref().map(|call| call.name.trim()).filter(|name| !name.is_empty()) {
        Some(name) => format!("The model's call of `{name}` could not be read, and did not run."),
        None => "A call of the model's could not be read, and did not run.".to_owned(),
    }
}

impl std::ops::AddAssign for Summary {
    fn add_assign(&mut self, more: Self) {
        self.dialect = self.dialect.take().or(more.dialect);
        self.calls += more.calls;
        self.changed += more.changed;
        self.refused += more.refused;
        self.as_reasoning |= more.as_reasoning;
        for (kind, count) in more.faults {
            *self.faults.entry(kind).or_default() += count;
        }
        if let Some(usage) = more.usage {
            *self.usage.get_or_insert_default() += usage;
        }
        self.reason = more.reason.or(self.reason.take());
    }
}

impl Reader {
    /// Reads calls of any tools in all these dialects.
    pub fn new(dialects: &'static Dialects) -> Self {
        Self {
            dialects,
            dialect: None,
            tools: Arc::default(),
            one_call: false,
            reads: true,
            offered: Offered::Any,
            custom: Arc::default(),
            defined: None,
            names: Arc::default(),
            before: String::new(),
            begun: None,
            restore: false,
            runs: false,
            asks_again: false,
        }
    }

    /// True where another answer may go on where one ended.
    fn goes_on(&self) -> bool {
        self.defined.is_some() || self.asks_again
    }

    /// True when a call of this tool gets the model a definition.
    fn asks(&self, name: &str) -> bool {
        let Some(defined) = &self.defined else { return false };
        name == hybrid::REQUEST || self.tools.iter().any(|tool| tool.name == name) && !defined.contains(name)
    }

    fn may_call(&self, name: &str) -> bool {
        match &self.offered {
            Offered::Any => true,
            Offered::Tools => self.tools.iter().any(|tool| tool.name == name),
            Offered::One(only) => only == name,
            Offered::Nothing => false,
        }
    }

    fn reading(&self) -> Reading {
        if !self.reads {
            return Reading::plain();
        }
        let turn = Turn::new(Arc::clone(&self.tools));
        let reading = Reading::new(match &self.dialect {
            Some(dialect) => dialect.parser(turn),
            None => self.dialects.parser(turn),
        });
        match &self.begun {
            Some(begun) => reading.begun_with(begun),
            None => reading,
        }
    }
}

/// Notes the kinds of what is not read of a chunk, unless it goes on as it is to a client of the API that the server speaks.
fn note_unread(chunk: &Chunk, has_raw: bool, client: &dyn ToClient, kinds: &mut BTreeSet<String>) {
    if !has_raw || !client.keeps_unread() {
        kinds.extend(chunk.choices.iter().flat_map(|delta| &delta.unread).cloned());
    }
}

/// Takes out of what is new the citations that the client's API has no place for, and notes their kinds.
fn leave_out(choices: &mut [ToldChoice], client: &dyn ToClient, kinds: &mut BTreeSet<String>) {
    for choice in choices {
        choice.pieces.retain(|piece| match piece {
            Piece::Citation(citation) if !client.cites(citation) => {
                kinds.insert(citation.kind().to_owned());
                false
            }
            _ => true,
        });
    }
}
