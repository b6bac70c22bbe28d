//! One call, several, none; and text around them.

use std::sync::Arc;

use del_dialects::{Call, Dialect};

use super::{Built, alone, later, listing, probes, weather, written};
use crate::probe::Probe;
use crate::reading::{all_marks, call};

type Outcome = Result<Built, String>;

pub(super) fn one(dialect: &Arc<Dialect>) -> Outcome {
    probes([Probe::of(alone(dialect, &weather())?, &[weather()])])
}

pub(super) fn adjacent(dialect: &Arc<Dialect>) -> Outcome {
    let calls = [weather(), listing()];
    let texts = [alone(dialect, &calls[0])?, later(dialect, &calls[1])?];
    // A mark that only counts at the start of a line needs one.
    let lines = dialect.marks().any(|mark| mark.line_start);
    let joints: &[&str] = if lines { &["\n", "\n\n"] } else { &["", "\n", "\n\n"] };
    probes(
        joints.iter().map(|joint| Probe::of(texts.join(joint), &calls).what(format!("joined by {joint:?}"))),
    )
}

pub(super) fn in_a_block(dialect: &Arc<Dialect>) -> Outcome {
    let calls = [weather(), listing(), call("project_context", "{}")];
    probes([Probe::of(written(dialect, &calls)?, &calls)])
}

pub(super) fn with_text_between(dialect: &Arc<Dialect>) -> Outcome {
    let calls = [weather(), listing()];
    let text = format!("{}\n\nNow the files.\n\n{}", alone(dialect, &calls[0])?, later(dialect, &calls[1])?);
    probes([Probe::of(text, &calls).saying("Now the files.").in_order("ctc")])
}

pub(super) fn of_several_names(dialect: &Arc<Dialect>) -> Outcome {
    let mut calls = vec![weather(), listing(), call("write_file", r#"{"path":"a","content":"b"}"#)];
    let forth = Probe::of(written(dialect, &calls)?, &calls);
    calls.reverse();
    probes([forth, Probe::of(written(dialect, &calls)?, &calls)])
}

pub(super) fn none(dialect: &Arc<Dialect>) -> Outcome {
    let mut texts = vec![
        "It is sunny in Paris, and get_weather said so.".to_owned(),
        "If a < b && c > d, take [1], {x: 2} and f(3); 10 | 20 # 30.\n\n- one\n- two\n".to_owned(),
        "The answer is {\"city\": \"Paris\", \"days\": 3}, as JSON.".to_owned(),
        "```json\n{\"city\": \"Paris\"}\n```\nThat is all.".to_owned(),
    ];
    // A mark that is talked about stands between backticks.
    let marks = all_marks(dialect).into_iter().map(|mark| mark.trim().to_owned());
    let quotable = marks.filter(|mark| !mark.is_empty() && !mark.contains(['`', '\n']));
    texts.extend(quotable.map(|mark| format!("A model writes `{mark}` here, and goes on.")));
    probes(texts.iter().map(|text| Probe::of(text, &[]).saying_exactly(text)))
}

pub(super) fn interleaved(dialect: &Arc<Dialect>) -> Outcome {
    let calls = [weather(), listing()];
    let text = format!(
        "Let me look.\n\n{}\n\nAnd the files.\n\n{}\n\nThat was all.",
        later(dialect, &calls[0])?,
        later(dialect, &calls[1])?
    );
    probes([Probe::of(text, &calls).saying("Let me look. And the files. That was all.").in_order("tctct")])
}

pub(super) fn nothing(_: &Arc<Dialect>) -> Outcome {
    let texts = ["", " ", "\n", "\r\n\t \n\n"];
    let ended = texts.map(|text| Probe::of(text, &[]).saying_exactly(text));
    let cut = texts.map(|text| Probe::of(text, &[]).saying_exactly(text).cut());
    probes(ended.into_iter().chain(cut))
}

pub(super) fn duplicates(dialect: &Arc<Dialect>) -> Outcome {
    let calls: Vec<Call> = vec![weather(); 3];
    probes([Probe::of(written(dialect, &calls)?, &calls)])
}
