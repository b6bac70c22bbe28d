//! What a directory brings along for assistants: settings, hooks, MCP servers,
//! commands and skills. Nothing of it counts until the user has seen
//! what it would change and agreed, and again when it changes.

mod question;

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::{ArgMatches, ValueEnum};
use del_mcp::{Launch, Source};
use del_tools::Cancel;

use crate::colour::When;
use crate::config::{self, Config, KEYS, Layers, Setting, Whose};
use crate::consent::Asked;
use crate::exit::Exit;
use crate::hooks::Hook;
use crate::input::plain;
use crate::prompts::{self, Prompt};
use crate::say;
use crate::trust::Trust;
pub(crate) use question::Length;

/// What a directory, and those above it up to the repository's root, bring along.
#[derive(Debug, Default)]
pub(crate) struct Project {
    pub(crate) root: PathBuf,
    pub(crate) parts: Vec<Part>,
    /// What is wrong with files that were left out.
    wrong: Vec<String>,
}

/// One file.
#[derive(Debug)]
pub(crate) struct Part {
    pub(crate) path: PathBuf,
    content: Vec<u8>,
    pub(crate) kind: Kind,
    /// What the user said of it, if anything.
    pub(crate) said: Option<bool>,
}

#[derive(Debug)]
pub(crate) enum Kind {
    Settings(Config),
    Servers(del_mcp::Config),
    Prompt(Prompt),
}

/// Whether a run follows what the directory brings along.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Follow {
    /// As far as you trust it
    Auto,
    /// All of it, or the run ends with exit code 55
    Require,
    /// Not at all
    Off,
}

pub(crate) const SETTINGS: &str = config::OF_PROJECT;
pub(crate) const SERVERS: &str = ".mcp.json";
/// The longest file.
const LONGEST: u64 = 1 << 20;

impl Project {
    /// What `directory` (absolute and without links) brings along. A file that is wrong is left out.
    pub(crate) fn find(directory: &Path) -> Self {
        let root = root(directory);
        let mut project = Self { root: root.to_owned(), ..Self::default() };
        let trust = Trust::find();
        for find in [settings, servers] {
            match up(directory, root).find_map(|folder| find(folder, directory).transpose()) {
                Some(Ok(part)) => project.parts.push(part.judged(trust.as_ref())),
                Some(Err(wrong)) => project.wrong.push(wrong),
                None => {}
            }
        }
        for folder in up(directory, root) {
            for part in [".del", ".claude"].into_iter().flat_map(|name| prompts_in(&folder.join(name))) {
                if project.prompt(part.prompt_name()).is_none() {
                    project.parts.push(part.judged(trust.as_ref()));
                }
            }
        }
        project
    }

    /// The MCP servers that `directory` brings along.
    pub(crate) fn find_servers(directory: &Path) -> Self {
        let root = root(directory);
        let mut project = Self { root: root.to_owned(), ..Self::default() };
        match up(directory, root).find_map(|folder| servers(folder, directory).transpose()) {
            Some(Ok(part)) => project.parts.push(part.judged(Trust::find().as_ref())),
            Some(Err(wrong)) => project.wrong.push(wrong),
            None => {}
        }
        project
    }

    /// Says what is wrong with files.
    pub(crate) fn complain(&self) {
        self.wrong.iter().for_each(|wrong| say(format!("left out: {wrong}")));
    }

    /// Whether no file was left out.
    pub(crate) fn is_whole(&self) -> bool {
        self.wrong.is_empty()
    }

    /// What is wrong with files ends the run.
    pub(crate) fn whole(self) -> Result<Self> {
        let wrong = self.wrong.join("; ");
        if wrong.is_empty() { Ok(self) } else { Err(Exit::Configuration.because(wrong)) }
    }

    /// The settings that the user trusts.
    pub(crate) fn settings(&self) -> Vec<Setting> {
        self.trusted_config().map(|config| config.settings.clone()).unwrap_or_default()
    }

    /// The hooks that the user trusts.
    pub(crate) fn hooks(&self) -> Vec<Hook> {
        self.trusted_config().map(|config| config.hooks.clone()).unwrap_or_default()
    }

    pub(crate) fn trusted_config(&self) -> Option<&Config> {
        self.parts.iter().filter(|part| part.is_trusted()).find_map(|part| match &part.kind {
            Kind::Settings(config) => Some(config),
            Kind::Servers(_) | Kind::Prompt(_) => None,
        })
    }

    /// The MCP servers, trusted or not.
    pub(crate) fn servers(&self) -> Option<(&Part, &del_mcp::Config)> {
        self.parts.iter().find_map(|part| match &part.kind {
            Kind::Servers(config) => Some((part, config)),
            Kind::Settings(_) | Kind::Prompt(_) => None,
        })
    }

    /// The commands and skills that the user trusts.
    pub(crate) fn prompts(&self) -> Vec<Prompt> {
        let trusted = self.parts.iter().filter(|part| part.is_trusted());
        trusted.filter_map(|part| part.prompt().cloned()).collect()
    }

    /// The part that is the command or skill of this name, trusted or not.
    pub(crate) fn prompt(&self, name: &str) -> Option<&Part> {
        self.parts.iter().find(|part| part.prompt().is_some_and(|prompt| prompt.name == name))
    }

    /// The paths of parts, from the root on.
    pub(crate) fn names(&self, which: impl Fn(&Part) -> bool) -> Vec<String> {
        self.parts.iter().filter(|part| which(part)).map(|part| self.name(part)).collect()
    }

    pub(crate) fn name(&self, part: &Part) -> String {
        part.path.strip_prefix(&self.root).unwrap_or(&part.path).display().to_string()
    }

    pub(crate) fn is_trusted(&self) -> bool {
        self.parts.iter().all(Part::is_trusted)
    }

    /// Asks the person at the terminal, if there is one, about what nothing has been said of, and keeps the answer.
    pub(crate) fn ask(&mut self, layers: &Layers, asked: &mut Asked, cancel: &Cancel) {
        let Asked::Terminal(terminal) = asked else { return };
        if self.parts.iter().all(|part| part.said.is_some()) {
            return;
        }
        let text = |length| self.question(layers, length, |part| part.said.is_none());
        let (short, whole) = (text(Length::Short), text(Length::Whole));
        let agreed = terminal.agrees(&short, &whole, "Trust this, until it changes?");
        if !cancel.is_cancelled() {
            self.keep(agreed);
        }
    }

    /// Keeps an answer to all that nothing has been said of.
    pub(crate) fn keep(&mut self, trusted: bool) {
        let open: Vec<&mut Part> = self.parts.iter_mut().filter(|part| part.said.is_none()).collect();
        let files = open.iter().map(|part| (part.path.as_path(), part.content.as_slice()));
        let kept = Trust::find().map(|trust| trust.keep(files, trusted));
        if !matches!(kept, Some(Ok(()))) {
            say("your answer cannot be kept; it holds for this run");
        }
        for part in open {
            part.said = Some(trusted);
        }
    }

    /// Takes a no back: it is asked again.
    pub(crate) fn forget_refusals(&mut self) {
        self.parts.iter_mut().filter(|part| !part.is_trusted()).for_each(|part| part.said = None);
    }
}

impl Part {
    fn judged(mut self, trust: Option<&Trust>) -> Self {
        self.said = trust.and_then(|trust| trust.said(&self.path, &self.content));
        self
    }

    pub(crate) fn is_trusted(&self) -> bool {
        self.said == Some(true)
    }

    /// The command or skill that it is.
    pub(crate) fn prompt(&self) -> Option<&Prompt> {
        match &self.kind {
            Kind::Prompt(prompt) => Some(prompt),
            Kind::Settings(_) | Kind::Servers(_) => None,
        }
    }

    fn prompt_name(&self) -> &str {
        self.prompt().map_or("", |prompt| prompt.name.as_str())
    }
}

/// What the directory of the assistant brings along, as far as it is to be followed: asks where somebody is there to
/// answer. `given` is the command line without what files set.
pub(crate) fn decide(given: &ArgMatches, layers: &Layers) -> Result<Project> {
    let directory = given.get_one::<PathBuf>("working_dir").cloned().unwrap_or_else(|| PathBuf::from("."));
    // What is wrong with the directory is told by whoever opens it.
    let Ok(directory) = directory.canonicalize() else { return Ok(Project::default()) };
    let (mut project, follow) = found(&directory, given, layers);
    if follow != Follow::Off && !config::typed(given, "print") {
        let cancel = Cancel::new();
        let color = given.get_one::<When>("color").copied().unwrap_or_default();
        project.ask(layers, &mut Asked::find(false, color, &cancel), &cancel);
        if cancel.is_cancelled() {
            return Err(Exit::Interrupted.because("interrupted"));
        }
    }
    settled(project, follow)
}

/// What a directory brings along that another program names, as far as it is to be followed: nobody is there to answer.
pub(crate) fn of_host(directory: &Path, given: &ArgMatches, layers: &Layers) -> Result<Project> {
    let Ok(directory) = directory.canonicalize() else { return Ok(Project::default()) };
    let (project, follow) = found(&directory, given, layers);
    settled(project, follow)
}

fn found(directory: &Path, given: &ArgMatches, layers: &Layers) -> (Project, Follow) {
    let follow = follow(given, layers);
    if follow == Follow::Off {
        return (Project::default(), follow);
    }
    let mut project = Project::find(directory);
    if config::typed(given, "no_mcp") || set(layers, "no_mcp").as_deref() == Some("true") {
        project.parts.retain(|part| !matches!(part.kind, Kind::Servers(_)));
    }
    (project, follow)
}

/// The project without doubt: what is not trusted is said, or ends the run.
fn settled(project: Project, follow: Follow) -> Result<Project> {
    let project = if follow == Follow::Require { project.whole()? } else { project };
    project.complain();
    let open = project.names(|part| !part.is_trusted());
    if open.is_empty() {
        return Ok(project);
    }
    let open = few(&open);
    if follow == Follow::Require {
        let why = format!("{open}: you have not agreed to this; `del trust` shows it and asks");
        return Err(Exit::Untrusted.because(why));
    }
    let refused = project.parts.iter().all(|part| part.said.is_some());
    let why = if refused { "you said no" } else { "you have not agreed to this" };
    say(format!("left out: {open}: {why}; `del trust` shows it and asks"));
    Ok(project)
}

/// Names, of many the first.
pub(crate) fn few(names: &[String]) -> String {
    match names {
        [first @ .., _, _, _] if first.len() > 1 => {
            format!("{} and {} more", names[..3].join(", "), names.len() - 3)
        }
        names => names.join(", "),
    }
}

fn follow(given: &ArgMatches, layers: &Layers) -> Follow {
    let given = given.subcommand().map_or(given, |(_, within)| within);
    let typed = given.get_one::<Follow>("follow").copied().unwrap_or(Follow::Auto);
    let configured = set(layers, "project").and_then(|value| Follow::from_str(&value, false).ok());
    if config::typed(given, "follow") { typed } else { configured.unwrap_or(typed) }
}

/// What the user's file sets.
fn set(layers: &Layers, name: &str) -> Option<String> {
    let key = KEYS.iter().find(|key| key.name == name)?;
    layers.all(key).next().map(|setting| setting.values.join(", "))
}

/// The root of the repository, or the directory itself.
pub(crate) fn root(directory: &Path) -> &Path {
    directory.ancestors().find(|ancestor| ancestor.join(".git").exists()).unwrap_or(directory)
}

/// The directory and those above it, up to the root.
fn up<'d>(directory: &'d Path, root: &'d Path) -> impl Iterator<Item = &'d Path> {
    directory.ancestors().take_while(move |ancestor| ancestor.starts_with(root))
}

/// The content of a file, if there is one, or why it cannot be followed.
fn read(path: &Path) -> Result<Option<Vec<u8>>, String> {
    let wrong = |got: &str| Err(format!("{}: expected a file of at most 1 MiB, got {got}", path.display()));
    match std::fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_symlink() => wrong("a link, and those are not followed"),
        Ok(metadata) if !metadata.is_file() => wrong("something else"),
        Ok(metadata) if metadata.len() > LONGEST => wrong(&format!("{} bytes", metadata.len())),
        Ok(_) => match std::fs::read(path) {
            Ok(content) => Ok(Some(content)),
            Err(error) => wrong(&plain(&error)),
        },
        // Neither is there a file where a directory on the way is none.
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(None),
        Err(error) => wrong(&plain(&error)),
    }
}

/// The settings in a folder, or what is wrong with them.
fn settings(folder: &Path, _: &Path) -> Result<Option<Part>, String> {
    let path = folder.join(SETTINGS);
    let Some(content) = read(&path)? else { return Ok(None) };
    let config = Config::parse(&String::from_utf8_lossy(&content), &path, Whose::Project);
    let config = config.map_err(|wrong| wrong.to_string())?;
    let empty = config.settings.is_empty() && config.hooks.is_empty() && config.refused.is_empty();
    Ok((!empty).then(|| Part { path, content, kind: Kind::Settings(config), said: None }))
}

/// The commands and skills in a folder.
fn prompts_in(folder: &Path) -> Vec<Part> {
    let part = |(name, kind, path): (String, prompts::Kind, PathBuf)| {
        let content = read(&path).ok()??;
        let prompt = Prompt::parse(name, kind, &path, &String::from_utf8_lossy(&content));
        Some(Part { path, content, kind: Kind::Prompt(prompt), said: None })
    };
    prompts::in_folder(folder).into_iter().filter_map(part).collect()
}

/// The MCP servers of a folder, or what is wrong with their file.
fn servers(folder: &Path, directory: &Path) -> Result<Option<Part>, String> {
    let path = folder.join(SERVERS);
    let Some(content) = read(&path)? else { return Ok(None) };
    let config = del_mcp::Config::parse(&content, &path, Source::Project);
    let mut config = config.map_err(|error| format!("the MCP servers of {SERVERS}: {error}"))?;
    for server in &mut config.servers {
        if let Launch::Program { directory: place @ None, .. } = &mut server.launch
            && folder != directory
        {
            *place = Some(folder.to_owned());
        }
    }
    let empty = config.servers.is_empty() && config.warnings.is_empty();
    Ok((!empty).then(|| Part { path, content, kind: Kind::Servers(config), said: None }))
}
