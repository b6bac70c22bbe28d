//! The conversations of probes, in the forms that templates take.

use del_dialects::{Call, Tool};
use serde_json::{Map, Value as Json, json};

/// How a conversation is put.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Style {
    /// It begins with a system message.
    pub(crate) system: bool,
    /// It comes with tools.
    pub(crate) tools: bool,
    /// What stands for tools where there are none.
    pub(crate) without: Blank,
    /// Tools are bare functions, without the object around them.
    pub(crate) flat: bool,
    /// Only tools with the commonest of types.
    pub(crate) simple: bool,
    /// Only the first tool.
    pub(crate) single: bool,
    pub(crate) arguments: Arguments,
    pub(crate) ids: Ids,
    pub(crate) blank: Blank,
    /// How thinking is switched; nothing where that is left out.
    pub(crate) thinking: Option<Switch>,
}

impl Style {
    /// The tools that a template is told of.
    pub(crate) fn told(&self) -> Vec<Tool> {
        let mut tools = if self.tools { super::tools() } else { Vec::new() };
        if self.simple {
            tools.retain(|tool| !UNCOMMON.contains(&tool.name.as_str()));
        }
        if self.single {
            tools.truncate(1);
        }
        tools
    }
}

/// How thinking is asked for, or asked not to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Switch {
    pub(crate) on: bool,
    /// A word for `reasoning_effort`. Templates refuse words that are not theirs.
    effort: Option<&'static str>,
    /// A word for `thinking_mode`.
    mode: Option<&'static str>,
}

impl Switch {
    /// The ways that templates know, the commonest first.
    pub(crate) fn ways(on: bool) -> impl Iterator<Item = Self> {
        let efforts = if on { ["high", "medium"] } else { ["none", "no_think"] };
        let modes = if on { ["enabled", "on", "thinking"] } else { ["disabled", "off", "chat"] };
        let plain = Self { on, effort: None, mode: None };
        let by_effort = efforts.into_iter().map(move |word| Self { effort: Some(word), ..plain });
        let by_mode = modes.into_iter().map(move |word| Self { mode: Some(word), ..plain });
        std::iter::once(plain).chain(by_effort).chain(by_mode)
    }

    fn put(self, context: &mut Map<String, Json>) {
        // Ollama's templates say `.Think` and `.IsThinkSet`.
        for name in ["enable_thinking", "thinking", "think"] {
            context.insert(name.to_owned(), Json::Bool(self.on));
        }
        context.insert("is_think_set".to_owned(), Json::Bool(true));
        if let Some(word) = self.effort {
            context.insert("reasoning_effort".to_owned(), Json::from(word));
            context.insert("think_level".to_owned(), Json::from(word));
        }
        if let Some(word) = self.mode {
            context.insert("thinking_mode".to_owned(), Json::from(word));
        }
    }
}

/// How the arguments of a call are handed over.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Arguments {
    #[default]
    Object,
    /// As JSON in a string, as the API has them.
    Text,
}

/// What the ids of calls look like.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Ids {
    /// Nine letters and digits, which all templates take.
    #[default]
    Nine,
    /// `functions.NAME:INDEX`.
    Function,
}

/// The content of a message that only calls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Blank {
    #[default]
    Empty,
    Null,
    Absent,
}

/// One message.
#[derive(Debug, Clone)]
pub(crate) enum Message {
    System,
    User,
    Answer { said: Option<String>, thought: Option<String>, calls: Vec<Call> },
    Result { call: Call, text: String },
}

impl Message {
    pub(crate) fn system() -> Self {
        Self::System
    }

    pub(crate) fn user() -> Self {
        Self::User
    }

    pub(crate) fn answer(said: &str) -> Self {
        Self::Answer { said: Some(said.to_owned()), thought: None, calls: Vec::new() }
    }

    pub(crate) fn calls(calls: &[Call]) -> Self {
        Self::Answer { said: None, thought: None, calls: calls.to_vec() }
    }

    pub(crate) fn result(call: &Call, text: &str) -> Self {
        Self::Result { call: call.clone(), text: text.to_owned() }
    }
}

/// Tools whose types not all templates can show.
const UNCOMMON: [&str; 2] = ["add_item", "set_option"];

/// The id of a call by its place.
pub(crate) fn id(ids: Ids, call: &Call, place: usize) -> String {
    match ids {
        Ids::Nine => format!("q7Zk4Vx{place:02}"),
        Ids::Function => format!("functions.{}:{place}", call.name),
    }
}

/// Stands for the token that ends a turn where the checkpoint does not say it.
pub(crate) const UNTOLD_END: &str = "<EOS>";

/// What a template is given.
pub(crate) fn context(messages: &[Message], style: &Style, tokens: &Map<String, Json>, prompt: bool) -> Json {
    let mut context = tokens.clone();
    for (name, token) in
        [("bos_token", "<BOS>"), ("eos_token", UNTOLD_END), ("pad_token", "<PAD>"), ("unk_token", "<UNK>")]
    {
        context.entry(name).or_insert_with(|| Json::from(token));
    }
    let mut list = Vec::new();
    let mut numbers = std::collections::HashMap::new();
    if style.system && !matches!(messages.first(), Some(Message::System)) {
        list.push(written(&Message::System, style, &mut numbers));
    }
    list.extend(messages.iter().map(|message| written(message, style, &mut numbers)));
    context.insert("messages".to_owned(), Json::Array(list));
    context.insert("add_generation_prompt".to_owned(), Json::Bool(prompt));
    if let Some(switch) = style.thinking {
        switch.put(&mut context);
    }
    context.insert("functions".to_owned(), Json::from("[]"));
    context.insert("documents".to_owned(), Json::Null);
    match style.without {
        Blank::Null => context.insert("tools".to_owned(), Json::Null),
        Blank::Empty => context.insert("tools".to_owned(), json!([])),
        Blank::Absent => None,
    };
    if style.tools {
        let function = |tool: &Tool| json!({"name": tool.name, "description": tool.description, "parameters": tool.parameters});
        let flat: Vec<Json> = style.told().iter().map(function).collect();
        let wrapped = || flat.iter().map(|function| json!({"type": "function", "function": function}));
        context.insert("functions".to_owned(), Json::from(Json::Array(flat.clone()).to_string()));
        let shown = if style.flat { flat.clone() } else { wrapped().collect() };
        for name in ["tools", "xml_tools"] {
            context.insert(name.to_owned(), Json::Array(shown.clone()));
        }
    }
    context.insert("datetime".to_owned(), Json::from("2025-01-15 12:00:00"));
    context.insert("date_string".to_owned(), Json::from("15 Jan 2025"));
    Json::Object(context)
}

fn written(message: &Message, style: &Style, numbers: &mut std::collections::HashMap<String, usize>) -> Json {
    match message {
        Message::System => json!({"role": "system", "content": "Be brief."}),
        Message::User => json!({"role": "user", "content": "Whatever is asked?"}),
        Message::Answer { said, thought, calls } => {
            let mut object = Map::new();
            object.insert("role".to_owned(), Json::from("assistant"));
            match (said, style.blank) {
                (Some(text), _) => object.insert("content".to_owned(), Json::from(text.as_str())),
                (None, Blank::Empty) => object.insert("content".to_owned(), Json::from("")),
                (None, Blank::Null) => object.insert("content".to_owned(), Json::Null),
                (None, Blank::Absent) => None,
            };
            if let Some(thought) = thought {
                for key in ["reasoning_content", "reasoning", "thinking"] {
                    object.insert(key.to_owned(), Json::from(thought.as_str()));
                }
            }
            if !calls.is_empty() {
                let calls = calls.iter().enumerate().map(|(place, call)| {
                    let id = id(style.ids, call, place);
                    numbers.insert(call.name.clone(), place);
                    json!({
                        "id": id,
                        "type": "function",
                        "function": {"name": call.name, "arguments": arguments(call, style.arguments)},
                    })
                });
                object.insert("tool_calls".to_owned(), calls.collect());
            }
            Json::Object(object)
        }
        Message::Result { call, text } => {
            let place = numbers.get(&call.name).copied().unwrap_or_default();
            json!({
                "role": "tool",
                "name": call.name,
                "tool_call_id": id(style.ids, call, place),
                "content": text,
            })
        }
    }
}

fn arguments(call: &Call, way: Arguments) -> Json {
    match way {
        Arguments::Object => serde_json::from_str(&call.arguments).unwrap_or_default(),
        Arguments::Text => Json::from(call.arguments.as_str()),
    }
}
