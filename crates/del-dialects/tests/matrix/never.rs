//! What a form of calls cannot have, and why.

use std::sync::Arc;

use del_dialects::Dialect;
use del_dialects::description::{Codec, Frame, Mark, Need, Piece, Route, Slot};

use crate::anatomy::Anatomy;
use crate::cells::weather;
use crate::reading::distinct_marks;

/// A property of descriptions that rules a cell out.
type Form = fn(&Arc<Dialect>) -> bool;

const NEVER: [(&str, Form, &str); 20] = [
    ("unknown-tool", goes_by_name, "only the name of a declared tool makes it a call"),
    ("name-characters", goes_by_name, "only the name of a declared tool makes it a call"),
    ("functions-prefix", goes_by_name, "only the name of a declared tool makes it a call"),
    ("non-ascii-name", goes_by_name, "only the name of a declared tool makes it a call"),
    ("empty-name", goes_by_name, "only the name of a declared tool makes it a call"),
    ("around-thinking", routes_no_thinking, "no header leads to thinking"),
    ("malformed-b", routes_bodies, "a body without a recipient is no call"),
    ("empty-name", routes_bodies, "a body without a recipient is no call"),
    ("malformed-a", has_raw_body, "any body is an argument"),
    ("malformed-c", opens_like_data, "it opens as data may open"),
    ("malformed-e", opens_like_data, "it opens as data may open"),
    ("marker-spam", opens_like_data, "its marks are those of ordinary text"),
    ("malformed-d", closes_like_data, "it closes as data may close, or not at all"),
    ("truncated-d", never_closes, "nothing stands behind the arguments"),
    ("truncated-d", ends_with_its_value, "the one closing mark ends the value"),
    ("empty-wrapper", has_no_wrapper, "no mark of its own stands around calls"),
    ("spelling-variants", has_one_spelling, "each mark has one spelling"),
    ("key-aliases", is_no_object, "no key holds the arguments"),
    ("native-ids", carries_no_id, "no place for an id"),
    ("invented-result", shows_no_results, "its results stand in no marks of their own"),
];

/// Why a dialect cannot have a cell, if it cannot.
pub(crate) fn reason(dialect: &Arc<Dialect>, cell: &str) -> Option<&'static str> {
    if dialect.tool().is_some() {
        return Some("its calls are all of one tool");
    }
    let rules_out = |(name, form, _): &&(&str, Form, &str)| *name == cell && form(dialect);
    NEVER.iter().find(rules_out).map(|(_, _, reason)| *reason)
}

fn anatomy(dialect: &Arc<Dialect>) -> Option<Anatomy> {
    Anatomy::of(dialect, &weather()).ok()
}

/// True when one of the parts is a mark that nobody writes by chance.
fn is_marked(dialect: &Arc<Dialect>, text: &str) -> bool {
    distinct_marks(dialect).iter().any(|mark| text.contains(mark))
}

/// True where the name itself is the mark of a call, or there is no mark at all.
fn goes_by_name(dialect: &Arc<Dialect>) -> bool {
    let first = dialect.marks().find(|mark| mark.need == Need::Must);
    match dialect.frame() {
        Frame::Bare => true,
        Frame::Tags => first.is_some_and(|mark| mark.write.trim().len() < 3),
        Frame::Channels(_) => false,
    }
}

fn routes_bodies(dialect: &Arc<Dialect>) -> bool {
    matches!(dialect.frame(), Frame::Channels(_))
}

fn routes_no_thinking(dialect: &Arc<Dialect>) -> bool {
    let Frame::Channels(channels) = dialect.frame() else { return false };
    !channels.routes.values().any(|route| *route == Route::Reasoning)
}

fn has_raw_body(dialect: &Arc<Dialect>) -> bool {
    matches!(dialect.codec(), Codec::Raw { .. })
}

fn opens_like_data(dialect: &Arc<Dialect>) -> bool {
    let lines = dialect.marks().any(|mark| mark.line_start);
    let marked = |parts: Anatomy| is_marked(dialect, &parts.opener());
    *dialect.frame() == Frame::Bare || lines || !anatomy(dialect).is_some_and(marked)
}

fn closes_like_data(dialect: &Arc<Dialect>) -> bool {
    anatomy(dialect).is_some_and(|parts| !is_marked(dialect, &parts.closing()))
}

fn never_closes(dialect: &Arc<Dialect>) -> bool {
    anatomy(dialect).is_some_and(|parts| parts.closing().trim().is_empty())
}

fn ends_with_its_value(dialect: &Arc<Dialect>) -> bool {
    has_raw_body(dialect) && anatomy(dialect).is_some_and(|parts| parts.back.len() == 1)
}

fn has_no_wrapper(dialect: &Arc<Dialect>) -> bool {
    let own =
        |marks: &[Mark]| marks.iter().any(|mark| mark.need != Need::Noise && is_marked(dialect, &mark.write));
    !own(&dialect.block().open) || !own(&dialect.block().close)
}

fn has_one_spelling(dialect: &Arc<Dialect>) -> bool {
    !dialect.marks().any(|mark| mark.read.len() > 1 || matches!(mark.need, Need::Noise))
}

fn is_no_object(dialect: &Arc<Dialect>) -> bool {
    !matches!(dialect.codec(), Codec::Call(form) if form.name.is_some())
}

fn carries_no_id(dialect: &Arc<Dialect>) -> bool {
    let head = |piece: &Piece| match piece {
        Piece::Head(form) | Piece::Mark(_, Some(form)) => form.is_id || form.parts.contains(&Slot::Id),
        _ => false,
    };
    let object = matches!(dialect.codec(), Codec::Call(form) if form.id.is_some());
    !object && !dialect.call().iter().any(head)
}

fn shows_no_results(dialect: &Arc<Dialect>) -> bool {
    dialect.results().invented.is_empty()
}
