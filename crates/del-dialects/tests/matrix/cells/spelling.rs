//! Other ways to write the same call.

use std::sync::Arc;

use del_dialects::description::{Codec, Frame, Need};
use del_dialects::{Call, Dialect};

use super::{Built, alone, anatomy, concrete, introduction, listing, probes, weather, written};
use crate::anatomy::{Anatomy, Part};
use crate::probe::Probe;
use crate::reading::call;

type Outcome = Result<Built, String>;

/// The text with every mark written in another way.
fn respelled(parts: &Anatomy, spell: impl Fn(&str) -> String) -> String {
    let side = |side: &[Part]| -> String {
        side.iter()
            .map(|part| {
                if part.mark.is_some() && !part.text.is_empty() {
                    spell(&part.text)
                } else {
                    part.text.clone()
                }
            })
            .collect()
    };
    side(&parts.front) + &parts.args + &side(&parts.back)
}

pub(super) fn white_space(dialect: &Arc<Dialect>) -> Outcome {
    let parts = anatomy(dialect)?;
    let raw = matches!(dialect.codec(), Codec::Raw { .. });
    // Where a call is a line, its end says more than white space; and in a header none is free.
    let header = matches!(dialect.frame(), Frame::Channels(_));
    let lines = dialect.marks().any(|mark| mark.line_start) || raw || header;
    let mut texts = Vec::new();
    if !header {
        texts.push(respelled(&parts, |mark| {
            let begins = if mark.starts_with(char::is_whitespace) { " " } else { "" };
            let ends = if mark.ends_with(char::is_whitespace) { " " } else { "" };
            format!("{begins}{}{ends}", mark.trim())
        }));
    }
    if !lines {
        texts.push(respelled(&parts, |mark| mark.trim().to_owned()));
        texts.push(respelled(&parts, |mark| format!("{mark}\n")));
        texts.push(respelled(&parts, |mark| format!("{mark} \r\n\t ")));
    }
    texts.push(format!("\n\n{}{}\n\n ", introduction(dialect), parts.text()));
    probes(texts.into_iter().map(|text| Probe::of(text, &[weather()])))
}

pub(super) fn variants(dialect: &Arc<Dialect>) -> Outcome {
    let parts = anatomy(dialect)?;
    let mut texts = Vec::new();
    for place in 0..parts.front.len() + parts.back.len() {
        let part = parts.part(place);
        // Without an id its marks mean nothing.
        let marks = part.mark.iter().filter(|mark| mark.need != Need::Id);
        // Behind arguments no tag closes itself, unless they are its attributes.
        let spellings = marks.flat_map(|mark| {
            mark.read.iter().filter(|spelling| !spelling.ends_with("/>") || mark.write.ends_with("/>"))
        });
        for spelling in spellings.map(|spelling| concrete(spelling)) {
            let written = part.text.trim();
            if spelling != written {
                let text = if written.is_empty() {
                    spelling.clone()
                } else {
                    part.text.replacen(written, &spelling, 1)
                };
                texts.push((spelling.clone(), parts.with(place, &text).text()));
            }
        }
    }
    probes(texts.into_iter().map(|(what, text)| Probe::of(text, &[weather()]).what(what).with_any_faults()))
}

pub(super) fn key_order(dialect: &Arc<Dialect>) -> Outcome {
    let swapped = call("get_weather", r#"{"days":3,"city":"Paris"}"#);
    let mut found = vec![Probe::of(written(dialect, &[swapped.clone(), weather()])?, &[swapped, weather()])];
    if let Codec::Call(form) = dialect.codec()
        && let Some(name) = &form.name
    {
        let object = format!(r#"{{"{}": {}, "{name}": "get_weather"}}"#, form.args, weather().arguments);
        let text = Anatomy { args: object, ..anatomy(dialect)? }.text();
        found.push(Probe::of(text, &[weather()]).what("arguments before the name"));
    }
    probes(found)
}

pub(super) fn key_aliases(dialect: &Arc<Dialect>) -> Outcome {
    let Codec::Call(form) = dialect.codec() else {
        return Ok(Built::ByHand("keys that are none of a call object"));
    };
    let Some(name) = &form.name else { return Ok(Built::ByHand("the name is the key")) };
    let parts = anatomy(dialect)?;
    probes(["arguments", "parameters"].map(|key| {
        let object = format!(r#"{{"{name}": "get_weather", "{key}": {}}}"#, weather().arguments);
        Probe::of(Anatomy { args: object, ..parts.clone() }.text(), &[weather()]).what(key)
    }))
}

pub(super) fn ids(dialect: &Arc<Dialect>) -> Outcome {
    let with = |call: Call, id: &str| Call { id: Some(id.to_owned()), ..call };
    let calls = [with(weather(), "functions.get_weather:0"), with(listing(), "functions.list_dir:1")];
    if alone(dialect, &calls[0])?.contains("functions.get_weather:0") && written(dialect, &calls).is_ok() {
        return probes([Probe::of(written(dialect, &calls)?, &calls).with_ids()]);
    }
    // Where ids have a shape of their own, others are written anew.
    let shaped = |id: &str, digit: &str| match dialect.ids() {
        Some(shape) => shape.replace('*', id).replace('#', digit),
        None => id.repeat(9),
    };
    let calls = [with(weather(), &shaped("a", "1")), with(listing(), &shaped("b", "2"))];
    probes([Probe::of(written(dialect, &calls)?, &calls).with_ids()])
}
