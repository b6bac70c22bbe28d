//! The conformance matrix: every dialect has to hold in every cell, and every cell is a test `NAME/cell`.
//!
//! A cell's texts are built from the description: the writer gives whole calls, the marks say what to break, add,
//! repeat or spell in another way, and what has to come of it is known before anything is read. What cannot be built
//! has to stand in a case file, whose slug says for which cells it counts. A dialect's `gaps.toml` lists the cells
//! that it does not hold in yet, each with a reason; a gap that has closed fails.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

#[path = "../reading/mod.rs"]
mod reading;

mod anatomy;
mod cells;
mod never;
mod probe;
mod slugs;

use std::collections::BTreeMap;
use std::fs;
use std::process::ExitCode;
use std::sync::Arc;

use cells::{Built, CELLS, Cell};
use del_dialects::Dialect;
use libtest_mimic::{Arguments, Failed, Trial};

/// What a dialect has in a cell.
enum Held {
    /// Texts that are built from the description.
    Built,
    /// A case file.
    ByHand,
    Never(&'static str),
    Missing(String),
}

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let (mut trials, mut missing, mut counts) = (Vec::new(), Vec::new(), [0; 3]);
    for dialect in reading::tested() {
        let gaps = gaps(dialect);
        for unknown in gaps.keys().filter(|gap| !CELLS.iter().any(|cell| cell.name == gap.as_str())) {
            missing.push([
                dialect.name().to_owned(),
                unknown.clone(),
                "gaps.toml lists no such cell".to_owned(),
            ]);
        }
        for cell in &CELLS {
            let test = format!("{}/{}", dialect.name(), cell.name);
            match held(dialect, cell) {
                Held::Built => {
                    counts[0] += 1;
                    let (dialect, gap) = (Arc::clone(dialect), gaps.get(cell.name).cloned());
                    trials.push(Trial::test(test, move || judge(&dialect, cell, gap.as_deref())));
                }
                Held::ByHand => counts[1] += 1,
                Held::Never(reason) => {
                    counts[2] += 1;
                    let trial = Trial::test(test, || Ok(())).with_kind(reason).with_ignored_flag(true);
                    trials.push(trial);
                }
                Held::Missing(what) if !gaps.contains_key(cell.name) => {
                    missing.push([dialect.name().to_owned(), cell.name.to_owned(), what]);
                }
                Held::Missing(_) => {}
            }
        }
    }
    let complete = missing.is_empty();
    let conclusion = libtest_mimic::run(&arguments, trials);
    let [built, by_hand, never] = counts;
    eprintln!("{built} cells are built, {by_hand} are held by case files, {never} cannot be");
    for [dialect, cell, what] in missing {
        eprintln!("missing: {dialect:<20} {cell:<24} {what}");
    }
    if complete { conclusion.exit_code() } else { ExitCode::FAILURE }
}

fn held(dialect: &Arc<Dialect>, cell: &Cell) -> Held {
    let by_hand = slugs::cells_of(dialect).contains(&cell.name);
    if let Some(reason) = never::reason(dialect, cell.name) {
        return if by_hand { Held::ByHand } else { Held::Never(reason) };
    }
    match (cell.build)(dialect) {
        Ok(Built::Probes(_)) => Held::Built,
        Ok(Built::ByHand(_)) if by_hand => Held::ByHand,
        Ok(Built::ByHand(what)) => Held::Missing(format!("expected a case file for it: {what}")),
        // The trial says why.
        Err(_) => Held::Built,
    }
}

fn judge(dialect: &Arc<Dialect>, cell: &Cell, gap: Option<&str>) -> Result<(), Failed> {
    let outcome = (cell.build)(dialect).and_then(|built| match built {
        Built::Probes(probes) if probes.is_empty() => Err("expected texts to read, got none".to_owned()),
        Built::Probes(probes) => probes.iter().try_for_each(|probe| probe.check(dialect)),
        Built::ByHand(_) => Ok(()),
    });
    match (outcome, gap) {
        (Ok(()), Some(reason)) => Err(format!("holds now; drop it from gaps.toml ({reason})").into()),
        (Err(_), Some(_)) => Ok(()),
        (outcome, None) => outcome.map_err(|error| format!("{}\n{error}", cell.about).into()),
    }
}

/// The cells that a dialect does not hold in yet, and why.
fn gaps(dialect: &Dialect) -> BTreeMap<String, String> {
    let path = reading::folder().join(dialect.name()).join("gaps.toml");
    let text = fs::read_to_string(&path).unwrap_or_default();
    toml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
