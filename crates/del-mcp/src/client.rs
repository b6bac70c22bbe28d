//! Servers whose tools become tools of Del's models.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread::JoinHandle;
use std::time::Duration;

use del_dialects::Tool;
use del_tools::{Cancel, Code, Control, Failure, Foreign, ToolResult};
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CancelledNotificationParam, ClientCapabilities, ClientConfig,
    ClientRequest, Implementation, ListToolsRequest, PaginatedRequestParams, ServerResult,
};
use rmcp::service::{
    ClientInitializeError, Peer, PeerRequestOptions, RoleClient, RunningService, ServiceError,
};
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::{ServiceExt, model};
use serde_json::{Map, Value};
use tokio::runtime::Handle;
use tokio::sync::{Mutex, oneshot};
use tokio_util::sync::CancellationToken;

use crate::address::{self, chain};
use crate::child::{self, Child};
use crate::config::{self, Launch, Server, Source};
use crate::content;
use crate::offer::{Offer, offers, plain, shortened};

/// Servers that were started. Dropping it ends them.
pub struct Servers {
    states: Vec<State>,
    tools: Vec<Arc<dyn Foreign>>,
    engine: Option<Engine>,
}

/// What became of one server.
#[derive(Debug, Clone)]
pub struct State {
    /// Its name.
    pub name: String,
    /// Whose file it is in.
    pub source: Source,
    /// What it calls itself, and its version; or why it cannot be used.
    pub outcome: Result<String, String>,
    /// Its tools, under the names that models see.
    pub tools: Vec<Tool>,
    /// What is left out, a sentence each.
    pub warnings: Vec<String>,
}

/// How long a server may take to start and to list its tools.
const START: Duration = Duration::from_secs(10);
/// How long a call may take where the configuration does not say.
const CALL: Duration = Duration::from_secs(120);
/// How long the end of all servers may take.
const END: Duration = Duration::from_secs(3);
const TICK: Duration = Duration::from_millis(20);
/// Pages of a list of tools.
const PAGES: usize = 32;
/// Characters of what a server says of a failure.
const REASON: usize = 500;

impl Servers {
    /// Starts the servers, all at the same time, in `directory`. Those that are disabled are left out, those that do not
    /// start in ten seconds are given up. Nothing is started any more once `cancel` is set.
    pub fn start(servers: Vec<Server>, directory: &Path, cancel: &Cancel) -> Self {
        let servers: Vec<Server> = servers.into_iter().filter(|server| !server.disabled).collect();
        let none = Self { states: Vec::new(), tools: Vec::new(), engine: None };
        if servers.is_empty() {
            return none;
        }
        let Some(engine) = Engine::start() else { return none };
        let (send, receive) = mpsc::channel();
        let directory = directory.to_owned();
        let sources = servers.clone();
        engine.handle.spawn(async move {
            let tasks: Vec<_> =
                servers.into_iter().map(|server| tokio::spawn(connect(server, directory.clone()))).collect();
            for (place, task) in tasks.into_iter().enumerate() {
                let outcome =
                    task.await.unwrap_or_else(|_| Err("it broke down; this is a fault of Del".to_owned()));
                // Nobody waits for it any more after a cancellation.
                let _ = send.send((place, outcome));
            }
        });
        let mut outcomes: Vec<Option<Result<(Link, Listing), String>>> =
            sources.iter().map(|_| None).collect();
        let mut missing = outcomes.len();
        while missing > 0 && !cancel.is_cancelled() {
            match receive.recv_timeout(TICK) {
                Ok((place, outcome)) => {
                    outcomes[place] = Some(outcome);
                    missing -= 1;
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        let mut started = Self { states: Vec::new(), tools: Vec::new(), engine: Some(engine) };
        let mut taken = HashSet::new();
        for (server, outcome) in sources.into_iter().zip(outcomes) {
            started.take(server, outcome.unwrap_or_else(|| Err("cancelled".to_owned())), &mut taken);
        }
        started
    }

    /// What became of each server.
    pub fn states(&self) -> &[State] {
        &self.states
    }

    /// The tools of all servers.
    pub fn tools(&self) -> &[Arc<dyn Foreign>] {
        &self.tools
    }

    fn take(
        &mut self,
        server: Server,
        outcome: Result<(Link, Listing), String>,
        taken: &mut HashSet<String>,
    ) {
        let mut state = State {
            name: server.name,
            source: server.source,
            outcome: Ok(String::new()),
            tools: Vec::new(),
            warnings: Vec::new(),
        };
        match outcome {
            Err(why) => state.outcome = Err(shortened(&plain(&why), REASON)),
            Ok((link, listing)) => {
                let (offers, warnings) = offers(&state.name, listing.tools, taken);
                state.outcome = Ok(shortened(&plain(&listing.title), REASON));
                state.warnings = listing.warnings;
                state.warnings.extend(warnings);
                state.tools = offers.iter().map(|offer| offer.tool.clone()).collect();
                let link = Arc::new(link);
                if let Some(engine) = &mut self.engine {
                    engine.links.push(Arc::clone(&link));
                    let handle = &engine.handle;
                    self.tools.extend(offers.into_iter().map(|offer| -> Arc<dyn Foreign> {
                        Arc::new(Remote { offer, link: Arc::clone(&link), handle: handle.clone() })
                    }));
                }
            }
        }
        self.states.push(state);
    }
}

impl std::fmt::Debug for Servers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Servers").field("states", &self.states).finish_non_exhaustive()
    }
}

/// The thread on which all servers are heard.
struct Engine {
    handle: Handle,
    links: Vec<Arc<Link>>,
    stop: Option<oneshot::Sender<Vec<Arc<Link>>>>,
    thread: Option<JoinHandle<()>>,
}

impl Engine {
    fn start() -> Option<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().ok()?;
        let handle = runtime.handle().clone();
        let (stop, stopped) = oneshot::channel::<Vec<Arc<Link>>>();
        let run = move || {
            runtime.block_on(async {
                let links = stopped.await.unwrap_or_default();
                let ends: Vec<_> =
                    links.into_iter().map(|link| tokio::spawn(async move { link.end().await })).collect();
                let all = async {
                    for end in ends {
                        // One that broke down is ended when it is dropped.
                        let _ = end.await;
                    }
                };
                let _ = tokio::time::timeout(END, all).await;
            });
        };
        let thread = std::thread::Builder::new().name("mcp".to_owned()).spawn(run).ok()?;
        Some(Self { handle, links: Vec::new(), stop: Some(stop), thread: Some(thread) })
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            // It waits for nothing else.
            let _ = stop.send(std::mem::take(&mut self.links));
        }
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// A server that answers.
struct Link {
    name: String,
    timeout: Duration,
    peer: Peer<RoleClient>,
    service: Mutex<Option<RunningService<RoleClient, ClientConfig>>>,
    child: Mutex<Option<Child>>,
}

/// What a server says of itself.
struct Listing {
    title: String,
    tools: Vec<model::Tool>,
    warnings: Vec<String>,
}

async fn connect(server: Server, directory: PathBuf) -> Result<(Link, Listing), String> {
    let launch =
        server.launch.expanded(&|name| std::env::var(name).ok()).map_err(|error| error.to_string())?;
    let me = Implementation::new("del", env!("CARGO_PKG_VERSION"));
    let me = ClientConfig::new(ClientCapabilities::default(), me);
    let (service, child) = match launch {
        Launch::Program { command, arguments, environment, directory: own } => {
            let place = own.map_or_else(|| directory.clone(), |own| directory.join(own));
            let program = child::command(&command, &arguments, &environment, &place);
            let (mut child, output, input) = Child::start(program)
                .map_err(|error| format!("cannot start {command}: {}", config::plain(&error)))?;
            let transport = AsyncRwTransport::new_client(output, input).with_max_line_length(usize::MAX);
            match within(START, me.serve(transport)).await {
                Ok(Ok(service)) => (service, Some(child)),
                Ok(Err(error)) => {
                    let why = match error {
                        ClientInitializeError::ConnectionClosed(_)
                        | ClientInitializeError::TransportError { .. } => child.obituary().await,
                        other => other.to_string(),
                    };
                    child.end().await;
                    return Err(why);
                }
                Err(late) => {
                    child.end().await;
                    return Err(late);
                }
            }
        }
        Launch::Address { url, headers } => {
            let transport = address::transport(&url, &headers, START)?;
            let service =
                within(START, Box::pin(me.serve(transport))).await?.map_err(|error| match error {
                    ClientInitializeError::TransportError { error, .. } => chain(&error),
                    other => chain(&other),
                })?;
            (service, None)
        }
    };
    let link = Link {
        name: server.name,
        timeout: server.timeout.unwrap_or(CALL),
        peer: service.peer().clone(),
        service: Mutex::new(Some(service)),
        child: Mutex::new(child),
    };
    match within(START, link.listing()).await {
        Ok(Ok(listing)) => Ok((link, listing)),
        Ok(Err(why)) | Err(why) => {
            link.end().await;
            Err(why)
        }
    }
}

async fn within<T>(time: Duration, work: impl Future<Output = T>) -> Result<T, String> {
    tokio::time::timeout(time, work)
        .await
        .map_err(|_| format!("it did not answer within {} s", time.as_secs()))
}

impl Link {
    async fn listing(&self) -> Result<Listing, String> {
        let mut listing = Listing { title: self.title(), tools: Vec::new(), warnings: Vec::new() };
        let mut cursor = None;
        for _ in 0..PAGES {
            let params = Some(PaginatedRequestParams::default().with_cursor(cursor));
            let request = ListToolsRequest { params, ..ListToolsRequest::default() };
            let next = match self.peer.send_request(ClientRequest::ListToolsRequest(request)).await {
                Ok(ServerResult::ListToolsResult(page)) => {
                    listing.tools.extend(page.tools);
                    page.next_cursor
                }
                Ok(ServerResult::CustomResult(page)) => listing.take_loosely(&page.0),
                Ok(_) => return Err("its list of tools cannot be read".to_owned()),
                Err(error) => return Err(self.reason(error).await),
            };
            match next.filter(|next| !next.is_empty()) {
                Some(next) => cursor = Some(next),
                None => return Ok(listing),
            }
        }
        listing
            .warnings
            .push(format!("its list of tools goes on behind {PAGES} pages; the rest is left out"));
        Ok(listing)
    }

    fn title(&self) -> String {
        let info = self.peer.peer_info();
        let server = info.as_ref().and_then(|info| info.server_info.as_ref());
        server.map_or_else(String::new, |server| {
            format!("{} {}", server.name, server.version).trim().to_owned()
        })
    }

    /// Calls a tool; stops waiting when `stop` is cancelled, and tells the server.
    async fn call(
        &self,
        name: String,
        arguments: Map<String, Value>,
        stop: CancellationToken,
    ) -> Result<ToolResult, Failure> {
        let params = CallToolRequestParams::new(name).with_arguments(arguments);
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
        let sent = self.peer.send_cancellable_request(request, PeerRequestOptions::no_options());
        // A server that does not read its input holds up the sending as well.
        let sent = match tokio::time::timeout(self.timeout, sent).await {
            Ok(Ok(sent)) => sent,
            Ok(Err(error)) => return Err(self.failure(error).await),
            Err(_) => return Err(self.late()),
        };
        let id = sent.id.clone();
        let failure = tokio::select! {
            answer = sent.await_response() => match answer {
                Ok(ServerResult::CallToolResult(result)) => return Ok(content::result(result)),
                Ok(_) => return Err(self.failed("sent what is no result of a tool.")),
                Err(error) => return Err(self.failure(error).await),
            },
            () = stop.cancelled() => cancelled(),
            () = tokio::time::sleep(self.timeout) => self.late(),
        };
        let params = CancelledNotificationParam::new(Some(id), Some("nobody waits for it".to_owned()));
        // One that does not listen is not told.
        let _ = tokio::time::timeout(Duration::from_millis(500), self.peer.notify_cancelled(params)).await;
        Err(failure)
    }

    async fn failure(&self, error: ServiceError) -> Failure {
        let reason = self.reason(error).await;
        self.failed(&format!("failed: {}.", reason.trim_end_matches('.')))
    }

    fn late(&self) -> Failure {
        let cause =
            format!("the MCP server '{}' did not answer within {} s.", self.name, self.timeout.as_secs());
        Failure::new(Code::Timeout, cause)
    }

    fn failed(&self, how: &str) -> Failure {
        Failure::new(Code::System, format!("the MCP server '{}' {how}", self.name))
    }

    async fn reason(&self, error: ServiceError) -> String {
        let closed = self.peer.is_transport_closed();
        let text = match error {
            ServiceError::McpError(error) if !closed => error.message.to_string(),
            ServiceError::TransportSend(error) if !closed => chain(&error),
            error if !closed && !matches!(error, ServiceError::TransportClosed) => chain(&error),
            error => match &mut *self.child.lock().await {
                Some(child) => child.obituary().await,
                // Which of the two it was is not told.
                None if matches!(error, ServiceError::TransportClosed) => {
                    "its answer broke off, or was longer than 16 MiB".to_owned()
                }
                None => chain(&error),
            },
        };
        shortened(&plain(&text), REASON)
    }

    async fn end(&self) {
        if let Some(mut service) = self.service.lock().await.take() {
            // Its input is closed with it, whatever comes back.
            let _ = service.close_with_timeout(Duration::from_millis(500)).await;
        }
        if let Some(mut child) = self.child.lock().await.take() {
            child.end().await;
        }
    }
}

impl Listing {
    /// Takes the tools of a page that has tools which are none. The next page.
    fn take_loosely(&mut self, page: &Value) -> Option<String> {
        for tool in page["tools"].as_array().into_iter().flatten() {
            match serde_json::from_value(tool.clone()) {
                Ok(tool) => self.tools.push(tool),
                Err(error) => {
                    let name = shortened(&plain(tool["name"].as_str().unwrap_or_default()), 60);
                    self.warnings.push(format!(
                        "the tool '{name}' is left out: {}",
                        shortened(&plain(&error.to_string()), 100)
                    ));
                }
            }
        }
        page["nextCursor"].as_str().map(str::to_owned)
    }
}

/// A tool of a server.
struct Remote {
    offer: Offer,
    link: Arc<Link>,
    handle: Handle,
}

impl Foreign for Remote {
    fn tool(&self) -> &Tool {
        &self.offer.tool
    }

    fn server(&self) -> &str {
        &self.link.name
    }

    fn call(&self, arguments: Map<String, Value>, control: &Control<'_>) -> Result<ToolResult, Failure> {
        let (send, receive) = mpsc::channel();
        let stop = CancellationToken::new();
        let (link, name, stopped) = (Arc::clone(&self.link), self.offer.name.clone(), stop.clone());
        self.handle.spawn(async move {
            // After a cancellation nobody waits for it.
            let _ = send.send(link.call(name, arguments, stopped).await);
        });
        loop {
            match receive.recv_timeout(TICK) {
                Ok(outcome) => return outcome,
                Err(RecvTimeoutError::Timeout) if control.is_cancelled() => {
                    stop.cancel();
                    return Err(cancelled());
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(self.link.failed("has been stopped.")),
            }
        }
    }
}

fn cancelled() -> Failure {
    Failure::new(Code::Cancelled, "cancelled by the user.")
}
