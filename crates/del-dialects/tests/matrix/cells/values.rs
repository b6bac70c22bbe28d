//! Names and values of all kinds.

use std::sync::Arc;

use del_dialects::description::Codec;
use del_dialects::{Call, Dialect, RenderError};
use serde_json::json;

use super::{Built, anatomy, listing, probes, written};
use crate::probe::Probe;
use crate::reading::{all_marks, call, tools};

type Outcome = Result<Built, String>;

/// These calls come back as they were written, and nothing is wrong with them.
fn back(dialect: &Arc<Dialect>, calls: &[Call]) -> Result<Probe, String> {
    Ok(Probe::of(written(dialect, calls)?, calls))
}

fn each(dialect: &Arc<Dialect>, calls: impl IntoIterator<Item = Call>) -> Outcome {
    probes(calls.into_iter().map(|call| back(dialect, &[call])).collect::<Result<Vec<_>, _>>()?)
}

pub(super) fn no_arguments(dialect: &Arc<Dialect>) -> Outcome {
    let (declared, optional) = (call("project_context", "{}"), call("list_dir", "{}"));
    let all = back(dialect, &[declared.clone(), optional.clone()])?;
    probes([all, back(dialect, &[declared])?, back(dialect, &[optional])?])
}

pub(super) fn complex(dialect: &Arc<Dialect>) -> Outcome {
    let nested = json!({
        "item": {"a": [1, [2.5, {"b": null}], "x"], "ü": {"日本": "😀"}, "empty": {}, "none": []},
        "tags": ["a\"b", "c\\d", "e\nf", "\t", "</x>", "'"],
        "ok": false,
    });
    let text =
        json!({"path": "größe/日本.txt", "content": "line \"one\"\n\tline 'two' \\ end\nfn f() { 1 }"});
    each(dialect, [call("add_item", &nested.to_string()), call("write_file", &text.to_string())])
}

pub(super) fn unknown_tool(dialect: &Arc<Dialect>) -> Outcome {
    each(dialect, [call("never_heard_of", r#"{"a":"b"}"#), call("never_heard_of", "{}")])
}

pub(super) fn marks(dialect: &Arc<Dialect>) -> Outcome {
    let raw = matches!(dialect.codec(), Codec::Fields(form) if !form.xml)
        || matches!(dialect.codec(), Codec::Raw { .. } | Codec::Lines(_));
    let mut found = Vec::new();
    for mark in all_marks(dialect) {
        for value in [format!("a {mark} b"), mark.clone()] {
            let call = call("write_file", &json!({"path": "a.md", "content": value}).to_string());
            match dialect.render_calls(std::slice::from_ref(&call), &tools()) {
                Ok(text) => found.push(Probe::of(text, &[call]).what(mark.as_str())),
                // A value that stands as it is cannot hold what ends it; the writer says so instead of losing it.
                Err(RenderError::Unrepresentable { .. }) if raw => {}
                Err(error) => return Err(format!("{mark:?}: {error}")),
            }
        }
    }
    probes(found)
}

pub(super) fn names(dialect: &Arc<Dialect>) -> Outcome {
    let names =
        ["a", "get-weather", "ns.tool.v2", "x1", "_private", "CamelCase", "get_weather_in_a_city_by_name_2"];
    each(dialect, names.map(|name| call(name, r#"{"a":"b"}"#)))
}

pub(super) fn prefixed_names(dialect: &Arc<Dialect>) -> Outcome {
    let names = ["functions_list", "functions", "function", "functions.get_weather", "tool_call"];
    each(dialect, names.map(|name| call(name, r#"{"a":"b"}"#)))
}

pub(super) fn foreign_names(dialect: &Arc<Dialect>) -> Outcome {
    each(dialect, ["größe_ändern", "读取文件", "получить", "ツール_1"].map(|name| call(name, r#"{"a":"b"}"#)))
}

pub(super) fn huge_numbers(dialect: &Arc<Dialect>) -> Outcome {
    let odd =
        r#"{"city":"x","n":12345678901234567890123456789,"e":1e400,"s":-0.00000000000000000001,"z":-0}"#;
    each(
        dialect,
        [call("get_weather", odd), call("get_weather", r#"{"city":"x","days":99999999999999999999}"#)],
    )
}

pub(super) fn empty_name(dialect: &Arc<Dialect>) -> Outcome {
    let nameless = call("", r#"{"city":"Paris"}"#);
    match dialect.render_calls(std::slice::from_ref(&nameless), &tools()) {
        Err(RenderError::Unrepresentable { .. }) => {}
        other => return Err(format!("writing no name: expected Unrepresentable, got {other:?}")),
    }
    // Written all the same, by a model.
    let text = anatomy(dialect)?.nameless("get_weather");
    probes([Probe::of(text, &[]).saying_no_mark().with_any_faults()])
}

pub(super) fn large(dialect: &Arc<Dialect>) -> Outcome {
    let line = "let x = \"a\\n\"; // 日本 <b> 'q' {} [] 1 < 2\n\t";
    let big = json!({"path": "a.rs", "content": format!("{}.", line.repeat(400))}).to_string();
    let list: Vec<String> = (0..3000).map(|number| format!("tag {number}")).collect();
    let many = json!({"item": {}, "tags": list}).to_string();
    each(dialect, [call("write_file", &big), call("add_item", &many)])
}

pub(super) fn entities(dialect: &Arc<Dialect>) -> Outcome {
    let texts = ["a < b && c > d", "&lt;b&gt; &amp; &quot;", "&#60; &unknown; & ;", "AT&T"];
    let calls = texts.map(|text| call("write_file", &json!({"path": "a", "content": text}).to_string()));
    each(dialect, calls)
}

pub(super) fn coerced(dialect: &Arc<Dialect>) -> Outcome {
    each(
        dialect,
        [
            call("get_weather", r#"{"city":"007","days":3}"#),
            call("get_weather", r#"{"city":"true","days":-1}"#),
            call("add_item", r#"{"item":{"a":[1,null,"x"]},"tags":["true","1"],"ok":false}"#),
            call("set_option", r#"{"value":null,"ratio":-0.5}"#),
            call("set_option", r#"{"value":7,"ratio":null}"#),
            call("write_file", r#"{"path":"null","content":"{\"a\": 1}"}"#),
            listing(),
        ],
    )
}
