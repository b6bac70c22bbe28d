//! The state machine.

mod answer;
mod asking;
mod compact;
mod patience;
mod refusal;

use std::sync::Arc;

use compact::{Measured, Summing};
use del_dialects::{Call, CallResult, Dialect, Dialects, FaultKind, Tool};
use del_wire::{Amends, ApiError, Ids, Usage};

use crate::guard::Guard;
use crate::history::{Entry, Image};
use crate::prompt;
use crate::reading::Reading;
use crate::settings::{Mode, Settings, SettingsError};
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
    /// What the user added while calls ran.
    added: Vec<Entry>,
    ids: Ids,
    guard: Guard,
    usage: Usage,
    task: Task,
    state: State,
    measured: Option<Measured>,
    /// The conversation is being summed up.
    summing: Option<Summing>,
    told_of_truncation: bool,
    /// What the server refused of requests for this model, and gets otherwise since.
    amends: Amends,
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

    /// Puts results where those of their calls are still missing.
    fn fill(slots: &mut [Self], given: Vec<CallResult>) {
        for mut result in given {
            if let Some(slot) =
                slots.iter_mut().find(|slot| slot.result.is_none() && slot.call.id == result.id)
            {
                // The model knows the tool by the name that it used.
                result.name.clone_from(&slot.call.name);
                slot.result = Some(result);
            }
        }
    }
}

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
            added: Vec::new(),
            ids: Ids::default(),
            guard: Guard::default(),
            usage: Usage::default(),
            task: Task::default(),
            state: State::Idle,
            measured: None,
            summing: None,
            told_of_truncation: false,
            amends: Amends::default(),
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
        let same = self.settings.model == settings.model && self.settings.api == settings.api;
        let learns = settings.tools_mode.learns();
        let mut agent = Self::new(self.dialects, settings)?;
        if takes_no_tools && same && learns {
            agent.mode = Mode::Prompt;
        }
        if same {
            agent.amends = self.amends;
        }
        agent.usage = self.usage;
        agent.revision = self.revision;
        agent.told_of_truncation = self.told_of_truncation;
        Ok(agent.with_entries(self.entries))
    }

    /// Takes up a conversation that was kept. The model is told that nobody knows what became of calls without a result.
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
                self.keep_results(Slot::empty(dangling), prompt::LOST);
            }
        }
        self
    }

    /// The conversation so far.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Drops the last question where the model has answered nothing: it would go out with each one that follows. The next
    /// question does so as well. Whether there was one.
    pub fn drop_unanswered(&mut self) -> bool {
        let Some(asked) = self.unanswered() else { return false };
        self.entries.truncate(asked);
        self.revision += 1;
        true
    }

    /// These images go along with the next question.
    pub fn attach(&mut self, images: Vec<Image>) {
        self.attached = images;
    }

    /// The user says more while calls run: it goes to the model behind their results. It may be a reason to make the same
    /// call once more.
    pub fn add(&mut self, text: String, images: Vec<Image>) {
        self.guard.reset();
        self.added.push(Entry::Added { text, images });
    }

    /// The user ran a command between questions: the model is told with the next one.
    pub fn ran(&mut self, command: String, output: String) {
        self.entries.push(Entry::Ran { command, output });
    }

    /// Forgets the conversation; what was learnt of the server stays.
    pub fn clear(&mut self) {
        self.entries.clear();
        self.added.clear();
        self.measured = None;
        self.state = State::Idle;
    }

    /// Tokens of the whole session, as far as the server says.
    pub fn usage(&self) -> Usage {
        self.usage
    }

    /// Offers a tool more from the next request on, also in the middle of a question.
    pub fn offer(&mut self, tool: Tool) {
        self.take_tools(self.settings.tools.iter().cloned().chain([tool]).collect());
    }

    /// Offers these tools and no others from the next request on, also in the middle of a question.
    pub fn take_tools(&mut self, tools: Vec<Tool>) {
        self.tools = tools.clone().into();
        self.settings.tools = tools;
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
                View::Raw { .. } | View::Notice(_) => watch(view),
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
            self.drop_added(failure, watch);
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
            (state, Input::Cancel) => self.cancel(state, Vec::new(), watch),
            (state, Input::Stopped(given)) => self.cancel(state, given, watch),
            (State::Asking { tries }, input @ (Input::Bytes(_) | Input::Chunk(_) | Input::End)) => {
                let reading = Box::new(self.new_reading());
                self.read(reading, tries, &input, watch)
            }
            (State::Reading { reading, tries }, input @ (Input::Bytes(_) | Input::Chunk(_) | Input::End)) => {
                self.read(reading, tries, &input, watch)
            }
            (State::Reading { reading, tries }, Input::HungUp(reason)) => {
                patience::reached(self.hung_up(*reading, tries, reason, watch))
            }
            (State::Asking { tries }, Input::Unreachable(reason)) => self.unreachable(tries, reason, watch),
            (State::Asking { tries }, Input::HungUp(reason)) => {
                patience::reached(self.unreachable(tries, reason, watch))
            }
            (State::Asking { tries }, Input::Silent) => self.silent(None, tries, watch),
            (State::Reading { reading, tries }, Input::Silent) => self.silent(Some(*reading), tries, watch),
            (State::Asking { tries }, Input::Astray(reason)) => {
                Effect::Failed(Failure::Unreachable { reason: reason.to_owned(), tries })
            }
            (State::Asking { tries }, Input::Refused { status, body, retry_after }) => {
                let error = patience::asking_to_wait(ApiError::from_response(status, body), retry_after);
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
        self.drop_unanswered();
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
        if tries == 1 && self.summing.is_none() {
            let constrained = self.constrained && self.mode == Mode::Prompt;
            let dialect = (self.mode == Mode::Prompt).then_some(self.dialect.name());
            watch(View::Turn { turn: self.task.turns, mode: self.mode, dialect, constrained });
        }
        self.state = State::Asking { tries };
        Effect::Request(self.asked())
    }

    fn read(&mut self, mut reading: Box<Reading>, tries: u32, input: &Input<'_>, watch: Watch<'_>) -> Effect {
        let read = match *input {
            Input::Bytes(bytes) => reading.bytes(bytes, watch),
            Input::Chunk(json) => reading.chunk(json, watch),
            _ => return self.ended(*reading, tries, watch),
        };
        match read {
            Ok(()) if reading.goes_round() => self.ended(*reading, tries, watch),
            Ok(()) => {
                self.state = State::Reading { reading, tries };
                Effect::Continue
            }
            Err(trouble) => self.trouble(*reading, trouble, tries, watch),
        }
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
