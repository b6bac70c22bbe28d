//! What a hook's exit code and output mean.

use std::io;

use del_tools::{Left, counted};
use serde_json::Value;

use super::{Event, Hook};

/// What hooks say to a call, or to going on. Later ones weigh more.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum Decision {
    #[default]
    None,
    Allow,
    /// The user is to be asked; why.
    Ask(String),
    /// It is not to be; why.
    Deny(String),
}

/// What one hook says.
#[derive(Debug, Default)]
pub(crate) struct Reply {
    pub(super) decision: Decision,
    pub(super) context: Vec<String>,
    pub(super) input: Option<Value>,
    pub(super) stop: Option<String>,
    /// What the user is to see of it.
    pub(super) shown: Vec<String>,
    pub(super) failed: bool,
}

/// An exit code that objects.
const BLOCKS: i32 = 2;
/// With these a shell ends that cannot run, or cannot find, what it should start.
const NOT_STARTED: [i32; 2] = [126, 127];
/// What a decision may be.
const WORDS: [&str; 5] = ["allow", "approve", "ask", "deny", "block"];

impl Decision {
    pub(super) fn weight(&self) -> u8 {
        match self {
            Self::None => 0,
            Self::Allow => 1,
            Self::Ask(_) => 2,
            Self::Deny(_) => 3,
        }
    }
}

/// Understands what a hook left behind. `several`: the call that it was told of holds others, or is held by one.
/// `stopped`: the user stopped what it was told of.
pub(super) fn read(hook: &Hook, left: io::Result<Left>, several: bool, stopped: bool) -> Reply {
    let left = match left {
        Ok(left) => left,
        Err(error) => return broken(hook, &format!("it cannot be started: {error}")),
    };
    let complaint = left.stderr.trim();
    match left.code {
        None if stopped => broken(hook, "you stopped it"),
        None => broken(hook, &format!("it took longer than {} s and was ended", hook.timeout.as_secs())),
        Some(0) => answer(hook, left.stdout.trim(), several),
        Some(BLOCKS) => {
            let mut reply = Reply::default();
            let why = if complaint.is_empty() { "it gave no reason" } else { complaint };
            reply.deny(hook.event, why);
            reply
        }
        Some(code) if NOT_STARTED.contains(&code) => {
            let why = if complaint.is_empty() { format!("exit code {code}") } else { complaint.to_owned() };
            broken(hook, &format!("it cannot be started: {why}"))
        }
        Some(code) => {
            let why = if complaint.is_empty() { String::new() } else { format!(": {complaint}") };
            failed(format!("failed with exit code {code}{why}"))
        }
    }
}

/// What a hook could not say. It may have been there to object: then somebody is asked.
fn broken(hook: &Hook, why: &str) -> Reply {
    let mut reply = failed(format!("was not heard: {why}"));
    if hook.event == Event::PreToolUse {
        reply.decision = Decision::Ask(format!("a hook should have been heard, and {why}"));
    }
    reply
}

fn failed(why: String) -> Reply {
    Reply { shown: vec![why], failed: true, ..Reply::default() }
}

/// The output of a hook that ended well.
fn answer(hook: &Hook, output: &str, several: bool) -> Reply {
    let mut reply = Reply::default();
    if !output.starts_with('{') {
        if matches!(hook.event, Event::SessionStart | Event::UserPromptSubmit) {
            reply.add(output);
        }
        return reply;
    }
    let json: Value = match serde_json::from_str(output) {
        Ok(json) => json,
        Err(error) => return broken(hook, &format!("its output is no JSON: {error}")),
    };
    let text = |value: &Value| value.as_str().unwrap_or_default().trim().to_owned();
    let specific = &json["hookSpecificOutput"];
    let permission = &specific["permissionDecision"];
    let said = if permission.is_null() { &json["decision"] } else { permission };
    if !said.is_null() && !said.as_str().is_some_and(|word| WORDS.contains(&word)) {
        return broken(hook, &format!("expected one of {} as its decision, got {said}", WORDS.join(", ")));
    }
    let input = &specific["updatedInput"];
    if !input.is_null() && !input.is_object() {
        return broken(hook, &format!("expected an object in \"updatedInput\", got {input}"));
    }
    let message = text(&json["systemMessage"]);
    if !message.is_empty() {
        reply.shown.push(format!("says: {message}"));
    }
    if json["continue"] == false {
        let why = text(&json["stopReason"]);
        let why = if why.is_empty() { "a hook stopped it".to_owned() } else { why };
        reply.shown.push(format!("stops here: {why}"));
        reply.stop = Some(why);
    }
    reply.add(&text(&specific["additionalContext"]));
    let reason = |value: &Value| {
        let why = text(value);
        if why.is_empty() { "it gave no reason".to_owned() } else { why }
    };
    match (hook.event, said.as_str()) {
        (Event::PreToolUse, Some("allow" | "approve")) => {
            reply.decision = Decision::Allow;
            reply.shown.push(if hook.of_project {
                "allowed the call, which a project's hook cannot".to_owned()
            } else {
                "allowed the call".to_owned()
            });
        }
        (Event::PreToolUse, Some("ask")) => {
            let why = reason(&specific["permissionDecisionReason"]);
            reply.shown.push(format!("wants you asked: {why}"));
            reply.decision = Decision::Ask(format!("a hook asks: {why}"));
        }
        (event, Some("deny" | "block")) => {
            let key =
                if permission.is_null() { &json["reason"] } else { &specific["permissionDecisionReason"] };
            reply.deny(event, &reason(key));
        }
        _ => {}
    }
    if hook.event == Event::PreToolUse && input.is_object() {
        let said = match () {
            () if matches!(reply.decision, Decision::Deny(_)) => None,
            () if hook.of_project => Some("wants other arguments, which a project's hook cannot give"),
            () if several => Some("wants other arguments, which it cannot give to one call among several"),
            () => Some("changed the arguments"),
        };
        reply.shown.extend(said.map(str::to_owned));
        reply.input = Some(input.clone());
    }
    reply
}

impl Reply {
    fn deny(&mut self, event: Event, why: &str) {
        self.shown.push(match event {
            Event::PreToolUse => format!("denied the call: {why}"),
            Event::PostToolUse => format!("objects: {why}"),
            Event::UserPromptSubmit => format!("does not let this be asked: {why}"),
            Event::Stop => format!("goes on: {why}"),
            Event::SessionStart => format!("says: {why}"),
        });
        self.decision = Decision::Deny(why.to_owned());
    }

    fn add(&mut self, context: &str) {
        if !context.is_empty() {
            let lines = context.lines().count();
            self.shown.push(format!("told the model {}", counted(lines, "line")));
            self.context.push(context.to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use Event::{PostToolUse, PreToolUse, Stop, UserPromptSubmit};

    use super::*;

    fn hook(event: Event, of_project: bool) -> Hook {
        let timeout = Duration::from_secs(1);
        Hook { event, matcher: None, command: "x".to_owned(), timeout, of_project }
    }

    #[test]
    fn exit_codes_and_json_mean_what_they_mean_elsewhere() {
        let said = |event, code, stdout: &str, stderr: &str| {
            let (stdout, stderr) = (stdout.to_owned(), stderr.to_owned());
            read(&hook(event, false), Ok(Left { code, stdout, stderr }), false, false)
        };
        let deny = |why: &str| Decision::Deny(why.to_owned());
        assert_eq!(said(PreToolUse, Some(2), "", "no\n").decision, deny("no"));
        let failed = said(PreToolUse, Some(1), "", "oops");
        assert!(failed.failed && failed.decision == Decision::None, "{failed:?}");
        // What could not be heard may have been an objection.
        assert!(matches!(said(PreToolUse, None, "", "").decision, Decision::Ask(_)));
        assert!(matches!(said(PreToolUse, Some(0), "{\"a\"", "").decision, Decision::Ask(_)));
        for code in [126, 127] {
            assert!(matches!(said(PreToolUse, Some(code), "", "no such file").decision, Decision::Ask(_)));
            assert!(said(PreToolUse, Some(code), "", "").failed);
        }
        assert_eq!(said(PostToolUse, None, "", "").decision, Decision::None);
        let decide = |what: &str| {
            let json = format!(
                "{{\"hookSpecificOutput\": {{\"permissionDecision\": \"{what}\", \"permissionDecisionReason\": \"r\"}}}}"
            );
            said(PreToolUse, Some(0), &json, "").decision
        };
        assert_eq!((decide("allow"), decide("deny")), (Decision::Allow, deny("r")));
        assert_eq!(decide("ask"), Decision::Ask("a hook asks: r".to_owned()));
        // Who writes a decision has one, whatever was meant.
        for unclear in [
            r#"{"hookSpecificOutput": {"permissionDecision": "denied"}}"#,
            r#"{"decision": false}"#,
            r#"{"hookSpecificOutput": {"permissionDecision": "allow", "updatedInput": ["x"]}}"#,
        ] {
            let reply = said(PreToolUse, Some(0), unclear, "");
            assert!(matches!(&reply.decision, Decision::Ask(why) if why.contains(", got ")), "{reply:?}");
            assert!(reply.failed && said(PostToolUse, Some(0), unclear, "").failed);
        }
        let block = "{\"decision\": \"block\", \"reason\": \"tests fail\"}";
        for event in [PreToolUse, PostToolUse, Stop, UserPromptSubmit] {
            assert_eq!(said(event, Some(0), block, "").decision, deny("tests fail"), "{event:?}");
        }
        assert_eq!(said(UserPromptSubmit, Some(0), "it is noon\n", "").context, ["it is noon"]);
        assert!(said(PreToolUse, Some(0), "debugging", "").context.is_empty());
        let stop = said(PostToolUse, Some(0), "{\"continue\": false, \"stopReason\": \"enough\"}", "");
        assert_eq!(stop.stop.as_deref(), Some("enough"));
    }

    #[test]
    fn arguments_are_only_said_to_be_changed_where_they_are() {
        let shown = |of_project, several, decision: &str| {
            let stdout = format!(
                "{{\"hookSpecificOutput\": {{\"permissionDecision\": \"{decision}\", \"updatedInput\": {{}}}}}}"
            );
            let left = Left { code: Some(0), stdout, stderr: String::new() };
            read(&hook(PreToolUse, of_project), Ok(left), several, false).shown.join("; ")
        };
        assert!(shown(false, false, "allow").contains("changed the arguments"));
        for (of_project, several, decision) in
            [(true, false, "allow"), (false, true, "allow"), (false, false, "deny")]
        {
            let shown = shown(of_project, several, decision);
            assert!(!shown.contains("changed"), "{shown}");
            assert_eq!(shown.contains("wants other arguments"), decision != "deny", "{shown}");
        }
    }

    #[test]
    fn the_strictest_word_counts_and_a_project_cannot_allow() {
        let (own, theirs) = (hook(PreToolUse, false), hook(PreToolUse, true));
        let reply = |decision| Reply { decision, ..Reply::default() };
        let mut said = super::super::Said::default();
        said.take(reply(Decision::Allow), &theirs);
        assert_eq!(said.decision, Decision::None);
        said.take(reply(Decision::Allow), &own);
        assert_eq!(said.decision, Decision::Allow);
        said.take(reply(Decision::Deny("d".to_owned())), &theirs);
        said.take(reply(Decision::Ask("a".to_owned())), &own);
        assert_eq!(said.decision, Decision::Deny("d".to_owned()));
    }

    #[test]
    fn a_hook_that_was_ended_says_by_whom() {
        let said = |stopped| {
            let left = Left { code: None, stdout: String::new(), stderr: String::new() };
            read(&hook(PreToolUse, false), Ok(left), false, stopped).shown.join("; ")
        };
        assert!(said(false).contains("it took longer than 1 s and was ended"), "{}", said(false));
        assert!(said(true).contains("you stopped it"), "{}", said(true));
    }
}
