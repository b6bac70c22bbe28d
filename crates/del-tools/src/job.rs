//! What a tool is, and a call that is ready to run.

use std::fmt;

use crate::arguments::{Arguments, Parameter};
use crate::class::Class;
use crate::context::Context;
use crate::control::Control;
use crate::outcome::{Failure, ToolResult};
use crate::question::Question;

/// One tool: its names, what it takes, and how a call of it is prepared.
pub(crate) struct Entry {
    /// The engine's own name.
    pub(crate) name: &'static str,
    /// Other names, folded, under which it may be called.
    pub(crate) aliases: &'static [&'static str],
    /// What a call may do at most.
    pub(crate) class: Class,
    pub(crate) parameters: &'static [&'static Parameter],
    /// The definition for models, as JSON text.
    pub(crate) definition: &'static str,
    /// Its name and definition in the `core` set.
    pub(crate) core: Option<(&'static str, &'static str)>,
    /// Whether it is in the `del` set.
    pub(crate) del: bool,
    /// Makes a call ready: after this only consent is wanting.
    pub(crate) prepare: fn(Arguments, &Context) -> Prepared,
}

impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entry").field("name", &self.name).finish_non_exhaustive()
    }
}

/// A call that is ready to run, or why it cannot be.
pub(crate) type Prepared = Result<Box<dyn Job>, Failure>;

/// A call that is ready to run.
pub(crate) trait Job: Send + Sync {
    /// What it would do.
    fn class(&self) -> Class;

    /// What the user is shown; fails where running would fail anyway.
    fn question(&self, context: &Context) -> Result<Question, Failure>;

    /// Lets it use the network, where its question offers that.
    fn lend_network(&mut self) {}

    /// Does it.
    fn run(self: Box<Self>, context: &Context, control: &Control<'_>) -> Result<ToolResult, Failure>;
}
