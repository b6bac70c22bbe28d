//! An automaton beside a plain search, and however a text is cut.

use super::*;

fn all(patterns: &[&str], text: &str, cut: usize) -> Vec<(u16, usize)> {
    let automaton = Automaton::new(patterns.iter().copied());
    let (mut scan, mut look, mut work, mut found) = (Scan::default(), 0, 0, Vec::new());
    let mut end = 0;
    while end < text.len() {
        end = (end + cut).min(text.len());
        while let Some(hit) = automaton.find(&mut scan, &text.as_bytes()[..end], &mut look, &mut work) {
            found.push((hit.pattern, hit.start));
        }
    }
    while let Some(hit) = automaton.take(&mut scan, &mut look, &mut work) {
        found.push((hit.pattern, hit.start));
        while let Some(hit) = automaton.find(&mut scan, text.as_bytes(), &mut look, &mut work) {
            found.push((hit.pattern, hit.start));
        }
    }
    found
}

#[test]
fn finds_the_leftmost_longest_however_the_text_is_cut() {
    type Case = (&'static [&'static str], &'static str, &'static [(u16, usize)]);
    let cases: [Case; 15] = [
        (&["><a", "<", "<bc>"], "><bc> ><bx", &[(2, 1), (1, 7)]),
        (&["x<ab", "<", "<a", "<ac"], "x<ac x<ad", &[(3, 1), (2, 6)]),
        (&["x<ab>", "<", "ab<"], "x<ab<", &[(1, 1), (2, 2)]),
        (&["<a>", "<ab>"], "x<a><ab><<a>", &[(0, 1), (1, 4), (0, 9)]),
        (&["```", "```json"], "```js ```json", &[(0, 0), (1, 6)]),
        (&["]<x>", "<x>"], "]<x> <x>", &[(0, 0), (1, 5)]),
        (&["</p>", "\n</p>"], "\n\n</p></p>", &[(1, 1), (0, 6)]),
        (&["abcd", "bc"], "abce", &[(1, 1)]),
        (&["aab"], "aaab", &[(0, 1)]),
        (&["<a\0>"], "<a> <a:> <a:b> <a:b-c_D.9><a:b<a:c>", &[(0, 9), (0, 15), (0, 30)]),
        (&["<a>", "<a\0>"], "<a><a:b>", &[(0, 0), (1, 3)]),
        (&["<a\0>", "\n<a\0>\n"], "\n<a:bc>.\n<a:bc>\n", &[(0, 1), (1, 8)]),
        (&["\n<a:bc", "<a\0>"], "\n<a:bcd>\n<a:bd>", &[(0, 0), (1, 9)]),
        (&["<a\0", "b>"], "<a:bcd>b>", &[(0, 0), (1, 7)]),
        (&["<a:b>", "<a\0>", "d:"], "<a:b><a:cd:", &[(1, 0), (2, 9)]),
    ];
    for (patterns, text, expected) in cases {
        for cut in 1..=text.len() {
            assert_eq!(all(patterns, text, cut), expected, "{patterns:?} in {text:?} cut every {cut}");
        }
    }
}

/// Beside a search that tries all patterns at every place.
#[test]
fn finds_what_a_plain_search_finds() {
    let mut state = 7_u32;
    let mut next = |below: usize| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 16) as usize % below
    };
    for _ in 0..4000 {
        let mut word =
            |longest: usize| -> String { (0..=next(longest)).map(|_| ['a', 'b', '<'][next(3)]).collect() };
        let patterns: Vec<String> = (0..5).map(|_| word(5)).collect();
        let text = word(24);
        let patterns: Vec<&str> = patterns.iter().map(String::as_str).collect();
        let (mut expected, mut at) = (Vec::new(), 0);
        while at < text.len() {
            let here = || patterns.iter().enumerate().filter(|(_, one)| text[at..].starts_with(**one));
            let longest = here().map(|(_, one)| one.len()).max().unwrap_or(0);
            if let Some((number, _)) = here().find(|(_, one)| one.len() == longest) {
                expected.push((u16::try_from(number).unwrap(), at));
            }
            at += longest.max(1);
        }
        for cut in [1, 3, text.len()] {
            assert_eq!(all(&patterns, &text, cut), expected, "{patterns:?} in {text:?} cut every {cut}");
        }
    }
}

/// Long texts are searched otherwise than short ones, and both find the same.
#[test]
fn finds_the_same_in_long_texts_as_in_short_pieces() {
    let sets: [&[&str]; 5] = [
        &["<tool>"],
        &["<tool>", "</tool>", "{", "[", "```", "```json"],
        &[
            "<tool>",
            "call:",
            "calls",
            "function",
            " to=",
            "\n<tool>",
            "｜DSML｜",
            "◁think▷",
            "{",
            "#",
            "|a",
            ">>",
        ],
        &["<a\0>", "<a>", "a:b", "{\"name\":"],
        &["\n</p>", "</p>", "\n\n"],
    ];
    let words = [
        "<tool>",
        "<too",
        "call",
        ":",
        "calls ",
        "function",
        " to",
        "=",
        "\n",
        "｜DSML｜",
        "｜",
        "◁think▷",
        "日本",
        "{",
        "{\"name\":",
        "[1, 2] ",
        "a < b ",
        "`x` ",
        "```json",
        "<a:b>",
        "</p>",
        "the parser reads on and on ",
    ];
    let mut state = 1_u32;
    for patterns in sets {
        let mut text = String::new();
        while text.len() < 32 << 10 {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            text.push_str(words[(state >> 16) as usize % words.len()]);
            // Stretches in which nothing begins.
            text.extend(std::iter::repeat_n("read on, ", (state >> 28) as usize));
        }
        let whole = all(patterns, &text, text.len());
        assert!(whole.len() > 5, "{patterns:?}");
        for cut in [7, 33, 1000, 2049] {
            assert_eq!(all(patterns, &text, cut), whole, "{patterns:?} cut every {cut}");
        }
    }
}

#[test]
fn goes_on_behind_what_does_not_count() {
    let automaton = Automaton::new(["{", "{{", "<a>"]);
    let text = b"{ {{ <a> {";
    let (mut scan, mut look, mut seen) = (Scan::default(), 0, Vec::new());
    let hit = automaton.find_where(&mut scan, &mut Ahead::default(), text, &mut look, &mut 0, |hit| {
        seen.push(hit.start);
        hit.pattern == 2
    });
    assert_eq!((hit.map(|hit| hit.start), seen), (Some(5), vec![0, 2, 5]));
}

#[test]
fn holds_back_a_suffix_of_bounded_length() {
    let automaton = Automaton::new(["<a\0>"]);
    for (len, held, found) in [(MAX_WORD, MAX_WORD + 3, true), (MAX_WORD + 1, 0, false)] {
        let text = format!("<a:{}>", "x".repeat(len));
        let (mut scan, mut look, mut work) = (Scan::default(), 0, 0);
        assert_eq!(automaton.find(&mut scan, &text.as_bytes()[..len + 3], &mut look, &mut work), None);
        assert_eq!(automaton.pending(&scan), held);
        let hit = automaton.find(&mut scan, text.as_bytes(), &mut look, &mut work);
        assert_eq!(hit.map(|hit| (hit.start, hit.end)), found.then_some((0, text.len())));
    }
}

#[test]
fn holds_back_no_more_than_may_begin_a_pattern() {
    let automaton = Automaton::new(["<tool>"]);
    let (mut scan, mut look, mut work) = (Scan::default(), 0, 0);
    assert_eq!(automaton.find(&mut scan, b"a <to", &mut look, &mut work), None);
    assert_eq!(automaton.pending(&scan), 3);
    assert_eq!(automaton.find(&mut scan, b"a <to b", &mut look, &mut work), None);
    assert_eq!(automaton.pending(&scan), 0);
}
