//! What a schema asks, one keyword at a time.

use del_grammar::{Choice, Warning};
use serde_json::{Value, json};

use super::gbnf::Gbnf;
use super::{built, dialect, grammar, spaced, tool};

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
        let warnings = built(dialect, &tools, &Choice::Required, false).unwrap().warnings().to_vec();
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
    let part = Argument::new(&json!({"type": "number", "minimum": 0, "maximum": 1}));
    part.check(
        &[json!(0), json!(0.25), json!(1), json!(1.0), json!(1e-9)],
        &[json!(-0.5), json!(1.5), json!(1e300), json!("1"), json!(null)],
    );
    assert!(part.warned().is_empty());
    let wider = Argument::new(&json!({"type": "number", "minimum": -2.5, "exclusiveMaximum": 20}));
    wider.check(
        &[json!(-2.5), json!(-0.1), json!(19.99), json!(-1e-7), json!(0)],
        &[json!(-3.5), json!(20.5), json!(1e16)],
    );
    assert_eq!(wider.warned(), ["a minimum", "a exclusiveMaximum"]);
    let far = Argument::new(&json!({"type": "number", "minimum": 100}));
    far.check(
        &[json!(100), json!(100.5), json!(1e16), json!(1.5e300)],
        &[json!(99.9), json!(-200), json!(1e-7)],
    );
    let below = Argument::new(&json!({"type": "number", "maximum": -1}));
    below.check(&[json!(-1), json!(-1.5), json!(-1e20)], &[json!(-0.5), json!(0), json!(1)]);
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

/// Each is looked for among all before it; as a list that took minutes.
#[test]
fn thousands_of_values_and_names_stand_there_once() {
    const MANY: usize = 20_000;
    let values: Vec<Value> = (0..MANY).map(|number| json!(format!("v{number}"))).collect();
    let twice: Vec<Value> = values.iter().chain(&values).cloned().collect();
    let schema = json!({"type": "object", "required": twice, "properties": {"v7": {"enum": twice}},
        "additionalProperties": false, "minProperties": 1});
    let parameters = json!({"type": "object", "properties": {"a": schema}, "required": ["a"]});
    let built = built(dialect("llama-function"), &[tool("f", parameters)], &Choice::Required, false).unwrap();
    let text = built.to_gbnf();
    for (value, count) in [("v7", 2), ("v8", 2), ("v19999", 2)] {
        assert_eq!(text.matches(&format!("\\\"{value}\\\"")).count(), count, "{value}");
    }
    assert_eq!(built.warnings().len(), 1);
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
fn members_that_are_not_declared() {
    let open =
        json!({"type": "object", "properties": {"p": {"type": "integer"}}, "additionalProperties": true});
    Argument::new(&open).check(
        &[json!({}), json!({"p": 1}), json!({"p": 1, "x": "y", "z": []}), json!({"x": null})],
        &[json!([]), json!(1)],
    );
    assert_eq!(Argument::new(&open).warned(), ["a additionalProperties"]);
    let counts = json!({
        "type": "object", "properties": {"p": {"type": "string"}, "q": {}}, "required": ["p"],
        "additionalProperties": {"type": "integer"},
    });
    Argument::new(&counts).check(
        &[json!({"p": "a"}), json!({"p": "a", "q": [], "x": 1}), json!({"p": "a", "x": 1, "y": 2})],
        &[json!({"x": 1}), json!({"p": "a", "x": "1"})],
    );
    let closed = json!({"type": "object", "properties": {"p": {}}});
    Argument::new(&closed).check(&[json!({"p": 1}), json!({})], &[json!({"x": 1})]);
}

#[test]
fn first_items_have_shapes_of_their_own() {
    let (number, flag) = (json!({"type": "integer"}), json!({"type": "boolean"}));
    let pair = json!({"type": "array", "prefixItems": [number, flag], "items": false, "minItems": 1});
    Argument::new(&pair).check(
        &[json!([1]), json!([1, true])],
        &[json!([]), json!([true]), json!([1, 2]), json!([1, true, 3])],
    );
    let open = json!({"type": "array", "prefixItems": [number, flag], "items": {"type": "string"}});
    Argument::new(&open).check(
        &[json!([]), json!([1]), json!([1, true, "a", "b"])],
        &[json!(["a"]), json!([1, "a"]), json!([1, true, 3])],
    );
    let old = json!({"items": [number, flag], "additionalItems": false, "minItems": 2});
    Argument::new(&old).check(&[json!([1, true])], &[json!([1]), json!([1, true, null])]);
    let long = json!({"prefixItems": [number], "items": flag, "minItems": 3, "maxItems": 4});
    Argument::new(&long).check(
        &[json!([1, true, true]), json!([1, true, true, false])],
        &[json!([1, true]), json!([1, true, true, true, true])],
    );
    let short = json!({"prefixItems": [number, flag], "maxItems": 1});
    Argument::new(&short).check(&[json!([]), json!([1])], &[json!([1, true])]);
}

#[test]
fn texts_of_a_pattern() {
    let check = |pattern: &str, good: &[&str], bad: &[&str]| {
        let argument = Argument::new(&json!({"type": "string", "pattern": pattern}));
        assert!(argument.warned().is_empty(), "{pattern}");
        for text in good {
            assert!(argument.takes(&json!(text)), "{pattern} refused {text:?}");
        }
        for text in bad {
            assert!(!argument.takes(&json!(text)), "{pattern} took {text:?}");
        }
    };
    check("^[a-z]+$", &["a", "xyz"], &["", "A", "a1", "a\n"]);
    check("b+", &["b", "abba", "\"b\\", "\nb\u{1}東"], &["", "aaa"]);
    check("^a|b$", &["a", "ax", "b", "xb"], &["xa", "bx", ""]);
    check("^(ab|c){2,3}$", &["abab", "cc", "abcab"], &["ab", "cccc"]);
    check(r"^\d{3}-\w*\s?[^\d]$", &["123-ab x", "999-x"], &["12-x", "123-a1 1"]);
    check(r#"^["\\/]+$"#, &["\"", "\\/\""], &["a", ""]);
    check("^.{2}$", &["ab", "東京", "\t\""], &["a", "abc", "a\n"]);
    check(r"^\u6771[\x41-C]*?$", &["東", "東ABC"], &["東D"]);
    check("", &["", "anything"], &[]);
    for beyond in
        ["(?=a)", "(?<!a)b", r"(a)\1", r"\bword", r"\p{L}", "(a*)*", "a{9999}", "[", "(", "a)", "*", "a$b"]
    {
        let argument = Argument::new(&json!({"type": "string", "pattern": beyond}));
        assert_eq!(argument.warned(), ["a pattern"], "{beyond}");
        assert!(argument.takes(&json!("whatever")), "{beyond}");
    }
}

#[test]
fn texts_of_a_format() {
    let check = |format: &str, good: &[&str], bad: &[&str]| {
        let argument = Argument::new(&json!({"type": "string", "format": format}));
        for text in good {
            assert!(argument.takes(&json!(text)), "{format} refused {text:?}");
        }
        for text in bad {
            assert!(!argument.takes(&json!(text)), "{format} took {text:?}");
        }
        argument.warned()
    };
    let none: [&str; 0] = [];
    assert_eq!(check("date", &["2024-02-29"], &["2024-13-01", "24-01-01", "2024-1-1"]), none);
    assert_eq!(check("time", &["23:59:60Z", "00:00:00.5+01:00"], &["24:00:00Z", "12:00", "12:00:00"]), none);
    assert_eq!(check("date-time", &["2024-02-29T12:00:00Z"], &["2024-02-29", "now"]), none);
    assert_eq!(check("uuid", &["123e4567-e89b-12d3-a456-426614174000"], &["123e4567"]), none);
    assert_eq!(check("ipv4", &["127.0.0.1", "255.255.255.255"], &["256.0.0.1", "1.2.3"]), none);
    assert_eq!(check("email", &["a@b.c", "\"x y\"@b"], &["a", "@", "a b@c"]), none);
    assert_eq!(check("uri", &["a:", "urn:x:y"], &["x y", "/a"]), ["a format"]);
    assert_eq!(check("hostname", &["whatever is here"], &[]), ["a format"]);
}

/// What a raw value cannot be held to is said.
#[test]
fn patterns_in_raw_values() {
    let tools = |pattern: &str| {
        let parameters =
            json!({"properties": {"a": {"type": "string", "pattern": pattern}}, "required": ["a"]});
        [tool("f", parameters)]
    };
    let text = |value: &str| {
        format!("<tool_call>\n<function=f>\n<parameter=a>\n{value}\n</parameter>\n</function>\n</tool_call>")
    };
    let raw = dialect("qwen3-coder");
    let held = tools("^[a-z\"]{2}$");
    assert!(built(raw, &held, &Choice::Required, false).unwrap().warnings().is_empty());
    let takes =
        |tools: &[_], value: &str| grammar(raw, tools, &Choice::Required, false).accepts(&text(value));
    assert!(takes(&held, "a\"") && !takes(&held, "abc"));
    let open = tools("^[^a]+$");
    let warnings = built(raw, &open, &Choice::Required, false).unwrap().warnings().to_vec();
    assert_eq!(warnings[0].to_string(), "f: the grammar does not hold a to \"pattern\"");
    assert!(takes(&open, "a"));
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
        "name": {"type": "string", "pattern": "^(?=a)[a-z]+$", "format": "ipv6", "title": "T", "default": ""},
        "code": {"type": "string", "pattern": "^[a-z]+$", "maxLength": 3},
        "list": {"type": "array", "items": {"type": "integer", "multipleOf": 3}, "uniqueItems": true},
        "open": {"type": "object", "properties": {"x": {}}, "additionalProperties": true},
    }, "$comment": "c", "x-note": 1});
    let argument = Argument::new(&schema);
    assert_eq!(
        argument.warned(),
        [
            "a.name pattern",
            "a.name format",
            "a.code maxLength",
            "a.list[] multipleOf",
            "a.list uniqueItems",
            "a.open additionalProperties"
        ]
    );
    let said = argument.warnings[0].to_string();
    assert_eq!(said, "f: the grammar does not hold a.name to \"pattern\"");
    argument.check(&[json!({"name": "A", "code": "abcd", "list": [1, 1], "open": {}})], &[]);
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
