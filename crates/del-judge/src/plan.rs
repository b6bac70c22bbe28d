//! What a safe command runs: programs with exact arguments, and no shell.

use std::path::PathBuf;

pub use crate::syntax::{Link, Output};

use crate::scene::Scene;
use crate::syntax::{Pipeline, Script, Simple};

/// The steps of a safe command, in their order.
///
/// Nothing is left to be expanded: wildcards are file names, programs are absolute paths. What depends on the output of
/// other commands is [`Late`], and is judged when that is known.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Plan {
    /// What is done. A step whose link does not hold is left out.
    pub steps: Vec<Step>,
}

/// One step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// When it is done, after those before it.
    pub link: Link,
    /// Whether its status is turned round.
    pub negated: bool,
    /// Whether it is said how long it took.
    pub timed: bool,
    /// What is done.
    pub action: Action,
}

/// What a step does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Goes on in this directory. Later steps are planned for it, so a run in which it cannot be entered has to end.
    Enter(PathBuf),
    /// From here on a step that fails ends them all, and a pipeline fails when any of its stages does.
    Strict {
        /// The first.
        ends: bool,
        /// The second.
        whole: bool,
    },
    /// Ends them with this status, else the last one.
    Exit(Option<u8>),
    /// Runs programs, the output of each feeding the next. The last one's status is that of the step.
    Run(Vec<Stage>),
}

/// A part of a pipeline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stage {
    /// A program.
    Process(Process),
    /// Commands that share their input and their outputs.
    Group(Group),
}

/// Commands that share their input and their outputs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// What they do.
    pub body: Body,
    /// What feeds them, instead of the stage before.
    pub input: Option<Input>,
    /// Where their outputs go, the later ones on top of the earlier.
    pub outputs: Vec<Redirect>,
}

/// What a group does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Body {
    /// These steps.
    Steps(Plan),
    /// What follows the first condition that holds, else the last.
    Choice {
        /// Conditions and what follows them.
        arms: Vec<(Plan, Plan)>,
        /// What is done when none holds.
        otherwise: Plan,
    },
    /// What depends on the output of other commands.
    Late(Box<Late>),
}

/// A command that waits for values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Late {
    /// What has to be gathered first.
    pub gather: Gather,
    pub(crate) scene: Scene,
    pub(crate) then: Then,
}

/// The values that a command waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Gather {
    /// What each of these prints. They run in the order in which they stand.
    Outputs(Vec<Printed>),
    /// The lines of the input, one after the other: the command is settled for each of them.
    Lines {
        /// Whether backslashes are characters.
        raw: bool,
        /// The characters between the fields of a line. Without any, a line is one field as it stands.
        separators: String,
        /// In how many fields a line is divided: each is a value, and the last is all that is left.
        fields: usize,
    },
    /// The words of the input: the command is settled for so many of them at a time.
    Words {
        /// What ends a word. Blanks and newlines do, and quotes are read, when it is left out.
        end: Option<char>,
        /// How many.
        at_once: usize,
        /// Whether the command runs when there are none.
        none: bool,
        /// The status when one of the runs failed.
        failed: u8,
    },
}

/// What commands print.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Printed {
    /// The commands.
    pub plan: Plan,
    /// Whether all of it is wanted, for a file. Else it is without the newlines at its end.
    pub whole: bool,
}

/// A file that is made for a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Made {
    /// Which of the arguments is to be its path.
    pub argument: usize,
    /// What is in it.
    pub text: String,
}

/// What becomes of the values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Then {
    /// They stand for the substitutions.
    Pipeline(Pipeline),
    /// The one value is that of this variable, for the commands that follow.
    Set { name: String, rest: Script },
    /// They are those of these variables, for a round of a loop.
    Round { names: Vec<String>, body: Script },
    /// They are the last words of the command, or each stands where this text does.
    Words { simple: Simple, replace: Option<String> },
}

impl Late {
    /// A stage of a pipeline that waits.
    pub(crate) fn stage(self) -> Stage {
        Stage::Group(Group { body: Body::Late(Box::new(self)), input: None, outputs: Vec::new() })
    }
}

/// A program to start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Process {
    /// The name that was written.
    pub name: String,
    /// Where the program lies; `None` when there is none, and then nothing can be started.
    pub program: Option<PathBuf>,
    /// Its arguments, without its name.
    pub arguments: Vec<String>,
    /// Files that some of them have to name.
    pub made: Vec<Made>,
    /// The whole environment: no other variable reaches it.
    pub environment: Vec<(String, String)>,
    /// Where it runs.
    pub directory: PathBuf,
    /// What feeds it: the program before it, or nothing, where this is left out.
    pub input: Option<Input>,
    /// Where its outputs go, the later ones on top of the earlier.
    pub outputs: Vec<Redirect>,
}

/// What feeds a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Input {
    /// This file.
    File(PathBuf),
    /// This text.
    Text(String),
}

/// Where an output goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Redirect {
    /// Nowhere.
    Discard(Output),
    /// Where the second one goes at that moment.
    Join(Output, Output),
}

impl From<Plan> for Body {
    fn from(plan: Plan) -> Self {
        Self::Steps(plan)
    }
}
