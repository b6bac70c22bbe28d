//! `del acp`, driven by the protocol's own client.

mod lines;

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::{Arc, Mutex};

use agent_client_protocol::schema::ProtocolVersion;
use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema::{
    CancelNotification, CloseSessionRequest, ContentBlock, InitializeRequest, LoadSessionRequest, McpServer,
    McpServerStdio, NewSessionRequest, PromptRequest, RequestPermissionOutcome, RequestPermissionRequest,
    RequestPermissionResponse, SelectedPermissionOutcome, SessionConfigOptionValue, SessionId,
    SessionNotification, SessionUpdate, SetSessionConfigOptionRequest, SetSessionModeRequest, StopReason,
    ToolCallContent, ToolCallStatus,
};
use agent_client_protocol::{Agent, Client, Error, Lines, on_receive_notification, on_receive_request};
use futures::channel::mpsc;
use futures::sink;
use serde_json::json;
use tempfile::TempDir;

use crate::del::{del, directory, run};
use crate::server::{About, Reply, Server, calls, says, thinks, words};

/// What an editor saw and was asked.
#[derive(Clone, Default)]
struct Seen {
    updates: Arc<Mutex<Vec<SessionUpdate>>>,
    questions: Arc<Mutex<Vec<RequestPermissionRequest>>>,
}

impl Seen {
    fn updates(&self) -> Vec<SessionUpdate> {
        self.updates.lock().unwrap().clone()
    }

    fn questions(&self) -> Vec<RequestPermissionRequest> {
        self.questions.lock().unwrap().clone()
    }

    /// The text of the answers.
    fn said(&self) -> String {
        let text = |update: &SessionUpdate| match update {
            SessionUpdate::AgentMessageChunk(chunk) => text_of(&chunk.content),
            _ => None,
        };
        self.updates().iter().filter_map(text).collect()
    }

    fn thought(&self) -> String {
        let text = |update: &SessionUpdate| match update {
            SessionUpdate::AgentThoughtChunk(chunk) => text_of(&chunk.content),
            _ => None,
        };
        self.updates().iter().filter_map(text).collect()
    }
}

fn text_of(block: &ContentBlock) -> Option<String> {
    match block {
        ContentBlock::Text(text) => Some(text.text.clone()),
        _ => None,
    }
}

/// The program, in the home directory `home`.
fn start(server: &Server, home: &Path, options: &[&str]) -> Child {
    let mut all = vec!["acp", "--base-url", server.url()];
    all.extend(options);
    del(&all)
        .env("XDG_STATE_HOME", home)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// Lets an editor do its work with the program, and answers every question with the option of this id.
fn drive<T>(
    mut child: Child,
    answer: &'static str,
    work: impl AsyncFnOnce(ConnectionTo<Agent>, &Seen) -> Result<T, Error>,
) -> (T, Seen) {
    let input = child.stdin.take().unwrap();
    let output = BufReader::new(child.stdout.take().unwrap());
    let (tell, told) = mpsc::unbounded();
    std::thread::spawn(move || output.lines().try_for_each(|line| tell.unbounded_send(line).map_err(drop)));
    let write = sink::unfold(input, async |mut input, line: String| {
        input.write_all(format!("{line}\n").as_bytes())?;
        input.flush().map(|()| input)
    });
    let seen = Seen::default();
    let (updates, questions) = (seen.clone(), seen.clone());
    let done = futures::executor::block_on(
        Client
            .v1()
            .on_receive_notification(
                async move |notification: SessionNotification, _| {
                    updates.updates.lock().unwrap().push(notification.update);
                    Ok(())
                },
                on_receive_notification!(),
            )
            .on_receive_request(
                async move |request: RequestPermissionRequest, responder, _| {
                    questions.questions.lock().unwrap().push(request);
                    let selected = SelectedPermissionOutcome::new(answer);
                    responder
                        .respond(RequestPermissionResponse::new(RequestPermissionOutcome::Selected(selected)))
                },
                on_receive_request!(),
            )
            .connect_with(Lines::new(Box::pin(write), told), async |agent: ConnectionTo<Agent>| {
                let met =
                    agent.send_request(InitializeRequest::new(ProtocolVersion::V1)).block_task().await?;
                assert!(met.agent_capabilities.load_session, "{met:?}");
                work(agent, &seen).await
            }),
    )
    .unwrap();
    // It ends when the editor hangs up.
    assert!(child.wait().unwrap().success());
    (done, seen)
}

async fn open(agent: &ConnectionTo<Agent>, directory: &TempDir) -> Result<SessionId, Error> {
    Ok(agent.send_request(NewSessionRequest::new(directory.path())).block_task().await?.session_id)
}

async fn ask(agent: &ConnectionTo<Agent>, session: &SessionId, text: &str) -> Result<StopReason, Error> {
    let request = PromptRequest::new(session.clone(), vec![ContentBlock::from(text)]);
    Ok(agent.send_request(request).block_task().await?.stop_reason)
}

fn write_a(content: &str) -> Reply {
    calls("c2", "write_file", &json!({"file_path": "a.txt", "content": content}))
}

#[test]
fn a_task_with_a_question_is_done_through_the_editor() {
    let (files, home) = (directory(&[("a.txt", "one\ntwo\n")]), tempfile::tempdir().unwrap());
    let plan =
        json!({"steps": [{"step": "look", "status": "done"}, {"step": "write", "status": "in_progress"}]});
    let server = Server::new(vec![
        calls("c0", "plan", &plan),
        calls("c1", "read_file", &json!({"file_path": "a.txt"})),
        write_a("one\n2\n"),
        thinks("It is done.", "I wrote it."),
    ]);
    let (reason, seen) = drive(start(&server, home.path(), &[]), "yes", async |agent, _| {
        let session = open(&agent, &files).await?;
        ask(&agent, &session, "Write 2").await
    });
    assert_eq!(reason, StopReason::EndTurn);
    assert_eq!(std::fs::read_to_string(files.path().join("a.txt")).unwrap(), "one\n2\n");
    assert_eq!((seen.said().as_str(), seen.thought().as_str()), ("I wrote it.", "It is done."));

    let questions = seen.questions();
    assert_eq!(questions.len(), 1, "reading asks nobody: {questions:?}");
    assert_eq!(questions[0].tool_call.tool_call_id.0.as_ref(), "c2");
    let content = questions[0].tool_call.fields.content.clone().unwrap();
    let Some(ToolCallContent::Diff(diff)) =
        content.iter().find(|content| matches!(content, ToolCallContent::Diff(_)))
    else {
        panic!("expected a change: {content:?}");
    };
    assert_eq!((diff.old_text.as_deref(), diff.new_text.as_str()), (Some("one\ntwo\n"), "one\n2\n"));
    assert_eq!(diff.path, files.path().canonicalize().unwrap().join("a.txt"));

    let updates = seen.updates();
    let begun = |id: &str| {
        updates.iter().find_map(|update| match update {
            SessionUpdate::ToolCall(call) if call.tool_call_id.0.as_ref() == id => Some(call.clone()),
            _ => None,
        })
    };
    assert_eq!(begun("c1").unwrap().title, "read_file a.txt");
    assert!(begun("c1").unwrap().locations[0].path.ends_with("a.txt"));
    assert!(begun("c0").is_none(), "a plan is no call");
    let ended: Vec<_> = updates
        .iter()
        .filter_map(|update| match update {
            SessionUpdate::ToolCallUpdate(update) => {
                Some((update.tool_call_id.0.to_string(), update.fields.status?))
            }
            _ => None,
        })
        .collect();
    let (runs, done) = (ToolCallStatus::InProgress, ToolCallStatus::Completed);
    let expected = [("c1", done), ("c2", runs), ("c2", done)].map(|(id, status)| (id.to_owned(), status));
    assert_eq!(ended, expected);
    let plan = updates.iter().find_map(|update| match update {
        SessionUpdate::Plan(plan) => {
            Some(plan.entries.iter().map(|entry| entry.content.clone()).collect::<Vec<_>>())
        }
        _ => None,
    });
    assert_eq!(plan.unwrap(), ["look", "write"]);
    assert!(updates.iter().any(|update| matches!(update, SessionUpdate::AvailableCommandsUpdate(_))));
}

#[test]
fn a_no_reaches_the_model_and_a_mode_asks_less() {
    let (files, home) = (directory(&[("a.txt", "one\n")]), tempfile::tempdir().unwrap());
    let server = Server::new(vec![write_a("2\n"), says("Not done."), write_a("3\n"), says("Done.")]);
    let (_, seen) = drive(start(&server, home.path(), &[]), "no", async |agent, _| {
        let session = open(&agent, &files).await?;
        ask(&agent, &session, "Write 2").await?;
        assert_eq!(std::fs::read_to_string(files.path().join("a.txt")).unwrap(), "one\n");
        agent.send_request(SetSessionModeRequest::new(session.clone(), "auto-edit")).block_task().await?;
        ask(&agent, &session, "Write 3").await
    });
    assert_eq!(std::fs::read_to_string(files.path().join("a.txt")).unwrap(), "3\n");
    assert_eq!(seen.questions().len(), 1);
    let told = &server.completions()[1].body["messages"];
    let last = told.as_array().unwrap().last().unwrap()["content"].as_str().unwrap();
    assert!(last.contains("the user said no"), "{last}");
}

#[test]
fn a_guessed_call_asks_whatever_the_mode() {
    const CUT: &str = "<tool_call>\n<function=write_file>\n<parameter=file_path>\na.txt\n</parameter>\n\
         <parameter=content>\nHow to\n</function>\n</tool_call>";
    let (files, home) = (directory(&[("a.txt", "one\n")]), tempfile::tempdir().unwrap());
    let server = Server::new(vec![says(CUT), says("I could not.")]);
    let (_, seen) = drive(start(&server, home.path(), &["--unsafe"]), "no", async |agent, _| {
        let session = open(&agent, &files).await?;
        ask(&agent, &session, "Write").await
    });
    let questions = seen.questions();
    assert_eq!(questions.len(), 1);
    let content = format!("{:?}", questions[0].tool_call.fields.content);
    assert!(content.contains("is a guess"), "{content}");
    assert_eq!(std::fs::read_to_string(files.path().join("a.txt")).unwrap(), "one\n");
}

#[test]
fn a_question_is_cancelled_and_the_conversation_goes_on() {
    let (files, home) = (directory(&[]), tempfile::tempdir().unwrap());
    let server = Server::new(vec![Reply::Silence(words("Let me ")), says("Here.")]);
    let ((first, second), _) = drive(start(&server, home.path(), &[]), "no", async |agent, seen| {
        let session = open(&agent, &files).await?;
        let request = PromptRequest::new(session.clone(), vec![ContentBlock::from("Think")]);
        let asked = agent.send_request(request);
        while seen.said().is_empty() {
            // The answer has begun once this is over: one message after the other is taken.
            agent.send_request(InitializeRequest::new(ProtocolVersion::V1)).block_task().await?;
        }
        agent.send_notification(CancelNotification::new(session.clone()))?;
        Ok((asked.block_task().await?.stop_reason, ask(&agent, &session, "And now?").await?))
    });
    assert_eq!((first, second), (StopReason::Cancelled, StopReason::EndTurn));
}

#[test]
fn a_conversation_is_taken_up_with_another_model_and_the_editors_own_servers() {
    let (files, home) = (directory(&[("a.txt", "one\n")]), tempfile::tempdir().unwrap());
    let models = json!({"data": [{"id": "scripted"}, {"id": "other"}]}).to_string();
    let server = Server::about(
        About { models: (200, models), ..About::default() },
        vec![calls("c1", "read_file", &json!({"file_path": "a.txt"})), says("It says one.")],
    );
    let (session, _) = drive(start(&server, home.path(), &["-m", "scripted"]), "no", async |agent, _| {
        let session = open(&agent, &files).await?;
        ask(&agent, &session, "What is in it?").await?;
        Ok(session)
    });
    let ((), seen) = drive(start(&server, home.path(), &["-m", "scripted"]), "no", async |agent, seen| {
        let own = McpServerStdio::new("more tools", env!("CARGO_BIN_EXE_del"))
            .args(vec!["mcp".into(), "serve".into()]);
        let load =
            LoadSessionRequest::new(session.clone(), files.path()).mcp_servers(vec![McpServer::Stdio(own)]);
        let loaded = agent.send_request(load).block_task().await?;
        assert_eq!(seen.said(), "It says one.", "what was said is told again");
        assert!(loaded.modes.is_some() && loaded.config_options.is_some_and(|options| !options.is_empty()));
        let value = SessionConfigOptionValue::value_id("other");
        let set = SetSessionConfigOptionRequest::new(session.clone(), "model", value);
        agent.send_request(set).block_task().await?;
        ask(&agent, &session, "And now?").await?;
        assert!(ask(&agent, &SessionId::new("nosuch"), "Hello").await.is_err());
        Ok(())
    });
    let requests = server.completions();
    let last = &requests.last().unwrap().body;
    assert_eq!(last["model"], "other");
    let tools = last["tools"].to_string();
    assert!(tools.contains("mcp__more-tools__read_file"), "{tools}");
    let told = last["messages"].to_string();
    assert!(told.contains("What is in it?") && told.contains("And now?"), "{told}");
    let again: Vec<_> = seen
        .updates()
        .into_iter()
        .filter_map(|update| match update {
            SessionUpdate::ToolCall(call) => Some((call.title, call.status)),
            _ => None,
        })
        .collect();
    assert_eq!(again[0], ("read_file a.txt".to_owned(), ToolCallStatus::Completed));
}

#[test]
fn a_conversation_that_is_open_is_taken_up_once_more_by_the_same_editor() {
    let (files, home) = (directory(&[]), tempfile::tempdir().unwrap());
    let server =
        Server::new(vec![says("Red."), Reply::Silence(words("Let me ")), says("Blue."), says("Green.")]);
    let (stopped, seen) = drive(start(&server, home.path(), &[]), "no", async |agent, seen| {
        let session = open(&agent, &files).await?;
        ask(&agent, &session, "A colour?").await?;
        // While an answer comes.
        let request = PromptRequest::new(session.clone(), vec![ContentBlock::from("Another?")]);
        let asked = agent.send_request(request);
        while !seen.said().contains("Let me") {
            agent.send_request(InitializeRequest::new(ProtocolVersion::V1)).block_task().await?;
        }
        let load = || LoadSessionRequest::new(session.clone(), files.path());
        agent.send_request(load()).block_task().await?;
        let stopped = asked.block_task().await?.stop_reason;
        ask(&agent, &session, "And now?").await?;
        agent.send_request(CloseSessionRequest::new(session.clone())).block_task().await?;
        agent.send_request(load()).block_task().await?;
        ask(&agent, &session, "And then?").await?;
        Ok(stopped)
    });
    assert_eq!(stopped, StopReason::Cancelled);
    assert!(seen.said().ends_with("Green."), "{}", seen.said());
    let told = server.completions().last().unwrap().body["messages"].to_string();
    assert!(told.contains("A colour?") && told.contains("Blue."), "{told}");
}

#[test]
fn commands_are_done_here_and_not_asked_of_the_model() {
    let (files, home) = (directory(&[("a.txt", "one\n")]), tempfile::tempdir().unwrap());
    let server = Server::new(vec![write_a("2\n"), says("Done.")]);
    let (_, seen) =
        drive(start(&server, home.path(), &["--approval-mode", "auto-edit"]), "no", async |agent, _| {
            let session = open(&agent, &files).await?;
            ask(&agent, &session, "Write 2").await?;
            ask(&agent, &session, "/diff").await?;
            let file = files.path().join("a.txt");
            std::fs::write(&file, "mine\n").unwrap();
            ask(&agent, &session, "/undo").await?;
            std::fs::write(&file, "2\n").unwrap();
            ask(&agent, &session, "/undo").await
        });
    assert!(seen.said().contains("a.txt; `del undo ID --force` in a terminal"), "{}", seen.said());
    assert_eq!(std::fs::read_to_string(files.path().join("a.txt")).unwrap(), "one\n");
    assert!(seen.said().contains("-one\n+2"), "{}", seen.said());
    assert_eq!(server.completions().len(), 2);
}

#[test]
fn what_a_project_brings_along_counts_once_it_is_trusted() {
    let home = tempfile::tempdir().unwrap();
    let files = directory(&[
        (
            ".del/config.toml",
            "deny_tool = [\"write_file\"]\n[[hooks.UserPromptSubmit]]\ncommand = \"echo It is Monday.\"\n",
        ),
        (".del/commands/review.md", "---\ndescription: looks at a file\n---\nLook at $1 closely.\n"),
        ("a.txt", "one\n"),
    ]);
    let script = || vec![write_a("2\n"), says("Done.")];
    let go = |server: &Server, question: &str| {
        let child = start(server, home.path(), &["--unsafe"]);
        drive(child, "no", async |agent, _| {
            let session = open(&agent, &files).await?;
            ask(&agent, &session, question).await
        })
    };
    let server = Server::new(script());
    go(&server, "please /review a.txt");
    assert_eq!(std::fs::read_to_string(files.path().join("a.txt")).unwrap(), "2\n");
    assert_eq!(server.completions()[0].body["messages"][1]["content"], "please /review a.txt");
    // A command that there is none of is no question.
    let server = Server::new(script());
    go(&server, "/review a.txt");
    assert!(server.completions().is_empty());

    std::fs::write(files.path().join("a.txt"), "one\n").unwrap();
    let mut trust = del(&["trust", "--yes"]);
    trust.current_dir(files.path()).env("XDG_STATE_HOME", home.path());
    assert_eq!(run(&mut trust, "").code, 0);
    let server = Server::new(script());
    let (_, seen) = go(&server, "/review a.txt");
    assert_eq!(std::fs::read_to_string(files.path().join("a.txt")).unwrap(), "one\n");
    let told = server.completions()[1].body["messages"].to_string();
    assert!(told.contains("Look at a.txt closely.") && told.contains("It is Monday."), "{told}");
    assert!(told.contains("Denied"), "{told}");
    let offered = seen.updates().into_iter().find_map(|update| match update {
        SessionUpdate::AvailableCommandsUpdate(update) => Some(update.available_commands),
        _ => None,
    });
    assert!(offered.unwrap().iter().any(|command| command.description == "looks at a file"));
}

#[test]
fn which_session_goes_on_is_the_editors_to_say() {
    crate::del::plain(&["acp", "-c"]).fails(2, "--continue");
}
