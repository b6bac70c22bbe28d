//! What a proxy is set to.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use del_agent::{Constrain, ToolsMode};
use del_dialects::{Detail, Dialect, Dialects};
use del_wire::Words;

use crate::account::Observer;
use crate::execution::Executor;
use crate::inspector::Lens;
use crate::keys::ClientKey;
use crate::upstream::Upstream;

/// How a proxy works.
#[derive(Debug)]
pub struct Settings {
    /// Where requests go, by their models.
    pub routes: Vec<RouteSettings>,
    /// All dialects that are known.
    pub dialects: &'static Dialects,
    /// The largest body of a request, in bytes.
    pub max_body: usize,
    /// At most so many connections of clients are open at once; requests on more are refused. What the proxy began with holds
    /// until it ends.
    pub max_connections: usize,
    /// Bytes of JSON that are kept of earlier answers, for requests of the Responses API that go on with one; 0 keeps
    /// nothing. What the proxy began with holds until it ends.
    pub memory: usize,
    /// After this long without a word of the model server, a streaming client is told that it is still there.
    pub keep_alive: Duration,
    /// Where a route has several model servers, each is looked at this often.
    pub health_interval: Duration,
    /// What is counted can be asked for at `/metrics`.
    pub metrics: bool,
    /// Those who are told of requests. Whom the proxy began with it tells until it ends.
    pub observers: Vec<Arc<dyn Observer>>,
    /// They are told of contents as well.
    pub tells_content: bool,
    /// The inspector is at `/`, and sees through this. What the proxy began with holds until it ends.
    pub inspector: Option<Arc<dyn Lens>>,
    /// Has tools that the model is offered beside those of the client, and runs calls of them.
    pub executor: Option<Arc<dyn Executor>>,
    /// How many requests to the model one request of a client may cost, where calls run here.
    pub max_turns: u32,
    /// The keys of which clients have to show one; none lets everybody in. What listens on more than loopback needs one.
    pub keys: Vec<ClientKey>,
    /// The sites whose pages may use it from a browser, as browsers name them: `https://app.example`. They see nothing of the
    /// inspector.
    pub origins: Vec<String>,
}

/// Where the requests for some models go, and how they are asked.
#[derive(Debug)]
pub struct RouteSettings {
    /// The models: names, or patterns in which `*` stands for anything. Without any, it is for every model.
    pub models: Vec<String>,
    /// The model servers, of one API, that take these requests in turn.
    pub upstreams: Vec<Upstream>,
    /// The model that the servers are asked for; `None` leaves it to the requests.
    pub model: Option<String>,
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
    /// The servers go on with an answer that a request begins: where no grammar holds the model to a call that it has to
    /// make, the call is begun for it. Needs prompt mode.
    pub prefill: bool,
    /// At most so many requests are under way at once; more are refused.
    pub max_concurrent: Option<usize>,
}

impl Settings {
    /// The usual settings in front of these servers.
    pub fn new(routes: Vec<RouteSettings>) -> Self {
        Self {
            routes,
            dialects: Dialects::builtin(),
            max_body: 32 << 20,
            max_connections: 32_000,
            memory: 64 << 20,
            keep_alive: Duration::from_secs(15),
            health_interval: Duration::from_secs(10),
            metrics: false,
            observers: Vec::new(),
            tells_content: false,
            inspector: None,
            executor: None,
            max_turns: 25,
            keys: Vec::new(),
            origins: Vec::new(),
        }
    }
}

impl RouteSettings {
    /// The usual settings of a route for every model.
    pub fn new(upstreams: Vec<Upstream>) -> Self {
        Self {
            models: Vec::new(),
            upstreams,
            model: None,
            dialect: None,
            words: None,
            detail: Detail::default(),
            tools_mode: ToolsMode::default(),
            constrain: Constrain::default(),
            prefill: false,
            max_concurrent: None,
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
        address: SocketAddr,
    },
    /// No dialect to write in.
    #[error("expected the name of a dialect to write calls in, got `{got}`")]
    NoDialect {
        /// The name.
        got: String,
    },
    /// A route leads nowhere.
    #[error("expected a model server for every route, got none for {models}")]
    NoUpstream {
        /// Its models.
        models: String,
    },
    /// The socket is of no use.
    #[error("cannot listen: {0}")]
    Socket(#[from] std::io::Error),
}
