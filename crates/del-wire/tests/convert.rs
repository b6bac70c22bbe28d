//! Records from one dialect to another, and back.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on should stop")]

use std::sync::Arc;

use del_dialects::{Call, Dialect, Dialects, FaultKind, Message, Tool};
use del_wire::convert::{Converted, Converter, Source, Target};
use del_wire::native;
use serde_json::{Value, json};

fn dialect(name: &str) -> Arc<Dialect> {
    Arc::clone(Dialects::builtin().get(name).unwrap())
}

fn from(name: &str) -> Source {
    if name == native::NAME { Source::Native } else { Source::Text(dialect(name)) }
}

fn to(name: &str) -> Target {
    if name == native::NAME { Target::Native } else { Target::Text(dialect(name)) }
}

fn tools() -> Vec<Tool> {
    let parameters = json!({"type": "object", "properties": {
        "city": {"type": "string"}, "days": {"type": "integer"}, "deep": {"type": "object"}}});
    let tool = |name: &str| Tool {
        name: name.into(),
        description: "A tool.".into(),
        parameters: parameters.clone().into(),
    };
    vec![tool("get_weather"), tool("add_item")]
}

fn convert(a: &str, b: &str, line: &str) -> Converted {
    let mut converter = Converter::new(from(a), to(b), true, tools());
    converter.record(line.as_bytes(), 1).unwrap_or_else(|error| panic!("{a} to {b}: {error}\n{line}"))
}

fn refused(a: &str, b: &str, line: &str) -> String {
    let error = Converter::new(from(a), to(b), true, tools()).record(line.as_bytes(), 1).unwrap_err();
    format!("{}: {error}", error.code.as_str())
}

const HERMES: &str =
    "<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Paris\"}}\n</tool_call>";

#[test]
fn everything_else_in_a_record_stays_as_it_is() {
    let line =
        |text: &str| format!(r#"{{"b" : 1.10,  "text":{}, "c": [ ],"d":"\u00e9"}}"#, Value::from(text));
    let converted = convert("hermes", "qwen3-coder", &line(&format!("Let me see.\n{HERMES}")));
    let text = "Let me see.\n\n<tool_call>\n<function=get_weather>\n<parameter=city>\nParis\n</parameter>\n</function>\n</tool_call>";
    assert_eq!((converted.calls, converted.faults), (1, vec![]));
    let got: Value = serde_json::from_str(&converted.text).unwrap();
    assert_eq!(got["text"].as_str().unwrap().replace("\n\n", "\n"), text.replace("\n\n", "\n"));
    assert_eq!(converted.text, line(got["text"].as_str().unwrap()));
}

#[test]
fn messages_of_others_are_kept_byte_for_byte() {
    let assistant = json!({"role": "assistant", "content": HERMES, "weight": 1});
    let line = format!(
        r#"{{"messages": [{{"role":"user",  "content":"<tool_call>?"}},{assistant},{{"role":"tool","content":"ok"}}]}}"#
    );
    let native = convert("hermes", native::NAME, &line);
    assert!(native.text.contains(r#"{"role":"user",  "content":"<tool_call>?"}"#), "{}", native.text);
    let record: Value = serde_json::from_str(&native.text).unwrap();
    let [_, assistant, result] = &record["messages"].as_array().unwrap()[..] else { panic!("{record}") };
    assert_eq!((&assistant["content"], &assistant["weight"]), (&json!(""), &json!(1)));
    assert_eq!(assistant["tool_calls"][0]["function"]["name"], "get_weather");
    // A result that named no call belongs to the call before it.
    assert_eq!(result["tool_call_id"], assistant["tool_calls"][0]["id"]);
    let back = convert(native::NAME, "hermes", &native.text);
    let record: Value = serde_json::from_str(&back.text).unwrap();
    assert_eq!(record["messages"][1], json!({"role": "assistant", "content": HERMES, "weight": 1}));
}

#[test]
fn thinking_goes_along_or_is_left_out() {
    let text = format!("<think>\nHm.\n</think>\n\nOne moment.\n{HERMES}");
    let line = json!({"messages": [{"role": "assistant", "content": text}]}).to_string();
    let native: Value = serde_json::from_str(&convert("hermes", native::NAME, &line).text).unwrap();
    assert_eq!(native["messages"][0]["reasoning_content"], "Hm.");
    assert_eq!(native["messages"][0]["content"], "One moment.");
    let text: Value =
        serde_json::from_str(&convert("hermes", native::NAME, &json!({ "text": text }).to_string()).text)
            .unwrap();
    let inner: Value = serde_json::from_str(text["text"].as_str().unwrap()).unwrap();
    assert_eq!(inner["reasoning_content"], "Hm.");
    let reason = refused("hermes", "functionary-v32", &line);
    assert!(reason.starts_with("unrepresentable: messages[0]: "), "{reason}");
    let mut without = Converter::new(from("hermes"), to("functionary-v32"), false, tools());
    let record = without.record(line.as_bytes(), 1).unwrap();
    assert!(!record.text.contains("Hm."), "{}", record.text);
}

#[test]
fn what_cannot_be_rewritten_says_why() {
    let text = |text: &str| json!({ "text": text }).to_string();
    let cut = "<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Par";
    assert!(
        refused("hermes", "qwen3-coder", &text(cut))
            .starts_with("broken_call: text: expected calls that are whole, got one at byte 0")
    );
    let value = json!({"city": "a\n</parameter>\n<parameter=days>\n1"}).to_string();
    let closer = format!("<tool_call>\n{{\"name\": \"get_weather\", \"arguments\": {value}}}\n</tool_call>");
    assert!(refused("hermes", "qwen3-coder", &text(&closer)).starts_with("unrepresentable: text: "));
    assert!(refused("hermes", "qwen3-coder", "[]").starts_with("invalid_json: "));
    assert_eq!(
        refused("hermes", "qwen3-coder", "{}"),
        "invalid_request: expected `messages` or `text`, got neither"
    );
    assert!(
        refused("hermes", "qwen3-coder", r#"{"messages": [3]}"#)
            .starts_with("invalid_request: messages[0]: ")
    );
    assert!(refused("hermes", "qwen3-coder", r#"{"text": 3}"#).starts_with("invalid_request: text: "));
    let call = json!({"id": "c1", "type": "function", "function": {"name": "get_weather", "arguments": "{\"city\": \"Par"}});
    let cut =
        json!({"messages": [{"role": "assistant", "content": "Hi.", "tool_calls": [call]}]}).to_string();
    for from in [native::NAME, "hermes"] {
        assert!(refused(from, "qwen3-coder", &cut).starts_with("broken_call: messages[0]: "), "{from}");
    }
    assert!(refused(native::NAME, "hermes", &text("no JSON")).starts_with("invalid_request: text: "));
}

#[test]
fn no_guess_comes_out_as_what_the_model_wrote() {
    // A comma is missing: where the first value ends is a guess.
    let guessed = HERMES.replace("\"Paris\"", "\"Paris\" \"days\": 2");
    let line = json!({"messages": [{"role": "assistant", "content": guessed}]}).to_string();
    assert_eq!(
        refused("hermes", "qwen3-coder", &line),
        "guessed_call: messages[0]: expected calls with nothing to guess in them, got one at byte 66: \
         a delimiter in the arguments is missing or misplaced; where a value ends is a guess"
    );
    let mut keeping = Converter::new(from("hermes"), to("qwen3-coder"), true, tools()).with_guesses();
    let kept = keeping.record(line.as_bytes(), 1).unwrap();
    assert_eq!((kept.calls, kept.faults), (1, vec![FaultKind::GuessedBorder]));
    // A trailing comma can mean one thing only.
    let mended = json!({"text": HERMES.replace("\"Paris\"", "\"Paris\",")}).to_string();
    assert_eq!(convert("hermes", "qwen3-coder", &mended).faults, [FaultKind::Repaired]);
}

#[test]
fn tools_of_a_record_type_its_values() {
    let mut converter = Converter::new(from("qwen3-coder"), to("hermes"), true, Vec::new());
    let text = "<tool_call>\n<function=f>\n<parameter=n>\n3\n</parameter>\n</function>\n</tool_call>";
    let mut arguments = |kind: &str| {
        let tool = json!({"type": "function", "function": {"name": "f", "parameters":
            {"type": "object", "properties": {"n": {"type": kind}}}}});
        let line = json!({"tools": [tool], "text": text}).to_string();
        let line = converter.record(line.as_bytes(), 1).unwrap().text;
        let record: Value = serde_json::from_str(&line).unwrap();
        record["text"].as_str().unwrap().split("\"n\":").nth(1).unwrap().trim_start().chars().next()
    };
    assert_eq!(
        [arguments("integer"), arguments("string"), arguments("integer")],
        [Some('3'), Some('"'), Some('3')]
    );
}

#[test]
fn calls_survive_the_way_through_every_dialect() {
    let calls = [
        ("get_weather", r#"{"city": "Köln \"am\" Rhein", "days": 3}"#),
        ("add_item", r#"{"deep": {"a": [1, {"b": "x < y"}]}, "city": "two words"}"#),
    ];
    let calls: Vec<Call> = calls
        .map(|(name, arguments)| Call { id: None, name: name.into(), arguments: arguments.into() })
        .into();
    let answer = Message { content: "One moment.".into(), calls: calls.clone(), ..Message::default() };
    let source = dialect("hermes").render_answer(&answer, &tools()).unwrap();
    let mut carried = 0;
    for middle in Dialects::builtin().iter() {
        let mut there = Converter::new(from("hermes"), Target::Text(Arc::clone(middle)), true, tools());
        // Not every dialect carries two calls, or text beside them: it says so.
        let Ok(there) = there.record(json!({ "text": source }).to_string().as_bytes(), 1) else { continue };
        let back = Converter::new(Source::Text(Arc::clone(middle)), Target::Native, true, tools())
            .record(there.text.as_bytes(), 1)
            .unwrap_or_else(|error| panic!("{}: {error}\n{}", middle.name(), there.text));
        let record: Value = serde_json::from_str(&back.text).unwrap();
        let message = native::read(record["text"].as_str().unwrap()).unwrap();
        let value =
            |call: &Call| (call.name.clone(), serde_json::from_str::<Value>(&call.arguments).unwrap());
        assert_eq!(
            message.calls.iter().map(value).collect::<Vec<_>>(),
            calls.iter().map(value).collect::<Vec<_>>(),
            "{}\n{}",
            middle.name(),
            there.text
        );
        assert_eq!(message.content.trim(), "One moment.", "{}", middle.name());
        carried += 1;
    }
    assert!(carried >= 55, "only {carried} dialects carry the answer");
}
