use serde_json::json;

use super::*;

fn read(json: &str, parameters: &[&'static Parameter]) -> Result<Arguments, Failure> {
    Arguments::read("tool", json, parameters, &json!({"file_path": {}, "limit": {}}))
}

fn failure(json: &str, parameters: &[&'static Parameter]) -> Failure {
    read(json, parameters).expect_err(json)
}

#[test]
fn every_spelling_of_a_key_is_understood() {
    for key in
        ["path", "file_path", "filePath", "file", "filename", "File-Path", "target", "absolute_path", "dir"]
    {
        let mut arguments = read(&json!({key: "a"}).to_string(), &[&PATH]).unwrap();
        assert_eq!(arguments.text(&PATH).as_deref(), Some("a"), "{key}");
        assert!(arguments.notes().is_empty(), "{key}");
    }
}

#[test]
fn the_declared_spelling_wins_then_the_canonical_one() {
    let mut both = read(r#"{"path": "b", "file": "c", "file_path": "a"}"#, &[&PATH]).unwrap();
    assert_eq!(both.text(&PATH).as_deref(), Some("a"));
    let mut canonical = read(r#"{"file": "c", "path": "b"}"#, &[&PATH]).unwrap();
    assert_eq!(canonical.text(&PATH).as_deref(), Some("b"));
}

#[test]
fn two_aliases_that_differ_are_named() {
    let failure = failure(r#"{"file": "a", "target": "b"}"#, &[&PATH]);
    assert_eq!(failure.code, Code::Conflict);
    assert_eq!(
        failure.to_string(),
        "Error: 'file' and 'target' both mean 'file_path' but differ. Send one of them."
    );
    assert_eq!(read(r#"{"file": "a", "target": "a"}"#, &[&PATH]).unwrap().text(&PATH).as_deref(), Some("a"));
}

#[test]
fn numbers_come_in_every_dress() {
    for (value, expected) in [
        (json!(5), Some(5)),
        (json!("5"), Some(5)),
        (json!(5.0), Some(5)),
        (json!(" 5 "), Some(5)),
        (json!(0), Some(1)),
        (json!(null), None),
        (json!(""), None),
        (json!("none"), None),
        (json!(1e300), Some(u64::MAX)),
    ] {
        let mut arguments = read(&json!({"limit": value}).to_string(), &[&LIMIT]).unwrap();
        assert_eq!(arguments.number(&LIMIT), expected, "{value}");
    }
    for value in [json!("abc"), json!(-1), json!(1.5), json!(true), json!([1]), json!("nan"), json!("inf")] {
        let failure = failure(&json!({"limit": value}).to_string(), &[&LIMIT]);
        assert_eq!(failure.code, Code::BadType, "{value}");
    }
    assert_eq!(
        failure(r#"{"limit": "abc"}"#, &[&LIMIT]).to_string(),
        "Error: 'limit' must be an integer >= 1, got \"abc\"."
    );
}

#[test]
fn too_much_is_reduced_and_said() {
    let mut arguments = read(r#"{"context": 50}"#, &[&CONTEXT_LINES]).unwrap();
    assert_eq!(arguments.number(&CONTEXT_LINES), Some(10));
    assert_eq!(arguments.notes(), ["[context reduced to 10]"]);
}

#[test]
fn seconds_may_be_milliseconds() {
    for (value, seconds) in [
        (json!(30), 30),
        (json!(120_000), 120),
        (json!("45s"), 45),
        (json!(1.2), 2),
        (json!(700), 600),
        (json!(1500), 2),
    ] {
        let mut arguments = read(&json!({"timeout": value}).to_string(), &[&TIMEOUT]).unwrap();
        assert_eq!(arguments.number(&TIMEOUT), Some(seconds), "{value}");
    }
}

#[test]
fn flags_come_in_every_dress() {
    for (value, expected) in [
        (json!(true), true),
        (json!("True"), true),
        (json!("no"), false),
        (json!(1), true),
        (json!("0"), false),
    ] {
        let mut arguments = read(&json!({"all": value}).to_string(), &[&REPLACE_ALL]).unwrap();
        assert_eq!(arguments.flag(&REPLACE_ALL), Some(expected), "{value}");
    }
    let failure = failure(r#"{"all": "maybe"}"#, &[&REPLACE_ALL]);
    assert_eq!(failure.to_string(), "Error: 'all' must be true or false, got \"maybe\".");
}

#[test]
fn a_list_of_words_is_a_command() {
    let mut arguments = read(r#"{"cmd": ["echo", "a b", "$x"]}"#, &[&COMMAND]).unwrap();
    assert_eq!(arguments.text(&COMMAND).as_deref(), Some("echo 'a b' '$x'"));
}

#[test]
fn unknown_keys_are_ignored_and_said() {
    let arguments = read(r#"{"path": "a", "description": "x", "why": 1}"#, &[&PATH]).unwrap();
    assert_eq!(arguments.notes(), ["[ignored unknown arguments: description, why]"]);
}

#[test]
fn what_is_missing_is_named_as_the_model_knows_it() {
    let failure = read(r#"{"a": 1, "b": 2}"#, &[&PATH]).unwrap().need_text(&PATH).unwrap_err();
    assert_eq!(failure.to_string(), "Error: tool needs 'file_path' (string). Got keys: a, b.");
}

#[test]
fn text_that_is_no_object_is_refused_with_its_place() {
    assert_eq!(
        failure("{\"a\": }", &[&PATH]).to_string(),
        "Error: arguments of tool are not valid JSON (line 1, column 7: expected value). Send one JSON object."
    );
    assert_eq!(failure("[1]", &[&PATH]).code, Code::BadJson);
    assert_eq!(failure("{} {}", &[&PATH]).code, Code::BadJson);
}

#[test]
fn wrapped_arguments_are_unwrapped() {
    for json in [
        r#"{"arguments": {"path": "a"}}"#,
        r#""{\"path\": \"a\"}""#,
        r#"{"name": "tool", "parameters": {"path": "a"}}"#,
    ] {
        assert_eq!(read(json, &[&PATH]).unwrap().text(&PATH).as_deref(), Some("a"), "{json}");
    }
    assert!(read("", &[&PATH]).unwrap().text(&PATH).is_none());
}
