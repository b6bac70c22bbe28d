//! The way back: what a grammar lets through is read as calls, without a fault.

use std::collections::HashMap;
use std::sync::Arc;

use del_dialects::description::{Codec, Frame};
use del_dialects::{Dialect, FaultKind, Tool};
use del_grammar::Choice;
use serde_json::{Value, json};

use super::gbnf::Gbnf;
use super::{built, of_any_tool, read, tool};

fn tools() -> Vec<Tool> {
    let node = json!({"type": "object", "properties": {
        "text": {"type": "string"}, "list": {"type": "array", "items": {"$ref": "#/$defs/node"}},
    }, "required": ["text"]});
    vec![
        tool(
            "get_weather",
            json!({"type": "object", "properties": {
                "city": {"type": "string", "minLength": 1},
                "days": {"type": "integer", "minimum": -3, "maximum": 14},
                "unit": {"enum": ["celsius", "fahrenheit"]},
                "at": {"type": "string", "format": "date"},
            }, "required": ["city"]}),
        ),
        tool(
            "add_item",
            json!({"type": "object", "properties": {
                "item": {"type": "object"},
                "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 3},
                "ok": {"type": "boolean"},
                "weight": {"type": ["number", "null"]},
                "any": {},
            }, "required": ["item"]}),
        ),
        tool("project_context", json!({"type": "object", "properties": {}})),
        tool(
            "look_up",
            json!({"type": "object", "properties": {"node": {"$ref": "#/$defs/node"}}, "$defs": {"node": node}}),
        ),
    ]
}

/// What JSON Schema asks of the tools above, of all types alike.
fn fits(value: &Value, schema: &Value, root: &Value) -> bool {
    if let Some(pointer) = schema["$ref"].as_str() {
        return fits(value, root.pointer(&pointer[1..]).unwrap(), root);
    }
    if let Some(values) = schema["enum"].as_array() {
        return values.contains(value);
    }
    let is = |kind: &Value| match kind.as_str().unwrap() {
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "array" => value.is_array(),
        _ => value.is_object(),
    };
    let right = match &schema["type"] {
        Value::Null => true,
        Value::Array(kinds) => kinds.iter().any(is),
        kind => is(kind),
    };
    let bounded = |word: &str, test: fn(f64, f64) -> bool| {
        schema[word].as_f64().is_none_or(|bound| value.as_f64().is_some_and(|number| test(number, bound)))
    };
    let items = value.as_array().into_iter().flatten().all(|item| fits(item, &schema["items"], root));
    let members = schema["properties"].as_object().into_iter().flatten();
    let mut members = members.filter_map(|(key, schema)| Some((value.get(key)?, schema)));
    let required = schema["required"].as_array().into_iter().flatten();
    right
        && bounded("minimum", |number, bound| number >= bound)
        && bounded("maximum", |number, bound| number <= bound)
        && (schema["items"].is_null() || items)
        && members.all(|(value, schema)| fits(value, schema, root))
        && required.into_iter().all(|key| value.get(key.as_str().unwrap()).is_some())
}

#[test]
fn what_a_grammar_lets_through_is_read_as_calls() {
    let tools = tools();
    let schemas: HashMap<&str, &Value> =
        tools.iter().map(|tool| (tool.name.as_str(), &*tool.parameters)).collect();
    let (mut texts, mut wrong) = (0, Vec::new());
    // Where the mark behind a value says its key again, no grammar can hold a model to the key of a free object.
    let says_it_again =
        |dialect: &&Arc<Dialect>| matches!(dialect.codec(), Codec::Fields(form) if form.repeats_key());
    for dialect in of_any_tool().filter(|dialect| !says_it_again(dialect)) {
        for (choice, parallel) in [(Choice::Required, true), (Choice::Named("add_item".to_owned()), false)] {
            let grammar = built(dialect, &tools, &choice, parallel).unwrap().to_gbnf();
            let gbnf = Gbnf::read(&grammar).unwrap();
            for seed in 0..25 {
                let text = gbnf.sample(seed);
                texts += 1;
                let message = read(dialect, &tools, &text);
                let fit = |call: &del_dialects::Call| {
                    let schema = schemas.get(call.name.as_str());
                    // Numbers that no program has are none to this reader of JSON.
                    let Ok(arguments) = serde_json::from_str(&call.arguments) else {
                        return call.arguments.contains('e');
                    };
                    schema.is_some_and(|schema| fits(&arguments, schema, schema))
                };
                // A grammar cannot know that a key was there before, nor that what ends an answer is missing behind a
                // call without a single argument.
                let forgiven = |report: &del_dialects::Report| {
                    report.kind == FaultKind::DuplicateKey
                        || (report.kind == FaultKind::UnclosedCall
                            && matches!(dialect.frame(), Frame::Channels(_)))
                };
                let is_cut = message.faults.iter().any(|report| report.kind == FaultKind::UnclosedCall);
                let right = (is_cut || !message.calls.is_empty())
                    && (parallel || message.calls.len() == 1)
                    && message.faults.iter().all(forgiven)
                    && message.content.trim().is_empty()
                    && message.calls.iter().all(fit);
                if !right {
                    wrong.push(format!("{}: {text}\n{message:?}", dialect.name()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {texts}:\n{}", wrong.len(), wrong.join("\n\n"));
}
