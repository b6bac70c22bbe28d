//! Random schemas, random values that fit them, in every dialect.

use del_grammar::Choice;
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::engines::Engines;
use super::{call, grammar, of_any_tool, tool};

/// A schema of a few levels.
fn schema() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!({"type": "string"})),
        (0..3_u32, 0..4_u32)
            .prop_map(|(min, more)| json!({"type": "string", "minLength": min, "maxLength": min + more})),
        Just(json!({"type": "integer"})),
        (-2000..2000_i64, 0..4000_i64)
            .prop_map(|(min, more)| json!({"type": "integer", "minimum": min, "maximum": min + more})),
        Just(json!({"type": "number"})),
        Just(json!({"type": "boolean"})),
        Just(json!({"type": ["boolean", "null"]})),
        Just(json!({"enum": ["a b", "c\"d'", 7, true, null, [1, "x"]]})),
        Just(json!({})),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            (inner.clone(), 0..3_u32, 0..3_u32).prop_map(|(items, min, more)| {
                json!({"type": "array", "items": items, "minItems": min, "maxItems": min + more})
            }),
            inner.clone().prop_map(|items| json!({"type": "array", "items": items})),
            vec((inner.clone(), any::<bool>()), 1..4).prop_map(|members| object(&members)),
            inner.clone().prop_map(|values| json!({"type": "object", "additionalProperties": values})),
            vec(inner, 2..3).prop_map(|ways| json!({"anyOf": ways})),
        ]
    })
}

fn object(members: &[(Value, bool)]) -> Value {
    let named = || members.iter().enumerate().map(|(place, member)| (format!("key_{place}"), member));
    let properties: serde_json::Map<String, Value> =
        named().map(|(key, (schema, _))| (key, schema.clone())).collect();
    let required: Vec<String> = named().filter(|(_, (_, required))| *required).map(|(key, _)| key).collect();
    json!({"type": "object", "properties": properties, "required": required})
}

/// A value that fits `schema`, with its members in schema order.
fn value(schema: &Value) -> BoxedStrategy<Value> {
    let bound = |word: &str| schema.get(word).and_then(Value::as_i64);
    let size = |word: &str| bound(word).map(|size| usize::try_from(size).unwrap());
    let sizes = |min: &str, max: &str| size(min).unwrap_or(0)..=size(max).unwrap_or(4);
    if let Some(ways) = schema.get("anyOf").and_then(Value::as_array) {
        return proptest::strategy::Union::new(ways.iter().map(value)).boxed();
    }
    if let Some(values) = schema.get("enum").and_then(Value::as_array) {
        return proptest::sample::select(values.clone()).boxed();
    }
    let kind = match schema.get("type") {
        Some(Value::Array(_)) => {
            return prop_oneof![any::<bool>().prop_map(Value::from), Just(json!(null))].boxed();
        }
        Some(kind) => kind.as_str().unwrap(),
        None => {
            let free =
                [json!({"type": "string"}), json!({"type": "number"}), json!({"type": "array", "items": {}})];
            return prop_oneof![value(&free[0]), value(&free[1]), Just(json!({"k l": [null, {}]}))].boxed();
        }
    };
    match kind {
        "string" => vec(any::<char>(), sizes("minLength", "maxLength"))
            .prop_map(|text| Value::from(text.into_iter().collect::<String>()))
            .boxed(),
        "integer" => (bound("minimum").unwrap_or(i64::MIN)..=bound("maximum").unwrap_or(i64::MAX))
            .prop_map(Value::from)
            .boxed(),
        "number" => {
            prop_oneof![any::<f64>().prop_map(|number| json!(number)), any::<i64>().prop_map(Value::from)]
                .prop_filter("no number", Value::is_number)
                .boxed()
        }
        "boolean" => any::<bool>().prop_map(Value::from).boxed(),
        "array" if schema == &json!({"type": "array", "items": {}}) => Just(json!([[], {"x": 1}])).boxed(),
        "array" => vec(value(&schema["items"]), sizes("minItems", "maxItems")).prop_map(Value::from).boxed(),
        _ => match schema.get("properties").and_then(Value::as_object) {
            None => vec(value(&schema["additionalProperties"]), 0..3)
                .prop_map(|values| {
                    values
                        .into_iter()
                        .enumerate()
                        .map(|(place, value)| (format!("k{place}"), value))
                        .collect()
                })
                .boxed(),
            Some(properties) => {
                let required = schema["required"].as_array().unwrap();
                let members: Vec<_> = properties
                    .iter()
                    .map(|(name, schema)| {
                        let key = name.clone();
                        let member = value(schema).prop_map(move |value| Some((key.clone(), value)));
                        if required.contains(&json!(name)) {
                            member.boxed()
                        } else {
                            prop_oneof![member, Just(None)].boxed()
                        }
                    })
                    .collect();
                members.prop_map(|members| members.into_iter().flatten().collect()).boxed()
            }
        },
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn fitting_values_are_accepted(
        (parameters, arguments) in vec((schema(), any::<bool>()), 0..4).prop_flat_map(|members| {
            let parameters = object(&members);
            let arguments = value(&parameters);
            (Just(parameters), arguments)
        }),
    ) {
        let tools = [tool("f", parameters)];
        let calls = [call("f", &arguments)];
        let mut written = 0;
        for dialect in of_any_tool() {
            let required = grammar(dialect, &tools, &Choice::Required, false);
            // Some dialects cannot carry some values, and say so.
            let Ok(text) = dialect.render_calls(&calls, &tools) else { continue };
            written += 1;
            prop_assert!(required.accepts(&text), "{}: {}", dialect.name(), text);
            prop_assert!(!required.accepts(&format!("{text}x")), "{}: {}", dialect.name(), text);
        }
        prop_assert!(written >= 10, "only {written} dialects carry {}", calls[0].arguments);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    /// llguidance says the same: its grammars are cut in pieces that a lexer has to take right.
    #[test]
    fn engines_agree(
        (parameters, arguments, place) in (vec((schema(), any::<bool>()), 1..4), 0..72_usize).prop_flat_map(
            |(members, place)| {
                let parameters = object(&members);
                let arguments = value(&parameters);
                (Just(parameters), arguments, Just(place))
            },
        ),
    ) {
        let tools = [tool("f", parameters), tool("f2", json!({"properties": {"a": {}}}))];
        let dialect = of_any_tool().nth(place).unwrap();
        let engines = Engines::new(dialect, &tools, &Choice::Auto, true);
        let Ok(text) = dialect.render_calls(&[call("f", &arguments)], &tools) else { return Ok(()) };
        prop_assert!(engines.accept(dialect.name(), &text), "{}: {}", dialect.name(), text);
        for at in (0..text.len()).filter(|at| text.is_char_boundary(*at)).step_by(31) {
            let dropped: String = text[..at].chars().chain(text[at..].chars().skip(1)).collect();
            engines.accept(dialect.name(), &dropped);
        }
    }
}
