//! What follows a whole answer: its calls, or the end.

use std::borrow::Cow;

use del_dialects::{Call, CallResult, Dialects, ReadCall};
use del_wire::ServerApi;

use super::{Agent, Slot, State, Task, Watch};
use crate::examples::{self, Shown};
use crate::guard::Verdict;
use crate::history::{Entry, Thinking};
use crate::prompt;
use crate::reading::Answer;
use crate::settings::Mode;
use crate::step::{Done, Effect, Failure};
use crate::view::{Notice, View};

/// How often in a row the model is told that it wrote no call that can be read.
const REPAIRS: u32 = 3;

impl Agent {
    pub(super) fn answered(&mut self, mut answer: Answer, watch: Watch<'_>) -> Effect {
        if let Some(usage) = answer.usage {
            self.usage += usage;
            self.task.usage += usage;
        }
        if let Some(summing) = self.summing.take() {
            return self.summed_up(summing, &answer, watch);
        }
        if answer.cut {
            watch(View::Notice(&answer.circular.map_or(Notice::Cut, Notice::Circular)));
        }
        for ReadCall { call, .. } in &mut answer.calls {
            call.id = Some(self.ids.keep_or_mint(call.id.as_deref()));
        }
        let note = self.about_broken_calls(&answer, watch);
        let calls = answer.calls.iter().map(|read| read.call.clone()).collect();
        let thinking = self.thinking(&answer);
        self.entries.push(Entry::Assistant { text: answer.text.clone(), calls, thinking });
        if let Some(usage) = answer.usage {
            self.measure(usage, watch);
        }
        match note {
            note if !answer.calls.is_empty() => self.run(answer.calls, note, watch),
            Some(note) => self.repair(answer, note, watch),
            None => self.without_calls(answer, watch),
        }
    }

    /// The answer, unless it is nothing but a call of a tool that is not there: as of any such call, the model is told of it.
    fn without_calls(&mut self, answer: Answer, watch: Watch<'_>) -> Effect {
        let tools = &self.settings.tools;
        match examples::shown(&answer.text, answer.undeclared, tools).filter(|_| !answer.cut) {
            Some(Shown::Unknown(name)) => {
                let note = prompt::no_such_tool(&name, tools);
                watch(View::Notice(&Notice::NoSuchTool { name }));
                if self.task.repairs == 0 {
                    return self.repair(answer, note, watch);
                }
            }
            Some(Shown::Examples(names)) => watch(View::Notice(&Notice::Shown { names })),
            None => {}
        }
        self.done(answer, watch)
    }

    /// The answer had calls, but none that counts.
    pub(super) fn repair(&mut self, answer: Answer, note: String, watch: Watch<'_>) -> Effect {
        if self.task.repairs < REPAIRS {
            self.task.repairs += 1;
            self.entries.push(Entry::Note { text: note });
            return self.next_turn(watch);
        }
        if !answer.text.is_empty() {
            return self.done(answer, watch);
        }
        let reason = answer.broken.first().map_or("", |fault| fault.kind.message());
        Effect::Failed(Failure::BrokenCalls { reason, times: self.task.repairs + 1 })
    }

    pub(super) fn done(&mut self, answer: Answer, watch: Watch<'_>) -> Effect {
        if answer.withheld {
            watch(View::Notice(&Notice::Withheld));
        } else if answer.text.is_empty() {
            watch(View::Notice(&Notice::Empty));
        }
        let Task { turns, usage, .. } = self.task;
        Effect::Done(Done { answer: answer.text, cut: answer.cut, turns, usage })
    }

    pub(super) fn run(&mut self, calls: Vec<ReadCall>, note: Option<String>, watch: Watch<'_>) -> Effect {
        self.task.repairs = 0;
        self.guard.next_turn();
        self.tell_defined(watch);
        let answered: Vec<Option<CallResult>> = calls.iter().map(|read| self.defined(&read.call)).collect();
        let mut slots = Vec::with_capacity(calls.len());
        let mut stop = None;
        for (ReadCall { call, guess }, answered) in calls.into_iter().zip(answered) {
            let verdict = self.guard.judge(&call);
            let result = match verdict {
                Verdict::Run => answered,
                Verdict::Tell { times } => {
                    watch(View::Notice(&Notice::Repeated { name: call.name.clone(), times }));
                    Some(result(&call, prompt::repeated(times)))
                }
                Verdict::Stop { times } => {
                    stop.get_or_insert(Failure::Loop { name: call.name.clone(), times });
                    None
                }
            };
            slots.push(Slot { call, guess, result });
        }
        if let Some(failure) = stop {
            self.keep_results(slots, prompt::NOT_RUN);
            return Effect::Failed(failure);
        }
        let open = slots.iter().filter(|slot| slot.result.is_none());
        let calls: Vec<ReadCall> =
            open.map(|slot| ReadCall { call: slot.call.clone(), guess: slot.guess }).collect();
        if calls.is_empty() {
            return self.results(slots, note, Vec::new(), watch);
        }
        self.state = State::Running { results: slots, note };
        Effect::Run(restored(calls))
    }

    pub(super) fn results(
        &mut self,
        mut slots: Vec<Slot>,
        note: Option<String>,
        given: Vec<CallResult>,
        watch: Watch<'_>,
    ) -> Effect {
        Slot::fill(&mut slots, given);
        self.keep_results(slots, prompt::NO_RESULT);
        if let Some(text) = note {
            self.entries.push(Entry::Note { text });
        }
        self.next_turn(watch)
    }

    pub(super) fn keep_results(&mut self, slots: Vec<Slot>, missing: &str) {
        let results = slots
            .into_iter()
            .map(|slot| slot.result.unwrap_or_else(|| result(&slot.call, missing.to_owned())))
            .collect();
        self.entries.push(Entry::Results { results });
        self.entries.append(&mut self.added);
    }

    /// Says which definitions the last answer brought.
    fn tell_defined(&self, watch: Watch<'_>) {
        let before = self.entries.len().saturating_sub(1);
        let known = self.hybrid(&self.entries[..before]).zip(self.hybrid(&self.entries));
        let names: Vec<String> = known.map_or_else(Vec::new, |(before, now)| {
            now.defined().filter(|tool| !before.has(&tool.name)).map(|tool| tool.name.clone()).collect()
        });
        if !names.is_empty() {
            watch(View::Notice(&Notice::Defined { names }));
        }
    }

    /// The result of a call that gets the model a definition rather than running. What the model knew when it made the call
    /// is what came before its answer.
    fn defined(&self, call: &Call) -> Option<CallResult> {
        let before = self.entries.len().saturating_sub(1);
        self.hybrid(&self.entries[..before])?.answer(call)
    }

    fn about_broken_calls(&self, answer: &Answer, watch: Watch<'_>) -> Option<String> {
        let first = answer.broken.first()?;
        watch(View::Notice(&Notice::BrokenCall { reason: first.kind.message() }));
        let skeleton = |name: &str| {
            let tools = self.shown();
            let tool = tools.iter().find(|tool| tool.name == name)?;
            match self.mode {
                Mode::Prompt => self.dialect.skeleton(tool),
                Mode::Native => Some(tool.placeholders()),
            }
        };
        Some(prompt::broken_calls(&answer.broken, answer.cut, skeleton))
    }

    pub(super) fn keep_text(&mut self, text: String) {
        if !text.is_empty() {
            self.entries.push(Entry::Assistant { text, calls: Vec::new(), thinking: None });
        }
    }

    /// What the model thought, where its server wants it back: sealed, or before calls whose results are to come. A server
    /// of chat completions may refuse it.
    fn thinking(&self, answer: &Answer) -> Option<Thinking> {
        let blocks = answer.thinking_blocks.clone();
        let plain = self.settings.api == ServerApi::Ollama && !answer.calls.is_empty();
        let text = if plain { answer.reasoning.clone() } else { String::new() };
        let any = self.mode == Mode::Native && !(blocks.is_empty() && text.is_empty());
        any.then(|| Thinking { by: self.thinker(), blocks, text })
    }
}

fn result(call: &Call, text: String) -> CallResult {
    CallResult { id: call.id.clone(), name: call.name.clone(), text, ok: false }
}

/// What a model copied from a neutralised result is what the result said before a tool sees it.
fn restored(mut calls: Vec<ReadCall>) -> Vec<ReadCall> {
    for ReadCall { call, .. } in &mut calls {
        if let Cow::Owned(plain) = Dialects::builtin().restore_json(&call.arguments) {
            call.arguments = plain;
        }
    }
    calls
}
