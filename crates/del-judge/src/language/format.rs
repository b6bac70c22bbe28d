//! Formats with conversions that do more than print.

use super::Unsure;

/// `%n` assigns in some shells, and `%(` reads the clock by a format of its own.
pub(super) fn printf(format: &str) -> Result<(), Unsure> {
    if format.starts_with('-') && format != "--" {
        return Err(Unsure::Word("-"));
    }
    let mut rest = format;
    while let Some(at) = rest.find('%') {
        rest = rest[at + 1..].trim_start_matches(|c: char| c.is_ascii_digit() || "-+ #0'.*$".contains(c));
        match rest.chars().next() {
            Some(c @ ('n' | '(' | 'Q' | 'q')) => return Err(Unsure::Command(c)),
            Some('%') => rest = &rest[1..],
            Some(_) => {}
            None => return Ok(()),
        }
    }
    Ok(())
}

/// `%G…` and `%(signature)` run the program that checks signatures.
pub(super) fn git(format: &str) -> Result<(), Unsure> {
    match ["%G", "signature", "%+G", "%-G", "% G"].into_iter().find(|word| format.contains(word)) {
        Some(word) => Err(Unsure::Word(word)),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conversions_that_assign_or_run_are_not_taken() {
        for format in ["%s\\n", "%-10s|%5d", "100%%\\n", "%", "x", "%%n"] {
            assert_eq!(printf(format), Ok(()), "{format}");
        }
        for format in ["%n", "%5n", "-v", "%(%Y)T", "%%%n", "%ln%n"] {
            assert!(printf(format).is_err(), "{format}");
        }
        assert!(git("%h %s").is_ok() && git("%h %G?").is_err() && git("%(signature)").is_err());
    }
}
