//! The verdict on a command.

use std::path::Path;

use crate::arguments::{self, Unknown};
use crate::catalog::{Catalog, Program};
use crate::destructive;
use crate::ground::{Forbidden, Found, Ground};
use crate::plan::{Action, Input, Plan, Process, Redirect, Step};
use crate::repository::{self, Untrusted};
use crate::search::{self, Search};
use crate::syntax::{self, Assignment, Link, Output, Pipeline, Redirection, Simple, Unclear, Word};
use crate::wildcard::{self, Unexpanded};

/// Says what a shell command may do.
#[derive(Debug, Clone, Default)]
pub struct Judge {
    search: Search,
}

/// What is to happen with a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// It only reads, inside of the working directory.
    Safe,
    /// Nobody knows: a person has to say yes.
    Ask,
    /// It destroys what cannot be brought back.
    Refuse,
}

/// A verdict with its reasons.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judgement {
    /// What is to happen.
    pub verdict: Verdict,
    /// Why, in words, for people. For a safe command, what each program does not do is left out: there is one line.
    pub reasons: Vec<String>,
    /// What a safe command runs.
    pub plan: Option<Plan>,
    /// Of each command in an exact reading, in their order: whether it is safe by itself. It ends where reading ended.
    pub harmless: Vec<bool>,
}

/// Why a command is not safe.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
enum Reason {
    #[error("{0}")]
    Unclear(#[from] Unclear),
    #[error("`{0}` is not a program known to only read")]
    Program(String),
    #[error("`{name}` is only found in {place}, where programs are not looked for without a question")]
    Elsewhere { name: String, place: String },
    #[error("{program}: {unknown}")]
    Arguments { program: String, unknown: Unknown },
    #[error("`{word}` {unexpanded}")]
    Wildcard { word: String, unexpanded: Unexpanded },
    #[error("the input `{path}` {forbidden}")]
    Input { path: String, forbidden: Forbidden },
    #[error("`{0}` holds a variable whose value is not known or not plain")]
    Value(String),
    #[error("setting `{0}` may change what the command does")]
    Variable(String),
    #[error("git: {0}")]
    Repository(#[from] Untrusted),
    #[error("cd: `{path}` {forbidden}")]
    Directory { path: String, forbidden: Forbidden },
    #[error("cd: which directory the rest would run in depends on what happens")]
    Perhaps,
    #[error("cd: only `cd DIRECTORY` by itself is understood")]
    Form,
    #[error("`{0}` is the program's whole name, or else something else would run")]
    Path(String),
}

impl Judge {
    /// Judges `command` as it would run on `ground`. It runs nothing, and its time is bounded.
    pub fn judge(&self, command: &str, ground: &Ground) -> Judgement {
        let mut harmless = Vec::new();
        let reasons = match self.plan(command, ground, &mut harmless) {
            Ok(plan) => {
                let reasons = vec!["it only reads, inside of the working directory".to_owned()];
                return Judgement { verdict: Verdict::Safe, reasons, plan: Some(plan), harmless };
            }
            Err(reasons) => reasons,
        };
        if let Some(danger) = destructive::find(command, ground) {
            return Judgement {
                verdict: Verdict::Refuse,
                reasons: vec![danger.to_string()],
                plan: None,
                harmless,
            };
        }
        let mut words: Vec<String> = Vec::new();
        for reason in reasons {
            let reason = reason.to_string();
            if !words.contains(&reason) {
                words.push(reason);
            }
        }
        Judgement { verdict: Verdict::Ask, reasons: words, plan: None, harmless }
    }

    /// Where it looks for programs.
    pub fn search(&self) -> &Search {
        &self.search
    }

    /// How a program that is known here is started so that it does no more than it is told: from where, in which
    /// environment, and with the options that hold it back. Further arguments are the caller's, who answers for them, and
    /// for what a repository's configuration says. `None` where the program is unknown, or not where it is trusted.
    pub fn held(&self, name: &str, ground: &Ground) -> Option<Process> {
        let known = Catalog::builtin().find(name)?;
        let search::Found::At(program) = self.search.find(name, ground.root()) else { return None };
        Some(Process {
            name: name.to_owned(),
            program: Some(program),
            arguments: known.arguments.inject.clone(),
            environment: environment(self.variables(ground), known, &[]),
            directory: ground.directory().to_owned(),
            input: None,
            outputs: Vec::new(),
        })
    }

    fn plan(&self, command: &str, ground: &Ground, harmless: &mut Vec<bool>) -> Result<Plan, Vec<Reason>> {
        let script = syntax::parse(command).map_err(|unclear| vec![unclear.into()])?;
        let mut ground = ground.clone();
        let mut plan = Plan::default();
        let mut reasons = Vec::new();
        // Whether the step before entered a directory whatever happened.
        let mut entered = false;
        for (place, pipeline) in script.pipelines.iter().enumerate() {
            if let Some(simple) = change_of_directory(pipeline) {
                let certain = pipeline.link == Link::Always || (pipeline.link == Link::And && entered);
                let rest = &script.pipelines[place..];
                if !certain && rest.iter().any(|pipeline| pipeline.link != Link::And) {
                    reasons.push(Reason::Perhaps);
                    break;
                }
                match enter(simple, &ground) {
                    Ok(there) => ground = there,
                    Err(reason) => {
                        reasons.push(reason);
                        break;
                    }
                }
                harmless.push(true);
                entered = certain;
                let action = Action::Enter(ground.directory().to_owned());
                plan.steps.push(Step { link: pipeline.link, action });
                continue;
            }
            entered = false;
            let mut processes = Vec::new();
            for simple in &pipeline.commands {
                let process = self.process(simple, &ground);
                harmless.push(process.is_ok());
                match process {
                    Ok(process) => processes.push(process),
                    Err(reason) => reasons.push(reason),
                }
            }
            plan.steps.push(Step { link: pipeline.link, action: Action::Run(processes) });
        }
        if reasons.is_empty() { Ok(plan) } else { Err(reasons) }
    }

    fn process(&self, simple: &Simple, ground: &Ground) -> Result<Process, Reason> {
        let variables = self.variables(ground);
        let mut words = Vec::new();
        for word in &simple.words {
            words.extend(expanded(word, &variables, ground)?);
        }
        let mut words = words.into_iter();
        let name = words.next().unwrap_or_default();
        let known =
            simple.words.first().and_then(Word::literal).and_then(|name| Catalog::builtin().find(name));
        let Some(known) = known else {
            let is_path = name.contains('/');
            return Err(if is_path { Reason::Path(name) } else { Reason::Program(name) });
        };
        let arguments: Vec<String> = words.collect();
        let arguments = arguments::check(&arguments, &known.arguments, ground)
            .map_err(|unknown| Reason::Arguments { program: name.clone(), unknown })?;
        for assignment in &simple.assignments {
            if !may_set(assignment, known) {
                return Err(Reason::Variable(assignment.name.clone()));
            }
        }
        let inspects =
            known.repository && !known.arguments.exactly.iter().any(|line| line.words() == arguments);
        if inspects {
            repository::check(ground.directory())?;
        }
        let (name, arguments) = match &known.instead {
            Some(instead) => {
                (instead.clone(), arguments.into_iter().filter(|word| !word.starts_with('-')).collect())
            }
            None => (name, arguments),
        };
        let program = match self.search.find(&name, ground.root()) {
            search::Found::At(path) => Some(path),
            search::Found::Nowhere => None,
            search::Found::Elsewhere(path) => {
                let place = path.parent().unwrap_or(&path).display().to_string();
                return Err(Reason::Elsewhere { name, place });
            }
        };
        let (input, outputs) = redirections(&simple.redirections, ground)?;
        let directory = if known.nowhere { Path::new("/") } else { ground.directory() }.to_owned();
        let environment = environment(variables, known, &simple.assignments);
        Ok(Process { name, program, arguments, environment, directory, input, outputs })
    }

    /// The variables that a safe command gets: a few of the user's, and those that hold programs back.
    fn variables(&self, ground: &Ground) -> Vec<(String, String)> {
        const USERS: [&str; 8] = ["HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "LC_CTYPE", "TZ"];
        let mut variables = vec![("PATH".to_owned(), self.search.path(ground.root()))];
        let users = USERS.into_iter().filter_map(|name| Some((name.to_owned(), std::env::var(name).ok()?)));
        variables.extend(users);
        variables
            .extend(ground.directory().to_str().map(|directory| ("PWD".to_owned(), directory.to_owned())));
        let fixed = [("TERM", "dumb"), ("PAGER", "cat"), ("NO_COLOR", "1")];
        variables.extend(fixed.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())));
        variables
    }
}

/// The environment of one program: what was set for it, and above that what its description sets.
fn environment(
    mut variables: Vec<(String, String)>,
    known: &Program,
    set: &[Assignment],
) -> Vec<(String, String)> {
    let given = set.iter().map(|assignment| (&assignment.name, &assignment.value));
    for (name, value) in given.chain(&known.set) {
        variables.retain(|(other, _)| other != name);
        variables.push((name.clone(), value.clone()));
    }
    variables
}

fn expanded(word: &Word, variables: &[(String, String)], ground: &Ground) -> Result<Vec<String>, Reason> {
    let value = |name: &str| variables.iter().find(|(own, _)| own == name).map(|(_, value)| value.clone());
    let word = &word.with_values(value).ok_or_else(|| Reason::Value(word.unmatched()))?;
    wildcard::expand(word, ground)
        .map_err(|unexpanded| Reason::Wildcard { word: word.unmatched(), unexpanded })
}

/// The only command of a pipeline when that is `cd`.
fn change_of_directory(pipeline: &Pipeline) -> Option<&Simple> {
    let [simple] = pipeline.commands.as_slice() else { return None };
    (simple.words.first()?.literal()? == "cd").then_some(simple)
}

fn enter(simple: &Simple, ground: &Ground) -> Result<Ground, Reason> {
    let [_, word] = simple.words.as_slice() else { return Err(Reason::Form) };
    let path =
        word.literal().filter(|path| !path.is_empty() && !path.starts_with('-')).ok_or(Reason::Form)?;
    if !simple.assignments.is_empty() || !simple.redirections.is_empty() {
        return Err(Reason::Form);
    }
    ground.enter(path).map_err(|forbidden| Reason::Directory { path: path.to_owned(), forbidden })
}

/// Whether a variable only changes the language, the clock's zone or colours.
fn may_set(assignment: &Assignment, known: &Program) -> bool {
    let Assignment { name, value } = assignment;
    let plain =
        value.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'@' | b'-' | b'+'));
    match name.as_str() {
        "LANG" | "LC_ALL" | "LC_COLLATE" | "LC_CTYPE" | "LC_MESSAGES" | "LC_NUMERIC" | "LC_TIME" => {
            plain && !value.contains("..")
        }
        "NO_COLOR" | "CLICOLOR" | "COLUMNS" | "LINES" => plain,
        "TZ" => {
            let zone = value.split('/').all(|part| {
                !part.is_empty()
                    && part.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'+'))
            });
            zone && known.environment.iter().any(|own| own == name)
        }
        _ => false,
    }
}

fn redirections(given: &[Redirection], ground: &Ground) -> Result<(Option<Input>, Vec<Redirect>), Reason> {
    let mut input = None;
    let mut outputs = Vec::new();
    for redirection in given {
        match redirection {
            Redirection::Discard(output) => outputs.push(Redirect::Discard(*output)),
            Redirection::DiscardBoth => {
                outputs.push(Redirect::Discard(Output::Standard));
                outputs.push(Redirect::Join(Output::Error, Output::Standard));
            }
            Redirection::Join(from, to) => outputs.push(Redirect::Join(*from, *to)),
            Redirection::Text(text) => input = Some(Input::Text(text.clone())),
            Redirection::Input(word) => {
                let path = word.literal().unwrap_or_default();
                let forbidden = |forbidden| Reason::Input { path: path.to_owned(), forbidden };
                if ground.look(path).map_err(forbidden)? == Found::Directory {
                    return Err(forbidden(Forbidden::Special));
                }
                input = Some(Input::File(ground.directory().join(path)));
            }
        }
    }
    Ok((input, outputs))
}
