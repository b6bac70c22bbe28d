//! What the model is sent, how it learns of the tools, and what its answer is held to.

use std::borrow::Cow;
use std::sync::Arc;

use del_dialects::{Tool, Turn};
use del_grammar::{Choice, Grammar, Options};
use del_wire::{ChatRequest, Hybrid, Prompt, ServerApi, ToolChoice, hybrid};
use serde_json::{Value, json};

use super::Agent;
use crate::history::{self, Entry};
use crate::reading::Reading;
use crate::settings::{Constrain, Mode, SettingsError, ToolsMode};
use crate::view::Notice;

impl Agent {
    /// What the server is asked at present.
    pub(super) fn asked(&self) -> Value {
        self.written(
            &self.summing.as_ref().map_or_else(|| self.body(), |summing| self.summary_request(summing)),
        )
    }

    /// A request as the server reads it.
    pub(super) fn written(&self, request: &ChatRequest) -> Value {
        let api = self.settings.api;
        let told = match request.to_json() {
            Value::Object(mut body) => {
                if api == ServerApi::Ollama {
                    // It would leave out what does not fit, and say nothing.
                    body.extend([("truncate".to_owned(), json!(false)), ("shift".to_owned(), json!(false))]);
                }
                api.write(body)
            }
            other => other,
        };
        if self.amends.are_none() {
            return told;
        }
        let amended = self.amends.amend(&told.to_string(), false);
        amended.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or(told)
    }

    pub(super) fn body(&self) -> ChatRequest {
        let settings = &self.settings;
        let mut request = ChatRequest {
            model: settings.model.clone(),
            stream: settings.stream,
            temperature: settings.temperature,
            max_tokens: settings.max_tokens,
            extra: settings.extra.clone(),
            ..ChatRequest::default()
        };
        match self.mode {
            Mode::Native => {
                request.messages = history::native(&settings.system, &self.entries, &self.thinker());
                request.tools = self.shown().into_owned();
                request.tool_choice = Some(ToolChoice::Auto);
            }
            Mode::Prompt => {
                let tools = self.shown();
                let prompt = Prompt::new(&self.dialect, &tools)
                    .in_words(settings.words.as_ref())
                    .detail(settings.detail)
                    .reminding(self.constrained && settings.constrain == Constrain::On);
                request.messages = history::written(&settings.system, &self.entries, prompt);
                if !tools.is_empty() {
                    request.stop =
                        del_wire::prompt::stops(&self.dialect).into_iter().map(str::to_owned).collect();
                }
                if let Some(grammar) = self.grammar(&tools) {
                    request.extra.insert("grammar".to_owned(), json!(grammar));
                    // Under a grammar a small model may never close a string. What fits into the context is never cut by this.
                    request.max_tokens =
                        request.max_tokens.or(settings.context.filter(|_| self.has_to_call()));
                }
            }
        }
        request
    }

    pub(super) fn new_reading(&self) -> Reading {
        let mut turn = Turn::new(self.readable());
        turn.starts = self.settings.starts;
        turn.limits = self.settings.limits.clone();
        let parser = match &self.settings.dialect {
            Some(dialect) if self.mode == Mode::Prompt => dialect.parser(turn),
            _ => self.dialects.parser(turn),
        };
        // By a grammar, or by the schema of a format.
        let held = self.has_to_call() || self.settings.extra.contains_key("response_format");
        Reading::new(parser, self.settings.api, held)
    }

    /// Who thinks: no other takes these thoughts back.
    pub(super) fn thinker(&self) -> String {
        format!("{}:{}", self.settings.api.name(), self.settings.model)
    }

    pub(super) fn choose_mode(&mut self) {
        let settings = &self.settings;
        let constrain = settings.constrain == Constrain::On && settings.server.llama_cpp;
        self.mode = match settings.tools_mode {
            ToolsMode::Prompt => Mode::Prompt,
            ToolsMode::Hybrid if settings.dialect.is_some() => Mode::Prompt,
            mode if mode.learns() && constrain => Mode::Prompt,
            mode if mode.learns()
                && settings.server.takes_tools == Some(false)
                && !settings.tools.is_empty() =>
            {
                let reason = "the model's template on this server takes no tools".to_owned();
                self.notices.push(Notice::PromptMode { reason });
                Mode::Prompt
            }
            ToolsMode::Auto | ToolsMode::Native | ToolsMode::Hybrid => Mode::Native,
        };
    }

    pub(super) fn prepare_grammar(&mut self) -> Result<(), SettingsError> {
        let settings = &self.settings;
        if settings.constrain == Constrain::Off || settings.tools.is_empty() {
            return Ok(());
        }
        if settings.constrain == Constrain::Auto {
            self.constrained = settings.server.llama_cpp;
            return Ok(());
        }
        let reason = if !settings.server.llama_cpp {
            "only a llama.cpp server takes a grammar"
        } else if self.mode == Mode::Native {
            "a server takes either tools or a grammar, and the tools go over the API"
        } else {
            // What cannot be held to a grammar is better known now than in the middle of a conversation.
            Grammar::new(&self.dialect, &self.tools, &Options::new(Choice::Required))?;
            self.constrained = true;
            return Ok(());
        };
        self.notices.push(Notice::Unconstrained { reason: reason.to_owned() });
        Ok(())
    }

    /// Of which tools the model has the definitions after these entries; none where it has all of them at once.
    pub(super) fn hybrid(&self, entries: &[Entry]) -> Option<Hybrid<'_>> {
        let mut hybrid =
            Hybrid::new(&self.tools).filter(|_| self.settings.tools_mode == ToolsMode::Hybrid)?;
        for entry in entries {
            match entry {
                Entry::Assistant { calls, .. } => calls.iter().for_each(|call| hybrid.take(call)),
                Entry::Summary { defined, .. } => defined.iter().for_each(|name| hybrid.define(name)),
                _ => {}
            }
        }
        Some(hybrid)
    }

    /// What the model is told of at present.
    pub(super) fn shown(&self) -> Cow<'_, [Tool]> {
        match self.hybrid(&self.entries) {
            Some(hybrid) => Cow::Owned(hybrid.tools()),
            None => Cow::Borrowed(&self.tools),
        }
    }

    /// All that the model may call, whether it has the definitions or not.
    pub(super) fn readable(&self) -> Arc<[Tool]> {
        match self.hybrid(&[]) {
            Some(hybrid) => self.tools.iter().cloned().chain([hybrid.request()]).collect(),
            None => Arc::clone(&self.tools),
        }
    }

    /// What the answer is held to: one call of these tools, or plain words where it does not have to call. Under a grammar
    /// that lets more calls follow, a small model repeats the call without end. None where a schema is beyond a grammar.
    fn grammar(&self, tools: &[Tool]) -> Option<String> {
        let choice = if self.has_to_call() { Choice::Required } else { Choice::Auto };
        let grammar = self.constrained.then(|| Grammar::new(&self.dialect, tools, &Options::new(choice)));
        Some(grammar?.ok()?.to_gbnf())
    }

    /// Under [`Constrain::On`] the model has to call until a result is there; definitions are none.
    fn has_to_call(&self) -> bool {
        let since_user = self.entries.iter().rev().take_while(|entry| !matches!(entry, Entry::User { .. }));
        let is_result = |entry: &Entry| match entry {
            Entry::Results { results } => results.iter().any(|result| result.name != hybrid::REQUEST),
            _ => false,
        };
        self.constrained && self.settings.constrain == Constrain::On && !since_user.into_iter().any(is_result)
    }
}
