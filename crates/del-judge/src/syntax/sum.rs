//! Computations: `$((…))` with whole numbers, and with names whose values are whole numbers.

/// The computation at the beginning of a text, which `))` ends. It holds nothing that could be a command.
pub(super) fn begun(text: &str) -> Option<&str> {
    let mut open = 0_usize;
    for (at, b) in text.bytes().enumerate() {
        match b {
            b'(' => open += 1,
            b')' if open == 0 => return text[at..].starts_with("))").then(|| &text[..at]),
            b')' => open -= 1,
            b'0'..=b'9' | b'a'..=b'z' | b'_' | b'$' | b' ' | b'+' | b'-' | b'*' | b'/' | b'%' => {}
            _ => return None,
        }
    }
    None
}

pub(super) fn has_names(sum: &str) -> bool {
    sum.bytes().any(is_letter)
}

fn is_letter(b: u8) -> bool {
    b.is_ascii_lowercase() || b == b'_'
}

/// The computation with the values of its names. A shell computes with a value once more, so only plain numbers are
/// taken: none is below zero, and none begins with a zero, behind which it would be octal.
pub(super) fn filled(sum: &str, value: impl Fn(&str) -> Option<String>) -> Option<String> {
    let mut filled = String::new();
    let mut rest = sum;
    while let Some(at) = rest.bytes().position(|b| is_letter(b) || b == b'$') {
        let (before, behind) = rest.split_at(at);
        let behind = behind.strip_prefix('$').unwrap_or(behind);
        let length = behind.bytes().take_while(|b| is_letter(*b) || b.is_ascii_digit()).count();
        let (name, behind) = behind.split_at(length);
        filled.push_str(before);
        // Behind a digit it would be a part of another name or number.
        if !name.bytes().next().is_some_and(is_letter) || filled.ends_with(|c: char| c.is_ascii_digit()) {
            return None;
        }
        filled.push_str(value(name)?.trim_matches([' ', '\t', '\n']));
        rest = behind;
    }
    filled.push_str(rest);
    Some(filled)
}

/// What a computation with plain numbers comes to.
pub(super) fn compute(sum: &str) -> Option<i64> {
    if !sum.bytes().all(|b| b.is_ascii_digit() || b" +-*/%()".contains(&b)) || sum.len() > 200 {
        return None;
    }
    let mut sum = Sum { rest: sum };
    let value = sum.sum(0)?;
    sum.rest.trim_start().is_empty().then_some(value)
}

struct Sum<'a> {
    rest: &'a str,
}

impl Sum<'_> {
    fn eat(&mut self, signs: &[char]) -> Option<char> {
        let rest = self.rest.trim_start();
        let sign = rest.chars().next().filter(|c| signs.contains(c))?;
        self.rest = &rest[1..];
        Some(sign)
    }

    fn sum(&mut self, depth: usize) -> Option<i64> {
        let mut value = self.product(depth)?;
        while let Some(sign) = self.eat(&['+', '-']) {
            let other = self.product(depth)?;
            value = if sign == '+' { value.checked_add(other)? } else { value.checked_sub(other)? };
        }
        Some(value)
    }

    fn product(&mut self, depth: usize) -> Option<i64> {
        let mut value = self.number(depth)?;
        while let Some(sign) = self.eat(&['*', '/', '%']) {
            let other = self.number(depth)?;
            value = match sign {
                '*' => value.checked_mul(other)?,
                '/' => value.checked_div(other)?,
                _ => value.checked_rem(other)?,
            };
        }
        Some(value)
    }

    fn number(&mut self, depth: usize) -> Option<i64> {
        if self.eat(&['(']).is_some() {
            let value = if depth < 16 { self.sum(depth + 1)? } else { return None };
            self.eat(&[')'])?;
            return Some(value);
        }
        let rest = self.rest.trim_start();
        let length = rest.bytes().take_while(u8::is_ascii_digit).count();
        let (digits, rest) = rest.split_at(length);
        self.rest = rest;
        // Behind a zero numbers are octal.
        digits.parse().ok().filter(|_| digits == "0" || !digits.starts_with('0'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn computations_end_where_bash_ends_them() {
        for (text, expected) in [
            ("1+2)) x", Some("1+2")),
            ("2*(x+1)))", Some("2*(x+1)")),
            ("(x))) ))", Some("(x)")),
            ("x);y))", None),
            ("a[0]))", None),
            ("`x`))", None),
            ("$(x)))", Some("$(x)")),
            ("x=1))", None),
            ("X))", None),
            ("1+2)", None),
            ("1+2", None),
        ] {
            assert_eq!(begun(text), expected, "{text}");
        }
    }

    #[test]
    fn names_are_plain_numbers_or_nothing() {
        let value = |name: &str| {
            let values = [
                ("x", "41"),
                ("n", " 7\n"),
                ("zero", "0"),
                ("minus", "-1"),
                ("octal", "010"),
                ("sum", "x+1"),
                ("command", "a[$(id)]"),
            ];
            values.iter().find(|(own, _)| *own == name).map(|(_, value)| (*value).to_owned())
        };
        let computed = |sum: &str| filled(sum, value).and_then(|sum| compute(&sum));
        for (sum, expected) in
            [("x+1", 42), ("$x + 1", 42), ("(x-1)*n/2", 140), ("zero", 0), (" n % 4 ", 3), ("1 - x", -40)]
        {
            assert_eq!(computed(sum), Some(expected), "{sum}");
        }
        for sum in [
            "minus+1", "octal+1", "sum", "command", "nobody", "$(x)", "2x", "x n", "x+", "$", "$1", "x**2",
            "x/zero", "x--1", "$$x", "x$n", "$x$n", "1$x",
        ] {
            assert_eq!(computed(sum), None, "{sum}");
        }
    }
}
