//! What can be said of a call by its arguments alone, so that the gate denies it before anything is read or run for it.

use serde_json::json;

use crate::arguments::{Arguments, DRY_RUN, OPERATIONS, PATH};
use crate::class::Class;
use crate::context::Context;
use crate::job::Entry;
use crate::tools::{git_operation, multi_edit, run_command, write_file};
use crate::workspace::Access;

/// A call, as far as its arguments tell.
#[derive(Debug, Clone)]
pub(crate) struct Outline {
    /// The tool, as rules name it.
    pub(crate) tool: &'static str,
    /// The least that the call may turn out to do.
    pub(crate) least: Class,
    /// The paths that it is about, as rules are held against them.
    pub(crate) paths: Vec<String>,
    /// Whether it may tell what stands there, be it in a failure: an edit shows the lines beside those that it looked for.
    pub(crate) shows: bool,
}

impl Outline {
    /// A call of `entry` with these arguments.
    pub(crate) fn of(entry: &'static Entry, mut arguments: Arguments, context: &Context) -> Self {
        let dry_run = entry.name == multi_edit::TOOL.name && arguments.flag(&DRY_RUN).unwrap_or(false);
        let least = match entry.name {
            // What it comes to is judged without running anything.
            name if name == run_command::TOOL.name || dry_run => Class::Read,
            name if name == git_operation::TOOL.name => git_operation::least(&mut arguments),
            _ => entry.class,
        };
        let access = if least == Class::Read { Access::Read } else { Access::Write };
        let place = |path: &String| Some(context.workspace.resolve(path, access).ok()?.shown);
        let paths = paths(entry, &mut arguments).iter().filter_map(place).collect();
        // Writing a file whole needs nothing of the old one.
        let shows = entry.name != write_file::TOOL.name;
        Self { tool: entry.name, least, paths, shows }
    }
}

/// The paths that the arguments name. Where none is named, it is the working directory.
fn paths(entry: &Entry, arguments: &mut Arguments) -> Vec<String> {
    let takes = |name: &str| entry.parameters.iter().any(|parameter| parameter.name == name);
    if !takes(PATH.name) {
        return Vec::new();
    }
    let mut paths: Vec<String> = arguments.text(&PATH).into_iter().collect();
    if takes(OPERATIONS.name) {
        let items = arguments.need_list(&OPERATIONS).unwrap_or_default();
        let path = |item: &serde_json::Value| {
            Arguments::read("an operation", &item.to_string(), &[&PATH], &json!({})).ok()?.text(&PATH)
        };
        paths.extend(items.iter().filter_map(path));
    }
    if paths.is_empty() {
        paths.push(".".to_owned());
    }
    paths
}
