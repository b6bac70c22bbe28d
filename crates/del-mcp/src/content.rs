//! Results of other servers as text for a model.

use del_tools::ToolResult;
use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};
use serde_json::json;

use crate::offer::plain;

/// The result, with nothing hidden in its text. What is no text is named, not shown.
pub(crate) fn result(result: CallToolResult) -> ToolResult {
    let mut parts: Vec<String> = result.content.iter().map(part).collect();
    if let Some(structured) = result.structured_content.filter(|_| parts.is_empty()) {
        parts.push(format!("{structured:#}"));
    }
    let ok = result.is_error != Some(true);
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

/// Names data that came in base64.
fn binary(what: &str, kind: &str, encoded: usize) -> String {
    format!("[{what}, {kind}, about {} bytes; not shown]", encoded / 4 * 3)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

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
        assert_eq!(text(json!({"content": []})), (true, "(no output)".to_owned()));
        assert_eq!(text(json!({"structuredContent": {"a": 1}})), (true, "{\n  \"a\": 1\n}".to_owned()));
        assert_eq!(
            text(json!({"content": [{"type": "text", "text": "no such row"}], "isError": true})),
            (false, "Error: no such row".to_owned())
        );
    }
}
