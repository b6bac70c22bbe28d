//! What becomes of the parts of a stream.

use del_proxy::answer::{Reader, Stream};
use del_wire::Ids;
use serde_json::{Value, json};

use crate::client::{Received, reader, stream, whole};

const HERMES: &str = "<tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\": {\"b\": 1}}}\n</tool_call>";

fn events(chunks: &[Value]) -> String {
    let events: Vec<String> = chunks.iter().map(|chunk| format!("data: {chunk}\n\n")).collect();
    events.concat()
}

fn choice(delta: &Value, finish: Option<&str>) -> Value {
    json!({"index": 0, "delta": delta, "finish_reason": finish})
}

fn text(text: &str) -> Value {
    json!({"id": "i", "choices": [choice(&json!({"content": text}), None)]})
}

fn end(reason: &str) -> Value {
    json!({"id": "i", "choices": [choice(&json!({}), Some(reason))]})
}

fn read(chunks: &[Value], done: bool) -> Received {
    read_as(&reader(&[]), chunks, done)
}

fn read_as(reader: &Reader, chunks: &[Value], done: bool) -> Received {
    let bytes = format!("{}{}", events(chunks), if done { "data: [DONE]\n\n" } else { "" });
    stream(reader, [bytes.as_bytes()])
}

#[test]
fn a_call_goes_out_as_its_name_and_then_its_arguments() {
    let pieces: Vec<Value> = HERMES.split_inclusive(' ').map(text).chain([end("stop")]).collect();
    let received = read(&pieces, true);
    let deltas: Vec<&Value> = received.events.iter().map(|event| &event["choices"][0]["delta"]).collect();
    assert_eq!(deltas[0], &json!({"role": "assistant", "content": null}));
    let call = &deltas[1]["tool_calls"][0];
    assert_eq!(call["function"], json!({"name": "f", "arguments": ""}));
    assert_eq!(
        (&call["index"], &call["type"], call["id"].is_string()),
        (&json!(0), &json!("function"), true)
    );
    assert!(deltas.len() > 4, "arguments stream: {deltas:?}");
    assert_eq!(received.events.last().unwrap()["choices"][0]["finish_reason"], "tool_calls");
    let assembled = received.only();
    assert_eq!(assembled.calls[0].2, "{\"a\": {\"b\": 1}}");
}

#[test]
fn what_is_not_known_stays() {
    let first = json!({"id": "i", "system_fingerprint": "fp", "own": {"n": 1.5}, "choices": [
        {"index": 0, "delta": {"role": "assistant", "content": "Yes.", "own": true}, "logprobs": {"content": [1]}, "finish_reason": null}]});
    let held = json!({"choices": [
        {"index": 0, "delta": {"content": "<tool_"}, "logprobs": {"content": [2]}, "finish_reason": null}]});
    let usage = json!({"choices": [], "usage": {"prompt_tokens": 1, "own": 2}, "timings": {"ms": 1}});
    let received = read(&[first, held, end("stop"), usage.clone()], true);
    let of = |place: usize| &received.events[place]["choices"][0];
    assert_eq!(received.events[0]["own"], json!({"n": 1.5}));
    assert_eq!(received.events[1]["system_fingerprint"], "fp");
    assert_eq!((&of(0)["delta"]["own"], &of(0)["logprobs"]), (&json!(true), &json!({"content": [1]})));
    assert!(of(1).get("logprobs").is_none(), "told once");
    assert_eq!(of(2), &json!({"index": 0, "delta": {}, "logprobs": {"content": [2]}, "finish_reason": null}));
    assert_eq!(received.events.last(), Some(&usage));
    assert_eq!(received.clone().only().finish.as_deref(), Some("stop"));
}

#[test]
fn a_text_that_was_held_stands_in_the_chunk_with_which_it_comes() {
    let chunk = |text: &str, number: u32| {
        json!({"id": "i", "own": number, "choices": [{"index": 0, "delta": {"content": text, "own": number},
            "logprobs": null, "finish_reason": null}]})
    };
    let alike = |text: &str| json!({"id": "i", "choices": [choice(&json!({"content": text}), None)]});
    let chunks = [
        chunk("Yes.", 1),
        chunk("<tool_", 2),
        chunk("\"x", 3),
        alike("a"),
        alike("<tool_"),
        alike("\ny"),
        alike("<tool_"),
        alike("z"),
        end("stop"),
    ];
    let received = read(&chunks, true);
    let told: Vec<(Value, Value, Value)> = received
        .events
        .iter()
        .map(|event| {
            let delta = &event["choices"][0]["delta"];
            (event["own"].clone(), delta["own"].clone(), delta["content"].clone())
        })
        .collect();
    let null = Value::Null;
    let expected = [
        (json!(1), json!(1), json!(null)),
        (json!(1), null.clone(), json!("Yes.")),
        (json!(2), json!(2), null.clone()),
        (json!(3), json!(3), json!("<tool_\"x")),
        (null.clone(), null.clone(), json!("a")),
        (null.clone(), null.clone(), json!("<tool_\ny")),
        (null.clone(), null.clone(), json!("<tool_z")),
    ];
    assert_eq!(told[..expected.len()], expected);
    assert_eq!(told.len(), expected.len() + 1);
    assert_eq!(received.only().finish.as_deref(), Some("stop"));
}

#[test]
fn usage_beside_choices_is_told_once() {
    let mut last = end("stop");
    last["usage"] = json!({"prompt_tokens": 3});
    let received = read(&[text(HERMES), last], true);
    let told: Vec<bool> = received.events.iter().map(|event| event.get("usage").is_some()).collect();
    assert_eq!(told.iter().filter(|told| **told).count(), 1);
    assert_eq!(told.last(), Some(&true));
}

#[test]
fn an_answer_may_end_without_a_word() {
    for (chunks, done) in [(vec![text("a"), end("stop")], false), (vec![text("a")], true)] {
        let received = read(&chunks, done);
        assert!(received.done && received.error.is_none(), "{received:?}");
        assert_eq!(received.only().finish.as_deref(), Some("stop"));
    }
}

/// Some gateways say of every chunk that it is the last.
#[test]
fn an_end_is_one_where_nothing_follows() {
    let last = |delta: Value| json!({"id": "i", "choices": [choice(&delta, Some("stop"))]});
    let said = [json!({"reasoning_content": "Hm."}), json!({"content": "One."}), json!({"content": " Two."})];
    let pieces: Vec<Value> = HERMES.split_inclusive(' ').map(|text| json!({"content": text})).collect();
    for done in [true, false] {
        let received = read(&said.clone().map(last), done);
        assert!(received.done && received.error.is_none(), "{received:?}");
        let told = received.only();
        assert_eq!((told.reasoning.as_str(), told.content.as_str()), ("Hm.", "One. Two."));
        assert_eq!(told.finish.as_deref(), Some("stop"));

        let chunks: Vec<Value> = pieces.iter().cloned().chain([json!({})]).map(last).collect();
        let told = read(&chunks, done).only();
        assert_eq!((told.calls.len(), told.finish.as_deref()), (1, Some("tool_calls")));
    }
    // An end counts although another choice goes on, and although a connection breaks behind it.
    let other =
        json!({"id": "i", "choices": [{"index": 1, "delta": {"content": "b"}, "finish_reason": null}]});
    let received = read(&[text("a"), end("length"), other, last(json!({}))], false);
    assert_eq!(received.choices[&0].finish.as_deref(), Some("length"));
    let mut broken = Stream::new(reader(&[]), Ids::default());
    let mut out = Vec::new();
    broken.push(events(&[text("a"), end("stop")]).as_bytes(), &mut out);
    broken.end(Some("it broke"), &mut out);
    let received = Received::read(&out);
    assert!(received.error.is_some());
    assert_eq!(received.only().finish.as_deref(), Some("stop"));
}

#[test]
fn reasons_are_those_of_the_server_where_there_is_no_call() {
    for (said, told) in [
        ("stop", "stop"),
        ("length", "length"),
        ("content_filter", "content_filter"),
        ("tool_calls", "stop"),
        ("eos", "stop"),
        ("own", "own"),
    ] {
        assert_eq!(read(&[text("a"), end(said)], true).only().finish.as_deref(), Some(told), "{said}");
    }
}

#[test]
fn a_limit_behind_whole_calls_is_none_of_theirs() {
    let cut = &HERMES[..50];
    for (texts, said, told) in [
        (vec![HERMES], "length", "tool_calls"),
        (vec![HERMES, " And no"], "length", "tool_calls"),
        (vec![HERMES, cut], "length", "length"),
        (vec![HERMES, cut], "stop", "length"),
        (vec![HERMES], "content_filter", "content_filter"),
    ] {
        let all: Vec<Value> = texts.iter().copied().map(text).chain([end(said)]).collect();
        assert_eq!(read(&all, true).only().finish.as_deref(), Some(told), "{texts:?} {said}");
        let message = json!({"role": "assistant", "content": texts.concat()});
        assert_eq!(whole(&reader(&[]), &message, said).finish.as_deref(), Some(told), "{texts:?} {said}");
    }
}

#[test]
fn a_call_that_is_cut_ends_with_length_and_is_no_object() {
    for at in [45, 50, HERMES.len() - 14] {
        let received = read(&[text(&HERMES[..at]), end("stop")], true);
        let assembled = received.only();
        assert_eq!(assembled.finish.as_deref(), Some(if at > 50 { "tool_calls" } else { "length" }), "{at}");
    }
}

/// Its arguments were an object before more came: had they gone out as they came, it could have run.
#[test]
fn a_call_that_breaks_behind_its_arguments_is_no_object() {
    let native = |arguments: &str| {
        let call = json!({"index": 0, "id": "c", "function": {"name": "f", "arguments": arguments}});
        json!({"choices": [choice(&json!({"tool_calls": [call]}), None)]})
    };
    let piece = json!({"choices": [choice(&json!({"tool_calls": [{"index": 0, "function": {"arguments": " and more"}}]}), None)]});
    let received = read(&[native("{\"a\": 1}"), piece, end("tool_calls")], true);
    let assembled = received.only();
    assert_eq!(assembled.calls[0].2, "{\"a\": 1");
    assert_eq!(assembled.finish.as_deref(), Some("length"));
}

#[test]
fn thinking_goes_out_as_thinking() {
    let thinking = json!({"choices": [choice(&json!({"reasoning": "so"}), None)]});
    let received = read(&[thinking, text("\n\n<think>hm</think>\n"), text("yes"), end("stop")], true);
    let assembled = received.only();
    assert_eq!((assembled.reasoning.as_str(), assembled.content.trim()), ("sohm", "yes"));
}

#[test]
fn too_many_choices_are_an_error() {
    let many: Vec<Value> = (0..200).map(|index| json!({"index": index, "delta": {"content": "a"}})).collect();
    let error = read(&[json!({"choices": many})], true).error.unwrap();
    assert_eq!(error["message"], "expected at most 128 choices, got more");
}

#[test]
fn an_answer_that_is_not_streamed_is_told_as_a_stream() {
    let whole = json!({"id": "i", "choices": [
        {"index": 0, "message": {"role": "assistant", "content": HERMES}, "finish_reason": "stop"}]});
    let received = stream(&reader(&[]), [whole.to_string().as_bytes()]);
    assert!(received.done && received.error.is_none(), "{received:?}");
    let assembled = received.only();
    assert_eq!((assembled.calls.len(), assembled.finish.as_deref()), (1, Some("tool_calls")));
}

#[test]
fn a_chunk_over_several_lines_goes_out_on_one_and_keeps_its_numbers() {
    let mut stream = Stream::new(reader(&[]), Ids::default());
    let mut out = Vec::new();
    let chunk = "data: {\"own\": [12345678901234567890123,\ndata:  1.50, \"\\ud83d\"],\ndata: \"choices\": \
                 [{\"index\": 0, \"delta\": {\"content\": \"Yes.\"}}]}\n\n";
    stream.push(chunk.as_bytes(), &mut out);
    let out = String::from_utf8(out).unwrap();
    assert!(out.contains("[12345678901234567890123,  1.50, \"\\ud83d\"]"), "{out}");
    assert!(out.lines().all(|line| line.is_empty() || line.starts_with("data: {")), "{out}");
}
