//! The conversations of an editor: each at a desk of its own, a thread that takes one request after the other.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, UNIX_EPOCH};

use agent_client_protocol::v1::schema::{
    ClientCapabilities, ConfigOptionUpdate, CurrentModeUpdate, ListSessionsRequest, ListSessionsResponse,
    LoadSessionRequest, LoadSessionResponse, McpServer, NewSessionRequest, NewSessionResponse, PromptRequest,
    PromptResponse, ResumeSessionRequest, ResumeSessionResponse, SessionId, SessionInfo, SessionNotification,
    SessionUpdate, SetSessionConfigOptionRequest, SetSessionConfigOptionResponse, SetSessionModeRequest,
    SetSessionModeResponse,
};
use agent_client_protocol::v1::{ConnectionTo, Responder};
use agent_client_protocol::{Client, Error};
use anyhow::Result;
use del_wire::time::rfc3339;

use super::OptionsFor;
use super::commands;
use super::editor::{Editor, Stop};
use super::setup::{self, Setup};
use super::worker::Worker;
use crate::common::Common;
use crate::consent::Asked;
use crate::exit::{self, Exit};
use crate::keeping;
use crate::record::Store;
use crate::session::Session;

/// Requests that one question may cost.
const MAX_TURNS: u32 = 50;
/// What a conversation does has so long to stop before another one takes it up.
const PATIENCE: Duration = Duration::from_secs(10);

/// All conversations of one editor.
#[derive(Clone)]
pub(super) struct Desks {
    shared: Arc<Shared>,
}

struct Shared {
    common: Common,
    options: OptionsFor,
    open: Mutex<HashMap<String, Desk>>,
    /// Those that stop, until they are gone.
    leaving: Mutex<HashMap<String, Receiver<()>>>,
    threads: Mutex<Vec<JoinHandle<()>>>,
    editor: Mutex<ClientCapabilities>,
}

/// Where one conversation is reached.
struct Desk {
    jobs: Sender<Job>,
    stop: Stop,
    setup: Setup,
    /// Hangs up once nobody sits there any more.
    gone: Receiver<()>,
}

/// How a conversation begins.
pub(super) enum Begin {
    New(NewSessionRequest, Responder<NewSessionResponse>),
    /// One that was kept; what was said is told again.
    Load(LoadSessionRequest, Responder<LoadSessionResponse>),
    /// One that was kept; the editor remembers what was said.
    Resume(ResumeSessionRequest, Responder<ResumeSessionResponse>),
}

/// What a conversation is asked to do.
pub(super) enum Job {
    Prompt(PromptRequest, Responder<PromptResponse>),
    Option(SetSessionConfigOptionRequest, Responder<SetSessionConfigOptionResponse>),
}

impl Desks {
    pub(super) fn new(common: Common, options: OptionsFor) -> Self {
        let shared = Shared {
            common,
            options,
            open: Mutex::default(),
            leaving: Mutex::default(),
            threads: Mutex::default(),
            editor: Mutex::default(),
        };
        Self { shared: Arc::new(shared) }
    }

    /// Learns what the editor can do.
    pub(super) fn meet(&self, capabilities: ClientCapabilities) {
        *lock(&self.shared.editor) = capabilities;
    }

    /// Opens a conversation on a thread of its own, which answers.
    pub(super) fn begin(&self, begin: Begin, editor: ConnectionTo<Client>) -> Result<(), Error> {
        let desks = self.clone();
        let thread = std::thread::Builder::new().name("conversation".to_owned());
        match thread.spawn(move || desks.sit_down(begin, &editor)) {
            Ok(thread) => lock(&self.shared.threads).push(thread),
            // The responder is gone with the thread, and its end tells the editor.
            Err(error) => return Err(Error::into_internal_error(error)),
        }
        Ok(())
    }

    /// Hands a request to a conversation.
    pub(super) fn hand(&self, session: &SessionId, job: Job) -> Result<(), Error> {
        let open = lock(&self.shared.open);
        let jobs = open.get(session.0.as_ref()).map(|desk| {
            if matches!(job, Job::Prompt(..)) {
                desk.stop.expect();
            }
            desk.jobs.clone()
        });
        drop(open);
        let sent = match jobs {
            Some(jobs) => jobs.send(job),
            None => Err(mpsc::SendError(job)),
        };
        match sent {
            Ok(()) => Ok(()),
            Err(mpsc::SendError(Job::Prompt(_, responder))) => responder.respond_with_error(unknown(session)),
            Err(mpsc::SendError(Job::Option(_, responder))) => responder.respond_with_error(unknown(session)),
        }
    }

    /// Sets the mode, by the request for it.
    pub(super) fn set_mode(
        &self,
        request: &SetSessionModeRequest,
        responder: Responder<SetSessionModeResponse>,
        editor: &ConnectionTo<Client>,
    ) -> Result<(), Error> {
        let (session, mode) = (&request.session_id, &request.mode_id.0);
        match self.switch(session, mode) {
            Err(error) => responder.respond_with_error(error),
            Ok(setup) => {
                responder.respond(SetSessionModeResponse::new())?;
                tell_mode(session, mode, editor)?;
                let update = SessionUpdate::ConfigOptionUpdate(ConfigOptionUpdate::new(setup.options()));
                editor.send_notification(SessionNotification::new(session.clone(), update))
            }
        }
    }

    /// Sets an option: the mode at once, the model when what is under way is over.
    pub(super) fn set_option(
        &self,
        request: SetSessionConfigOptionRequest,
        responder: Responder<SetSessionConfigOptionResponse>,
        editor: &ConnectionTo<Client>,
    ) -> Result<(), Error> {
        let session = request.session_id.clone();
        let mode = request.value.as_value_id().filter(|_| request.config_id.0.as_ref() == setup::MODE);
        let Some(mode) = mode.cloned() else { return self.hand(&session, Job::Option(request, responder)) };
        match self.switch(&session, &mode.0) {
            Err(error) => responder.respond_with_error(error),
            Ok(setup) => {
                responder.respond(SetSessionConfigOptionResponse::new(setup.options()))?;
                tell_mode(&session, &mode.0, editor)
            }
        }
    }

    fn switch(&self, session: &SessionId, mode: &str) -> Result<Setup, Error> {
        let open = lock(&self.shared.open);
        let setup = &open.get(session.0.as_ref()).ok_or_else(|| unknown(session))?.setup;
        setup.set_mode(mode)?;
        Ok(setup.clone())
    }

    /// Stops what a conversation does.
    pub(super) fn cancel(&self, session: &SessionId) {
        if let Some(desk) = lock(&self.shared.open).get(session.0.as_ref()) {
            desk.stop.stop();
        }
    }

    /// Ends a conversation; what was kept of it stays.
    pub(super) fn close(&self, session: &SessionId) {
        if let Some(desk) = lock(&self.shared.open).remove(session.0.as_ref()) {
            desk.stop.stop();
            lock(&self.shared.leaving).insert(session.0.as_ref().to_owned(), desk.gone);
        }
    }

    /// The same, and waits until it has let go of what is kept.
    fn take_from_desk(&self, session: &SessionId) {
        self.close(session);
        let leaving = lock(&self.shared.leaving).remove(session.0.as_ref());
        if let Some(gone) = leaving {
            // Nothing is ever sent. Where it takes longer, the conversation is found to be busy.
            let _ = gone.recv_timeout(PATIENCE);
        }
    }

    /// Ends all, and waits until what they run has ended.
    pub(super) fn close_all(&self) {
        for (_, desk) in lock(&self.shared.open).drain() {
            desk.stop.stop();
        }
        for thread in std::mem::take(&mut *lock(&self.shared.threads)) {
            // One that broke down has ended as well.
            let _ = thread.join();
        }
    }

    /// The conversations that are kept.
    pub(super) fn list(request: &ListSessionsRequest) -> ListSessionsResponse {
        let directory =
            request.cwd.as_deref().map(|cwd| cwd.canonicalize().unwrap_or_else(|_| cwd.to_owned()));
        let found = Store::find().map(|store| store.list(directory.as_deref())).unwrap_or_default();
        let row = |summary: crate::record::Summary| {
            let changed = summary.changed.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
            SessionInfo::new(summary.head.id, summary.head.working_dir)
                .title(summary.title)
                .updated_at(rfc3339(changed))
        };
        ListSessionsResponse::new(found.into_iter().map(row).collect())
    }

    /// The life of a conversation.
    fn sit_down(&self, begin: Begin, editor: &ConnectionTo<Client>) {
        match begin {
            Begin::New(request, responder) => {
                let opened = self.open(
                    editor,
                    &request.cwd,
                    &request.additional_directories,
                    &request.mcp_servers,
                    None,
                );
                work(opened, responder, false, |worker| {
                    NewSessionResponse::new(worker.editor.session.clone())
                        .modes(worker.setup.modes())
                        .config_options(worker.setup.options())
                });
            }
            Begin::Load(request, responder) => {
                let (more, id) = (&request.additional_directories, &request.session_id);
                let opened = self.open(editor, &request.cwd, more, &request.mcp_servers, Some(id));
                work(opened, responder, true, |worker| {
                    LoadSessionResponse::new()
                        .modes(worker.setup.modes())
                        .config_options(worker.setup.options())
                });
            }
            Begin::Resume(request, responder) => {
                let (more, id) = (&request.additional_directories, &request.session_id);
                let opened = self.open(editor, &request.cwd, more, &request.mcp_servers, Some(id));
                work(opened, responder, false, |worker| {
                    ResumeSessionResponse::new()
                        .modes(worker.setup.modes())
                        .config_options(worker.setup.options())
                });
            }
        }
    }

    fn open(
        &self,
        editor: &ConnectionTo<Client>,
        directory: &Path,
        more: &[PathBuf],
        given: &[McpServer],
        kept: Option<&SessionId>,
    ) -> Result<(Worker, Receiver<Job>)> {
        let Shared { common, options, open, editor: capabilities, .. } = &*self.shared;
        for path in std::iter::once(directory).chain(more.iter().map(PathBuf::as_path)) {
            if !(path.is_absolute() && path.is_dir()) {
                let got = path.display();
                return Err(
                    Exit::BadInput.because(format!("expected the absolute path of a directory, got {got}"))
                );
            }
        }
        let (servers, left_out) = setup::servers(given);
        let options = options(directory)?.for_a_host(directory, more, servers);
        let mut session = Session::open(&options, common, MAX_TURNS)?;
        if let Some(id) = kept {
            self.take_from_desk(id);
            let store =
                Store::find().ok_or_else(|| Exit::Configuration.because("there is no home directory"))?;
            let (kept, record) = store.take_up(&id.0).map_err(|trouble| keeping::refused(&trouble))?;
            session.take_up(kept, record)?;
        }
        session.let_plan()?;
        let id = kept.cloned().unwrap_or_else(|| SessionId::new(session.record.id().to_owned()));
        let stop = Stop::new(session.interrupt.clone());
        let told = lock(capabilities).session.as_ref().is_some_and(|session| session.notices.is_some());
        let directory = session.hands.toolbox.directory().to_owned();
        let editor = Editor::new(editor.clone(), id.clone(), directory, stop.clone(), told);
        if told {
            let editor = editor.clone();
            crate::say_to(move |line| editor.notice(line));
        }
        for name in left_out {
            crate::say(format!(
                "the MCP server '{name}' is left out: expected stdio or streamable HTTP, got SSE"
            ));
        }
        session.let_host_ask(Asked::host(editor.clone()));
        let (jobs, received) = mpsc::channel();
        let setup = Setup::new(&session);
        let (here, gone) = mpsc::channel();
        let desk = Desk { jobs, stop, setup: setup.clone(), gone };
        lock(open).insert(id.0.as_ref().to_owned(), desk);
        Ok((Worker { session, editor, setup, _here: here }, received))
    }
}

/// Answers that a conversation is open, and serves it to its end.
fn work<R: agent_client_protocol::JsonRpcResponse>(
    opened: Result<(Worker, Receiver<Job>)>,
    responder: Responder<R>,
    recalls: bool,
    response: impl FnOnce(&Worker) -> R,
) {
    // An editor that does not hear has hung up, and then this ends by itself.
    let _ = match opened {
        Err(error) => responder.respond_with_error(refusal(&error)),
        Ok((mut worker, jobs)) => {
            if recalls {
                worker.recall();
            }
            let answered = responder.respond(response(&worker));
            let available = commands::available(worker.session.prompts());
            worker.editor.update(SessionUpdate::AvailableCommandsUpdate(available));
            worker.serve(&jobs);
            answered
        }
    };
}

pub(super) fn refusal(error: &anyhow::Error) -> Error {
    let message = exit::line(error);
    match Exit::of(error) {
        Exit::Authentication => Error::auth_required().data(message),
        Exit::Usage | Exit::BadInput => Error::invalid_params().data(message),
        _ => Error::new(Error::internal_error().code, message),
    }
}

fn tell_mode(session: &SessionId, mode: &str, editor: &ConnectionTo<Client>) -> Result<(), Error> {
    let update = SessionUpdate::CurrentModeUpdate(CurrentModeUpdate::new(mode.to_owned()));
    editor.send_notification(SessionNotification::new(session.clone(), update))
}

fn unknown(session: &SessionId) -> Error {
    Error::invalid_params().data(format!("there is no open session {}", session.0))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
