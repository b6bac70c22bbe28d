//! What hybrid mode saves: the prompt tokens of a task of ten calls with a hundred tools, against those with all definitions
//! in every request. The model is a script that asks for a definition when it first needs it: with those that it needs in the
//! next calls, or one at a time.
//!
//! `cargo bench -p del-agent --bench hybrid` prints the figures, and fails where the calls differ, or where more than a fifth
//! is sent although the model looks ahead.
#![expect(clippy::print_stdout, reason = "a benchmark prints")]

use std::process::ExitCode;
use std::sync::Arc;

use del_agent::{Agent, Effect, Input, Settings, ToolsMode, tokens};
use del_dialects::{Call, CallResult, Dialects, Tool};
use serde_json::{Value, json};

/// The tools that the task calls, in their order.
const TASK: [&str; 10] = [
    "issue_search",
    "issue_read",
    "issue_read",
    "file_read",
    "file_search",
    "file_read",
    "file_update",
    "file_read",
    "comment_create",
    "issue_update",
];

/// What came of a task.
#[derive(Debug, PartialEq)]
struct Cost {
    /// Tokens of all requests.
    prompt: u64,
    requests: u32,
    calls: Vec<(String, String)>,
}

fn main() -> ExitCode {
    // As runners of tests ask which there are.
    if std::env::args().any(|argument| argument == "--list") {
        println!("tokens: test");
        return ExitCode::SUCCESS;
    }
    let tools = tools();
    let each = tools.iter().map(tokens::tool).sum::<u64>() / tools.len() as u64;
    println!("{} tools of {each} tokens, a task of {} calls", tools.len(), TASK.len());
    let mut good = true;
    for (name, full, dialect) in
        [("over the API", ToolsMode::Native, None), ("in the prompt", ToolsMode::Prompt, Some("hermes-json"))]
    {
        let Some(all) = task(&tools, full, dialect, 1) else { return not_done(name) };
        println!("{name}: {} tokens in {} requests", all.prompt, all.requests);
        for ahead in [3, 1] {
            let Some(hybrid) = task(&tools, ToolsMode::Hybrid, dialect, ahead) else { return not_done(name) };
            let share = hybrid.prompt * 1000 / all.prompt;
            let (percent, tenth) = (share / 10, share % 10);
            println!(
                "  hybrid, {ahead} asked for at a time: {} in {}: {percent}.{tenth} %",
                hybrid.prompt, hybrid.requests
            );
            good &=
                (share <= 200 || ahead == 1) && all.calls == hybrid.calls && all.calls.len() == TASK.len();
        }
    }
    if good { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn not_done(name: &str) -> ExitCode {
    println!("{name}: the task was not done");
    ExitCode::FAILURE
}

/// Tools as servers of the Model Context Protocol have them: ten things, and ten ways to deal with each.
fn tools() -> Vec<Tool> {
    const THINGS: [&str; 10] = [
        "issue",
        "comment",
        "file",
        "branch",
        "release",
        "user",
        "label",
        "milestone",
        "workflow",
        "package",
    ];
    const WAYS: [&str; 10] =
        ["search", "list", "read", "create", "update", "delete", "archive", "share", "watch", "export"];
    let text = |about: &str| json!({"type": "string", "description": about});
    let each = THINGS.iter().flat_map(|thing| WAYS.iter().map(move |way| (thing, way)));
    each.map(|(thing, way)| Tool {
        name: format!("{thing}_{way}"),
        description: format!(
            "Can {way} a {thing} of a repository. Needs the right to see the repository; where the {thing} is not known \
             by its id, look for it first. Answers with the {thing} as JSON, or with an error that says what is missing."
        ),
        parameters: json!({"type": "object", "required": ["owner", "repo"], "properties": {
            "owner": text("Whom the repository belongs to: a person or an organisation"),
            "repo": text("The name of the repository, without that of its owner"),
            "id": text(&format!("The {thing}, by the id that a search or a list gave")),
            "query": text("Words to look for, in the syntax of the search: quotes hold words together"),
            "state": {"type": "string", "enum": ["open", "closed", "all"], "description": "Only those in this state"},
            "page": {"type": "integer", "description": "The page of the results, from 1"},
            "per_page": {"type": "integer", "description": "How many results a page has, 100 at most"},
        }})
        .into(),
    })
    .collect()
}

/// Does the task with a model that asks for the definitions of so many calls at once; nothing where the agent does not go
/// along.
fn task(tools: &[Tool], tools_mode: ToolsMode, dialect: Option<&str>, ahead: usize) -> Option<Cost> {
    let dialect = dialect.and_then(|name| Dialects::builtin().get(name)).map(Arc::clone);
    let system = "You work on the repositories of the user.".to_owned();
    let settings = Settings {
        tools: tools.to_vec(),
        tools_mode,
        dialect,
        system,
        max_turns: 100,
        ..Settings::default()
    };
    let mut agent = Agent::new(Dialects::builtin(), settings).ok()?;
    let mut cost = Cost { prompt: 0, requests: 0, calls: Vec::new() };
    let mut effect = agent.step(Input::Start("See what is wrong with the parser, and mend it."), &mut |_| {});
    loop {
        effect = match effect {
            Effect::Request(body) => {
                cost.prompt +=
                    tokens::of(&body["messages"].to_string()) + tokens::of(&body["tools"].to_string());
                cost.requests += 1;
                let answer = json!({"choices": [{"index": 0, "message": answer(&body, cost.calls.len(), ahead), "finish_reason": "stop"}]});
                let _ = agent.step(Input::Bytes(answer.to_string().as_bytes()), &mut |_| {});
                agent.step(Input::End, &mut |_| {})
            }
            Effect::Run(calls) => {
                let results = calls.iter().map(|read| result(&read.call)).collect();
                cost.calls.extend(calls.into_iter().map(|read| (read.call.name, read.call.arguments)));
                agent.step(Input::Results(results), &mut |_| {})
            }
            Effect::Done(_) => return Some(cost),
            _ => return None,
        };
    }
}

/// What the model answers: the next call, or first the wish for its definition.
fn answer(body: &Value, done: usize, ahead: usize) -> Value {
    let Some(name) = TASK.get(done) else { return json!({"role": "assistant", "content": "It is mended."}) };
    let told = body["tools"].to_string() + &body["messages"][0].to_string().replace("\\\"", "\"");
    let defined =
        told.contains(&format!("\"name\":\"{name}\"")) || told.contains(&format!("\"name\": \"{name}\""));
    let (name, arguments) = if defined {
        (*name, json!({"owner": "del", "repo": "del", "id": format!("{done}")}))
    } else {
        ("request_tools", json!({"query": TASK[done..TASK.len().min(done + ahead)].join(", ")}))
    };
    let function = json!({"name": name, "arguments": arguments.to_string()});
    json!({"role": "assistant", "content": null, "tool_calls": [{"id": format!("c{done}-{name}"), "type": "function", "function": function}]})
}

fn result(call: &Call) -> CallResult {
    let text = format!("{{\"state\": \"open\", \"text\": \"{}\"}}", "What the parser says of it. ".repeat(8));
    CallResult { id: call.id.clone(), name: call.name.clone(), text, ok: true }
}
