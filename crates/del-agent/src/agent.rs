//! The state machine.

mod answer;
mod compact;
mod refusal;

use std::borrow::Cow;
use std::sync::Arc;

use compact::{Measured, Summing};
use del_dialects::{Call, CallResult, Dialect, Dialects, FaultKind, Tool, Turn};
use del_grammar::{Choice, Grammar, Options};
use del_wire::{ApiError, ChatRequest, Hybrid, Ids, Prompt, ServerApi, ToolChoice, Usage, hybrid};
use serde_json::{Value, json};

use crate::guard::Guard;
use crate::history::{self, Entry, Image};
use crate::prompt;
use crate::reading::Reading;
use crate::settings::{Constrain, Mode, Settings, SettingsError, ToolsMode};
use crate::step::{Effect, Failure, Input};
use crate::view::{Notice, View};

/// One conversation. Give it an [`Input`], do what the [`Effect`] says, come back.
#[derive(Debug)]
pub struct Agent {
    settings: Settings,
    dialects: &'static Dialects,
    tools: Arc<[Tool]>,
    /// Calls are written in it.
    dialect: Arc<Dialect>,
    mode: Mode,
    /// Answers are held to a grammar, as long as the server takes one.
    constrained: bool,
    /// To be said with the next request.
    notices: Vec<Notice>,
    entries: Vec<Entry>,
    /// Images that go along with the next question.
    attached: Vec<Image>,
    ids: Ids,
    guard: Guard,
    usage: Usage,
    task: Task,
    state: State,
    measured: Option<Measured>,
    /// The conversation is being summed up.
    summing: Option<Summing>,
    told_of_truncation: bool,
    /// The server is asked to seal the model's thoughts, so that it gets them back.
    seals: bool,
    revision: u32,
}

/// What the present question has cost.
#[derive(Debug, Default)]
struct Task {
    turns: u32,
    repairs: u32,
    usage: Usage,
    /// It was made shorter because the server found it too long.
    shortened: bool,
    /// How many entries there were when room was made for it.
    fitted: usize,
}

#[derive(Debug)]
enum State {
    Idle,
    Asking {
        tries: u32,
    },
    /// Whether the next request fits is being asked.
    Counting,
    Waiting {
        tries: u32,
    },
    Reading {
        reading: Box<Reading>,
        tries: u32,
    },
    Running {
        results: Vec<Slot>,
        note: Option<String>,
    },
}

/// The place of one result.
#[derive(Debug)]
struct Slot {
    call: Call,
    /// What recovery may have changed in its arguments.
    guess: Option<FaultKind>,
    result: Option<CallResult>,
}

impl Slot {
    fn empty(calls: Vec<Call>) -> Vec<Self> {
        calls.into_iter().map(|call| Self { call, guess: None, result: None }).collect()
    }
}

/// Under a grammar a small model may never close a string: tokens after which it has lost its way.
const LONGEST_CALL: u64 = 1024;

type Watch<'a> = &'a mut dyn FnMut(View<'_>);

impl Agent {
    /// A new conversation.
    ///
    /// Without a dialect in the settings, calls are written in the one that the model's template asks for, or else in the
    /// one that `dialects` has for the model, or else in the fallback, and read in all.
    pub fn new(dialects: &'static Dialects, settings: Settings) -> Result<Self, SettingsError> {
        let dialect = settings
            .dialect
            .as_ref()
            .or_else(|| settings.words.as_ref().map(|words| &words.dialect))
            .or_else(|| dialects.for_model(&settings.model))
            .or_else(|| dialects.get(&settings.fallback))
            .cloned()
            .ok_or_else(|| SettingsError::NoDialect { got: settings.fallback.clone() })?;
        let mut agent = Self {
            tools: settings.tools.clone().into(),
            dialect,
            dialects,
            mode: Mode::Native,
            constrained: false,
            notices: Vec::new(),
            entries: Vec::new(),
            attached: Vec::new(),
            ids: Ids::default(),
            guard: Guard::default(),
            usage: Usage::default(),
            task: Task::default(),
            state: State::Idle,
            measured: None,
            summing: None,
            told_of_truncation: false,
            seals: true,
            revision: 0,
            settings,
        };
        agent.choose_mode();
        agent.prepare_grammar()?;
        Ok(agent)
    }

    /// The same conversation with other settings, between questions; a question under way is dropped. What was
    /// learnt of the model stays as long as it is the same model.
    pub fn reconfigure(self, settings: Settings) -> Result<Self, SettingsError> {
        let takes_no_tools = self.mode == Mode::Prompt && self.settings.tools_mode.learns();
        let same = self.settings.model == settings.model && settings.tools_mode.learns();
        let mut agent = Self::new(self.dialects, settings)?;
        if takes_no_tools && same {
            agent.mode = Mode::Prompt;
        }
        agent.usage = self.usage;
        agent.revision = self.revision;
        agent.told_of_truncation = self.told_of_truncation;
        Ok(agent.with_entries(self.entries))
    }

    /// Takes up a conversation that was kept. Calls that were never run are told to the model as such.
    #[must_use]
    pub fn with_entries(mut self, entries: Vec<Entry>) -> Self {
        self.ids = Ids::default();
        self.entries = Vec::with_capacity(entries.len());
        let mut entries = entries.into_iter().peekable();
        while let Some(entry) = entries.next() {
            let answered = matches!(entries.peek(), Some(Entry::Results { .. }));
            let dangling = match &entry {
                Entry::Assistant { calls, .. } => {
                    for call in calls {
                        self.ids.keep_or_mint(call.id.as_deref());
                    }
                    if answered { Vec::new() } else { calls.clone() }
                }
                _ => Vec::new(),
            };
            self.entries.push(entry);
            if !dangling.is_empty() {
                self.keep_results(Slot::empty(dangling), prompt::CANCELLED);
            }
        }
        self
    }

    /// The conversation so far.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// These images go along with the next question.
    pub fn attach(&mut self, images: Vec<Image>) {
        self.attached = images;
    }

    /// Forgets the conversation; what was learnt of the server stays.
    pub fn clear(&mut self) {
        self.entries.clear();
        self.measured = None;
        self.state = State::Idle;
    }

    /// Tokens of the whole session, as far as the server says.
    pub fn usage(&self) -> Usage {
        self.usage
    }

    /// How the model learns of the tools at present.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// The dialect that calls are written in, in prompt mode.
    pub fn dialect(&self) -> &Arc<Dialect> {
        &self.dialect
    }

    /// Takes what has happened and says what to do. What there is to show goes to `watch`.
    ///
    /// A question that fails before anything came of it is dropped from the conversation.
    pub fn step(&mut self, input: Input<'_>, watch: Watch<'_>) -> Effect {
        let mut effect = if self.summing.is_some() {
            // What the model writes is no answer to anybody.
            self.take(input, &mut |view| match view {
                View::Raw(_) | View::Notice(_) => watch(view),
                _ => {}
            })
        } else {
            self.take(input, watch)
        };
        if matches!(effect, Effect::Failed(_))
            && let Some(summing) = self.summing.take()
            && let Effect::Failed(failure) = effect
        {
            effect = self.not_summed_up(summing, failure, watch);
        }
        if let Effect::Failed(failure) = &effect {
            self.drop_question(failure);
        }
        effect
    }

    fn take(&mut self, input: Input<'_>, watch: Watch<'_>) -> Effect {
        let state = std::mem::replace(&mut self.state, State::Idle);
        match (state, input) {
            (State::Idle, Input::Start(text)) => self.start(text, watch),
            (State::Idle, Input::GoOn(text)) => {
                self.entries.push(Entry::user(text));
                self.next_turn(watch)
            }
            (State::Idle, Input::Compact(focus)) => self.compact(focus, watch),
            (state, Input::Cancel) => self.cancel(state, watch),
            (State::Asking { tries }, input @ (Input::Bytes(_) | Input::Chunk(_) | Input::End)) => {
                let reading = Box::new(self.new_reading());
                self.read(reading, tries, &input, watch)
            }
            (State::Reading { reading, tries }, input @ (Input::Bytes(_) | Input::Chunk(_) | Input::End)) => {
                self.read(reading, tries, &input, watch)
            }
            (State::Reading { reading, .. }, Input::HungUp(reason)) => self.hung_up(*reading, reason, watch),
            (State::Asking { tries }, Input::HungUp(reason) | Input::Unreachable(reason)) => {
                self.unreachable(tries, reason, watch)
            }
            (State::Asking { tries }, Input::Refused { status, body, retry_after }) => {
                let error = ApiError::from_response(status, body);
                self.refused(tries, Some(status), error, retry_after, watch)
            }
            (State::Counting, Input::Counted(tokens)) => {
                match tokens {
                    Some(tokens) => self.learn_count(tokens),
                    None => self.settings.server.counts = false,
                }
                self.fitting_request(watch)
            }
            (State::Waiting { tries }, Input::Waited) => self.request(tries + 1, watch),
            (State::Running { results, note }, Input::Results(given)) => {
                self.results(results, note, given, watch)
            }
            (state, input) => {
                let failure = Failure::OutOfStep { expected: state.awaits(), got: input.name() };
                self.state = state;
                Effect::Failed(failure)
            }
        }
    }

    fn start(&mut self, text: &str, watch: Watch<'_>) -> Effect {
        self.task = Task::default();
        self.guard.reset();
        let images = std::mem::take(&mut self.attached);
        self.entries.push(Entry::User { text: text.to_owned(), images });
        self.next_turn(watch)
    }

    fn next_turn(&mut self, watch: Watch<'_>) -> Effect {
        let limit = self.settings.max_turns.max(1);
        if self.task.turns == limit {
            return Effect::Failed(Failure::TurnLimit { turns: limit });
        }
        self.task.turns += 1;
        self.request_that_fits(watch)
    }

    fn request(&mut self, tries: u32, watch: Watch<'_>) -> Effect {
        for notice in std::mem::take(&mut self.notices) {
            watch(View::Notice(&notice));
        }
        if let Some(summing) = &self.summing {
            let body = self.summary_request(summing);
            self.state = State::Asking { tries };
            return Effect::Request(self.written(&body));
        }
        if tries == 1 {
            let constrained = self.constrained && self.mode == Mode::Prompt;
            let dialect = (self.mode == Mode::Prompt).then_some(self.dialect.name());
            watch(View::Turn { turn: self.task.turns, mode: self.mode, dialect, constrained });
        }
        self.state = State::Asking { tries };
        Effect::Request(self.written(&self.body()))
    }

    /// A request as the server reads it.
    fn written(&self, request: &ChatRequest) -> Value {
        let api = self.settings.api;
        match request.to_json() {
            Value::Object(mut body) => {
                if api == ServerApi::Responses && self.seals {
                    body.insert("include".to_owned(), json!(["reasoning.encrypted_content"]));
                }
                if api == ServerApi::Ollama {
                    // It would leave out what does not fit, and say nothing.
                    body.extend([("truncate".to_owned(), json!(false)), ("shift".to_owned(), json!(false))]);
                }
                api.write(body)
            }
            other => other,
        }
    }

    fn body(&self) -> ChatRequest {
        let settings = &self.settings;
        let mut request = ChatRequest {
            model: settings.model.clone(),
            stream: settings.stream,
            temperature: settings.temperature,
            max_tokens: settings.max_tokens,
            extra: settings.extra.clone(),
            ..ChatRequest::default()
        };
        match self.mode {
            Mode::Native => {
                request.messages = history::native(&settings.system, &self.entries, &self.thinker());
                request.tools = self.shown().into_owned();
                request.tool_choice = Some(ToolChoice::Auto);
            }
            Mode::Prompt => {
                let tools = self.shown();
                let prompt = Prompt::new(&self.dialect, &tools)
                    .in_words(settings.words.as_ref())
                    .detail(settings.detail)
                    .reminding(self.constrained && settings.constrain == Constrain::On);
                request.messages = history::written(&settings.system, &self.entries, prompt);
                if !tools.is_empty() {
                    request.stop =
                        del_wire::prompt::stops(&self.dialect).into_iter().map(str::to_owned).collect();
                }
                if let Some(grammar) = self.grammar(&tools) {
                    request.extra.insert("grammar".to_owned(), json!(grammar));
                    if self.has_to_call() {
                        request.max_tokens.get_or_insert(LONGEST_CALL);
                    }
                }
            }
        }
        request
    }

    fn new_reading(&self) -> Reading {
        let mut turn = Turn::new(self.readable());
        turn.starts = self.settings.starts;
        turn.limits = self.settings.limits.clone();
        let parser = match &self.settings.dialect {
            Some(dialect) if self.mode == Mode::Prompt => dialect.parser(turn),
            _ => self.dialects.parser(turn),
        };
        Reading::new(parser, self.settings.api)
    }

    /// Who thinks: no other takes these thoughts back.
    fn thinker(&self) -> String {
        format!("{}:{}", self.settings.api.name(), self.settings.model)
    }

    fn read(&mut self, mut reading: Box<Reading>, tries: u32, input: &Input<'_>, watch: Watch<'_>) -> Effect {
        let read = match *input {
            Input::Bytes(bytes) => reading.bytes(bytes, watch),
            Input::Chunk(json) => reading.chunk(json, watch),
            _ => return self.ended(*reading, tries, watch),
        };
        match read {
            Ok(()) => {
                self.state = State::Reading { reading, tries };
                Effect::Continue
            }
            Err(trouble) => self.trouble(*reading, trouble, tries, watch),
        }
    }

    fn choose_mode(&mut self) {
        let settings = &self.settings;
        let constrain = settings.constrain == Constrain::On && settings.server.llama_cpp;
        self.mode = match settings.tools_mode {
            ToolsMode::Prompt => Mode::Prompt,
            ToolsMode::Hybrid if settings.dialect.is_some() => Mode::Prompt,
            mode if mode.learns() && constrain => Mode::Prompt,
            mode if mode.learns()
                && settings.server.takes_tools == Some(false)
                && !settings.tools.is_empty() =>
            {
                let reason = "the model's template on this server takes no tools".to_owned();
                self.notices.push(Notice::PromptMode { reason });
                Mode::Prompt
            }
            ToolsMode::Auto | ToolsMode::Native | ToolsMode::Hybrid => Mode::Native,
        };
    }

    fn prepare_grammar(&mut self) -> Result<(), SettingsError> {
        let settings = &self.settings;
        if settings.constrain == Constrain::Off || settings.tools.is_empty() {
            return Ok(());
        }
        if settings.constrain == Constrain::Auto {
            self.constrained = settings.server.llama_cpp;
            return Ok(());
        }
        let reason = if !settings.server.llama_cpp {
            "only a llama.cpp server takes a grammar"
        } else if self.mode == Mode::Native {
            "a server takes either tools or a grammar, and the tools go over the API"
        } else {
            // What cannot be held to a grammar is better known now than in the middle of a conversation.
            Grammar::new(&self.dialect, &self.tools, &Options::new(Choice::Required))?;
            self.constrained = true;
            return Ok(());
        };
        self.notices.push(Notice::Unconstrained { reason: reason.to_owned() });
        Ok(())
    }

    /// Of which tools the model has the definitions after these entries; none where it has all of them at once.
    fn hybrid(&self, entries: &[Entry]) -> Option<Hybrid<'_>> {
        let mut hybrid =
            Hybrid::new(&self.tools).filter(|_| self.settings.tools_mode == ToolsMode::Hybrid)?;
        for entry in entries {
            match entry {
                Entry::Assistant { calls, .. } => calls.iter().for_each(|call| hybrid.take(call)),
                Entry::Summary { defined, .. } => defined.iter().for_each(|name| hybrid.define(name)),
                _ => {}
            }
        }
        Some(hybrid)
    }

    /// What the model is told of at present.
    fn shown(&self) -> Cow<'_, [Tool]> {
        match self.hybrid(&self.entries) {
            Some(hybrid) => Cow::Owned(hybrid.tools()),
            None => Cow::Borrowed(&self.tools),
        }
    }

    /// All that the model may call, whether it has the definitions or not.
    fn readable(&self) -> Arc<[Tool]> {
        match self.hybrid(&[]) {
            Some(hybrid) => self.tools.iter().cloned().chain([hybrid.request()]).collect(),
            None => Arc::clone(&self.tools),
        }
    }

    /// What the answer is held to: one call of these tools, or plain words where it does not have to call. Under a grammar
    /// that lets more calls follow, a small model repeats the call without end. None where a schema is beyond a grammar.
    fn grammar(&self, tools: &[Tool]) -> Option<String> {
        let choice = if self.has_to_call() { Choice::Required } else { Choice::Auto };
        let grammar = self.constrained.then(|| Grammar::new(&self.dialect, tools, &Options::new(choice)));
        Some(grammar?.ok()?.to_gbnf())
    }

    /// Under [`Constrain::On`] the model has to call until a result is there; definitions are none.
    fn has_to_call(&self) -> bool {
        let since_user = self.entries.iter().rev().take_while(|entry| !matches!(entry, Entry::User { .. }));
        let is_result = |entry: &Entry| match entry {
            Entry::Results { results } => results.iter().any(|result| result.name != hybrid::REQUEST),
            _ => false,
        };
        self.constrained && self.settings.constrain == Constrain::On && !since_user.into_iter().any(is_result)
    }
}

impl State {
    const fn awaits(&self) -> &'static str {
        match self {
            Self::Idle => "a question",
            Self::Asking { .. } => "an answer or a refusal",
            Self::Counting => "a number of tokens",
            Self::Waiting { .. } => "the end of a wait",
            Self::Reading { .. } => "more of an answer, or its end",
            Self::Running { .. } => "results",
        }
    }
}
