//! Integers and other numbers between two bounds, digit by digit.

use crate::rules::{Class, Expr};

/// The most digits of a number with a bound: those of 64 bits.
const MAX_DIGITS: u32 = 19;
/// The most digits of any other: no number that means one has more, and a model that goes on writing digits stops.
pub(crate) const MAX_FREE_DIGITS: u32 = 40;

/// Integers from `min` to `max`, where a bound that is missing is as far as 64 bits go.
pub(crate) fn between(min: Option<i64>, max: Option<i64>) -> Expr {
    let mut parts = Vec::new();
    if min.is_none_or(|min| min < 0) {
        let from = max.filter(|max| *max < 0).map_or(1, i64::unsigned_abs);
        let to = min.map(i64::unsigned_abs);
        parts.push(Expr::sequence([Expr::text("-"), naturals(from, to)]));
    }
    if max.is_none_or(|max| max >= 0) {
        let from = min.filter(|min| *min > 0).map_or(0, i64::unsigned_abs);
        parts.push(naturals(from, max.map(i64::unsigned_abs)));
    }
    Expr::choice(parts)
}

/// Any integer.
pub(crate) fn any() -> Expr {
    Expr::sequence([
        Expr::text("-").optional(),
        Expr::choice([
            Expr::text("0"),
            Expr::sequence([Class::digits(1, 9), Class::digits(0, 9).repeat(0, Some(MAX_FREE_DIGITS - 1))]),
        ]),
    ])
}

/// Numbers from `min` to `max`, in the ways that they are written: with a fraction, and with an exponent where they are
/// near to zero or have more than sixteen digits.
pub(crate) fn numbers(min: Option<i64>, max: Option<i64>) -> Expr {
    let mut parts = Vec::new();
    if min.is_none_or(|min| min < 0) {
        let from = max.filter(|max| *max < 0).map_or(0, i64::unsigned_abs);
        parts.push(Expr::sequence([Expr::text("-"), decimals(from, min.map(i64::unsigned_abs))]));
    }
    if max.is_none_or(|max| max >= 0) {
        let from = min.filter(|min| *min > 0).map_or(0, i64::unsigned_abs);
        parts.push(decimals(from, max.map(i64::unsigned_abs)));
    }
    Expr::choice(parts)
}

fn decimals(from: u64, to: Option<u64>) -> Expr {
    let digits = |most: u32| Class::digits(0, 9).repeat(1, Some(most));
    let fraction = || Expr::sequence([Expr::text("."), digits(MAX_FREE_DIGITS)]);
    let power = |sign: Expr, power: Expr| {
        let head = Expr::sequence([Class::digits(1, 9), fraction().optional()]);
        Expr::sequence([head, Expr::Class(Class::of(['e', 'E'])), sign, power])
    };
    let mut parts = Vec::new();
    if to.is_none_or(|to| from < to) {
        let whole = naturals(from, to.map(|to| to - 1));
        parts.push(Expr::sequence([whole, fraction().optional()]));
    }
    if let Some(to) = to {
        let zeros = Expr::sequence([Expr::text("."), Expr::text("0").repeat(1, Some(MAX_FREE_DIGITS))]);
        parts.push(Expr::sequence([Expr::Literal(to.to_string()), zeros.optional()]));
    } else {
        let high = Expr::sequence([Class::digits(1, 9), Class::digits(0, 9).repeat(1, Some(2))]);
        parts.push(power(Expr::text("+").optional(), high));
    }
    if from == 0 && to != Some(0) {
        parts.push(power(Expr::text("-"), digits(3)));
    }
    Expr::choice(parts)
}

fn naturals(from: u64, to: Option<u64>) -> Expr {
    let mut parts = Vec::new();
    let mut low = from;
    loop {
        let digits = low.checked_ilog10().unwrap_or(0) + 1;
        // The first number with one digit more; 64 bits hold it for every count of digits that occurs.
        let longer = 10_u64.saturating_pow(digits);
        let lowest = if digits == 1 { low <= 1 } else { low == 10_u64.pow(digits - 1) };
        if to.is_none() && lowest {
            if low == 0 {
                parts.push(Expr::text("0"));
            }
            let tail = Class::digits(0, 9).repeat(digits - 1, Some(MAX_DIGITS - 1));
            parts.push(Expr::sequence([Class::digits(1, 9), tail]));
            break;
        }
        let high = to.map_or(longer - 1, |to| to.min(longer - 1));
        parts.push(same_length(&low.to_string(), &high.to_string()));
        if digits == MAX_DIGITS || to.is_some_and(|to| to < longer) {
            break;
        }
        low = longer;
    }
    Expr::choice(parts)
}

/// Numbers from `low` to `high`, which have as many digits as each other.
fn same_length(low: &str, high: &str) -> Expr {
    let (Some(first), Some(last)) = (low.bytes().next(), high.bytes().next()) else { return Expr::empty() };
    let (first, last) = (first - b'0', last - b'0');
    let (low_tail, high_tail) = (&low[1..], &high[1..]);
    let tail = u32::try_from(low_tail.len()).unwrap_or(0);
    if first == last {
        return Expr::sequence([Class::digits(first, first), same_length(low_tail, high_tail)]);
    }
    let (mut whole_from, mut whole_to) = (first, last);
    let mut parts = Vec::new();
    if low_tail.bytes().any(|digit| digit != b'0') {
        let nines = "9".repeat(low_tail.len());
        parts.push(Expr::sequence([Class::digits(first, first), same_length(low_tail, &nines)]));
        whole_from += 1;
    }
    let partial_end = high_tail.bytes().any(|digit| digit != b'9');
    if partial_end {
        whole_to -= 1;
    }
    if whole_from <= whole_to {
        let any = Class::digits(0, 9).repeat(tail, Some(tail));
        parts.push(Expr::sequence([Class::digits(whole_from, whole_to), any]));
    }
    if partial_end {
        let zeros = "0".repeat(high_tail.len());
        parts.push(Expr::sequence([Class::digits(last, last), same_length(&zeros, high_tail)]));
    }
    Expr::choice(parts)
}
