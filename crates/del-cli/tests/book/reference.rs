//! The pages of reference name what is in the code, and nothing else.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;

use super::root;

const BEGIN: &str = "<!-- faults: written by `UPDATE_README=1 cargo test -p del-cli --test book` -->\n";
const END: &str = "<!-- end of faults -->";

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap()
}

/// All files of Rust below a folder of the sources, one behind the other.
fn sources(folder: &str) -> String {
    let mut folders = vec![root().join(folder)];
    let mut text = String::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                text.push_str(&fs::read_to_string(path).unwrap());
            }
        }
    }
    text
}

/// What stands behind each `before`, up to `end`.
fn behind<'t>(text: &'t str, before: &str, end: char) -> BTreeSet<&'t str> {
    text.split(before).skip(1).map(|rest| rest.split(end).next().unwrap()).collect()
}

/// The cells of a column of the table below a heading, without their backticks.
fn cells<'t>(page: &'t str, heading: &str, column: usize) -> Vec<&'t str> {
    let (_, section) = page.split_once(&format!("\n## {heading}\n")).unwrap();
    let section = section.split("\n## ").next().unwrap();
    let rows = section.lines().filter_map(|line| line.strip_prefix("| ")).skip(2);
    rows.map(|row| row.split(" | ").nth(column).unwrap().trim_matches('`')).collect()
}

#[test]
fn the_endpoints_are_those_of_the_proxy() {
    let page = read("docs/http.md");
    let told: BTreeSet<&str> =
        cells(&page, "Endpoints", 0).into_iter().map(|cell| cell.split_once(' ').unwrap().1).collect();
    let paths = read("crates/del-proxy/src/paths.rs");
    let mut served = behind(&paths, ".route(\"", '"');
    let (_, answers) = paths.split_once("const ANSWERS").unwrap();
    served.extend(behind(answers.split("];").next().unwrap(), "(\"", '"'));
    served.insert("/");
    assert_eq!(told, served);
}

#[test]
fn the_headers_are_those_of_the_proxy() {
    let page = read("docs/http.md");
    let told: BTreeSet<&str> = cells(&page, "Headers of answers", 0).into_iter().collect();
    let source = sources("crates/del-proxy/src");
    let known = behind(&source, "\"x-del-", '"').into_iter().map(|name| format!("x-del-{name}"));
    let mut known: BTreeSet<String> = known.collect();
    known.extend(["x-request-id", "request-id"].map(str::to_owned));
    assert_eq!(told, known.iter().map(String::as_str).collect());
}

#[test]
fn the_events_are_those_of_the_code() {
    let page = read("docs/events.md");
    let events = read("crates/del-wire/src/events.rs");
    let (events, _) = events.split_once("#[cfg(test)]").unwrap();
    let told: BTreeSet<&str> = cells(&page, "Events", 1).into_iter().collect();
    assert_eq!(told, behind(events, "\"type\": \"", '"'));
    let told: BTreeSet<&str> = cells(&page, "Events of a run", 0).into_iter().collect();
    let run =
        ["crates/del-cli/src/screen/events.rs", "crates/del-cli/src/command/task.rs"].map(read).concat();
    assert_eq!(told, behind(&run, "\"type\": \"", '"'));
}

/// The table of faults, from what their declaration says.
fn faults(source: &str) -> String {
    let part = |from: &str| source.split_once(from).unwrap().1.split("\n    }\n").next().unwrap();
    let is = |function: &str, name: &str| {
        if behind(part(function), "Self::", ' ').iter().any(|one| one.trim_end_matches(')') == name) {
            "yes"
        } else {
            ""
        }
    };
    let (_, kinds) = source.split_once("pub enum FaultKind {\n").unwrap();
    let (kinds, _) = kinds.split_once("\n}\n").unwrap();
    let names = part("fn as_str(");
    let mut table =
        String::from("| Kind | Means | Changes arguments | No call |\n| --- | --- | --- | --- |\n");
    let mut about = String::new();
    for line in kinds.lines().map(str::trim) {
        if let Some(text) = line.strip_prefix("/// ") {
            about = [about.as_str(), text].join(" ");
            continue;
        }
        let kind = line.trim_end_matches(',');
        let name = names.split_once(&format!("Self::{kind} => \"")).unwrap().1.split('"').next().unwrap();
        let about = std::mem::take(&mut about).replace("[`Limits`](crate::Limits)", "the limits");
        let (changes, ends) = (is("fn changes_arguments(", kind), is("fn ends_call(", kind));
        writeln!(table, "| `{name}` | {} | {changes} | {ends} |", about.trim()).unwrap();
    }
    table
}

#[test]
fn the_table_of_faults_is_fresh() {
    let fresh = faults(&read("crates/del-dialects/src/fault.rs"));
    let page = read("docs/events.md");
    let (before, rest) = page.split_once(BEGIN).unwrap();
    let (table, behind) = rest.split_once(END).unwrap();
    if std::env::var_os("UPDATE_README").is_some() {
        fs::write(root().join("docs/events.md"), format!("{before}{BEGIN}{fresh}{END}{behind}")).unwrap();
    } else {
        assert_eq!(table, fresh, "write it anew with UPDATE_README=1 cargo test -p del-cli --test book");
    }
}

#[test]
fn the_files_of_the_glossary_are_there() {
    let page = read("docs/glossary.md");
    let rows: Vec<&str> = page.lines().filter(|line| line.ends_with("` |")).collect();
    assert!(rows.len() > 40, "{}", rows.len());
    for row in rows {
        let file = row.trim_end_matches("` |").rsplit('`').next().unwrap();
        let known =
            root().join("crates/del-dialects/src").join(file).is_file() || root().join(file).is_file();
        assert!(known, "no file {file}");
    }
}
