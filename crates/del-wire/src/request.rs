//! A request for a chat completion.

use del_dialects::{Call, CallResult, Tool};
use serde_json::{Map, Value, json};

use crate::native::call_json;
use crate::tools::{Format, definitions};

/// What is asked of the model. Members that are empty or `None` are left out of the JSON.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ChatRequest {
    /// The model's name; some servers serve one model and need none.
    pub model: String,
    /// The conversation.
    pub messages: Vec<ChatMessage>,
    /// Tools for the API; none in prompt mode.
    pub tools: Vec<Tool>,
    /// Left out when there are no tools.
    pub tool_choice: Option<ToolChoice>,
    /// Stream the answer, with a last chunk that says the usage.
    pub stream: bool,
    /// Randomness, from 0.
    pub temperature: Option<f64>,
    /// The longest answer, in tokens.
    pub max_tokens: Option<u64>,
    /// Strings at which the answer ends.
    pub stop: Vec<String>,
    /// Members of the server's own, such as `grammar` of llama.cpp; one named like a member above replaces it.
    pub extra: Map<String, Value>,
}

/// Whether the model must call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolChoice {
    /// As it likes.
    Auto,
    /// No call.
    None,
    /// At least one call.
    Required,
    /// A call of this tool.
    Named(String),
}

/// What is said of calling names none of the tools.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("choice: expected `auto`, `none`, `required` or the name of one of the tools ({known}), got {got:?}")]
pub struct UnknownChoice {
    /// What was said.
    pub got: String,
    /// The names that there are, with commas between them.
    pub known: String,
}

impl ToolChoice {
    /// What a word means: `auto`, `none`, `required`, or the name of one of these tools.
    pub fn of(word: &str, tools: &[Tool]) -> Result<Self, UnknownChoice> {
        match word {
            "auto" => Ok(Self::Auto),
            "none" => Ok(Self::None),
            "required" => Ok(Self::Required),
            name if tools.iter().any(|tool| tool.name == name) => Ok(Self::Named(name.to_owned())),
            _ => {
                let known = tools.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>().join(", ");
                Err(UnknownChoice { got: word.to_owned(), known })
            }
        }
    }
}

/// One message of a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChatMessage {
    /// Instructions; only as the first message, and only once.
    System(String),
    /// What the user says.
    User(String),
    /// What the model answered. Every call has an id.
    Assistant {
        /// Its text; an empty one goes out as `""`, never as null.
        text: String,
        /// Its calls in the API's own shape.
        calls: Vec<Call>,
    },
    /// The result of one call, in the API's own shape.
    Result(CallResult),
    /// A message as the API has it.
    Json(Value),
}

impl ChatRequest {
    /// The body of the request.
    pub fn to_json(&self) -> Value {
        let mut body = Map::new();
        if !self.model.is_empty() {
            body.insert("model".into(), json!(self.model));
        }
        body.insert("messages".into(), self.messages.iter().map(ChatMessage::to_json).collect());
        if !self.tools.is_empty() {
            body.insert("tools".into(), definitions(&self.tools, Format::OpenAi));
            if let Some(choice) = &self.tool_choice {
                body.insert("tool_choice".into(), choice.to_json());
            }
        }
        if self.stream {
            body.insert("stream".into(), json!(true));
            body.insert("stream_options".into(), json!({"include_usage": true}));
        }
        if let Some(temperature) = self.temperature {
            body.insert("temperature".into(), json!(temperature));
        }
        if let Some(tokens) = self.max_tokens {
            body.insert("max_tokens".into(), json!(tokens));
        }
        if !self.stop.is_empty() {
            body.insert("stop".into(), json!(self.stop));
        }
        body.extend(self.extra.clone());
        Value::Object(body)
    }
}

impl ToolChoice {
    /// The value of `tool_choice`.
    pub fn to_json(&self) -> Value {
        match self {
            Self::Auto => json!("auto"),
            Self::None => json!("none"),
            Self::Required => json!("required"),
            Self::Named(name) => json!({"type": "function", "function": {"name": name}}),
        }
    }
}

impl ChatMessage {
    /// The message as the API has it.
    pub fn to_json(&self) -> Value {
        let plain = |role: &str, text: &str| json!({"role": role, "content": text});
        match self {
            Self::System(text) => plain("system", text),
            Self::User(text) => plain("user", text),
            Self::Json(message) => message.clone(),
            Self::Assistant { text, calls } => {
                let mut message = plain("assistant", text);
                if !calls.is_empty() {
                    message["tool_calls"] = calls
                        .iter()
                        .map(|call| call_json(call.id.as_deref().unwrap_or_default(), call))
                        .collect();
                }
                message
            }
            Self::Result(result) => json!({
                "role": "tool",
                "tool_call_id": result.id.as_deref().unwrap_or_default(),
                "name": result.name,
                "content": result.text,
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use del_dialects::{Call, CallResult, Tool};
    use serde_json::{Map, json};

    use super::{ChatMessage, ChatRequest, ToolChoice};

    #[test]
    fn a_full_request() {
        let tool = Tool {
            name: "f".into(),
            description: "does f".into(),
            parameters: json!({"type": "object"}).into(),
        };
        let call = Call { id: Some("c1".into()), name: "f".into(), arguments: "{}".into() };
        let result = CallResult { id: Some("c1".into()), name: "f".into(), text: "done".into(), ok: true };
        let request = ChatRequest {
            model: "m".into(),
            messages: vec![
                ChatMessage::System("be good".into()),
                ChatMessage::User("hi".into()),
                ChatMessage::Assistant { text: String::new(), calls: vec![call] },
                ChatMessage::Result(result),
            ],
            tools: vec![tool],
            tool_choice: Some(ToolChoice::Named("f".into())),
            stream: true,
            temperature: Some(0.0),
            max_tokens: Some(100),
            stop: vec!["</x>".into()],
            extra: Map::from_iter([("grammar".to_owned(), json!("root ::= \"a\""))]),
        };
        assert_eq!(
            request.to_json(),
            json!({
                "model": "m",
                "messages": [
                    {"role": "system", "content": "be good"},
                    {"role": "user", "content": "hi"},
                    {"role": "assistant", "content": "", "tool_calls": [
                        {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]},
                    {"role": "tool", "tool_call_id": "c1", "name": "f", "content": "done"},
                ],
                "tools": [{"type": "function", "function":
                    {"name": "f", "description": "does f", "parameters": {"type": "object"}}}],
                "tool_choice": {"type": "function", "function": {"name": "f"}},
                "stream": true,
                "stream_options": {"include_usage": true},
                "temperature": 0.0,
                "max_tokens": 100,
                "stop": ["</x>"],
                "grammar": "root ::= \"a\"",
            })
        );
    }

    #[test]
    fn what_is_empty_is_left_out() {
        let request = ChatRequest { tool_choice: Some(ToolChoice::Auto), ..ChatRequest::default() };
        assert_eq!(request.to_json(), json!({"messages": []}));
    }
}
