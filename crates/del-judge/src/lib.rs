//! Says of a shell command whether it only reads.
//!
//! ```
//! use del_judge::{Ground, Judge, Verdict};
//!
//! let ground = Ground::new(std::path::Path::new("."));
//! let judge = Judge::default();
//! assert_eq!(judge.judge("ls -la src | head -5", &ground).verdict, Verdict::Safe);
//! assert_eq!(judge.judge("cat ../secret", &ground).verdict, Verdict::Ask);
//! assert_eq!(judge.judge("sudo rm -rf /", &ground).verdict, Verdict::Refuse);
//! ```
//!
//! A command is safe when three things are known of it: what the shell would make of its words, which the part of the
//! shell's language that is read here settles to the byte; that each of its programs, with these options, only reads,
//! which the descriptions in `programs/` say; and that every path lies in the working directory. All else asks. A safe
//! command comes with a [`Plan`]: the programs and their exact arguments, to be run without a shell.
#![forbid(unsafe_code)]

mod arguments;
mod budget;
mod catalog;
mod delicate;
mod destructive;
mod ground;
mod judge;
mod kind;
mod language;
mod mark;
mod members;
mod plan;
mod planner;
mod printed;
mod reason;
mod repository;
mod rough;
mod scene;
mod search;
mod secret;
mod startup;
mod syntax;
mod tree;
mod wildcard;
mod withheld;
mod within;

pub use delicate::Delicate;
pub use ground::{Ground, is_public};
pub use judge::{Judge, Judgement, Unsettled, Verdict};
pub use members::{Member, Members, members};
pub use plan::{
    Action, Body, Gather, Group, Input, Late, Link, Made, Output, Plan, Printed, Process, Redirect, Stage,
    Step,
};
pub use repository::{
    is_harmless as is_harmless_setting, what_is_linked, what_misleads, what_reveals, without_password,
};
pub use search::Search;
pub use secret::{git_attributes, is_secret, secret_places};
pub use startup::{is_obeyed, is_repository, is_startup};
pub use withheld::Withheld;
