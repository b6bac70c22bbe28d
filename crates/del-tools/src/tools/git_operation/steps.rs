//! What git is run with for each operation.

use std::path::Path;

use super::{FAR_TIMEOUT, GitOperation, TIMEOUT, Wish};
use crate::context::Context;
use crate::git::Act;
use crate::outcome::{Code, Failure};
use crate::text::on_one_line;
use crate::workspace::Access;
use crate::writable::caution;

/// One run of git.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) arguments: Vec<String>,
    pub(super) input: Option<String>,
}

impl Step {
    /// Whether the files are names, and none of them a pattern.
    pub(super) fn is_literal(&self) -> bool {
        let files = self.arguments.iter().skip_while(|word| *word != "--").skip(1);
        !files.into_iter().any(|file| is_wild(file))
    }
}

impl GitOperation {
    /// Limits what is shown to the working directory when that lies inside of the working tree.
    fn here(&self, context: &Context) -> Vec<String> {
        if self.git.top() == context.workspace.root() {
            Vec::new()
        } else {
            vec!["--".to_owned(), ".".to_owned()]
        }
    }

    pub(super) fn status(&self, context: &Context) -> Step {
        step(&["status", "--short", "--branch", "--ignore-submodules=all"], self.here(context))
    }

    pub(super) fn diff(&mut self, wish: &Wish, context: &Context) -> Result<Step, Failure> {
        let mut arguments =
            words(&["diff", "--no-ext-diff", "--no-textconv", "--no-color", "--ignore-submodules=all"]);
        if wish.staged {
            arguments.push("--staged".to_owned());
        }
        self.look(arguments, wish, context)
    }

    pub(super) fn log(&mut self, wish: &Wish, context: &Context) -> Result<Step, Failure> {
        let number = wish.limit.to_string();
        let arguments =
            words(&["log", "--oneline", "--decorate", "--no-color", "--no-show-signature", "-n", &number]);
        self.look(arguments, wish, context)
    }

    /// Adds the revision and the files to a command that looks.
    fn look(&self, mut arguments: Vec<String>, wish: &Wish, context: &Context) -> Result<Step, Failure> {
        if let Some(revision) = &wish.branch {
            plain(revision, "a branch or revision")?;
            arguments.extend(["--end-of-options".to_owned(), commits(revision)]);
        }
        match &wish.files {
            Some(files) => {
                arguments.push("--".to_owned());
                arguments.extend(inside(files.clone(), context)?);
                Ok(Step { arguments, input: None })
            }
            None => {
                arguments.extend(self.here(context));
                Ok(Step { arguments, input: None })
            }
        }
    }

    pub(super) fn branch(&mut self, name: Option<&str>, context: &Context) -> Result<Step, Failure> {
        let Some(name) = name else {
            return Ok(step(&["branch", "--list", "--no-color", "--no-column"], Vec::new()));
        };
        self.about.push(format!("branch {name}"));
        self.named(name, context)?;
        let known = |namespace: &str| {
            let reference = format!("refs/{namespace}/{name}");
            Ok(self.git.ask(&["rev-parse", "--verify", "--quiet", &reference], context)?.code == 0)
        };
        Ok(if known("heads")? || known("remotes/origin")? {
            step(&["switch", "--no-progress", name], Vec::new())
        } else {
            step(&["switch", "--no-progress", "-c", name], Vec::new())
        })
    }

    pub(super) fn add(&mut self, files: Option<Vec<String>>, context: &Context) -> Result<Step, Failure> {
        let Some(files) = files else {
            let cause = "add needs 'files' (use \".\" for all).";
            return Err(Failure::new(Code::MissingArg, cause));
        };
        let files = inside(files, context)?;
        self.about.push(format!("add {}", files.join(" ")));
        self.warn_of_secrets(files.iter().map(String::as_str));
        let mut arguments = words(&["add", "--"]);
        arguments.extend(files);
        Ok(Step { arguments, input: None })
    }

    pub(super) fn commit(&mut self, wish: Wish, context: &Context) -> Result<Vec<Step>, Failure> {
        let message = wish.message.filter(|message| !message.trim().is_empty()).ok_or_else(|| {
            Failure::new(Code::MissingArg, "commit needs 'message' (string): what was changed, and why.")
        })?;
        self.about.push("commit".to_owned());
        let mut steps = Vec::new();
        match wish.files {
            Some(files) => steps.push(self.add(Some(files), context)?),
            None => {
                let staged =
                    self.git.ask(&["diff", "--cached", "--name-only", "--no-ext-diff", "-z"], context)?;
                let staged = staged.out();
                if staged.is_empty() && !self.git.is_merging() {
                    return Err(nothing_staged());
                }
                self.warn_of_secrets(staged.split_terminator('\0'));
            }
        }
        steps.push(Step { arguments: words(&["commit", "-F", "-"]), input: Some(message) });
        Ok(steps)
    }

    pub(super) fn push(&mut self, branch: Option<String>, context: &Context) -> Result<Step, Failure> {
        let current = self.current(context)?;
        let name = branch.or_else(|| current.clone());
        self.about.push(name.as_ref().map_or("push".to_owned(), |name| format!("push {name}")));
        let name = name.ok_or_else(|| {
            Failure::new(Code::MissingArg, "no branch is checked out; push needs 'branch'.")
        })?;
        self.named(&name, context)?;
        let remote = self.git.setting(&format!("branch.{name}.remote")).map(str::to_owned);
        let tracked = remote.is_some();
        let remote = self.reach(&remote.unwrap_or_else(|| "origin".to_owned()), context)?;
        let mut arguments = words(&["push", "--no-progress", "--no-recurse-submodules"]);
        if !tracked {
            arguments.push("-u".to_owned());
        }
        arguments.extend(["--end-of-options".to_owned(), remote, format!("refs/heads/{name}")]);
        Ok(Step { arguments, input: None })
    }

    pub(super) fn pull(&mut self, branch: Option<&str>, context: &Context) -> Result<Step, Failure> {
        self.about.push(branch.map_or("pull".to_owned(), |name| format!("pull {name}")));
        let current = self.current(context)?;
        let remote = current.and_then(|current| self.git.setting(&format!("branch.{current}.remote")));
        let remote = remote.map(str::to_owned);
        let arguments =
            words(&["pull", "--ff-only", "--no-rebase", "--no-progress", "--no-recurse-submodules"]);
        let Some(name) = branch else {
            self.reach(remote.as_deref().unwrap_or("origin"), context)?;
            return Ok(Step { arguments, input: None });
        };
        self.named(name, context)?;
        let remote = self.reach(remote.as_deref().unwrap_or("origin"), context)?;
        let reference = format!("refs/heads/{name}");
        Ok(Step { arguments: [arguments, vec!["--".to_owned(), remote, reference]].concat(), input: None })
    }

    /// Checks that the remote can be reached at all, and says where it lies.
    fn reach(&mut self, remote: &str, context: &Context) -> Result<String, Failure> {
        plain(remote, "a remote")?;
        let addresses = self.git.addresses(remote);
        let [first, ..] = addresses.as_slice() else {
            let cause = format!("the repository has no remote '{}'.", on_one_line(remote));
            return Err(Failure::new(Code::NotFound, cause));
        };
        if is_far(first) && !context.sandbox.network() {
            let cause = format!(
                "{remote} lies at {}, and commands have no network. Ask the user to start del with --allow-network.",
                on_one_line(first)
            );
            return Err(Failure::new(Code::Network, cause));
        }
        self.remarks.extend(addresses.iter().map(|address| format!("{remote} lies at {address}")));
        Ok(remote.to_owned())
    }

    /// The branch that is checked out.
    fn current(&self, context: &Context) -> Result<Option<String>, Failure> {
        let finished = self.git.ask(&["symbolic-ref", "--quiet", "--short", "HEAD"], context)?;
        Ok((finished.code == 0).then(|| finished.out().trim_end().to_owned()))
    }

    /// Refuses what is no name of a branch.
    fn named(&self, name: &str, context: &Context) -> Result<(), Failure> {
        plain(name, "a branch")?;
        let finished = self.git.ask(&["check-ref-format", &format!("refs/heads/{name}")], context)?;
        if finished.code == 0 { Ok(()) } else { Err(no_branch(name)) }
    }

    fn warn_of_secrets<'a>(&mut self, files: impl Iterator<Item = &'a str>) {
        let found = files.filter_map(|file| {
            let reason = caution(Path::new(file))?;
            reason.contains("secrets").then(|| format!("{}: {reason}", on_one_line(file)))
        });
        self.cautions.extend(found);
    }

    pub(super) fn timeout(&self) -> u64 {
        if matches!(self.act, Some(Act::Push | Act::Pull)) { FAR_TIMEOUT } else { TIMEOUT }
    }
}

/// The revision, in which every name and id is that of a commit: what is shown of a file or a tree by its id has lost the
/// name by which it is left out.
fn commits(revision: &str) -> String {
    let commit = |side: &str| {
        // These mean the parents of a commit, and of nothing else.
        let parents = side.rsplit_once('^').is_some_and(|(_, rest)| rest.starts_with(['!', '@', '-']));
        if side.is_empty() || parents { side.to_owned() } else { format!("{side}^{{commit}}") }
    };
    for dots in ["...", ".."] {
        if let Some((from, to)) = revision.split_once(dots) {
            return format!("{}{dots}{}", commit(from), commit(to));
        }
    }
    commit(revision)
}

pub(super) fn nothing_staged() -> Failure {
    Failure::new(Code::NoChange, "nothing staged; run add first.")
}

fn no_branch(name: &str) -> Failure {
    let name: String = on_one_line(name).chars().take(100).collect();
    Failure::new(Code::BadType, format!("'{name}' is not a name for a branch."))
}

/// Refuses what git would take for an option, and what cannot be shown on a line.
fn plain(word: &str, what: &str) -> Result<(), Failure> {
    if word.starts_with('-') || word.chars().any(char::is_control) {
        let word: String = on_one_line(word).chars().take(100).collect();
        return Err(Failure::new(Code::BadType, format!("'{word}' is not {what}.")));
    }
    Ok(())
}

/// The files, relative to the working directory, if they all lie in it.
fn inside(files: Vec<String>, context: &Context) -> Result<Vec<String>, Failure> {
    let whole = files.join(" ");
    let exists = |file: &str| context.workspace.resolve(file, Access::Read).is_ok_and(|place| place.exists);
    let files = if files.len() > 1 && exists(&whole) { vec![whole] } else { files };
    let wild = files.iter().any(|file| is_wild(file));
    files
        .into_iter()
        .map(|file| {
            if wild && file.starts_with(':') {
                return Err(Failure::new(Code::BadType, format!("'{}' is not a file.", on_one_line(&file))));
            }
            // The parent says where it lies: git looks at a link, and not at what it leads to.
            let path = Path::new(&file);
            let (parent, name) = match (path.parent(), path.file_name()) {
                (Some(parent), Some(name)) if !parent.as_os_str().is_empty() => (parent, Some(name)),
                (Some(_), Some(name)) if file == name.to_string_lossy() => return Ok(file),
                _ => (path, None),
            };
            let place = context.workspace.resolve(&parent.to_string_lossy(), Access::Read)?;
            let absolute = context.workspace.absolute(&place);
            let Ok(inner) = absolute.strip_prefix(context.workspace.root()) else {
                return Err(context.workspace.outside(&file));
            };
            let inner = name.map_or(inner.to_owned(), |name| inner.join(name));
            let inner = inner.to_string_lossy().into_owned();
            Ok(if inner.is_empty() { ".".to_owned() } else { inner })
        })
        .collect()
}

fn is_wild(file: &str) -> bool {
    file.contains(['*', '?', '['])
}

/// Whether an address lies behind a network.
fn is_far(address: &str) -> bool {
    let scheme = address.split_once("://").map(|(scheme, _)| scheme);
    let colon = address.find(':').is_some_and(|at| !address[..at].contains('/'));
    scheme.map_or(colon, |scheme| scheme != "file")
}

fn step(arguments: &[&str], more: Vec<String>) -> Step {
    Step { arguments: words(arguments).into_iter().chain(more).collect(), input: None }
}

pub(super) fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}
