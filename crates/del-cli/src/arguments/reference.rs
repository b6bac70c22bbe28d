//! The reference of the command line in `docs/cli.md` is what the program says of itself.
//!
//! With `UPDATE_README=1` it is written instead of compared.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use clap::{Arg, Command, CommandFactory};

use super::Cli;
use crate::meaning::{meaning, plain};

const BEGIN: &str = "<!-- commands: written by `UPDATE_README=1 cargo test -p del-cli reference` -->\n";
const END: &str = "<!-- end of commands -->";

fn document() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/cli.md")
}

/// How an argument is given.
fn spelling(arg: &Arg) -> String {
    let names = arg.get_value_names().unwrap_or_default();
    let names: Vec<String> = names.iter().map(|name| name.replace('|', "\\|")).collect();
    let mut value = names.join(" ");
    if arg.is_positional() {
        if arg.get_num_args().is_some_and(|count| count.max_values() > 1) {
            value.push('…');
        }
        return format!("`{value}`");
    }
    let long = arg.get_long().map(|long| format!("--{long}"));
    let mut words: Vec<String> =
        arg.get_short().map(|short| format!("-{short}")).into_iter().chain(long).collect();
    if arg.get_action().takes_values()
        && let Some(last) = words.last_mut()
    {
        write!(last, " {value}").unwrap();
    }
    words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
}

fn row(out: &mut String, arg: &Arg) {
    let (about, default) = meaning(arg);
    writeln!(out, "| {} | {about} | {default} |", spelling(arg)).unwrap();
}

fn table(out: &mut String, args: &[&Arg]) {
    if !args.is_empty() {
        out.push_str("\n| Option | Meaning | Default |\n| --- | --- | --- |\n");
    }
    for arg in args {
        row(out, arg);
    }
}

/// A command with all below it.
fn section(out: &mut String, command: &Command, path: &str, depth: usize) {
    let about = command.get_long_about().or(command.get_about()).map(ToString::to_string).unwrap_or_default();
    let paragraphs: Vec<String> = about.split("\n\n").map(|text| plain(text.trim())).collect();
    write!(out, "\n{} {path}\n\n{}\n", "#".repeat(depth), paragraphs.join("\n\n")).unwrap();
    let usage = command.clone().render_usage().to_string();
    write!(out, "\n```text\n{}\n```\n", usage.trim_start_matches("Usage: ")).unwrap();
    let own: Vec<&Arg> = command
        .get_arguments()
        .filter(|arg| !arg.is_hide_set() && !arg.is_global_set() && arg.get_id() != "help")
        .collect();
    table(out, &own);
    for below in command.get_subcommands().filter(|below| below.get_name() != "help" && !below.is_hide_set())
    {
        section(out, below, &format!("{path} {}", below.get_name()), (depth + 1).min(3));
    }
}

#[test]
fn the_reference_of_the_command_line_is_fresh() {
    let mut program = Cli::command();
    program.build();
    let mut fresh = String::from("\n## Every command\n");
    let global: Vec<&Arg> = program.get_arguments().filter(|arg| arg.is_global_set()).collect();
    table(&mut fresh, &global);
    section(&mut fresh, &program, "del", 2);
    let text = std::fs::read_to_string(document()).unwrap();
    let (before, rest) = text.split_once(BEGIN).unwrap();
    let (written, behind) = rest.split_once(END).unwrap();
    if std::env::var_os("UPDATE_README").is_some() {
        std::fs::write(document(), format!("{before}{BEGIN}{fresh}\n{END}{behind}")).unwrap();
    } else {
        assert!(
            written == format!("{fresh}\n"),
            "docs/cli.md is stale; write it anew with UPDATE_README=1 cargo test -p del-cli reference"
        );
    }
}

#[test]
fn the_exit_codes_of_the_reference_are_those_of_the_program() {
    let (_, codes) = include_str!("../exit.rs").split_once("enum Exit {").unwrap();
    let (codes, _) = codes.split_once('}').unwrap();
    let codes: BTreeSet<&str> =
        codes.lines().filter_map(|line| Some(line.split_once(" = ")?.1.trim_end_matches(','))).collect();
    let text = std::fs::read_to_string(document()).unwrap();
    let (_, rows) = text.split_once("| Code | Meaning |\n| --- | --- |\n").unwrap();
    let told = rows.lines().map_while(|line| Some(line.strip_prefix("| ")?.split_once(" | ")?.0));
    assert_eq!(told.collect::<BTreeSet<_>>(), codes);
}
