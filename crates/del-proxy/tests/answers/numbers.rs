//! Numbers that JSON does not have, which servers in Python and C write: nothing else of an answer is lost by them, and no
//! client gets one.

use del_proxy::answer::{Answer, Stream, translate_between};
use del_wire::anthropic::from_server::Messages;
use del_wire::{FromServer, Ids};
use serde_json::{Value, json};

use crate::apis::APIS;
use crate::client::{reader, stream, whole_between};

/// JSON with a number in the place of each such text.
fn broken(json: &Value) -> String {
    [("\"-inf\"", "-Infinity"), ("\"nan\"", "NaN")]
        .into_iter()
        .fold(json.to_string(), |json, (text, number)| json.replace(text, number))
}

fn likely() -> Value {
    let other = json!({"token": "x", "logprob": "-inf", "bytes": null});
    json!({"content": [{"token": "Hi", "logprob": -0.5, "bytes": null, "top_logprobs": [other]}], "own": "nan"})
}

#[test]
fn an_answer_is_read_in_spite_of_them() {
    let message = json!({"role": "assistant", "content": "Hi"});
    let usage = json!({"prompt_tokens": 3, "completion_tokens": 2, "own": "nan"});
    let choice = json!({"index": 0, "message": message, "logprobs": likely(), "finish_reason": "stop"});
    let body = broken(&json!({"id": "x", "choices": [choice], "usage": usage}));
    for (api, client, _, of_whole) in APIS {
        let told = translate_between(&reader(&[]), Ids::default(), &body, FromServer::chat(), &mut *client());
        let told = told.unwrap();
        assert_eq!(told.summary.usage.unwrap().prompt, 3);
        let (blocks, _) = of_whole(&serde_json::from_str(&told.body).unwrap());
        assert_eq!(blocks[0].1, "Hi", "{api}");
    }

    let choice = json!({"index": 0, "delta": message, "logprobs": likely(), "finish_reason": null});
    let text = json!({"id": "x", "choices": [choice]});
    let end =
        json!({"id": "x", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}], "usage": usage});
    let events = [text, end].map(|event| format!("data: {}\n\n", broken(&event)));
    let received = stream(&reader(&[]), [events.concat().as_bytes(), b"data: [DONE]\n\n"]);
    assert!(received.done && received.error.is_none(), "{received:?}");
    let told = &received.events[0]["choices"][0]["logprobs"];
    assert_eq!(told["content"][0]["top_logprobs"][0]["logprob"], -9999.0);
    assert_eq!(
        (&told["own"], &received.events.last().unwrap()["usage"]["own"]),
        (&Value::Null, &Value::Null)
    );
    assert_eq!(received.only().content, "Hi");
}

/// The arguments of a call are mended as everywhere, and so that it is told.
#[test]
fn arguments_with_one_are_a_guess() {
    let arguments = json!({"n": "nan", "b": [1]});
    let function = json!({"name": "f", "arguments": arguments});
    let chat = json!({"choices": [{"index": 0, "message": {"tool_calls": [{"id": "c", "function": function}]}, "finish_reason": "stop"}]});
    let ollama = json!({"message": {"content": "", "tool_calls": [{"function": function}]}, "done": true});
    let messages = json!({"type": "message", "content": [{"type": "tool_use", "id": "c", "name": "f", "input": arguments}],
        "stop_reason": "tool_use"});
    let of_messages: fn() -> FromServer = || FromServer::Anthropic(Messages::default());
    for (server, body) in
        [(FromServer::chat as fn() -> _, chat), (|| FromServer::Ollama, ollama), (of_messages, messages)]
    {
        let body = broken(&body);
        let message = whole_between(&reader(&[]), server(), &body);
        assert_eq!(message.calls[0].2, "{\"n\":\"NaN\",\"b\":[1]}");
        let mut client = del_wire::chat::to_client::Chat::new(0, false);
        let Answer { changed, .. } =
            translate_between(&reader(&[]), Ids::default(), &body, server(), &mut client).unwrap();
        assert_eq!(changed.len(), 1);

        let mut streamed = Stream::between(reader(&[]), Ids::default(), server(), Box::new(client));
        let mut out = Vec::new();
        streamed.push(format!("data: {body}\n\n").as_bytes(), &mut out);
        streamed.end(None, &mut out);
        assert_eq!(streamed.changed().count(), 1, "{}", String::from_utf8(out).unwrap());
    }
}
