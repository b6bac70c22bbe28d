//! The tools over one working directory: plan a call, let the gate decide, run it.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use del_dialects::Tool;

use crate::arguments::Arguments;
use crate::context::{Context, Limits};
use crate::outcome::{Code, Failure, FileChange, ToolResult};
use crate::policy::{Class, Grant};
use crate::question::Question;
use crate::registry::{self, Definition, Job, Toolset};
use crate::sandbox::{Confinement, Sandbox, SandboxError};
use crate::suggest;
use crate::undo::{Selection, Undo, UndoError, UndoStore, Undoable};
use crate::web::Web;
use crate::workspace::{Workspace, WorkspaceError};

/// The tools that a model is offered, over one working directory.
///
/// It may be shared between threads. It remembers which files the model has read, so that a file that changed since is
/// not overwritten blindly. Dropping it ends the processes that commands left running.
#[derive(Debug)]
pub struct Toolbox {
    context: Context,
    toolset: Toolset,
    definitions: Vec<Definition>,
    tools: Vec<Tool>,
}

/// A call that is understood and possible, and only wants consent.
pub struct Plan {
    tool: &'static str,
    class: Class,
    job: Box<dyn Job>,
    question: Question,
    notes: Vec<String>,
    grant: Grant,
}

/// How a running call is watched and stopped.
#[derive(Default)]
pub struct Control<'a> {
    cancel: Cancel,
    progress: Option<Listener<'a>>,
}

type Listener<'a> = Box<dyn Fn(Progress<'_>) + Send + Sync + 'a>;

/// Stops a running call from another thread. Clones share one flag.
#[derive(Debug, Clone, Default)]
pub struct Cancel(Arc<AtomicBool>);

/// What a call does while it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Progress<'a> {
    /// A command wrote this, without terminal escapes.
    Output(&'a str),
}

impl Toolbox {
    /// Tools over `directory`, and over the `allowed` directories beside it.
    pub fn open(directory: &Path, allowed: &[PathBuf], toolset: Toolset) -> Result<Self, WorkspaceError> {
        let workspace = Workspace::open(directory, allowed)?;
        let definitions = toolset.definitions();
        let names = definitions.iter().map(|d| (d.entry.name, d.name)).collect();
        let tools = definitions.iter().map(Definition::tool).collect();
        Ok(Self { context: Context::new(workspace, names), toolset, definitions, tools })
    }

    /// The tools, as a model is told of them.
    pub fn tools(&self) -> &[Tool] {
        &self.tools
    }

    /// The definitions, as JSON text.
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

    /// Keeps only the tools with these names, in any spelling. Other tools can no longer be called.
    pub fn restrict<S: AsRef<str>>(&mut self, names: &[S]) -> Result<(), WorkspaceError> {
        let mut kept = Vec::new();
        for name in names {
            let definition = self.definition(name.as_ref()).ok_or_else(|| WorkspaceError::UnknownTool {
                name: name.as_ref().to_owned(),
                known: self.offered(),
            })?;
            kept.push(definition.entry.name);
        }
        self.definitions.retain(|definition| kept.contains(&definition.entry.name));
        self.tools = self.definitions.iter().map(Definition::tool).collect();
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

    /// Lets commands see these variables of the environment though their names look like secrets.
    pub fn keep_variables(&mut self, names: Vec<String>) {
        self.context.kept_variables = names;
    }

    /// Searches the web there.
    pub fn search_with(&mut self, web: Web) {
        self.context.web = Some(web);
    }

    /// Confines the commands that run from now on. They may write in the working directory, in the allowed ones and in
    /// those that `confinement` names. Fails when the kernel does not offer what is needed; then nothing has changed.
    pub fn confine(&mut self, confinement: &Confinement) -> Result<(), SandboxError> {
        self.context.sandbox = Sandbox::new(confinement, self.context.workspace.writable())?;
        Ok(())
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
    /// Nothing is changed yet. A failure is the result to give to the model.
    pub fn plan(&self, name: &str, arguments: &str) -> Result<Plan, Failure> {
        let definition = self.definition(name).ok_or_else(|| self.unknown(name))?;
        let entry = definition.entry;
        let schema = &self.tools[self.position(entry.name).unwrap_or_default()].parameters;
        let read = Arguments::read(definition.name, arguments, entry.parameters, &schema["properties"])?
            .called(name);
        let notes = read.notes().to_vec();
        let job = (entry.prepare)(read, &self.context)?;
        let question = job.question(&self.context)?;
        let grant = Grant {
            tool: entry.name,
            arguments: arguments.to_owned(),
            directory: self.directory().to_owned(),
            cautions: question.cautions.clone(),
        };
        Ok(Plan { tool: entry.name, class: job.class(), job, question, notes, grant })
    }

    /// Runs what was planned. Consent is the caller's affair: see [`crate::Gate`].
    pub fn run(&self, plan: Plan, control: &Control<'_>) -> ToolResult {
        let mut result = match plan.job.run(&self.context, control) {
            Ok(result) => result,
            Err(failure) => failure.into(),
        };
        let limits = &self.context.limits;
        let runs = plan.class >= Class::Execute;
        cap(&mut result, if runs { limits.command_chars * 4 } else { limits.result_bytes });
        for note in &plan.notes {
            result.note(note);
        }
        result
    }

    fn definition(&self, name: &str) -> Option<&Definition> {
        let entry = registry::find(name)?;
        self.definitions.iter().find(|definition| definition.entry.name == entry.name)
    }

    fn position(&self, engine: &str) -> Option<usize> {
        self.definitions.iter().position(|definition| definition.entry.name == engine)
    }

    fn unknown(&self, name: &str) -> Failure {
        let names: Vec<_> = self.definitions.iter().map(|d| d.name).collect();
        // A tool that there is but that is not offered was not misspelt.
        let known = registry::find(name).is_some();
        let meant = suggest::word(name, &names).filter(|_| !known);
        let meant = meant.map(|near| format!(" Did you mean '{near}'?")).unwrap_or_default();
        let name: String = name.chars().filter(|c| !c.is_control()).take(80).collect();
        Failure::new(
            Code::UnknownTool,
            format!("unknown tool '{name}'.{meant} Available: {}", self.offered()),
        )
    }

    fn offered(&self) -> String {
        self.definitions.iter().map(|d| d.name).collect::<Vec<_>>().join(", ")
    }
}

/// Cuts a text that is too long for the model, at the end of a line where there is one. Tools keep to the limit
/// themselves, but for their last remarks; this is for what they cannot foresee, such as a diff of very long lines.
fn cap(result: &mut ToolResult, limit: usize) {
    let limit = limit + 1024;
    if result.text.len() <= limit {
        return;
    }
    let mut cut = limit;
    while !result.text.is_char_boundary(cut) {
        cut -= 1;
    }
    if let Some(newline) = result.text[..cut].rfind('\n').filter(|at| *at > limit / 2) {
        cut = newline;
    }
    let omitted = result.text.len() - cut;
    result.text.truncate(cut);
    result.note(&format!("... [{omitted} bytes omitted] ..."));
    result.truncated = true;
}

impl Plan {
    /// The tool's canonical name.
    pub fn tool(&self) -> &'static str {
        self.tool
    }

    /// What the call would do to the world.
    pub fn class(&self) -> Class {
        self.class
    }

    /// What the user is to be shown.
    pub fn question(&self) -> &Question {
        &self.question
    }

    pub(crate) fn grant(&self) -> &Grant {
        &self.grant
    }
}

impl fmt::Debug for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Plan")
            .field("tool", &self.tool)
            .field("question", &self.question)
            .finish_non_exhaustive()
    }
}

impl<'a> Control<'a> {
    /// A control that `cancel` stops.
    pub fn new(cancel: Cancel) -> Self {
        Self { cancel, progress: None }
    }

    /// Tells `progress` what happens, from the thread that runs the call.
    #[must_use]
    pub fn with_progress(mut self, progress: impl Fn(Progress<'_>) + Send + Sync + 'a) -> Self {
        self.progress = Some(Box::new(progress));
        self
    }

    pub(crate) fn report(&self, progress: Progress<'_>) {
        if let Some(listener) = &self.progress {
            listener(progress);
        }
    }

    /// Whether the call is to stop.
    pub(crate) fn is_over(&self) -> bool {
        self.cancel.is_cancelled()
    }

    /// Fails once the call is to stop.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        if self.cancel.is_cancelled() {
            return Err(Failure::new(Code::Cancelled, "cancelled by the user."));
        }
        Ok(())
    }
}

impl fmt::Debug for Control<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Control").field("cancel", &self.cancel).finish_non_exhaustive()
    }
}

impl Cancel {
    /// A flag that is not set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Stops every call that has this flag.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether it was stopped.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
