//! What works on the user's files: the tools, the gate in front of them, and whoever is asked.

mod heeding;
mod jobs;
mod narrow;
mod running;
mod unasked;
mod workplace;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use del_dialects::{Call, CallResult, Tool};
use del_mcp::{Renewed, Servers};
use del_tools::{
    Approval, Cancel, Code, Failure, Gate, JobState, ToolResult, Toolbox, Toolset, UndoState, UndoStore,
    Undoable,
};
use similar::TextDiff;

pub(crate) use narrow::Only;
use unasked::Unasked;
pub(crate) use workplace::{Confining, Consenting, Workplace, open};

use crate::consent::Asked;
use crate::exit::Exit;
use crate::hooks::Hooks;
use crate::project::Project;
use crate::prompts::{self, Prompt};
use crate::screen::stage;
use crate::servers::{self, ServerTools};
use crate::todo::{self, Todo};
use crate::{folders, input};

/// The tools over one directory.
#[derive(Debug)]
pub(crate) struct Hands {
    pub(crate) toolbox: Toolbox,
    pub(crate) gate: Gate,
    /// Changes what asks while calls run.
    pub(crate) switch: Switch,
    /// Whether the user knows how far commands are confined.
    announced: bool,
    /// The MCP servers whose tools are in the toolbox; they end with it.
    servers: Option<Servers>,
    /// Why changes cannot be undone, until the user knows.
    lasting: Option<String>,
    /// What the model wants to do, where it may keep a list of that.
    pub(crate) plan: Todo,
    planning: bool,
    /// The tool that gives tasks to sub-agents, where there may be any.
    delegating: Option<Tool>,
    /// The task that a sub-agent does at present.
    task: Option<String>,
    /// What the model may read by itself.
    skills: Vec<Prompt>,
    /// The only tools that may be called for now, by their own names, and who wants that.
    pub(crate) only: Option<Only>,
    /// The tools of the toolbox, and the plan's.
    offered: Vec<Tool>,
    /// Files that were changed, as they were before the first change; nothing where there was none.
    before: BTreeMap<String, Option<Arc<[u8]>>>,
    /// Whoever is told of calls, and may object.
    pub(crate) hooks: Hooks,
    /// Why nothing more is to be done, where a hook wants that.
    stopped: Option<String>,
    /// What was denied because nobody was there to ask.
    unasked: Unasked,
    /// Jobs that have ended, of which the model knows nothing yet.
    over: Vec<JobState>,
}

/// Changes what is done without asking, from another thread; it holds from the next call on.
#[derive(Debug, Clone, Default)]
pub(crate) struct Switch(Arc<Mutex<Option<Approval>>>);

/// Tools that are named where there are more.
const NAMED: usize = 5;
/// What the tool is called.
pub(crate) const DELEGATE: &str = "task";

impl Switch {
    pub(crate) fn set(&self, approval: Approval) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(approval);
    }

    fn take(&self) -> Option<Approval> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl Hands {
    /// Takes the mode that was switched to, where no call has come since.
    pub(crate) fn settle_mode(&mut self) {
        self.switch.take().into_iter().for_each(|approval| self.gate.set_approval(approval));
    }

    /// Fits results to a model that takes so many tokens.
    pub(crate) fn fit_context(&mut self, tokens: u64) {
        self.toolbox.fit_context(u32::try_from(tokens).unwrap_or(u32::MAX));
    }

    pub(crate) fn new(
        toolset: Toolset,
        workplace: &Workplace,
        consenting: &Consenting,
    ) -> anyhow::Result<Self> {
        let mut hands = Self::unannounced(toolset, workplace, consenting)?;
        hands.announced = false;
        hands.tell_unfinished();
        Ok(hands)
    }

    /// The same where nobody is to be told how commands are confined and what an earlier run left.
    pub(crate) fn unannounced(
        toolset: Toolset,
        workplace: &Workplace,
        consenting: &Consenting,
    ) -> anyhow::Result<Self> {
        let (mut toolbox, gate) = workplace.open_with(toolset, consenting)?;
        let lasting = keep_undo(&mut toolbox).err();
        let mut hands = Self {
            toolbox,
            gate,
            switch: Switch::default(),
            announced: true,
            lasting,
            servers: None,
            plan: Todo::default(),
            planning: false,
            delegating: None,
            task: None,
            skills: Vec::new(),
            only: None,
            offered: Vec::new(),
            before: BTreeMap::new(),
            hooks: Hooks::default(),
            stopped: None,
            unasked: Unasked::default(),
            over: Vec::new(),
        };
        hands.offer();
        Ok(hands)
    }

    /// Starts the MCP servers that there are and takes their tools in.
    pub(crate) fn connect(
        &mut self,
        options: &ServerTools,
        workplace: &Workplace,
        asked: &mut Asked,
        cancel: &Cancel,
    ) -> anyhow::Result<()> {
        let project = if options.are_wanted() {
            servers::of_project(self.toolbox.directory(), asked, cancel)
        } else {
            Project::default()
        };
        self.begin_to_connect(options, &project)?;
        self.take_in_servers(workplace, cancel);
        Ok(())
    }

    /// Begins to start the MCP servers that there are, in the background.
    pub(crate) fn begin_to_connect(
        &mut self,
        options: &ServerTools,
        project: &Project,
    ) -> anyhow::Result<()> {
        self.servers = options.start(self.toolbox.directory(), project)?;
        Ok(())
    }

    /// Waits for the MCP servers that still start, until `cancel` is set, and takes the tools in of those that have.
    pub(crate) fn take_in_servers(&mut self, workplace: &Workplace, cancel: &Cancel) {
        let Some(servers) = &mut self.servers else { return };
        servers::tell(servers::gather(servers, cancel));
        // Those that are there already are not added again.
        for tool in servers.tools().iter().filter(|tool| workplace.wants(&tool.tool().name)) {
            self.toolbox.add(Arc::clone(tool));
        }
        self.offer();
    }

    /// Offers the tools that servers have added since they started, and no more those that they have taken away. Whether
    /// there were any.
    pub(crate) fn follow_servers(&mut self, workplace: &Workplace, cancel: &Cancel) -> bool {
        let Some(servers) = self.servers.as_mut().filter(|servers| servers.have_news()) else { return false };
        let busy = stage::current().map(|stage| stage.busy("asking the MCP servers for their tools"));
        let Renewed { mut added, mut gone } = servers.renew(cancel);
        drop(busy);
        gone.retain(|name| self.toolbox.remove(name));
        added.retain(|tool| workplace.wants(&tool.tool().name) && self.toolbox.add(Arc::clone(tool)));
        tell_of_tools("added", added.iter().map(|tool| tool.tool().name.as_str()).collect());
        tell_of_tools("taken away", gone.iter().map(String::as_str).collect());
        self.offer();
        !added.is_empty() || !gone.is_empty()
    }

    /// Begins to start an MCP server anew, and offers its tools no more until it has. False when there is none of that name
    /// that has started or failed.
    pub(crate) fn restart_server(&mut self, name: &str) -> bool {
        let Some(gone) = self.servers.as_mut().and_then(|servers| servers.restart(name)) else {
            return false;
        };
        for tool in &gone {
            self.toolbox.remove(tool);
        }
        self.offer();
        true
    }

    /// Lets the model keep a plan.
    pub(crate) fn let_plan(&mut self) {
        self.planning = true;
        self.offer();
    }

    /// Lets the model read skills.
    pub(crate) fn let_skills(&mut self, prompts: &[Prompt]) {
        self.skills = prompts.iter().filter(|prompt| prompt.kind == prompts::Kind::Skill).cloned().collect();
        self.offer();
    }

    /// Lets the model give tasks to sub-agents, by this tool; whoever runs calls does them.
    pub(crate) fn let_delegate(&mut self, tool: Tool) {
        self.delegating = Some(tool);
        self.offer();
    }

    pub(crate) fn delegates(&self) -> bool {
        self.delegating.is_some()
    }

    pub(crate) fn skills(&self) -> &[Prompt] {
        &self.skills
    }

    fn offer(&mut self) {
        self.offered = self.toolbox.tools().to_vec();
        if self.planning {
            self.offered.push(todo::tool());
        }
        if !self.skills.is_empty() {
            self.offered.push(prompts::tool());
        }
        self.offered.extend(self.delegating.clone());
        // Last, where it also stands when it comes in the middle of a conversation: the beginning stays as it was.
        self.offered.extend(self.job_tool());
    }

    /// What the files that tools changed are now beside what they were, as a diff each.
    pub(crate) fn changes(&self) -> Vec<String> {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let changed = self.before.iter().filter_map(|(path, before)| {
            let now = std::fs::read(self.toolbox.directory().join(path))
                .map(|bytes| text(&bytes))
                .unwrap_or_default();
            let before = before.as_deref().map(text).unwrap_or_default();
            let diff = TextDiff::from_lines(&before, &now);
            let unified = diff.unified_diff().header(&format!("a/{path}"), &format!("b/{path}")).to_string();
            (before != now).then_some(unified)
        });
        changed.collect()
    }

    fn remember(&mut self, result: &ToolResult) {
        for change in &result.changes {
            self.before.entry(change.path.clone()).or_insert_with(|| change.before.clone());
        }
    }

    /// What became of the MCP servers.
    pub(crate) fn servers(&self) -> &[del_mcp::State] {
        self.servers.as_ref().map_or(&[], Servers::states)
    }

    /// Whether an MCP server that has started is gone.
    pub(crate) fn server_has_ended(&self, name: &str) -> bool {
        self.servers.as_ref().is_some_and(|servers| servers.has_ended(name))
    }

    /// The MCP servers that still start.
    pub(crate) fn starting_servers(&self) -> Vec<&str> {
        self.servers.as_ref().map_or_else(Vec::new, |servers| servers.starting().collect())
    }

    /// Tells of changes in the middle of which an earlier run died.
    fn tell_unfinished(&self) {
        for change in self.toolbox.undoable().unwrap_or_default() {
            if change.state == UndoState::Unfinished {
                let Undoable { id, tool, files, .. } = change;
                crate::say(format!(
                    "a {tool} of {} was cut off halfway; `del undo {id}` takes it back, `del undo --finish {id}` completes it",
                    files.join(", ")
                ));
            }
        }
    }

    pub(crate) fn tools(&self) -> &[Tool] {
        &self.offered
    }
}

/// Says what servers have done with tools.
fn tell_of_tools(done: &str, mut names: Vec<&str>) {
    if names.is_empty() {
        return;
    }
    let more = names.len().saturating_sub(NAMED);
    names.truncate(NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    crate::remark(format!("tools that MCP servers have {done}: {}{more}", names.join(", ")));
}

/// Has what stands in the way of each write kept; fails with the reason why that cannot be done.
pub(crate) fn keep_undo(toolbox: &mut Toolbox) -> Result<(), String> {
    let folder = folders::state().ok_or("there is no home directory")?.join("undo");
    let store = UndoStore::open(&folder)
        .map_err(|error| format!("cannot use {}: {}", folder.display(), input::plain(&error)))?;
    toolbox.keep_undo(store);
    Ok(())
}

/// A result as the model is told of it.
pub(crate) fn told(call: &Call, result: &ToolResult) -> CallResult {
    CallResult { id: call.id.clone(), name: call.name.clone(), text: result.text.clone(), ok: result.ok }
}

/// How a run ends that a call with this result ends: refusals are no failures of a tool.
pub(crate) fn exit(result: &ToolResult) -> Exit {
    let code = result.data.as_ref().and_then(|data| data["code"].as_str());
    match code {
        _ if result.ok => Exit::Done,
        Some(code) if code == Code::Denied.as_str() || code == Code::Outside.as_str() => Exit::Failed,
        Some(code) if code == Code::BadJson.as_str() => Exit::BadInput,
        Some(code) if code == Code::UnknownTool.as_str() => Exit::Usage,
        Some(code) if code == Code::Cancelled.as_str() => Exit::Interrupted,
        _ => Exit::ToolFailed,
    }
}

fn cancelled() -> ToolResult {
    Failure::new(Code::Cancelled, "cancelled by the user.").into()
}
