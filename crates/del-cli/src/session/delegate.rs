//! Sub-agents: a task in a conversation of its own, with its own context, fewer tools, and no more rights than the one that
//! it is done for.

use std::io;
use std::time::Duration;

use del_agent::{Agent, Done, Effect, Failure, Input, Mode, Notice, Settings, ToolsMode, View};
use del_dialects::{Call, ReadCall, Tool};
use del_tools::{Cancel, Class, Code, ToolResult, counted};
use serde::Deserialize;
use serde_json::json;

use super::{Session, agent};
use crate::consent::Asked;
use crate::exchange::exchange;
use crate::hands::{DELEGATE, told};
use crate::instructions;
use crate::onlooker::{Onlooker, Screen, Told};
use crate::screen::stage;

/// Requests that a task may cost.
const TURNS: u32 = 20;
/// Bytes of an answer.
const LONGEST: usize = 16_000;

#[derive(Debug, Deserialize)]
struct Arguments {
    #[serde(default)]
    description: String,
    prompt: String,
    #[serde(default)]
    may_change: bool,
}

/// Whoever watches a task sees its steps pass by, and what concerns them.
struct Folded<'s> {
    screen: &'s mut dyn Screen,
    task: &'s Call,
    name: &'s str,
    calls: usize,
    turns: u32,
}

/// The tool's definition.
pub(crate) fn tool() -> Tool {
    Tool {
        name: DELEGATE.into(),
        description: "Gives a task to a sub-agent: it works in a context of its own and returns its answer alone. For \
                      searches that read much. It knows nothing of this conversation: say all that it needs."
            .into(),
        parameters: json!({
            "type": "object",
            "properties": {
                "description": {"type": "string", "description": "the task in three to five words"},
                "prompt": {"type": "string", "description": "the whole task, and what to answer"},
                "may_change": {"type": "boolean", "description": "whether it may change files and run commands; otherwise it only reads"}
            },
            "required": ["description", "prompt"]
        })
        .into(),
    }
}

impl Session {
    /// Runs calls in their order, tasks for sub-agents among them.
    pub(super) fn run_calls(
        &mut self,
        calls: &[ReadCall],
        cancel: &Cancel,
        asked: &mut Asked,
        screen: &mut dyn Screen,
    ) -> Vec<ToolResult> {
        let is_task = |read: &ReadCall| self.hands.delegates() && read.call.name == DELEGATE;
        let groups: Vec<&[ReadCall]> = calls.chunk_by(|one, next| !is_task(one) && !is_task(next)).collect();
        let tasks: Vec<bool> = groups.iter().map(|group| group.first().is_some_and(is_task)).collect();
        let mut results = Vec::with_capacity(calls.len());
        for (group, task) in groups.into_iter().zip(tasks) {
            if !task {
                results.extend(self.hands.run(group, cancel, asked, screen));
                continue;
            }
            for read in group {
                screen.call(&read.call);
                let result = self.delegate(read, cancel, asked, screen).unwrap_or_else(ToolResult::from);
                screen.result(&read.call, &result);
                results.push(result);
            }
        }
        results
    }

    fn delegate(
        &mut self,
        ReadCall { call, guess }: &ReadCall,
        cancel: &Cancel,
        asked: &mut Asked,
        screen: &mut dyn Screen,
    ) -> Result<ToolResult, del_tools::Failure> {
        let task: Arguments = serde_json::from_str(&call.arguments).map_err(|error| {
            let cause = format!("expected {{\"description\", \"prompt\"}}: {error}.");
            del_tools::Failure::new(Code::BadType, cause)
        })?;
        if let Some(guess) = guess.filter(|_| task.may_change) {
            let cause =
                format!("the task may not be what was meant: {}. Write it again, whole.", guess.message());
            return Err(del_tools::Failure::new(Code::Denied, cause));
        }
        self.hands.heed_task(call, cancel, screen)?;
        let mut result = self.have_done(&task, call, cancel, asked, screen).unwrap_or_else(ToolResult::from);
        self.hands.report(call, &mut result, cancel, screen);
        Ok(result)
    }

    fn have_done(
        &mut self,
        task: &Arguments,
        call: &Call,
        cancel: &Cancel,
        asked: &mut Asked,
        screen: &mut dyn Screen,
    ) -> Result<ToolResult, del_tools::Failure> {
        let name = if task.description.is_empty() { "a task" } else { task.description.as_str() };
        let tools = self.subset(task.may_change);
        let names: Vec<String> = tools.iter().map(|tool| tool.name.clone()).collect();
        let before = self.hands.begin_task(&names, name);
        let outcome = self.sub_agent(tools).map(|mut agent| {
            let mut folded = Folded { screen, task: call, name, calls: 0, turns: 0 };
            let outcome = self.work_on(&mut agent, &task.prompt, cancel, asked, &mut folded);
            self.delegated += agent.usage();
            let counts = format!("[{} in {}]", counted(folded.calls, "call"), counted(folded.turns, "turn"));
            (outcome, counts)
        });
        self.hands.end_task(before);
        let (outcome, counts) = outcome
            .map_err(|error| del_tools::Failure::new(Code::System, format!("no sub-agent: {error}.")))?;
        match outcome {
            Ok(done) => {
                let mut result = ToolResult::success(cut(done.answer));
                result.note(&counts);
                Ok(result)
            }
            Err(Failure::Cancelled) => {
                Err(del_tools::Failure::new(Code::Cancelled, "cancelled by the user."))
            }
            Err(failure) => {
                let cause = format!("the sub-agent has no answer: {failure}. {counts}");
                Err(del_tools::Failure::new(Code::Failed, cause))
            }
        }
    }

    /// The tools of a task: those that only read, or all but this one.
    fn subset(&self, may_change: bool) -> Vec<Tool> {
        let toolbox = &self.hands.toolbox;
        let reads = |tool: &&Tool| may_change || toolbox.class(&tool.name) == Some(Class::Read);
        let jobs = self.hands.job_tool().filter(|_| may_change);
        toolbox.tools().iter().filter(reads).cloned().chain(jobs).collect()
    }

    fn sub_agent(&self, tools: Vec<Tool>) -> anyhow::Result<Agent> {
        let in_prompt = self.agent.mode() == Mode::Prompt;
        let settings = Settings {
            system: instructions::of_task(self.hands.toolbox.directory()),
            tools,
            tools_mode: match self.settings.tools_mode {
                ToolsMode::Auto if in_prompt => ToolsMode::Prompt,
                mode => mode,
            },
            max_turns: self.settings.max_turns.min(TURNS),
            ..self.settings.clone()
        };
        agent(self.catalog, settings)
    }

    fn work_on(
        &mut self,
        agent: &mut Agent,
        prompt: &str,
        cancel: &Cancel,
        asked: &mut Asked,
        folded: &mut Folded<'_>,
    ) -> Result<Done, Failure> {
        let mut effect = agent.step(Input::Start(prompt), &mut |view| folded.view(view));
        loop {
            effect = match effect {
                Effect::Request(body) => {
                    let mut step = |input: Input<'_>| agent.step(input, &mut |view| folded.view(view));
                    self.runtime.block_on(exchange(&self.server, &body, &self.interrupt, &mut step))
                }
                Effect::Count(body) => {
                    let input = self.counted(&body);
                    agent.step(input, &mut |view| folded.view(view))
                }
                Effect::Wait { milliseconds } => {
                    let input = self.waited(Duration::from_millis(milliseconds));
                    agent.step(input, &mut |view| folded.view(view))
                }
                Effect::Run(calls) => {
                    let results = self.hands.run(&calls, cancel, asked, folded);
                    self.offer_jobs().into_iter().for_each(|tool| agent.offer(tool));
                    let input = if cancel.is_cancelled() || self.hands.is_stopped() {
                        Input::Cancel
                    } else {
                        let told = calls.iter().zip(&results).map(|(read, result)| told(&read.call, result));
                        Input::Results(told.collect())
                    };
                    agent.step(input, &mut |view| folded.view(view))
                }
                Effect::Done(done) => return Ok(done),
                Effect::Failed(failure) => return Err(failure),
                // Nothing is under way that could go on.
                Effect::Continue => agent.step(Input::Cancel, &mut |view| folded.view(view)),
            };
        }
    }
}

impl Folded<'_> {
    fn doing(&self, what: &str) {
        if let Some(stage) = stage::current() {
            stage.doing(&format!("{}: {what}", del_tools::visible(self.name)));
        }
    }
}

impl Onlooker for Folded<'_> {
    fn call(&mut self, call: &Call) {
        self.calls += 1;
        self.screen.step(self.task, call);
    }

    fn change(&mut self, change: &str) {
        self.screen.change(change);
    }

    fn hook(&mut self, told: &Told) {
        self.screen.hook(told);
    }

    fn result(&mut self, _: &Call, _: &ToolResult) {}
}

impl Screen for Folded<'_> {
    fn view(&mut self, view: View<'_>) {
        match view {
            View::Turn { turn, .. } => {
                self.turns = turn;
                self.doing("reading the prompt");
            }
            View::Raw { .. } | View::Args { .. } => {
                stage::current().inspect(|stage| stage.count(1));
            }
            View::Text(_) => self.doing("writing"),
            View::Notice(Notice::PromptMode { .. }) => {}
            View::Notice(notice) => self.screen.view(View::Notice(notice)),
            _ => {}
        }
    }

    fn turn_over(&mut self, _: bool) {}

    fn check(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// An answer that is not too long.
fn cut(mut answer: String) -> String {
    if answer.is_empty() {
        return "The sub-agent answered nothing.".to_owned();
    }
    if answer.len() > LONGEST {
        let end = (0..=LONGEST).rev().find(|end| answer.is_char_boundary(*end)).unwrap_or(0);
        answer.truncate(end);
        answer.push_str("\n[the answer was cut here]");
    }
    answer
}
