//! Commands that depend on the output of others. They are planned twice: before anything runs, with what is known of those
//! outputs, and again when they are there, word for word.

use super::{Planner, Reasons};
use crate::plan::{Action, Late, Plan, Stage, Step, Then};
use crate::syntax::{Link, Word};

impl Planner<'_> {
    /// What is run with these values, behind a command that ended with this status.
    pub(crate) fn late(&mut self, late: &Late, values: &[String], status: &str) -> Result<Plan, Reasons> {
        let mut scene = late.scene.clone();
        match &late.then {
            Then::Pipeline(pipeline) => {
                let stages = self.pipeline(
                    &pipeline.with_outputs(values.iter().cloned().map(Some), Some(status)),
                    &scene,
                )?;
                Ok(single(stages))
            }
            Then::Set { name, rest } => {
                scene.set(name, values.first().cloned().unwrap_or_default());
                self.script(rest, &mut scene)
            }
            Then::Round { names, body } => {
                for (name, value) in names.iter().zip(values) {
                    scene.set(name, value.clone());
                }
                scene.repeats = true;
                self.script(body, &mut scene)
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
                let process = self.process(&simple, &scene).map_err(|reason| vec![reason])?;
                Ok(single(vec![Stage::Process(process)]))
            }
        }
    }
}

fn single(stages: Vec<Stage>) -> Plan {
    Plan {
        steps: vec![Step { link: Link::Always, negated: false, timed: false, action: Action::Run(stages) }],
    }
}
