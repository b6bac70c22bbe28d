use std::sync::Arc;

use del_dialects::{Dialects, Tool};
use serde_json::{Value, json};

use super::{BROKEN, History};

const HERMES: &str = "I will look.\n<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Paris\"}}\n</tool_call>";
const NO_RESULT: &str = "There is no result of this call; it may not have run.";

fn tools() -> Arc<[Tool]> {
    let parameters = json!({"type": "object", "properties": {"city": {"type": "string"}}});
    [Tool { name: "get_weather".to_owned(), description: String::new(), parameters: parameters.into() }]
        .into()
}

/// What becomes of messages, and what was mended.
fn mend(mut messages: Value) -> (Value, String) {
    let tools = tools();
    let history = History { dialects: Dialects::builtin(), dialect: None, tools: &tools };
    let mendings = history.mend(messages.as_array_mut().unwrap());
    (messages, mendings.to_string())
}

fn call(id: &str, arguments: &str) -> Value {
    json!({"id": id, "type": "function", "function": {"name": "get_weather", "arguments": arguments}})
}

fn calls(calls: &[Value]) -> Value {
    json!({"role": "assistant", "content": "", "tool_calls": calls})
}

fn result(id: &str) -> Value {
    json!({"role": "tool", "tool_call_id": id, "content": "sunny"})
}

fn none(id: &str) -> Value {
    json!({"role": "tool", "tool_call_id": id, "content": NO_RESULT, "is_error": true})
}

fn user(text: &str) -> Value {
    json!({"role": "user", "content": text})
}

#[test]
fn what_is_right_stays() {
    let right = json!([
        {"role": "system", "content": "Be brief."},
        user("Weather?"),
        {"role": "assistant", "content": null, "own": 1, "tool_calls": [call("a", "{ \"city\":\"Paris\" }"), call("b", "{}")]},
        result("a"),
        result("b"),
        {"role": "assistant", "content": [{"type": "text", "text": "It is <b>sunny</b>."}]},
        user(HERMES),
        calls(&[call("a", "{}")]),
        result("a"),
    ]);
    assert_eq!(mend(right.clone()), (right, String::new()));
}

#[test]
fn a_call_in_a_text_is_one_of_the_api() {
    for content in [json!(HERMES), json!([{"type": "text", "text": HERMES}])] {
        let (messages, mended) =
            mend(json!([user("Weather?"), {"role": "assistant", "content": content}, user("And?")]));
        let expected = json!([
            user("Weather?"),
            {"role": "assistant", "content": "I will look.", "tool_calls": [call("call_1_0", "{\"city\": \"Paris\"}")]},
            none("call_1_0"),
            user("And?"),
        ]);
        assert_eq!((messages, mended.as_str()), (expected, "leaked_call=1,no_result=1"));
    }
}

#[test]
fn a_call_that_is_told_twice_is_one() {
    let (messages, mended) = mend(json!([
        {"role": "assistant", "content": HERMES, "tool_calls": [call("a", "{\"city\":\"Paris\"}")]}, result("a")]));
    let expected = json!([
        {"role": "assistant", "content": "I will look.", "tool_calls": [call("a", "{\"city\":\"Paris\"}")]}, result("a")]);
    assert_eq!((messages, mended.as_str()), (expected, "leaked_call=1"));
}

#[test]
fn other_texts_stay() {
    let unknown = HERMES.replace("get_weather", "other");
    for text in [&HERMES[..60], &unknown, &format!("`{}`", HERMES.replace('\n', " "))] {
        let messages = json!([user("x"), {"role": "assistant", "content": text}]);
        assert_eq!(mend(messages.clone()), (messages, String::new()), "{text}");
    }
}

#[test]
fn arguments_become_objects() {
    let (messages, mended) = mend(json!([
        calls(&[call("a", "{'city': 'Paris'}"), call("b", "{\"city\": \"Par"), call("c", "")]),
        result("a"),
        result("b"),
        result("c"),
        calls(&[json!({"id": "d", "function": {"name": "x", "arguments": {"a": 1}}})]),
        result("d"),
    ]));
    let arguments = |place: usize| -> Vec<Value> {
        let calls = messages[place]["tool_calls"].as_array().unwrap();
        calls
            .iter()
            .map(|call| serde_json::from_str(call["function"]["arguments"].as_str().unwrap()).unwrap())
            .collect()
    };
    assert_eq!(arguments(0), [json!({"city": "Paris"}), json!({BROKEN: "{\"city\": \"Par"}), json!({})]);
    assert_eq!(arguments(4), [json!({"a": 1})]);
    assert_eq!(mended, "arguments=3,broken_arguments=1");
}

#[test]
fn every_call_has_a_result_behind_it() {
    let two = calls(&[call("a", "{}"), call("b", "{}")]);
    let (messages, mended) =
        mend(json!([two, result("a"), user("Go on."), result("b"), calls(&[call("a", "{}")])]));
    let expected =
        json!([two, result("a"), result("b"), user("Go on."), calls(&[call("a", "{}")]), none("a")]);
    assert_eq!((messages, mended.as_str()), (expected, "no_result=1,moved_result=1"));
}

/// Templates show no ids: with two calls of one tool, the order alone says which result is whose.
#[test]
fn results_stand_in_the_order_of_their_calls() {
    let three = calls(&[call("a", "{}"), call("b", "{}"), call("b", "{}")]);
    let other = |text: &str| json!({"role": "tool", "tool_call_id": "b", "content": text});
    let (messages, mended) = mend(json!([three, other("1"), other("2"), result("a"), user("And?")]));
    let expected = json!([three, result("a"), other("1"), other("2"), user("And?")]);
    assert_eq!((messages, mended.as_str()), (expected, "moved_result=1"));
    let two = calls(&[call("a", "{}"), call("b", "{}")]);
    let (messages, mended) = mend(json!([two, result("b")]));
    assert_eq!((messages, mended.as_str()), (json!([two, none("a"), result("b")]), "no_result=1"));
}

#[test]
fn a_result_of_no_call_is_told_by_the_user() {
    let (messages, mended) = mend(json!([
        {"role": "tool", "tool_call_id": "z", "content": HERMES}, {"role": "assistant", "content": "Fine."}]));
    assert_eq!(mended, "no_call=1");
    let told = messages[0]["content"].as_str().unwrap();
    assert_eq!(messages[0]["role"], "user");
    assert!(told.starts_with("This is the result of a call") && !told.contains("<tool_call>"), "{told}");
    assert_eq!(Dialects::builtin().restore(told).split_once('\n').unwrap().1, HERMES);
}

#[test]
fn what_has_no_id_gets_one() {
    let bare = json!({"function": {"name": "get_weather", "arguments": "{}"}});
    let told = json!({"role": "tool", "content": "sunny"});
    let (messages, mended) = mend(json!([calls(&[call("a", "{}"), bare]), result("a"), told]));
    assert_eq!((messages[0]["tool_calls"][1]["id"].as_str(), mended.as_str()), (Some("call_0_1"), "no_id=2"));
    assert_eq!(messages[2]["tool_call_id"], "call_0_1");
}

#[test]
fn mending_again_changes_nothing() {
    let (messages, _) = mend(json!([
        result("z"), {"role": "assistant", "content": HERMES}, user("x"),
        calls(&[call("", "{'a': 1"), call("b", "nothing")]), user("y"), result("b")]));
    assert_eq!(mend(messages.clone()), (messages, String::new()));
}
