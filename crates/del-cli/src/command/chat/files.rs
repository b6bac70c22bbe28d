//! Files that a question names, and commands of the user's own.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use del_agent::Image;
use del_dialects::Call;
use del_tools::{Code, Control, Progress, ToolResult, Toolbox, visible};
use serde_json::{Value, json};

use super::said::fail;
use super::{Chat, say};
use crate::attachment::{self, Attachment};
use crate::screen::lines;
use crate::screen::look::Look;

impl Chat {
    /// A command of the user's own: it is not asked about, and the model is told of it with the next question. Its output is
    /// shown as it comes.
    pub(super) fn shell(&mut self, command: &str) {
        let result = self.listening(|chat| chat.run_shell(command));
        self.session.ran(command, &result.text);
        self.ring();
        let data = result.data.unwrap_or_default();
        if let Some(job) = data["job"].as_u64() {
            return say(&format!(
                "it runs in the background as job {job}; `/jobs {job}` shows what it writes"
            ));
        }
        match data["exit_code"].as_i64() {
            Some(0) => {}
            Some(code) => say(&self.paint.dim(format!("exit code {code}"))),
            None if data["code"] == Code::Cancelled.as_str() => {
                self.halted = true;
                say(&self.paint.yellow("cancelled"));
            }
            None if data["code"] == Code::Interactive.as_str() => say(&self.paint.yellow(
                "it wants the terminal for itself, which commands here have not; run it in a shell (Ctrl-Z stops `del` until `fg`)",
            )),
            // It did not end by itself, or did not begin; what it wrote stands there already.
            None => say(&self.paint.yellow(visible(result.text.lines().next().unwrap_or_default()))),
        }
        if let Some(remark) = data["sandbox"].as_str() {
            say(&self.paint.yellow(visible(remark)));
        }
        if let Some(left) = data["background"].as_array() {
            let pids: Vec<_> = left.iter().filter_map(Value::as_str).collect();
            say(&self.paint.dim(format!("still runs, until the session ends: process {}", pids.join(", "))));
        }
        if data["directory"] == "unchanged" {
            say(&self.paint.dim(
                "each command begins in the same directory: `cd` holds for the command that it stands in",
            ));
        }
    }

    fn run_shell(&self, command: &str) -> ToolResult {
        let call = Call {
            id: None,
            name: "run_command".to_owned(),
            arguments: json!({"command": command}).to_string(),
        };
        let cancel = self.session.interrupt.begin();
        let toolbox = &self.session.hands.toolbox;
        let (at_start, stage) = (AtomicBool::new(true), self.stage);
        let control = Control::new(cancel).with_progress(|progress| {
            if let Progress::Output(text) = progress {
                stage.aside(&visible(text));
                at_start.store(text.ends_with('\n'), Ordering::Relaxed);
            }
        });
        let busy = stage.busy(&lines::doing(&call));
        let result = match toolbox.plan(&call.name, &call.arguments) {
            Ok(plan) => toolbox.run(plan, &control),
            Err(failure) => failure.into(),
        };
        drop(busy);
        drop(control);
        self.session.interrupt.rest();
        if !at_start.load(Ordering::Relaxed) {
            self.stage.aside("\n");
        }
        result
    }
}

/// The question with `files`, with those that it names as `@path`, and with the images that it names or that were pasted as
/// a path; nothing where one of these cannot go along, which was said.
pub(super) fn with_files(
    text: &str,
    files: &[PathBuf],
    toolbox: &Toolbox,
    look: Look,
) -> Option<(String, Vec<Image>)> {
    let (mut question, mut images) = (text.to_owned(), Vec::new());
    let named = attachment::named(text, toolbox.directory());
    for path in files.iter().chain(&named) {
        match Attachment::read(path) {
            Ok(attachment) => {
                attachment.add_to(&mut question, &mut images, path);
                say(&look.paint.dim(format!("attached {}", visible(&path.display().to_string()))));
            }
            Err(why) => {
                fail(look.paint, &why);
                return None;
            }
        }
    }
    for path in &attachment::mentioned(text) {
        // `@property` and `@angular/core` are words.
        if attachment::is_name(Path::new(path)) || !toolbox.directory().join(path).is_file() {
            continue;
        }
        let arguments = json!({"file_path": path}).to_string();
        let call = Call { id: None, name: "read_file".to_owned(), arguments };
        let result = match toolbox.plan(&call.name, &call.arguments) {
            Ok(plan) => toolbox.run(plan, &Control::default()),
            Err(failure) => failure.into(),
        };
        if result.ok {
            say(&look.paint.dim(format!("attached {}", visible(path))));
            question = format!("{question}\n\nThe file {path}:\n{}", result.text);
        } else {
            say(&lines::call(look, &call));
            say(&lines::result(look, &result, false));
        }
    }
    Some((question, images))
}
