//! Content that says "the rest as before" instead of saying it: written, it would delete the rest.

/// The first line of `new` that stands for text left out and is not in `old`.
pub(crate) fn placeholder<'a>(new: &'a str, old: &str) -> Option<&'a str> {
    new.lines().map(str::trim).find(|line| leaves_out(line) && !old.lines().any(|own| own.trim() == *line))
}

fn leaves_out(line: &str) -> bool {
    const COMMENTS: [&str; 9] = ["//", "#", "--", "/*", "<!--", "%", ";", "{/*", "\"\"\""];
    const PHRASES: [&str; 12] = [
        "rest of",
        "existing code",
        "existing content",
        "existing implementation",
        "remaining code",
        "remaining content",
        "unchanged",
        "previous code",
        "same as before",
        "other methods",
        "other functions",
        "code here remains",
    ];
    if line.len() > 200 || !(line.contains("...") || line.contains('…')) {
        return false;
    }
    let said = COMMENTS.iter().find_map(|comment| line.strip_prefix(comment));
    let said = said.unwrap_or(line).trim_start_matches(['/', '#', '*', ' ', '!', '[', '(']);
    let lower = said.to_lowercase();
    let ended = lower.trim_end_matches(['*', '/', '-', '>', '}', ')', ']', '"', ' ']);
    let ends = ended.ends_with("...") || ended.ends_with('…');
    let phrase = PHRASES.iter().any(|phrase| lower.contains(phrase));
    // Either the ellipsis opens the line, or it ends one that is only the phrase.
    let opens = lower.starts_with("...") || lower.starts_with('…');
    let commented = COMMENTS.iter().any(|comment| line.starts_with(comment));
    let only = PHRASES.iter().any(|phrase| lower.trim_start_matches("the ").starts_with(phrase));
    phrase && (opens || (commented && only && ends))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_found() {
        for line in [
            "// ... rest of code ...",
            "    # ... existing code ...",
            "<!-- ... rest of the page ... -->",
            "/* … unchanged … */",
            "// rest of the file...",
            "... rest of code ...",
            "{/* ... existing content ... */}",
            "# (rest of the function unchanged...)",
            "// ... other methods ...",
        ] {
            assert!(placeholder(&format!("a\n{line}\nb"), "").is_some(), "{line}");
        }
    }

    #[test]
    fn ordinary_text_is_not() {
        for line in [
            "...",
            "# ...",
            "def f(*args): ...",
            "print(\"rest of ...\")",
            "// Waits for the rest of the answer.",
            "let rest = [...existing];",
            "for (const x of [...rest, ...previous]) {}",
            "The value is left unchanged... or so it seems.",
            "// the previous code path is gone... see below",
        ] {
            assert_eq!(placeholder(line, ""), None, "{line}");
        }
    }

    #[test]
    fn a_line_that_was_there_may_stay() {
        assert_eq!(placeholder("// ... rest of code ...", "a\n  // ... rest of code ...\n"), None);
    }
}
