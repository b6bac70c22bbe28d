//! Texts that are made to hurt: they may say nothing, but they never panic, overflow the stack or hang.

use del_code::{Kind, Label, Language, MAX_BYTES, Unparsed, outline_by_patterns, parse, words};

fn read(text: &str, language: &'static Language) {
    let steps = std::cell::Cell::new(0_u32);
    // What takes too long is given up, by steps and not by the clock.
    let stop = || {
        steps.set(steps.get() + 1);
        steps.get() > 60
    };
    if let Ok(source) = parse(text, language, &stop) {
        let outline = source.outline();
        assert!(outline.symbols.iter().all(|s| s.first <= s.last && s.name.chars().count() <= 201));
        let occurrences = source.occurrences("a");
        assert!(occurrences.found.windows(2).all(|pair| pair[0].at < pair[1].at));
        assert!(occurrences.found.iter().all(|found| text[found.at..].starts_with('a')));
        source.matter(text.len() / 2);
    }
    outline_by_patterns(text, language);
    if let Some(kind) = Kind::of_language(language) {
        kind.count(text);
    }
}

fn everywhere(text: &str) {
    Language::all().for_each(|language| read(text, language));
}

#[test]
fn deep_nesting_is_no_recursion() {
    for (open, close) in
        [("(", ")"), ("{", "}"), ("[", "]"), ("a(", ")"), ("if a {", "}"), ("fn a(){", "}"), ("${", "}")]
    {
        everywhere(&open.repeat(800));
        everywhere(&format!("{}{}", open.repeat(300), close.repeat(300)));
    }
    let indented = (0..200).map(|level| " ".repeat(level) + "if a:\n").collect::<String>();
    everywhere(&indented);
    everywhere(&"class a { ".repeat(300));
    everywhere(&"/*".repeat(800));
    everywhere(&"\"${".repeat(300));
    everywhere(&"<?php ?>".repeat(200));
    everywhere(&"```markdown\n".repeat(200));
    everywhere(&"<<A\n".repeat(100));
}

#[test]
fn long_lines_and_odd_bytes_are_read() {
    everywhere(&"a".repeat(100_000));
    everywhere(&"a + ".repeat(2000));
    everywhere(&"a;".repeat(2000));
    everywhere("");
    everywhere("\0");
    everywhere(&"\0a\u{feff}\u{202e}\u{fffd}é😀\r".repeat(200));
    everywhere("\r\r\n\n\u{2028}fn a() {}");
    everywhere("fn a");
}

/// Pieces of code in any order, from a fixed seed.
#[test]
fn rubble_is_read() {
    let pieces = [
        "fn ",
        "a",
        "(",
        ")",
        "{",
        "}",
        "[",
        "]",
        "\"",
        "'",
        "`",
        "${",
        "#{",
        "//",
        "/*",
        "*/",
        "\n",
        " ",
        "class ",
        "def ",
        ":",
        ";",
        "=>",
        "if ",
        "else ",
        "<<EOF\n",
        "EOF\n",
        "<?php ",
        "?>",
        "r#\"",
        "\\",
        "template<",
        ">",
        "::",
        "&&",
        "import ",
        "é",
        "\t",
        "end\n",
        "do ",
        "$",
        "@",
        "#",
        "=",
        "func ",
        "private:",
        "case ",
        "in ",
    ];
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    for _ in 0..4 {
        let mut text = String::new();
        for _ in 0..300 {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            text.push_str(pieces[usize::try_from(state >> 33).unwrap_or(0) % pieces.len()]);
        }
        everywhere(&text);
    }
}

#[test]
fn what_is_too_long_or_was_stopped_says_so() {
    let rust = Language::named("rust").unwrap();
    assert_eq!(parse(&" ".repeat(MAX_BYTES + 1), rust, &|| false).unwrap_err(), Unparsed::TooLong);
    assert_eq!(parse(&"a + ".repeat(20_000), rust, &|| true).unwrap_err(), Unparsed::Stopped);
    assert_eq!(
        parse("fun a() {}", Language::named("kotlin").unwrap(), &|| false).unwrap_err(),
        Unparsed::NoGrammar
    );
}

#[test]
fn words_are_whole() {
    let at = |text: &str, name: &str| words(text, name).collect::<Vec<_>>();
    assert_eq!(at("run rerun run_ run() äruns run", "run"), [0, 15, 28]);
    assert_eq!(at("a==b == c", "=="), [1, 5]);
    assert_eq!(at("empty? empty?!", "empty?"), [0, 7]);
    assert!(at("a\0\0b", "").is_empty());
}

#[test]
fn a_name_between_the_nodes_is_told_by_what_is_around_it() {
    let rust = Language::named("rust").unwrap();
    let source = parse("fn a() {\n    // a b\n    m! { /* a */ a \"a\" }\n}\n// a", rust, &|| false).unwrap();
    let occurrences = source.occurrences("a");
    assert_eq!(occurrences.skipped, 4);
    let labels: Vec<_> = occurrences.found.iter().map(|found| found.label).collect();
    assert_eq!(labels, [Label::Def, Label::Ref]);
}
