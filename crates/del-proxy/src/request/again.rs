//! The same request once more, with what the model wants or is told.

use del_dialects::CallResult;
use del_wire::{ChatMessage, Ids, ToolChoice, failed};
use serde_json::{Map, Value, json};

use super::Request;
use crate::answer::Asking;
use crate::refusal::Refusal;

impl Request {
    /// The model asked for definitions: the same request, with what it asked for.
    pub(crate) fn define(&mut self, asking: Asking, ids: &mut Ids) -> Result<(), Refusal> {
        let Asking { said, mut calls, beside, thoughts, .. } = asking;
        for call in &mut calls {
            call.id = Some(ids.keep_or_mint(call.id.as_deref()));
        }
        let results = match self.hybrid() {
            Some(hybrid) => calls.iter().filter_map(|call| hybrid.answer(call)).collect(),
            None => Vec::new(),
        };
        // One that broke off says what it asks for as well as another, but no server takes it back like that.
        for call in &mut calls {
            if serde_json::from_str::<Map<String, Value>>(&call.arguments).is_err() {
                "{}".clone_into(&mut call.arguments);
            }
        }
        self.asked()?;
        if let Some(Ok(asked)) = self.asked.get_mut()
            && let Some(Value::Array(messages)) = asked.body.get_mut("messages")
        {
            let mut message = ChatMessage::Assistant { text: said, calls }.to_json();
            let calls = message.get_mut("tool_calls").and_then(Value::as_array_mut).into_iter().flatten();
            for (call, beside) in calls.filter_map(Value::as_object_mut).zip(beside) {
                call.extend(beside);
            }
            // Servers want their thoughts back with the call that they led to.
            message.as_object_mut().into_iter().for_each(|members| members.extend(thoughts.clone()));
            messages.push(message);
            messages.extend(results.into_iter().map(told));
        }
        self.bytes = None;
        Ok(())
    }

    /// What a model is told that made no call, which was demanded.
    pub(crate) fn demand(&self) -> String {
        match &self.facts.choice {
            Some(ToolChoice::Named(name)) => format!("Call {name} now, and say nothing else."),
            _ => "Call one of the tools now, and say nothing else.".to_owned(),
        }
    }

    /// The model's answer will not do: the same request, with what it said and thought, and what it is told of that.
    pub(crate) fn again(
        &mut self,
        said: &str,
        thoughts: Map<String, Value>,
        told: &str,
    ) -> Result<(), Refusal> {
        self.asked()?;
        let known = [("role".to_owned(), json!("assistant")), ("content".to_owned(), json!(said))];
        let answer = known.into_iter().chain(thoughts).collect();
        if let Some(Ok(asked)) = self.asked.get_mut()
            && let Some(Value::Array(messages)) = asked.body.get_mut("messages")
        {
            messages.push(Value::Object(answer));
            messages.push(json!({"role": "user", "content": told}));
        }
        self.bytes = None;
        Ok(())
    }
}

/// A result as a message.
fn told(result: CallResult) -> Value {
    let ok = result.ok;
    let mut message = ChatMessage::Result(result).to_json();
    if !ok {
        message[failed::MEMBER] = json!(true);
    }
    message
}
