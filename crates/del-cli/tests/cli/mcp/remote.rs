//! Servers over HTTP whose tools models get, well-behaved and not.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::http::{Remote, SESSION, begin, event, flood, respond, send, wait};
use super::servers::{Place, said};
use crate::del::{Run, del, run};

/// Bytes of an answer that may be on their way when it is given up: the limit, and what lies in buffers.
const ENOUGH: u64 = 40 << 20;

/// A place whose own servers are this one, called `far`.
fn place(server: &Remote) -> Place {
    place_with(server, "120")
}

/// The same, where a call may take so many seconds.
fn place_with(server: &Remote, seconds: &str) -> Place {
    let place = Place::new(&[]);
    let url = server.url();
    let add = ["mcp", "add", "far", "--url", &url, "--timeout", seconds, "--header", "X-Key: k $MY_API_KEY"];
    assert_eq!(place.run(&add, "").code, 0);
    place
}

fn call(place: &Place) -> Run {
    place.call("mcp__far__echo", &json!({"n": 5}), &["--yes"])
}

/// The server cannot be used, which is said so.
fn is_left_out(server: &Remote, says: &str) {
    is_left_out_of(&place(server), says);
}

fn is_left_out_of(place: &Place, says: &str) {
    let got = place.run(&["mcp", "test", "far"], "");
    got.fails(1, &format!("the MCP server 'far' cannot be used: {says}"));
    assert!(!got.err.contains("hunter2"), "{got:#?}");
    let got = call(place);
    assert!(got.err.contains(&format!("'far' is left out: {says}")), "{got:#?}");
}

/// A call fails and says so.
fn fails(server: &Remote, says: &str) {
    let got = call(&place(server));
    assert_eq!((got.code, said(&got).as_str()), (54, says), "{got:#?}");
}

#[test]
fn a_server_over_http_is_listed_called_and_left() {
    let server = Remote::honest();
    let place = place(&server);
    let tested = place.run(&["mcp", "test", "far", "--json"], "").json();
    assert_eq!((&tested["server"], &tested["tools"][0]["name"]), (&json!("far 1"), &json!("mcp__far__echo")));
    let got = call(&place);
    assert_eq!((got.code, said(&got).as_str()), (0, r#"{"n":5}"#), "{got:#?}");
    let seen = server.seen();
    // Each run begins without a session, names it from then on, and ends it.
    assert_eq!(seen.iter().filter(|request| request.header(SESSION).is_none()).count(), 2, "{seen:#?}");
    for request in &seen {
        let first = request.method() == "initialize";
        assert_eq!(request.header(SESSION), (!first).then_some("s-1"), "{request:#?}");
        assert_eq!(request.header("mcp-protocol-version").is_none(), first, "{request:#?}");
        assert_eq!(request.header("x-key"), Some("k hunter2"), "{request:#?}");
    }
    assert_eq!(seen.iter().filter(|request| request.verb == "DELETE").count(), 2, "{seen:#?}");
}

#[test]
fn an_answer_may_be_a_stream_with_other_messages_in_it() {
    let server = Remote::new(|request, stream| {
        let note = json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": 1}});
        let question = json!({"jsonrpc": "2.0", "id": 900, "method": "sampling/createMessage", "params": {"messages": [], "maxTokens": 5}});
        let reply = request.reply(&json!({"content": [{"type": "text", "text": "streamed"}]}));
        request.is_call().then(|| send(stream, &[note.to_string(), question.to_string(), reply]))
    });
    let got = call(&place(&server));
    assert_eq!((got.code, said(&got).as_str()), (0, "streamed"), "{got:#?}");
    // The question gets no model: it is refused.
    let refused = server.seen().into_iter().find(|request| request.body["id"] == 900);
    assert!(refused.is_none_or(|request| request.body["error"].is_object()));
}

#[test]
fn what_fails_at_the_server_is_a_result_with_its_reason() {
    let failed = json!({"content": [{"type": "text", "text": "no such \u{1b}[2Jrow"}], "isError": true});
    let server = Remote::new(move |request, stream| {
        request.is_call().then(|| respond(stream, "200 OK", "", &request.reply(&failed)))
    });
    fails(&server, "Error: no such ␛[2Jrow");
    let server = Remote::new(|request, stream| {
        let error = json!({"code": -32602, "message": "n is \u{202e}too large"});
        let message = json!({"jsonrpc": "2.0", "id": request.body["id"], "error": error}).to_string();
        request.is_call().then(|| respond(stream, "200 OK", "", &message))
    });
    fails(&server, r"Error: the MCP server 'far' failed: n is \u{202e}too large.");
}

#[test]
fn results_over_http_are_cut_and_nothing_in_them_hides() {
    let server = Remote::new(|request, stream| {
        let text = format!("\u{1b}]52;c;aGk=\u{7}{}\u{202e}", "y".repeat(1_000_000));
        request.is_call().then(|| request.say(stream, &text))
    });
    let got = call(&place(&server));
    let text = said(&got);
    assert!(text.len() < 60_000 && text.contains("bytes omitted"), "{}", text.len());
    assert!(!text.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{text:?}");
}

#[test]
fn nothing_waits_for_a_server_that_says_nothing() {
    let server = Remote::new(|request, stream| (request.method() == "initialize").then(|| wait(stream)));
    let started = Instant::now();
    is_left_out_of(&place_with(&server, "2"), "it did not answer within 2 s; try again");
    assert!(started.elapsed() < Duration::from_secs(30), "{:?}", started.elapsed());

    let server = Remote::new(|request, stream| {
        request.is_call().then(|| {
            begin(stream, "text/event-stream");
            wait(stream);
        })
    });
    let got = call(&place_with(&server, "3"));
    assert_eq!(said(&got), "Error: the MCP server 'far' did not answer within 3 s.", "{got:#?}");
    assert!(server.methods().contains(&"notifications/cancelled".to_owned()), "{:?}", server.methods());
}

#[test]
fn a_call_that_tells_how_far_it_is_may_take_longer_but_not_for_ever() {
    let steps = |most: u32| {
        Remote::new(move |request, stream| {
            request.is_call().then(|| {
                begin(stream, "text/event-stream");
                for step in 0..most {
                    let params =
                        json!({"progressToken": request.body["params"]["_meta"]["progressToken"], "progress": step});
                    event(stream, &json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": params}));
                    std::thread::sleep(Duration::from_millis(200));
                }
                event(stream, &serde_json::from_str(&request.reply(&json!({"content": []}))).unwrap());
            })
        })
    };
    let got = call(&place_with(&steps(10), "1"));
    assert_eq!((got.code, said(&got).as_str()), (0, "(no output)"), "{got:#?}");
    let started = Instant::now();
    let got = call(&place_with(&steps(u32::MAX), "1"));
    assert_eq!(said(&got), "Error: the MCP server 'far' did not answer within 10 s.", "{got:#?}");
    assert!(started.elapsed() < Duration::from_secs(30), "{:?}", started.elapsed());
}

#[test]
fn an_answer_without_end_is_given_up_soon() {
    let (whole, broke) =
        ("it sent an answer above 16 MiB.", "its answer broke off, or was longer than 16 MiB.");
    for (kind, head, piece, says) in [
        ("application/json", r#"{"jsonrpc": "2.0", "id": 2, "result": {"content": [{"text": ""#, "x", whole),
        ("text/event-stream", "event: message\ndata: ", "x", broke),
        ("text/event-stream", "event: message\n", "data: xxxxxxxxxxxxxxxxxxxxxxxxxxx\n", broke),
    ] {
        let sent = Arc::new(AtomicU64::new(0));
        let count = Arc::clone(&sent);
        let piece = piece.repeat((1 << 16) / piece.len());
        let server = Remote::new(move |request, stream| {
            request.is_call().then(|| {
                begin(stream, kind);
                std::io::Write::write_all(stream, head.as_bytes()).unwrap();
                count.fetch_add(flood(stream, &piece), Ordering::SeqCst);
            })
        });
        fails(&server, &format!("Error: the MCP server 'far' failed: {says}"));
        assert!(sent.load(Ordering::SeqCst) < ENOUGH, "{kind}: {sent:?}");
    }
}

#[test]
fn what_a_server_says_on_the_side_holds_nothing_up() {
    let note = json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "x".repeat(1000)}});
    let event = format!("event: message\ndata: {note}\n\n");
    let server = Remote::new(move |request, stream| {
        (request.verb == "GET").then(|| {
            begin(stream, "text/event-stream");
            flood(stream, &event);
        })
    });
    let place = place(&server);
    let got = place.call("mcp__far__echo", &json!({"n": 5}), &["--yes"]);
    assert_eq!((got.code, said(&got).as_str()), (0, r#"{"n":5}"#), "{got:#?}");
}

#[test]
fn a_server_that_sends_to_another_one_is_not_followed() {
    let other = Remote::honest();
    for place in [other.url(), "http://169.254.169.254/latest/meta-data".to_owned(), "/elsewhere".to_owned()]
    {
        let location = format!("location: {place}\r\n");
        let server = Remote::new(move |_, stream| {
            respond(stream, "307 Temporary Redirect", &location, "");
            Some(())
        });
        is_left_out(&server, "its address leads on to another one");
    }
    assert_eq!(other.seen().len(), 0);
}

#[test]
fn a_server_that_wants_to_know_who_asks_is_told_with_a_header() {
    let challenge = "www-authenticate: Bearer resource_metadata=\"http://127.0.0.1:1/x\"\r\n";
    for (status, headers) in [
        ("401 Unauthorized", challenge),
        ("401 Unauthorized", ""),
        ("403 Forbidden", challenge),
        ("403 Forbidden", ""),
    ] {
        let server = Remote::new(move |_, stream| {
            respond(stream, status, headers, "{\"error\": \"\u{1b}[2J\"}");
            Some(())
        });
        let mut says = format!(
            "it does not know who asks (status {}); give it a key, or the right one, with --header \
             'Authorization: Bearer $NAME'",
            &status[..3]
        );
        if status.starts_with("401") && !headers.is_empty() {
            says.push_str("; signing in by a browser, which it offers, is not supported");
        }
        is_left_out(&server, &says);
    }
}

#[test]
fn a_connection_that_breaks_fails_one_call_and_no_other() {
    for (half, says) in [
        (None, "the connection to 127.0.0.1:"),
        (Some("event: message\ndata: {\"jsonrpc\""), "its answer broke off"),
    ] {
        let server = Remote::new(move |request, stream| {
            let breaks = request.is_call() && request.body["params"]["arguments"]["n"] == 5;
            breaks.then(|| {
                if let Some(half) = half {
                    begin(stream, "text/event-stream");
                    std::io::Write::write_all(stream, half.as_bytes()).unwrap();
                }
            })
        });
        let place = place(&server);
        let call = |n| json!({"name": "mcp__far__echo", "arguments": {"n": n}});
        let both = format!("<tool_call>\n{}\n</tool_call>\n<tool_call>\n{}\n</tool_call>", call(5), call(6));
        let got = place.run(&["exec", "--json", "--yes"], &both).json();
        let first = got[0]["text"].as_str().unwrap();
        assert!(first.starts_with(&format!("Error: the MCP server 'far' failed: {says}")), "{got:#}");
        assert_eq!(got[1]["text"], r#"{"n":6}"#, "{got:#}");
    }
}

#[test]
fn what_is_no_server_of_the_protocol_is_said_to_be_none() {
    for (status, kind, body, says) in [
        ("404 Not Found", "text/html", "<h1>Nothing here</h1>", "status 404"),
        ("500 Internal Server Error", "text/plain", "oops", "status 500"),
        ("200 OK", "text/html", "<h1>Welcome</h1>", "text/html"),
        ("200 OK", "application/json", "[1, 2]", "no message of the protocol"),
    ] {
        let server = Remote::new(move |_, stream| {
            let text =
                format!("HTTP/1.1 {status}\r\ncontent-type: {kind}\r\nconnection: close\r\n\r\n{body}");
            std::io::Write::write_all(stream, text.as_bytes()).unwrap();
            Some(())
        });
        let got = place(&server).run(&["mcp", "test", "far"], "");
        got.fails(1, says);
    }
    let place = Place::new(&[]);
    place.run(&["mcp", "add", "far", "--url", "http://127.0.0.1:1/mcp"], "");
    place.run(&["mcp", "test", "far"], "").fails(1, "cannot reach 127.0.0.1:1: connection refused");
}

#[test]
fn a_session_that_the_server_forgot_begins_anew() {
    let forgot = AtomicU64::new(0);
    let server = Remote::new(move |request, stream| {
        let forgets = request.is_call() && forgot.fetch_add(1, Ordering::SeqCst) == 0;
        forgets.then(|| respond(stream, "404 Not Found", "", ""))
    });
    let got = call(&place(&server));
    assert_eq!((got.code, said(&got).as_str()), (0, r#"{"n":5}"#), "{got:#?}");
    let begun = server.methods().iter().filter(|method| *method == "initialize").count();
    assert_eq!(begun, 2, "{:?}", server.methods());
}

#[test]
fn a_server_on_this_machine_is_reached_whatever_the_proxy_is() {
    let server = Remote::honest();
    let place = place(&server);
    let mut command = del(&["mcp", "test", "far", "--json"]);
    command.current_dir(place.files.path()).env("HOME", place.home.path()).env("MY_API_KEY", "hunter2");
    command.env("HTTP_PROXY", "http://127.0.0.1:1").env("http_proxy", "http://127.0.0.1:1");
    assert_eq!(run(&mut command, "").json()["ok"], Value::Bool(true));
}
