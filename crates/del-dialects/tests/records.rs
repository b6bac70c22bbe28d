//! Tools, calls and results as records of JSON.
#![allow(clippy::unwrap_used, reason = "tests")]

use del_dialects::{Call, CallResult, Tool};
use serde_json::json;

#[test]
fn records_are_read_as_they_were_written() {
    let tools = [
        json!({"name": "f", "description": "d", "parameters": {"type": "object"}}),
        json!({"name": "", "description": "", "parameters": {}}),
    ];
    for tool in tools {
        assert_eq!(json!(serde_json::from_value::<Tool>(tool.clone()).unwrap()), tool);
    }
    for call in [json!({"name": "f", "arguments": "{}"}), json!({"id": "7", "name": "", "arguments": ""})] {
        assert_eq!(json!(serde_json::from_value::<Call>(call.clone()).unwrap()), call);
    }
    for result in [
        json!({"name": "f", "text": "", "ok": false}),
        json!({"id": "", "name": "f", "text": "t", "ok": true}),
    ] {
        assert_eq!(json!(serde_json::from_value::<CallResult>(result.clone()).unwrap()), result);
    }
}

#[test]
fn what_a_record_may_leave_out_has_a_default() {
    let tool: Tool = serde_json::from_value(json!({"name": "f", "strict": true})).unwrap();
    assert_eq!(
        json!(tool),
        json!({"name": "f", "description": "", "parameters": {"type": "object", "properties": {}}})
    );
    let call: Call = serde_json::from_value(json!({"id": null, "name": "f", "arguments": ""})).unwrap();
    assert_eq!(call.id, None);
}

#[test]
fn a_broken_record_is_told_by_its_member() {
    let missing = serde_json::from_value::<Tool>(json!({"description": ""})).unwrap_err();
    assert_eq!(missing.to_string(), "missing field `name`");
    let wrong = serde_json::from_value::<Call>(json!({"name": "f", "arguments": {}})).unwrap_err();
    assert_eq!(wrong.to_string(), "arguments: invalid type: map, expected a string");
    assert!(serde_json::from_value::<CallResult>(json!([])).is_err());
}
