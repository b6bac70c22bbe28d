//! From commands to a plan of programs, as far as all that they do is known to be harmless.

mod late;
mod mode;
pub(crate) mod prefix;
pub(crate) mod process;
mod xargs;

use std::cell::Cell;
use std::path::PathBuf;

use crate::mark::Mark;
use crate::plan::{Action, Body, Gather, Group, Late, Plan, Printed, Stage, Step, Then};
use crate::printed;
use crate::reason::Reason;
use crate::scene::Scene;
use crate::search::Search;
use crate::syntax::{Command, Compound, Link, Pipeline, Redirection, Script, Simple, Substitution, Word};

/// More programs than this are not planned, the rounds of loops counted.
const MAX_PROCESSES: usize = 1_000;
/// Commands in words of commands are looked into so far.
const MAX_DEPTH: usize = 12;

/// Plans commands.
pub(crate) struct Planner<'a> {
    search: &'a Search,
    /// Of each command at the top, in their order: whether it is safe by itself.
    pub(crate) harmless: Vec<bool>,
    processes: usize,
    /// Names that were looked through for wildcards.
    entries: Cell<usize>,
    depth: usize,
}

type Reasons = Vec<Reason>;

impl<'a> Planner<'a> {
    pub(crate) fn new(search: &'a Search) -> Self {
        Self::at(search, 0)
    }

    /// The same for commands inside of others.
    pub(crate) fn at(search: &'a Search, depth: usize) -> Self {
        Self { search, harmless: Vec::new(), processes: 0, entries: Cell::new(0), depth }
    }

    /// Plans a script, which may change the scene for what follows it.
    pub(crate) fn script(&mut self, script: &Script, scene: &mut Scene) -> Result<Plan, Reasons> {
        if self.depth == MAX_DEPTH {
            return Err(vec![Reason::Many(MAX_PROCESSES)]);
        }
        self.depth += 1;
        let plan = self.steps(script, scene);
        self.depth -= 1;
        plan
    }

    fn steps(&mut self, script: &Script, scene: &mut Scene) -> Result<Plan, Reasons> {
        let mut plan = Plan::default();
        let mut reasons = Vec::new();
        // Whether the step before entered a directory, or set a variable, whatever happened.
        let mut done = false;
        for (place, pipeline) in script.pipelines.iter().enumerate() {
            let Pipeline { link, negated, timed, .. } = *pipeline;
            let pipeline = &scene.with_known_outputs(pipeline);
            if let Some(change) = Change::of(pipeline) {
                let certain = link == Link::Always || (link == Link::And && done);
                let rest = &script.pipelines[place..];
                let leaves = !matches!(change, Change::Exit(_));
                if leaves && !certain && rest.iter().any(|pipeline| pipeline.link != Link::And) {
                    reasons.push(change.uncertain());
                    break;
                }
                done = certain;
                let action = match self.change(change, pipeline, script, place, scene) {
                    Ok(action) => action,
                    Err(mut more) => {
                        reasons.append(&mut more);
                        break;
                    }
                };
                self.note(true);
                let follows = matches!(action, Action::Run(_));
                plan.steps.push(Step { link, negated, timed, action });
                if follows {
                    // The rest waits for the value.
                    break;
                }
                continue;
            }
            done = false;
            let action = self.action(pipeline, scene);
            match action {
                Ok(stages) => plan.steps.push(Step { link, negated, timed, action: Action::Run(stages) }),
                Err(mut more) => reasons.append(&mut more),
            }
        }
        if reasons.is_empty() { Ok(plan) } else { Err(reasons) }
    }

    /// A pipeline, which may wait for its substitutions.
    fn action(&mut self, pipeline: &Pipeline, scene: &Scene) -> Result<Vec<Stage>, Reasons> {
        let outputs = pipeline.outputs();
        if outputs.is_empty() && !pipeline.asks_status() {
            return self.pipeline(pipeline, scene);
        }
        let plans = self.outputs(&outputs, scene)?;
        let noted = self.harmless.len();
        pipeline.marked().try_for_each(|marked| {
            self.harmless.truncate(noted);
            self.pipeline(&marked, scene).map(drop)
        })?;
        let pipeline = Pipeline {
            link: Link::Always,
            negated: false,
            timed: false,
            commands: pipeline.commands.clone(),
        };
        let late =
            Late { gather: Gather::Outputs(plans), scene: scene.clone(), then: Then::Pipeline(pipeline) };
        Ok(vec![late.stage()])
    }

    fn outputs(&mut self, outputs: &[Substitution<'_>], scene: &Scene) -> Result<Vec<Printed>, Reasons> {
        let printed = |Substitution { script, is_file }: &Substitution<'_>| match printed::unanswered(script)
            .filter(|_| !is_file)
        {
            Some(name) => Err(vec![Reason::Answer(name)]),
            None => Ok(Printed { plan: self.script(script, &mut scene.apart())?, whole: *is_file }),
        };
        outputs.iter().map(printed).collect()
    }

    /// The stages of a pipeline whose words are known, or marked.
    pub(crate) fn pipeline(&mut self, pipeline: &Pipeline, scene: &Scene) -> Result<Vec<Stage>, Reasons> {
        let mut stages = Vec::new();
        let mut reasons = Vec::new();
        for (place, command) in pipeline.commands.iter().enumerate() {
            let before = &pipeline.commands[..place];
            let planned = match command {
                Command::Simple(simple) => self.simple(simple, before, scene),
                Command::Compound(compound, redirections) => {
                    self.compound(compound, redirections, before, scene).map(|stage| vec![stage])
                }
            };
            match command {
                Command::Simple(_) => self.note(planned.is_ok()),
                Command::Compound(compound, _) => self.note_inside(compound, planned.is_ok(), scene),
            }
            match planned {
                Ok(planned) => stages.extend(planned),
                Err(mut more) => reasons.append(&mut more),
            }
        }
        if reasons.is_empty() { Ok(stages) } else { Err(reasons) }
    }

    fn note(&mut self, harmless: bool) {
        if self.depth <= 1 {
            self.harmless.push(harmless);
        }
    }

    /// Notes each command in a compound one. What may stand in another directory than here is not known.
    fn note_inside(&mut self, compound: &Compound, harmless: bool, scene: &Scene) {
        if self.depth > 1 {
            return;
        }
        let mut here = true;
        for (before, simple) in compound.simple() {
            let moves = simple.words.first().and_then(Word::literal);
            here &= harmless || !moves.is_some_and(|name| matches!(name, "cd" | "pushd" | "popd"));
            let mut by_itself = || self.simple(simple, before, &scene.inside()).is_ok();
            let noted = harmless || (here && by_itself());
            self.harmless.push(noted);
        }
    }

    fn simple(&mut self, simple: &Simple, before: &[Command], scene: &Scene) -> Result<Vec<Stage>, Reasons> {
        let name = simple.words.first().and_then(Word::literal).unwrap_or_default();
        let waiting = match name {
            "xargs" => Some(self.xargs(simple, before, scene).map(|stage| vec![stage])),
            "find" => self.find(simple, scene),
            _ => None,
        };
        let stages = match waiting {
            Some(stages) => stages,
            None => self.process(simple, scene).map(|process| vec![Stage::Process(process)]),
        };
        stages.map_err(|reason| vec![reason])
    }

    fn compound(
        &mut self,
        compound: &Compound,
        redirections: &[Redirection],
        before: &[Command],
        scene: &Scene,
    ) -> Result<Stage, Reasons> {
        let (input, outputs) = self.redirections(redirections, scene).map_err(|reason| vec![reason])?;
        self.depth += 1;
        let body = self.body(compound, before, scene);
        self.depth -= 1;
        Ok(Stage::Group(Group { body: body?, input, outputs }))
    }

    fn body(&mut self, compound: &Compound, before: &[Command], scene: &Scene) -> Result<Body, Reasons> {
        Ok(match compound {
            Compound::Subshell(script) => self.script(script, &mut scene.apart())?.into(),
            Compound::Group(script) => self.script(script, &mut scene.inside())?.into(),
            Compound::If { arms, otherwise } => {
                let mut planned = Vec::new();
                for (condition, then) in arms {
                    let condition = self.script(condition, &mut scene.inside())?;
                    planned.push((condition, self.script(then, &mut scene.inside())?));
                }
                let otherwise = match otherwise {
                    Some(script) => self.script(script, &mut scene.inside())?,
                    None => Plan::default(),
                };
                Body::Choice { arms: planned, otherwise }
            }
            Compound::For { name, words, body } => {
                let values = self.words(words, scene).map_err(|reason| vec![reason])?;
                let mut rounds = Plan::default();
                for value in values {
                    let mut scene = scene.inside();
                    scene.name(name)?;
                    scene.set(name, value);
                    rounds.steps.extend(self.script(body, &mut scene)?.steps);
                }
                rounds.into()
            }
            Compound::Read { names, raw, separators, body } => {
                let inside = scene.inside();
                names.iter().try_for_each(|name| inside.name(name))?;
                let fields = names.len();
                // A part of a path is any text.
                let mark = if fields == 1 { Mark::of_commands(before) } else { Mark::Text };
                let late = Late {
                    gather: Gather::Lines { raw: *raw, separators: separators.clone(), fields },
                    scene: inside,
                    then: Then::Round { names: names.clone(), body: body.clone() },
                };
                self.probe(&late, [vec![mark.character().to_string(); fields]])?;
                Body::Late(Box::new(late))
            }
        })
    }

    /// Plans what waits with each of the values that it may get.
    fn probe(&mut self, late: &Late, values: impl IntoIterator<Item = Vec<String>>) -> Result<(), Reasons> {
        if self.depth >= MAX_DEPTH {
            return Err(vec![Reason::Many(MAX_PROCESSES)]);
        }
        self.depth += 1;
        let mut planned = values.into_iter().map(|values| self.late(late, &values, "0").map(drop));
        let all = planned.try_for_each(|plan| plan);
        self.depth -= 1;
        all
    }

    fn change(
        &mut self,
        change: Change<'_>,
        pipeline: &Pipeline,
        script: &Script,
        place: usize,
        scene: &mut Scene,
    ) -> Result<Action, Reasons> {
        if scene.repeats && !matches!(change, Change::Set(_)) {
            return Err(vec![Reason::Perhaps]);
        }
        match change {
            Change::Mode(simple) => mode::strict(simple).ok_or_else(|| vec![Reason::Wrapper("set")]),
            Change::Exit(simple) => mode::exit(simple).ok_or_else(|| vec![Reason::Wrapper("exit")]),
            Change::Directory(simple) => {
                let path = self.directory(simple, scene).map_err(|reason| vec![reason])?;
                Ok(Action::Enter(path))
            }
            Change::Set(simple) => {
                for assignment in &simple.assignments {
                    scene.name(&assignment.name)?;
                }
                let outputs = pipeline.outputs();
                if outputs.is_empty() {
                    for assignment in &simple.assignments {
                        let value = scene.text(&assignment.value).map_err(|reason| vec![reason])?;
                        scene.set(&assignment.name, value);
                    }
                    return Ok(Action::Enter(scene.ground.directory().to_owned()));
                }
                let ([assignment], [output]) = (simple.assignments.as_slice(), outputs.as_slice()) else {
                    return Err(vec![Reason::Unsure(simple.assignments[0].name.clone())]);
                };
                if assignment.value.pieces.len() != 1 || pipeline.negated {
                    return Err(vec![Reason::Unsure(assignment.name.clone())]);
                }
                let samples = Mark::of_script(output.script).samples(output.script);
                let plans = self.outputs(&outputs, scene)?;
                let rest = Script { pipelines: script.pipelines[place + 1..].to_vec() };
                let then = Then::Set { name: assignment.name.clone(), rest };
                let late = Late { gather: Gather::Outputs(plans), scene: scene.clone(), then };
                self.probe(&late, samples.into_iter().map(|value| vec![value]))?;
                Ok(Action::Run(vec![late.stage()]))
            }
        }
    }

    fn directory(&mut self, simple: &Simple, scene: &mut Scene) -> Result<PathBuf, Reason> {
        let [_, word] = simple.words.as_slice() else { return Err(Reason::Form) };
        if !simple.assignments.is_empty() || !simple.redirections.is_empty() {
            return Err(Reason::Form);
        }
        let words = self.words(std::slice::from_ref(word), scene)?;
        let [path] = words.as_slice() else { return Err(Reason::Form) };
        if path.is_empty() || path.starts_with('-') {
            return Err(Reason::Form);
        }
        scene.ground = scene
            .ground
            .enter(path)
            .map_err(|forbidden| Reason::Directory { path: path.clone(), forbidden })?;
        Ok(scene.ground.directory().to_owned())
    }

    /// Counts one more program.
    fn count(&mut self) -> Result<(), Reason> {
        self.processes += 1;
        if self.processes > MAX_PROCESSES { Err(Reason::Many(MAX_PROCESSES)) } else { Ok(()) }
    }
}

/// A command that changes how the next ones are read.
#[derive(Clone, Copy)]
enum Change<'a> {
    Directory(&'a Simple),
    Mode(&'a Simple),
    Exit(&'a Simple),
    Set(&'a Simple),
}

impl<'a> Change<'a> {
    /// The change, when a pipeline is nothing else.
    fn of(pipeline: &'a Pipeline) -> Option<Self> {
        let [Command::Simple(simple)] = pipeline.commands.as_slice() else { return None };
        match simple.words.first() {
            None => Some(Self::Set(simple)),
            Some(word) => match word.literal()? {
                "cd" => Some(Self::Directory(simple)),
                "set" => Some(Self::Mode(simple)),
                "exit" => Some(Self::Exit(simple)),
                _ => None,
            },
        }
    }

    fn uncertain(&self) -> Reason {
        match self {
            Self::Directory(_) | Self::Mode(_) | Self::Exit(_) => Reason::Perhaps,
            Self::Set(simple) => {
                Reason::Unsure(simple.assignments.first().map(|set| set.name.clone()).unwrap_or_default())
            }
        }
    }
}
