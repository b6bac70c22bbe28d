//! What clients of Anthropic's API ask, and what they get.

use serde_json::json;

use super::{anthropic, ask, hermes, schema};
use crate::stand::Stand;

#[tokio::test]
async fn a_message_of_anthropics_api_becomes_a_completion_and_back() {
    let stand = Stand::new(hermes()).await;
    let image =
        json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}});
    let messages = json!([
        {"role": "user", "content": [{"type": "text", "text": "See."}, image]},
        {"role": "assistant", "content": [
            {"type": "thinking", "thinking": "Hm.", "signature": ""}, {"type": "text", "text": "Yes."},
            {"type": "tool_use", "id": "t1", "name": "get_weather", "input": {"city": "Rome"}}]},
        {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "t1", "is_error": true, "content": [{"type": "text", "text": "no such city"}, image]},
            {"type": "text", "text": "And Paris?"}]},
    ]);
    let answer = ask(&stand, "/v1/messages", &anthropic(&messages)).await;
    assert_eq!((&answer["stop_reason"], &answer["type"]), (&json!("tool_use"), &json!("message")));
    assert_eq!(answer["content"][0], json!({"type": "text", "text": "Well."}));
    assert_eq!(answer["content"][1]["input"], json!({"city": "Paris"}));
    assert_eq!(answer["usage"]["output_tokens"], 2);
    let sent = stand.model.last().body();
    let url = json!({"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}});
    assert_eq!(
        sent["messages"],
        json!([
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": [{"type": "text", "text": "See."}, url]},
            {"role": "assistant", "content": "Yes.", "reasoning_content": "Hm.", "tool_calls": [{"id": "t1",
                "type": "function", "function": {"name": "get_weather", "arguments": "{\"city\":\"Rome\"}"}}]},
            {"role": "tool", "tool_call_id": "t1", "content": "Error: no such city"},
            {"role": "user", "content": [url, {"type": "text", "text": "And Paris?"}]},
        ])
    );
    assert_eq!((&sent["stop"], &sent["top_k"], &sent["own"]), (&json!(["x"]), &json!(3), &json!(1)));
    assert_eq!(sent["tools"][0]["function"]["parameters"], schema());
    assert!(sent.get("system").is_none() && sent.get("stop_sequences").is_none());
}
