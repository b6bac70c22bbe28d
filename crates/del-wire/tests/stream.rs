//! Where a stream is cut cannot show, and a streamed answer is the answer that was not streamed.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use del_dialects::{Collect, End, FaultKind, Message};
use del_wire::anthropic::from_server::Messages;
use del_wire::{Assembly, CallDelta, Chunk, Decoder, Frame, FromServer, Heard, SseError, Usage};
use proptest::prelude::*;

/// The frames of a stream that comes in these pieces.
fn frames<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<String> {
    let mut frames = Vec::new();
    let mut sink = |frame: Frame<'_>| {
        frames.push(match frame {
            Frame::Data { event, data } => format!("{event}|{data}"),
            Frame::Done => "DONE".to_owned(),
        });
    };
    let mut decoder = Decoder::new();
    for piece in pieces {
        decoder.push(piece, &mut sink).unwrap();
    }
    decoder.finish(&mut sink).unwrap();
    frames
}

fn whole(stream: &str) -> Vec<String> {
    frames([stream.as_bytes()])
}

const STREAMS: &[&str] = &[
    "\u{feff}: hello\r\ndata: {\"a\":\"é😀\"}\r\n\r\nevent: x\r\ndata: one\r\ndata:two\r\nid: 3\r\n\r\ndata: [DONE]\r\n\r\n",
    "data: a\rdata: b\r\rdata: c\n\ndata\n\ndata:\n\ndata: d",
    "{\"a\":1}\n{\"b\":{\"c\":\"}\"}}\r\n[DONE]\n{\"late\":1}\n",
    "{\n  \"error\": {\n    \"message\": \"é\"\n  }\n}\n",
    "data: {\"a\":1}\ndata: {\"b\":2}\ndata: [DONE]\n",
    "error: {\"message\":\"slot\"}\n\nretry: 3\n\n\ndata: {\"a\":\ndata: 1}\n\n",
    "<html>\n<body>\n",
];

#[test]
fn streams_are_read() {
    let expected: &[&[&str]] = &[
        &["|{\"a\":\"é😀\"}", "x|one\ntwo", "DONE"],
        &["|a\nb", "|c", "|d"],
        &["|{\"a\":1}", "|{\"b\":{\"c\":\"}\"}}", "DONE"],
        &["|{\n  \"error\": {\n    \"message\": \"é\"\n  }\n}"],
        &["|{\"a\":1}", "|{\"b\":2}", "DONE"],
        &["|{\"error\":{\"message\":\"slot\"}}", "|{\"a\":\n1}"],
        &[],
    ];
    for (stream, expected) in STREAMS.iter().zip(expected) {
        assert_eq!(whole(stream), *expected, "{stream:?}");
    }
}

#[test]
fn no_cut_in_two_shows() {
    for stream in STREAMS {
        let bytes = stream.as_bytes();
        for at in 0..=bytes.len() {
            assert_eq!(frames([&bytes[..at], &bytes[at..]]), whole(stream), "{stream:?} cut at {at}");
        }
        assert_eq!(frames(bytes.chunks(1)), whole(stream), "{stream:?} byte by byte");
    }
}

#[test]
fn bytes_that_are_no_text_are_replaced() {
    let stream = b"data: a\xff\xe2\x82b\n\n";
    assert_eq!(frames([&stream[..]]), ["|a\u{fffd}\u{fffd}b"]);
    assert_eq!(frames(stream.chunks(1)), ["|a\u{fffd}\u{fffd}b"]);
}

#[test]
fn a_line_without_end_is_an_error_and_stays_one() {
    let mut decoder = Decoder::with_limit(100);
    let mut none = |_: Frame<'_>| unreachable!("no event is whole");
    decoder.push(b"data: ", &mut none).unwrap();
    let error = decoder.push(&[b'x'; 200], &mut none).unwrap_err();
    assert_eq!(error, SseError::TooLong { limit: 100 });
    assert_eq!(decoder.push(b"\n\n", &mut none), Err(error));
    assert_eq!(decoder.finish(&mut none), Err(error));
}

#[test]
fn an_event_of_endless_lines_is_an_error() {
    let mut decoder = Decoder::with_limit(100);
    let mut none = |_: Frame<'_>| unreachable!("no event is whole");
    let held = (0..1000).take_while(|_| decoder.push(b"data: xxxxxxx\n", &mut none).is_ok()).count();
    assert!(held <= 100 / 7, "{held} lines were held");
}

#[test]
fn what_belongs_to_no_event_is_kept_for_the_error() {
    let mut decoder = Decoder::new();
    decoder.push(b": c\nid: 1\n<html>\n<body>\n", &mut |_: Frame<'_>| {}).unwrap();
    assert_eq!(decoder.stray(), Some("<html>"));
}

proptest! {
    #[test]
    fn no_random_cuts_show(
        parts in prop::collection::vec(
            prop::sample::select(vec![
                "data:", "data: ", "event: e", "{", "}", "\"", "\\", "[DONE]", "a", "é", "😀", "\n", "\r", "\r\n",
                "\n\n", ":", ": c", "error:", " ", "\u{feff}", "id", "[", "]", "{}",
            ]),
            0..40,
        ),
        sizes in prop::collection::vec(1usize..9, 1..20),
    ) {
        let stream = parts.concat();
        let mut rest = stream.as_bytes();
        let mut pieces = Vec::new();
        let mut sizes = sizes.iter().cycle();
        while !rest.is_empty() {
            let (piece, more) = rest.split_at((*sizes.next().unwrap()).min(rest.len()));
            pieces.push(piece);
            rest = more;
        }
        prop_assert_eq!(frames(pieces), whole(&stream));
    }
}

/// The message of these chunks, as a caller puts it together.
fn assemble(chunks: &[String]) -> Message {
    let mut collect = Collect::new();
    let mut assembly = Assembly::new();
    for chunk in chunks {
        for delta in Chunk::read(chunk).unwrap().choices {
            for piece in &delta.calls {
                assembly.push(piece, &(0..0), &mut collect);
            }
        }
    }
    assembly.finish(End::End, &(0..0), &mut collect);
    collect.into_message()
}

fn calls(message: &Message) -> Vec<(&str, &str, &str)> {
    message
        .calls
        .iter()
        .map(|call| (call.id.as_deref().unwrap_or(""), call.name.as_str(), call.arguments.as_str()))
        .collect()
}

fn deltas(tool_calls: &[&str]) -> Vec<String> {
    tool_calls
        .iter()
        .map(|calls| format!(r#"{{"choices":[{{"delta":{{"tool_calls":[{calls}]}}}}]}}"#))
        .collect()
}

#[test]
fn servers_cut_calls_in_their_own_ways() {
    let whole_at_once = deltas(&[
        r#"{"id":"a","function":{"name":"f","arguments":"{\"x\":1}"}},{"id":"b","function":{"name":"g","arguments":{"y":2}}}"#,
    ]);
    assert_eq!(calls(&assemble(&whole_at_once)), [("a", "f", r#"{"x":1}"#), ("b", "g", r#"{"y":2}"#)]);

    let no_ids_no_index = deltas(&[
        r#"{"function":{"name":"f","arguments":"{\"x\":1}"}}"#,
        r#"{"function":{"name":"f","arguments":"{\"x\":1}"}}"#,
    ]);
    assert_eq!(calls(&assemble(&no_ids_no_index)), [("", "f", r#"{"x":1}"#), ("", "f", r#"{"x":1}"#)]);

    let all_numbered_zero = deltas(&[
        r#"{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}"#,
        r#"{"index":0,"id":"b","function":{"name":"f","arguments":"{}"}}"#,
    ]);
    assert_eq!(calls(&assemble(&all_numbered_zero)), [("a", "f", "{}"), ("b", "f", "{}")]);

    for number in ["", r#""index":0,"#] {
        let one_id = [1, 1, 2].map(|x| {
            format!(r#"{{{number}"id":"a","function":{{"name":"f","arguments":"{{\"x\":{x}}}"}}}}"#)
        });
        let one_id = deltas(&one_id.each_ref().map(String::as_str));
        assert_eq!(calls(&assemble(&one_id)), [("a", "f", r#"{"x":1}"#), ("a", "f", r#"{"x":2}"#)]);
    }

    let numbers = deltas(&[
        r#"{"index":0,"id":7,"function":{"name":"f","arguments":"{\"x\":1}"}}"#,
        r#"{"index":1,"id":{},"function":{"name":"g","arguments":"{}"}}"#,
    ]);
    assert_eq!(calls(&assemble(&numbers)), [("7", "f", r#"{"x":1}"#), ("", "g", "{}")]);

    let name_with_every_piece = deltas(&[
        r#"{"index":0,"id":"a","function":{"name":"f","arguments":""}}"#,
        r#"{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\""}}"#,
        r#"{"index":0,"id":"a","function":{"name":"f","arguments":":1}"}}"#,
    ]);
    assert_eq!(calls(&assemble(&name_with_every_piece)), [("a", "f", r#"{"x":1}"#)]);

    let interleaved = deltas(&[
        r#"{"index":0,"id":"a","function":{"name":"f"}},{"index":1,"id":"b","function":{"name":"g"}}"#,
        r#"{"index":1,"function":{"arguments":"{\"y\":"}},{"index":0,"function":{"arguments":"{\"x\":"}}"#,
        r#"{"index":0,"function":{"arguments":"1}"}},{"index":1,"function":{"arguments":"2}"}}"#,
    ]);
    assert_eq!(calls(&assemble(&interleaved)), [("a", "f", r#"{"x":1}"#), ("b", "g", r#"{"y":2}"#)]);
}

#[test]
fn arguments_that_servers_spoil_are_mended() {
    for (pieces, arguments, fault) in [
        (&["{}", "{\"x\":1}"][..], r#"{"x":1}"#, Some(FaultKind::Repaired)),
        (&["{\"x\":1}", "{\"x\":1}"], r#"{"x":1}"#, Some(FaultKind::Repaired)),
        (&["{\"x\":1}}"], r#"{"x":1}"#, Some(FaultKind::Repaired)),
        (&["\"{\\\"x\\\"", ":1}\""], r#"{"x":1}"#, Some(FaultKind::DoubleEncoded)),
        (&[""], "{}", None),
        (&["null"], "{}", None),
        (&["[", " ]"], "{}", Some(FaultKind::Repaired)),
        (&["\"[]\""], "{}", None),
        (&["{", "}"], "{}", None),
        (&["{ }"], "{ }", None),
    ] {
        let mut collect = Collect::new();
        let mut assembly = Assembly::new();
        for (n, piece) in pieces.iter().enumerate() {
            let piece = CallDelta {
                index: Some(0),
                name: (n == 0).then(|| "f".into()),
                arguments: Some((*piece).into()),
                ..CallDelta::default()
            };
            assembly.push(&piece, &(0..0), &mut collect);
        }
        assembly.finish(End::End, &(0..0), &mut collect);
        let message = collect.into_message();
        let faults: Vec<_> = message.faults.iter().map(|fault| fault.kind).collect();
        assert_eq!(calls(&message), [("", "f", arguments)], "{pieces:?}");
        assert_eq!(faults, fault.into_iter().collect::<Vec<_>>(), "{pieces:?}");
    }
}

/// The call of these arguments, in pieces of so many bytes, and its faults.
fn native(arguments: &str, size: usize, end: End) -> (Option<String>, Vec<FaultKind>) {
    let mut collect = Collect::new();
    let mut assembly = Assembly::new();
    let mut at = 0;
    while at < arguments.len() {
        let to = (at + size..=arguments.len()).find(|to| arguments.is_char_boundary(*to));
        let to = to.unwrap_or(arguments.len());
        let name = (at == 0).then(|| "f".to_owned());
        let piece = Some(arguments[at..to].to_owned());
        let piece = CallDelta { index: Some(0), name, arguments: piece, ..CallDelta::default() };
        assembly.push(&piece, &(0..0), &mut collect);
        at = to;
    }
    assembly.finish(end, &(0..0), &mut collect);
    let message = collect.into_message();
    let call = message.calls.first().map(|call| call.arguments.clone());
    (call, message.faults.iter().map(|fault| fault.kind).collect())
}

#[test]
fn arguments_that_are_no_json_are_mended_as_those_of_a_dialect() {
    for (arguments, mended, faults) in [
        ("{'city': 'Paris'}", r#"{"city": "Paris"}"#, vec![FaultKind::Repaired]),
        ("{'city': 'a } b', 'n': 1}", r#"{"city": "a } b", "n": 1}"#, vec![FaultKind::Repaired]),
        (r#"{"city": "Paris""#, r#"{"city": "Paris"}"#, vec![FaultKind::MissingCloser]),
        (r#"{"a": {"b": [1, 2}"#, r#"{"a": {"b": [1, 2]}}"#, vec![FaultKind::MissingCloser]),
        ("{\"city\": \"a\nb\",}", r#"{"city": "a\nb"}"#, vec![FaultKind::Repaired]),
        (r#"{"a": True, "b": None}"#, r#"{"a": true, "b": null}"#, vec![FaultKind::GuessedValue]),
        (r#"{"a": "say "hi" now"}"#, r#"{"a": "say \"hi\" now"}"#, vec![FaultKind::GuessedBorder]),
        ("{}{'x': 1}", r#"{"x": 1}"#, vec![FaultKind::Repaired, FaultKind::Repaired]),
        (r#""{'x': 1}""#, r#"{"x": 1}"#, vec![FaultKind::Repaired, FaultKind::DoubleEncoded]),
        (r#"{"a": 1, "a": 2}"#, r#"{"a": 1, "a": 2}"#, vec![]),
        (" {\"é\": \"}[END]\"} ", "{\"é\": \"}[END]\"}", vec![]),
    ] {
        for size in 1..=arguments.len() {
            let expected = (Some(mended.to_owned()), faults.clone());
            assert_eq!(native(arguments, size, End::End), expected, "{arguments} by {size}");
        }
    }
    for (broken, end, fault) in [
        ("{'city': 'Par", End::End, FaultKind::UnclosedCall),
        (r#"{"city": "Paris""#, End::Cut, FaultKind::UnclosedCall),
        ("{'city': 'Paris'} and more", End::End, FaultKind::BadArguments),
        (r#"{"city": }"#, End::End, FaultKind::BadArguments),
        ("Paris", End::End, FaultKind::BadArguments),
    ] {
        for size in 1..=broken.len() {
            assert_eq!(native(broken, size, end), (None, vec![fault]), "{broken} by {size}");
        }
    }
    let whole = (Some(r#"{"city": "Paris"}"#.to_owned()), vec![FaultKind::Repaired]);
    assert_eq!(native("{'city': 'Paris'}", 4, End::Cut), whole);
}

#[test]
fn a_call_that_is_cut_never_ends() {
    let chunks = deltas(&[
        r#"{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\":1}"}}"#,
        r#"{"index":1,"id":"b","function":{"name":"rm","arguments":"{\"path\":\"/"}}"#,
    ]);
    let message = assemble(&chunks);
    assert_eq!(calls(&message), [("a", "f", r#"{"x":1}"#)]);
    assert_eq!(message.faults[0].kind, FaultKind::UnclosedCall);
    assert_eq!(message.faults[0].call.as_ref().unwrap().arguments, "{\"path\":\"/");
}

/// A JSON object of some depth, with text that looks like JSON in its strings.
fn arguments() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        any::<i64>().prop_map(serde_json::Value::from),
        r#"[\\"{}\[\]a é]{0,12}"#.prop_map(serde_json::Value::from),
        Just(serde_json::Value::Null),
    ];
    let value = leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(serde_json::Value::from),
            prop::collection::vec(("[a-z\"]{1,4}", inner), 0..4)
                .prop_map(|fields| serde_json::Value::Object(fields.into_iter().collect())),
        ]
    });
    prop::collection::vec(("[a-z{]{1,4}", value), 0..4)
        .prop_map(|fields| serde_json::Value::Object(fields.into_iter().collect()).to_string())
}

proptest! {
    #[test]
    fn a_streamed_answer_equals_the_whole_one(
        made in prop::collection::vec(("[a-z_]{1,8}", arguments()), 1..4),
        sizes in prop::collection::vec(1usize..7, 1..10),
    ) {
        let mut sizes = sizes.iter().cycle();
        let mut cut = |text: &str| {
            let characters: Vec<char> = text.chars().collect();
            let mut pieces = Vec::new();
            let mut rest = &characters[..];
            while !rest.is_empty() {
                let (piece, more) = rest.split_at((*sizes.next().unwrap()).min(rest.len()));
                pieces.push(piece.iter().collect::<String>());
                rest = more;
            }
            pieces
        };
        let mut streamed = Vec::new();
        let mut list = Vec::new();
        for (index, (name, arguments)) in made.iter().enumerate() {
            let id = format!("id{index}");
            for (n, piece) in cut(name).iter().enumerate() {
                let id = if n == 0 { format!(r#""id":"{id}","#) } else { String::new() };
                streamed.push(format!(r#"{{"index":{index},{id}"function":{{"name":"{piece}"}}}}"#));
            }
            for piece in cut(arguments) {
                let piece = serde_json::Value::from(piece);
                streamed.push(format!(r#"{{"index":{index},"function":{{"arguments":{piece}}}}}"#));
            }
            list.push(serde_json::json!({"id": id, "function": {"name": name, "arguments": arguments}}));
        }
        let streamed: Vec<&str> = streamed.iter().map(String::as_str).collect();
        let whole = serde_json::json!({"role": "assistant", "content": null, "tool_calls": list}).to_string();
        let whole = del_wire::native::read(&whole).unwrap();
        let streamed = assemble(&deltas(&streamed));
        prop_assert_eq!(calls(&streamed), calls(&whole));
        let expected: Vec<_> = made.iter().map(|(name, arguments)| (name.as_str(), arguments.as_str())).collect();
        let got: Vec<_> = whole.calls.iter().map(|call| (call.name.as_str(), call.arguments.as_str())).collect();
        prop_assert_eq!(got, expected);
    }
}

#[test]
fn what_an_answer_costs_is_gathered_from_all_events() {
    let mut server = FromServer::Anthropic(Messages::default());
    let mut used = Usage::default();
    for event in [
        r#"{"type":"message_start","message":{"usage":{"input_tokens":7,"cache_read_input_tokens":20,"cache_creation_input_tokens":300,"output_tokens":1}}}"#,
        r#"{"type":"message_delta","delta":{},"usage":{"input_tokens":8,"output_tokens":5}}"#,
        r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"cache_read_input_tokens":21,"output_tokens":6}}"#,
    ] {
        let Heard::Chunk(chunk, _) = server.event(event).unwrap() else {
            panic!("expected a chunk of {event}")
        };
        used = chunk.usage.unwrap();
    }
    assert_eq!((used.prompt, used.cached, used.written, used.completion), (8 + 21 + 300, 21, 300, 6));
}
