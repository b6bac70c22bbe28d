//! Forms that no built-in dialect of today has, by descriptions of one's own.

use std::sync::Arc;

use del_dialects::{Dialect, Dialects};
use del_grammar::Choice;
use serde_json::json;

use super::{call, grammar, read, tool};

fn own(text: &str) -> Arc<Dialect> {
    let head = "title = \"Own\"\nfamily = \"own\"\nmodels = []\nsource = \"this test\"\nrank = 90\n";
    let all = Dialects::with([("own", format!("{head}{text}").as_str())]).unwrap();
    Arc::clone(all.get("own").unwrap())
}

#[test]
fn heads_with_a_number() {
    let dialect = own(r#"
        [call]
        pieces = [
          { mark = "<|call|>" }, { head = "functions.{name}:{index}" }, { mark = "<|args|>" },
          { args = "object" }, { mark = "<|end|>" },
        ]
    "#);
    let tools = [tool("f", json!({"properties": {"a": {"type": "integer"}}}))];
    let calls = [call("f", &json!({"a": 1})), call("f", &json!({}))];
    let text = dialect.render_calls(&calls, &tools).unwrap();
    assert!(text.contains("functions.f:1"), "{text}");
    let grammar = grammar(&dialect, &tools, &Choice::Required, true);
    assert!(grammar.accepts(&text), "{text}");
    assert!(!grammar.accepts(&text.replace("f:1", "f:x")), "{text}");
}

#[test]
fn fields_that_tell_the_type_and_repeat_the_key() {
    let typed = own(r#"
        [call]
        pieces = [
          { mark = "<call:" }, { head = "{name}" }, { mark = ">" },
          { args = "fields", form = '<arg name="{key}" type="{type}">{value}</arg>' }, { mark = "</call>" },
        ]
    "#);
    let keyed = own(r#"
        [call]
        pieces = [
          { mark = "<call:" }, { head = "{name}" }, { mark = ">" },
          { args = "fields", form = "<{key}>{value}</{key}>" }, { mark = "</call>" },
        ]
    "#);
    let parameters = json!({"properties": {
        "s": {"type": "string"}, "n": {"type": ["number", "string"]}, "b": {"type": "boolean"}, "x": {},
    }});
    let tools = [tool("f", parameters)];
    let calls = [
        call("f", &json!({"s": "a </ar < b"})),
        call("f", &json!({"s": "", "n": 1.5, "b": true, "x": {"k": [1]}})),
        call("f", &json!({"n": "many", "x": "</sx>"})),
        call("f", &json!({"x": false})),
    ];
    for dialect in [typed, keyed] {
        let grammar = grammar(&dialect, &tools, &Choice::Required, true);
        for call in &calls {
            let text = dialect.render_calls(std::slice::from_ref(call), &tools).unwrap();
            assert!(grammar.accepts(&text), "{text}");
        }
        let text = dialect.render_calls(&calls[..1], &tools).unwrap();
        let closer = if text.contains("</s>") { "</s>" } else { "</arg>" };
        let inside = text.replace("a </ar", &format!("a {closer}"));
        assert!(!grammar.accepts(&inside), "{inside}");
        let wrong = text.replace("type=\"string\"", "type=\"number\"");
        assert!(wrong == text || !grammar.accepts(&wrong), "{wrong}");
    }
}

#[test]
fn elements_inside_elements() {
    let tags = own(r#"
        [call]
        pieces = [
          { mark = "<call:" }, { head = "{name}" }, { mark = ">" },
          { args = "elements", form = "<@{key}>{value}</@{key}>", item = "<@item>{value}</@item>" },
          { mark = "</call>" },
        ]
    "#);
    let typed = own(r#"
        [call]
        pieces = [
          { mark = "<call:" }, { head = "{name}" }, { mark = ">" },
          { args = "elements", form = '<v name="{key}" type="{type}">{value}</v>', item = '<v type="{type}">{value}</v>', types = ["raw", "dict", "list", "json"] },
          { mark = "</call>" },
        ]
    "#);
    let node = json!({"type": "object", "properties": {
        "text": {"type": "string"},
        "inner": {"anyOf": [{"$ref": "#/$defs/node"}, {"type": "null"}]},
        "list": {"type": "array", "items": {"$ref": "#/$defs/node"}, "maxItems": 2},
    }});
    let parameters = json!({
        "properties": {
            "node": {"$ref": "#/$defs/node"},
            "map": {"type": "object", "additionalProperties": {"type": "integer"}},
            "any": {},
            "either": {"type": ["array", "string"]},
        },
        "$defs": {"node": node},
    });
    let tools = [tool("f", parameters)];
    for dialect in [tags, typed] {
        let grammar = grammar(&dialect, &tools, &Choice::Required, true);
        for arguments in [
            json!({"node": {"text": "a < b", "inner": {"inner": {"text": "12"}}, "list": [{"text": ""}, {}]}}),
            json!({"node": {"inner": null}, "map": {"a": 1, "b": 2}}),
            json!({"any": {"k": [1, {"l": []}], "k k": "1"}, "either": "x"}),
            json!({"any": [[1], ["x", {"item": true}]], "either": [1, {"a": "b"}]}),
            json!({"map": {}, "any": "text", "either": []}),
        ] {
            let call = call("f", &arguments);
            let text = dialect.render_calls(std::slice::from_ref(&call), &tools).unwrap();
            assert!(grammar.accepts(&text), "{text}");
            let back: serde_json::Value =
                serde_json::from_str(&read(&dialect, &tools, &text).calls[0].arguments).unwrap();
            assert_eq!(back, arguments, "{text}");
        }
        let call = call("f", &json!({"node": {"list": [{}, {}]}}));
        let text = dialect.render_calls(&[call], &tools).unwrap();
        let item = &text[text.find("item").or(text.find("<v type")).unwrap() - 2..];
        let one = &item[..item.len() / 3];
        assert!(!grammar.accepts(&text.replace(one, &one.repeat(2))), "{text}");
    }
}

#[test]
fn quotes_of_several_characters() {
    let dialect = own(r#"
        [call]
        pieces = [
          { mark = "<|call>call:" }, { head = "{name}" },
          { args = "object", loose = { open = "{", close = "}", pair = ":", quotes = ['<|"|>'], quoted_keys = false, comma = ",", colon = ":" } },
          { mark = "<call|>" },
        ]
    "#);
    let parameters = json!({"properties": {
        "s": {"type": "string"}, "e": {"enum": ["on", 2, null]}, "l": {"type": "array"}, "o": {"type": "object"},
    }, "required": ["s"]});
    let tools = [tool("f", parameters)];
    let grammar = grammar(&dialect, &tools, &Choice::Required, true);
    for arguments in [
        json!({"s": "a \"b\" 'c' <| \\ \n d"}),
        json!({"s": "", "e": "on", "l": [1, "x", [true]], "o": {"k": {"m": null}}}),
        json!({"s": "", "e": 2}),
    ] {
        let text = dialect.render_calls(&[call("f", &arguments)], &tools).unwrap();
        assert!(grammar.accepts(&text), "{text}");
        assert!(!grammar.accepts(&text.replace("s:<|\"|>", "s:\"")), "{text}");
        assert_eq!(read(&dialect, &tools, &text).calls.len(), 1, "{text}");
    }
}

/// Names that are no names of rules, or would be the same ones.
#[test]
fn names_of_any_kind() {
    let dialect = own(r#"
        [call]
        pieces = [{ mark = "<call>" }, { args = "call", form = '{"name": "{name}", "arguments": {args}}' }, { mark = "</call>" }]
    "#);
    let names =
        ["read_file", "read-file", "readFile", "天气", "string", "value", "root", "call", "w0", "a\"b", "0"];
    let parameters =
        json!({"properties": {"天": {"type": "integer"}, "w-0": {"type": "string", "maxLength": 3}}});
    let tools: Vec<_> = names.iter().map(|name| tool(name, parameters.clone())).collect();
    let grammar = grammar(&dialect, &tools, &Choice::Required, true);
    for name in names {
        let text = dialect.render_calls(&[call(name, &json!({"天": 1, "w-0": "abc"}))], &tools).unwrap();
        assert!(grammar.accepts(&text), "{text}");
        assert!(!grammar.accepts(&text.replace("abc", "abcd")), "{text}");
    }
}

#[test]
fn lines_and_fields_that_nothing_closes() {
    let lines = own(r#"
        [call]
        pieces = [
          { mark = "<call:" }, { head = "{name}" }, { mark = ">\n" },
          { args = "lines", form = "{key}: {value}\n" },
          { mark = "</call>" },
        ]
    "#);
    let json = own(r#"
        [call]
        pieces = [
          { mark = "<call:" }, { head = "{name}" }, { mark = ">" },
          { args = "lines", form = "\n{key} = {value}", values = "json" },
          { mark = "</call>" },
        ]
    "#);
    let unclosed = own(r#"
        [call]
        pieces = [
          { mark = "<call:" }, { head = "{name}" }, { mark = ">" },
          { args = "fields", form = "<|k|>{key}<|v|>{value}" },
          { mark = "</call>" },
        ]
    "#);
    let parameters =
        json!({"properties": {"a": {"type": "string"}, "b": {"type": "integer"}}, "required": ["a"]});
    let tools = [tool("f", parameters)];
    for dialect in [lines, json, unclosed] {
        let grammar = grammar(&dialect, &tools, &Choice::Required, true);
        for arguments in [json!({"a": "x: y", "b": 3}), json!({"a": "17"})] {
            let call = call("f", &arguments);
            let text = dialect.render_calls(std::slice::from_ref(&call), &tools).unwrap();
            assert!(grammar.accepts(&text), "{text}");
            let back: serde_json::Value =
                serde_json::from_str(&read(&dialect, &tools, &text).calls[0].arguments).unwrap();
            assert_eq!(back, arguments, "{text}");
            assert!(!grammar.accepts(&text.replace('3', "no")) || !text.contains('3'), "{text}");
        }
    }
}
