//! Writing: what a model is told of its tools, what it writes itself, and the results of its calls.

use del_dialects::{Call, CallResult, Collect, Detail, Event, Message, Sink};
use del_wire::{Prompt, ToolChoice};
use serde::Deserialize;
use serde_json::Value;
use wasm_bindgen::prelude::*;

use crate::dialect::Dialect;
use crate::error;
use crate::tools::Tools;

#[wasm_bindgen(js_class = RawDialect)]
impl Dialect {
    /// What a model is told in prompt mode: its tools, and how to call one.
    #[wasm_bindgen(js_name = renderPrompt)]
    pub fn render_prompt(&self, tools: &Tools, level: &str) -> Result<String, JsValue> {
        Ok(self.dialect.system_prompt(&tools.tools, detail(level)?))
    }

    /// The tools as the family's own chat template shows them.
    #[wasm_bindgen(js_name = renderDefinitions)]
    pub fn render_definitions(&self, tools: &Tools) -> String {
        self.dialect.definitions(&tools.tools)
    }

    /// Calls as the model itself writes them.
    #[wasm_bindgen(js_name = renderCalls)]
    pub fn render_calls(&self, calls: &str, tools: &Tools) -> Result<String, JsValue> {
        let calls: Vec<Call> = given("calls", calls)?;
        let written = self.dialect.render_calls(&calls, &tools.tools);
        written.map_err(|wrong| error("cannot_render", &wrong))
    }

    /// A whole answer as the model itself writes it, from its parts.
    #[wasm_bindgen(js_name = renderAnswer)]
    pub fn render_answer(&self, parts: &str, tools: &Tools) -> Result<String, JsValue> {
        let answer = message(&given::<Vec<Part>>("answer", parts)?);
        let written = self.dialect.render_answer(&answer, &tools.tools);
        written.map_err(|wrong| error("cannot_render", &wrong))
    }

    /// Results as the dialect hands them to the model.
    #[wasm_bindgen(js_name = renderResults)]
    pub fn render_results(&self, results: &str) -> Result<String, JsValue> {
        let results: Vec<CallResult> = given("results", results)?;
        Ok(self.dialect.render_results(&results))
    }

    /// A conversation of the OpenAI API with tools and calls as text.
    #[wasm_bindgen(js_name = renderMessages)]
    pub fn render_messages(
        &self,
        messages: &str,
        tools: &Tools,
        choice: &str,
        level: &str,
        one_call: bool,
        remind: bool,
    ) -> Result<String, JsValue> {
        let messages: Vec<Value> = given("messages", messages)?;
        let choice = ToolChoice::of(choice, &tools.tools).map_err(|wrong| error("bad_argument", &wrong))?;
        let prompt = Prompt::new(&self.dialect, &tools.tools).choosing(choice);
        let mut prompt = prompt.detail(detail(level)?).one_call(one_call).reminding(remind);
        prompt.read(&messages).map_err(|wrong| error("cannot_render", &wrong))?;
        Ok(Value::Array(prompt.into_messages()).to_string())
    }
}

/// A stretch of an answer that is to be written, under its kind: a kind beside it would have to be looked for first.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Part {
    Text(String),
    Reasoning(String),
    ToolCall(Call),
}

fn message(parts: &[Part]) -> Message {
    let mut collect = Collect::new();
    let mut number = 0;
    for part in parts {
        match part {
            Part::Text(text) => collect.event(Event::Text(text), 0..0),
            Part::Reasoning(text) => collect.event(Event::Reasoning(text), 0..0),
            Part::ToolCall(call) => {
                let (id, name) = (call.id.as_deref(), call.name.as_str());
                collect.event(Event::CallStart { call: number, name, id, dialect: "" }, 0..0);
                collect.event(Event::Args { call: number, json: &call.arguments }, 0..0);
                collect.event(Event::CallEnd { call: number, id: None }, 0..0);
                number += 1;
            }
        }
    }
    collect.into_message()
}

fn detail(level: &str) -> Result<Detail, JsValue> {
    match level {
        "full" => Ok(Detail::Full),
        "types" => Ok(Detail::Types),
        "compact" => Ok(Detail::Compact),
        other => {
            let message = format!(r#"detail: expected "full", "types" or "compact", got {other:?}"#);
            Err(error("bad_option", &message))
        }
    }
}

fn given<'t, T: Deserialize<'t>>(what: &str, json: &'t str) -> Result<T, JsValue> {
    serde_json::from_str(json).map_err(|wrong| error("bad_argument", &format_args!("{what}: {wrong}")))
}
