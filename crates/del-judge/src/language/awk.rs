//! Programs of awk. They are not parsed: what could run or write something has to be spelled out somewhere, and a program
//! that spells out none of it is harmless.

use super::Unsure;

/// Running, reading other files, loading code, and the tables through which variables are reached by name.
const WORDS: [&str; 11] = [
    "system", "getline", "ARGV", "ARGC", "SYMTAB", "FUNCTAB", "PROCINFO", "ENVIRON", "fflush", "close",
    "eval",
];

pub(super) fn check(program: &str) -> Result<(), Unsure> {
    if let Some(word) = WORDS.into_iter().find(|word| program.contains(word)) {
        return Err(Unsure::Word(word));
    }
    if program.contains('@') {
        return Err(Unsure::Word("@"));
    }
    // A line that is continued may divide a word.
    if program.contains("\\\n") {
        return Err(Unsure::Broken);
    }
    // `>` and `|` send output somewhere only behind `print`; before the first one they compare, or are text.
    let stripped = strings(program);
    let program = stripped.as_deref().unwrap_or(program);
    let Some(print) = program.find("print") else { return Ok(()) };
    let behind = &program[print..];
    if behind.contains('>') {
        return Err(Unsure::Word(">"));
    }
    if behind.split("||").any(|part| part.contains('|')) {
        return Err(Unsure::Word("|"));
    }
    Ok(())
}

/// The program with its strings emptied. Only where there is no slash: it could begin a regular expression, in which a
/// quote is a character.
fn strings(program: &str) -> Option<String> {
    if program.contains(['/', '#']) {
        return None;
    }
    let mut out = String::new();
    let mut chars = program.chars();
    let mut inside = false;
    while let Some(c) = chars.next() {
        match c {
            '"' => inside = !inside,
            '\\' if inside => drop(chars.next()),
            _ if inside => continue,
            _ => {}
        }
        if !inside || c == '"' {
            out.push(c);
        }
    }
    (!inside).then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_only_prints_is_known() {
        for program in [
            "{print $1}",
            "NR>=5 && NR<=10",
            "/a|b/ {print}",
            "$3 > 100 {print $1}",
            "{s+=$1} END {print s}",
            "!seen[$0]++",
            "a || b {print a || b}",
            "{print $1 \" | \" $2}",
            "{print \"a > b\"}",
            "$1 > 2",
        ] {
            assert_eq!(check(program), Ok(()), "{program}");
        }
    }

    #[test]
    fn what_may_do_more_is_not() {
        for program in [
            "BEGIN{system(\"id\")}",
            "{print > \"x\"}",
            "{print|\"sh\"}",
            "{printf \"a\" ||| \"sh\"}",
            "{print >> \"x\"}",
            "\"id\" | getline",
            "@load \"x\"",
            "{print $1 |& \"x\"}",
            "{sys\\\ntem(\"x\")}",
            "BEGIN{ARGV[1]=\"x\"}",
            "{print a ? b : c > \"x\"}",
            "{print \"a||b\" | \"sh\"}",
            "{print \"a\\\"\" > \"x\"}",
            "{print \"/\" > \"x\"}",
        ] {
            assert!(check(program).is_err(), "{program}");
        }
    }
}
