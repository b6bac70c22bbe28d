//! Servers whose tools become tools of Del's models.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::Duration;

use del_dialects::Tool;
use del_tools::{Cancel, Control, Failure, Foreign, Progress, ToolResult};
use serde_json::{Map, Value};
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use crate::config::{Server, Source};
use crate::link::{Link, Listing, Outcome, REASON, cancelled, connect};
use crate::offer::{Offer, TOOLS, name, offers, plain, shortened};

/// Servers that were started, and those that still start. Dropping it ends them.
pub struct Servers {
    known: Vec<Server>,
    states: Vec<State>,
    tools: Vec<Arc<dyn Foreign>>,
    engine: Option<Engine>,
    starting: Vec<Starting>,
    /// How often one was started.
    starts: usize,
    outcomes: Receiver<(usize, Outcome)>,
    /// Names of tools.
    taken: HashSet<String>,
}

/// A server that starts, or has done so and was not taken in yet.
struct Starting {
    server: Server,
    /// The number of this start.
    number: usize,
    outcome: Option<Outcome>,
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

/// What has become other of the tools of servers that run.
#[derive(Default)]
pub struct Renewed {
    /// Tools that are new.
    pub added: Vec<Arc<dyn Foreign>>,
    /// The names of those that there are no more.
    pub gone: Vec<String>,
}

/// How long the end of all servers may take.
const END: Duration = Duration::from_secs(3);
const TICK: Duration = Duration::from_millis(20);
const MOMENT: Duration = Duration::from_millis(50);

impl Servers {
    /// Starts the servers, all at the same time, in `directory`, and does not wait for them. Those that are disabled are
    /// left out, those that take too long are given up.
    pub fn start(servers: Vec<Server>, directory: &Path) -> Self {
        let servers: Vec<Server> = servers.into_iter().filter(|server| !server.disabled).collect();
        let (started, outcomes) = mpsc::channel();
        let engine = if servers.is_empty() { None } else { Engine::start(directory, started) };
        let mut all = Self {
            known: servers.clone(),
            states: Vec::new(),
            tools: Vec::new(),
            engine,
            starting: Vec::new(),
            starts: 0,
            outcomes,
            taken: HashSet::new(),
        };
        for server in servers {
            all.begin(server, None);
        }
        all
    }

    /// Begins to start a server, once that has ended which it takes the place of.
    fn begin(&mut self, server: Server, before: Option<Arc<Link>>) {
        self.starts += 1;
        if let Some(engine) = &self.engine {
            engine.connect(self.starts, server.clone(), before);
        }
        self.starting.push(Starting { server, number: self.starts, outcome: None });
    }

    /// Ends a server, and begins to start it anew. The names of the tools that it had; nothing where there is no server of
    /// that name, or it still starts.
    pub fn restart(&mut self, name: &str) -> Option<Vec<String>> {
        let server = self.known.iter().find(|server| server.name == name)?.clone();
        let place = self.states.iter().position(|state| state.name == name)?;
        let gone: Vec<String> = self.states.remove(place).tools.into_iter().map(|tool| tool.name).collect();
        self.tools.retain(|tool| tool.server() != name);
        self.taken.retain(|taken| !gone.contains(taken));
        let links = self.engine.as_mut().map(|engine| &mut engine.links);
        let before = links.and_then(|links| links.extract_if(.., |link| link.name == name).next());
        self.begin(server, before);
        Some(gone)
    }

    /// Whether a server that was taken in can be heard no more.
    pub fn has_ended(&self, name: &str) -> bool {
        let mut links = self.engine.iter().flat_map(|engine| &engine.links);
        links.any(|link| link.name == name && link.has_ended())
    }

    /// Waits until all servers have started or failed, or `cancel` is set, and takes in those that have. What became of
    /// them.
    pub fn gather(&mut self, cancel: &Cancel) -> &[State] {
        self.receive();
        while self.starting.iter().any(|starting| starting.outcome.is_none()) && !cancel.is_cancelled() {
            match self.outcomes.recv_timeout(TICK) {
                Ok(outcome) => self.keep(outcome),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => self.give_up(),
            }
        }
        let before = self.states.len();
        for starting in std::mem::take(&mut self.starting) {
            match starting.outcome {
                Some(outcome) => self.take(starting.server, outcome),
                None => self.starting.push(starting),
            }
        }
        &self.states[before..]
    }

    /// The names of the servers that were not taken in yet.
    pub fn starting(&self) -> impl Iterator<Item = &str> {
        self.starting.iter().map(|starting| starting.server.name.as_str())
    }

    /// Keeps the outcomes that are there.
    fn receive(&mut self) {
        while let Ok(outcome) = self.outcomes.try_recv() {
            self.keep(outcome);
        }
    }

    fn keep(&mut self, (number, outcome): (usize, Outcome)) {
        if let Some(starting) = self.starting.iter_mut().find(|starting| starting.number == number) {
            starting.outcome = Some(outcome);
        }
    }

    fn give_up(&mut self) {
        for starting in &mut self.starting {
            starting.outcome.get_or_insert_with(|| Err("it cannot be started".to_owned()));
        }
    }

    /// What became of each server.
    pub fn states(&self) -> &[State] {
        &self.states
    }

    /// The tools of all servers.
    pub fn tools(&self) -> &[Arc<dyn Foreign>] {
        &self.tools
    }

    /// Whether a server has said that its tools are others.
    pub fn have_news(&self) -> bool {
        let mut links = self.engine.iter().flat_map(|engine| &engine.links);
        links.any(|link| link.ear.has_news())
    }

    /// Asks the servers that have said that their tools are others for the list once more, until `cancel` is set. A tool
    /// that stays is as it was, whatever the list says of it now.
    pub fn renew(&mut self, cancel: &Cancel) -> Renewed {
        let mut renewed = Renewed::default();
        let (send, listings) = mpsc::channel();
        for (engine, link) in
            self.engine.iter().flat_map(|engine| engine.links.iter().map(move |link| (engine, link)))
        {
            if link.ear.tools_changed() {
                let (send, link) = (send.clone(), Arc::clone(link));
                engine.handle.spawn(async move {
                    // Nobody may be there any more who wants to know.
                    let _ = send.send((Arc::clone(&link), link.listing_anew().await));
                });
            }
        }
        drop(send);
        loop {
            match listings.recv_timeout(TICK) {
                Ok((link, Ok(listing))) => self.follow(&link, listing, &mut renewed),
                // It is asked again when it says so again.
                Ok((_, Err(_))) => {}
                Err(RecvTimeoutError::Timeout) if !cancel.is_cancelled() => {}
                Err(_) => return renewed,
            }
        }
    }

    /// Takes over what is new in the list of a server, and what is gone.
    fn follow(&mut self, link: &Arc<Link>, mut listing: Listing, renewed: &mut Renewed) {
        let Some(state) = self.states.iter_mut().find(|state| state.name == link.name) else { return };
        let listed: HashSet<String> =
            listing.tools.iter().map(|tool| name(&state.name, &tool.name)).collect();
        for tool in state.tools.extract_if(.., |tool| !listed.contains(&tool.name)) {
            self.tools.retain(|other| other.tool().name != tool.name);
            self.taken.remove(&tool.name);
            renewed.gone.push(tool.name);
        }
        listing.tools.retain(|tool| !self.taken.contains(&name(&state.name, &tool.name)));
        let (mut offers, warnings) = offers(&state.name, listing.tools, &mut self.taken);
        // However often it comes with more.
        for offer in offers.drain(offers.len().min(TOOLS.saturating_sub(state.tools.len()))..) {
            self.taken.remove(&offer.tool.name);
        }
        state.warnings.extend(warnings);
        state.tools.extend(offers.iter().map(|offer| offer.tool.clone()));
        if let Some(engine) = &self.engine {
            let added = engine.tools(link, offers);
            renewed.added.extend(added.inspect(|tool| self.tools.push(Arc::clone(tool))));
        }
    }

    fn take(&mut self, server: Server, outcome: Outcome) {
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
                let (offers, warnings) = offers(&state.name, listing.tools, &mut self.taken);
                state.outcome = Ok(shortened(&plain(&listing.title), REASON));
                state.warnings = listing.warnings;
                state.warnings.extend(warnings);
                state.tools = offers.iter().map(|offer| offer.tool.clone()).collect();
                let link = Arc::new(link);
                if let Some(engine) = &mut self.engine {
                    engine.links.push(Arc::clone(&link));
                    self.tools.extend(engine.tools(&link, offers));
                }
            }
        }
        self.states.push(state);
    }
}

impl Drop for Servers {
    fn drop(&mut self) {
        self.receive();
        // Those that nobody has taken in end like the others.
        let links = self.starting.drain(..).filter_map(|starting| starting.outcome?.ok());
        if let Some(engine) = &mut self.engine {
            engine.links.extend(links.map(|(link, _)| Arc::new(link)));
        }
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
    directory: PathBuf,
    started: Sender<(usize, Outcome)>,
    links: Vec<Arc<Link>>,
    stop: Option<oneshot::Sender<Vec<Arc<Link>>>>,
    thread: Option<JoinHandle<()>>,
}

impl Engine {
    fn start(directory: &Path, started: Sender<(usize, Outcome)>) -> Option<Self> {
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
        let directory = directory.to_owned();
        Some(Self { handle, directory, started, links: Vec::new(), stop: Some(stop), thread: Some(thread) })
    }

    /// Begins to start a server; the outcome of the start with this number says what becomes of it.
    fn connect(&self, number: usize, server: Server, before: Option<Arc<Link>>) {
        let (started, directory) = (self.started.clone(), self.directory.clone());
        self.handle.spawn(async move {
            if let Some(before) = before {
                before.end().await;
            }
            let outcome = tokio::spawn(connect(server, directory)).await;
            let outcome = outcome.unwrap_or_else(|_| Err("it broke down; this is a fault of Del".to_owned()));
            // Nobody may be there any more who wants to know.
            let _ = started.send((number, outcome));
        });
    }

    fn tools(&self, link: &Arc<Link>, offers: Vec<Offer>) -> impl Iterator<Item = Arc<dyn Foreign>> {
        offers.into_iter().map(|offer| -> Arc<dyn Foreign> {
            Arc::new(Remote { offer, link: Arc::clone(link), handle: self.handle.clone() })
        })
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

/// What comes of a call.
enum Said {
    Step(String),
    Outcome(Result<ToolResult, Failure>),
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
            // After a cancellation nobody waits for any of it.
            let step = |told| drop(send.send(Said::Step(told)));
            let outcome = link.call(name, arguments, stopped, step).await;
            // What the server says along with its answer may come another way, a moment later.
            tokio::time::sleep(MOMENT).await;
            let _ = send.send(Said::Outcome(outcome));
        });
        loop {
            match receive.recv_timeout(TICK) {
                Ok(Said::Outcome(outcome)) => return outcome,
                Ok(Said::Step(told)) => control.report(Progress::Output(&format!("{told}\n"))),
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
