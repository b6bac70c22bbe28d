//! `del -p --schema`: answers that fit a JSON schema.

use serde_json::json;

use crate::del::directory;
use crate::server::{Reply, Server, calls, says};
use crate::task::{run_in, task};

const NUMBER: &str = r#"{"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}"#;

#[test]
fn an_answer_is_asked_for_until_it_fits_the_schema() {
    let files = directory(&[("a.txt", "forty-two\n"), ("n.json", NUMBER)]);
    let server = Server::new(vec![
        calls("c1", "read_file", &json!({"file_path": "a.txt"})),
        says("It says forty-two."),
        says("{\"n\": \"42\"}"),
        says("```json\n{\"n\": 42}\n```"),
    ]);
    let got = run_in(&files, task(&server, &["--schema", "n.json"]));
    assert_eq!((got.code, got.out.as_str()), (0, "{\"n\":42}\n"), "{got:#?}");
    assert!(got.err.contains("does not fit the schema"), "{got:#?}");
    let requests = server.completions();
    assert_eq!(requests[0].body.get("response_format"), None, "tools come first");
    for request in &requests[2..] {
        assert_eq!(request.body["response_format"]["json_schema"]["schema"]["required"], json!(["n"]));
        assert_eq!(request.body.get("tools"), None);
    }
    let last = requests[3].body["messages"].as_array().unwrap().last().unwrap().to_string();
    assert!(last.contains("/n"), "it is told what was wrong: {last}");
    let server = Server::new(vec![says("forty-two"), says("{\"n\": 42}")]);
    let got = run_in(&files, task(&server, &["--schema", "n.json", "--output-format", "json"]));
    assert_eq!(got.json()["num_turns"], 2, "every time it is asked counts: {got:#?}");
}

#[test]
fn an_answer_that_never_fits_is_an_error_also_where_the_server_knows_no_schemas() {
    let files = directory(&[("n.json", NUMBER)]);
    let refusal =
        Reply::Status(400, json!({"error": {"message": "unknown field response_format"}}).to_string());
    let server = Server::new(vec![says("one"), refusal, says("two"), says("three")]);
    let got = run_in(&files, task(&server, &["--schema", "n.json", "--output-format", "stream-json"]));
    got.fails(1, "does not fit the schema after 3 tries: expected JSON, got other text");
    let last = got.lines().pop().unwrap();
    assert_eq!((&last["type"], &last["is_error"]), (&json!("result"), &json!(true)), "{last}");
    let asked = server.completions();
    assert_eq!(asked.len(), 4);
    assert_eq!(asked[3].body.get("response_format"), None);
    let bad = run_in(&files, task(&server, &["--schema", "a.txt"]));
    bad.fails(42, "cannot read a.txt");
}
