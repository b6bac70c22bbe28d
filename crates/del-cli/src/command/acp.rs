//! `del acp`: the assistant for editors, which speak the Agent Client Protocol on standard input and output.
//!
//! The connection belongs to the main thread. Each conversation has a thread of its own, which takes one request after
//! the other: a `Desk`.

mod commands;
mod desk;
mod editor;
mod prompt;
mod setup;
mod shown;
mod worker;

use std::io::{BufRead, Write};
use std::path::Path;

use agent_client_protocol::schema::ProtocolVersion;
use agent_client_protocol::v1::schema::{
    AgentCapabilities, CancelNotification, CloseSessionRequest, CloseSessionResponse, Implementation,
    InitializeRequest, InitializeResponse, ListSessionsRequest, LoadSessionRequest, McpCapabilities,
    NewSessionRequest, PromptCapabilities, PromptRequest, ResumeSessionRequest,
    SessionAdditionalDirectoriesCapabilities, SessionCapabilities, SessionCloseCapabilities,
    SessionListCapabilities, SessionResumeCapabilities, SetSessionConfigOptionRequest, SetSessionModeRequest,
};
use agent_client_protocol::{Agent, Error, Lines, on_receive_notification, on_receive_request};
use anyhow::Result;
use clap::Args;
use futures::channel::mpsc;
use futures::sink;

use crate::common::Common;
use crate::exit::Exit;
use crate::session::SessionOptions;
use desk::{Begin, Desks, Job};

/// Work for an editor, by the Agent Client Protocol on standard input and output
#[derive(Debug, Args)]
pub(crate) struct Options {
    #[command(flatten)]
    pub(crate) session: SessionOptions,
}

/// The options of a conversation in a directory: what the program was given, with what files say there.
pub(crate) type OptionsFor = fn(&Path) -> Result<SessionOptions>;

pub(crate) fn run(options: &Options, common: &Common, there: OptionsFor) -> Result<Exit> {
    if options.session.goes_on() {
        return Err(
            Exit::Usage.because("the editor says which session goes on; leave out --continue and --resume")
        );
    }
    let desks = Desks::new(common.clone(), there);
    let ended = futures::executor::block_on(serve(&desks));
    desks.close_all();
    ended
        .map(|()| Exit::Done)
        .map_err(|error| Exit::Failed.because(format!("the editor's protocol: {error}")))
}

/// Answers the editor until it hangs up.
async fn serve(desks: &Desks) -> Result<(), Error> {
    let [new, load, resume, close, prompt, mode, option, cancel] = std::array::from_fn(|_| desks.clone());
    let begin = desks.clone();
    Agent
        .v1()
        .name("del")
        .on_receive_request(
            async move |request: InitializeRequest, responder, _| {
                begin.meet(request.client_capabilities);
                responder.respond(introduction())
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: NewSessionRequest, responder, editor| {
                new.begin(Begin::New(request, responder), editor)
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: LoadSessionRequest, responder, editor| {
                load.begin(Begin::Load(request, responder), editor)
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: ResumeSessionRequest, responder, editor| {
                resume.begin(Begin::Resume(request, responder), editor)
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: CloseSessionRequest, responder, _| {
                close.close(&request.session_id);
                responder.respond(CloseSessionResponse::new())
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: ListSessionsRequest, responder, _| responder.respond(Desks::list(&request)),
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: PromptRequest, responder, _| {
                let session = request.session_id.clone();
                prompt.hand(&session, Job::Prompt(request, responder))
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: SetSessionModeRequest, responder, editor| {
                mode.set_mode(&request, responder, &editor)
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: SetSessionConfigOptionRequest, responder, editor| {
                option.set_option(request, responder, &editor)
            },
            on_receive_request!(),
        )
        .on_receive_notification(
            async move |request: CancelNotification, _| {
                cancel.cancel(&request.session_id);
                Ok(())
            },
            on_receive_notification!(),
        )
        .connect_to(standard_streams())
        .await
}

/// What this program can do.
fn introduction() -> InitializeResponse {
    let session = SessionCapabilities::new()
        .list(SessionListCapabilities::new())
        .resume(SessionResumeCapabilities::new())
        .close(SessionCloseCapabilities::new())
        .additional_directories(SessionAdditionalDirectoriesCapabilities::new());
    let capabilities = AgentCapabilities::new()
        .load_session(true)
        .prompt_capabilities(PromptCapabilities::new().embedded_context(true).image(true))
        .mcp_capabilities(McpCapabilities::new().http(true))
        .session_capabilities(session);
    InitializeResponse::new(ProtocolVersion::V1)
        .agent_capabilities(capabilities)
        .agent_info(Implementation::new("del", env!("CARGO_PKG_VERSION")).title("Del".to_owned()))
}

type Writer = dyn Send + Unpin + futures::Sink<String, Error = std::io::Error>;

/// Standard input, which a thread of its own reads, and standard output, a message a line.
fn standard_streams() -> Lines<Box<Writer>, mpsc::UnboundedReceiver<std::io::Result<String>>> {
    let (tell, told) = mpsc::unbounded();
    std::thread::spawn(move || {
        let mut input = std::io::stdin().lock();
        loop {
            let mut line = Vec::new();
            let line = match input.read_until(b'\n', &mut line) {
                Ok(0) => break,
                Ok(_) => Ok(text(line)),
                Err(error) => Err(error),
            };
            if tell.unbounded_send(line).is_err() {
                break;
            }
        }
    });
    let write = sink::unfold((), async |(), line: String| {
        let mut out = std::io::stdout().lock();
        out.write_all(format!("{line}\n").as_bytes())?;
        out.flush()
    });
    Lines::new(Box::new(Box::pin(write)), told)
}

/// A line as text. One that is none is made what no message is, so that it is answered like any other broken one.
fn text(line: Vec<u8>) -> String {
    String::from_utf8(line)
        .unwrap_or_else(|error| format!("no UTF-8: {}", String::from_utf8_lossy(error.as_bytes())))
}
