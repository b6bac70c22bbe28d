//! git, held back: what a repository's configuration could make it run does not run, unless a question has named it.
//!
//! Which repository it is, is found out here, not by git, and git is told: then nothing else is found on the way. Looking
//! is done in an environment and with options that leave out every program that configuration can name; changing
//! something is done with the user's own configuration, since names, keys and helpers stand in it.

mod repository;
mod settings;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use del_judge::{Process, what_reveals, without_password};

use crate::context::Context;
use crate::control::Control;
use crate::environment;
use crate::executable::is_program;
use crate::outcome::{Code, Failure};
use crate::process::Spec;
use crate::program::{self, Finished};
use crate::sandbox::Reach;
use repository::{MAX_LOOKED_AT, Repository, Trouble};
use settings::Settings;

/// A question to git itself takes no longer.
const LOOK: Duration = Duration::from_secs(10);

/// git over one repository.
#[derive(Debug)]
pub(crate) struct Git {
    repository: Repository,
    held: Process,
    settings: Settings,
    /// How far git reaches that looks.
    reach: Reach,
    /// The attributes that it takes from elsewhere.
    attributes: String,
}

/// What is done to a repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Act {
    Add,
    Commit,
    Switch,
    Push,
    Pull,
}

impl Git {
    /// git over the repository of the working directory.
    pub(crate) fn open(context: &Context) -> Result<Self, Failure> {
        let directory = context.workspace.root();
        let trouble = |trouble: Trouble| trouble.failure(directory, &context.workspace.writable());
        let held = context.judge.held("git", &context.ground()).ok_or_else(|| {
            Failure::new(Code::ToolMissing, "git is not installed, or not where the system keeps programs.")
        })?;
        let repository = Repository::find(directory, &context.workspace.writable()).map_err(trouble)?;
        let settings = Settings::default();
        let program = held.program.clone().unwrap_or_default();
        let reach = context.sandbox.reach_of(&program, directory);
        let attributes = context.sandbox.attributes().and_then(|path| path.to_str().map(str::to_owned));
        let attributes = attributes.unwrap_or_else(|| "/dev/null".to_owned());
        let mut git = Self { repository, held, settings, reach, attributes };
        let read = |file: &Path| {
            let arguments = ["config", "--no-includes", "--null", "--list", "--file"].map(OsString::from);
            let mut spec = git.reading(&[], LOOK);
            spec.arguments = arguments.into_iter().chain([file.into()]).collect();
            // In a repository git would read all of its configuration first, with what that includes.
            spec.environment.retain(|(name, _)| name != "GIT_DIR" && name != "GIT_WORK_TREE");
            spec.directory = "/".into();
            let finished = program::finish(&spec, context, &Control::default())?;
            if finished.code != 0 || finished.cut {
                let cause = format!("git cannot read {}: {}", file.display(), finished.err().trim());
                return Err(Failure::new(Code::Failed, cause));
            }
            Ok(finished.out())
        };
        git.settings = Settings::read(&git.repository, &read, &trouble)?;
        Ok(git)
    }

    /// The top of the working tree.
    pub(crate) fn top(&self) -> &Path {
        &self.repository.top
    }

    /// Whether a merge waits for its commit.
    pub(crate) fn is_merging(&self) -> bool {
        self.repository.git.join("MERGE_HEAD").exists()
    }

    /// Why even looking should not be done without a question.
    pub(crate) fn doubts(&self) -> Vec<String> {
        let owner = self.repository.is_foreign().then(|| "the repository belongs to another user".to_owned());
        let reveals = what_reveals(&self.repository.git, &self.repository.common, self.top(), MAX_LOOKED_AT)
            .map(|path| format!("{} may show lines of files that usually hold secrets", path.display()));
        let settings = self.settings.unknown();
        let said = |key: String| {
            format!(
                "the repository's configuration sets `{key}`, of which it is not known what it makes git do"
            )
        };
        owner.into_iter().chain(reveals).chain(settings.into_iter().map(said)).collect()
    }

    /// The programs that `act` would run because the repository, or the user's configuration of git, says so.
    pub(crate) fn runs(&self, act: Act, context: &Context) -> Result<Vec<String>, Failure> {
        let mut runs = Vec::new();
        let directory = self.hooks(context)?;
        for name in act.hooks() {
            let hook = directory.join(name);
            if is_program(&hook) {
                let shown = hook.strip_prefix(context.workspace.root()).unwrap_or(&hook);
                runs.push(format!("this runs the hook {}", shown.display()));
            }
        }
        let named = self.settings.run_by(act);
        let said = |(key, value): (&str, &str)| {
            format!("the repository's configuration may run something: {key} = {value}")
        };
        runs.extend(named.map(said));
        Ok(runs)
    }

    /// Where hooks lie, by all configuration there is.
    fn hooks(&self, context: &Context) -> Result<PathBuf, Failure> {
        let spec = self.writing(&words(&["rev-parse", "--git-path", "hooks"]), LOOK, false);
        let finished = program::finish(&spec, context, &Control::default())?;
        let directory = finished.out();
        Ok(spec.directory.join(directory.trim_end_matches('\n')))
    }

    /// The addresses of the remote `name`, to be shown: without passwords.
    pub(crate) fn addresses(&self, name: &str) -> Vec<String> {
        let remote = |key: &str| self.settings.values(&format!("remote.{name}.{key}"));
        let push = remote("pushurl");
        let addresses = if push.is_empty() { remote("url") } else { push };
        addresses.into_iter().map(without_password).collect()
    }

    /// The value of a setting of the repository.
    pub(crate) fn setting(&self, key: &str) -> Option<&str> {
        self.settings.values(key).last().copied()
    }

    /// Asks git something that changes nothing.
    pub(crate) fn ask(&self, arguments: &[&str], context: &Context) -> Result<Finished, Failure> {
        program::finish(&self.reading(&words(arguments), LOOK), context, &Control::default())
    }

    /// How git is run to look at something.
    pub(crate) fn reading(&self, arguments: &[String], timeout: Duration) -> Spec {
        let mut environment: Vec<(OsString, OsString)> =
            self.held.environment.iter().map(|(name, value)| (name.into(), value.into())).collect();
        self.place(&mut environment);
        environment.push(("GIT_ATTR_NOSYSTEM".into(), "1".into()));
        override_with(&mut environment, &self.settings.held_back(&self.attributes));
        let arguments = self.held.arguments.iter().chain(arguments).map(OsString::from).collect();
        self.spec(arguments, environment, timeout, self.reach)
    }

    /// How git is run to change something. Without `network` it speaks to nobody.
    pub(crate) fn writing(&self, arguments: &[String], timeout: Duration, network: bool) -> Spec {
        const OWN: [&str; 5] = ["GIT_AUTHOR_", "GIT_COMMITTER_", "GIT_SSH", "GIT_SSL_", "GIT_HTTP_"];
        let mut environment = environment::users(&self.held.directory);
        environment.retain(|(name, _)| {
            let name = name.to_string_lossy();
            !name.starts_with("GIT_") || OWN.iter().any(|own| name.starts_with(own))
        });
        self.place(&mut environment);
        let allowed = if network { "file:git:http:https:ssh" } else { "none" };
        for (name, value) in [
            ("GIT_EDITOR", "true"),
            ("GIT_SEQUENCE_EDITOR", "true"),
            ("GIT_MERGE_AUTOEDIT", "no"),
            ("GIT_TERMINAL_PROMPT", "0"),
            ("GIT_PAGER", "cat"),
            ("GIT_ALLOW_PROTOCOL", allowed),
            ("GIT_NO_LAZY_FETCH", if network { "0" } else { "1" }),
        ] {
            environment::set(&mut environment, name, value.as_ref());
        }
        let settings = [
            ("core.fsmonitor", "false"),
            ("core.pager", "cat"),
            ("diff.external", ""),
            ("submodule.recurse", "false"),
            ("fetch.recurseSubmodules", "false"),
            ("push.recurseSubmodules", "no"),
            ("commit.verbose", "false"),
            ("color.ui", "false"),
            ("gc.auto", "0"),
            ("maintenance.auto", "false"),
        ];
        override_with(&mut environment, &settings.map(|(key, value)| (key.to_owned(), value.to_owned())));
        let arguments =
            ["--no-pager".into()].into_iter().chain(arguments.iter().map(OsString::from)).collect();
        self.spec(arguments, environment, timeout, Reach::Write)
    }

    /// Tells git which repository it is.
    fn place(&self, environment: &mut Vec<(OsString, OsString)>) {
        environment::set(environment, "GIT_DIR", self.repository.git.as_os_str());
        environment::set(environment, "GIT_WORK_TREE", self.repository.top.as_os_str());
    }

    fn spec(
        &self,
        arguments: Vec<OsString>,
        environment: Vec<(OsString, OsString)>,
        timeout: Duration,
        reach: Reach,
    ) -> Spec {
        let program = self.held.program.clone().unwrap_or_default();
        let directory = self.held.directory.clone();
        Spec { program, arguments, directory, environment, input: Vec::new(), timeout, reach }
    }
}

impl Act {
    /// The hooks that may run.
    fn hooks(self) -> &'static [&'static str] {
        match self {
            Self::Add => &["post-index-change"],
            Self::Commit => &[
                "pre-commit",
                "prepare-commit-msg",
                "commit-msg",
                "post-commit",
                "post-index-change",
                "reference-transaction",
            ],
            Self::Switch => &["post-checkout", "post-index-change", "reference-transaction"],
            Self::Push => &["pre-push", "reference-transaction"],
            Self::Pull => &["post-merge", "post-checkout", "post-index-change", "reference-transaction"],
        }
    }
}

/// Settings that win over those of every file.
fn override_with(environment: &mut Vec<(OsString, OsString)>, settings: &[(String, String)]) {
    environment.push(("GIT_CONFIG_COUNT".into(), settings.len().to_string().into()));
    for (number, (key, value)) in settings.iter().enumerate() {
        environment.push((format!("GIT_CONFIG_KEY_{number}").into(), key.into()));
        environment.push((format!("GIT_CONFIG_VALUE_{number}").into(), value.into()));
    }
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}
