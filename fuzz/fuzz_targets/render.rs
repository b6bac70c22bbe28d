//! Any calls: what a dialect writes reads as the same calls, however it arrives.
#![no_main]

use del_dialects::description::{Codec, Literal};
use del_dialects::{Call, RenderError, Tool};
use del_fuzz::reading::{chunks, read};
use del_fuzz::{Way, hold, tools};
use libfuzzer_sys::arbitrary::{Result, Unstructured};
use libfuzzer_sys::fuzz_target;
use serde_json::{Map, Value, json};

fuzz_target!(|data: &[u8]| {
    let _ = check(&mut Unstructured::new(data));
});

fn check(input: &mut Unstructured<'_>) -> Result<()> {
    let way = Way::new(input.arbitrary()?, input.arbitrary::<u8>()? & !7);
    let Some(dialect) = way.dialect else { return Ok(()) };
    let calls: Vec<Call> = (0..input.int_in_range(1..=3)?).map(|_| call(input)).collect::<Result<_>>()?;
    let text = match dialect.render_calls(&calls, &tools()) {
        Ok(text) => text,
        Err(RenderError::Unrepresentable { .. }) => return Ok(()),
        // A body that is one argument has no place for others.
        Err(RenderError::Arguments { .. }) if matches!(dialect.codec(), Codec::Raw { .. }) => return Ok(()),
        Err(error) => panic!("{}: {error}: {calls:?}", dialect.name()),
    };
    let json = match dialect.codec() {
        Codec::Object(Literal::Json) => true,
        Codec::Call(form) => !form.python,
        _ => false,
    };
    // What was called, was declared when it was; where names need no declaration, they may be gone since.
    let (gone, mut there) = (way.turn(), way.turn());
    there.tools = declared(&calls).into();
    for pieces in [vec![text.as_str()], chunks(&text, way.size)] {
        let (mut message, events) = read(dialect.parser(gone.clone()), pieces.iter().copied(), way.end);
        hold(&text, &events);
        if !message.calls.iter().map(|call| &call.name).eq(calls.iter().map(|call| &call.name)) {
            message = read(dialect.parser(there.clone()), pieces, way.end).0;
        }
        assert_eq!(message.calls.len(), calls.len(), "{}: {text:?}", dialect.name());
        assert_eq!(message.content.trim(), "", "{}: {text:?}", dialect.name());
        for (read, meant) in message.calls.iter().zip(&calls) {
            let value = |text: &str| serde_json::from_str::<Value>(text).expect("JSON");
            assert_eq!(read.name, meant.name, "{}: {text:?}", dialect.name());
            assert_eq!(value(&read.arguments), value(&meant.arguments), "{}: {text:?}", dialect.name());
            assert!(!json || read.arguments == meant.arguments, "{}: {text:?}", dialect.name());
        }
    }
    Ok(())
}

/// The tools, and those that are called and not among them.
fn declared(calls: &[Call]) -> Vec<Tool> {
    let mut all = tools().to_vec();
    for call in calls {
        if !all.iter().any(|tool| tool.name == call.name) {
            let arguments: Map<String, Value> = serde_json::from_str(&call.arguments).expect("JSON");
            let properties: Map<String, Value> =
                arguments.into_iter().map(|(key, _)| (key, json!({}))).collect();
            let parameters = json!({"type": "object", "properties": properties}).into();
            all.push(Tool { name: call.name.clone(), description: String::new(), parameters });
        }
    }
    all
}

fn call(input: &mut Unstructured<'_>) -> Result<Call> {
    let tools = tools();
    let tool = input.choose(&tools)?;
    let name = if input.ratio(4, 5)? { tool.name.clone() } else { input.arbitrary()? };
    let id = if input.ratio(1, 4)? { Some(input.arbitrary()?) } else { None };
    let mut members = Map::new();
    if let Some(properties) = tool.parameters.get("properties").and_then(Value::as_object) {
        for key in properties.keys() {
            if input.ratio(2, 3)? {
                members.insert(key.clone(), value(input, 0)?);
            }
        }
    }
    if input.ratio(1, 6)? {
        members.insert(input.arbitrary()?, value(input, 0)?);
    }
    Ok(Call { id, name, arguments: Value::Object(members).to_string() })
}

fn value(input: &mut Unstructured<'_>, depth: usize) -> Result<Value> {
    let most = if depth > 3 { 4 } else { 6 };
    Ok(match input.int_in_range(0..=most)? {
        0 => Value::Null,
        1 => Value::from(input.arbitrary::<bool>()?),
        2 => Value::from(input.arbitrary::<i64>()?),
        3 | 4 => Value::from(input.arbitrary::<&str>()?),
        5 => (0..input.int_in_range(0..=3)?).map(|_| value(input, depth + 1)).collect::<Result<_>>()?,
        _ => {
            let count = input.int_in_range(0..=3)?;
            let members = (0..count).map(|_| Ok((input.arbitrary::<String>()?, value(input, depth + 1)?)));
            Value::Object(members.collect::<Result<_>>()?)
        }
    })
}
