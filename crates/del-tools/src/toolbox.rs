//! The tools over one working directory: plan a call, let the gate decide, run it.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use del_dialects::Tool;
use serde_json::Value;

use crate::arguments::{Arguments, object, unwrapped};
use crate::back::{Selection, Undo, UndoError, Undoable};
use crate::class::Class;
use crate::context::{Context, Limits};
use crate::control::Control;
use crate::foreign::{self, Foreign};
use crate::job::Job;
use crate::jobs::Jobs;
use crate::outcome::{Code, Failure, FileChange, ToolResult, cap, excerpt};
use crate::outline::Outline;
use crate::plan::{Advice, Grant, Plan};
use crate::policy::Gate;
use crate::registry::{self, Definition, Toolset, batch_operations};
use crate::sandbox::{Confinement, Sandbox, SandboxError};
use crate::spelt::Spelt;
use crate::suggest;
use crate::text::on_one_line;
use crate::tools::run_command;
use crate::undo::UndoStore;
use crate::web::Web;
use crate::workspace::{Workspace, WorkspaceError};

/// The tools that a model is offered, over one working directory.
///
/// It may be shared between threads. It remembers which files the model has read, so that a file that changed since is
/// not overwritten blindly. Dropping it ends the processes that commands left running.
pub struct Toolbox {
    context: Context,
    toolset: Toolset,
    definitions: Vec<Definition>,
    foreign: Vec<Arc<dyn Foreign>>,
    /// The built-in ones in the order of `definitions`, then the foreign ones.
    tools: Vec<Tool>,
}

/// Characters of a changed command that the model is told.
const REVISED_CHARS: usize = 2000;

impl Toolbox {
    /// Tools over `directory`, and over the `allowed` directories beside it.
    pub fn open(directory: &Path, allowed: &[PathBuf], toolset: Toolset) -> Result<Self, WorkspaceError> {
        let workspace = Workspace::open(directory, allowed)?;
        let definitions = toolset.definitions();
        let names = definitions.iter().map(|d| (d.entry.name, d.name)).collect();
        let tools = definitions.iter().map(Definition::tool).collect();
        let context = Context::new(workspace, names);
        Ok(Self { context, toolset, definitions, foreign: Vec::new(), tools })
    }

    /// The tools, as a model is told of them.
    pub fn tools(&self) -> &[Tool] {
        &self.tools
    }

    /// Offers a tool that somebody else runs as well. False when its name does not begin with `mcp__`, or is taken.
    pub fn add(&mut self, tool: Arc<dyn Foreign>) -> bool {
        let name = &tool.tool().name;
        let free = name.starts_with(foreign::PREFIX) && self.tools.iter().all(|other| other.name != *name);
        if free {
            self.tools.push(tool.tool().clone());
            self.foreign.push(tool);
        }
        free
    }

    /// Offers a tool no more that somebody else runs. False when there is none of that name.
    pub fn remove(&mut self, name: &str) -> bool {
        let place = self.foreign.iter().position(|tool| tool.tool().name == name);
        if let Some(place) = place {
            self.foreign.remove(place);
            self.tools.remove(self.definitions.len() + place);
        }
        place.is_some()
    }

    /// The tools that somebody else runs.
    pub fn foreign(&self) -> &[Arc<dyn Foreign>] {
        &self.foreign
    }

    /// The definitions of the built-in tools, as JSON text.
    pub fn definitions(&self) -> &[Definition] {
        &self.definitions
    }

    /// The set that the tools were taken from.
    pub fn toolset(&self) -> Toolset {
        self.toolset
    }

    /// The working directory, absolute and without links.
    pub fn directory(&self) -> &Path {
        self.context.workspace.root()
    }

    /// Keeps only the built-in tools with these names, in any spelling. Others can no longer be called.
    pub fn restrict<S: AsRef<str>>(&mut self, names: &[S]) -> Result<(), WorkspaceError> {
        let mut kept = Vec::new();
        for name in names {
            let definition = self.definition(name.as_ref()).ok_or_else(|| WorkspaceError::UnknownTool {
                name: name.as_ref().to_owned(),
                known: self.offered(),
            })?;
            kept.push(definition.entry.name);
        }
        self.context.only = Some(kept.clone());
        self.definitions.retain(|definition| kept.contains(&definition.entry.name));
        let foreign = self.foreign.iter().map(|tool| tool.tool().clone());
        self.tools = self.definitions.iter().map(Definition::tool).chain(foreign).collect();
        self.describe();
        Ok(())
    }

    /// Fits results to a model whose context holds `tokens`: none takes more than a quarter of it.
    pub fn fit_context(&mut self, tokens: u32) {
        let defaults = Limits::default();
        // Four characters to a token, a quarter of the window: as many characters as there are tokens.
        let share = (tokens as usize).max(1024);
        self.context.limits = Limits {
            read_lines: if tokens <= 16_384 { 400 } else { defaults.read_lines },
            result_bytes: defaults.result_bytes.min(share),
            command_chars: defaults.command_chars.min(share),
        };
    }

    /// Lets commands run in the background: those that end with `&`. They end with the toolbox at the latest.
    /// Whoever reads the definition of `run_command` is told so.
    pub fn let_jobs(&mut self) {
        if self.context.jobs.is_some() {
            return;
        }
        self.context.jobs = Some(Jobs::default());
        self.describe();
    }

    /// What runs commands says in its definition what they cannot do here, and where they may run in the background.
    fn describe(&mut self) {
        let commands = |definition: &&Definition| definition.entry.name == run_command::TOOL.name;
        let Some(definition) = self.definitions.iter().find(commands) else { return };
        let mut description = definition.tool().description;
        if let Some(fences) = self.context.sandbox.fences() {
            description.push(' ');
            description.push_str(&fences.limits());
        }
        if self.context.jobs.is_some() {
            description.push_str(run_command::IN_BACKGROUND);
        }
        if let Some(tool) = self.tools.iter_mut().find(|tool| tool.name == definition.name) {
            tool.description = description;
        }
    }

    /// The commands that run in the background, or did; none where that was not allowed.
    pub fn jobs(&self) -> Option<&Jobs> {
        self.context.jobs.as_ref()
    }

    /// Searches the web there.
    pub fn search_with(&mut self, web: Web) {
        self.context.web = Some(web);
    }

    /// Confines the commands that run from now on. They may write in the working directory, in the allowed ones and in
    /// those that `confinement` names. Fails when the kernel does not offer what is needed; then nothing has changed.
    pub fn confine(&mut self, confinement: &Confinement) -> Result<(), SandboxError> {
        self.context.sandbox = Sandbox::new(confinement, self.context.workspace.writable())?;
        self.describe();
        Ok(())
    }

    /// Shows nothing of what a rule of `gate` denies to be read (`read_file(keys/**)`), also where a search or a listing begins
    /// above it. Commands that would look at it ask.
    pub fn withhold(&mut self, gate: &Gate) {
        self.context.workspace.withhold(gate.withheld());
    }

    /// What commands are held to: nothing, until [`Toolbox::confine`].
    pub fn sandbox(&self) -> &Sandbox {
        &self.context.sandbox
    }

    /// Keeps what stands in the way of each write in `store` from now on, so that it can be taken back. Tools write
    /// nothing in its folder.
    pub fn keep_undo(&mut self, store: UndoStore) {
        self.context.workspace.guard(store.folder());
        self.context.undo = Some(store);
    }

    /// The changes that tools made in the working directory, in this process or another, the latest first.
    pub fn undoable(&self) -> Result<Vec<Undoable>, UndoError> {
        self.context.undoable()
    }

    /// Works out what taking changes back comes to, without doing it. Fails where a file is not as the change left it,
    /// unless `force` says that this does not matter.
    pub fn plan_undo(&self, selection: &Selection, force: bool) -> Result<Undo, UndoError> {
        self.context.plan_undo(selection, force)
    }

    /// Takes back what was planned: all of it or nothing. That is a change itself, and can be taken back.
    pub fn undo(&self, undo: &Undo) -> Result<Vec<FileChange>, UndoError> {
        self.context.undo(undo)
    }

    /// Understands a call: the name in any spelling, the arguments with aliases and types put right, the path resolved.
    /// Nothing is changed yet, but files may be read and programs asked that cannot write; [`crate::Gate::plan`] denies
    /// before that. A failure is the result to give to the model.
    pub fn plan(&self, name: &str, arguments: &str) -> Result<Plan, Failure> {
        if let Some(tool) = self.find_foreign(name) {
            let job = foreign::prepare(Arc::clone(tool), arguments)?;
            return self.planned(tool.tool().name.clone(), job, arguments, Vec::new());
        }
        let definition = self.definition(name).ok_or_else(|| self.unknown(name))?;
        let entry = definition.entry;
        let schema = &self.tools[self.position(entry.name).unwrap_or_default()].parameters;
        let read = Arguments::read(definition.name, arguments, entry.parameters, &schema["properties"])?
            .called(name);
        let notes = read.notes().to_vec();
        let job = (entry.prepare)(read, &self.context)?;
        self.planned(entry.name.to_owned(), job, arguments, notes)
    }

    /// What the arguments of a call say of it: of each call in it, for one that holds several.
    pub(crate) fn outlines(&self, name: &str, arguments: &str) -> Vec<Outline> {
        let Some(definition) = self.definition(name) else { return Vec::new() };
        let entry = definition.entry;
        let schema = &self.tools[self.position(entry.name).unwrap_or_default()].parameters;
        let read = Arguments::read(definition.name, arguments, entry.parameters, &schema["properties"]);
        let Ok(read) = read else { return Vec::new() };
        if entry.name == batch_operations::TOOL.name {
            return batch_operations::outlines(read, &self.context);
        }
        vec![Outline::of(entry, read.called(name), &self.context)]
    }

    fn planned(
        &self,
        tool: String,
        job: Box<dyn Job>,
        arguments: &str,
        notes: Vec<String>,
    ) -> Result<Plan, Failure> {
        let question = job.question(&self.context)?;
        let grant = Grant {
            tool: tool.clone(),
            arguments: arguments.to_owned(),
            directory: self.directory().to_owned(),
            cautions: question.all_cautions(),
        };
        Ok(Plan {
            tool,
            class: job.class(),
            job,
            question,
            notes,
            grant,
            doubted: false,
            advice: Advice::None,
        })
    }

    /// The same call with `text` in place of what its question lets the user change. The result will tell the model.
    pub fn revise(&self, plan: &Plan, text: &str) -> Result<Plan, Failure> {
        let parameter = plan.question.editable.as_ref().and_then(|editable| {
            let entry = registry::find(&plan.tool)?;
            entry.parameters.iter().find(|parameter| parameter.name == editable.argument).map(|p| (entry, *p))
        });
        let Some((entry, parameter)) = parameter else {
            return Err(Failure::new(
                Code::Denied,
                format!("nothing of a call to {} can be changed.", plan.tool),
            ));
        };
        let mut arguments = unwrapped(object(&plan.tool, &plan.grant.arguments)?, entry.parameters);
        arguments.retain(|key, _| !parameter.answers_to(key));
        arguments.insert(parameter.name.to_owned(), Value::String(text.to_owned()));
        let mut revised = self.plan(&plan.tool, &Value::Object(arguments).to_string())?;
        revised.notes.push(if parameter.name == "command" {
            let command: String = on_one_line(text).chars().take(REVISED_CHARS).collect();
            format!("[the user changed the command before it ran: {command}]")
        } else {
            "[the user changed the text before it was written; read the file to see what it says]".to_owned()
        });
        Ok(revised)
    }

    /// Runs what was planned. Consent is the caller's affair: see [`crate::Gate`].
    pub fn run(&self, plan: Plan, control: &Control<'_>) -> ToolResult {
        let before = self.context.workspace.left_out();
        let mut result = match plan.job.run(&self.context, control) {
            Ok(result) => result,
            Err(failure) => failure.into(),
        };
        if self.context.workspace.left_out() > before {
            result.note("[what a rule denies to be read is left out]");
        }
        let limits = &self.context.limits;
        let runs = plan.class >= Class::Execute;
        cap(&mut result, if runs { limits.command_chars * 4 } else { limits.result_bytes });
        for note in &plan.notes {
            result.note(note);
        }
        result
    }

    /// A call, and those that it holds.
    pub fn spelt_out(&self, name: &str, arguments: &str) -> Vec<Spelt> {
        let read = registry::find(name).and_then(|entry| {
            let read = Arguments::read(entry.name, arguments, entry.parameters, &Value::Null).ok()?;
            Some((entry, read.called(name)))
        });
        let Some((entry, read)) = read else {
            let arguments = serde_json::from_str(arguments).unwrap_or_default();
            return vec![Spelt { tool: name.trim().to_owned(), arguments }];
        };
        let mut calls = vec![Spelt::of(entry, read.clone())];
        if entry.name == batch_operations::TOOL.name {
            calls.extend(batch_operations::spelt_out(read, self.context()));
        }
        calls
    }

    pub(crate) fn context(&self) -> &Context {
        &self.context
    }

    fn definition(&self, name: &str) -> Option<&Definition> {
        let entry = registry::find(name)?;
        self.definitions.iter().find(|definition| definition.entry.name == entry.name)
    }

    /// What a call of this tool may do at most, if there is one of that name.
    pub fn class(&self, name: &str) -> Option<Class> {
        match self.find_foreign(name) {
            Some(_) => Some(Class::Network),
            None => self.definition(name).map(|definition| definition.class),
        }
    }

    fn find_foreign(&self, name: &str) -> Option<&Arc<dyn Foreign>> {
        let name = name.trim();
        let exact = |name: &str| self.foreign.iter().find(|tool| tool.tool().name == name);
        exact(name).or_else(|| exact(name.rsplit(['.', ':', '/']).next()?))
    }

    fn position(&self, engine: &str) -> Option<usize> {
        self.definitions.iter().position(|definition| definition.entry.name == engine)
    }

    fn unknown(&self, name: &str) -> Failure {
        let names: Vec<_> = self.tools.iter().map(|tool| tool.name.as_str()).collect();
        // A tool that there is but that is not offered was not misspelt.
        let known = registry::find(name).is_some();
        let meant = suggest::near(name, &names, 1).first().copied().filter(|_| !known);
        let meant = meant.map(|near| format!(" Did you mean '{near}'?")).unwrap_or_default();
        let name = excerpt(name, 80);
        Failure::new(
            Code::UnknownTool,
            format!("unknown tool '{name}'.{meant} Available: {}", self.offered()),
        )
    }

    fn offered(&self) -> String {
        self.tools.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>().join(", ")
    }
}

impl fmt::Debug for Toolbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Toolbox")
            .field("context", &self.context)
            .field("tools", &self.tools)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn however_a_call_is_written_it_is_told_in_one_way() {
        let folder = tempfile::tempdir().unwrap();
        let toolbox = Toolbox::open(folder.path(), &[], Toolset::All).unwrap();
        let told = |name: &str, arguments: Value| {
            let calls = toolbox.spelt_out(name, &arguments.to_string());
            calls.into_iter().map(|call| (call.tool, call.arguments)).collect::<Vec<_>>()
        };
        let command = ("run_command".to_owned(), json!({"command": "ls"}));
        assert_eq!(told("bash", json!({"cmd": "ls"})), std::slice::from_ref(&command));
        assert_eq!(told("Bash", json!({"command": ["ls"]})), std::slice::from_ref(&command));
        let write = ("write_file".to_owned(), json!({"file_path": "a", "content": "x"}));
        assert_eq!(told("write_file", json!({"path": "a", "text": "x"})), std::slice::from_ref(&write));
        let batch = json!({"operations": [{"tool": "bash", "arguments": {"script": "ls"}},
            {"tool": "write_file", "arguments": {"filename": "a", "data": "x"}}]});
        assert_eq!(told("batch_operations", batch)[1..], [command, write]);
        assert_eq!(told("mcp__x__y", json!({"a": 1})), [("mcp__x__y".to_owned(), json!({"a": 1}))]);
    }
}
