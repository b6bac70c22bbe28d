//! How an answer arrives, and where it ends.

use std::sync::Arc;

use del_dialects::description::Frame;
use del_dialects::{Dialect, FaultKind};

use super::{Built, alone, anatomy, concrete, introduction, listing, probes, weather, written};
use crate::probe::Probe;
use crate::reading::{borders, call};

type Outcome = Result<Built, String>;

pub(super) fn at_once(dialect: &Arc<Dialect>) -> Outcome {
    let calls = [weather(), listing()];
    let text =
        format!("Let me look.\n\n{}{}\n\nThat was all.", introduction(dialect), written(dialect, &calls)?);
    probes([Probe::of(text, &calls).saying("Let me look. That was all.").in_order("tcct")])
}

pub(super) fn at_borders(dialect: &Arc<Dialect>) -> Outcome {
    let (text, borders) = marked(dialect)?;
    probes([Probe::of(text, &[weather()]).in_pieces(borders)])
}

pub(super) fn inside_marks(dialect: &Arc<Dialect>) -> Outcome {
    let (text, borders) = marked(dialect)?;
    let middle = |pair: &[usize]| {
        let at = usize::midpoint(pair[0], pair[1]);
        (at..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(at)
    };
    let middles = borders.windows(2).map(middle).collect();
    probes([Probe::of(text.clone(), &[weather()]).in_pieces(middles)])
}

/// A call, and where its parts begin and end.
fn marked(dialect: &Arc<Dialect>) -> Result<(String, Vec<usize>), String> {
    let parts = anatomy(dialect)?;
    let mut at = 0;
    let texts = parts.front.iter().map(|part| &part.text).chain([&parts.args]);
    let texts = texts.chain(parts.back.iter().map(|part| &part.text));
    let ends = texts.map(|text| {
        at += text.len();
        at
    });
    let mut borders: Vec<usize> = std::iter::once(0).chain(ends).collect();
    borders.dedup();
    Ok((parts.text(), borders))
}

pub(super) fn beginnings(dialect: &Arc<Dialect>) -> Outcome {
    let calls = [weather(), listing()];
    let text = introduction(dialect) + &written(dialect, &calls)?;
    // A call is whole when its arguments are, and never before. Which of its closing marks is enough to tell is
    // another cell's matter.
    let (paris, second) =
        (text.find("Paris").ok_or("no value")? + 5, text.rfind("list_dir").ok_or("no name")?);
    let source = text.rfind("src").ok_or("no value")? + 3;
    let held = |at: &usize| match *at {
        at if at <= paris => Some(0),
        at if (second + 4..=source).contains(&at) => Some(1),
        at if at == text.len() => Some(2),
        _ => None,
    };
    let known = borders(&text).into_iter().filter_map(|at| Some((at, held(&at)?)));
    // Half a mark that is made of letters may be a word.
    let word = text.starts_with(char::is_alphanumeric);
    probes(known.map(|(at, held)| {
        let probe = Probe::of(&text[..at], &calls[..held]).with_any_faults().cut();
        if word && at < 12 { probe.saying_no_mark() } else { probe }
    }))
}

pub(super) fn broken_off(dialect: &Arc<Dialect>) -> Outcome {
    let calls = [weather(), call("write_file", r#"{"path":"a.md","content":"one two three"}"#)];
    let text = written(dialect, &calls)?;
    let at = text.find("two").ok_or("no value")?;
    let cut = Probe::of(&text[..at], &calls[..1]).cut();
    probes([cut.with_fault(FaultKind::UnclosedCall).reporting("write_file")])
}

pub(super) fn invented(dialect: &Arc<Dialect>) -> Outcome {
    let call = alone(dialect, &weather())?;
    let texts = dialect.results().invented.iter().map(|pair| {
        let [open, close] = pair.each_ref().map(|mark| concrete(mark));
        let text =
            format!("{call}\n{open}\n20 degrees, says {{\"name\": \"list_dir\"}}\n{close}\n\nIt is warm.");
        // What no mark closes goes on up to the end.
        (text, if close.is_empty() { "" } else { "It is warm." })
    });
    probes(
        texts.map(|(text, said)| {
            Probe::of(text, &[weather()]).saying(said).with_fault(FaultKind::InventedResult)
        }),
    )
}

pub(super) fn behind_a_thought(dialect: &Arc<Dialect>) -> Outcome {
    let call = alone(dialect, &weather())?;
    let thoughts = match (dialect.frame(), dialect.reasoning()) {
        (Frame::Channels(_), _) => return Ok(Built::ByHand("a thought in a channel of its own")),
        (_, Some(reasoning)) => {
            // Where no mark ends a thought, the call does.
            let ends =
                reasoning.end.iter().map(String::as_str).chain(reasoning.end.is_empty().then_some("\n"));
            reasoning.begin.iter().zip(ends).map(|(begin, end)| [concrete(begin), concrete(end)]).collect()
        }
        (_, None) => vec![["<think>".to_owned(), "</think>".to_owned()]],
    };
    probes(thoughts.into_iter().map(|[begin, end]| {
        Probe::of(format!("{begin}I should look.{end}{call}"), &[weather()]).thinking("I should look.")
    }))
}
