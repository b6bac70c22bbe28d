//! What is malformed, cut or too much.

use std::sync::Arc;

use del_dialects::description::{Codec, Frame, Literal};
use del_dialects::{Dialect, FaultKind};

use super::{Built, alone, anatomy, introduction, later, listing, probes, weather, written};
use crate::anatomy::{Anatomy, joined};
use crate::probe::Probe;

type Outcome = Result<Built, String>;

/// A bad text, then a good call on a line of its own: only the good one counts.
fn before_a_good_one(dialect: &Arc<Dialect>, what: &str, bad: &str) -> Result<Probe, String> {
    let text = format!("{bad}\n\n{}", later(dialect, &listing())?);
    Ok(Probe::of(text, &[listing()]).what(what).saying_no_mark().with_any_faults())
}

pub(super) fn arguments(dialect: &Arc<Dialect>) -> Outcome {
    let parts = anatomy(dialect)?;
    let object = weather().arguments;
    let damaged: Vec<String> = match dialect.codec() {
        Codec::Object(Literal::Json) => vec![r#"{"city": }"#.into(), "{]".into()],
        Codec::Call(form) if form.python => vec![parts.args.replace("'city': ", "'city' ")],
        Codec::Call(_) => {
            [r#"{"city": }"#, r#"{"city" "x"}"#].map(|bad| parts.args.replace(&object, bad)).into()
        }
        Codec::Object(Literal::Loose(loose)) => {
            let (open, close) = (char::from(loose.open), char::from(loose.close));
            vec![format!("{open}={close}"), format!("{open}city{close}")]
        }
        _ => vec!["\n… there is no field here".to_owned()],
    };
    let with = |args: &String| Anatomy { args: args.clone(), ..parts.clone() }.text();
    probes(
        damaged
            .iter()
            .map(|bad| before_a_good_one(dialect, bad, &with(bad)))
            .collect::<Result<Vec<_>, _>>()?,
    )
}

pub(super) fn nameless(dialect: &Arc<Dialect>) -> Outcome {
    probes([before_a_good_one(dialect, "without a name", &anatomy(dialect)?.nameless("get_weather"))?])
}

pub(super) fn doubled_opener(dialect: &Arc<Dialect>) -> Outcome {
    let parts = anatomy(dialect)?;
    let twice =
        [format!("{}{}", parts.opener(), parts.text()), format!("{}\n{}", parts.opener(), parts.text())];
    probes(twice.map(|text| Probe::of(text, &[weather()]).with_any_faults()))
}

pub(super) fn doubled_closer(dialect: &Arc<Dialect>) -> Outcome {
    let parts = anatomy(dialect)?;
    let text = format!("{}{}\n\nThat was it.", parts.text(), parts.closing());
    probes([Probe::of(text, &[weather()]).saying_no_mark().with_any_faults()])
}

pub(super) fn opener_alone(dialect: &Arc<Dialect>) -> Outcome {
    let opener = anatomy(dialect)?.opener();
    let bad = format!("{}… and that is how a call begins.", opener.trim_end());
    // In a sentence a mark is text; the tokens of a model never are.
    probes([before_a_good_one(dialect, "an opener alone", &bad)?.saying_no_token()])
}

pub(super) fn empty_wrapper(dialect: &Arc<Dialect>) -> Outcome {
    let parts = anatomy(dialect)?;
    let around = |side: &[crate::anatomy::Part]| -> String {
        side.iter().filter(|part| part.block).map(|part| part.text.as_str()).collect()
    };
    let empty = around(&parts.front) + &around(&parts.back);
    probes([before_a_good_one(dialect, "an empty wrapper", &empty)?])
}

pub(super) fn spam(dialect: &Arc<Dialect>) -> Outcome {
    let parts = anatomy(dialect)?;
    let sides = [parts.opener(), parts.closing(), parts.opener() + &parts.closing()];
    let spam = sides
        .iter()
        .filter(|side| !side.is_empty())
        .map(|side| before_a_good_one(dialect, "spam", &side.repeat(40)));
    probes(spam.collect::<Result<Vec<_>, _>>()?)
}

/// Nothing is a call, and nothing of the markup is text.
fn cut(dialect: &Dialect, text: &str) -> Probe {
    Probe::of(format!("I will look.\n\n{}{text}", introduction(dialect)), &[])
        .saying("I will look.")
        .with_any_faults()
        .cut()
}

pub(super) fn cut_in_opener(dialect: &Arc<Dialect>) -> Outcome {
    let opener = anatomy(dialect)?.opener();
    // Half a mark that is made of letters may be a word.
    let word = opener.starts_with(char::is_alphanumeric);
    let places = opener.char_indices().map(|(at, _)| at).filter(|at| *at > 0 && !word);
    probes(places.chain([opener.len()]).map(|at| cut(dialect, &opener[..at])))
}

pub(super) fn cut_in_name(dialect: &Arc<Dialect>) -> Outcome {
    let text = alone(dialect, &weather())?;
    let name = text.find("get_weather").ok_or("no name")?;
    probes([1, 5, 11].map(|bytes| cut(dialect, &text[..name + bytes])))
}

pub(super) fn cut_in_arguments(dialect: &Arc<Dialect>) -> Outcome {
    let text = alone(dialect, &weather())?;
    let value = text.find("Paris").ok_or("no value")?;
    probes([0, 3].map(|bytes| cut(dialect, &text[..value + bytes]).with_fault(FaultKind::UnclosedCall)))
}

pub(super) fn closer_missing(dialect: &Arc<Dialect>) -> Outcome {
    let mut parts = anatomy(dialect)?;
    let last = parts.back.iter().rposition(|part| !part.text.trim().is_empty());
    let last = last.ok_or("no closing mark")?;
    let mut texts = vec![parts.opening() + &parts.args + &joined(&parts.back[..last])];
    if matches!(dialect.codec(), Codec::Object(_) | Codec::Call(_)) {
        parts.back.clear();
        texts.push(parts.text());
    }
    probes(texts.into_iter().map(|text| Probe::of(text, &[weather()]).with_any_faults()))
}

pub(super) fn cut_in_second(dialect: &Arc<Dialect>) -> Outcome {
    let text = written(dialect, &[weather(), listing()])?;
    let name = text.rfind("list_dir").ok_or("no name")?;
    // A name alone may be the next word of a sentence where only commas stand between calls.
    let least = usize::from(*dialect.frame() != Frame::Tags);
    probes([least, 4].map(|bytes| Probe::of(&text[..name + bytes], &[weather()]).with_any_faults().cut()))
}
