//! Replays Del's cases through the parsers of other engines, and says who reads what the case expects.
//!
//! `peers [--strict] [--python PATH] [DIALECT…]`; see the README beside it.

mod case;
mod differences;
mod dynamo;
mod dynamo_v2;
mod peer;
mod python;
mod smg;
mod table;

use std::process::ExitCode;
use std::{env, panic};

use crate::peer::{Mode, Peer};
use crate::table::Table;

/// What may go wrong here; it is shown, and that is all.
pub(crate) type Fail = Box<dyn std::error::Error>;

fn main() -> ExitCode {
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("peers: {error}");
            ExitCode::FAILURE
        }
    }
}

/// True when the list of differences holds.
fn run() -> Result<bool, Fail> {
    let (mut strict, mut python, mut dialects) = (false, None, Vec::new());
    let mut arguments = env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--strict" => strict = true,
            "--python" => python = Some(arguments.next().ok_or("expected a path behind --python, got none")?),
            flag if flag.starts_with('-') => return Err(format!("expected a dialect, got {flag}").into()),
            _ => dialects.push(argument),
        }
    }
    // A peer that panics has not read the text; that is all that matters of it.
    panic::set_hook(Box::new(|_| {}));

    let cases = case::load(&dialects)?;
    let mut listed = differences::load()?;
    let mut peers = Peer::all(python.as_deref())?;
    let names: Vec<&'static str> = peers.iter().map(|peer| peer.name).collect();
    let mut table = Table::new(&names);
    let mut unlisted = Vec::new();
    for case in &cases {
        for peer in &mut peers {
            for mode in [Mode::Batch, Mode::Stream] {
                let Some(reading) = peer.read(case, mode) else { continue };
                let right = reading.as_ref().is_ok_and(|calls| case::same(calls, &case.calls));
                table.add(&case.dialect, peer.name, mode, right);
                if right || differences::covered(&mut listed, &case.name, peer.name) {
                    continue;
                }
                unlisted.push(format!("- {} {mode:?} {}: {}", peer.name, case.name, table::told(&reading)));
            }
        }
    }
    print!("{table}");
    let stale: Vec<String> = match dialects.is_empty() {
        true => listed.iter().flat_map(|entry| entry.stale(&names)).collect(),
        false => Vec::new(),
    };
    table::section("Listed, but no longer different", stale.iter().map(|entry| format!("- {entry}")));
    table::section("Different, but not listed", unlisted.iter().cloned());
    Ok(stale.is_empty() && (unlisted.is_empty() || !strict))
}
