//! What clients ask.

use std::net::SocketAddr;

use serde_json::{Value, json};

/// What clients ask by, and with how many tools.
pub(crate) const ASKED: [(Api, usize); 7] = [
    (Api::Chat, 0),
    (Api::Chat, 1),
    (Api::Chat, 20),
    (Api::Anthropic, 1),
    (Api::Anthropic, 20),
    (Api::Ollama, 1),
    (Api::Responses, 1),
];

/// The API of a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Api {
    Chat,
    Responses,
    Anthropic,
    Ollama,
}

impl Api {
    pub(crate) const ALL: [Self; 4] = [Self::Chat, Self::Responses, Self::Anthropic, Self::Ollama];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Chat => "chat",
            Self::Responses => "responses",
            Self::Anthropic => "anthropic",
            Self::Ollama => "ollama",
        }
    }

    fn path(self) -> &'static str {
        match self {
            Self::Chat => "/v1/chat/completions",
            Self::Responses => "/v1/responses",
            Self::Anthropic => "/v1/messages",
            Self::Ollama => "/api/chat",
        }
    }
}

/// A request, as bytes for a connection to this address. The name of the model tells the server how to answer.
pub(crate) fn request(address: SocketAddr, api: Api, model: &str, stream: bool, tools: usize) -> Vec<u8> {
    let said = "What is the weather in Paris, and what should I wear there tomorrow?";
    let talk = json!([{"role": "user", "content": said}]);
    let mut body = match api {
        Api::Chat | Api::Ollama => json!({"model": model, "messages": talk}),
        Api::Responses => json!({"model": model, "input": talk}),
        Api::Anthropic => json!({"model": model, "max_tokens": 1024, "messages": talk}),
    };
    body["stream"] = json!(stream);
    if tools > 0 {
        body["tools"] = (0..tools).map(|number| tool(api, number)).collect();
    }
    let body = body.to_string();
    let (path, length) = (api.path(), body.len());
    let head = "content-type: application/json\r\naccept: */*\r\nuser-agent: bench";
    format!("POST {path} HTTP/1.1\r\nhost: {address}\r\n{head}\r\ncontent-length: {length}\r\n\r\n{body}")
        .into()
}

/// A definition of the usual length.
fn tool(api: Api, number: usize) -> Value {
    let name = format!("get_weather_{number}");
    let description = "Tells the weather at a place, now or on one of the next ten days. Use it whenever the user asks \
                       about temperature, rain, wind or what to wear.";
    let schema = json!({"type": "object", "required": ["city"], "properties": {
        "city": {"type": "string", "description": "The name of the city, in English"},
        "days": {"type": "integer", "description": "How many days ahead, 0 for today"},
        "unit": {"type": "string", "enum": ["celsius", "fahrenheit"]},
    }});
    match api {
        Api::Chat | Api::Ollama => json!({"type": "function",
            "function": {"name": name, "description": description, "parameters": schema}}),
        Api::Responses => {
            json!({"type": "function", "name": name, "description": description, "parameters": schema})
        }
        Api::Anthropic => json!({"name": name, "description": description, "input_schema": schema}),
    }
}
