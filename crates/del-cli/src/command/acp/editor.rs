//! The editor, as a conversation sees it: what happens is told to it, and it asks its user.

use std::io;
use std::path::PathBuf;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::time::Duration;

use agent_client_protocol::Client;
use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema::{
    ContentChunk, Notice, NoticeSeverity, PermissionOption, PermissionOptionKind, RequestPermissionOutcome,
    RequestPermissionRequest, SessionId, SessionNotification, SessionUpdate, ToolCallStatus, ToolCallUpdate,
    ToolCallUpdateFields,
};
use del_agent::View;
use del_dialects::Call;
use del_tools::{Answer, Consent, Failure, Loan, Question, Rule, ToolResult, visible};
use futures::channel::oneshot;
use futures::future::{Either, select};

use super::shown;
use crate::interrupt::Interrupt;
use crate::onlooker::{Onlooker, Output, Screen, Told};
use crate::todo;

/// Between two looks at what a command writes.
const PACE: Duration = Duration::from_millis(200);

/// The editor, for one conversation.
#[derive(Clone)]
pub(super) struct Editor {
    pub(super) session: SessionId,
    pub(super) stop: Stop,
    connection: ConnectionTo<Client>,
    directory: PathBuf,
    /// It shows notices.
    told: bool,
    state: Arc<State>,
}

#[derive(Default)]
struct State {
    /// The call that runs, or is asked about.
    call: Mutex<Option<Call>>,
    /// What a sub-agent has done for it.
    steps: Mutex<String>,
    /// Rules did not do for the question that is asked.
    objected: AtomicBool,
    /// It hung up.
    gone: AtomicBool,
}

/// Whether what is under way is to stop: also what has been asked for and has not begun.
#[derive(Clone)]
pub(super) struct Stop {
    interrupt: Interrupt,
    waiting: Arc<AtomicUsize>,
    stopped: Arc<AtomicBool>,
    /// What waits for the user's answer; it hears of the stop when this is dropped.
    asking: Arc<Mutex<Option<oneshot::Sender<()>>>>,
}

impl Stop {
    pub(super) fn new(interrupt: Interrupt) -> Self {
        Self { interrupt, waiting: Arc::default(), stopped: Arc::default(), asking: Arc::default() }
    }

    /// A question came.
    pub(super) fn expect(&self) {
        if self.waiting.fetch_add(1, Ordering::SeqCst) == 0 {
            self.stopped.store(false, Ordering::SeqCst);
        }
    }

    /// Whatever came is to stop.
    pub(super) fn stop(&self) {
        self.stopped.store(true, Ordering::SeqCst);
        self.interrupt.stop();
        lock(&self.asking).take();
    }

    /// Waits for the user's answer, unless all is to stop.
    fn wait<T>(&self, answer: impl Future<Output = T>) -> Option<T> {
        let (asking, stopped) = oneshot::channel();
        *lock(&self.asking) = Some(asking);
        if self.stopped.load(Ordering::SeqCst) {
            return None;
        }
        match futures::executor::block_on(select(pin!(answer), stopped)) {
            Either::Left((answer, _)) => Some(answer),
            Either::Right(_) => None,
        }
    }

    /// A question begins; true when it is not wanted any more.
    pub(super) fn begin(&self) -> bool {
        self.waiting.fetch_sub(1, Ordering::SeqCst);
        self.stopped.load(Ordering::SeqCst)
    }

    /// Stops what has begun meanwhile.
    fn check(&self) {
        if self.stopped.load(Ordering::SeqCst) {
            self.interrupt.stop();
        }
    }
}

impl Editor {
    pub(super) fn new(
        connection: ConnectionTo<Client>,
        session: SessionId,
        directory: PathBuf,
        stop: Stop,
        told: bool,
    ) -> Self {
        Self { session, stop, connection, directory, told, state: Arc::default() }
    }

    /// Tells it something.
    pub(super) fn update(&self, update: SessionUpdate) {
        let notification = SessionNotification::new(self.session.clone(), update);
        if self.connection.send_notification(notification).is_err() {
            self.state.gone.store(true, Ordering::Relaxed);
        }
    }

    /// Says something in Del's own name.
    pub(super) fn say(&self, text: &str) {
        self.update(SessionUpdate::AgentMessageChunk(ContentChunk::new(text.into())));
    }

    fn tell(&self, id: &str, fields: ToolCallUpdateFields) {
        self.update(SessionUpdate::ToolCallUpdate(ToolCallUpdate::new(id.to_owned(), fields)));
    }

    fn request(&self, question: &Question) -> RequestPermissionRequest {
        let call = lock(&self.state.call).clone();
        let id = call.as_ref().map_or_else(|| question.tool.clone(), shown::id);
        let fields = ToolCallUpdateFields::new()
            .title(call.as_ref().map_or_else(|| question.tool.clone(), shown::title))
            .status(ToolCallStatus::Pending)
            .content(shown::question(question, &self.directory));
        let option = |id: &'static str, name: String, kind| PermissionOption::new(id, name, kind);
        let mut options = vec![option("yes", "Yes".to_owned(), PermissionOptionKind::AllowOnce)];
        // What is given for this once is given for no other time.
        let once = question.loan == Loan::Given;
        if !once {
            let name = "Always, exactly this".to_owned();
            options.push(option("always", name, PermissionOptionKind::AllowAlways));
        }
        if matches!(question.loan, Loan::Possible(_)) {
            let name = "With the network, once (asks again)".to_owned();
            options.push(option("network", name, PermissionOptionKind::AllowOnce));
        }
        let rules = question.rules();
        if !once && !rules.is_empty() && !self.state.objected.load(Ordering::Relaxed) {
            let name = format!("Always: {}", visible(&rules.join(", ")));
            options.push(option("rules", name, PermissionOptionKind::AllowAlways));
        }
        options.push(option("no", "No".to_owned(), PermissionOptionKind::RejectOnce));
        RequestPermissionRequest::new(self.session.clone(), ToolCallUpdate::new(id, fields), options)
    }
}

impl Consent for Editor {
    fn ask(&mut self, question: &Question) -> Answer {
        let request = self.request(question);
        let id = request.tool_call.tool_call_id.0.to_string();
        // When nobody waits for the answer any more, the editor is told to take the question back.
        let asked = self.connection.send_request(request).block_task();
        let no = |reason: Option<&str>| Answer::No { reason: reason.map(str::to_owned) };
        let answer = match self.stop.wait(asked).map(|asked| asked.map(|response| response.outcome)) {
            Some(Ok(RequestPermissionOutcome::Selected(selected))) => match selected.option_id.0.as_ref() {
                "yes" => Answer::Yes,
                "always" => Answer::Always,
                "network" => Answer::Network,
                "rules" => {
                    let rules: Result<Vec<Rule>, _> =
                        question.rules().iter().map(|rule| Rule::parse(rule)).collect();
                    rules.map_or_else(|_| no(None), Answer::Allow)
                }
                _ => no(None),
            },
            // So an editor answers what it has cancelled; that may come before the news of it.
            Some(Ok(_)) | None => {
                self.stop.stop();
                no(None)
            }
            Some(Err(_)) => no(Some("the editor did not answer")),
        };
        self.state.objected.store(false, Ordering::Relaxed);
        if !matches!(answer, Answer::No { .. } | Answer::Network) {
            self.tell(&id, ToolCallUpdateFields::new().status(ToolCallStatus::InProgress));
        }
        answer
    }

    fn object(&mut self, why: &Failure) {
        // The question comes again, without what did not do.
        self.state.objected.store(true, Ordering::Relaxed);
        self.notice(&why.to_string());
    }
}

impl Editor {
    /// Tells it what is no part of an answer, as a notice if it shows those.
    pub(super) fn notice(&self, text: &str) {
        if self.told {
            let text = visible(text);
            self.update(SessionUpdate::Notice(Notice::new(NoticeSeverity::Warning, text.into_owned())));
        } else {
            crate::say(text);
        }
    }
}

impl Onlooker for Editor {
    fn call(&mut self, call: &Call) {
        *lock(&self.state.call) = Some(call.clone());
        lock(&self.state.steps).clear();
        if call.name != todo::NAME {
            self.update(SessionUpdate::ToolCall(shown::call(call, &self.directory)));
        }
    }

    /// The end of what a command writes, while it runs.
    fn output(&self, call: &Call) -> Option<Output> {
        let (editor, call) = (self.clone(), call.clone());
        let (written, heard) = mpsc::channel::<String>();
        let told = std::thread::Builder::new().name("output".to_owned()).spawn(move || {
            let mut end = String::new();
            while let Ok(text) = heard.recv() {
                end.push_str(&text);
                std::thread::sleep(PACE);
                end.extend(heard.try_iter());
                end = shown::end(&end).to_owned();
                let current = lock(&editor.state.call);
                if current.as_ref() != Some(&call) {
                    break;
                }
                editor.tell(&shown::id(&call), shown::meanwhile(&end));
            }
        });
        told.ok()?;
        // What comes when the call is over is in its result.
        Some(Box::new(move |text| drop(written.send(text.to_owned()))))
    }

    fn step(&mut self, task: &Call, call: &Call) {
        let mut steps = lock(&self.state.steps);
        steps.extend([&shown::title(call), "\n"]);
        self.tell(&shown::id(task), shown::meanwhile(shown::end(&steps)));
    }

    fn hook(&mut self, told: &Told) {
        self.notice(&format!("hook {} ({}: {})", told.text, told.event.name(), told.command));
    }

    fn result(&mut self, call: &Call, result: &ToolResult) {
        *lock(&self.state.call) = None;
        if call.name == todo::NAME && result.ok {
            return self.update(SessionUpdate::Plan(shown::plan(&result.text)));
        }
        self.tell(&shown::id(call), shown::result(result, &self.directory));
    }
}

impl Screen for Editor {
    fn view(&mut self, view: View<'_>) {
        match view {
            View::Text(text) if !text.is_empty() => self.say(text),
            View::Reasoning(text) if !text.is_empty() => {
                self.update(SessionUpdate::AgentThoughtChunk(ContentChunk::new(text.into())));
            }
            View::Turn { .. } | View::Compacting => self.stop.check(),
            View::Notice(notice) => self.notice(&notice.to_string()),
            _ => {}
        }
    }

    fn turn_over(&mut self, _: bool) {}

    fn check(&mut self) -> io::Result<()> {
        if self.state.gone.load(Ordering::Relaxed) {
            return Err(io::Error::new(io::ErrorKind::BrokenPipe, "the editor hung up"));
        }
        Ok(())
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
