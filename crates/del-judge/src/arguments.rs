//! Arguments held against the description of their program.

use crate::catalog::{Arguments, Form, Hide, Operands, Place, Value};
use crate::ground::{Found, Ground};
use crate::kind::{Kind, Misfit};
use crate::mark::Mark;
use crate::secret;

/// Why arguments are not known to be harmless.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unknown {
    #[error("the option `{0}` is not known to be harmless")]
    Option(String),
    #[error("the option `{0}` takes no value")]
    Needless(String),
    #[error("the option `{0}` lacks its value")]
    Valueless(String),
    #[error("`{0}` would be the value of an option, and looks like an option itself")]
    Dashed(String),
    #[error("the option `{0}` follows an operand, which this system may read otherwise")]
    Late(String),
    #[error("`{0}` is not a subcommand known to be harmless")]
    Subcommand(String),
    #[error("a word that is only known when it runs might be an option")]
    Perhaps,
    #[error("nothing is known of what it does without a subcommand or an operand")]
    Missing,
    #[error("without one of {0} it does more than look")]
    Needs(String),
    #[error("nothing is known of what it does with `{0}`")]
    Operand(String),
    #[error("`{word}` {misfit}")]
    Misfit { word: String, misfit: Misfit },
}

/// The arguments to run with: those given, and those that hold the program back.
pub(crate) fn check(given: &[String], known: &Arguments, ground: &Ground) -> Result<Vec<String>, Unknown> {
    if known.exactly.iter().any(|line| line.words() == given) {
        return Ok(given.to_vec());
    }
    let mut reader = Reader {
        known,
        ground,
        seen: Vec::new(),
        operands: Vec::new(),
        commits: Vec::new(),
        searches: false,
        at: 0,
        last: 0,
        given,
    };
    let sub = match known.form {
        Form::Raw => {
            reader.operands.extend(given);
            None
        }
        Form::Usual => reader.usual()?,
        Form::Expression | Form::Words => {
            reader.words()?;
            None
        }
    };
    let mut words = known.inject.clone();
    if let Some((name, arguments)) = sub {
        // Up to the subcommand the words stay as they are.
        let before = reader.at;
        words.extend_from_slice(&given[..before]);
        words.push(name.clone());
        words.extend(check(&given[before + 1..], arguments, ground)?);
        return Ok(words);
    }
    reader.finish()?;
    let (options, rest) = given.split_at(reader.last);
    words.extend(options.iter().map(|word| reader.run_with(word)));
    if known.hide.iter().any(|hide| reader.looks(hide)) && !reader.searches {
        let misfit =
            |forbidden| Unknown::Misfit { word: ".".to_owned(), misfit: Misfit::Forbidden(forbidden) };
        ground.look_for_places(".").map_err(misfit)?;
    }
    words.extend(known.hide.iter().filter(|hide| reader.looks(hide)).flat_map(Hide::options));
    words.extend(rest.iter().map(|word| reader.run_with(word)));
    Ok(words)
}

/// A revision in which names and ids are only those of commits: what git prints of others has no name, so that nobody
/// could tell a secret by it.
fn commits(word: &str, ground: &Ground) -> String {
    if ground.look(word).is_ok_and(|found| found != Found::Nothing) {
        return word.to_owned();
    }
    let commit = |side: &str| {
        if may_be_another(side) { format!("{side}^{{commit}}") } else { side.to_owned() }
    };
    for dots in ["...", ".."] {
        if let Some((from, to)) = word.split_once(dots) {
            return format!("{}{dots}{}", commit(from), commit(to));
        }
    }
    commit(word)
}

/// Whether a revision may be something else than a commit: an id, or the name of a tag. `HEAD~2` and `main^` are commits,
/// `HEAD:a` says what it is, and what holds a wildcard is a path.
fn may_be_another(side: &str) -> bool {
    let is_name =
        |c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '-' | '/' | '+' | '=' | ',' | '#' | '%');
    let name = side.strip_prefix('^').unwrap_or(side);
    let name = name.split_once("@{").map_or(name, |(name, _)| name);
    !name.is_empty() && !matches!(name, "HEAD" | "@") && name.chars().all(is_name)
}

impl Hide {
    fn options(&self) -> Vec<String> {
        let (files, folders) = secret::patterns();
        let fill = |form: &str, patterns: Vec<String>| -> Vec<String> {
            patterns.iter().map(|pattern| form.replace("{}", pattern)).collect()
        };
        [fill(&self.files, files), fill(&self.folders, folders)].concat()
    }
}

struct Reader<'a> {
    known: &'a Arguments,
    ground: &'a Ground,
    /// Options that were given.
    seen: Vec<String>,
    operands: Vec<&'a String>,
    /// Those that name commits.
    commits: Vec<&'a String>,
    /// Whether a directory to be looked through is among them.
    searches: bool,
    at: usize,
    /// Where the last option ends, with its value.
    last: usize,
    given: &'a [String],
}

type Sub<'a> = Option<(&'a String, &'a Arguments)>;

impl<'a> Reader<'a> {
    fn next(&mut self) -> Option<&'a String> {
        let word = self.given.get(self.at)?;
        self.at += 1;
        Some(word)
    }

    fn usual(&mut self) -> Result<Sub<'a>, Unknown> {
        while let Some(word) = self.next() {
            let is_operand = word == "-" || !word.starts_with('-');
            if is_operand && self.operands.is_empty() && !self.known.sub.is_empty() {
                if let Some(sub) = self.known.sub.get_key_value(word) {
                    self.at -= 1;
                    return Ok(Some(sub));
                }
                return Err(Unknown::Subcommand(word.clone()));
            }
            if is_operand {
                if Mark::may_be_option(word) {
                    return Err(Unknown::Perhaps);
                }
                self.operands.push(word);
                self.operands_follow()?;
                continue;
            }
            if word == "--" {
                self.operands.extend(&self.given[self.at..]);
                self.at = self.given.len();
                break;
            }
            // Other systems end the options at the first operand.
            if !self.operands.is_empty() && !cfg!(target_os = "linux") && self.known.sub.is_empty() {
                return Err(Unknown::Late(word.clone()));
            }
            if word.starts_with("--") {
                self.long(word)?;
            } else {
                self.short(word)?;
            }
            self.last = self.at;
        }
        Ok(None)
    }

    fn long(&mut self, word: &'a str) -> Result<(), Unknown> {
        let (name, attached) = match word.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (word, None),
        };
        self.seen.push(name.to_owned());
        // Some take a value only where one is attached.
        let bare = attached.is_none() && self.known.flags.has(name);
        let Some(value) = self.known.values.get(name).filter(|_| !bare) else {
            return match (self.known.flags.has(name), attached) {
                (true, None) => Ok(()),
                (true, Some(_)) => Err(Unknown::Needless(name.to_owned())),
                (false, _) => Err(Unknown::Option(name.to_owned())),
            };
        };
        self.value(name, value, attached)
    }

    fn short(&mut self, word: &'a str) -> Result<(), Unknown> {
        if self.known.numbers && word[1..].bytes().all(|b| b.is_ascii_digit()) {
            return Ok(());
        }
        for (at, c) in word.char_indices().skip(1) {
            let name = format!("-{c}");
            self.seen.push(name.clone());
            if let Some(value) = self.known.values.get(&name) {
                let rest = &word[at + c.len_utf8()..];
                return self.value(&name, value, (!rest.is_empty()).then_some(rest));
            }
            if !self.known.flags.has(&name) {
                return Err(Unknown::Option(if word.len() > 2 { format!("{name} in {word}") } else { name }));
            }
        }
        Ok(())
    }

    fn words(&mut self) -> Result<(), Unknown> {
        let mut begun = false;
        while let Some(word) = self.next() {
            let (name, attached) = match word.split_once('=') {
                Some((name, value)) if name.starts_with("--") => (name, Some(value)),
                _ => (word.as_str(), None),
            };
            if let Some(value) = self.known.values.get(name) {
                self.seen.push(name.to_owned());
                self.value(name, value, attached)?;
                begun = true;
            } else if self.known.flags.has(word) {
                self.seen.push(word.clone());
                begun = true;
            } else if word.starts_with('-') && word != "-" {
                return Err(Unknown::Option(word.clone()));
            } else if begun && self.known.form == Form::Expression {
                return Err(Unknown::Operand(word.clone()));
            } else {
                self.operands.push(word);
                self.operands_follow()?;
            }
        }
        Ok(())
    }

    /// Takes all the rest for operands, where the program does; what looks like an option there is not understood.
    fn operands_follow(&mut self) -> Result<(), Unknown> {
        if !self.known.options_first {
            return Ok(());
        }
        let rest = &self.given[self.at..];
        if let Some(word) = rest.iter().find(|word| word.starts_with('-') && word.as_str() != "-") {
            return Err(Unknown::Late(word.clone()));
        }
        self.operands.extend(rest);
        self.at = self.given.len();
        Ok(())
    }

    fn value(&mut self, name: &str, value: &Value, attached: Option<&str>) -> Result<(), Unknown> {
        let mut kinds = value.kinds.iter();
        match (attached, value.place) {
            (Some(text), _) => {
                let Some(kind) = kinds.next() else { return Err(Unknown::Needless(name.to_owned())) };
                self.fits(kind, text)?;
            }
            (None, Place::Optional) => return Ok(()),
            (None, Place::Same) => return Err(Unknown::Valueless(name.to_owned())),
            (None, Place::Either) => {}
        }
        for kind in kinds {
            let Some(text) = self.next() else { return Err(Unknown::Valueless(name.to_owned())) };
            if text.starts_with('-') && text != "-" && !kind.takes_dash() {
                return Err(Unknown::Dashed(text.clone()));
            }
            self.fits(kind, text)?;
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<(), Unknown> {
        let known = self.known;
        if !known.needs.is_empty() && !known.needs.words().iter().any(|name| self.seen.contains(name)) {
            return Err(Unknown::Needs(known.needs.words().join(", ")));
        }
        let given = known.given.iter().find(|(names, _)| self.seen.iter().any(|name| names.has(name)));
        let Some(expected) = given.map(|(_, operands)| operands).or(known.operands.as_ref()) else {
            return match self.operands.first() {
                // A program that nothing is said of may do anything when nothing is asked of it.
                None => Err(Unknown::Missing),
                Some(word) => Err(Unknown::Operand((*word).clone())),
            };
        };
        self.operands_fit(expected)
    }

    fn operands_fit(&mut self, expected: &Operands) -> Result<(), Unknown> {
        if self.operands.len() < expected.needed.len() {
            return Err(Unknown::Missing);
        }
        let paths = self.given.iter().position(|word| word == "--").unwrap_or(self.given.len());
        let mut kinds = expected.needed.iter().chain(&expected.optional);
        for word in &self.operands {
            let Some(kind) = kinds.next().or(expected.repeated.as_ref()) else {
                return Err(Unknown::Operand((*word).clone()));
            };
            self.fits(kind, word)?;
            self.searches |= *kind == Kind::Searched;
            if matches!(kind, Kind::Commit | Kind::History)
                && self.given[..paths].iter().any(|given| std::ptr::eq(given, *word))
            {
                self.commits.push(word);
            }
        }
        Ok(())
    }

    /// Whether secrets have to be left out.
    fn looks(&self, hide: &Hide) -> bool {
        hide.with.is_empty() || self.seen.iter().any(|name| hide.with.has(name))
    }

    /// The word as the program gets it.
    fn run_with(&self, word: &String) -> String {
        let names_commit = self.commits.iter().any(|commit| std::ptr::eq(*commit, word));
        if names_commit { commits(word, self.ground) } else { word.clone() }
    }

    fn fits(&self, kind: &Kind, word: &str) -> Result<(), Unknown> {
        kind.check(word, self.ground).map_err(|misfit| Unknown::Misfit { word: word.to_owned(), misfit })
    }
}
