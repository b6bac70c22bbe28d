//! What a proxy is set to.

use std::sync::Arc;
use std::time::Duration;

use del_agent::{Constrain, ToolsMode};
use del_dialects::{Detail, Dialect, Dialects};
use del_wire::Words;

use crate::execution::Executor;
use crate::upstream::Upstream;

/// How a proxy works.
#[derive(Debug)]
pub struct Settings {
    /// The model server.
    pub upstream: Upstream,
    /// All dialects that are known.
    pub dialects: &'static Dialects,
    /// The one dialect to write and read; `None` writes the model's and reads all.
    pub dialect: Option<Arc<Dialect>>,
    /// What the model's chat template says of tools, where it is known; calls are then written in its dialect.
    pub words: Option<Words>,
    /// How much the model is told of its tools in its prompt.
    pub detail: Detail,
    /// How the model learns of the tools.
    pub tools_mode: ToolsMode,
    /// Whether the server is held to a grammar of calls: needs prompt mode and llama.cpp. `Auto` does where a request
    /// demands a call, `On` also elsewhere until a result is there.
    pub constrain: Constrain,
    /// The model that all requests are for; `None` leaves it to them.
    pub model: Option<String>,
    /// The largest body of a request, in bytes.
    pub max_body: usize,
    /// Bytes of JSON that are kept of earlier answers, for requests of the Responses API that go on with one; 0 keeps
    /// nothing.
    pub memory: usize,
    /// After this long without a word of the model server, a streaming client is told that it is still there.
    pub keep_alive: Duration,
    /// What is counted can be asked for at `/metrics`.
    pub metrics: bool,
    /// Has tools that the model is offered beside those of the client, and runs calls of them.
    pub executor: Option<Arc<dyn Executor>>,
    /// How many requests to the model one request of a client may cost, where calls run here.
    pub max_turns: u32,
    /// The key that clients have to show. What listens on more than loopback needs one.
    pub key: Option<String>,
}

impl Settings {
    /// The usual settings in front of this server.
    pub fn new(upstream: Upstream) -> Self {
        Self {
            upstream,
            dialects: Dialects::builtin(),
            dialect: None,
            words: None,
            detail: Detail::default(),
            tools_mode: ToolsMode::default(),
            constrain: Constrain::default(),
            model: None,
            max_body: 32 << 20,
            memory: 64 << 20,
            keep_alive: Duration::from_secs(15),
            metrics: false,
            executor: None,
            max_turns: 25,
            key: None,
        }
    }
}

/// Settings that do not go together.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// Anybody could use the model server.
    #[error("expected a key for clients, as {address} is not for this machine alone")]
    NoKey {
        /// Where it listens.
        address: std::net::SocketAddr,
    },
    /// No dialect to write in.
    #[error("expected the name of a dialect to write calls in, got `{got}`")]
    NoDialect {
        /// The name.
        got: String,
    },
    /// The socket is of no use.
    #[error("cannot listen: {0}")]
    Socket(#[from] std::io::Error),
}
