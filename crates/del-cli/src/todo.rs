//! The model's plan: a list that it keeps with the tool `plan`, for itself and for whoever watches.

use del_dialects::{Call, Tool};
use del_tools::{Code, Failure, ToolResult, counted};
use serde::Deserialize;
use serde_json::json;

/// What the tool is called.
pub(crate) const NAME: &str = "plan";

/// The list as the model wrote it last.
#[derive(Debug, Default)]
pub(crate) struct Todo {
    text: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Arguments {
    steps: Vec<Step>,
}

#[derive(Debug, Deserialize)]
struct Step {
    step: String,
    #[serde(default)]
    status: Status,
}

/// How far a step is. Models know other words from the lists of other programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Status {
    #[default]
    #[serde(alias = "todo", alias = "open", alias = "not_started")]
    Pending,
    #[serde(alias = "active", alias = "current", alias = "doing", alias = "in progress")]
    InProgress,
    #[serde(alias = "completed", alias = "complete", alias = "finished")]
    Done,
}

/// The tool's definition.
pub(crate) fn tool() -> Tool {
    Tool {
        name: NAME.into(),
        description: "Writes down the steps of a task of several steps, and what is done of them. Each call replaces the \
                      whole list. Not for small tasks."
            .into(),
        parameters: json!({
            "type": "object",
            "properties": {"steps": {"type": "array", "items": {
                "type": "object",
                "properties": {
                    "step": {"type": "string", "description": "what is to be done"},
                    "status": {"type": "string", "enum": ["pending", "in_progress", "done"]}
                },
                "required": ["step", "status"]
            }}},
            "required": ["steps"]
        })
        .into(),
    }
}

impl Todo {
    /// The list, a step a line.
    pub(crate) fn text(&self) -> Option<&str> {
        self.text.as_deref()
    }

    /// Goes on with the list of a conversation that is taken up.
    pub(crate) fn go_on(&mut self, text: Option<String>) {
        self.text = text;
    }

    /// Takes the list that a call brings.
    pub(crate) fn take(&mut self, call: &Call) -> ToolResult {
        let steps = match serde_json::from_str::<Arguments>(&call.arguments) {
            Ok(arguments) => arguments.steps,
            Err(error) => {
                let cause = format!("expected {{\"steps\": [{{\"step\", \"status\"}}]}}: {error}.");
                return Failure::new(Code::BadType, cause).into();
            }
        };
        let lines: Vec<String> = steps
            .iter()
            .map(|Step { step, status }| {
                let mark = match status {
                    Status::Pending => " ",
                    Status::InProgress => ">",
                    Status::Done => "x",
                };
                format!("[{mark}] {}", step.replace('\n', " "))
            })
            .collect();
        self.text = (!lines.is_empty()).then(|| lines.join("\n"));
        ToolResult::success(self.text.clone().unwrap_or_else(|| "The plan is empty.".to_owned()))
    }
}

/// The steps of a plan, and how far each is.
pub(crate) fn steps(plan: &str) -> impl Iterator<Item = (Status, &str)> {
    plan.lines().filter_map(|line| {
        let (mark, step) = line.strip_prefix('[')?.split_once("] ")?;
        let status = match mark {
            " " => Status::Pending,
            ">" => Status::InProgress,
            "x" => Status::Done,
            _ => return None,
        };
        Some((status, step))
    })
}

/// A plan in one line: how far it is, and what is being done.
pub(crate) fn folded(plan: &str) -> String {
    let all: Vec<(Status, &str)> = steps(plan).collect();
    let first = |wanted| all.iter().find(|(status, _)| *status == wanted);
    let done = all.iter().filter(|(status, _)| *status == Status::Done).count();
    let now = first(Status::InProgress).or_else(|| first(Status::Pending));
    let now = now.map(|(_, step)| format!(": {}", step.trim())).unwrap_or_default();
    format!("{done} of {} done{now} · /plan shows all", counted(all.len(), "step"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_is_a_list_and_folds_into_a_line() {
        let mut todo = Todo::default();
        let arguments = json!({"steps": [{"step": "look", "status": "done"}, {"step": "change\nit", "status": "in_progress"},
            {"step": "test"}]});
        let call = Call { id: None, name: NAME.into(), arguments: arguments.to_string() };
        let result = todo.take(&call);
        assert!(result.ok);
        assert_eq!(todo.text(), Some("[x] look\n[>] change it\n[ ] test"));
        assert_eq!(folded(&result.text), "1 of 3 steps done: change it · /plan shows all");
        let words = r#"{"steps": [{"step": "a", "status": "completed"}, {"step": "b", "status": "todo"}]}"#;
        assert!(todo.take(&Call { arguments: words.into(), ..call }).ok);
        assert_eq!(todo.text(), Some("[x] a\n[ ] b"), "the words of other programs");
        let bad = todo.take(&Call { id: None, name: NAME.into(), arguments: "{}".into() });
        assert!(!bad.ok && todo.text().is_some(), "{bad:?}");
    }
}
