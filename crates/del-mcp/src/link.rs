//! One server: how it is reached, asked for its tools, and called.

use std::path::PathBuf;
use std::pin::pin;
use std::time::Duration;

use del_tools::{Code, Failure, ToolResult, plain_error};
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
use tokio::sync::Mutex;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::address::{self, chain};
use crate::child::{self, Child};
use crate::config::{Launch, Server};
use crate::content;
use crate::ear::Ear;
use crate::offer::{plain, shortened};

/// How long a server may take to start and to list its tools where the configuration does not say. A first start may
/// download what it runs.
const START: Duration = Duration::from_secs(60);
/// How long a call may take where the configuration does not say.
const CALL: Duration = Duration::from_secs(120);
/// How many times as long a call may take that tells of its progress.
const LONGEST: u32 = 10;
/// Pages of a list of tools.
const PAGES: usize = 32;
/// Characters of what a server says of a failure.
pub(crate) const REASON: usize = 500;

/// A server that answers.
pub(crate) struct Link {
    pub(crate) name: String,
    timeout: Duration,
    peer: Peer<RoleClient>,
    pub(crate) ear: Ear,
    service: Mutex<Option<RunningService<RoleClient, Ear>>>,
    child: Mutex<Option<Child>>,
}

/// What a server says of itself.
pub(crate) struct Listing {
    pub(crate) title: String,
    pub(crate) tools: Vec<model::Tool>,
    pub(crate) warnings: Vec<String>,
}

/// How long a server may take, and until when that is.
struct Deadline {
    limit: Duration,
    until: Instant,
}

/// What became of the start of a server; in words, if it failed.
pub(crate) type Outcome = Result<(Link, Listing), String>;

/// Starts a server, and asks it for its tools.
pub(crate) async fn connect(server: Server, directory: PathBuf) -> Outcome {
    let deadline = Deadline::new(server.timeout.unwrap_or(START));
    let launch =
        server.launch.expanded(&|name| std::env::var(name).ok()).map_err(|error| error.to_string())?;
    let me = Implementation::new("del", env!("CARGO_PKG_VERSION"));
    let me = Ear::new(ClientConfig::new(ClientCapabilities::default(), me));
    let (service, child) = match launch {
        Launch::Program { command, arguments, environment, directory: own } => {
            let place = own.map_or_else(|| directory.clone(), |own| directory.join(own));
            let program = child::command(&command, &arguments, &environment, &place);
            let (mut child, output, input) = Child::start(program)
                .map_err(|error| format!("cannot start {command}: {}", plain_error(&error)))?;
            let transport = AsyncRwTransport::new_client(output, input).with_max_line_length(usize::MAX);
            match deadline.within(Box::pin(me.serve(transport))).await {
                Ok(Ok(service)) => (service, Some(child)),
                Ok(Err(error)) => {
                    let why = match error {
                        ClientInitializeError::ConnectionClosed(_)
                        | ClientInitializeError::TransportError { .. } => child.obituary().await,
                        ClientInitializeError::ExpectedInitResult(_) => {
                            "its answer to `initialize` cannot be read".to_owned()
                        }
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
            let transport = address::transport(&url, &headers, deadline.limit)?;
            let service =
                deadline.within(Box::pin(me.serve(transport))).await?.map_err(|error| match error {
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
        ear: service.service().clone(),
        service: Mutex::new(Some(service)),
        child: Mutex::new(child),
    };
    match deadline.within(link.listing()).await {
        Ok(Ok(listing)) => Ok((link, listing)),
        Ok(Err(why)) | Err(why) => {
            link.end().await;
            Err(why)
        }
    }
}

impl Deadline {
    fn new(limit: Duration) -> Self {
        Self { limit, until: Instant::now() + limit }
    }

    async fn within<T>(&self, work: impl Future<Output = T>) -> Result<T, String> {
        tokio::time::timeout_at(self.until, work).await.map_err(|_| {
            let seconds = self.limit.as_secs();
            format!(
                "it did not answer within {seconds} s; try again, for a first start takes longest, or give it more \
                 with `del mcp add --timeout`"
            )
        })
    }
}

impl Link {
    /// Whether it can be heard no more.
    pub(crate) fn has_ended(&self) -> bool {
        self.peer.is_transport_closed()
    }

    /// Its tools as they are now.
    pub(crate) async fn listing_anew(&self) -> Result<Listing, String> {
        Deadline::new(self.timeout).within(self.listing()).await?
    }

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

    /// Calls a tool, and tells `step` how far it is; stops waiting when `stop` is cancelled, and tells the server. A call
    /// that goes on may take longer than one that says nothing.
    pub(crate) async fn call(
        &self,
        name: String,
        arguments: Map<String, Value>,
        stop: CancellationToken,
        step: impl Fn(String),
    ) -> Result<ToolResult, Failure> {
        let params = CallToolRequestParams::new(name).with_arguments(arguments);
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
        let sent = self.peer.send_cancellable_request(request, PeerRequestOptions::no_options());
        // A server that does not read its input holds up the sending as well.
        let sent = match tokio::time::timeout(self.timeout, sent).await {
            Ok(Ok(sent)) => sent,
            Ok(Err(error)) => return Err(self.failure(error).await),
            Err(_) => return Err(self.late(self.timeout)),
        };
        let id = sent.id.clone();
        let mut heard = self.ear.listen(sent.progress_token.clone());
        let mut answer = pin!(sent.await_response());
        let longest = self.timeout * LONGEST;
        let end = Instant::now() + longest;
        let mut until = Instant::now() + self.timeout;
        let failure = loop {
            tokio::select! {
                biased;
                answer = &mut answer => match answer {
                    Ok(ServerResult::CallToolResult(result)) => return Ok(content::result(result)),
                    // What is not all as the protocol has it.
                    Ok(ServerResult::CustomResult(other)) => {
                        let read = content::read(&other.0);
                        return read.ok_or_else(|| self.failed("sent what is no result of a tool."));
                    }
                    Ok(_) => return Err(self.failed("sent what is no result of a tool.")),
                    Err(error) => return Err(self.failure(error).await),
                },
                () = stop.cancelled() => break cancelled(),
                () = tokio::time::sleep_until(until) => {
                    break self.late(if until == end { longest } else { self.timeout });
                }
                Some(told) = heard.steps.recv() => {
                    step(told);
                    until = end.min(Instant::now() + self.timeout);
                }
            }
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

    fn late(&self, limit: Duration) -> Failure {
        let cause = format!("the MCP server '{}' did not answer within {} s.", self.name, limit.as_secs());
        Failure::new(Code::Timeout, cause)
    }

    pub(crate) fn failed(&self, how: &str) -> Failure {
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

    pub(crate) async fn end(&self) {
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

pub(crate) fn cancelled() -> Failure {
    Failure::new(Code::Cancelled, "cancelled by the user.")
}
