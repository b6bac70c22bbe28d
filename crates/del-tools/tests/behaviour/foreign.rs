//! Tools that another program runs, beside the built-in ones.

use std::sync::{Arc, Mutex};

use del_dialects::Tool;
use del_tools::{
    Answer, Approval, Class, Code, Consent, Control, Failure, Foreign, Gate, Question, Rule, ToolResult,
    Verdict,
};
use serde_json::{Map, Value, json};

use crate::desk::Desk;

/// Keeps what it was called with.
struct Echo {
    tool: Tool,
    calls: Mutex<Vec<Value>>,
}

impl Echo {
    fn named(name: &str) -> Arc<Self> {
        let parameters = json!({
            "type": "object", "required": ["n"],
            "properties": {"n": {"type": "integer"}, "text": {"type": "string"}},
        });
        let tool =
            Tool { name: name.to_owned(), description: "Says it".to_owned(), parameters: parameters.into() };
        Arc::new(Self { tool, calls: Mutex::default() })
    }
}

impl Foreign for Echo {
    fn tool(&self) -> &Tool {
        &self.tool
    }

    fn server(&self) -> &'static str {
        "echoes"
    }

    fn call(&self, arguments: Map<String, Value>, _: &Control<'_>) -> Result<ToolResult, Failure> {
        self.calls.lock().unwrap().push(Value::Object(arguments));
        Ok(ToolResult::success("x".repeat(200_000)))
    }
}

#[test]
fn a_foreign_tool_passes_the_same_checks_and_caps_as_a_built_in_one() {
    let mut desk = Desk::new();
    let echo = Echo::named("mcp__echoes__echo");
    assert!(desk.toolbox.add(echo.clone()));
    assert!(!desk.toolbox.add(echo.clone()), "the name is taken");
    assert!(!desk.toolbox.add(Echo::named("read_file")) && !desk.toolbox.add(Echo::named("echo")));
    assert_eq!(desk.toolbox.tools().last().unwrap().name, "mcp__echoes__echo");
    let refusal = |arguments: &str| desk.toolbox.plan("mcp__echoes__echo", arguments).unwrap_err();
    assert_eq!(refusal("{").code, Code::BadJson);
    assert_eq!(refusal("[1]").code, Code::BadJson);
    let missing = refusal(r#"{"text": "x"}"#);
    assert_eq!(missing.to_string(), "Error: mcp__echoes__echo needs 'n' (integer). Got keys: text.");
    let plan = desk.toolbox.plan("functions.mcp__echoes__echo", r#"{"n": "5", "text": "5"}"#).unwrap();
    assert_eq!((plan.tool(), plan.class()), ("mcp__echoes__echo", Class::Network));
    let shown = plan.question().text();
    assert!(shown.starts_with("mcp__echoes__echo: a call to the MCP server echoes"), "{shown}");
    let result = desk.toolbox.run(plan, &Control::default());
    assert!(result.truncated && result.text.len() < 60_000);
    assert_eq!(*echo.calls.lock().unwrap(), [json!({"n": 5, "text": "5"})]);
}

#[test]
fn a_foreign_call_asks_in_every_mode_but_the_one_that_asks_nothing() {
    let mut desk = Desk::new();
    desk.toolbox.add(Echo::named("mcp__echoes__echo"));
    let plan = desk.toolbox.plan("mcp__echoes__echo", r#"{"n": 1}"#).unwrap();
    assert_eq!(Gate::new(Approval::Ask).verdict(&plan), Verdict::Ask);
    assert_eq!(Gate::new(Approval::AutoEdit).verdict(&plan), Verdict::Ask);
    assert_eq!(Gate::new(Approval::Yolo).verdict(&plan), Verdict::Run);
    assert!(matches!(Gate::new(Approval::Plan).verdict(&plan), Verdict::Deny(_)));
    for (rule, verdict) in [
        ("mcp__echoes__echo", Verdict::Run),
        ("mcp__echoes__*", Verdict::Run),
        ("mcp__other__*", Verdict::Ask),
        ("run_command", Verdict::Ask),
    ] {
        let mut gate = Gate::new(Approval::Ask);
        gate.allow(Rule::parse(rule).unwrap());
        assert_eq!(gate.verdict(&plan), verdict, "{rule}");
    }
    let mut gate = Gate::new(Approval::Yolo);
    gate.deny(Rule::parse("mcp__echoes__*").unwrap());
    assert!(matches!(gate.verdict(&plan), Verdict::Deny(_)));
}

/// Answers in turn; keeps what it was asked and told.
struct User {
    answers: Vec<Answer>,
    heard: Vec<String>,
}

impl Consent for User {
    fn ask(&mut self, question: &Question) -> Answer {
        self.heard.push(question.text());
        self.answers.remove(0)
    }

    fn object(&mut self, why: &Failure) {
        self.heard.push(why.to_string());
    }
}

#[test]
fn a_changed_text_is_judged_and_shown_again_and_then_written() {
    let desk = Desk::new();
    let arguments = json!({"file_path": "a.txt", "text": "model\n"}).to_string();
    let plan = desk.toolbox.plan("write_file", &arguments).unwrap();
    let mut user = User { answers: vec![Answer::Edit("user\n".into()), Answer::Yes], heard: Vec::new() };
    let plan = Gate::new(Approval::Ask).settle(&desk.toolbox, plan, Some(&mut user)).unwrap();
    assert!(user.heard[0].contains("+model") && user.heard[1].contains("+user"), "{:#?}", user.heard);
    let result = desk.toolbox.run(plan, &Control::default());
    assert_eq!(desk.get("a.txt"), "user\n");
    assert!(result.text.contains("[the user changed the text before it was written"), "{}", result.text);
}

#[test]
fn a_changed_command_is_shown_even_where_it_is_safe_and_refused_where_it_destroys() {
    let desk = Desk::new();
    let plan = desk.toolbox.plan("run_command", r#"{"cmd": "touch a.txt"}"#).unwrap();
    let answers = vec![Answer::Edit("rm -rf /".into()), Answer::Edit("ls".into()), Answer::Yes];
    let mut user = User { answers, heard: Vec::new() };
    let plan = Gate::new(Approval::Ask).settle(&desk.toolbox, plan, Some(&mut user)).unwrap();
    assert!(user.heard[1].starts_with("Denied: this command is never run"), "{:#?}", user.heard);
    assert!(user.heard[3].contains("$ ls"), "{:#?}", user.heard);
    assert_eq!(user.heard.len(), 4);
    assert!(plan.question().text().contains("$ ls"));
}

#[test]
fn a_rule_that_was_taken_holds_for_the_session() {
    let desk = Desk::new();
    let plan =
        |command: &str| desk.toolbox.plan("run_command", &json!({"command": command}).to_string()).unwrap();
    assert_eq!(plan("touch a.txt").question().rules(), ["run_command(touch:*)"]);
    let rule = Rule::parse("run_command(touch:*)").unwrap();
    let mut user = User { answers: vec![Answer::Allow(vec![rule])], heard: Vec::new() };
    let mut gate = Gate::new(Approval::Ask);
    gate.settle(&desk.toolbox, plan("touch a.txt"), Some(&mut user)).unwrap();
    assert_eq!(gate.verdict(&plan("touch b.txt")), Verdict::Run);
    assert_eq!(gate.verdict(&plan("mkdir b")), Verdict::Ask);
}
