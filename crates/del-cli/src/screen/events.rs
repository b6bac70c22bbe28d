//! What happens, as JSON lines on standard output, for programs.

use std::io::{self, Write};

use del_agent::{Mode, View};
use del_dialects::Call;
use del_tools::ToolResult;
use serde_json::{Value, json};

use crate::onlooker::{Onlooker, Screen, Told};
use crate::terminal::shown;

/// Prints each event at once.
#[derive(Debug, Default)]
pub(crate) struct Events {
    failed: Option<io::Error>,
}

impl Events {
    /// Prints one event.
    pub(crate) fn print(&mut self, event: &Value) {
        if self.failed.is_none() {
            let mut out = io::stdout().lock();
            self.failed = writeln!(out, "{}", shown(&event.to_string())).and_then(|()| out.flush()).err();
        }
    }
}

impl Onlooker for Events {
    fn call(&mut self, call: &Call) {
        let arguments: Value =
            serde_json::from_str(&call.arguments).unwrap_or_else(|_| json!(call.arguments));
        let (id, name) = (&call.id, &call.name);
        self.print(&json!({"type": "tool_use", "id": id, "name": name, "arguments": arguments}));
    }

    fn step(&mut self, task: &Call, call: &Call) {
        let arguments: Value =
            serde_json::from_str(&call.arguments).unwrap_or_else(|_| json!(call.arguments));
        self.print(&json!({"type": "step", "task": task.id, "name": call.name, "arguments": arguments}));
    }

    fn hook(&mut self, told: &Told) {
        let Told { event, command, text, failed } = told;
        let (event, ok) = (event.name(), !failed);
        self.print(&json!({"type": "hook", "event": event, "command": command, "ok": ok, "message": text}));
    }

    fn result(&mut self, call: &Call, result: &ToolResult) {
        let (ok, text) = (result.ok, &result.text);
        self.print(&json!({"type": "tool_result", "id": call.id, "ok": ok, "text": text}));
    }
}

impl Screen for Events {
    fn view(&mut self, view: View<'_>) {
        match view {
            View::Text(text) if !text.is_empty() => {
                let (role, delta) = ("assistant", true);
                self.print(&json!({"type": "message", "role": role, "content": text, "delta": delta}));
            }
            View::Reasoning(text) if !text.is_empty() => {
                self.print(&json!({"type": "reasoning", "content": text, "delta": true}));
            }
            View::Turn { turn, mode, dialect, constrained } => {
                let mode = if mode == Mode::Native { "native" } else { "prompt" };
                self.print(&json!({
                    "type": "turn", "turn": turn, "tools_mode": mode, "dialect": dialect,
                    "constrained": constrained,
                }));
            }
            View::Fault { fault, span } => self.print(&json!({
                "type": "fault", "kind": fault.kind.as_str(), "message": fault.kind.message(),
                "start": span.start, "end": span.end,
            })),
            View::Notice(notice) => self.print(&json!({"type": "notice", "message": notice.to_string()})),
            _ => {}
        }
    }

    fn turn_over(&mut self, _: bool) {}

    fn check(&mut self) -> io::Result<()> {
        self.failed.take().map_or(Ok(()), Err)
    }
}
