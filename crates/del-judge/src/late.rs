//! Commands that depend on the output of others. They are judged twice: before anything runs, with what is known of those
//! outputs, and again when they are there, word for word.

use crate::judge::Judge;
use crate::mark::Mark;
use crate::plan::{Action, Body, Group, Plan, Stage, Step};
use crate::planner::{Planner, Scene};
use crate::syntax::{Link, Pipeline, Script, Simple, Word};

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
    /// What each of these prints, without the newlines at its end. They run in the order in which they stand.
    Outputs(Vec<Plan>),
    /// The lines of the input, one after the other: the command is settled for each of them.
    Lines {
        /// Whether backslashes are characters.
        raw: bool,
        /// Whether blanks at the ends of a line are kept.
        blanks: bool,
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

/// What becomes of the values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Then {
    /// They stand for the substitutions.
    Pipeline(Pipeline),
    /// The one value is that of this variable, for the commands that follow.
    Set { name: String, rest: Script },
    /// The one value is that of this variable, for a round of a loop.
    Round { name: String, body: Script },
    /// They are the last words of the command, or each stands where this text does.
    Words { simple: Simple, replace: Option<String> },
}

/// Why a command does not run with the values that came.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not run without a question: {0}")]
pub struct Unsettled(String);

impl Late {
    /// What is run once the values are known, behind a command that ended with this status. It is judged like any other.
    pub fn settle(&self, judge: &Judge, values: &[String], status: u8) -> Result<Plan, Unsettled> {
        let unsettled = |reasons: Vec<_>| {
            let reasons: Vec<_> = reasons.iter().map(ToString::to_string).collect();
            Unsettled(reasons.join("; "))
        };
        if values.iter().any(|value| Mark::within(value).is_some() || value.contains('\0')) {
            return Err(Unsettled("a value holds characters that no command has".to_owned()));
        }
        self.planned(&mut Planner::at(judge, 1), values, &status.to_string()).map_err(unsettled)
    }

    /// The same with what is known of the values now.
    pub(crate) fn planned(
        &self,
        planner: &mut Planner<'_>,
        values: &[String],
        status: &str,
    ) -> Result<Plan, Vec<crate::judge::Reason>> {
        let mut scene = self.scene.clone();
        match &self.then {
            Then::Pipeline(pipeline) => {
                let stages = planner.pipeline(
                    &pipeline.with_outputs(values.iter().cloned().map(Some), Some(status)),
                    &scene,
                )?;
                Ok(single(stages))
            }
            Then::Set { name, rest } => {
                scene.set(name, values.first().cloned().unwrap_or_default());
                planner.script(rest, &mut scene)
            }
            Then::Round { name, body } => {
                scene.set(name, values.first().cloned().unwrap_or_default());
                scene.repeats = true;
                planner.script(body, &mut scene)
            }
            Then::Words { simple, replace } => {
                let mut simple = simple.clone();
                match replace {
                    None => simple.words.extend(values.iter().map(Word::of)),
                    Some(replace) => {
                        let value = values.first().map(String::as_str).unwrap_or_default();
                        for word in &mut simple.words {
                            let text = word.literal().unwrap_or_default().replace(replace, value);
                            *word = Word::of(text);
                        }
                    }
                }
                let process = planner.process(&simple, &scene).map_err(|reason| vec![reason])?;
                Ok(single(vec![Stage::Process(process)]))
            }
        }
    }

    /// A stage of a pipeline that waits.
    pub(crate) fn stage(self) -> Stage {
        Stage::Group(Group { body: Body::Late(Box::new(self)), input: None, outputs: Vec::new() })
    }
}

fn single(stages: Vec<Stage>) -> Plan {
    Plan {
        steps: vec![Step { link: Link::Always, negated: false, timed: false, action: Action::Run(stages) }],
    }
}
