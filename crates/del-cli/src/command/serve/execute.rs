//! `--execute`: the built-in tools for the models behind the proxy. Nobody can be asked: what the policy does not allow
//! is denied, and the model is told so.

use std::sync::Arc;

use anyhow::Result;
use clap::Args;
use del_dialects::{Call, CallResult, ReadCall};
use del_proxy::{Executor, Runner, Settings};
use del_tools::{Approval, Cancel, Class, Level, ToolResult, Toolset};
use serde_json::Value;

use crate::colour::{Paint, When};
use crate::consent::Asked;
use crate::hands::{Consenting, Hands, Workplace, told};
use crate::onlooker::Onlooker;
use crate::say;
use crate::screen::lines;
use crate::screen::look::Look;

/// What runs here, where, and with which consent.
#[derive(Debug, Clone, Args)]
#[command(mut_args(|arg| if NEED_EXECUTE.contains(&arg.get_id().as_str()) { arg.requires("execute") } else { arg }))]
pub(super) struct Execution {
    /// Offers the model the built-in tools and runs its calls of them here: reading without a question, the rest by rule
    #[arg(long)]
    execute: bool,
    /// The set of tools: core, del or all
    #[arg(long, value_name = "SET", default_value = "core")]
    toolset: Toolset,
    #[command(flatten)]
    workplace: Workplace,
    #[command(flatten)]
    consenting: Consenting,
    /// How many requests to the model one request of a client may cost
    #[arg(long, value_name = "N", default_value = "25", value_parser = clap::value_parser!(u32).range(1..))]
    max_turns: u32,
}

/// The options that mean nothing where no calls run.
const NEED_EXECUTE: [&str; 12] = [
    "toolset",
    "max_turns",
    "working_dir",
    "allow_dir",
    "sandbox",
    "allow_network",
    "hide_secrets",
    "tools",
    "approval_mode",
    "no_questions",
    "allow_tool",
    "deny_tool",
];

/// The tools over the working directory, for each request anew.
#[derive(Debug)]
pub(super) struct Execute {
    execution: Execution,
    tools: Vec<Value>,
}

/// The tools at the service of one request.
struct OfRequest {
    hands: Hands,
    cancel: Cancel,
}

/// Tells a client what is done, in the lines that the assistant shows.
struct Teller<'a> {
    look: Look,
    tell: &'a mut dyn FnMut(String),
}

impl Execution {
    /// Whoever runs calls, if calls are to be run. Says what they may do.
    pub(super) fn executor(&self) -> Result<Option<Execute>> {
        if !self.execute {
            return Ok(None);
        }
        let hands = Hands::new(self.toolset, &self.workplace, &self.consenting)?;
        let definitions = hands.toolbox.definitions();
        let tools =
            definitions.iter().map(|tool| serde_json::from_str(tool.json)).collect::<Result<_, _>>()?;
        let allowed = hands.gate.permissions();
        let may = match hands.gate.approval() {
            Approval::Yolo => "everything runs unasked".to_owned(),
            Approval::AutoEdit => "reading and changing files runs".to_owned(),
            Approval::Ask | Approval::Plan => "only reading runs".to_owned(),
        };
        let rules: Vec<String> = allowed.iter().map(ToString::to_string).collect();
        let besides =
            if rules.is_empty() { String::new() } else { format!(", and by rule {}", rules.join("; ")) };
        say(format!(
            "the {} tools work in {}: {may}{besides}",
            self.toolset,
            hands.toolbox.directory().display()
        ));
        let runs = definitions.iter().any(|tool| tool.class == Class::Execute);
        if runs && hands.toolbox.sandbox().level() != Level::Off {
            say(hands.toolbox.sandbox());
        }
        Ok(Some(Execute { execution: self.clone(), tools }))
    }

    /// The settings with whoever runs calls.
    pub(super) fn put_into(&self, settings: Settings, executor: Option<&Arc<dyn Executor>>) -> Settings {
        Settings { executor: executor.cloned(), max_turns: self.max_turns, ..settings }
    }
}

impl Executor for Execute {
    fn tools(&self) -> &[Value] {
        &self.tools
    }

    fn begin(&self) -> Result<Box<dyn Runner>, String> {
        let Execution { toolset, workplace, consenting, .. } = &self.execution;
        let hands = Hands::unannounced(*toolset, workplace, consenting).map_err(|error| error.to_string())?;
        Ok(Box::new(OfRequest { hands, cancel: Cancel::new() }))
    }
}

impl Runner for OfRequest {
    fn run(&mut self, calls: &[ReadCall], tell: &mut dyn FnMut(String)) -> Vec<CallResult> {
        let look = Look {
            paint: Paint::for_terminal(When::Never, false),
            unicode: true,
            plain: true,
            spoken: false,
        };
        let mut teller = Teller { look, tell };
        let results = self.hands.run(calls, &self.cancel, &mut Asked::Nobody, &mut teller);
        calls.iter().zip(&results).map(|(read, result)| told(&read.call, result)).collect()
    }

    fn stopper(&self) -> Box<dyn FnOnce() + Send> {
        let cancel = self.cancel.clone();
        Box::new(move || cancel.cancel())
    }
}

impl Onlooker for Teller<'_> {
    fn call(&mut self, call: &Call) {
        (self.tell)(lines::call(self.look, call));
    }

    fn result(&mut self, _: &Call, result: &ToolResult) {
        (self.tell)(lines::result(self.look, result, false));
    }
}
