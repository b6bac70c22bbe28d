//! What an operand or the value of an option may be.

use std::path::Path;

use crate::ground::{Forbidden, Found, Ground};
use crate::language::{Language, Unsure};
use crate::mark::Mark;
use crate::secret;

/// A kind of argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Anything: the program only compares or prints it.
    Text,
    /// The same, without what some shells run when they compute with it.
    Inert,
    /// Letters, digits and signs without a meaning: a name, a list of fields.
    Word,
    /// A variable that is no secret.
    Variable,
    /// A pattern of file names, which must not be those of secrets.
    Pattern,
    /// A date in words, without a time zone, which would be a file.
    Day,
    /// A list of fields of processes, their environments left out.
    Fields,
    /// The mode of a file, in digits or letters.
    Mode,
    /// A range of lines, with a file of a repository or without.
    Lines,
    /// Ranges of numbers.
    Ranges,
    /// The name of an encoding.
    Charset,
    /// A port of this machine, perhaps with a protocol before it.
    Port,
    /// A number, perhaps with a sign before it and a unit behind it.
    Number,
    /// A number of lines or rounds that come to an end.
    Count,
    /// So many seconds, or minutes with `m`: an hour at most.
    Seconds,
    /// A path that is read or looked at, `-` for the input.
    File,
    /// The same, and no `@` or `+`, behind which some programs read options.
    Listed,
    /// The same as a file, but no directory in which secrets are not left out: the program looks through all of them.
    Searched,
    /// The same, and no directory that holds secrets: the program prints all of them.
    Tree,
    /// The same as a file, but no directory: the program would go on to what lies in it.
    Regular,
    /// The same, and no colon, which would make it a file of another machine.
    Archive,
    /// A revision, a range of them, or a path in a repository.
    Revision,
    /// The same where git would print any object: ids are taken for those of commits.
    Commit,
    /// The same where git would look into whatever it is, and the names of files are only known below a commit.
    History,
    /// `+FORMAT`, which sets it apart from a date to be set.
    Plus,
    /// The name of a setting that is no secret.
    Setting,
    /// One of these words.
    Choice(Vec<String>),
    /// A program in a language of its own.
    Program(Language),
}

/// Why an argument is not what it should be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Misfit {
    #[error("{0}")]
    Forbidden(#[from] Forbidden),
    #[error("{0}")]
    Unsure(#[from] Unsure),
    #[error("is a directory, and what lies in it may lead anywhere")]
    Directory,
    #[error("names another machine")]
    Remote,
    #[error("is no revision or path that is surely in this directory")]
    Revision,
    #[error("is only known when the command runs")]
    Late,
    #[error("is a file made of commands, of which no more than what is in it may be looked at")]
    Made,
    #[error("is not {0}")]
    Not(&'static str),
}

impl Kind {
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        Ok(match text {
            "text" => Self::Text,
            "inert" => Self::Inert,
            "word" => Self::Word,
            "variable" => Self::Variable,
            "pattern" => Self::Pattern,
            "day" => Self::Day,
            "fields" => Self::Fields,
            "mode" => Self::Mode,
            "lines" => Self::Lines,
            "ranges" => Self::Ranges,
            "charset" => Self::Charset,
            "port" => Self::Port,
            "number" => Self::Number,
            "count" => Self::Count,
            "seconds" => Self::Seconds,
            "listed" => Self::Listed,
            "file" => Self::File,
            "regular" => Self::Regular,
            "tree" => Self::Tree,
            "searched" => Self::Searched,
            "archive" => Self::Archive,
            "revision" => Self::Revision,
            "commit" => Self::Commit,
            "history" => Self::History,
            "plus" => Self::Plus,
            "setting" => Self::Setting,
            _ if text.contains('|') => Self::Choice(text.split('|').map(str::to_owned).collect()),
            _ => match Language::named(text) {
                Some(language) => Self::Program(language),
                None => return Err(format!("expected a kind of argument, got `{text}`")),
            },
        })
    }

    /// Whether a value that begins with `-` may stand in a word of its own.
    pub(crate) fn takes_dash(&self) -> bool {
        matches!(self, Self::Number | Self::Count | Self::Mode | Self::Ranges)
    }

    pub(crate) fn check(&self, text: &str, ground: &Ground) -> Result<(), Misfit> {
        if let Some(mark) = Mark::within(text) {
            return self.takes(mark, text, ground);
        }
        match self {
            Self::Text => Ok(()),
            Self::Inert => {
                fits(text == "[" || !text.contains(['[', '$', '`', '(']), "a plain number or text")
            }
            Self::Word => fits(is_word(text), "a plain word"),
            Self::Variable => fits(VARIABLES.contains(&text), "a variable that is known to be no secret"),
            Self::Pattern if secret::is_meant(text) => Err(Forbidden::Secret.into()),
            Self::Pattern => Ok(()),
            Self::Day => fits(!text.contains("TZ"), "a date without a time zone"),
            Self::Fields => {
                fits(is_word(text) && !text.to_lowercase().contains("env"), "a list of harmless fields")
            }
            Self::Mode => fits(is_mode(text), "a mode"),
            Self::Lines => fits(is_lines(text), "a range of lines"),
            Self::Ranges => {
                fits(text.bytes().all(|b| b.is_ascii_digit() || matches!(b, b',' | b'-')), "a list of ranges")
            }
            Self::Charset => {
                // What has no letter there is written as something like it, or left out.
                let name = text.strip_suffix("//TRANSLIT").or_else(|| text.strip_suffix("//IGNORE"));
                fits(is_word(name.unwrap_or(text)) && !text.contains(".."), "the name of an encoding")
            }
            Self::Port => {
                fits(is_word(text) && !text.contains('@') && !text.starts_with('+'), "a port of this machine")
            }
            Self::Number => fits(is_number(text), "a number"),
            Self::Count => {
                fits(is_number(text) && at_most(text, 10_000_000.0), "a number that is not too large")
            }
            Self::Seconds => fits(is_hour(text), "an hour or less"),
            Self::Listed if is_listing(text) => Err(Misfit::Not("a plain path")),
            Self::Listed => Self::File.check(text, ground),
            Self::File if text == "-" => Ok(()),
            Self::File => Ok(ground.look(text).map(drop)?),
            Self::Searched if text == "-" => Ok(()),
            Self::Searched => Ok(ground.look_into(text)?),
            Self::Tree if text == "-" => Ok(()),
            Self::Tree => Ok(ground.look_through(text)?),
            Self::Regular if text == "-" => Ok(()),
            Self::Regular => match ground.look(text)? {
                Found::Directory => Err(Misfit::Directory),
                Found::File | Found::Nothing => Ok(()),
            },
            Self::Archive if text.contains(':') => Err(Misfit::Remote),
            // Some programs expand wildcards themselves.
            Self::Archive if text.contains(['*', '?', '[']) => Err(Misfit::Not("a plain path")),
            Self::Archive => archive(text, ground),
            Self::Revision => revision(text, ground),
            Self::Commit if ["^{}", "^{blob", "^{object"].iter().any(|peeled| text.contains(peeled)) => {
                Err(Misfit::Revision)
            }
            Self::History if text.contains([':', '{']) && !is_left_out(text) => Err(Misfit::Revision),
            Self::Commit | Self::History => revision(text, ground),
            Self::Plus => fits(text.starts_with('+'), "a format, which begins with `+`"),
            Self::Setting => fits(is_setting(text), "a setting that is known to be no secret"),
            Self::Choice(words) => fits(words.iter().any(|word| word == text), "one of the words known here"),
            Self::Program(language) => Ok(language.check(text)?),
        }
    }
}

impl Kind {
    /// Whether a text fits in which a value is only known when it is there. It is held against the kind again then.
    fn takes(&self, mark: Mark, text: &str, ground: &Ground) -> Result<(), Misfit> {
        let path = matches!(
            self,
            Self::File
                | Self::Listed
                | Self::Tree
                | Self::Searched
                | Self::Regular
                | Self::Archive
                | Self::Revision
                | Self::Commit
                | Self::History
        );
        let reads = matches!(self, Self::File | Self::Listed | Self::Tree | Self::Searched | Self::Regular);
        match (self, mark) {
            (_, Mark::Made) if reads && text.starts_with(Mark::Made.character()) => Ok(()),
            (_, Mark::Made) => Err(Misfit::Made),
            (Self::Text | Self::Inert, _) => Ok(()),
            (_, Mark::Path) if path => self.check(&Mark::filled(text), ground),
            (Self::Revision | Self::Commit | Self::History, Mark::Revision) => {
                self.check(&Mark::filled(text), ground)
            }
            _ => Err(Misfit::Late),
        }
    }
}

const VARIABLES: [&str; 12] =
    ["PATH", "HOME", "USER", "LOGNAME", "SHELL", "PWD", "LANG", "LC_ALL", "TERM", "TZ", "EDITOR", "HOSTNAME"];

fn fits(holds: bool, what: &'static str) -> Result<(), Misfit> {
    if holds { Ok(()) } else { Err(Misfit::Not(what)) }
}

fn is_word(text: &str) -> bool {
    !text.starts_with('-')
        && text.bytes().all(|b| {
            b.is_ascii_alphanumeric()
                || matches!(b, b'_' | b'.' | b',' | b':' | b'@' | b'%' | b'+' | b'=' | b'-')
        })
}

fn is_number(text: &str) -> bool {
    let text = text.strip_prefix(['+', '-']).unwrap_or(text);
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let decimals = rest.strip_prefix('.').map(|rest| rest.trim_start_matches(|c: char| c.is_ascii_digit()));
    let unit = decimals.unwrap_or(rest);
    text.starts_with(|c: char| c.is_ascii_digit())
        && unit.len() <= 3
        && unit.bytes().all(|b| b.is_ascii_alphabetic())
}

/// Whether the digits of a number come to no more than this.
fn at_most(text: &str, most: f64) -> bool {
    let digits = text.trim_start_matches(['+', '-']);
    digits.parse::<f64>().is_ok_and(|number| number <= most)
}

fn is_hour(text: &str) -> bool {
    match text.strip_suffix('m') {
        Some(minutes) => is_number(minutes) && at_most(minutes, 60.0),
        None => {
            let seconds = text.strip_suffix('s').unwrap_or(text);
            is_number(seconds) && at_most(seconds, 3600.0)
        }
    }
}

/// Whether a word is a list of options in a file, or one itself: `tail +1f` waits. `+5` is a number.
fn is_listing(text: &str) -> bool {
    let rest = text.strip_prefix('+');
    text.starts_with('@') || rest.is_some_and(|rest| rest.bytes().any(|b| !b.is_ascii_digit()))
}

/// A packed file. Where there is none of this name, programs look for one with an ending of their own.
fn archive(text: &str, ground: &Ground) -> Result<(), Misfit> {
    const ENDS: [&str; 7] = [".gz", ".z", "-z", ".Z", "-gz", ".zip", ".ZIP"];
    Kind::Regular.check(text, ground)?;
    if text == "-" || ground.look(text)? == Found::File {
        return Ok(());
    }
    ENDS.iter().try_for_each(|end| Kind::Regular.check(&format!("{text}{end}"), ground))
}

fn is_mode(text: &str) -> bool {
    let signs = |b: u8| matches!(b, b'+' | b'-' | b'=' | b',' | b'/');
    text.len() > 1 && text.bytes().all(|b| b.is_ascii_digit() || b"ugoarwxXst".contains(&b) || signs(b))
}

/// `1,10`, `5,+3`, or either with `:path` behind it.
fn is_lines(text: &str) -> bool {
    let named = text.strip_prefix(':');
    let (range, path) = named.unwrap_or(text).split_once(':').unwrap_or((named.unwrap_or(text), ""));
    let plain = match named {
        // `:name` are the lines of a function.
        Some(_) => !range.is_empty() && range.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_'),
        None => {
            range.starts_with(|c: char| c.is_ascii_digit())
                && range.bytes().all(|b| b.is_ascii_digit() || matches!(b, b',' | b'+' | b'-'))
        }
    };
    plain && !path.contains("..") && !path.starts_with('/') && !secret::is_secret(Path::new(path))
}

/// What git would take for a revision or, failing that, for a path.
fn revision(text: &str, ground: &Ground) -> Result<(), Misfit> {
    let climbs = text.contains("../") || text.contains("/..") || text == ".." || text.ends_with(":..");
    if !climbs && is_left_out(text) {
        return Ok(());
    }
    // `:path` is a file as it will be committed; other signs behind a colon have meanings.
    let staged = text.strip_prefix(':').filter(|path| path.starts_with(|c: char| c.is_ascii_alphanumeric()));
    if (text.starts_with([':', '-']) && staged.is_none()) || climbs {
        return Err(Misfit::Revision);
    }
    // A revision may hold colons itself, and a path in a repository is a pattern.
    // What lies in a directory that is named so loses its name, by which it would be left out.
    let is_secret = |(at, _)| {
        let path = Path::new(&text[at + 1..]);
        secret::is_secret(path) || secret::is_in_folder(path)
    };
    let is_pattern = text.contains(['*', '?', '[', '\\']);
    if text.match_indices(':').any(is_secret) || (is_pattern && secret::is_meant(&text.replace('\\', ""))) {
        return Err(Forbidden::Secret.into());
    }
    match ground.look(text) {
        // `HEAD:a` and `a/b..c/d` are no paths, and what does not exist says so.
        Err(Forbidden::NotDirectory) => Ok(()),
        other => Ok(other.map(drop)?),
    }
}

/// Paths that are left out only make it less.
fn is_left_out(text: &str) -> bool {
    let path = [":!", ":^", ":(exclude)"].iter().find_map(|sign| text.strip_prefix(sign));
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '*');
    path.is_some_and(|path| path.starts_with(plain))
}

fn is_setting(text: &str) -> bool {
    let lower = text.to_lowercase();
    let harmless = ["user.", "core.", "init.", "branch.", "pull.", "push.", "color.", "diff.", "merge."];
    let last = lower.rsplit('.').next().unwrap_or_default();
    let remote = lower.starts_with("remote.") && matches!(last, "url" | "fetch");
    let secret = ["password", "passwd", "secret", "token"].iter().any(|word| lower.contains(word));
    is_word(text) && !secret && (remote || harmless.iter().any(|start| lower.starts_with(start)))
}
