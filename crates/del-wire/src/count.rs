//! How servers count the tokens of a request before they answer it.

use serde_json::{Map, Value, json};

/// A way to count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counter {
    /// llama.cpp writes the prompt of a chat, and takes a text apart.
    LlamaCpp,
    /// vLLM takes a chat apart.
    Vllm,
    /// Anthropic's messages.
    Anthropic,
    /// OpenAI's responses.
    Responses,
}

/// What to post.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    /// The path beneath the API's address.
    pub path: &'static str,
    /// The path is above the `/v1` that the API's address ends in.
    pub above: bool,
    /// The body.
    pub body: Value,
}

/// What an answer comes to.
#[derive(Debug, Clone, PartialEq)]
pub enum Counted {
    /// So many tokens.
    Tokens(u64),
    /// There is more to ask.
    Ask(Question),
    /// The server does not say.
    Unknown,
}

impl Counter {
    /// What to ask first. `body` is the request, in the API that the server speaks.
    pub fn ask(self, body: &Value) -> Question {
        let only = |names: &[&str]| {
            let member = |name: &&str| Some(((*name).to_owned(), body.get(*name)?.clone()));
            Value::Object(names.iter().filter_map(member).collect::<Map<_, _>>())
        };
        let chat = ["model", "messages", "tools"];
        match self {
            Self::LlamaCpp => Question { path: "/apply-template", above: true, body: only(&chat) },
            Self::Vllm => Question { path: "/tokenize", above: true, body: only(&chat) },
            Self::Anthropic => {
                let body = only(&["model", "messages", "system", "tools", "tool_choice", "thinking"]);
                Question { path: "/messages/count_tokens", above: false, body }
            }
            Self::Responses => {
                let body =
                    only(&["model", "input", "instructions", "tools", "tool_choice", "reasoning", "text"]);
                Question { path: "/responses/input_tokens", above: false, body }
            }
        }
    }

    /// Takes the answer to what was asked last.
    pub fn hear(self, said: &Value) -> Counted {
        let tokens = match self {
            Self::LlamaCpp => {
                if let Some(prompt) = said["prompt"].as_str() {
                    let body = json!({"content": prompt, "add_special": true, "parse_special": true});
                    return Counted::Ask(Question { path: "/tokenize", above: true, body });
                }
                said["tokens"].as_array().and_then(|tokens| u64::try_from(tokens.len()).ok())
            }
            Self::Vllm => said["count"].as_u64(),
            Self::Anthropic | Self::Responses => said["input_tokens"].as_u64(),
        };
        tokens.map_or(Counted::Unknown, Counted::Tokens)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Counted, Counter};

    #[test]
    fn llama_cpp_writes_the_prompt_before_it_is_counted() {
        let body = json!({"model": "m", "messages": [1], "stream": true});
        let first = Counter::LlamaCpp.ask(&body);
        assert_eq!((first.path, &first.body), ("/apply-template", &json!({"model": "m", "messages": [1]})));
        let Counted::Ask(second) = Counter::LlamaCpp.hear(&json!({"prompt": "<s>hi"})) else {
            panic!("it has to be taken apart");
        };
        assert_eq!((second.path, &second.body["content"]), ("/tokenize", &json!("<s>hi")));
        assert_eq!(Counter::LlamaCpp.hear(&json!({"tokens": [1, 2, 3]})), Counted::Tokens(3));
        assert_eq!(Counter::LlamaCpp.hear(&json!({"error": "no"})), Counted::Unknown);
    }

    #[test]
    fn the_others_count_at_once() {
        assert_eq!(Counter::Vllm.hear(&json!({"count": 7, "max_model_len": 4096})), Counted::Tokens(7));
        for counter in [Counter::Anthropic, Counter::Responses] {
            assert_eq!(counter.hear(&json!({"input_tokens": 7})), Counted::Tokens(7));
            assert!(
                !counter.ask(&json!({"model": "m", "max_tokens": 1})).body.to_string().contains("max_tokens")
            );
        }
    }
}
