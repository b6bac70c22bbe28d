//! Programs that run another one for each name: `xargs`, and `find` with `-exec`. Del gathers the names and runs the
//! other program itself, with those that may be looked at.

use super::Planner;
use crate::mark::Mark;
use crate::plan::{Gather, Late, Redirect, Stage, Then};
use crate::printed::MOST;
use crate::reason::Reason;
use crate::scene::Scene;
use crate::syntax::{Command, Output, Simple, Word};

/// As many words as are handed to a program at once.
const AT_ONCE: usize = 1_000;

impl Planner<'_> {
    /// Plans `xargs`, fed by the commands before it.
    pub(super) fn xargs(
        &mut self,
        simple: &Simple,
        before: &[Command],
        scene: &Scene,
    ) -> Result<Stage, Reason> {
        let unknown = Reason::Wrapper("xargs");
        let words = self.words(&simple.words[1..], scene)?;
        let Some(options) = Options::read(&words).filter(|_| simple.assignments.is_empty()) else {
            return Err(unknown);
        };
        let mut words: Vec<Word> = words[options.length..].iter().map(Word::of).collect();
        if words.is_empty() {
            words.push(Word::of("echo"));
        }
        let command = Simple { words, ..Simple::default() };
        let gather =
            Gather::Words { end: options.end, at_once: options.at_once, none: options.none, failed: 123 };
        let mark = if simple.redirections.is_empty() { Mark::of_commands(before) } else { Mark::Text };
        let (input, outputs) = self.redirections(&simple.redirections, scene)?;
        let mut stage = self.each(gather, mark, command, options.replace, scene)?;
        if let Stage::Group(group) = &mut stage {
            (group.input, group.outputs) = (input, outputs);
        }
        Ok(stage)
    }

    /// Plans a `find` that ends with `-exec`: it prints the names instead, and what it would run is run for them.
    pub(super) fn find(&mut self, simple: &Simple, scene: &Scene) -> Option<Result<Vec<Stage>, Reason>> {
        let at = simple.words.iter().position(|word| word.literal() == Some("-exec"))?;
        Some(self.found(simple, at, scene))
    }

    fn found(&mut self, simple: &Simple, at: usize, scene: &Scene) -> Result<Vec<Stage>, Reason> {
        let unknown = Reason::Wrapper("find -exec");
        let (found, command) = simple.words.split_at(at);
        let Some((end, command)) = command[1..].split_last() else { return Err(unknown) };
        let Some((command, at_once, replace)) = once(command, end) else { return Err(unknown) };
        if found.iter().any(|word| word.literal().is_some_and(prints)) {
            return Err(unknown);
        }
        let mut found = Simple { words: found.to_vec(), ..simple.clone() };
        let (input, outputs) = self.redirections(&std::mem::take(&mut found.redirections), scene)?;
        found.words.push(Word::of("-print0"));
        let mark = Mark::of_commands(&[Command::Simple(found.clone())]);
        let mut find = self.process(&found, scene)?;
        find.input = input;
        // Its own output is what the other program gets.
        let messages = |redirect: &Redirect| *redirect == Redirect::Discard(Output::Error);
        find.outputs = outputs.iter().copied().filter(messages).collect();
        let gather = Gather::Words { end: Some('\0'), at_once, none: false, failed: u8::from(at_once > 1) };
        let command = Simple { words: command.to_vec(), ..Simple::default() };
        let mut stage = self.each(gather, mark, command, replace, scene)?;
        if let Stage::Group(group) = &mut stage {
            group.outputs = outputs;
        }
        Ok(vec![Stage::Process(find), stage])
    }

    fn each(
        &mut self,
        gather: Gather,
        mark: Mark,
        simple: Simple,
        replace: Option<String>,
        scene: &Scene,
    ) -> Result<Stage, Reason> {
        // What is in such a file is no place for a name.
        let is_made =
            |word: &Word| word.literal().is_some_and(|text| text.starts_with(Mark::Made.character()));
        if simple.words.iter().any(is_made) {
            return Err(Reason::Made("xargs".to_owned()));
        }
        let most = match gather {
            // A program that takes one name may do something else with a second and a third.
            Gather::Words { at_once, .. } => at_once.min(MOST),
            Gather::Outputs(_) | Gather::Lines { .. } => 1,
        };
        let values = (1..=most).map(|n| vec![mark.character().to_string(); n]);
        let late = Late { gather, scene: scene.clone(), then: Then::Words { simple, replace } };
        self.probe(&late, values).map_err(|mut reasons| reasons.swap_remove(0))?;
        Ok(late.stage())
    }
}

/// Of the words behind `-exec`: the command, how many names it gets at once, and the word that stands for one.
fn once<'a>(command: &'a [Word], end: &Word) -> Option<(&'a [Word], usize, Option<String>)> {
    let (command, at_once, replace) = match end.literal()? {
        ";" => (command, 1, Some("{}".to_owned())),
        "+" => {
            let (last, command) = command.split_last()?;
            (last.literal() == Some("{}")).then_some((command, AT_ONCE, None))?
        }
        _ => return None,
    };
    let known = |word: &Word| {
        word.literal().is_some_and(|text| {
            !matches!(text, "-exec" | "-execdir" | "-ok" | "-okdir" | ";") && (at_once == 1 || text != "{}")
        })
    };
    let names = |word: &Word| word.literal().is_some_and(|text| text.contains("{}"));
    let used = at_once > 1 || command.iter().any(names);
    (used && !command.is_empty() && command.iter().all(known)).then_some((command, at_once, replace))
}

fn prints(word: &str) -> bool {
    ["-print", "-print0", "-printf", "-ls"].contains(&word)
}

/// The options of `xargs`.
struct Options {
    end: Option<char>,
    at_once: usize,
    none: bool,
    replace: Option<String>,
    /// How many words they are.
    length: usize,
}

impl Options {
    /// Reads options up to the first word that is none.
    fn read(words: &[String]) -> Option<Self> {
        let mut options = Self { end: None, at_once: AT_ONCE, none: true, replace: None, length: 0 };
        let mut rest = words.iter().peekable();
        let number = |text: &str| text.parse().ok().filter(|n| (1..=AT_ONCE).contains(n));
        while let Some(word) = rest.next_if(|word| word.starts_with('-')) {
            options.length += 1;
            let (name, attached) = word.split_at_checked(2)?;
            let takes = matches!(name, "-n" | "-P" | "-I" | "-d");
            let value = if takes && attached.is_empty() {
                options.length += 1;
                rest.next()?.as_str()
            } else {
                attached
            };
            match (word.as_str(), name) {
                ("-0" | "--null", _) => options.end = Some('\0'),
                ("-r" | "--no-run-if-empty", _) => options.none = false,
                ("-0r" | "-r0", _) => (options.end, options.none) = (Some('\0'), false),
                ("-i", _) => options.replace = Some("{}".to_owned()),
                (_, "-d") if matches!(value, "\\n" | "\n") => options.end = Some('\n'),
                (_, "-n") => options.at_once = number(value)?,
                // How many run at a time changes nothing but the order of what they print.
                (_, "-P") => drop(number(value)?),
                (_, "-I") if !value.is_empty() && value.bytes().all(|b| b.is_ascii_graphic()) => {
                    options.replace = Some(value.to_owned());
                }
                _ => return None,
            }
        }
        if options.replace.is_some() {
            // Each line is a value then, and the command runs for each.
            options.end = options.end.or(Some('\n'));
            options.at_once = 1;
            options.none = false;
        }
        Some(options)
    }
}
