//! What the writer writes is accepted in every dialect, and what is no call of these tools is not.

use del_dialects::description::{Codec, Frame, Mark, Need, Route};
use del_dialects::{Call, Tool};
use del_grammar::{Choice, Grammar, GrammarError, Options};
use serde_json::json;

use super::gbnf::Gbnf;
use super::{built, call, dialect, grammar, of_any_tool, read, tool};

fn tools() -> Vec<Tool> {
    vec![
        tool(
            "get_weather",
            json!({"type": "object", "properties": {
                "city": {"type": "string"},
                "days": {"type": "integer", "minimum": 1, "maximum": 14},
                "unit": {"type": "string", "enum": ["celsius", "fahrenheit"]}
            }, "required": ["city"]}),
        ),
        tool(
            "add_item",
            json!({"type": "object", "properties": {
                "item": {"type": "object"},
                "tags": {"type": "array", "items": {"type": "string"}, "minItems": 1},
                "ok": {"type": "boolean"},
                "weight": {"type": ["number", "null"]}
            }, "required": ["item"]}),
        ),
        tool("project_context", json!({"type": "object", "properties": {}})),
        tool(
            "look_up",
            json!({"type": "object", "properties": {
                "limit": {"type": "integer"},
                "query": {"type": "object", "properties": {
                    "text": {"type": "string"},
                    "any": {"type": "array", "items": {"$ref": "#/properties/query"}}
                }, "required": ["text"]}
            }, "required": ["query"]}),
        ),
    ]
}

/// Calls that every dialect can carry.
fn calls() -> Vec<Call> {
    vec![
        call("get_weather", &json!({"city": "Paris"})),
        call("get_weather", &json!({"city": "São Paulo \"SP\"\nBrasil\\", "days": 3, "unit": "celsius"})),
        call("get_weather", &json!({"city": "<b> 東京 </ & [x] {y}", "unit": "fahrenheit"})),
        call("add_item", &json!({"item": {}})),
        call(
            "add_item",
            &json!({"item": {"a": [1, -2.5, null, "x\ty"], "b c": {"d": true}}, "tags": ["p", "q'"], "ok": false}),
        ),
        call("add_item", &json!({"item": {"deep": [[[{}]]]}, "weight": 1.5e-7})),
        call("add_item", &json!({"item": {}, "tags": ["one"], "weight": null})),
        call("project_context", &json!({})),
        call("look_up", &json!({"query": {"text": "a"}})),
        call("look_up", &json!({"limit": -20, "query": {"text": "a", "any": [{"text": "b", "any": []}]}})),
    ]
}

#[test]
fn accepts_what_the_writer_writes() {
    let (tools, calls) = (tools(), calls());
    for dialect in of_any_tool() {
        let one = grammar(dialect, &tools, &Choice::Required, false);
        let more = grammar(dialect, &tools, &Choice::Required, true);
        let auto = grammar(dialect, &tools, &Choice::Auto, true);
        for call in &calls {
            let text = dialect.render_calls(std::slice::from_ref(call), &tools).unwrap();
            let named = grammar(dialect, &tools, &Choice::Named(call.name.clone()), true);
            for (grammar, what) in [(&one, "one"), (&more, "more"), (&auto, "auto"), (&named, "named")] {
                assert!(grammar.accepts(&text), "{} {what}: {text}", dialect.name());
            }
        }
        for pair in calls.windows(2) {
            let text = dialect.render_calls(pair, &tools).unwrap();
            assert!(more.accepts(&text), "{}: {text}", dialect.name());
            assert!(auto.accepts(&text), "{}: {text}", dialect.name());
            assert!(!one.accepts(&text), "{} took two calls for one: {text}", dialect.name());
        }
        let text = dialect.render_calls(&calls, &tools).unwrap();
        assert!(more.accepts(&text), "{}: {text}", dialect.name());
    }
}

#[test]
fn accepts_ids_where_the_dialect_has_them() {
    let tools = tools();
    let with_id = Call { id: Some("abc123XYZ".to_owned()), ..calls().remove(0) };
    for name in ["mistral-json", "mistral-args"] {
        let dialect = dialect(name);
        let text = dialect.render_calls(std::slice::from_ref(&with_id), &tools).unwrap();
        assert!(text.contains("abc123XYZ"), "{name}: {text}");
        let grammar = grammar(dialect, &tools, &Choice::Required, true);
        assert!(grammar.accepts(&text), "{name}: {text}");
        assert!(!grammar.accepts(&text.replace("abc123XYZ", "")), "{name} took an empty id");
    }
}

/// A tool with a form of its own is called in that form only, also among others.
#[test]
fn tools_with_a_form_of_their_own() {
    let amrita = dialect("amrita-am");
    let text =
        |name: &str| tool(name, json!({"properties": {"query": {"type": "string"}}, "required": ["query"]}));
    let tools = [text("request_tools"), text("find")];
    let calls = [
        call("find", &json!({"query": "a"})),
        call("request_tools", &json!({"query": "files & </am: folders"})),
    ];
    let both = grammar(amrita, &tools, &Choice::Required, true);
    let auto = grammar(amrita, &tools, &Choice::Auto, true);
    for calls in [&calls[..1], &calls[1..], &calls[..]] {
        let text = amrita.render_calls(calls, &tools).unwrap();
        assert!(both.accepts(&text), "{text}");
        assert!(auto.accepts(&text), "{text}");
    }
    assert!(!both.accepts("<am:request_tools>a</am:request_tools>b</am:request_tools>"));
    assert!(!both.accepts("<am:tool_call name=\"request_tools\">\n<query>a</query>\n</am:tool_call>"));
    assert!(!auto.accepts("So I write <am:request_tools> now."));
    let one = built(amrita, &tools, &Choice::Named("request_tools".to_owned()), true).unwrap();
    assert_eq!(one.triggers(), ["<am:request_tools>"]);
}

#[test]
fn refuses_what_is_no_call_of_these_tools() {
    let tools = tools();
    // The writer is given wider tools, so that it writes what these must refuse.
    let loose: Vec<Tool> = tools.iter().map(|known| tool(&known.name, json!({"type": "object"}))).collect();
    let wrong = [
        ("a string for a number", call("get_weather", &json!({"city": "Paris", "days": "many"}))),
        ("a number out of bounds", call("get_weather", &json!({"city": "Paris", "days": 15}))),
        ("a fraction", call("get_weather", &json!({"city": "Paris", "days": 1.5}))),
        ("a word that is not listed", call("get_weather", &json!({"city": "Paris", "unit": "kelvin"}))),
        ("a missing argument", call("get_weather", &json!({"days": 3}))),
        ("no argument at all", call("get_weather", &json!({}))),
        ("an unknown argument", call("get_weather", &json!({"city": "Paris", "zip": 3}))),
        ("an argument of a tool that has none", call("project_context", &json!({"a": 1}))),
        ("a list for an object", call("add_item", &json!({"item": [1]}))),
        ("too few items", call("add_item", &json!({"item": {}, "tags": []}))),
        ("an item of another type", call("add_item", &json!({"item": {}, "tags": [1]}))),
        ("a number for a flag", call("add_item", &json!({"item": {}, "ok": 1}))),
        ("a missing inner argument", call("look_up", &json!({"query": {"any": []}}))),
        ("a missing argument far inside", call("look_up", &json!({"query": {"text": "a", "any": [{}]}}))),
    ];
    for dialect in of_any_tool() {
        let required = grammar(dialect, &tools, &Choice::Required, true);
        let auto = grammar(dialect, &tools, &Choice::Auto, true);
        for (what, call) in &wrong {
            let text = dialect.render_calls(std::slice::from_ref(call), &loose).unwrap();
            // Elements say less of types than JSON does, and a line without a key goes on with the value before it: for these
            // tools they may be another call, and a right one.
            let elements = match dialect.codec() {
                Codec::Fields(form) => form.nest.is_some(),
                codec => matches!(codec, Codec::Lines(_)),
            };
            let meant = |read: &Call| read.arguments == call.arguments.replace(": ", ":").replace(", ", ",");
            if elements && !read(dialect, &tools, &text).calls.iter().all(meant) {
                continue;
            }
            assert!(!required.accepts(&text), "{} took {what}: {text}", dialect.name());
            assert!(!auto.accepts(&text), "{} took {what} for text: {text}", dialect.name());
        }
        for call in calls() {
            let text = dialect.render_calls(std::slice::from_ref(&call), &tools).unwrap();
            let other = text.replace(&call.name, "no_such_tool");
            assert!(!required.accepts(&other), "{} took an unknown tool: {other}", dialect.name());
            let others = if call.name == "look_up" { "add_item" } else { "look_up" };
            let named = grammar(dialect, &tools, &Choice::Named(others.to_owned()), true);
            assert!(!named.accepts(&text), "{} took another tool: {text}", dialect.name());
            for garbage in ["\n", " and so on", "}", "<", "]"] {
                let longer = format!("{text}{garbage}");
                assert!(!required.accepts(&longer), "{} took {longer:?}", dialect.name());
            }
            assert!(!required.accepts(&format!("Well: {text}")), "{} took text", dialect.name());
            let last = text.chars().next_back().unwrap();
            let cut = &text[..text.len() - last.len_utf8()];
            assert!(!required.accepts(cut), "{} took {cut:?}", dialect.name());
            assert!(!auto.accepts(cut), "{} took {cut:?} for text", dialect.name());
        }
        assert!(!required.accepts(""), "{}", dialect.name());
    }
}

/// A mark that the reader forgives is still one that is to be written. The one exception is what ends a channel:
/// servers keep it to themselves.
#[test]
fn refuses_calls_whose_marks_are_missing() {
    let tools = tools();
    let call = &calls()[..1];
    let mut dropped = 0;
    for dialect in of_any_tool() {
        let grammar = grammar(dialect, &tools, &Choice::Required, true);
        let text = dialect.render_calls(call, &tools).unwrap();
        // Servers keep the mark that ends the last message of a channel to themselves.
        let kept = |mark: &Mark| mark.need == Need::Stop && matches!(dialect.frame(), Frame::Channels(_));
        let written = |mark: &&Mark| !matches!(mark.need, Need::Noise | Need::Id) && !kept(mark);
        for mark in dialect.marks().filter(written) {
            let without = text.replacen(&mark.write, "", 1);
            dropped += 1;
            assert_ne!(text, without, "{}: {:?}", dialect.name(), mark.write);
            assert!(!grammar.accepts(&without), "{} took {without:?}", dialect.name());
        }
    }
    assert!(dropped > 40, "only {dropped} marks were dropped");
    let harmony = dialect("harmony");
    let text = harmony.render_calls(call, &tools).unwrap();
    let grammar = grammar(harmony, &tools, &Choice::Required, true);
    assert!(grammar.accepts(text.strip_suffix("<|call|>").unwrap()));
}

#[test]
fn auto_takes_text_and_calls_behind_it() {
    let tools = tools();
    let texts = [
        "",
        "The weather is fine.",
        "Two lines,\nand a < b, x[1] = {y}; f(x) `code` 100 %.\n",
        "```python\nprint(1)\n```",
        "<think>\nLet me see.\n</think>\n\nIt is 3 < 4.",
    ];
    for dialect in of_any_tool() {
        let auto = grammar(dialect, &tools, &Choice::Auto, true);
        let required = grammar(dialect, &tools, &Choice::Required, true);
        for text in texts {
            // A line may not begin as a call does where nothing else marks one.
            let marked = *dialect.frame() == Frame::Bare && text.starts_with(['<', '`']);
            if marked {
                continue;
            }
            assert!(auto.accepts(text), "{}: {text:?}", dialect.name());
            assert!(!required.accepts(text), "{}: {text:?}", dialect.name());
            assert!(read(dialect, &tools, text).calls.is_empty(), "{}: {text:?}", dialect.name());
            if text.is_empty() {
                continue;
            }
            let call = &calls()[1..2];
            let written = dialect.render_calls(call, &tools).unwrap();
            let lines = *dialect.frame() == Frame::Bare || dialect.marks().any(|mark| mark.line_start);
            let line = if lines { "\n" } else { "" };
            let both = format!("{text}{}{line}{written}", dialect.lead());
            assert!(auto.accepts(&both), "{}: {both:?}", dialect.name());
            let message = read(dialect, &tools, &both);
            assert_eq!(message.calls.len(), 1, "{}: {both:?}", dialect.name());
            assert_eq!(message.calls[0].name, call[0].name, "{}: {both:?}", dialect.name());
            assert!(!auto.accepts(&format!("{both} And then?")), "{}", dialect.name());
        }
    }
}

#[test]
fn auto_text_holds_no_opener() {
    let tools = tools();
    for (name, text) in [
        ("hermes-json", "I write <tool_call> now."),
        ("hermes-json", "<tool_call>"),
        ("mistral-args", "so: [TOOL_CALLS]"),
        ("del-chinese", "so: <｜tool_calls_begin｜> or <|tool▁sep|>"),
        ("openai-xml", "an <invoke name= mark"),
        ("openai-xml", "a <function_calls> mark"),
        ("harmony", "<|channel|>commentary to=functions.x"),
        ("llama3-json", "{\"a\": 1}"),
        ("llama3-json", "So:\n{\"a\": 1}"),
        ("llama3-json", " {\"a\": 1}"),
        ("pythonic", "So:\n[f(x=1)]"),
        ("markdown-call", "So:\n### Tool Call\nf({})"),
        ("del-legacy", "TOOL_USE: f {}"),
    ] {
        let auto = grammar(dialect(name), &tools, &Choice::Auto, true);
        assert!(!auto.accepts(text), "{name} took {text:?}");
    }
}

/// A lazy sampler gives the grammar the text from the trigger on.
#[test]
fn calls_begin_with_a_trigger() {
    let tools = tools();
    for dialect in of_any_tool() {
        let grammar = built(dialect, &tools, &Choice::Auto, true).unwrap();
        for trigger in grammar.triggers() {
            assert!(trigger.len() >= 5, "{}: {trigger:?}", dialect.name());
        }
        for call in calls() {
            let text = dialect.render_calls(&[call], &tools).unwrap();
            let begins = grammar.triggers().iter().any(|trigger| text.starts_with(trigger));
            assert!(begins, "{}: {:?} {text}", dialect.name(), grammar.triggers());
        }
    }
}

#[test]
fn needs_a_tool_to_call() {
    let hermes = dialect("hermes-json");
    assert_eq!(built(hermes, &[], &Choice::Auto, true).unwrap_err(), GrammarError::NoTools);
    let error = built(hermes, &tools(), &Choice::Named("get".to_owned()), true).unwrap_err();
    let said = "expected the name of one of the tools (get_weather, add_item, project_context, look_up), got \"get\"";
    assert_eq!(error.to_string(), said);
}

/// A thought is let through before required calls only where it is asked for, and read as one.
#[test]
fn a_thought_before_required_calls() {
    let tools = tools();
    let mut thinking = 0;
    for dialect in of_any_tool() {
        let name = dialect.name();
        let plain = built(dialect, &tools, &Choice::Required, true).unwrap();
        let options = Options::new(Choice::Required).parallel(true).thinking(true);
        let with = Grammar::new(dialect, &tools, &options).unwrap();
        if with.to_gbnf() == plain.to_gbnf() {
            continue;
        }
        thinking += 1;
        let (plain, with) = (Gbnf::read(&plain.to_gbnf()).unwrap(), Gbnf::read(&with.to_gbnf()).unwrap());
        let call = dialect.render_calls(&calls()[..1], &tools).unwrap();
        let thought = match (dialect.frame(), dialect.reasoning()) {
            (Frame::Channels(channels), _) => {
                let (route, _) = channels.routes.iter().find(|(_, to)| **to == Route::Reasoning).unwrap();
                let header = match channels.channel.first() {
                    _ if channels.message.contains(route) => route.clone(),
                    Some(channel) => format!("{channel}{route}{}", channels.message[0]),
                    None => format!(" {}{route}{}", channels.recipient, channels.message[0]),
                };
                let next = format!("{}{}", channels.start[0], channels.author);
                let next = if call.starts_with(&channels.start[0]) { "" } else { &next };
                format!("{header}Hm, a < b.{}{next}", channels.ends[0])
            }
            (_, Some(reasoning)) => format!("{}Hm, a < b.{}", reasoning.begin[0], reasoning.end[0]),
            _ => panic!("{name} thinks without marks"),
        };
        let text = format!("{thought}{call}");
        assert!(with.accepts(&text), "{name} refused {text}");
        assert!(with.accepts(&call), "{name} refused {call}");
        assert!(!plain.accepts(&text), "{name} took {text}");
        assert!(!with.accepts(&thought), "{name} took a thought alone: {thought}");
        let message = read(dialect, &tools, &text);
        assert_eq!(message.reasoning.trim(), "Hm, a < b.", "{name}: {text}");
        assert_eq!((message.calls.len(), message.faults.len()), (1, 0), "{name}: {text}");
        if dialect.reasoning().is_some_and(|reasoning| reasoning.prefilled) {
            let begin = dialect.reasoning().unwrap().begin[0].trim();
            assert!(with.accepts(text.strip_prefix(begin).unwrap()), "{name} refused {text}");
        }
    }
    assert!(thinking > 60, "only {thinking} dialects think");
}

#[test]
fn a_dialect_of_one_tool_wants_that_tool() {
    let bash = tool("bash", json!({"type": "object", "properties": {"command": {"type": "string"}}}));
    let dialect = dialect("mini-swe-agent");
    let with = [tools(), vec![bash]].concat();
    let written = dialect.render_calls(&[call("bash", &json!({"command": "ls -la"}))], &with).unwrap();
    assert!(grammar(dialect, &with, &Choice::Required, false).accepts(&written), "{written}");
    let error = built(dialect, &tools(), &Choice::Required, false).unwrap_err().to_string();
    assert!(
        error.starts_with("expected the tool \"bash\", as mini-swe-agent can call no other, got "),
        "{error}"
    );
}
