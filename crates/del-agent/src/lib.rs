//! The loop of an assistant: question, calls, results, answer.
//!
//! There is no network, no clock, no file and no task here. [`Agent::step`] takes an [`Input`] and says with an
//! [`Effect`] what is to be done in the world; whoever does it comes back with the next input. What there is to show
//! meanwhile goes to the caller's function as [`View`]s.
//!
//! ```text
//! Start ─▶ Request ─▶ Bytes… End ─▶ Run ─▶ Results ─▶ Request ─▶ … ─▶ Done
//!             ▲ │ Refused, Unreachable
//!        Waited └──▶ Wait
//! ```
//!
//! Text is always read for calls, also when the tools went over the API: models and servers let calls leak as text.
//!
//! ```
//! use del_agent::{Agent, Effect, Input, Settings};
//! use del_dialects::{CallResult, Dialects, Tool};
//! use serde_json::json;
//!
//! let schema = json!({"type": "object", "properties": {}}).into();
//! let tool = Tool { name: "list_dir".to_owned(), description: "List files".to_owned(), parameters: schema };
//! let settings = Settings { model: "qwen3:8b".to_owned(), tools: vec![tool], ..Settings::default() };
//! let mut agent = Agent::new(Dialects::builtin(), settings)?;
//! let mut step = |input: Input<'_>| agent.step(input, &mut |_view| {});
//! let says = |text: &str| json!({"choices": [{"message": {"content": text}, "finish_reason": "stop"}]}).to_string();
//!
//! let Effect::Request(body) = step(Input::Start("What is here?")) else { panic!("it asks the model") };
//! assert_eq!(body["model"], "qwen3:8b");
//! // Whoever has a network posts that, and hands the answer in as it comes.
//! let _ = step(Input::Bytes(says("<tool_call>{\"name\": \"list_dir\", \"arguments\": {}}</tool_call>").as_bytes()));
//! let Effect::Run(calls) = step(Input::End) else { panic!("it wants the call to be run") };
//! let id = calls[0].call.id.clone();
//! let result = CallResult { id, name: "list_dir".to_owned(), text: "a.txt".to_owned(), ok: true };
//! let Effect::Request(_) = step(Input::Results(vec![result])) else { panic!("it asks again") };
//! let _ = step(Input::Bytes(says("There is one file.").as_bytes()));
//! let Effect::Done(done) = step(Input::End) else { panic!("the question is answered") };
//! assert_eq!(done.answer, "There is one file.");
//! # Ok::<(), del_agent::SettingsError>(())
//! ```
//!
//! Times are in milliseconds, sizes of contexts in tokens. A [`Failure`] is the end of a question and not of the
//! conversation: the next one goes on.
#![forbid(unsafe_code)]

mod agent;
mod circles;
mod examples;
pub mod guard;
mod history;
pub mod prompt;
mod reading;
mod settings;
mod step;
pub mod tokens;
mod view;

pub use agent::Agent;
pub use history::{Entry, Image, Thinking};
pub use settings::{Constrain, Mode, Server, Settings, SettingsError, ToolsMode};
pub use step::{Done, Effect, Failure, Input};
pub use view::{Circle, Notice, View};
