//! The cells: what every dialect has to hold in.

mod broken;
mod several;
mod spelling;
mod streamed;
mod values;

use std::sync::Arc;

use del_dialects::description::Frame;
use del_dialects::{Call, Dialect};

use crate::anatomy::Anatomy;
use crate::probe::Probe;
use crate::reading::{call, tools};

/// One thing that can go right or wrong, under the name that it has in every dialect.
pub(crate) struct Cell {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) build: fn(&Arc<Dialect>) -> Result<Built, String>,
}

/// What a description gives for a cell.
pub(crate) enum Built {
    Probes(Vec<Probe>),
    /// This cannot be built; a case file has to hold it.
    ByHand(&'static str),
}

const fn cell(
    name: &'static str,
    about: &'static str,
    build: fn(&Arc<Dialect>) -> Result<Built, String>,
) -> Cell {
    Cell { name, about, build }
}

pub(crate) static CELLS: [Cell; 45] = [
    cell("one-call", "one call", several::one),
    cell("several-adjacent", "calls one directly behind the other", several::adjacent),
    cell("several-in-a-block", "three calls in one group, as the dialect writes it", several::in_a_block),
    cell("several-with-text-between", "calls with text between them", several::with_text_between),
    cell("several-names", "calls of different tools keep their order", several::of_several_names),
    cell("no-call", "text that calls nothing stays as it is, to the byte", several::none),
    cell("malformed-a", "arguments that no mending makes an object, before a good call", broken::arguments),
    cell("malformed-b", "a call without a name, before a good one", broken::nameless),
    cell("malformed-c", "the opening marks twice", broken::doubled_opener),
    cell("malformed-d", "the closing marks twice", broken::doubled_closer),
    cell("malformed-e", "an opening mark that opens nothing, before a good call", broken::opener_alone),
    cell("truncated-a", "cut in the opening marks", broken::cut_in_opener),
    cell("truncated-b", "cut in the name", broken::cut_in_name),
    cell("truncated-c", "cut in the arguments", broken::cut_in_arguments),
    cell("truncated-d", "ended before the last closing mark: the call counts", broken::closer_missing),
    cell("truncated-e", "cut in the name of the second call: the first counts", broken::cut_in_second),
    cell("empty-arguments", "no arguments are an empty object", values::no_arguments),
    cell("complex-arguments", "nested values, Unicode and escapes", values::complex),
    cell("interleaved-text", "text and calls in turns keep their order", several::interleaved),
    cell("empty-output", "nothing at all, or white space alone", several::nothing),
    cell("duplicate-calls", "the same call twice is two calls", several::duplicates),
    cell("unknown-tool", "a call of a tool that was not declared is a call", values::unknown_tool),
    cell("markers-in-a-value", "a mark inside a string is data", values::marks),
    cell("one-chunk", "an answer that comes at once, with text around", streamed::at_once),
    cell("at-borders", "every piece ends where a mark begins or ends", streamed::at_borders),
    cell("inside-a-token", "every mark is cut inside", streamed::inside_marks),
    cell("ended-early", "every beginning holds no call but those that are whole", streamed::beginnings),
    cell("marker-spam", "marks again and again make no call, and hide none", broken::spam),
    cell("name-characters", "names of letters, digits and signs", values::names),
    cell("functions-prefix", "a name that begins with `functions` keeps it", values::prefixed_names),
    cell("white-space", "white space around marks does not matter", spelling::white_space),
    cell(
        "spelling-variants",
        "every spelling that is read, and marks that should be missing",
        spelling::variants,
    ),
    cell("empty-wrapper", "marks around no call at all, before a good one", broken::empty_wrapper),
    cell("key-order", "keys in any order, kept as they come", spelling::key_order),
    cell("key-aliases", "other words for the key of the arguments", spelling::key_aliases),
    cell("native-ids", "the model's own id comes back", spelling::ids),
    cell("entities", "entities of XML stand for characters in XML, and nowhere else", values::entities),
    cell("schema-coercion", "the schema tells numbers from strings", values::coerced),
    cell("non-ascii-name", "names in any script", values::foreign_names),
    cell("numeric-overflow", "numbers beyond any type pass as they are written", values::huge_numbers),
    cell("empty-name", "an empty name is never written and never a call", values::empty_name),
    cell("large-arguments", "a value of more than 10 kB", values::large),
    cell(
        "error-mid-stream",
        "the connection breaks in a call: it is reported with what there was",
        streamed::broken_off,
    ),
    cell("invented-result", "a result that the model made up is dropped", streamed::invented),
    cell("around-thinking", "a call behind a thought", streamed::behind_a_thought),
];

/// A call that most cells are about.
pub(crate) fn weather() -> Call {
    call("get_weather", r#"{"city":"Paris","days":3}"#)
}

/// Another one.
pub(crate) fn listing() -> Call {
    call("list_dir", r#"{"path":"src"}"#)
}

/// Calls as the dialect writes them together.
pub(crate) fn written(dialect: &Arc<Dialect>, calls: &[Call]) -> Result<String, String> {
    dialect.render_calls(calls, &tools()).map_err(|error| error.to_string())
}

/// One call as the dialect writes it alone.
pub(crate) fn alone(dialect: &Arc<Dialect>, call: &Call) -> Result<String, String> {
    written(dialect, std::slice::from_ref(call))
}

/// One call in the middle of an answer: where a prompt ends inside a header, the header begins anew.
pub(crate) fn later(dialect: &Arc<Dialect>, call: &Call) -> Result<String, String> {
    Ok(introduction(dialect) + &alone(dialect, call)?)
}

/// What has to stand before a call that does not begin the answer.
pub(crate) fn introduction(dialect: &Dialect) -> String {
    match dialect.frame() {
        Frame::Channels(channels) => format!("{}{}", channels.start[0], channels.author),
        _ => String::new(),
    }
}

/// A mark with a suffix that its checkpoint may choose, as one of them has it.
pub(crate) fn concrete(mark: &str) -> String {
    mark.replace('\0', ":x1")
}

/// The parts of the call that most cells are about.
pub(crate) fn anatomy(dialect: &Arc<Dialect>) -> Result<Anatomy, String> {
    Anatomy::of(dialect, &weather())
}

#[expect(clippy::unnecessary_wraps, reason = "the end of what may fail")]
pub(crate) fn probes(probes: impl IntoIterator<Item = Probe>) -> Result<Built, String> {
    Ok(Built::Probes(probes.into_iter().collect()))
}
