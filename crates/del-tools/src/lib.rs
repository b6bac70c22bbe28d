//! The built-in tools of Del: reading, writing, searching and running, confined to a directory and done by consent.
//!
//! ```
//! use del_tools::{Approval, Control, Gate, Toolbox, Toolset};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let directory = tempfile::tempdir()?;
//! # std::fs::write(directory.path().join("hello.txt"), "hello\n")?;
//! let toolbox = Toolbox::open(directory.path(), &[], Toolset::Core)?;
//! let mut gate = Gate::new(Approval::Ask);
//!
//! let plan = gate.plan(&toolbox, "read_file", r#"{"file_path": "hello.txt"}"#)?;
//! gate.pass(&plan, None)?;
//! let result = toolbox.run(plan, &Control::default());
//! assert_eq!(result.text, "     1\thello");
//!
//! let plan = gate.plan(&toolbox, "write_file", r#"{"file_path": "hello.txt", "content": "bye\n"}"#)?;
//! assert!(gate.pass(&plan, None).is_err(), "nobody is there to ask");
//! # Ok(())
//! # }
//! ```
//!
//! What is promised: no file tool touches anything outside the working directory and the directories that were allowed,
//! races included; nothing that writes or executes passes a [`Gate`] without the consent that its mode asks for; and after
//! [`Toolbox::confine`] the kernel holds commands as far as [`Toolbox::sandbox`] says. What is not: within those limits a
//! command that runs with consent does what it does; and the model's good will is no part of any promise.
#![forbid(unsafe_code)]

#[cfg(not(unix))]
compile_error!("commands run in Unix sessions; other systems are not supported");

mod admission;
mod arguments;
mod back;
mod capture;
mod class;
mod closest;
#[cfg(feature = "code")]
mod code;
mod commit;
mod configuration;
mod context;
mod control;
mod diff;
mod edit;
mod edited;
mod endings;
mod environment;
mod executable;
mod findings;
mod foreign;
mod git;
mod glob;
mod guardian;
mod hits;
mod job;
mod jobs;
mod limits;
mod names;
mod outcome;
mod outline;
mod output;
mod own;
mod pager;
mod pattern;
mod pipeline;
mod placeholder;
mod plan;
mod policy;
mod process;
mod program;
#[cfg(feature = "code")]
mod project;
mod question;
mod registry;
mod rule;
mod sandbox;
mod scratch;
#[cfg(feature = "code")]
mod security;
mod session;
mod shell;
mod sieve;
mod spelt;
mod suggest;
mod suggestion;
mod summary;
#[cfg(feature = "code")]
mod survey;
mod system_error;
#[cfg(feature = "code")]
mod table;
mod tables;
mod targets;
mod template;
mod text;
mod toolbox;
mod tools;
mod undo;
mod visible;
mod web;
mod withheld;
mod workspace;
mod writable;

pub use back::{Selection, Undo, UndoError, UndoState, Undoable};
pub use class::Class;
pub use control::{Cancel, Control, Progress};
pub use environment::looks_secret;
pub use foreign::Foreign;
pub use jobs::{JobState, Jobs, end_jobs};
pub use outcome::{ChangeKind, Code, Failure, FileChange, ToolResult, counted};
pub use own::{Left, Own};
pub use plan::{Advice, Grant, Plan};
pub use policy::{Answer, Approval, Consent, Gate, Permission, Verdict};
pub use question::{Action, Editable, Entries, Loan, Part, Question, Subject};
pub use registry::{Definition, Toolset, UnknownToolset};
pub use rule::{Rule, RuleError};
pub use sandbox::{Confinement, Level, Need, Sandbox, SandboxError, launch};
pub use scratch::{Scratch, remove_scratch};
pub use spelt::Spelt;
pub use system_error::{plain_error, uncapped};
pub use toolbox::Toolbox;
pub use undo::UndoStore;
pub use visible::visible;
pub use web::{Fetch, Provider, UnknownProvider, Web, WebAnswer, WebError, WebRequest};
pub use workspace::WorkspaceError;
