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
#![forbid(unsafe_code)]

mod agent;
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
pub use view::{Notice, View};
