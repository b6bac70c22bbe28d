//! Results of other servers as text for a model.

use del_tools::ToolResult;
use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};
use serde_json::{Value, json};

use crate::offer::plain;

/// The result, with nothing hidden in its text. What is no text is named, not shown.
pub(crate) fn result(result: CallToolResult) -> ToolResult {
    let parts = result.content.iter().map(part).collect();
    told(parts, result.structured_content, result.is_error == Some(true))
}

/// The same of a result in which something is not as the protocol has it: the rest of it counts. `None` for what is no result
/// of a tool.
pub(crate) fn read(result: &Value) -> Option<ToolResult> {
    let known = ["content", "structuredContent", "isError"];
    if !known.iter().any(|name| result.get(name).is_some()) {
        return None;
    }
    let parts = match &result["content"] {
        Value::Array(parts) => parts.iter().map(part_of).collect(),
        Value::Null => Vec::new(),
        one => vec![part_of(one)],
    };
    let structured = result.get("structuredContent").filter(|given| !given.is_null());
    Some(told(parts, structured.cloned(), result["isError"] == true))
}

fn told(mut parts: Vec<String>, structured: Option<Value>, failed: bool) -> ToolResult {
    if let Some(structured) = structured.filter(|_| parts.is_empty()) {
        parts.push(format!("{structured:#}"));
    }
    let ok = !failed;
    let mut text = plain(&parts.join("\n"));
    if !ok && text.trim().is_empty() {
        "the server says that it failed, and not why.".clone_into(&mut text);
    }
    if !ok && !text.starts_with("Error") {
        text = format!("Error: {text}");
    }
    let mut result = ToolResult::success(text);
    result.ok = ok;
    result.data = (!ok).then(|| json!({"code": "failed"}));
    result
}

fn part(block: &ContentBlock) -> String {
    match block {
        ContentBlock::Text(text) => text.text.clone(),
        ContentBlock::Image(image) => binary("image", &image.mime_type, image.data.len()),
        ContentBlock::Audio(audio) => binary("audio", &audio.mime_type, audio.data.len()),
        ContentBlock::Resource(resource) => match &resource.resource {
            ResourceContents::TextResourceContents { uri, text, .. } => format!("[resource {uri}]\n{text}"),
            ResourceContents::BlobResourceContents { uri, mime_type, blob, .. } => {
                let kind = mime_type.as_deref().unwrap_or("unknown type");
                format!("[resource {uri}]\n{}", binary("data", kind, blob.len()))
            }
            _ => "[a resource of a kind that is not known]".to_owned(),
        },
        ContentBlock::ResourceLink(link) => format!("[link to {}: {}]", link.name, link.uri),
        _ => "[content of a kind that is not known]".to_owned(),
    }
}

/// A part that may lack what the protocol asks for.
fn part_of(value: &Value) -> String {
    if let Ok(block) = serde_json::from_value::<ContentBlock>(value.clone()) {
        return part(&block);
    }
    let inner = if value["resource"].is_object() { &value["resource"] } else { value };
    let text = |name: &str| inner[name].as_str();
    let kind = value["type"].as_str().unwrap_or("unknown");
    let named = match text("uri") {
        Some(uri) => format!("[{kind} {uri}]"),
        None => format!("[{kind}]"),
    };
    let data = text("data").or_else(|| text("blob"));
    match (value.as_str().or_else(|| text("text")), data) {
        (Some(said), _) if kind == "resource" => format!("{named}\n{said}"),
        (Some(said), _) => said.to_owned(),
        (None, Some(data)) => {
            let what = if matches!(kind, "image" | "audio") { kind } else { "data" };
            binary(what, text("mimeType").unwrap_or("unknown type"), data.len())
        }
        (None, None) if text("uri").is_some() => named,
        (None, None) => format!("[content of the kind `{kind}`, which is not known]"),
    }
}

/// Names data that came in base64.
fn binary(what: &str, kind: &str, encoded: usize) -> String {
    format!("[{what}, {kind}, about {} bytes; not shown]", encoded / 4 * 3)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(value: Value) -> (bool, String) {
        let result = result(serde_json::from_value(value).unwrap());
        (result.ok, result.text)
    }

    #[test]
    fn every_kind_of_content_becomes_text() {
        let content = json!([
            {"type": "text", "text": "a\u{1b}[2Jb\r\nc"},
            {"type": "image", "data": "AAAA", "mimeType": "image/png"},
            {"type": "resource", "resource": {"uri": "file:///x", "text": "inside"}},
            {"type": "resource_link", "uri": "file:///y", "name": "y"},
        ]);
        assert_eq!(
            text(json!({"content": content})),
            (
                true,
                "a␛[2Jb\nc\n[image, image/png, about 3 bytes; not shown]\n[resource file:///x]\ninside\n[link to y: file:///y]"
                    .to_owned()
            )
        );
        // Nothing of it is lost where one part is not understood.
        let broken = json!([
            {"type": "newkind", "x": 1},
            {"type": "resource", "resource": {"text": "inside"}},
            {"type": "resource", "resource": {"uri": "file:///b", "blob": 5}},
            {"type": "text", "text": "a\u{1b}b", "annotations": {"audience": "user"}},
            {"type": "resource_link", "uri": "file:///l"},
            {"type": "image", "data": "AAAA"},
            {"type": "text", "text": "whole"},
            "bare",
            7,
        ]);
        let told = read(&json!({"content": broken, "isError": true})).unwrap();
        assert_eq!(
            (told.ok, told.text.as_str()),
            (
                false,
                "Error: [content of the kind `newkind`, which is not known]\n[resource]\ninside\n[resource file:///b]\n\
                 a␛b\n[resource_link file:///l]\n[image, unknown type, about 3 bytes; not shown]\nwhole\nbare\n\
                 [content of the kind `unknown`, which is not known]"
            )
        );
        assert_eq!(read(&json!({"content": "bare"})).map(|told| told.text), Some("bare".to_owned()));
        assert!(read(&json!({"tools": []})).is_none());
        assert_eq!(text(json!({"content": []})), (true, "(no output)".to_owned()));
        assert_eq!(text(json!({"structuredContent": {"a": 1}})), (true, "{\n  \"a\": 1\n}".to_owned()));
        assert_eq!(
            text(json!({"content": [{"type": "text", "text": "no such row"}], "isError": true})),
            (false, "Error: no such row".to_owned())
        );
    }
}
