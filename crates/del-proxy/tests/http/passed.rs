//! What a client says reaches the model server, whichever API both speak, or a header names what did not.

use del_proxy::ServerApi;
use reqwest::{Method, Response, StatusCode};
use serde_json::{Value, json};

use crate::model::{Model, Reply, completion, says};
use crate::stand::{Stand, document, streamed, weather};

const SERVERS: [ServerApi; 4] =
    [ServerApi::OpenAi, ServerApi::Responses, ServerApi::Anthropic, ServerApi::Ollama];

async fn stand(api: ServerApi) -> Stand {
    let said = match api {
        ServerApi::Responses => json!({"output": [], "status": "completed"}),
        ServerApi::Anthropic => json!({"type": "message", "content": [], "stop_reason": "end_turn"}),
        ServerApi::Ollama => json!({"message": {"role": "assistant", "content": "Yes."}, "done": true}),
        ServerApi::OpenAi => completion(&json!({"role": "assistant", "content": "Yes."}), "stop"),
    };
    let model = Model::saying(Reply::Whole(200, "", said.to_string()));
    Stand::with(model, |settings| settings.routes[0].upstreams[0].api = api).await
}

async fn post(stand: &Stand, path: &str, body: &Value) -> Response {
    stand.request(Method::POST, path).body(body.to_string()).send().await.unwrap()
}

/// What the server is sent, and what is said to be left out.
async fn sent(api: ServerApi, path: &str, body: &Value) -> (Value, Vec<String>) {
    let stand = stand(api).await;
    let response = post(&stand, path, body).await;
    let left_out = response.headers().get("x-del-dropped-parameters").map(|names| names.to_str().unwrap());
    let left_out = left_out.into_iter().flat_map(|names| names.split(',')).map(str::to_owned).collect();
    let status = response.status();
    assert_eq!(status, StatusCode::OK, "{}", response.text().await.unwrap());
    (stand.model.last().body(), left_out)
}

/// Each mark stands in what the server is sent, or the name beside it among what is left out.
async fn check(path: &str, body: &Value, marks: &[(&str, &str)]) {
    for api in SERVERS {
        let (sent, left_out) = sent(api, path, body).await;
        let text = sent.to_string();
        for (mark, name) in marks {
            assert!(body.to_string().contains(mark), "{mark} is not asked");
            let (came, named) = (text.contains(mark), left_out.iter().any(|left| left == name));
            assert!(came != named, "{path} to {api:?}: {mark}, {left_out:?}\n{sent:#}");
        }
    }
}

fn call(id: &str, city: &str) -> Value {
    let arguments = json!({"city": city}).to_string();
    json!({"id": id, "type": "function", "function": {"name": "f", "arguments": arguments}})
}

#[tokio::test]
async fn parts_and_names_of_a_chat() {
    let parts = json!([{"type": "text", "text": "Z-text"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,Z-image"}},
        {"type": "input_audio", "input_audio": {"data": "Z-audio", "format": "wav"}},
        {"type": "video_url", "video_url": {"url": "https://video.example/Z-video"}}]);
    let body = json!({"model": "m", "messages": [
        {"role": "user", "name": "Z-name", "content": parts},
        {"role": "assistant", "content": "Z-said", "reasoning_content": "Z-thought", "tool_calls": [call("a", "Z-one"), call("b", "Z-two")]},
        {"role": "tool", "tool_call_id": "b", "content": [{"type": "text", "text": "Z-second"}]},
        {"role": "tool", "tool_call_id": "a", "content": "Z-first"}]});
    let marks = [
        ("Z-text", ""),
        ("Z-image", "image_url"),
        ("Z-audio", "input_audio"),
        ("Z-video", "video_url"),
        ("Z-name", "name"),
        ("Z-said", ""),
        ("Z-thought", "reasoning_content"),
        ("Z-one", ""),
        ("Z-two", ""),
        ("Z-first", ""),
        ("Z-second", ""),
    ];
    check("/v1/chat/completions", &body, &marks).await;
}

#[tokio::test]
async fn images_and_files_that_are_elsewhere() {
    for (part, mark, name) in [
        (
            json!({"type": "image_url", "image_url": {"url": "https://a.example/Z-image.png"}}),
            "Z-image",
            "image_url",
        ),
        (json!({"type": "image_url", "image_url": "data:image/png;base64,Z-image"}), "Z-image", "image_url"),
        (json!({"type": "file", "file": {"file_id": "Z-id"}}), "Z-id", "file"),
        (
            json!({"type": "file", "file": {"filename": "Z-file", "file_data": "data:application/pdf;base64,AAAA"}}),
            "Z-file",
            "file",
        ),
    ] {
        let body = json!({"model": "m", "messages": [{"role": "user", "content": [part]}]});
        check("/v1/chat/completions", &body, &[(mark, name)]).await;
    }
}

#[tokio::test]
async fn documents_and_tools_of_a_message() {
    let source =
        |kind: &str, media: &str, data: &str| json!({"type": kind, "media_type": media, "data": data});
    let text = json!({"type": "content", "content": [{"type": "text", "text": "Z-chunk"}]});
    let blocks = json!([
        {"type": "document", "title": "Z-title", "context": "Z-context", "source": source("text", "text/plain", "Z-plain")},
        {"type": "document", "title": "Z-parted", "source": text},
        {"type": "search_result", "title": "Z-found", "source": "https://Z-source",
            "content": [{"type": "text", "text": "Z-result"}], "citations": {"enabled": true}},
        {"type": "text", "text": "Z-text"}]);
    let tool = json!({"name": "f", "input_schema": {"type": "object"}, "strict": true, "defer_loading": null,
        "input_examples": [{"city": "Z-example"}]});
    let body = json!({"model": "m", "max_tokens": 9, "tools": [tool], "messages": [{"role": "user", "content": blocks}]});
    let marks = [
        ("Z-title", ""),
        ("Z-context", ""),
        ("Z-plain", ""),
        ("Z-parted", ""),
        ("Z-chunk", ""),
        ("Z-found", ""),
        ("Z-source", ""),
        ("Z-result", ""),
        ("citations", "search_result.citations"),
        ("Z-text", ""),
        ("\"strict\":true", "tools.strict"),
        ("Z-example", "tools.input_examples"),
    ];
    check("/v1/messages", &body, &marks).await;

    let file = json!({"type": "document", "title": "Z-title", "context": "Z-context", "source": source("base64", "application/pdf", "Z-data")});
    let body = json!({"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": [file]}]});
    let (sent, left_out) = sent(ServerApi::Anthropic, "/v1/messages", &body).await;
    assert_eq!((&sent["messages"][0]["content"][0], left_out.concat().as_str()), (&file, ""));
    check("/v1/messages", &body, &[("Z-context", "document.context")]).await;
}

#[tokio::test]
async fn items_and_tools_of_a_response() {
    let tool = json!({"type": "function", "name": "f", "parameters": {"type": "object"}, "strict": true});
    let thought =
        |text: &str| json!({"type": "reasoning", "summary": [{"type": "summary_text", "text": text}]});
    let body = json!({"model": "m", "tools": [tool], "input": [
        {"role": "user", "content": [{"type": "input_text", "text": "Z-text"},
            {"type": "input_audio", "input_audio": {"data": "Z-audio", "format": "wav"}}]},
        thought("Z-first"), thought("Z-second"), {"role": "assistant", "content": "Z-said"},
        {"role": "user", "content": "Go on."}]});
    let marks = [
        ("Z-text", ""),
        ("Z-audio", "input_audio"),
        ("Z-first", "reasoning_content"),
        ("Z-second", "reasoning_content"),
        ("Z-said", ""),
        ("\"strict\":true", "tools.strict"),
    ];
    check("/v1/responses", &body, &marks).await;

    let files = json!([{"type": "input_file", "file_url": "https://a.example/b.pdf"},
        {"type": "input_file", "filename": "c.pdf", "file_data": "data:application/pdf;base64,AAAA"}]);
    let body = json!({"model": "m", "input": [{"role": "user", "content": files}]});
    let (sent, _) = sent(ServerApi::Responses, "/v1/responses", &body).await;
    assert_eq!(sent["input"][0]["content"], files);
}

#[tokio::test]
async fn anthropics_servers_get_schemas_and_ids_that_they_take() {
    let tool = |name: &str, parameters: Value| json!({"type": "function", "function": {"name": name, "parameters": parameters}});
    let tools = [
        tool("f", Value::Null),
        tool("g", json!({"properties": null})),
        tool("h", json!({"anyOf": [{"type": "object"}]})),
        json!({"type": "function", "function": {"name": "i"}}),
    ];
    let assistant = |calls: [Value; 2]| json!({"role": "assistant", "content": "", "tool_calls": calls});
    let result = |id: &str, text: &str| json!({"role": "tool", "tool_call_id": id, "content": text});
    let body = json!({"model": "m", "tools": tools, "max_tokens": 10.0, "messages": [
        {"role": "user", "content": "Hi."},
        assistant([call("functions.f:0", "a"), call("é", "b")]), result("é", "rb"), result("functions.f:0", "ra"),
        assistant([call("same", "c"), call("same", "d")]), result("same", "rc"), result("same", "rd"),
        assistant([call("functions.f:0", "e"), call("", "f")]), result("functions.f:0", "re"), result("", "rf")]});
    let (sent, _) = sent(ServerApi::Anthropic, "/v1/chat/completions", &body).await;
    assert!(sent["tools"].as_array().unwrap().iter().all(|tool| tool["input_schema"]["type"] == "object"));
    assert_eq!(
        (&sent["tools"][2]["input_schema"]["anyOf"], &sent["max_tokens"]),
        (&json!([{"type": "object"}]), &json!(10.0))
    );
    let blocks =
        || sent["messages"].as_array().unwrap().iter().flat_map(|said| said["content"].as_array().unwrap());
    let mut cities: Vec<(&str, &str)> = blocks()
        .filter(|block| block["type"] == "tool_use")
        .map(|block| (block["id"].as_str().unwrap(), block["input"]["city"].as_str().unwrap()))
        .collect();
    for (id, city) in &cities {
        assert!(
            !id.is_empty() && id.chars().all(|sign| sign.is_ascii_alphanumeric() || "_-".contains(sign)),
            "{id}"
        );
        let result = blocks().find(|block| block["tool_use_id"] == *id).unwrap();
        assert_eq!(result["content"][0]["text"], format!("r{city}"));
    }
    cities.sort_unstable();
    cities.dedup_by_key(|(id, _)| *id);
    assert_eq!(cities.len(), 6);
}

/// A header is one line of ASCII, and its names stand between commas.
#[tokio::test]
async fn names_of_any_signs_are_told() {
    let mut body = json!({"model": "m", "messages": [{"role": "user", "content": "Hi."}], "seed": 1});
    body["é, \n%"] = json!(1);
    let (_, left_out) = sent(ServerApi::Anthropic, "/v1/chat/completions", &body).await;
    assert_eq!(left_out, ["seed", "%C3%A9%2C%20%0A%25"]);

    let said = "Well. <tool_call>\n{\"name\": \"é\\ndata: \", \"arguments\": {}}\n</tool_call>";
    let stand = Stand::new(Model::new(move |seen| says(seen, said, 4))).await;
    let response = post(&stand, "/v1/chat/completions", &weather()).await;
    assert_eq!(response.headers()["x-del-refused-calls"], "%C3%A9%0Adata:%20");
    let streamed = post(&stand, "/v1/chat/completions", &streamed(weather())).await.text().await.unwrap();
    assert!(streamed.contains("\n: x-del-refused-calls: %C3%A9%0Adata:%20\n\n"), "{streamed}");
}

#[tokio::test]
async fn what_cannot_be_read_is_refused_rather_than_left_out() {
    let user = |content: Value| json!({"messages": [{"role": "user", "content": content}]});
    let cases = [
        (
            "/v1/messages",
            json!({"system": 5, "messages": []}),
            "`system` should be a string or a list, got `5`",
        ),
        (
            "/v1/messages",
            json!({"system": ["a"], "messages": []}),
            "`system[0]` should be an object, got `\"a\"`",
        ),
        ("/v1/messages", user(json!(["a"])), "`messages[0].content[0]` should be an object, got `\"a\"`"),
        (
            "/v1/messages",
            user(json!([{"type": "text", "text": null}])),
            "`messages[0].content[0].text` should be a string, got `null`",
        ),
        (
            "/v1/responses",
            json!({"input": "a", "instructions": ["b"]}),
            "`instructions` should be a string, got `[\"b\"]`",
        ),
        (
            "/v1/responses",
            json!({"input": [{"role": "user", "content": [{"type": "input_text"}]}]}),
            "`input[0].content[0].text` should be a string, got `nothing`",
        ),
        ("/api/chat", json!({"messages": [], "options": []}), "`options` should be an object, got `[]`"),
        (
            "/v1/chat/completions",
            json!({"messages": ["a"]}),
            "`messages[0]` should be an object, got `\"a\"`",
        ),
        (
            "/v1/chat/completions",
            user(json!(5)),
            "`messages[0].content` should be a string or a list, got `5`",
        ),
        (
            "/v1/chat/completions",
            user(json!(["a"])),
            "`messages[0].content[0]` should be an object, got `\"a\"`",
        ),
        ("/v1/chat/completions", json!({"messages": [], "tools": {}}), "`tools` should be a list, got `{}`"),
        (
            "/v1/chat/completions",
            json!({"messages": [], "tool_choice": "weird"}),
            "`tool_choice` should be none, auto, required or a function with its name, got `\"weird\"`",
        ),
        (
            "/v1/chat/completions",
            json!({"messages": [], "tool_choice": {"type": "function"}}),
            "`tool_choice` should be none, auto, required or a function with its name, got `{\"type\":\"function\"}`",
        ),
        (
            "/v1/responses",
            json!({"input": "a", "tools": [{"type": "function", "name": "f"}], "tool_choice": "weird"}),
            "`tool_choice` should be none",
        ),
        ("/v1/chat/completions", json!({"messages": [], "tools": [null]}), "tools[0]: expected"),
    ];
    for (path, mut body, expected) in cases {
        body["model"] = json!("m");
        for api in SERVERS {
            // What a server of chats gets as it came is its own affair.
            if api == ServerApi::OpenAi
                && (path == "/v1/chat/completions" || body.get("tool_choice").is_some())
            {
                continue;
            }
            let response = post(&stand(api).await, path, &body).await;
            let status = response.status();
            let said = document(response).await.to_string().replace("\\\"", "\"");
            assert!(status == 400 && said.contains(expected), "{path} to {api:?}, {body}: {said}");
        }
    }
}

#[tokio::test]
async fn a_header_has_no_room_for_everything_that_a_client_makes_up() {
    let mut body = json!({"model": "m", "messages": [{"role": "user", "content": "Hi."}]});
    for number in 0..3000 {
        body[format!("made_up_{number}")] = json!(1);
    }
    let (_, left_out) = sent(ServerApi::Anthropic, "/v1/chat/completions", &body).await;
    let rest: usize = left_out.last().unwrap().strip_prefix('+').unwrap().parse().unwrap();
    assert!(left_out.join(",").len() <= 1024);
    assert_eq!(left_out.len() - 1 + rest, 3000);
}
