//! Every command of `tests/corpus` is a test: those in `everyday` have to be safe, those in `dangerous` must not be,
//! those in `asks` have to ask, and those in `destructive` have to be refused.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on should stop")]

mod desk;

use std::collections::BTreeMap;
use std::env;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use del_judge::{Ground, Judge, Judgement, Verdict};
use desk::Desk;
use libtest_mimic::{Arguments, Failed, Trial};
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Class {
    #[serde(rename = "about")]
    _about: String,
    commands: Vec<String>,
}

/// Everyday commands that ask though they need not, and why it stays so.
#[derive(Deserialize)]
struct Needless {
    commands: BTreeMap<String, String>,
}

/// What is set in the environment in which all is judged.
const ENVIRONMENT: [(&str, &str); 5] =
    [("HOME", "/root"), ("USER", "root"), ("LOGNAME", "root"), ("SHELL", "/bin/bash"), ("LANG", "C.UTF-8")];

fn main() {
    stand_in_known_environment();
    let arguments = Arguments::from_args();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
    let needless: Needless =
        toml::from_str(&std::fs::read_to_string(root.join("needless.toml")).unwrap()).unwrap();
    let needless = Arc::new(needless.commands);
    let (plain, hostile) = (Arc::new(Desk::plain()), Arc::new(Desk::hostile()));
    let judge = Arc::new(Judge::default());
    let mut trials = Vec::new();
    let mut everyday = 0;
    for (kind, desk) in
        [("everyday", &plain), ("dangerous", &hostile), ("asks", &hostile), ("destructive", &hostile)]
    {
        for (file, class) in classes(&root.join(kind)) {
            for (place, command) in class.commands.into_iter().enumerate() {
                everyday += usize::from(kind == "everyday");
                let (desk, judge, needless) = (Arc::clone(desk), Arc::clone(&judge), Arc::clone(&needless));
                let name = format!("{kind}::{file}::{}: {}", place + 1, command.escape_debug());
                trials.push(Trial::test(name, move || {
                    let judgement = judge.judge(&command, &Ground::new(&desk.work()));
                    let expected = match kind {
                        "everyday" if needless.contains_key(&command) => Verdict::Ask,
                        "asks" => Verdict::Ask,
                        "everyday" => Verdict::Safe,
                        "destructive" => Verdict::Refuse,
                        _ => return held(judgement.verdict != Verdict::Safe, &judgement),
                    };
                    held(judgement.verdict == expected, &judgement)
                }));
            }
        }
    }
    let few = needless.len() * 100 < everyday * 3;
    trials.push(Trial::test("few everyday commands ask", move || {
        if few { Ok(()) } else { Err("3 in 100 or more".into()) }
    }));
    let conclusion = libtest_mimic::run(&arguments, trials);
    // What exits drops nothing.
    drop((plain, hostile));
    conclusion.exit();
}

/// Starts this program again with the variables of `ENVIRONMENT` and no other, because judgements depend on them.
fn stand_in_known_environment() {
    let known =
        |name: &std::ffi::OsString| name == "PATH" || ENVIRONMENT.iter().any(|(known, _)| name == known);
    let path = env::var_os("PATH").unwrap_or_default();
    // A directory with a blank in its name would make a question of `$PATH`.
    let plain = |path: &PathBuf| path.to_str().is_some_and(|path| path.is_ascii() && !path.contains(' '));
    let plain = env::join_paths(env::split_paths(&path).filter(plain)).unwrap();
    let stands = path == plain
        && env::vars_os().all(|(name, _)| known(&name))
        && ENVIRONMENT.iter().all(|(name, value)| env::var_os(name).is_some_and(|found| found == *value));
    if !stands {
        let mut again = Command::new(env::current_exe().unwrap());
        again.args(env::args_os().skip(1)).env_clear().env("PATH", plain);
        panic!("cannot start again: {}", again.envs(ENVIRONMENT).exec());
    }
}

fn held(holds: bool, judgement: &Judgement) -> Result<(), Failed> {
    if holds {
        Ok(())
    } else {
        Err(format!("{:?}: {}", judgement.verdict, judgement.reasons.join("; ")).into())
    }
}

fn classes(directory: &Path) -> Vec<(String, Class)> {
    let mut classes = Vec::new();
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let class = toml::from_str(&std::fs::read_to_string(&path).unwrap())
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        classes.push((path.file_stem().unwrap().to_string_lossy().into_owned(), class));
    }
    classes.sort_by(|(one, _), (other, _)| one.cmp(other));
    classes
}
