//! A task and its server: addresses, keys, and what goes wrong.

use serde_json::json;

use crate::del::{del, run};
use crate::server::{About, Reply, Server, says, words};
use crate::task::{files, run_in, task};

#[test]
fn every_trouble_with_a_server_has_a_line_and_an_exit_code() {
    let files = files();
    let error = |message: &str| json!({"error": {"message": message}}).to_string();
    let cases: [(Reply, i32, &str); 8] = [
        (
            Reply::Status(401, error("wrong key")),
            41,
            "wrong key (no key was sent: OPENAI_API_KEY is not set). Check the key",
        ),
        (Reply::Status(404, error("model not found")), 1, "model not found"),
        (Reply::Status(400, "<html>".into()), 1, "expected an error message in JSON, got `<html>`"),
        (Reply::Status(200, "<html>hello</html>".into()), 1, "got `<html>hello</html>`"),
        (Reply::Bytes("data: {\"choices\": [{\"delta\":\n\n".into()), 1, "no answer of a model server"),
        (Reply::Bytes(String::new()), 1, "an empty body"),
        (Reply::HangUp(words("The answer is ")), 1, "hung up in the middle of its answer"),
        (Reply::Status(200, error("out of memory")), 1, "out of memory"),
    ];
    for (reply, code, says) in cases {
        let server = Server::new(vec![reply.clone()]);
        let got = run_in(&files, task(&server, &["--tools-mode", "native"]));
        got.fails(code, says);
        assert_eq!(got.out, "", "{reply:?}");
    }
}

#[test]
fn a_server_that_is_busy_is_asked_again() {
    let files = files();
    let busy = json!({"error": {"message": "loading model"}}).to_string();
    let server = Server::new(vec![Reply::Header(503, "retry-after: 0\r\n", busy), says("Now.")]);
    let got = run_in(&files, task(&server, &[]));
    assert_eq!((got.code, got.out.as_str()), (0, "Now.\n"), "{got:#?}");
    assert!(got.err.contains("! loading model; try 2 of 12"), "{got:#?}");
}

#[test]
fn keys_go_to_the_server_that_was_named_and_bad_ones_are_told() {
    let server = Server::new(vec![says("ok")]);
    let with = |name: &str, options: &[&str]| run(task(&server, options).env(name, "sesame"), "");
    assert_eq!(with("OPENAI_API_KEY", &[]).code, 0);
    assert_eq!(with("MY_KEY", &["--api-key-env", "MY_KEY"]).code, 0);
    assert_eq!(with("X", &[]).code, 0);
    let sent: Vec<Option<String>> = server.completions().into_iter().map(|seen| seen.authorization).collect();
    let bearer = Some("Bearer sesame".to_owned());
    assert_eq!(sent, [bearer.clone(), bearer, None]);
    with("X", &["--api-key-env", "NO_KEY"]).fails(52, "the variable NO_KEY");
    let about = About { models: (401, "{}".into()), ..About::default() };
    let locked = Server::about(about, vec![says("never")]);
    run(&mut task(&locked, &[]), "").fails(41, "wants another key");
}

#[test]
fn the_environment_names_a_server_and_an_address_may_lack_its_v1() {
    let server = Server::new(vec![says("ok")]);
    let ask = |name: &str, value: &str| run(del(&["-p", "x"]).env(name, value), "");
    assert_eq!(ask("OPENAI_BASE_URL", server.url()).code, 0);
    let host = server.url().trim_start_matches("http://").trim_end_matches("/v1");
    assert_eq!(ask("OLLAMA_HOST", host).code, 0);
    ask("OPENAI_BASE_URL", "not an address").fails(2, "expected the address of a model server");
    ask("OPENAI_BASE_URL", "ftp://x/v1").fails(2, "expected the address of a model server");
    let models = run(&mut del(&["models", "--json", "--base-url", server.url()]), "").json();
    assert_eq!(
        models,
        json!([{"name": "scripted", "dialect": null, "context": null, "tools": null, "from": null}])
    );
}

#[test]
fn what_is_no_list_of_models_is_no_success() {
    for (status, body) in [(200, "<html>hi</html>"), (200, ""), (200, "[]"), (404, "{}")] {
        let about = About { models: (status, body.to_owned()), ..About::default() };
        let server = Server::about(about, vec![says("ok")]);
        for json in [&[][..], &["--json"]] {
            let got = run(&mut del(&[&["models", "--base-url", server.url()], json].concat()), "");
            got.fails(1, "this is no answer of a model server: expected a list of models, got ");
            assert!(got.out.is_empty(), "{}", got.out);
        }
        // Whether it answers shows with the first question.
        assert_eq!(run(&mut del(&["-p", "x", "--base-url", server.url()]), "").code, 0);
    }
}

#[test]
fn a_redirection_is_not_tried_again() {
    let elsewhere = Reply::Header(307, "location: http://localhost:1/v1\r\n", String::new());
    let server = Server::new(vec![elsewhere]);
    let got = run(&mut del(&["-p", "x", "--base-url", server.url()]), "");
    got.fails(1, "it redirects to another address, `http://localhost:1/v1`");
    assert_eq!(server.completions().len(), 1, "{}", got.err);
}

#[test]
fn what_came_before_a_server_hung_up_is_shown_and_is_no_answer() {
    let files = files();
    let server = Server::new(vec![Reply::HangUp(words("It says forty "))]);
    let got = run_in(&files, task(&server, &[]));
    got.fails(1, "hung up in the middle of its answer");
    assert!(got.out.is_empty() && got.err.contains("It says forty"), "{got:#?}");
}
