//! Plays a row of the table: a scripted server, the program as users run it, and what has to come of it.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::sync::{Arc, LazyLock};

use del_dialects::{Call, Dialect, Dialects, Tool};
use del_tools::{Definition, Toolset};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{DIALECTS, MODES, Mode};
use crate::del::{del, directory, run};
use crate::server::{About, Reply, Server, words};
use crate::terminal::Terminal;

/// One row.
pub(super) struct Row {
    /// Files of the project, and of the user's home.
    pub(super) files: &'static [(&'static str, &'static str)],
    pub(super) home: &'static [(&'static str, &'static str)],
    /// What the user runs before.
    pub(super) first: &'static [&'static str],
    pub(super) options: &'static [&'static str],
    /// Tokens that the model takes.
    pub(super) context: Option<u32>,
    pub(super) model: &'static [Turn],
    /// What the user types at the terminal, each once something is on the screen. Nobody sits there if it is nothing.
    pub(super) user: &'static [(&'static str, &'static str)],
    /// What the model is told, at some time.
    pub(super) told: &'static [&'static str],
    /// Dialects in which it cannot happen.
    pub(super) but: &'static [&'static str],
    /// How it ends.
    pub(super) code: i32,
    pub(super) answer: &'static str,
    /// Files as they are then, or that are not there.
    pub(super) after: &'static [(&'static str, Option<&'static str>)],
}

/// What a row has that says nothing else.
pub(super) const ROW: Row = Row {
    files: &[],
    home: &[],
    first: &[],
    options: &[],
    context: None,
    model: &[],
    user: &[],
    told: &[],
    but: &[],
    code: 0,
    answer: "Done.",
    after: &[],
};

/// What the model does when it is asked.
#[derive(Clone, Copy)]
pub(super) enum Turn {
    Says(&'static str),
    /// Calls of one answer, or of an answer each where the dialect writes one at a time: names and arguments.
    Calls(&'static [(&'static str, &'static str)]),
    /// It gives this task to a sub-agent, which does that.
    Task(&'static str, &'static [Turn]),
    /// It begins to say this when the user interrupts the program, and then asks it to go on.
    Interrupted(&'static str),
    /// The same, but the program is killed.
    Killed(&'static str),
    /// The server refuses the request for its length.
    Overflow,
}

/// How calls are written.
#[derive(Clone, Copy)]
enum Form {
    Api,
    Text(&'static Arc<Dialect>),
}

/// A row in one mode and form.
struct Play<'a> {
    row: &'a Row,
    mode: Mode,
    form: Form,
    server: Server,
    files: TempDir,
    home: TempDir,
}

/// What stands for the content of a file that is long.
pub(super) const LONG: &str = "(600 lines)";

static TOOLS: LazyLock<Vec<Tool>> = LazyLock::new(|| {
    let mut tools: Vec<Tool> = Toolset::Core.definitions().iter().map(Definition::tool).collect();
    tools.extend(del_wire::Hybrid::new(&tools).map(|hybrid| hybrid.request()));
    tools
});

impl Row {
    /// In every mode and form.
    pub(super) fn play(&self) {
        for mode in MODES {
            for name in DIALECTS.into_iter().filter(|name| !self.but.contains(name)) {
                let dialect = Dialects::builtin().get(name).unwrap();
                Play::new(self, mode, Form::Text(dialect)).check(&format!("{mode:?}, {name}"));
            }
            // In the prompt there is nothing of the API, and a server that takes no tools has no calls.
            if matches!(mode, Mode::Native | Mode::Hybrid) {
                Play::new(self, mode, Form::Api).check(&format!("{mode:?}, API"));
            }
        }
    }
}

impl<'a> Play<'a> {
    fn new(row: &'a Row, mode: Mode, form: Form) -> Self {
        // Of all servers, llama.cpp tells at the start how much the model takes.
        let llama = json!({"data": [{"id": "scripted", "owned_by": "llamacpp"}]}).to_string();
        let about = About {
            models: row.context.map_or(About::default().models, |_| (200, llama)),
            props: row.context.map(|tokens| json!({"default_generation_settings": {"n_ctx": tokens}})),
            refuses_tools: mode == Mode::Auto,
            ..About::default()
        };
        let script = answers(row.model, mode, form);
        let server = Server::about(about, script);
        let long: String = "a line of a file that is long\n".repeat(600);
        let files: Vec<(&str, &str)> = row
            .files
            .iter()
            .map(|(path, content)| (*path, if *content == LONG { long.as_str() } else { *content }))
            .collect();
        Self { row, mode, form, server, files: directory(&files), home: directory(row.home) }
    }

    fn check(&self, case: &str) {
        let row = self.row;
        if !row.first.is_empty() {
            let got = run(&mut self.command(row.first), "");
            assert_eq!(got.code, 0, "{case}: {got:#?}");
        }
        let mut prompt = vec!["-p", "Do it."];
        for turn in row.model {
            if let Turn::Interrupted(begun) | Turn::Killed(begun) = turn {
                self.stop(begun, matches!(turn, Turn::Killed(_)), case);
                prompt = vec!["-p", "Go on.", "-c"];
            }
        }
        let resumed = prompt.contains(&"-c");
        let arguments = self.arguments(&prompt, resumed);
        let (code, answer) = self.run(&arguments);
        assert_eq!(code, row.code, "{case}: {answer}");
        assert!(answer.contains(row.answer), "{case}: {answer}");
        for (path, content) in row.after {
            let found = std::fs::read_to_string(self.files.path().join(path)).ok();
            assert_eq!(found.as_deref(), *content, "{case}: {path}: {answer}");
        }
        self.check_requests(case);
    }

    /// What the model was told, and that tools were offered as the mode has it.
    fn check_requests(&self, case: &str) {
        let bodies: Vec<Value> = self.server.completions().into_iter().map(|seen| seen.body).collect();
        // What others say is told with the marks in it broken: `call:` is one.
        let told =
            |body: &Value| Dialects::builtin().restore_json(&body["messages"].to_string()).into_owned();
        let all: Vec<String> = bodies.iter().map(told).collect();
        for told in self.row.told {
            let found = all.iter().any(|messages| messages.contains(told));
            assert!(
                found,
                "{case}: expected {told:?}: {:#}",
                bodies.last().unwrap_or(&Value::Null)["messages"]
            );
        }
        let Some(first) = bodies.first() else { return assert!(self.row.model.is_empty(), "{case}") };
        let over_api =
            matches!((self.mode, self.form), (Mode::Native | Mode::Auto, _) | (Mode::Hybrid, Form::Api));
        assert_eq!(first.get("tools").is_some(), over_api, "{case}");
        // A parameter that only a whole definition has.
        let defined = first.to_string().contains("file_path");
        assert_eq!(defined, self.mode != Mode::Hybrid, "{case}: {first}");
        let last = bodies.last().unwrap_or(first);
        assert_eq!(last.get("tools").is_some(), over_api && self.mode != Mode::Auto, "{case}");
    }

    /// The exit code and the answer.
    fn run(&self, arguments: &[&str]) -> (i32, String) {
        if self.row.user.is_empty() {
            let got = run(&mut self.command(arguments), "");
            return (got.code, format!("{}{}", got.out, got.err));
        }
        let home = self.home.path().to_str().unwrap();
        let variables = [("HOME", home), ("EDITOR", ""), ("VISUAL", "")];
        let mut terminal = Terminal::with(&self.files, arguments, 100, &variables);
        for (shown, typed) in self.row.user {
            terminal.until(shown);
            terminal.write(typed);
        }
        let (seen, code) = terminal.end();
        (code, seen)
    }

    /// Runs it up to where the model begins to say this, and ends it there.
    fn stop(&self, begun: &str, kill: bool, case: &str) {
        let arguments =
            [&self.arguments(&["-p", "Do it."], false)[..], &["--output-format", "stream-json"]].concat();
        let mut command = self.command(&arguments);
        // Who is killed removes nothing.
        let place = tempfile::tempdir().unwrap();
        let mut child = command
            .env("TMPDIR", place.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut said = String::new();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        while !said.contains(begun.trim_end()) {
            let line: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
            said.push_str(line["content"].as_str().unwrap_or_default());
            assert_ne!(line["type"], "result", "{case}: {line}");
        }
        if kill {
            child.kill().unwrap();
        } else {
            let id = child.id().to_string();
            assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
        }
        // What it still says has to be read, or it waits for that.
        lines.for_each(drop);
        assert_eq!(child.wait().unwrap().code(), (!kill).then_some(130), "{case}");
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = del(arguments);
        command.current_dir(self.files.path()).env("HOME", self.home.path());
        command
    }

    fn arguments<'s>(&'s self, prompt: &[&'s str], resumed: bool) -> Vec<&'s str> {
        let mut arguments = [prompt, &["--base-url", self.server.url()], self.row.options].concat();
        // What was in the prompt goes on there, in the same dialect.
        if resumed && self.mode == Mode::Prompt {
            return arguments;
        }
        let mode = match self.mode {
            Mode::Native => "native",
            Mode::Prompt => "prompt",
            Mode::Hybrid => "hybrid",
            Mode::Auto => "auto",
        };
        arguments.extend(["--tools-mode", mode]);
        if let (Form::Text(dialect), true) = (self.form, self.mode != Mode::Native) {
            arguments.extend(["--dialect", dialect.name()]);
        }
        arguments
    }
}

/// The answers of a conversation.
fn answers(turns: &[Turn], mode: Mode, form: Form) -> Vec<Reply> {
    let mut answers = Vec::new();
    if mode == Mode::Hybrid {
        let names: Vec<&str> = turns.iter().flat_map(Turn::names).collect();
        if !names.is_empty() {
            answers.extend(form.write(&[("request_tools", &json!({"query": names.join(", ")}).to_string())]));
        }
    }
    for turn in turns {
        match *turn {
            Turn::Says(text) => answers.push(stream(words(text), "stop")),
            Turn::Calls(calls) => answers.extend(form.write(calls)),
            Turn::Task(prompt, own) => {
                let arguments = json!({"description": "look", "prompt": prompt}).to_string();
                answers.extend(form.write(&[("task", &arguments)]));
                answers.extend(self::answers(own, mode, form));
            }
            Turn::Interrupted(begun) | Turn::Killed(begun) => answers.push(Reply::Silence(words(begun))),
            Turn::Overflow => {
                let error =
                    json!({"message": "the request exceeds the available context size", "n_ctx": 24_000});
                answers.push(Reply::Status(400, json!({"error": error}).to_string()));
            }
        }
    }
    answers
}

impl Turn {
    /// The tools that it calls itself.
    fn names(&self) -> Vec<&'static str> {
        match self {
            Self::Calls(calls) => calls.iter().map(|(name, _)| *name).collect(),
            Self::Task(..) => vec!["task"],
            _ => Vec::new(),
        }
    }
}

impl Form {
    fn write(self, calls: &[(&str, &str)]) -> Vec<Reply> {
        let Self::Text(dialect) = self else { return vec![over_api(calls)] };
        let calls: Vec<Call> = calls
            .iter()
            .map(|(name, arguments)| Call { id: None, name: (*name).into(), arguments: (*arguments).into() })
            .collect();
        let write =
            |calls: &[Call]| dialect.render_calls(calls, &TOOLS).map(|text| stream(words(&text), "stop"));
        match write(&calls) {
            Ok(answer) => vec![answer],
            Err(_) => calls.iter().map(|call| write(std::slice::from_ref(call)).unwrap()).collect(),
        }
    }
}

fn over_api(calls: &[(&str, &str)]) -> Reply {
    let delta = |call: Value| json!({"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]});
    let calls = calls.iter().enumerate().map(|(index, (name, arguments))| {
        let function = json!({"name": name, "arguments": arguments});
        delta(json!({"index": index, "id": format!("c{index}"), "type": "function", "function": function}))
    });
    stream(calls.collect(), "tool_calls")
}

/// Without the usage: a server that counts nothing.
fn stream(mut chunks: Vec<Value>, reason: &str) -> Reply {
    chunks.push(json!({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}));
    Reply::Stream(chunks)
}
