//! The ways of calling tools, and what comes of them when they are tried.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use del_agent::{Agent, Constrain, Effect, Failure, Input, Notice, Settings, ToolsMode, View};
use del_dialects::{Call, CallResult, Dialect, Tool};
use del_wire::{ApiErrorKind, Words};
use serde_json::{Map, Value, json};
use tokio::runtime::Runtime;

use crate::catalog::Catalog;
use crate::exchange::exchange;
use crate::exit::Exit;
use crate::interrupt::Interrupt;
use crate::say;
use crate::server::Server;

/// A way of calling tools.
#[derive(Debug, Clone)]
pub(super) struct Way {
    pub(super) tools_mode: ToolsMode,
    /// The one that calls are written in, where they are written.
    pub(super) dialect: Option<Arc<Dialect>>,
    pub(super) constrained: bool,
}

/// What came of a way.
#[derive(Debug)]
pub(super) struct Outcome {
    pub(super) way: Way,
    pub(super) trials: Vec<Trial>,
    /// The dialects that calls were read in as text; none where they came as the API has them.
    pub(super) read_in: Vec<String>,
}

/// What came of one question.
#[derive(Debug)]
pub(super) struct Trial {
    pub(super) name: &'static str,
    /// What is wrong with it, if something is.
    pub(super) wrong: Option<Wrong>,
}

/// What is wrong with an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Wrong {
    /// It is another one than it should be.
    Answer(String),
    /// There is none.
    Failed(Failure),
}

/// Asks the model of a server for calls.
pub(super) struct Bench<'a> {
    pub(super) catalog: Catalog,
    pub(super) server: &'a Server,
    pub(super) model: &'a str,
    pub(super) runtime: &'a Runtime,
    pub(super) interrupt: &'a Interrupt,
    /// What the model's template says of tools.
    pub(super) words: Option<Words>,
    /// Members of every request.
    pub(super) extra: Map<String, Value>,
    /// How long one answer may take.
    pub(super) patience: Duration,
    /// What is offered: the tools of the questions, perhaps among others.
    pub(super) tools: Vec<Tool>,
}

/// A question, and what should come of it.
struct Question {
    name: &'static str,
    text: &'static str,
    expected: Expected,
}

enum Expected {
    /// One call.
    Call { tool: &'static str, arguments: &'static [Argument], result: &'static str },
    /// Plain words: no tool fits.
    Words,
}

/// An argument that is looked at.
struct Argument {
    name: &'static str,
    fits: fn(&Value) -> bool,
    /// What it should be.
    shown: &'static str,
}

/// What models get wrong: types, quotes, arguments that may be left out, and tools where none is wanted.
const QUESTIONS: [Question; 5] = [
    Question {
        name: "a word",
        text: "What is the weather in Paris? Call the tool get_weather to find out.",
        expected: Expected::Call {
            tool: "get_weather",
            arguments: &[Argument { name: "city", fits: |value| holds(value, "paris"), shown: "\"Paris\"" }],
            result: "17 degrees, thunderstorm",
        },
    },
    Question {
        name: "a number",
        text: "Set a timer of 25 minutes for the tea. Call the tool set_timer.",
        expected: Expected::Call {
            tool: "set_timer",
            arguments: &[Argument {
                name: "minutes",
                fits: |value| value.as_f64() == Some(25.0),
                shown: "the number 25",
            }],
            result: "The timer runs.",
        },
    },
    Question {
        name: "a text with quotes",
        text: "Save this note word for word: She said \"yes\" twice. Call the tool save_note.",
        expected: Expected::Call {
            tool: "save_note",
            arguments: &[Argument {
                name: "text",
                fits: |value| holds(value, "\"yes\""),
                shown: "a text with \"yes\" in quotes",
            }],
            result: "The note is saved.",
        },
    },
    Question {
        name: "an optional argument",
        text: "How warm is it in Oslo, in fahrenheit?",
        expected: Expected::Call {
            tool: "get_weather",
            arguments: &[
                Argument { name: "city", fits: |value| holds(value, "oslo"), shown: "\"Oslo\"" },
                Argument { name: "unit", fits: |value| holds(value, "fahrenheit"), shown: "\"fahrenheit\"" },
            ],
            result: "41 degrees, snow",
        },
    },
    Question { name: "nothing to call", text: "Who wrote Hamlet?", expected: Expected::Words },
];

fn holds(value: &Value, part: &str) -> bool {
    value.as_str().is_some_and(|text| text.to_lowercase().contains(part))
}

const SYSTEM: &str = "You are an assistant with tools. Where a tool is needed, call it; when you have its result, answer in one short sentence.";
/// One request for the call, and one for what follows its result.
const TURNS: u32 = 2;
/// Before these, one for a definition, and another after a mistake.
const HYBRID_TURNS: u32 = TURNS + 2;
/// Tokens after which a model has lost its way, its thinking included.
const LONGEST: u64 = 2048;

impl Outcome {
    /// How many answers were right.
    pub(super) fn right(&self) -> usize {
        self.trials.iter().filter(|trial| trial.wrong.is_none()).count()
    }

    /// Whether a call was among them. Who never calls is right where nothing is to be called, and of no use.
    pub(super) fn calls(&self) -> bool {
        let wanted = |question: &Question| matches!(question.expected, Expected::Call { .. });
        self.trials.iter().zip(&QUESTIONS).any(|(trial, question)| trial.wrong.is_none() && wanted(question))
    }

    /// Whether all were.
    pub(super) fn works(&self) -> bool {
        self.right() == QUESTIONS.len()
    }

    /// How many there should be.
    pub(super) const fn of() -> usize {
        QUESTIONS.len()
    }
}

impl Wrong {
    /// Whether the next question would fare no better: the server is down, or none.
    fn lasts(&self) -> bool {
        match self {
            Self::Failed(Failure::Refused { error, .. }) => {
                matches!(error.kind, ApiErrorKind::RateLimited | ApiErrorKind::Unavailable)
            }
            Self::Failed(Failure::Garbage { .. }) => true,
            _ => false,
        }
    }
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Answer(why) => f.write_str(why),
            Self::Failed(failure) => write!(f, "{failure}"),
        }
    }
}

impl Bench<'_> {
    /// Tries a way. Fails where nothing else can work either.
    pub(super) fn try_way(&self, way: Way, progress: &dyn Fn(&str)) -> Result<Outcome> {
        let mut outcome = Outcome { way, trials: Vec::new(), read_in: Vec::new() };
        for (place, question) in QUESTIONS.iter().enumerate() {
            progress(&format!("{} ({} of {})", question.name, place + 1, QUESTIONS.len()));
            let wrong = self.ask(question, &outcome.way, &mut outcome.read_in)?.err();
            let lasts = wrong.as_ref().is_some_and(Wrong::lasts);
            outcome.trials.push(Trial { name: question.name, wrong: wrong.clone() });
            if place == 0 && lasts {
                let rest = QUESTIONS[1..].iter().map(|question| question.name);
                outcome.trials.extend(rest.map(|name| Trial { name, wrong: wrong.clone() }));
                break;
            }
        }
        Ok(outcome)
    }

    /// Asks one question: whether the right call came, or what is wrong.
    fn ask(
        &self,
        question: &Question,
        way: &Way,
        read_in: &mut Vec<String>,
    ) -> Result<std::result::Result<(), Wrong>> {
        let settings = Settings {
            model: self.model.to_owned(),
            system: SYSTEM.to_owned(),
            tools: self.tools.clone(),
            tools_mode: way.tools_mode,
            dialect: way.dialect.clone(),
            words: self.words.clone(),
            constrain: if way.constrained { Constrain::On } else { Constrain::Auto },
            api: self.server.api,
            extra: self.extra.clone(),
            server: del_agent::Server { takes_tools: None, counts: false, ..self.server.for_agent() },
            max_turns: if way.tools_mode == ToolsMode::Hybrid { HYBRID_TURNS } else { TURNS },
            max_tokens: Some(LONGEST),
            ..Settings::default()
        };
        let mut agent = Agent::new(self.catalog.all(), settings)
            .map_err(|error| Exit::Configuration.because(error.to_string()))?;
        let mut watch = |view: View<'_>| {
            if let View::Notice(notice @ Notice::Retry { .. }) = &view {
                say(notice);
            }
            if let View::CallStart { dialect, .. } = view
                && dialect != del_wire::native::NAME
                && !read_in.iter().any(|known| known == dialect)
            {
                read_in.push(dialect.to_owned());
            }
        };
        let mut step = |input: Input<'_>| agent.step(input, &mut watch);
        let mut verdict = Err("the model answered without a call".to_owned());
        let mut called = false;
        let mut effect = step(Input::Start(question.text));
        loop {
            effect = match effect {
                Effect::Request(body) => match self.exchange(&body, &mut step) {
                    Some(effect) => effect,
                    None => {
                        let why = format!("no answer within {} s", self.patience.as_secs());
                        return Ok(Err(Wrong::Answer(why)));
                    }
                },
                Effect::Wait { milliseconds } => {
                    self.wait(milliseconds);
                    step(if self.interrupt.is_pressed() { Input::Cancel } else { Input::Waited })
                }
                Effect::Run(calls) => {
                    let calls: Vec<Call> = calls.into_iter().map(|read| read.call).collect();
                    // A model may mend a wrong call, but not one that nobody wanted.
                    if !called || verdict.is_err() && matches!(question.expected, Expected::Call { .. }) {
                        verdict = question.judge(&calls);
                    }
                    called = true;
                    let result = |call: &Call| CallResult {
                        id: call.id.clone(),
                        name: call.name.clone(),
                        text: question.result().to_owned(),
                        ok: true,
                    };
                    step(Input::Results(calls.iter().map(result).collect()))
                }
                Effect::Done(_) => {
                    let silent = matches!(question.expected, Expected::Words) && !called;
                    return Ok(if silent { Ok(()) } else { verdict.map_err(Wrong::Answer) });
                }
                Effect::Failed(failure) => return self.failed(&failure, verdict),
                // Nothing is under way that could go on, and nothing is counted.
                Effect::Continue | Effect::Count(_) => step(Input::Cancel),
            };
        }
    }

    /// What follows the answer; nothing where none comes in time.
    fn exchange(&self, body: &Value, step: &mut impl FnMut(Input<'_>) -> Effect) -> Option<Effect> {
        let answer = exchange(self.server, body, self.interrupt, step);
        self.runtime.block_on(async { tokio::time::timeout(self.patience, answer).await.ok() })
    }

    fn wait(&self, milliseconds: u64) {
        self.runtime.block_on(async {
            tokio::select! {
                () = tokio::time::sleep(Duration::from_millis(milliseconds)) => {}
                () = self.interrupt.pressed() => {}
            }
        });
    }

    fn failed(
        &self,
        failure: &Failure,
        verdict: std::result::Result<(), String>,
    ) -> Result<std::result::Result<(), Wrong>> {
        match failure {
            _ if self.interrupt.is_pressed() => Err(Exit::Interrupted.because("interrupted")),
            Failure::Refused { error, .. } if error.kind == ApiErrorKind::Authentication => {
                Err(Exit::Authentication.because(failure.to_string()))
            }
            Failure::Unreachable { .. } => Err(Exit::Failed.because(failure.to_string())),
            // The call was right; what came after it is another matter.
            _ => Ok(verdict.map_err(|_| Wrong::Failed(failure.clone()))),
        }
    }
}

impl Question {
    fn judge(&self, calls: &[Call]) -> std::result::Result<(), String> {
        let names = || calls.iter().map(|call| call.name.as_str()).collect::<Vec<_>>().join(", ");
        let Expected::Call { tool, arguments, .. } = self.expected else {
            return Err(format!("expected plain words, got a call of {}", names()));
        };
        let Some(call) = calls.iter().find(|call| call.name == tool) else {
            return Err(format!("expected a call of {tool}, got one of {}", names()));
        };
        let given: Map<String, Value> = serde_json::from_str(&call.arguments).unwrap_or_default();
        for Argument { name, fits, shown } in arguments {
            match given.get(*name) {
                Some(value) if fits(value) => {}
                Some(value) => return Err(format!("expected {shown} as {name}, got {value}")),
                None => return Err(format!("expected {shown} as {name}, got {}", call.arguments)),
            }
        }
        Ok(())
    }

    fn result(&self) -> &'static str {
        match self.expected {
            Expected::Call { result, .. } => result,
            Expected::Words => "There is nothing.",
        }
    }
}

/// The tools of the questions, with dozens of others where there are to be `many`. None of them does anything.
pub(super) fn tools(many: bool) -> Vec<Tool> {
    let tool = |name: &str, description: &str, arguments: Value, required: &[&str]| {
        let parameters = json!({"type": "object", "properties": arguments, "required": required});
        Tool { name: name.to_owned(), description: description.to_owned(), parameters: parameters.into() }
    };
    let unit =
        json!({"type": "string", "enum": ["celsius", "fahrenheit"], "description": "celsius if left out"});
    let label = json!({"type": "string", "description": "what it is for"});
    let mut tools = vec![
        tool(
            "get_weather",
            "Says the weather in a city",
            json!({"city": {"type": "string"}, "unit": unit}),
            &["city"],
        ),
        tool(
            "set_timer",
            "Sets a timer",
            json!({"minutes": {"type": "integer"}, "label": label}),
            &["minutes", "label"],
        ),
        tool("save_note", "Saves a note", json!({"text": {"type": "string"}}), &["text"]),
    ];
    if many {
        for thing in
            ["issue", "invoice", "customer", "calendar_event", "photo", "playlist", "parcel", "server"]
        {
            for verb in ["list", "create", "update", "archive", "share"] {
                let id = json!({"type": "string", "description": format!("the {thing}, by its id")});
                let about = json!({"type": "string", "description": "what there is to say of it"});
                let said = thing.replace('_', " ");
                tools.push(tool(
                    &format!("{verb}_{thing}"),
                    &format!("Can {verb} one {said} or several of the user's account"),
                    json!({"id": id, "about": about}),
                    &["id"],
                ));
            }
        }
    }
    tools
}
