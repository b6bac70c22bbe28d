//! Making room in the model's context: old results are left out first, then the model sums up what is oldest.

use std::fmt::Write;

use del_dialects::CallResult;
use del_wire::{ApiError, ChatMessage, ChatRequest, Prompt, Usage};
use serde_json::Value;

use super::{Agent, State, Watch};
use crate::history::Entry;
use crate::prompt;
use crate::reading::Answer;
use crate::settings::Mode;
use crate::step::{Done, Effect, Failure};
use crate::tokens;
use crate::view::{Notice, View};

/// The conversation is being summed up.
#[derive(Debug)]
pub(super) struct Summing {
    /// What the user wants kept.
    focus: String,
    /// Entries from here on stay as they are.
    keep_from: usize,
    /// Tokens before.
    before: u64,
    then: Then,
}

/// What follows the summary.
#[derive(Debug)]
enum Then {
    /// The request that there was no room for. Without a summary, it goes out as it is.
    Ask,
    /// The same, after the server refused it for its length: without a summary, that is how it ends.
    AskAgain { status: Option<u16>, error: ApiError },
    /// Nothing: the user wanted it.
    Rest,
}

/// What the server counted, and how many entries were in it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Measured {
    tokens: u64,
    entries: usize,
}

/// Room is made when this much of the context is used, in percent.
const FULL: u64 = 80;
/// What stays as it is when the rest is summed up takes at most this much of it, in percent.
const KEPT: u64 = 30;
/// The newest results are never left out.
const NEWEST: usize = 3;
/// A result this short costs no more than what would stand in its place.
const SHORT: usize = 300;
/// Characters of a result, and of what was asked or answered, that a summary is made of: as many as there is room for.
const SUMMED: [(usize, usize); 5] =
    [(1500, usize::MAX), (400, usize::MAX), (100, usize::MAX), (100, 8000), (100, 1000)];
/// A window that nobody told is taken for this long, in tokens.
const UNKNOWN: u64 = 8192;

impl Agent {
    /// Tokens that the next request has, as far as is known: what the server counted, and an estimate of what is new.
    pub fn context_used(&self) -> u64 {
        match self.measured {
            Some(Measured { tokens, entries }) if entries <= self.entries.len() => {
                tokens + self.entries[entries..].iter().map(tokens::entry).sum::<u64>()
            }
            _ => self.overhead() + self.entries.iter().map(tokens::entry).sum::<u64>(),
        }
    }

    /// Whether the server counted what is in the context.
    pub fn context_is_counted(&self) -> bool {
        self.measured.is_some_and(|measured| measured.entries <= self.entries.len())
    }

    /// The next request, for its tokens to be counted, where the server counts and something is not counted yet.
    pub fn to_be_counted(&self) -> Option<Value> {
        let known = self.measured.is_some_and(|measured| measured.entries == self.entries.len());
        (self.settings.server.counts && !known).then(|| self.written(&self.body()))
    }

    /// So many tokens the request of [`Self::to_be_counted`] has.
    pub fn learn_count(&mut self, tokens: u64) {
        self.measured = Some(Measured { tokens, entries: self.entries.len() });
    }

    /// Tokens that the model takes, where that is known or was learnt.
    pub fn context(&self) -> Option<u64> {
        self.settings.context
    }

    /// Says how many tokens the model takes.
    pub fn learn_context(&mut self, tokens: u64) {
        self.settings.context = Some(tokens);
    }

    /// How often entries were taken away or rewritten, rather than added.
    pub fn revision(&self) -> u32 {
        self.revision
    }

    fn overhead(&self) -> u64 {
        tokens::of(&self.settings.system) + self.shown().iter().map(tokens::tool).sum::<u64>()
    }

    /// What the server counted for the answer that has just been kept.
    pub(super) fn measure(&mut self, usage: Usage, watch: Watch<'_>) {
        if usage.prompt == 0 {
            return;
        }
        let before = self.entries.len() - 1;
        let sent = self.overhead() + self.entries[..before].iter().map(tokens::of_words).sum::<u64>();
        // An estimate may be wrong by half. A server that remembers the beginning may count only what is new: that is few.
        let cut = sent > 2 * usage.prompt && usage.prompt > 1000 && !self.told_of_truncation;
        if cut {
            self.told_of_truncation = true;
            self.settings.context.get_or_insert(usage.prompt + usage.completion);
            watch(View::Notice(&Notice::Truncated { sent, read: usage.prompt }));
        }
        self.measured =
            Some(Measured { tokens: usage.prompt + usage.completion, entries: self.entries.len() });
    }

    /// The next request, after room was made for it if that is needed. Where only an estimate says whether it is, and the
    /// server can count, it is asked first.
    pub(super) fn request_that_fits(&mut self, watch: Watch<'_>) -> Effect {
        let counted = self.measured.map_or(0, |measured| measured.tokens);
        let used = self.context_used();
        // An estimate may be wrong by half.
        let most = used + used.saturating_sub(counted) / 2;
        if self.settings.context.is_some_and(|context| most * 100 >= context * FULL)
            && let Some(body) = self.to_be_counted()
        {
            self.state = State::Counting;
            return Effect::Count(body);
        }
        self.fitting_request(watch)
    }

    pub(super) fn fitting_request(&mut self, watch: Watch<'_>) -> Effect {
        let full = |agent: &Self| {
            agent.settings.context.is_some_and(|context| agent.context_used() * 100 >= context * FULL)
        };
        // Once more for the same question only when much has come since.
        let anew = self.task.fitted == 0 || self.entries.len() > self.task.fitted + NEWEST;
        if full(self) && anew {
            let before = self.context_used();
            if self.leave_out_old_results() && !full(self) {
                let after = self.context_used();
                watch(View::Notice(&Notice::LeftOut { before, after }));
            } else if let Some(effect) = self.sum_up("", before, Then::Ask, watch) {
                return effect;
            }
            self.task.fitted = self.entries.len();
        }
        self.request(1, watch)
    }

    /// The server says that the request is too long: it is made shorter, once. Gives the refusal back where nothing can be
    /// left out.
    pub(super) fn too_long(
        &mut self,
        status: Option<u16>,
        error: ApiError,
        limit: Option<u64>,
        watch: Watch<'_>,
    ) -> Result<Effect, ApiError> {
        if self.task.shortened || self.summing.is_some() {
            return Err(error);
        }
        self.task.shortened = true;
        if let Some(limit) = limit {
            self.settings.context = Some(limit);
        }
        let before = self.context_used();
        let left_out = self.leave_out_old_results();
        let then = Then::AskAgain { status, error: error.clone() };
        if let Some(effect) = self.sum_up("", before, then, watch) {
            return Ok(effect);
        }
        if left_out {
            let after = self.context_used();
            watch(View::Notice(&Notice::LeftOut { before, after }));
            return Ok(self.request(1, watch));
        }
        Err(error)
    }

    /// The user wants the conversation summed up.
    pub(super) fn compact(&mut self, focus: &str, watch: Watch<'_>) -> Effect {
        let before = self.context_used();
        self.task = super::Task::default();
        if let Some(effect) = self.sum_up(focus, before, Then::Rest, watch) {
            return effect;
        }
        self.leave_out_old_results();
        Effect::Done(Done::default())
    }

    /// Takes the texts out of old results. Whether there were any.
    fn leave_out_old_results(&mut self) -> bool {
        let results = |entry: &&mut Entry| matches!(entry, Entry::Results { .. } | Entry::Ran { .. });
        let old = self.entries.iter_mut().filter(results).count().saturating_sub(NEWEST);
        let mut any = false;
        for text in self.entries.iter_mut().filter(results).take(old).flat_map(outputs) {
            if text.len() > SHORT {
                prompt::LEFT_OUT.clone_into(text);
                any = true;
            }
        }
        if any {
            self.measured = None;
            self.revision += 1;
        }
        any
    }

    /// Asks for a summary of the oldest entries, if there are any to sum up.
    fn sum_up(&mut self, focus: &str, before: u64, then: Then, watch: Watch<'_>) -> Option<Effect> {
        let keep_from = self.keep_from(&then);
        let long = self.room() / 10;
        let asked = self.last_question();
        let mut old = self.entries[..keep_from].iter().enumerate();
        let worth = old.any(|(place, entry)| match entry {
            Entry::Summary { .. } => false,
            // The last one stays in any case, and so does what was added to it.
            Entry::User { .. } => place != asked && tokens::entry(entry) >= long,
            Entry::Added { .. } => place < asked && tokens::entry(entry) >= long,
            _ => true,
        });
        if !worth {
            return None;
        }
        self.summing = Some(Summing { focus: focus.to_owned(), keep_from, before, then });
        watch(View::Compacting);
        Some(self.request(1, watch))
    }

    /// Tokens that the model takes, or perhaps takes.
    fn room(&self) -> u64 {
        self.settings.context.unwrap_or(UNKNOWN)
    }

    fn last_question(&self) -> usize {
        self.entries.iter().rposition(|entry| matches!(entry, Entry::User { .. })).unwrap_or(0)
    }

    /// Where the entries begin that stay as they are: a question or an answer, and what follows it. When the user asks for
    /// it, only the last turn stays, or its last answer where it is long or all that there is; when the server found all of
    /// it too long, estimates are worth nothing, and only the last step does.
    fn keep_from(&self, then: &Then) -> usize {
        let starts = |entry: &Entry| matches!(entry, Entry::User { .. } | Entry::Assistant { .. });
        let kept = self.room() * KEPT / 100;
        if matches!(then, Then::Rest) {
            let question = self.last_question();
            let turn: u64 = self.entries[question..].iter().map(tokens::entry).sum();
            let answer = self.entries.iter().rposition(starts).unwrap_or(0);
            return if question == 0 || turn > kept { answer } else { question };
        }
        let room = if matches!(then, Then::Ask) { kept } else { 0 };
        let (mut from, mut used) = (self.entries.len(), 0);
        for (place, entry) in self.entries.iter().enumerate().rev() {
            used += tokens::entry(entry);
            if used > room && from < self.entries.len() {
                break;
            }
            if starts(entry) {
                from = place;
            }
        }
        if from == self.entries.len() { 0 } else { from }
    }

    /// The request for a summary: the conversation is shown as a text, so that nobody goes on with it.
    pub(super) fn summary_request(&self, summing: &Summing) -> ChatRequest {
        let room = self.room() * 60 / 100;
        let entries = &self.entries[..summing.keep_from];
        let (mut texts, mut used) = (Vec::new(), u64::MAX);
        for (length, words) in SUMMED {
            if used > room {
                texts = entries.iter().map(|entry| as_text(entry, length, words)).collect::<Vec<_>>();
                used = texts.iter().map(|text| tokens::of(text)).sum();
            }
        }
        // What does not even fit to be summed up: the oldest goes.
        let mut first = 0;
        while used > room && first + 1 < texts.len() {
            used -= tokens::of(&texts[first]);
            first += 1;
        }
        texts.drain(..first);
        let question = prompt::sum_up(&texts.concat(), &summing.focus);
        let messages = match self.mode {
            Mode::Native => vec![ChatMessage::System(prompt::SUMMER.to_owned()), ChatMessage::User(question)],
            Mode::Prompt => {
                let mut prompt = Prompt::new(&self.dialect, &[]);
                prompt.system(prompt::SUMMER);
                prompt.user(&question);
                prompt.into_messages().into_iter().map(ChatMessage::Json).collect()
            }
        };
        ChatRequest {
            model: self.settings.model.clone(),
            stream: true,
            messages,
            extra: self.settings.extra.clone(),
            ..ChatRequest::default()
        }
    }

    /// The summary is there.
    pub(super) fn summed_up(&mut self, summing: Summing, answer: &Answer, watch: Watch<'_>) -> Effect {
        if answer.text.is_empty() {
            return self.not_summed_up(summing, Failure::NoSummary, watch);
        }
        let Summing { keep_from, before, then, .. } = summing;
        let question = self.last_question();
        let plan = self.entries[..keep_from].iter().rev().find_map(last_plan);
        let defined = self
            .hybrid(&self.entries[..keep_from])
            .map_or_else(Vec::new, |hybrid| hybrid.defined().map(|tool| tool.name.clone()).collect());
        let kept = self.entries.split_off(keep_from);
        let since = self.entries.drain(question.min(keep_from)..);
        let asked: Vec<Entry> =
            since.filter(|entry| matches!(entry, Entry::User { .. } | Entry::Added { .. })).collect();
        let text = prompt::summary(&answer.text, plan.as_deref());
        self.entries = vec![Entry::Summary { text, defined }];
        self.entries.extend(asked);
        self.entries.extend(kept);
        self.measured = None;
        self.revision += 1;
        self.task.fitted = self.entries.len();
        let after = self.context_used();
        match then {
            Then::Rest => Effect::Done(Done::default()),
            Then::Ask | Then::AskAgain { .. } => {
                watch(View::Notice(&Notice::SummedUp { before, after }));
                self.request(1, watch)
            }
        }
    }

    /// There is no summary: nothing is lost, and what was wanted is tried without it.
    pub(super) fn not_summed_up(&mut self, summing: Summing, failure: Failure, watch: Watch<'_>) -> Effect {
        self.state = State::Idle;
        self.task.fitted = self.entries.len();
        match summing.then {
            _ if failure == Failure::Cancelled => Effect::Failed(failure),
            Then::Rest => Effect::Failed(failure),
            Then::AskAgain { status, error } => Effect::Failed(Failure::Refused { status, error }),
            Then::Ask => {
                watch(View::Notice(&Notice::NotSummedUp { reason: failure.to_string() }));
                self.request(1, watch)
            }
        }
    }
}

/// What tools and commands gave, but for the model's plan.
fn outputs(entry: &mut Entry) -> Vec<&mut String> {
    match entry {
        Entry::Results { results } => {
            let others = results.iter_mut().filter(|result| result.name != prompt::PLAN);
            others.map(|result| &mut result.text).collect()
        }
        Entry::Ran { output, .. } => vec![output],
        _ => Vec::new(),
    }
}

/// The model's plan, if this is where it stands.
fn last_plan(entry: &Entry) -> Option<String> {
    let Entry::Results { results } = entry else { return None };
    results.iter().rev().find(|result| result.name == prompt::PLAN).map(|result| result.text.clone())
}

/// An entry as a summary is made of it.
fn as_text(entry: &Entry, length: usize, words: usize) -> String {
    let mut out = match entry {
        Entry::User { text, .. } | Entry::Added { text, .. } => format!("USER: {}\n", cut(text, words)),
        Entry::Ran { command, output } => format!("USER RAN {command}: {}\n", cut(output, length)),
        Entry::Note { text } => format!("NOTE: {text}\n"),
        Entry::Summary { text, .. } => format!("{text}\n"),
        Entry::Assistant { text, .. } => format!("ASSISTANT: {}\n", cut(text, words)),
        Entry::Results { .. } => String::new(),
    };
    let (calls, results) = match entry {
        Entry::Assistant { calls, .. } => (calls.as_slice(), [].as_slice()),
        Entry::Results { results } => ([].as_slice(), results.as_slice()),
        _ => return out + "\n",
    };
    // Writing to a string cannot fail.
    for call in calls {
        let _ = writeln!(out, "CALL {}: {}", call.name, cut(&call.arguments, length));
    }
    for CallResult { name, text, .. } in results {
        let _ = writeln!(out, "RESULT of {name}: {}", cut(text, length));
    }
    out + "\n"
}

fn cut(text: &str, length: usize) -> String {
    let kept: String = text.chars().take(length).collect();
    if kept.len() < text.len() { format!("{kept} [...]") } else { kept }
}
