//! One program with its arguments.

use std::path::Path;

use super::Planner;
use super::prefix::{self, Prefix};
use crate::arguments;
use crate::catalog::{Catalog, Program};
use crate::ground::{Forbidden, Found, Ground};
use crate::mark::Mark;
use crate::plan::{Input, Made, Process, Redirect};
use crate::reason::Reason;
use crate::repository;
use crate::scene::Scene;
use crate::search;
use crate::syntax::{Assignment, Cause, Output, Redirection, Simple, Unclear, VARIABLES, Word};
use crate::tree::TooLarge;
use crate::wildcard;
use crate::withheld::is_shown_by_git;

/// More words than this are not made of the words of one command.
const MAX_EXPANDED: usize = 5_000;

impl Planner<'_> {
    /// Plans one program, perhaps behind others that only run it.
    pub(crate) fn process(&mut self, simple: &Simple, scene: &Scene) -> Result<Process, Reason> {
        self.count()?;
        let words: Vec<&str> = simple.words.iter().map_while(Word::literal).collect();
        let wrapper = || Reason::Wrapper("timeout and nice");
        let Some((kind, at)) = prefix::prefix(&words) else {
            let wraps = matches!(words.first(), Some(&("timeout" | "nice")));
            return if wraps { Err(wrapper()) } else { self.program(simple, scene) };
        };
        let mut inner = Simple { words: simple.words[at..].to_vec(), ..simple.clone() };
        if kind == Prefix::Sets {
            inner.assignments.extend(words[1..at].iter().filter_map(|word| prefix::set(word)));
        }
        let inner = self.process(&inner, scene)?;
        if kind != Prefix::Run {
            return Ok(inner);
        }
        let found = self.search.find(words[0], &scene.ground, false);
        let program = inner.program.as_ref().and_then(|path| path.to_str());
        let (search::Found::At(path), Some(program)) = (found, program) else { return Err(wrapper()) };
        let mut arguments: Vec<String> = words[1..at].iter().map(|word| (*word).to_owned()).collect();
        arguments.push(program.to_owned());
        let place = |made: Made| Made { argument: made.argument + arguments.len(), ..made };
        let made = inner.made.into_iter().map(place).collect();
        arguments.extend_from_slice(&inner.arguments);
        Ok(Process { name: words[0].to_owned(), program: Some(path), arguments, made, ..inner })
    }

    /// A known program as it is started at all, without arguments of its own.
    pub(crate) fn held(&self, name: &str, ground: &Ground) -> Option<Process> {
        let known = Catalog::builtin().find(name)?;
        let search::Found::At(program) = self.search.find(name, ground, known.nowhere) else { return None };
        Some(Process {
            name: name.to_owned(),
            program: Some(program),
            arguments: known.arguments.inject.clone(),
            made: Vec::new(),
            environment: environment(self.variables(ground), known, &[]),
            directory: ground.directory().to_owned(),
            input: None,
            outputs: Vec::new(),
        })
    }

    fn program(&self, simple: &Simple, scene: &Scene) -> Result<Process, Reason> {
        let ground = &scene.ground;
        let variables = self.variables(ground);
        let mut words = self.words(&simple.words, scene)?.into_iter();
        let name = words.next().unwrap_or_default();
        // The name has to stand there as it is.
        let literal = simple.words.first().and_then(Word::literal);
        let Some(known) = literal.and_then(|name| Catalog::builtin().find(name)) else {
            let is_path = name.contains('/');
            return Err(if is_path { Reason::Path(name) } else { Reason::Program(name) });
        };
        let mut arguments: Vec<String> = words.collect();
        let mut there = None;
        if known.repository {
            // Where the repository is looked for has to be looked at from there.
            while let [option, directory, ..] = arguments.as_slice()
                && option == "-C"
            {
                let forbidden = |forbidden| Reason::Directory { path: directory.clone(), forbidden };
                let ground = there.as_ref().unwrap_or(ground).enter(directory).map_err(forbidden)?;
                there = Some(ground);
                arguments.drain(..2);
            }
        }
        let ground = there.as_ref().unwrap_or(ground);
        let given = arguments;
        let arguments = arguments::check(&given, &known.arguments, ground)
            .map_err(|unknown| Reason::Arguments { program: name.clone(), unknown })?;
        for assignment in &simple.assignments {
            if !may_set(assignment, known) {
                return Err(Reason::Variable(assignment.name.clone()));
            }
        }
        let inspects =
            known.repository && !known.arguments.exactly.iter().any(|line| line.words() == arguments);
        if known.repository && ground.withholds() && is_shown_by_git(&given) {
            return Err(Reason::Withheld);
        }
        if inspects {
            repository::check(ground.directory())?;
            if shows_addresses(&given) {
                repository::check_addresses(ground.directory())?;
            }
        }
        if known.ignores {
            match repository::misleading_ignores(ground) {
                Ok(None) => {}
                Ok(Some(path)) => return Err(Reason::Ignores { name, path }),
                Err(TooLarge(place)) => return Err(Reason::Large { name, place }),
            }
        }
        let (name, arguments) = match &known.instead {
            Some(instead) => {
                (instead.clone(), arguments.into_iter().filter(|word| !word.starts_with('-')).collect())
            }
            None if known.shell => {
                let before = ["-c", "\"$@\"", "bash", &name].map(str::to_owned).into_iter();
                ("bash".to_owned(), before.chain(arguments).collect())
            }
            None => (name, arguments),
        };
        let program = match self.search.find(&name, ground, known.nowhere) {
            search::Found::At(path) => Some(path),
            search::Found::Nowhere => None,
            search::Found::Elsewhere(path) => {
                let place = path.parent().unwrap_or(&path).display().to_string();
                return Err(Reason::Elsewhere { name, place });
            }
        };
        // These are opened where the command stands.
        let (input, outputs) = self.redirections(&simple.redirections, scene)?;
        let directory = if known.nowhere { Path::new("/") } else { ground.directory() }.to_owned();
        let environment = environment(variables, known, &simple.assignments);
        let is_made = |(at, word): (usize, &String)| {
            let text = word.strip_prefix(Mark::Made.character())?.to_owned();
            Some(Made { argument: at, text })
        };
        let made: Vec<Made> = arguments.iter().enumerate().filter_map(is_made).collect();
        if !(made.is_empty() || known.streams) {
            return Err(Reason::Made(name));
        }
        Ok(Process { name, program, arguments, made, environment, directory, input, outputs })
    }

    /// The words that words become.
    pub(super) fn words(&self, words: &[Word], scene: &Scene) -> Result<Vec<String>, Reason> {
        let variables = self.variables(&scene.ground);
        let value = |name: &str| {
            if VARIABLES.contains(&name) {
                let set = variables.iter().find(|(own, _)| own == name).map(|(_, value)| value.clone());
                // The shell would not set these either.
                set.or_else(|| matches!(name, "USER" | "LOGNAME").then(String::new))
            } else {
                scene.value(name)
            }
        };
        let mut expanded = Vec::new();
        for word in words {
            let unknown = || Reason::Value(word.unmatched());
            for word in word.choices().map_err(|_| Reason::Words(MAX_EXPANDED))? {
                let known = word.with_values(value).filter(Word::is_worked_out).ok_or_else(unknown)?;
                for word in known.split().map_err(|_| unknown())? {
                    let more = wildcard::expand(&word, &scene.ground, &self.entries)
                        .map_err(|unexpanded| Reason::Wildcard { word: word.unmatched(), unexpanded })?;
                    expanded.extend(more);
                }
            }
            if expanded.len() > MAX_EXPANDED {
                return Err(Reason::Words(MAX_EXPANDED));
            }
        }
        Ok(expanded)
    }

    pub(super) fn redirections(
        &self,
        given: &[Redirection],
        scene: &Scene,
    ) -> Result<(Option<Input>, Vec<Redirect>), Reason> {
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
                Redirection::Write(at) => return Err(Unclear { at: *at, cause: Cause::Writes }.into()),
                Redirection::Text(word) => input = Some(Input::Text(scene.text(word)?)),
                Redirection::Input(word) => input = Some(self.input(word, scene)?),
            }
        }
        Ok((input, outputs))
    }

    fn input(&self, word: &Word, scene: &Scene) -> Result<Input, Reason> {
        let words = self.words(std::slice::from_ref(word), scene)?;
        let [path] = words.as_slice() else { return Err(Reason::Divided(word.unmatched())) };
        let forbidden = |forbidden| Reason::Input { path: path.clone(), forbidden };
        if let Some(text) = path.strip_prefix(Mark::Made.character()) {
            return Ok(Input::Text(text.to_owned()));
        }
        let looked = match Mark::within(path) {
            Some(Mark::Path) => Mark::filled(path),
            Some(_) => return Err(Reason::Value(word.unmatched())),
            None => path.clone(),
        };
        if scene.ground.look(&looked).map_err(forbidden)? == Found::Directory {
            return Err(forbidden(Forbidden::Special));
        }
        Ok(Input::File(scene.ground.directory().join(path)))
    }

    /// The variables that a safe command gets: a few of the user's, and those that hold programs back.
    fn variables(&self, ground: &Ground) -> Vec<(String, String)> {
        const USERS: [&str; 8] = ["HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "LC_CTYPE", "TZ"];
        let mut variables = vec![("PATH".to_owned(), self.search.path(ground))];
        let users = USERS.into_iter().filter_map(|name| Some((name.to_owned(), std::env::var(name).ok()?)));
        variables.extend(users);
        variables
            .extend(ground.directory().to_str().map(|directory| ("PWD".to_owned(), directory.to_owned())));
        let fixed = [("TERM", "dumb"), ("PAGER", "cat"), ("NO_COLOR", "1")];
        variables.extend(fixed.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())));
        variables
    }
}

/// Whether a command of git shows the addresses of other repositories.
fn shows_addresses(arguments: &[String]) -> bool {
    let mut words = arguments.iter().map(String::as_str);
    let command = loop {
        match words.next() {
            Some("-c") => drop(words.next()),
            Some(word) if word.starts_with('-') => {}
            command => break command,
        }
    };
    match command {
        Some("remote") => words.any(|word| word.starts_with('-') || word == "get-url"),
        // A branch may follow an address.
        Some("config") => words.any(|word| {
            let name = word.to_ascii_lowercase();
            name.starts_with("remote.") || name.starts_with("branch.")
        }),
        _ => false,
    }
}

/// The environment of one program: what was set for it, and above that what its description sets.
fn environment(
    mut variables: Vec<(String, String)>,
    known: &Program,
    set: &[Assignment],
) -> Vec<(String, String)> {
    let given = set.iter().filter_map(|assignment| Some((&assignment.name, assignment.value.literal()?)));
    let own = known.set.iter().map(|(name, value)| (name, value.as_str()));
    for (name, value) in given.chain(own) {
        variables.retain(|(other, _)| other != name);
        variables.push((name.clone(), value.to_owned()));
    }
    variables
}

/// Whether a variable may be set for a program.
fn may_set(assignment: &Assignment, known: &Program) -> bool {
    let zone = || {
        let zone = |part: &str| {
            !part.is_empty()
                && part.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'+'))
        };
        assignment.value.literal().is_some_and(|value| value.split('/').all(zone))
    };
    // This is what they are anyway.
    let pages = || {
        matches!(assignment.name.as_str(), "PAGER" | "GIT_PAGER") && assignment.value.literal() == Some("cat")
    };
    is_harmless(assignment)
        || pages()
        || (assignment.name == "TZ" && known.environment.contains(&assignment.name) && zone())
}

/// Whether a variable only changes the language, colours, or what is said of a failure, whatever program gets it.
pub(crate) fn is_harmless(assignment: &Assignment) -> bool {
    let Some(value) = assignment.value.literal() else { return false };
    let plain =
        value.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'@' | b'-' | b'+'));
    match assignment.name.as_str() {
        "LANG" | "LC_ALL" | "LC_COLLATE" | "LC_CTYPE" | "LC_MESSAGES" | "LC_NUMERIC" | "LC_TIME" => {
            plain && !value.contains("..")
        }
        "NO_COLOR"
        | "FORCE_COLOR"
        | "CLICOLOR"
        | "CARGO_TERM_COLOR"
        | "COLUMNS"
        | "LINES"
        | "RUST_BACKTRACE"
        | "PYTHONUNBUFFERED"
        | "PYTHONDONTWRITEBYTECODE" => plain,
        _ => false,
    }
}
