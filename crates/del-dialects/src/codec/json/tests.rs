use super::*;

fn read(text: &str, cut: usize) -> (Progress, String, bool) {
    let mut json = Json::new(64);
    let (mut look, mut kept, mut out, mut end) = (0, 0, String::new(), 0);
    let mut progress = Progress::More;
    while end < text.len() && progress == Progress::More {
        end = (end + cut).min(text.len());
        while !text.is_char_boundary(end) {
            end += 1;
        }
        progress = json.read(&text[..end], &mut look, &mut kept, &mut |piece, _| out.push_str(piece));
    }
    (progress, out, json.take_notes().is_some())
}

fn check(text: &str, expected: Option<&str>, mended: bool) {
    for cut in 1..=text.len() {
        let (progress, out, was_mended) = read(text, cut);
        match expected {
            Some(expected) => {
                assert_eq!((progress, out.as_str()), (Progress::Done, expected), "{text} cut every {cut}");
                assert_eq!(was_mended, mended, "{text}");
                assert!(serde_json::from_str::<serde::de::IgnoredAny>(&out).is_ok(), "{out}");
            }
            None => assert_eq!(progress, Progress::Broken, "{text} cut every {cut}"),
        }
    }
}

#[test]
fn passes_json_on_byte_for_byte() {
    for text in [
        "{}",
        r#"{ "a" : [ 1 , -0.50e+10 , true , null , {} , [] ] , "b\\\"\u00e9" : "x'y" }"#,
        r#"{"n":12345678901234567890123,"e":1e400,"z":-0,"s":"\ud800"}"#,
        "{\"日本\": \"😀 – ü\"}",
        "[]",
        "\"text\"",
    ] {
        check(text, Some(text), false);
    }
}

#[test]
fn mends_what_is_plain() {
    for (text, expected) in [
        (r#"{'a': 'it\'s "q" '}"#, r#"{"a": "it's \"q\" "}"#),
        (r#"{"a": 1, "b": [1, 2, ], }"#, r#"{"a": 1, "b": [1, 2 ] }"#),
        (r"{a: True, b_c: None, $d: False}", r#"{"a": true, "b_c": null, "$d": false}"#),
        ("{\"a\": \"x\ny\tz\u{1}\"}", r#"{"a": "x\ny\tz\u0001"}"#),
        (r#"{"p": "C:\dir \u12G"}"#, r#"{"p": "C:\\dir \\u12G"}"#),
        ("{\"a\": 1, // one\n \"b\": 2 /* two */}", "{\"a\": 1,\n \"b\": 2 }"),
        ("{\"a\": 1, # end\n}", "{\"a\": 1}"),
        (r#"{"a": 1 "b": 2}"#, r#"{"a": 1 ,"b": 2}"#),
    ] {
        let squeeze = |json: &str| json.split_whitespace().collect::<String>();
        for cut in 1..=text.len() {
            let (progress, out, mended) = read(text, cut);
            let got = (progress, squeeze(&out), mended);
            assert_eq!(got, (Progress::Done, squeeze(expected), true), "{text} cut every {cut}");
            assert!(serde_json::from_str::<serde::de::IgnoredAny>(&out).is_ok(), "{out}");
        }
    }
}

#[test]
fn breaks_where_no_reading_is_plain() {
    for text in [
        r#"{"a": }"#,
        r#"{"a" 1}"#,
        "{\"a\": 01}",
        "{\"a\": nope}",
        "{\"a\": [1}",
        "{\"a\": 1.}",
        "{,}",
        "{\"a\": .5}",
    ] {
        check(text, None, false);
    }
}

#[test]
fn stops_at_the_depth_limit() {
    let text = "[".repeat(100);
    assert_eq!(read(&text, 7).0, Progress::TooDeep);
}

#[test]
fn a_key_that_comes_twice_is_noted() {
    let many: Vec<String> = (0..40).map(|n| format!("\"k{n}\": {n}")).collect();
    for (text, repeated) in [
        (r#"{"a": 1, "b": {"a": 2}, "c": [{"a": 3}, {"a": 4}]}"#.to_owned(), false),
        (r#"{"a": 1, "b": {}, "a": 2}"#.to_owned(), true),
        (r#"{"b": [{"a\n": 1, "a\n": 2}]}"#.to_owned(), true),
        (format!("{{{}}}", many.join(", ")), false),
        (format!("{{{}, \"k39\": 0}}", many.join(", ")), true),
        ("{a: 1, 'a': 2}".to_owned(), true),
    ] {
        for cut in 1..=text.len() {
            let mut json = Json::new(64);
            let (mut look, mut kept, mut end, mut seen) = (0, 0, 0, false);
            while end < text.len() {
                end = (end + cut).min(text.len());
                json.read(&text[..end], &mut look, &mut kept, &mut |_, _| {});
                let notes = json.take_notes();
                seen |= notes.iter().flat_map(Notes::iter).any(|(kind, _)| kind == FaultKind::DuplicateKey);
            }
            assert_eq!(seen, repeated, "{text} cut every {cut}");
        }
    }
}
