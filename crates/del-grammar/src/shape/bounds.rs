//! Bounds of numbers and counts.

use serde_json::{Map, Value};

/// A count, also one that is spelt with a fraction.
pub(super) fn count(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| {
        value.as_f64().filter(|count| *count >= 0.0).and_then(|count| to_integer(count)?.try_into().ok())
    })
}

/// The inner one of an inclusive and an exclusive bound; `inward` is the step from an excluded number to the next.
/// The exclusive one may be a flag, as it was in the first drafts of JSON Schema.
pub(super) fn bound(
    schema: &Map<String, Value>,
    [inclusive, exclusive]: [&str; 2],
    inward: i64,
) -> Option<i64> {
    let number = |word: &str| {
        let value = schema.get(word)?;
        let round = if inward > 0 { f64::ceil } else { f64::floor };
        value.as_i64().map(|whole| (whole, true)).or_else(|| {
            let number = value.as_f64()?;
            Some((to_integer(round(number))?, number.fract() == 0.0))
        })
    };
    let open = schema.get(exclusive) == Some(&Value::Bool(true));
    let step = |(bound, whole): (i64, bool), open: bool| {
        if open && whole { bound.checked_add(inward) } else { Some(bound) }
    };
    let first = number(inclusive).and_then(|found| step(found, open));
    let second = number(exclusive).and_then(|found| step(found, true));
    match (first, second) {
        (Some(first), Some(second)) => Some(if inward > 0 { first.max(second) } else { first.min(second) }),
        (first, second) => first.or(second),
    }
}

/// The bound of a number as the nearest integer that leaves nothing out, and whether it says all there is to say.
pub(super) fn outer_bound(
    schema: &Map<String, Value>,
    [inclusive, exclusive]: [&str; 2],
    round: fn(f64) -> f64,
) -> (Option<i64>, bool) {
    let number = |word: &str| schema.get(word).and_then(Value::as_f64);
    let whole = |bound: f64| to_integer(round(bound)).filter(|whole| whole.unsigned_abs() <= MAX_BOUND);
    let (first, second) = (number(inclusive), number(exclusive));
    let is_open = second.is_some() || schema.get(exclusive) == Some(&Value::Bool(true));
    let bounds = [first.and_then(whole), second.and_then(whole)];
    let inner =
        bounds.into_iter().flatten().reduce(|a, b| if round(0.5) > 0.5 { a.min(b) } else { a.max(b) });
    let is_exact = first.is_none_or(|bound| bound.fract() == 0.0 && whole(bound).is_some()) && !is_open;
    (inner, is_exact)
}

/// Numbers of at most this size are written without an exponent.
const MAX_BOUND: u64 = 1_000_000_000_000_000;

fn to_integer(number: f64) -> Option<i64> {
    // Written without a fraction it reads as an integer exactly where it is one of 64 bits.
    format!("{number:.0}").parse().ok()
}
