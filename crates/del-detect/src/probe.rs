//! Conversations with known words in them, and what a template makes of them.

mod conversation;
mod introduction;
mod turn;

use del_dialects::{Call, Tool};
use serde_json::Value as Json;

use crate::template::{RenderError, Template};
use crate::text;
pub(crate) use conversation::{Arguments, Blank, Ids, Message, Style, Switch, UNTOLD_END};
pub(crate) use introduction::Introduction;
pub(crate) use turn::Turn;

/// What a template showed of itself.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    /// It shows tools that it is given.
    pub(crate) shows_tools: bool,
    /// It shows calls of the model's.
    pub(crate) shows_calls: bool,
    /// What comes with the tools: definitions and instructions.
    pub(crate) definitions: String,
    /// Prompts with tools and without, from which the instructions can be told.
    pub(crate) introduction: Introduction,
    /// The model's turns that call tools, as the model would write them.
    pub(crate) turns: Vec<Turn>,
    /// Its turns that call none, and turns with text behind the calls.
    pub(crate) beside: Vec<Turn>,
    /// The marks of thinking.
    pub(crate) reasoning: Option<Thinking>,
    /// What stands between a call and a result, and around results.
    pub(crate) results: Option<Shown>,
    /// What stands around the words of a plain answer, beside what opens and ends a turn.
    pub(crate) answer: [String; 2],
    /// What ends a turn of the model's.
    pub(crate) end: String,
    /// What opens a turn of the model's.
    pub(crate) header: String,
    /// What it refused, in its own words.
    pub(crate) refusals: Vec<String>,
    /// Why it shows nothing at all.
    pub(crate) failure: Option<RenderError>,
}

/// The marks of thinking.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Thinking {
    pub(crate) begin: String,
    /// Empty where nothing but a call ends it.
    pub(crate) end: String,
    /// The prompt ends inside it.
    pub(crate) prefilled: bool,
    /// It does where thinking is switched on.
    pub(crate) prefilled_on: bool,
    /// It does where thinking is switched off.
    pub(crate) prefilled_off: bool,
    /// The template shows it only with this switch.
    pub(crate) only: Option<Switch>,
}

impl Thinking {
    /// The prompt may end inside it.
    pub(crate) fn may_be_begun(&self) -> bool {
        self.prefilled || self.prefilled_on || self.prefilled_off
    }
}

/// How results are shown: what comes before, between and behind them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Shown {
    pub(crate) before: String,
    pub(crate) between: Option<String>,
    pub(crate) behind: String,
}

/// The tools of all probes.
pub(crate) fn tools() -> Vec<Tool> {
    // A test reads it, so nothing is left out here.
    serde_json::from_str(include_str!("probe/tools.json")).unwrap_or_default()
}

/// The calls of the probes: what they show, and the calls.
const CALLS: &[(&str, &[(&str, &str)])] = &[
    ("one call", &[("get_weather", r#"{"city": "Quorville", "days": 7319}"#)]),
    (
        "two calls",
        &[
            ("get_weather", r#"{"city": "Quorville", "days": 7319}"#),
            ("list_dir", r#"{"path": "zeta/omega"}"#),
        ],
    ),
    (
        "three calls",
        &[
            ("list_dir", r#"{"path": "zeta/omega"}"#),
            ("get_weather", r#"{"city": "Vexholm", "days": 58}"#),
            ("write_file", r#"{"path": "kappa.md", "content": "thorn"}"#),
        ],
    ),
    ("one argument", &[("list_dir", r#"{"path": "zeta/omega"}"#)]),
    ("no arguments", &[("project_context", "{}")]),
    (
        "an object, a list and a boolean",
        &[("add_item", r#"{"item": {"label": "quartz", "size": 41}, "tags": ["ruby", "opal"], "ok": true}"#)],
    ),
    ("null and a fraction", &[("set_option", r#"{"value": null, "ratio": 0.625}"#)]),
    (
        "several lines and quotes",
        &[("write_file", r#"{"path": "notes/ä b.md", "content": "first \"line\"\n  second's <b>\n"}"#)],
    ),
];

const ANSWER: &str = "Plomberanswer";
const SAID: &str = "Grovelsaid before it.";
const THOUGHT: &str = "Wimblethought of it.";
const RESULTS: [&str; 2] = ["Hexresult one", "Yokresult two"];

/// Asks a template everything.
pub(crate) struct Probe<'t> {
    template: &'t mut Template,
    /// What the checkpoint says of its tokens.
    tokens: &'t serde_json::Map<String, Json>,
    style: Style,
    findings: Findings,
}

impl<'t> Probe<'t> {
    /// Renders the probes.
    pub(crate) fn run(template: &'t mut Template, tokens: &'t serde_json::Map<String, Json>) -> Findings {
        let mut probe = Self { template, tokens, style: Style::default(), findings: Findings::default() };
        if let Err(error) = probe.explore() {
            probe.findings.failure = Some(error);
        }
        probe.findings
    }

    fn explore(&mut self) -> Result<(), RenderError> {
        let plain = self.plain()?;
        self.look_at_tools(&plain)?;
        self.choose_style()?;
        let frame = turn::Frame::of(self)?;
        self.findings.reasoning.clone_from(&frame.thinking);
        self.findings.header.clone_from(&frame.header);
        self.findings.end.clone_from(&frame.end);
        self.findings.answer.clone_from(&frame.around);
        if self.findings.shows_calls {
            self.look_at_calls(&frame)?;
            self.look_at_results();
            self.look_at_instructions();
        }
        self.look_at_refusals();
        Ok(())
    }

    /// The plainest conversation, in a form that the template takes.
    fn plain(&mut self) -> Result<String, RenderError> {
        let mut first = None;
        for system in [false, true] {
            for without in [Blank::Null, Blank::Absent, Blank::Empty] {
                self.style = Style { system, without, ..self.style };
                match self.text(&[Message::user()], true) {
                    Err(error) if error.is_fatal() => return Err(error),
                    Err(error) => first = first.or(Some(error)),
                    text => return text,
                }
            }
        }
        Err(first.unwrap_or(RenderError::Endless))
    }

    fn look_at_tools(&mut self, plain: &str) -> Result<(), RenderError> {
        self.style.tools = true;
        let way = |flat, simple| Style { flat, simple, ..self.style };
        let ways = [way(false, false), way(false, true), way(true, false), way(true, true)];
        for way in ways {
            self.style = way;
            match self.text(&[Message::user()], true) {
                Ok(text) if text.contains("get_weather") => {
                    self.findings.shows_tools = true;
                    text::inserted(plain, &text).clone_into(&mut self.findings.definitions);
                    return Ok(());
                }
                Ok(text) => {
                    if text != plain && self.findings.definitions.is_empty() {
                        text::inserted(plain, &text).clone_into(&mut self.findings.definitions);
                    }
                }
                Err(error) if error.is_fatal() => return Err(error),
                Err(error) => self.refused("tools", &error),
            }
        }
        self.style = ways[0];
        if self.text(&[Message::user()], true).is_err() {
            self.style.tools = false;
        }
        Ok(())
    }

    /// Finds the form of calls that the template takes: the one in which its text is least mangled.
    fn choose_style(&mut self) -> Result<(), RenderError> {
        let calls = calls(CALLS[0].1);
        let given = self.style;
        let told =
            self.text(&[Message::user(), Message::answer(ANSWER)], false).map_or(0, |text| names_in(&text));
        let mut tried = Vec::new();
        for arguments in [Arguments::Object, Arguments::Text] {
            for ids in [Ids::Nine, Ids::Function] {
                for blank in [Blank::Empty, Blank::Null, Blank::Absent] {
                    self.style = Style { arguments, ids, blank, ..given };
                    let text = self.text(&[Message::user(), Message::calls(&calls)], false);
                    if let Some(error) = text.as_ref().err().filter(|error| error.is_fatal()) {
                        return Err(error.clone());
                    }
                    tried.push((self.style, text));
                }
            }
        }
        self.style = given;
        let shown =
            tried.iter().filter_map(|(style, text)| Some((mangled(text.as_ref().ok()?, told), *style)));
        // Of equals the first.
        if let Some((cost, style)) = shown.min_by_key(|(cost, _)| *cost) {
            self.style = style;
            self.findings.shows_calls = cost < MISSING;
            self.look_at_forms(&tried);
        } else if self.style.tools {
            // Some templates know calls of the model's only in conversations without tools.
            self.style.tools = false;
            self.choose_style()?;
            self.style.tools = self.findings.shows_tools && !self.findings.shows_calls;
        } else if let Some((_, Err(error @ (RenderError::Failed(_) | RenderError::Recursion)))) =
            tried.into_iter().next()
        {
            return Err(error);
        }
        Ok(())
    }

    /// Which forms of a call are refused, whatever the rest of it is.
    fn look_at_forms(&mut self, tried: &[(Style, Result<String, RenderError>)]) {
        type Asks = fn(&Style) -> bool;
        let forms: [(&str, Asks); 6] = [
            ("arguments as an object", |style| style.arguments == Arguments::Object),
            ("arguments as JSON in a string", |style| style.arguments == Arguments::Text),
            ("ids of nine characters", |style| style.ids == Ids::Nine),
            ("ids such as functions.NAME:0", |style| style.ids == Ids::Function),
            ("calls with null content", |style| style.blank == Blank::Null),
            ("calls without content", |style| style.blank == Blank::Absent),
        ];
        for (about, asks) in forms {
            let of_form = || tried.iter().filter(|(style, _)| asks(style)).map(|(_, text)| text);
            if let Some(Err(error)) = of_form().next()
                && of_form().all(Result::is_err)
            {
                self.refused(about, error);
            }
        }
    }

    fn look_at_calls(&mut self, frame: &turn::Frame) -> Result<(), RenderError> {
        for (about, list) in CALLS {
            let calls = calls(list);
            match Turn::of(self, frame, about, calls, None, None) {
                Ok(Some(turn)) => self.findings.turns.push(turn),
                Ok(None) => {}
                Err(error) if error.is_fatal() => return Err(error),
                Err(error) => self.refused(about, &error),
            }
        }
        let one = || calls(CALLS[0].1);
        for (about, said, thought) in [
            ("text before a call", Some(SAID), None),
            ("thinking before a call", None, Some(THOUGHT)),
            ("thinking and text before a call", Some(SAID), Some(THOUGHT)),
        ] {
            if thought.is_some() && frame.thinking.is_none() {
                continue;
            }
            if let Ok(Some(turn)) = Turn::of(self, frame, about, one(), said, thought) {
                self.findings.turns.push(turn);
            }
        }
        self.look_at_answers(frame);
        Ok(())
    }

    /// Turns without calls, and with text behind them: whoever reads calls reads these as well.
    fn look_at_answers(&mut self, frame: &turn::Frame) {
        for (about, thought) in [("a plain answer", None), ("thinking and a plain answer", Some(THOUGHT))] {
            if thought.is_some() && frame.thinking.is_none() {
                continue;
            }
            if let Ok(Some(turn)) = Turn::of(self, frame, about, Vec::new(), Some(ANSWER), thought) {
                self.findings.beside.push(turn);
            }
        }
        let alone = self.findings.turns.first().filter(|turn| turn.said.is_none()).cloned();
        self.findings.beside.extend(alone.map(|turn| Turn {
            about: "text behind a call".to_owned(),
            said: Some(SAID.to_owned()),
            text: format!("{}\n\n{SAID}", turn.text),
            ..turn
        }));
    }

    fn look_at_results(&mut self) {
        let one = calls(CALLS[0].1);
        let two = calls(CALLS[1].1);
        let turn = Message::calls(&one);
        let Ok(before) = self.text(&[Message::user(), turn.clone()], false) else { return };
        let answered = |probe: &mut Self, results: &[&str], calls: &[Call]| {
            let mut messages = vec![Message::user(), Message::calls(calls)];
            let pairs = results.iter().zip(calls);
            messages.extend(pairs.map(|(text, call)| Message::result(call, text)));
            probe.text(&messages, false)
        };
        let Ok(text) = answered(self, &RESULTS[..1], &one) else { return };
        let start = text::common_prefix(&before, &text);
        let Some(at) = text[start..].find(RESULTS[0]) else { return };
        let (head, behind) = text[start..].split_at(at);
        let both = answered(self, &RESULTS, &two).ok();
        let between = both.and_then(|both| {
            let first = both.find(RESULTS[0])? + RESULTS[0].len();
            let second = both[first..].find(RESULTS[1])?;
            Some(both[first..first + second].to_owned())
        });
        self.findings.results =
            Some(Shown { before: head.to_owned(), between, behind: behind[RESULTS[0].len()..].to_owned() });
    }

    fn look_at_refusals(&mut self) {
        let one = calls(CALLS[0].1);
        let turn = Message::calls(&one);
        let result = Message::result(&one[0], RESULTS[0]);
        let checks: [(&str, Vec<Message>); 4] = [
            ("a system message", vec![Message::system(), Message::user()]),
            ("a result of a tool", vec![Message::user(), turn.clone(), result.clone()]),
            ("two user messages in a row", vec![Message::user(), Message::user()]),
            ("a user message behind a result", vec![Message::user(), turn, result, Message::user()]),
        ];
        for (about, messages) in checks {
            if let Err(error) = self.text(&messages, true) {
                self.refused(about, &error);
            }
        }
    }

    fn refused(&mut self, about: &str, error: &RenderError) {
        let line = format!("{about}: {error}");
        let known = self.findings.refusals.iter().any(|known| known.split(": ").next() == Some(about));
        if !known && self.findings.refusals.len() < MAX_REFUSALS {
            self.findings.refusals.push(line);
        }
    }

    /// The text of a conversation.
    fn text(&mut self, messages: &[Message], prompt: bool) -> Result<String, RenderError> {
        let context = conversation::context(messages, &self.style, self.tokens, prompt);
        self.template.render(&context)
    }
}

const MAX_REFUSALS: usize = 12;

/// What a text without the call costs, in [`mangled`].
const MISSING: usize = 100;

/// How often a text names the tool of the first probe.
fn names_in(text: &str) -> usize {
    text.matches("get_weather").count()
}

/// How far the one call of the first probe is from what a model would write, where `told` names come with the tools.
fn mangled(text: &str, told: usize) -> usize {
    let has = |word: &str| usize::from(text.contains(word));
    MISSING * (1 - has("Quorville")).max(1 - has("7319"))
        + 20 * usize::from(names_in(text) <= told)
        + 10 * has("\\\"Quorville")
        + 10 * has("\\\\\"")
        + 3 * has("'Quorville'") * has("'city': ")
        // The arguments stand in a literal of Python's, which is no text for them but for the call as a whole.
        + 5 * has("'{\"city\"")
}

fn calls(list: &[(&str, &str)]) -> Vec<Call> {
    let call = |(name, arguments): &(&str, &str)| Call {
        id: None,
        name: (*name).to_owned(),
        arguments: (*arguments).to_owned(),
    };
    list.iter().map(call).collect()
}
