//! Calls that break off: how a stream goes on behind them, and ends, as the SDK of each API has it.

use del_proxy::answer::Stream;
use del_wire::{FromServer, Ids};
use serde_json::{Value, json};

use crate::apis::{APIS, Message};
use crate::client::reader;
use crate::cuts::CHAT;

/// What the client of an API gets of these deltas and this end, and the kinds of events that these are.
fn told(api: &str, deltas: &[Value], finish: &str) -> (Message, String) {
    let (_, client, of_stream, _) = APIS.into_iter().chain([CHAT]).find(|(name, ..)| *name == api).unwrap();
    let mut stream = Stream::between(reader(&[]), Ids::default(), FromServer::chat(), client());
    let mut out = Vec::new();
    let ends = [(json!({}), json!(finish))];
    for (delta, finish) in deltas.iter().map(|delta| (delta.clone(), Value::Null)).chain(ends) {
        let choice = json!({"index": 0, "delta": delta, "finish_reason": finish});
        stream.push(format!("data: {}\n\n", json!({"id": "x", "choices": [choice]})).as_bytes(), &mut out);
    }
    stream.push(b"data: [DONE]\n\n", &mut out);
    let text = String::from_utf8(out).unwrap();
    (of_stream(&text), text)
}

fn call(index: u32, id: &str, arguments: &str) -> Value {
    let function = json!({"name": "f", "arguments": arguments});
    json!({"tool_calls": [{"index": index, "id": id, "type": "function", "function": function}]})
}

/// The events of a stream but those that say more of something, and the status of items in them.
fn kinds(stream: &str) -> Vec<String> {
    let data = stream.lines().filter_map(|line| line.strip_prefix("data: "));
    let events = data.map(|data| serde_json::from_str::<Value>(data).unwrap());
    let kind = |event: Value| {
        let kind = event["type"].as_str().unwrap().trim_start_matches("response.").to_owned();
        let status = event["item"]["status"].as_str().unwrap_or_default();
        (!kind.contains("delta") && !kind.contains("part"))
            .then(|| format!("{kind} {status}").trim_end().to_owned())
    };
    events.filter_map(kind).skip(1).collect()
}

#[test]
fn a_call_that_the_limit_cuts_ends_as_incomplete() {
    let native = [json!({"content": "Well."}), call(0, "a", "{\"city\": \"Par")];
    let leaked =
        [json!({"content": "Well.\n<tool_call>\n{\"name\": \"f\", \"arguments\": {\"city\": \"Par"})];
    for deltas in [&native[..], &leaked[..]] {
        let ((blocks, reason), stream) = told("responses", deltas, "length");
        assert_eq!((blocks.len(), reason.as_str()), (1, "incompletemax_output_tokens"), "{stream}");
        assert_eq!(
            kinds(&stream)[1..],
            [
                "output_item.added in_progress",
                "output_text.done",
                "output_item.done completed",
                "output_item.added in_progress",
                "output_item.done incomplete",
                "incomplete"
            ]
        );
        let ((blocks, reason), _) = told("anthropic", deltas, "length");
        assert_eq!((blocks.len(), reason.as_str()), (1, "max_tokens"));
        let ((blocks, reason), _) = told("ollama", deltas, "length");
        // Text and thinking stand first.
        assert_eq!((blocks.len(), reason.as_str()), (2, "length"));
    }
}

/// SDKs of Anthropic's API fail over a piece of arguments that cannot become an object.
#[test]
fn a_call_whose_arguments_are_no_object_is_left_out() {
    for api in ["chat", "anthropic", "responses", "ollama"] {
        for arguments in ["not json", "[1,2]", " [{\"a\": 1}]", "\"Paris\"", "7", "null and more"] {
            let halves = arguments.split_at(arguments.len() / 2);
            let rest = json!({"tool_calls": [{"index": 0, "function": {"arguments": halves.1}}]});
            for deltas in [vec![call(0, "a", arguments)], vec![call(0, "a", halves.0), rest]] {
                let ((_, reason), stream) = told(api, &deltas, "tool_calls");
                assert!(!stream.contains("\"f\""), "{api}: {stream}");
                assert!(stream.contains("call of `f` could not be read"), "{api}: {stream}");
                assert!(!reason.contains("length") && !reason.contains("max"), "{api}: {reason}");
            }
        }
        let ((blocks, _), _) = told(api, &[call(0, "a", "{} and more")], "tool_calls");
        assert!(!blocks.iter().any(|(_, said)| said.contains("more")), "{api}: {blocks:?}");
        let ((blocks, _), stream) = told(api, &[call(0, "a", "")], "tool_calls");
        assert_eq!(blocks.last().unwrap().1, "{}", "{api}: {stream}");
    }
}

#[test]
fn a_call_that_breaks_off_ends_before_what_follows_it() {
    let deltas = [call(0, "a", "{\"city\": \"Par"), call(1, "b", "{\"city\": \"Rome\"}")];
    let whole = ("call f".to_owned(), "{\"city\": \"Rome\"}".to_owned());
    let (message, stream) = told("responses", &deltas, "tool_calls");
    assert_eq!(message, (vec![whole], "completed".to_owned()), "{stream}");
    assert_eq!(
        kinds(&stream)[1..],
        [
            "output_item.added in_progress",
            "output_item.done incomplete",
            "output_item.added in_progress",
            "function_call_arguments.done",
            "output_item.done completed",
            "completed"
        ]
    );
    let ((blocks, reason), _) = told("anthropic", &deltas, "tool_calls");
    assert_eq!((blocks.len(), reason.as_str()), (1, "tool_use"));
    let ((blocks, _), _) = told("ollama", &deltas, "tool_calls");
    assert_eq!(blocks[2..], [("f".to_owned(), "{\"city\":\"Rome\"}".to_owned())]);
}

#[test]
fn what_comes_in_the_middle_of_a_call_waits_for_its_end() {
    let rest = |arguments: &str| json!({"tool_calls": [{"index": 0, "function": {"arguments": arguments}}]});
    for more in [
        json!({"content": "\n"}),
        json!({"content": "Well."}),
        json!({"reasoning_content": "Hm."}),
        json!({"refusal": "No."}),
    ] {
        let between = [call(0, "a", "{\"city\": "), more.clone(), rest("\"Rome\"}")];
        let behind = [call(0, "a", "{\"city\": \"Rome\"}"), more, call(1, "b", "{\"city\": \"Oslo\"}")];
        for deltas in [&between[..], &behind[..]] {
            for (api, name) in [("responses", "call f"), ("anthropic", "tool_usef"), ("ollama", "f")] {
                let ((blocks, reason), stream) = told(api, deltas, "tool_calls");
                let calls = blocks.iter().filter(|(kind, _)| kind == name).count();
                assert_eq!(
                    calls,
                    deltas.iter().filter(|delta| delta.to_string().contains("\"name\"")).count(),
                    "{stream}"
                );
                assert!(!stream.contains("\"incomplete\"") && reason != "length", "{stream}");
            }
        }
    }
}

/// Clients make a conversation shorter, or wait, upon what they know an error by.
#[test]
fn a_response_that_fails_says_what_it_is_to_every_client() {
    for (code, words) in [
        ("context_length_exceeded", ["prompt is too long", "context_length_exceeded"]),
        ("rate_limit_exceeded", ["rate_limit_error", "rate_limit_exceeded"]),
    ] {
        let error = json!({"code": code, "message": "No."});
        let failed = json!({"type": "response.failed", "response": {"status": "failed", "error": error}});
        for (api, client, _, _) in APIS {
            let server = FromServer::Responses(del_wire::responses::from_server::Responses::default());
            let mut stream = Stream::between(reader(&[]), Ids::default(), server, client());
            let mut out = Vec::new();
            stream.push(format!("data: {failed}\n\n").as_bytes(), &mut out);
            let out = String::from_utf8(out).unwrap();
            let word = match api {
                "anthropic" => words[0],
                "responses" => words[1],
                _ => "No.",
            };
            assert!(out.contains(word), "{api}: {out}");
        }
    }
}

/// Models that think between their calls seal each thought, also one that nobody may read.
#[test]
fn a_seal_between_two_calls_ends_the_first() {
    let call = |index: u32, city: &str| {
        json!({"type": "response.output_item.done", "output_index": index, "item": {"type": "function_call",
            "call_id": format!("c{index}"), "name": "f", "arguments": json!({"city": city}).to_string()}})
    };
    let thought = json!({"type": "response.output_item.done", "output_index": 1,
        "item": {"type": "reasoning", "summary": [], "encrypted_content": "sealed"}});
    let over = json!({"type": "response.completed", "response": {"status": "completed"}});
    for (api, client, of_stream, _) in APIS {
        let server = FromServer::Responses(del_wire::responses::from_server::Responses::default());
        let mut stream = Stream::between(reader(&[]), Ids::default(), server, client());
        let mut out = Vec::new();
        for event in [&call(0, "Rome"), &thought, &call(2, "Oslo"), &over] {
            stream.push(format!("data: {event}\n\n").as_bytes(), &mut out);
        }
        stream.end(None, &mut out);
        let (blocks, reason) = of_stream(std::str::from_utf8(&out).unwrap());
        let calls = blocks.iter().filter(|(_, said)| said.contains("city")).count();
        assert_eq!(calls, 2, "{api}: {blocks:?} {reason}");
    }
}
