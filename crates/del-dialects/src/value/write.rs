//! Writing values as literals that are no JSON.

use std::fmt::Write as _;

use serde_json::value::RawValue;

use crate::dialect::Loose;
use crate::order::sort;
use crate::value::members;

/// Writes arguments, brackets included.
pub(crate) fn write_arguments(loose: &Loose, members: &[(String, &RawValue)], out: &mut String) {
    out.push(char::from(loose.open));
    for (place, (key, value)) in in_order(loose, members.iter().collect()).into_iter().enumerate() {
        if place > 0 {
            out.push_str(&loose.comma);
        }
        if loose.is_uniform() {
            write_text(loose, key, out);
            out.push_str(&loose.colon);
        } else {
            if loose.pair == b':' {
                write_key(loose, key, out);
            } else {
                out.push_str(key);
            }
            out.push(char::from(loose.pair));
        }
        write(loose, value, out);
    }
    out.push(char::from(loose.close));
}

fn in_order<'m, V>(loose: &Loose, mut members: Vec<&'m (String, V)>) -> Vec<&'m (String, V)> {
    if loose.sorted {
        sort(&mut members, |(a, _), (b, _)| a.cmp(b));
    }
    members
}

fn write_key(loose: &Loose, key: &str, out: &mut String) {
    if loose.writes_bare(key) {
        out.push_str(key);
    } else {
        write_text(loose, key, out);
    }
}

/// Writes the JSON value `json` as a loose literal.
pub(crate) fn write(loose: &Loose, json: &RawValue, out: &mut String) {
    let text = json.get();
    match text.as_bytes().first() {
        Some(b'{') => {
            out.push('{');
            let members = members(text).unwrap_or_default();
            for (place, (key, value)) in in_order(loose, members.iter().collect()).into_iter().enumerate() {
                if place > 0 {
                    out.push_str(&loose.comma);
                }
                write_key(loose, key, out);
                out.push_str(&loose.colon);
                write(loose, value, out);
            }
            out.push('}');
        }
        Some(b'[') => {
            out.push('[');
            let items: Vec<&RawValue> = serde_json::from_str(text).unwrap_or_default();
            for (place, item) in items.into_iter().enumerate() {
                if place > 0 {
                    out.push_str(&loose.comma);
                }
                write(loose, item, out);
            }
            out.push(']');
        }
        Some(b'"') => write_text(loose, &serde_json::from_str::<String>(text).unwrap_or_default(), out),
        Some(b't') => out.push_str(&loose.words[0]),
        Some(b'f') => out.push_str(&loose.words[1]),
        Some(b'n') => out.push_str(&loose.words[2]),
        _ => out.push_str(text),
    }
}

/// A text as it stands between the quotes.
pub(crate) fn escaped(loose: &Loose, text: &str) -> String {
    let mut quoted = String::new();
    write_text(loose, text, &mut quoted);
    let quote = loose.quotes[0].len();
    quoted[quote..quoted.len() - quote].to_owned()
}

fn write_text(loose: &Loose, text: &str, out: &mut String) {
    let quote = &loose.quotes[0];
    out.push_str(quote);
    if quote.len() > 1 {
        out.push_str(text);
    } else {
        for c in text.chars() {
            match c {
                '\n' => out.push_str("\\n"),
                '\t' => out.push_str("\\t"),
                '\r' => out.push_str("\\r"),
                '\\' => out.push_str("\\\\"),
                c if quote.starts_with(c) => {
                    out.push('\\');
                    out.push(c);
                }
                c if c.is_ascii_control() => {
                    let _ = write!(out, "\\x{:02x}", u32::from(c));
                }
                c => out.push(c),
            }
        }
    }
    out.push_str(quote);
}
