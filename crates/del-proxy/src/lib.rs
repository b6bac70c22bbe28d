//! A proxy in front of a model server: clients of the APIs of OpenAI, Anthropic and Ollama get correct tool calls,
//! streamed, whatever the server makes of them.
//!
//! Tools go to the server through its API or, where it or the model cannot take them, as text in the system prompt.
//! Either way the text of the answer is read for calls. They go back to the client. An [`Executor`] has tools of its own,
//! and only calls of those are run here.
//!
//! [`serve`] is the server, over HTTP. [`answer`] is what it does with an answer, without input or output.
#![forbid(unsafe_code)]

mod account;
mod alarm;
pub mod answer;
mod api;
mod at_once;
mod beginning;
mod coding;
mod coming;
mod compact;
mod document;
mod earlier;
mod embed;
mod execution;
mod family;
mod gate;
mod half_open;
mod heads;
mod held;
mod inspector;
mod keys;
mod line;
mod listing;
mod lists;
mod long_work;
mod member;
mod memory;
mod metrics;
mod models;
mod modes;
mod of_model;
mod otlp;
mod packed;
mod pages;
mod paths;
mod patient;
mod pieces;
mod pool;
mod progress;
mod proxy;
mod refusal;
mod request;
mod route;
mod server;
mod settings;
mod sites;
mod stamp;
mod surrogates;
mod taking;
mod timed;
mod under_way;
mod upstream;

pub use account::{Lines, Observer, Record, Style, Trace};
pub use del_wire::ServerApi;
pub use execution::{Executor, Runner};
pub use inspector::Lens;
pub use keys::ClientKey;
pub use otlp::{Collector, Config as CollectorConfig};
pub use proxy::Proxy;
pub use server::serve;
pub use settings::{RouteSettings, Settings, SettingsError};
pub use upstream::{Engine, Upstream};
