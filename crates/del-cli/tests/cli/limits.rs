//! What a question meets beside its answer: the limit of the model, a server that refuses, and one that is silent.

use serde_json::json;

use crate::del::{del, directory, run};
use crate::server::{About, Reply, Server, calls, says};
use crate::task::{files, run_in, task};

#[test]
fn the_limit_that_a_list_of_models_tells_holds_from_the_first_question_on() {
    let long = (0..400).map(|n| format!("line {n} of a long file\n")).collect::<Vec<_>>().concat();
    let files = directory(&[("a.txt", &long)]);
    let read = |id: &str, offset: u32| {
        match calls(id, "read_file", &json!({"file_path": "a.txt", "offset": offset, "limit": 150})) {
            // The server counts nothing, so that the estimate holds.
            Reply::Stream(mut chunks) => {
                chunks.pop();
                Reply::Stream(chunks)
            }
            other => other,
        }
    };
    let listed = json!({"data": [{"id": "scripted", "max_model_len": 10_000}]}).to_string();
    let about = About { models: (200, listed), ..About::default() };
    let mut script: Vec<Reply> = (0..8).map(|n| read(&format!("c{n}"), 1 + 30 * n)).collect();
    script.push(says("Read."));
    let server = Server::about(about, script);
    let got = run_in(&files, task(&server, &[]));
    assert_eq!(got.code, 0, "{got:#?}");
    let last = server.completions().pop().unwrap().body["messages"].to_string();
    assert!(last.contains("left out to make room"), "{last:.2000}");
}

#[test]
fn a_question_that_fails_where_nobody_sits_ends_with_its_exit_code() {
    let files = files();
    let refused = |status: u16| {
        let body = json!({"error": {"message": "no"}}).to_string();
        Server::new(vec![Reply::Status(status, body)])
    };
    let server = refused(401);
    let got = run(del(&["--base-url", server.url()]).current_dir(files.path()), "what is this?\n");
    assert_eq!(got.code, 41, "{got:#?}");
    let server = refused(400);
    let got = run(del(&["what is this?", "--base-url", server.url()]).current_dir(files.path()), "");
    assert_eq!(got.code, 1, "{got:#?}");
    let server = Server::new(vec![says("Four.")]);
    let got = run(del(&["what is this?", "--base-url", server.url()]).current_dir(files.path()), "");
    assert_eq!(got.code, 0, "{got:#?}");
}

#[test]
fn a_server_that_says_nothing_is_given_up_in_the_time_that_was_asked_for() {
    let files = files();
    let server = Server::new(vec![Reply::Silence(Vec::new()), Reply::Silence(Vec::new())]);
    let got = run_in(&files, task(&server, &["--first-byte-timeout", "1"]));
    assert_eq!(got.code, 1, "{got:#?}");
    assert!(got.err.contains("said nothing in time (tries: 2)"), "{got:#?}");
    assert_eq!(server.completions().len(), 2);
}
