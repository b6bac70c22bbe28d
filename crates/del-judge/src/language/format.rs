//! Formats with conversions that do more than print.

use super::Unsure;

/// `%n` assigns in some shells, and `%(` reads the clock by a format of its own.
pub(super) fn printf(format: &str) -> Result<(), Unsure> {
    if format.starts_with('-') && format != "--" {
        return Err(Unsure::Word("-"));
    }
    let mut rest = format;
    while let Some(at) = rest.find('%') {
        let behind = &rest[at + 1..];
        rest = behind.trim_start_matches(|c: char| c.is_ascii_digit() || "-+ #0'.*$".contains(c));
        // A width of many digits, or of another word, fills the disk or the memory.
        let size = &behind[..behind.len() - rest.len()];
        if size.split(|c: char| !c.is_ascii_digit()).any(|digits| digits.len() > 4) || size.contains('*') {
            return Err(Unsure::Word("%*"));
        }
        match rest.chars().next() {
            Some(c @ ('n' | '(' | 'Q' | 'q')) => return Err(Unsure::Command(c)),
            Some('%') => rest = &rest[1..],
            Some(_) => {}
            None => return Ok(()),
        }
    }
    Ok(())
}

/// `%G…` and `%(signature)` run the program that checks signatures; `%(raw)` shows what a name leads to, whatever it is.
pub(super) fn git(format: &str) -> Result<(), Unsure> {
    let mut fields = format.split("%(").skip(1).map(|field| field.trim_start_matches('*'));
    if fields.any(|field| field.starts_with("raw")) {
        return Err(Unsure::Word("%(raw)"));
    }
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
        for format in ["%99999d", "%*d", "%.*s", "%n", "%5n", "-v", "%(%Y)T", "%%%n", "%ln%n"] {
            assert!(printf(format).is_err(), "{format}");
        }
        assert!(git("%(refname) raw").is_ok() && git("%h%(raw)").is_err() && git("%(*raw:size)").is_err());
        assert!(git("%h %s").is_ok() && git("%h %G?").is_err() && git("%(signature)").is_err());
    }
}
