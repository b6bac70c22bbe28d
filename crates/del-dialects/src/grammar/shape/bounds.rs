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

fn to_integer(number: f64) -> Option<i64> {
    // Written without a fraction it reads as an integer exactly where it is one of 64 bits.
    format!("{number:.0}").parse().ok()
}
