//! What of a request a server is not told, as its API has no place for it: by the names that the client knows.

use std::collections::HashSet;

use serde_json::{Map, Value};

use crate::anthropic::{from_client, plain, to_server as anthropic};
use crate::error::WireError;
use crate::own;
use crate::server_api::ServerApi;
use crate::{chat, ollama, responses, think};

/// The members that go along for servers of one API.
const OWN: [(ServerApi, &str); 3] = [
    (ServerApi::Anthropic, own::ANTHROPIC),
    (ServerApi::Responses, own::RESPONSES),
    (ServerApi::Ollama, own::OLLAMA),
];

/// Objects whose members are told one by one.
const NESTED: [&str; 4] = ["options", "output_config", "reasoning", "text"];

/// Members that are looked after on the way, whatever the server.
const DONE: [&str; 8] =
    ["model", "messages", "stream", "stream_options", "tools", "tool_choice", "parallel_tool_calls", "n"];

impl ServerApi {
    /// The members of a request for a chat completion that a server of this API is not told.
    pub fn left_out(self, body: &Map<String, Value>) -> Vec<String> {
        let mut names = Vec::new();
        let own = OWN.iter().find(|(api, _)| *api == self).and_then(|(_, own)| body.get(*own));
        let goes_on = |name: &str| own.is_some_and(|own| own.get(name).is_some());
        for (name, value) in body.iter().filter(|(name, value)| !is_nothing(name, value)) {
            match OWN.iter().find(|(_, own)| own == name) {
                Some((api, _)) if *api == self => {}
                Some(_) => {
                    let members = value.as_object().into_iter().flatten();
                    let told = members
                        .filter(|(name, value)| !is_nothing(name, value) && !is_done(body, name, value))
                        // What nobody knows is in the body as well.
                        .filter(|(name, _)| !body.contains_key(*name));
                    told.for_each(|(name, value)| add(name, value, &mut names));
                }
                None if name == plain::MARK || DONE.contains(&name.as_str()) => {}
                None if self.takes(name, value) || goes_on(name) => {}
                // That it does not think is told to all.
                None if name == "thinking" && think::wanted(body) == Some(false) => {}
                None if name == "thinking" && self == Self::Ollama => {
                    names.extend(value.get("budget_tokens").map(|_| "thinking.budget_tokens".to_owned()));
                }
                None => names.push(name.clone()),
            }
        }
        let list = |name: &str| body.get(name).and_then(Value::as_array).into_iter().flatten();
        let of_messages = list("messages").flat_map(|message| self.left_out_of(message));
        let of_tools = list("tools").flat_map(|tool| self.left_out_of_tool(tool));
        let mut known: HashSet<String> = names.iter().cloned().collect();
        names.extend(of_messages.chain(of_tools).filter(|name| known.insert(name.clone())));
        names
    }

    /// What a server of this API is not told of a message: its members, and the kinds of its content parts.
    pub fn left_out_of(self, message: &Value) -> Vec<String> {
        let mut names = Vec::new();
        if let Some(kind) = message[responses::OWN]["type"].as_str().filter(|_| self != Self::Responses) {
            names.push(kind.to_owned());
        }
        let parts = || message["content"].as_array().into_iter().flatten();
        let strange = parts().filter_map(|part| self.strange(part));
        // The blocks of an answer go to such a server as they came.
        let given = message[plain::OWN]["content"].as_array().filter(|_| self != Self::Anthropic);
        let unsaid = given
            .into_iter()
            .flatten()
            .filter(|block| block["type"].as_str().is_some_and(|kind| !from_client::SAID.contains(&kind)));
        names.extend(strange.chain(unsaid).filter_map(|block| block["type"].as_str()).map(str::to_owned));
        let context = |part: &Value| part["type"] == "file" && part[plain::OWN]["context"].is_string();
        if self != Self::Anthropic && parts().any(context) {
            names.push("document.context".to_owned());
        }
        for part in parts().filter(|_| self != Self::Anthropic) {
            let own = &part[plain::OWN];
            if own["citations"]["enabled"] == true {
                names.push(format!("{}.citations", own["type"].as_str().unwrap_or_default()));
            }
        }
        if self == Self::OpenAi {
            return names;
        }
        let given = |name: &str| message[name].as_str().is_some_and(|text| !text.is_empty());
        let role = message["role"].as_str().unwrap_or_default();
        let is_result = matches!(role, "tool" | "function");
        if given("name") && !is_result {
            names.push("name".to_owned());
        }
        // They take back nothing but thoughts under a seal of their own.
        if self != Self::Ollama && given("reasoning_content") && message["thinking_blocks"].is_null() {
            names.push("reasoning_content".to_owned());
        }
        for part in parts() {
            match part["type"].as_str() {
                Some("text" | "refusal") | None => {}
                Some(_) if own::nothing_else(part).is_some() => {}
                Some(_) if self.takes_part(part, is_result || role == "user") => {}
                Some(kind) => names.push(kind.to_owned()),
            }
        }
        names
    }

    /// What a content part was that only servers of another API can read.
    fn strange(self, part: &Value) -> Option<&Value> {
        let (own, block) = own::nothing_else(part)?;
        OWN.iter().any(|(api, name)| *name == own && *api != self).then_some(block)
    }

    /// Refuses files that only a server of another API could have: without them nobody knows what is asked.
    pub fn check_files(self, messages: &[Value]) -> Result<(), WireError> {
        let parts = messages.iter().flat_map(|message| message["content"].as_array().into_iter().flatten());
        for block in parts.filter_map(|part| self.strange(part)) {
            match block["type"].as_str().unwrap_or_default() {
                kind @ ("image" | "document") => {
                    let at = format!("{kind}.source");
                    return Err(WireError::shape(&at, "base64 or a url", &block["source"].to_string()));
                }
                kind @ ("input_image" | "input_file") => {
                    let expected = "given whole or by its address, not by an id";
                    return Err(WireError::shape(kind, expected, &block.to_string()));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// True for a content part that the server is told, beside texts.
    fn takes_part(self, part: &Value, said_to_model: bool) -> bool {
        match self {
            Self::OpenAi => true,
            Self::Ollama => ollama::to_server::takes_part(part),
            Self::Responses => said_to_model && responses::to_server::takes_part(part),
            Self::Anthropic => said_to_model && anthropic::takes_part(part),
        }
    }

    /// The same of a tool.
    fn left_out_of_tool(self, tool: &Value) -> Vec<String> {
        let mut names = Vec::new();
        for (api, own) in OWN {
            let members = tool.get(own).and_then(Value::as_object).into_iter().flatten();
            let told = members.filter(|(name, value)| api != self && !is_nothing(name, value));
            names.extend(told.map(|(name, _)| format!("tools.{name}")));
        }
        if self == Self::Anthropic && tool.pointer("/function/strict") == Some(&Value::Bool(true)) {
            names.push("tools.strict".to_owned());
        }
        names
    }

    fn takes(self, name: &str, value: &Value) -> bool {
        match self {
            Self::OpenAi => !chat::to_server::OTHERS.contains(&name),
            Self::Responses => responses::to_server::takes(name),
            Self::Anthropic => anthropic::takes(name, value),
            Self::Ollama => !ollama::to_server::IGNORED.contains(&name),
        }
    }
}

/// True for what says no more than that nothing is said, and for what is so by itself.
fn is_nothing(name: &str, value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => name != "think",
        Value::Array(list) => list.is_empty(),
        Value::Object(members) => members.is_empty(),
        Value::String(word) => {
            matches!(
                (name, word.as_str()),
                ("truncation", "disabled")
                    | ("service_tier", "auto" | "default")
                    | ("reasoning_effort", "none")
            )
        }
        Value::Bool(true) | Value::Number(_) => false,
    }
}

/// True for a member of one API that is something else in a chat completion as well.
fn is_done(body: &Map<String, Value>, name: &str, value: &Value) -> bool {
    match name {
        "metadata" => true,
        "output_format" => body.contains_key("response_format"),
        "think" => value.is_string() || *value == Value::Bool(false),
        "include" => value.as_array().is_some_and(|list| list.iter().all(|what| what == responses::SEALS)),
        _ => false,
    }
}

fn add(name: &str, value: &Value, names: &mut Vec<String>) {
    match value {
        Value::Object(members) if NESTED.contains(&name) => {
            let inner = members.iter().filter(|(inner, value)| !is_nothing(inner, value));
            // What an answer has to look like is told to every server.
            names.extend(
                inner.filter(|(inner, _)| *inner != "format").map(|(inner, _)| format!("{name}.{inner}")),
            );
        }
        _ => names.push(name.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::ServerApi;
    use crate::anthropic::from_client as anthropic;
    use crate::ollama::from_client as ollama;
    use crate::responses::from_client as responses;
    use crate::tools::Functions;

    fn left_out(api: ServerApi, body: &Value) -> String {
        api.left_out(body.as_object().unwrap()).join(",")
    }

    #[test]
    fn what_chats_ask_of_other_servers_is_told_where_it_is_left_out() {
        let body = json!({"model": "m", "messages": [], "stream": true, "stream_options": {"include_usage": true},
            "tools": [], "tool_choice": "auto", "parallel_tool_calls": false, "n": 1, "max_completion_tokens": 5,
            "temperature": 1, "top_p": 1, "stop": ["x"], "seed": 1, "presence_penalty": 1, "logit_bias": {"1": 1},
            "logprobs": true, "top_logprobs": 2, "store": true, "metadata": {"a": "b"}, "service_tier": "flex",
            "reasoning_effort": "low", "verbosity": "low", "prediction": null, "web_search_options": {},
            "response_format": {"type": "json_object"}, "user": "u"});
        for (api, names) in [
            (ServerApi::OpenAi, ""),
            (ServerApi::Responses, "stop,seed,presence_penalty,logit_bias"),
            (
                ServerApi::Anthropic,
                "seed,presence_penalty,logit_bias,logprobs,top_logprobs,store,metadata,service_tier,verbosity,response_format",
            ),
            (ServerApi::Ollama, "logit_bias,store,metadata,service_tier,verbosity,user"),
        ] {
            assert_eq!(left_out(api, &body), names, "{api:?}");
        }
        let quiet = json!({"store": false, "logprobs": null, "service_tier": "auto", "metadata": {}});
        assert_eq!(left_out(ServerApi::Anthropic, &quiet), "");
    }

    #[test]
    fn what_only_one_api_has_is_told_where_the_server_has_another() {
        let responses = json!({"model": "m", "input": "Hi.", "store": true, "truncation": "auto", "service_tier": "flex",
            "reasoning": {"effort": "low", "summary": "auto"}, "text": {"format": {"type": "text"}, "verbosity": "low"},
            "include": ["reasoning.encrypted_content", "web_search_call.results"], "prompt_cache_key": "k",
            "metadata": {"a": "b"}, "max_tool_calls": 3, "background": false});
        let read = responses::read(
            responses.as_object().unwrap().clone(),
            Functions::default(),
            Vec::new(),
            &|_| None,
        );
        let responses = read.unwrap().asked.body;
        let anthropic = json!({"model": "m", "max_tokens": 5, "messages": [], "thinking": {"type": "enabled"},
            "metadata": {"user_id": "u"}, "output_config": {"effort": "low", "format": {"schema": {}}}, "top_k": 3,
            "context_management": {"edits": []}, "service_tier": "auto"});
        let anthropic =
            anthropic::read(anthropic.as_object().unwrap().clone(), Functions::default()).unwrap().body;
        let ollama = json!({"model": "m", "messages": [], "think": true, "keep_alive": "5m", "options": {"num_ctx": 9, "seed": 1}});
        let ollama = ollama::read_chat(ollama.as_object().unwrap(), Functions::default()).unwrap().body;
        let of_responses = "truncation,prompt_cache_key,service_tier,max_tool_calls,include,reasoning.summary,text.verbosity";
        let of_anthropic = "thinking,output_config.effort,context_management";
        let of_ollama = "think,keep_alive,options.num_ctx";
        for (body, own, names) in [
            (&responses, ServerApi::Responses, of_responses),
            (&anthropic, ServerApi::Anthropic, of_anthropic),
            (&ollama, ServerApi::Ollama, of_ollama),
        ] {
            let sorted = |names: &str| {
                let mut names: Vec<String> = names.split(',').map(str::to_owned).collect();
                names.sort();
                names
            };
            assert_eq!(sorted(&ServerApi::OpenAi.left_out(body).join(",")), sorted(names));
            assert_eq!(own.left_out(body).join(","), "");
        }
    }
}
