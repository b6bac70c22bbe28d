//! What a schema asks, one keyword at a time.

use del_dialects::{Choice, Warning};
use serde_json::{Value, json};

use super::gbnf::Gbnf;
use super::{dialect, grammar, spaced, tool};

/// The grammar of one argument `a` of this schema, with `$defs` beside it.
struct Argument {
    grammar: Gbnf,
    warnings: Vec<Warning>,
}

impl Argument {
    fn new(schema: &Value) -> Self {
        Self::with(schema, &json!({}))
    }

    fn with(schema: &Value, definitions: &Value) -> Self {
        let parameters = json!({
            "type": "object", "properties": {"a": schema}, "required": ["a"], "$defs": definitions,
        });
        let tools = [tool("f", parameters)];
        let dialect = dialect("llama-function");
        let warnings = dialect.grammar(&tools, &Choice::Required, false).unwrap().warnings().to_vec();
        Self { grammar: grammar(dialect, &tools, &Choice::Required, false), warnings }
    }

    fn takes_text(&self, json: &str) -> bool {
        self.grammar.accepts(&format!("<function=f>{{\"a\": {json}}}</function>"))
    }

    fn takes(&self, value: &Value) -> bool {
        self.takes_text(&spaced(value))
    }

    #[track_caller]
    fn check(&self, good: &[Value], bad: &[Value]) {
        for value in good {
            assert!(self.takes(value), "refused {value}");
        }
        for value in bad {
            assert!(!self.takes(value), "took {value}");
        }
    }

    fn warned(&self) -> Vec<String> {
        self.warnings.iter().map(|warning| format!("{} {}", warning.path, warning.keyword)).collect()
    }
}

#[test]
fn integers_between_bounds() {
    let edges =
        [i64::MIN, -1_000_001, -100, -99, -10, -1, 0, 1, 9, 10, 19, 100, 109, 4095, 100_000, i64::MAX];
    let bounds = edges.iter().map(|edge| Some(*edge)).chain([None]);
    for min in bounds.clone() {
        for max in bounds.clone().filter(|max| min.zip(*max).is_none_or(|(min, max)| min <= max)) {
            let mut schema = json!({"type": "integer"});
            if let Some(min) = min {
                schema["minimum"] = json!(min);
            }
            if let Some(max) = max {
                schema["maximum"] = json!(max);
            }
            let argument = Argument::new(&schema);
            let near = edges.iter().flat_map(|edge| [edge.saturating_sub(1), *edge, edge.saturating_add(1)]);
            for number in near.chain(-22..=32) {
                let inside = min.is_none_or(|min| number >= min) && max.is_none_or(|max| number <= max);
                assert_eq!(argument.takes(&json!(number)), inside, "{number} of {schema}");
            }
            for odd in ["", "-", "00", "01", "1.0", "+1", "-01", "1e2"] {
                assert!(!argument.takes_text(odd), "took {odd:?} of {schema}");
            }
        }
    }
}

#[test]
fn excluded_bounds_and_fractions() {
    Argument::new(&json!({"type": "integer", "exclusiveMinimum": 0, "exclusiveMaximum": 10}))
        .check(&[json!(1), json!(9)], &[json!(0), json!(10), json!(-1)]);
    Argument::new(&json!({"type": "integer", "minimum": 0, "exclusiveMinimum": true, "maximum": 3.7}))
        .check(&[json!(1), json!(3)], &[json!(0), json!(4)]);
    Argument::new(&json!({"type": "integer", "minimum": 1.0, "maximum": 5.0}))
        .check(&[json!(1), json!(5)], &[json!(0), json!(6)]);
    let positive = Argument::new(&json!({"type": "number", "minimum": 0, "maximum": 1}));
    positive.check(&[json!(0), json!(0.25), json!(1e300)], &[json!(-0.5), json!("1"), json!(null)]);
    assert_eq!(positive.warned(), ["a maximum"]);
    let contrary = Argument::new(&json!({"type": "integer", "minimum": 5, "maximum": 1}));
    contrary.check(&[json!(3)], &[json!("3")]);
    assert_eq!(contrary.warned(), ["a minimum"]);
}

#[test]
fn strings_of_some_length() {
    let two_to_four = Argument::new(&json!({"type": "string", "minLength": 2, "maxLength": 4}));
    two_to_four
        .check(&[json!("ab"), json!("a\"\\\n"), json!("東京都庁")], &[json!("a"), json!("abcde"), json!(2)]);
    let long = Argument::new(&json!({"type": "string", "maxLength": 1000}));
    long.check(&[json!("x".repeat(1000))], &[json!("x".repeat(1001))]);
    let far = Argument::new(&json!({"type": "string", "minLength": 5000, "maxLength": 1_000_000}));
    far.check(&[json!("x".repeat(6000))], &[]);
    assert_eq!(far.warned(), ["a minLength", "a maxLength"]);
    let any = Argument::new(&json!({"type": "string"}));
    for bad in ["\"a\nb\"", "\"\\x\"", "\"\\u12\"", "\"a", "'a'", "\"\"\""] {
        assert!(!any.takes_text(bad), "took {bad}");
    }
    assert!(any.takes_text(r#""\u00e9\/\b\f""#));
}

#[test]
fn arrays_of_some_length() {
    for (min, max) in [(0, 0), (0, 1), (0, 3), (1, 1), (1, 4), (2, 2), (2, 5), (3, 3)] {
        let schema = json!({"type": "array", "items": {"type": "integer"}, "minItems": min, "maxItems": max});
        let argument = Argument::new(&schema);
        for len in 0..8 {
            let list = json!((0..len).collect::<Vec<i32>>());
            assert_eq!(argument.takes(&list), (min..=max).contains(&len), "{list} of {schema}");
        }
    }
    for min in 0..4 {
        let argument = Argument::new(&json!({"type": "array", "minItems": min}));
        for len in 0..8 {
            assert_eq!(
                argument.takes(&json!(vec![json!({"x": [null]}); len])),
                len >= min,
                "{len} from {min}"
            );
        }
    }
}

#[test]
fn members_may_be_left_out_but_stand_in_order() {
    let keys = ["p", "q", "r", "s"];
    for required in 0..16_u32 {
        let is_required = |place: usize| required & (1 << place) != 0;
        let needed: Vec<&str> =
            keys.iter().enumerate().filter(|(place, _)| is_required(*place)).map(|(_, key)| *key).collect();
        let properties: serde_json::Map<String, Value> =
            keys.iter().map(|key| ((*key).to_owned(), json!({"type": "boolean"}))).collect();
        let argument =
            Argument::new(&json!({"type": "object", "properties": properties, "required": needed}));
        for there in 0..16_u32 {
            let members: Vec<String> = keys
                .iter()
                .enumerate()
                .filter(|(place, _)| there & (1 << place) != 0)
                .map(|(_, key)| format!("\"{key}\": true"))
                .collect();
            let whole = there & required == required;
            let text = format!("{{{}}}", members.join(", "));
            assert_eq!(argument.takes_text(&text), whole, "{text} of {needed:?}");
            if members.len() > 1 {
                let reversed: Vec<String> = members.iter().rev().cloned().collect();
                assert!(!argument.takes_text(&format!("{{{}}}", reversed.join(", "))), "{reversed:?}");
                assert!(!argument.takes_text(&format!("{{{}, }}", members.join(", "))), "{members:?}");
                assert!(!argument.takes_text(&format!("{{{}}}", members.join(","))), "{members:?}");
            }
        }
    }
}

#[test]
fn one_of_several() {
    Argument::new(&json!({"anyOf": [{"type": "integer"}, {"type": "array", "items": {"type": "string"}}]}))
        .check(&[json!(1), json!(["a"])], &[json!("a"), json!([1]), json!({})]);
    Argument::new(&json!({"type": ["string", "null"]})).check(&[json!("a"), json!(null)], &[json!(1)]);
    Argument::new(&json!({"type": "boolean", "nullable": true}))
        .check(&[json!(true), json!(null)], &[json!(0)]);
    Argument::new(&json!({"enum": ["a\"b", 1, null, {"k": [1, 2]}]})).check(
        &[json!("a\"b"), json!(1), json!(null), json!({"k": [1, 2]})],
        &[json!("a"), json!(2), json!({})],
    );
    Argument::new(&json!({"const": [true]})).check(&[json!([true])], &[json!([false]), json!(true)]);
    let kinds = json!({"oneOf": [
        {"type": "object", "properties": {"kind": {"const": "a"}, "x": {"type": "integer"}}, "required": ["kind", "x"]},
        {"type": "object", "properties": {"kind": {"const": "b"}, "y": {"type": "string"}}, "required": ["kind"]},
    ]});
    Argument::new(&kinds).check(
        &[json!({"kind": "a", "x": 1}), json!({"kind": "b", "y": "z"}), json!({"kind": "b"})],
        &[json!({"kind": "a"}), json!({"kind": "b", "x": 1}), json!({"kind": "c"})],
    );
    // What stands beside the alternatives holds for each of them.
    let beside = json!({
        "type": "object", "properties": {"p": {"type": "integer"}, "q": {"type": "integer"}},
        "anyOf": [{"required": ["p"]}, {"required": ["q"]}],
    });
    Argument::new(&beside)
        .check(&[json!({"p": 1}), json!({"q": 1}), json!({"p": 1, "q": 2})], &[json!({}), json!({"p": "x"})]);
    let all = json!({"allOf": [
        {"type": "object", "properties": {"p": {"type": "integer"}}, "required": ["p"]},
        {"properties": {"q": {"type": "string"}}},
    ]});
    Argument::new(&all)
        .check(&[json!({"p": 1, "q": "x"}), json!({"p": 1})], &[json!({"q": "x"}), json!({"p": "1"})]);
}

#[test]
fn free_values() {
    let everything = [
        json!({"x y": {"z": []}}),
        json!([1, "a", null]),
        json!("s"),
        json!(-1.5e10),
        json!(true),
        json!(null),
    ];
    Argument::new(&json!({})).check(&everything, &[]);
    Argument::new(&json!(true)).check(&everything, &[]);
    Argument::new(&json!({"description": "whatever"})).check(&everything, &[]);
    Argument::new(&json!({"type": "object"})).check(&everything[..1], &everything[1..]);
    Argument::new(&json!({"type": "array"})).check(&everything[1..2], &everything[2..]);
    let counts = Argument::new(&json!({"type": "object", "additionalProperties": {"type": "integer"}}));
    counts.check(&[json!({}), json!({"a": 1, "b": 2})], &[json!({"a": "1"}), json!([])]);
    Argument::new(&json!({"type": "object", "additionalProperties": false}))
        .check(&[json!({})], &[json!({"a": 1})]);
    let undeclared = Argument::new(&json!({"type": "object", "required": ["k"]}));
    undeclared.check(&[json!({"k": [1]})], &[json!({}), json!({"j": 1})]);
}

#[test]
fn references() {
    let tree = json!({"tree": {
        "type": "object",
        "properties": {"value": {"type": "integer"}, "children": {"type": "array", "items": {"$ref": "#/$defs/tree"}}},
        "required": ["value"],
    }});
    Argument::with(&json!({"$ref": "#/$defs/tree", "description": "the root"}), &tree).check(
        &[json!({"value": 1}), json!({"value": 1, "children": [{"value": 2, "children": [{"value": 3}]}]})],
        &[json!({}), json!({"value": 1, "children": [{}]}), json!({"value": 1, "children": [1]})],
    );
    let list =
        json!({"list": {"anyOf": [{"type": "null"}, {"type": "array", "items": {"$ref": "#/$defs/list"}}]}});
    Argument::with(&json!({"$ref": "#/$defs/list"}), &list)
        .check(&[json!(null), json!([[], null, [[null]]])], &[json!([1]), json!({})]);
    let missing = Argument::new(&json!({"$ref": "#/$defs/none"}));
    missing.check(&[json!(1), json!({})], &[]);
    assert_eq!(missing.warned(), ["a $ref"]);
    let narrowed =
        Argument::with(&json!({"$ref": "#/$defs/n", "maximum": 3}), &json!({"n": {"type": "integer"}}));
    narrowed.check(&[json!(9)], &[json!("9")]);
    assert_eq!(narrowed.warned(), ["a maximum"]);
}

/// None of these may hang, overflow, or give rules that begin with themselves, which the recogniser refuses.
#[test]
fn schemas_that_go_round_in_circles() {
    let reference = |name: &str| json!({"$ref": format!("#/$defs/{name}")});
    let circles = [
        json!({"x": reference("x")}),
        json!({"x": reference("y"), "y": {"anyOf": [reference("x"), {"type": "string"}]}}),
        json!({
            "x": {"anyOf": [{"type": "object", "properties": {"p": reference("y")}}, reference("y")]},
            "y": {"anyOf": [reference("x"), {"type": "string"}]},
        }),
        json!({"x": {"allOf": [{"type": "object"}, {"properties": {
            "p": {"allOf": [reference("x"), {"type": "object"}]}, "q": {"allOf": [reference("x"), {"type": "object"}]},
        }}]}}),
    ];
    for definitions in circles {
        let argument = Argument::with(&reference("x"), &definitions);
        assert!(argument.takes(&json!({})) || argument.takes(&json!("s")), "{definitions}");
    }
    let mut deep = json!({"type": "integer"});
    for _ in 0..100 {
        deep = json!({"type": "array", "items": deep});
    }
    let argument = Argument::new(&deep);
    assert!(argument.takes(&json!([[]])));
    assert_eq!(argument.warnings.len(), 1);
}

#[test]
fn warns_of_what_it_cannot_hold_a_model_to() {
    let schema = json!({"type": "object", "properties": {
        "name": {"type": "string", "pattern": "^[a-z]+$", "format": "email", "title": "T", "default": ""},
        "list": {"type": "array", "items": {"type": "integer", "multipleOf": 3}, "uniqueItems": true},
        "open": {"type": "object", "properties": {"x": {}}, "additionalProperties": true},
    }, "$comment": "c", "x-note": 1});
    let argument = Argument::new(&schema);
    assert_eq!(
        argument.warned(),
        [
            "a.name pattern",
            "a.name format",
            "a.list[] multipleOf",
            "a.list uniqueItems",
            "a.open additionalProperties"
        ]
    );
    let said = argument.warnings[0].to_string();
    assert_eq!(said, "f: the grammar does not hold a.name to \"pattern\"");
    argument.check(&[json!({"name": "A", "list": [1, 1], "open": {}})], &[]);
    let clean =
        json!({"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": false});
    assert!(Argument::new(&clean).warnings.is_empty());
}

#[test]
fn arguments_that_are_no_plain_object() {
    let dialect = dialect("llama-function");
    let takes = |parameters: Value, text: &str| {
        let grammar = grammar(dialect, &[tool("f", parameters)], &Choice::Required, false);
        grammar.accepts(&format!("<function=f>{text}</function>"))
    };
    assert!(takes(json!({"type": "object", "properties": {}}), "{}"));
    assert!(!takes(json!({"type": "object", "properties": {}}), "{\"a\": 1}"));
    for open in [json!({}), json!(null), json!({"type": "object"}), json!({"type": "string"})] {
        assert!(takes(open.clone(), "{}"), "{open}");
        assert!(takes(open.clone(), "{\"a\": 1}"), "{open}");
        assert!(!takes(open, "1"));
    }
    let either = json!({"anyOf": [
        {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]},
        {"type": "object", "properties": {"b": {"type": "integer"}}, "required": ["b"]},
    ]});
    assert!(takes(either.clone(), "{\"a\": 1}"));
    assert!(takes(either.clone(), "{\"b\": 1}"));
    assert!(!takes(either, "{\"a\": 1, \"b\": 1}"));
    let itself = json!({"$ref": "#/$defs/p", "$defs": {"p": {"type": "object", "properties": {"a": {"type": "null"}}}}});
    assert!(takes(itself.clone(), "{\"a\": null}"));
    assert!(!takes(itself, "{\"a\": 1}"));
}
