//! What the guide says of the language.

use std::collections::{BTreeMap, BTreeSet};

use del_dialects::Dialects;
use serde_json::Value;

use crate::{descriptions, places, tree, walk};

/// The guide for people who describe dialects.
fn guide() -> String {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/description.md");
    std::fs::read_to_string(path).unwrap()
}

#[test]
fn the_guide_knows_every_key() {
    let all = descriptions();
    let guide = guide();
    for (place, keys) in places(&all).keys() {
        for key in keys {
            let known = [format!("`{key}"), format!("{key}]"), format!("`[{key}")];
            assert!(
                known.iter().any(|known| guide.contains(known)),
                "the guide does not name `{key}` of {place}"
            );
        }
    }
}

/// What stands between backticks.
fn code(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

#[test]
fn the_index_of_the_guide_names_dialects_that_do_so() {
    let guide = guide();
    let (_, rest) = guide.split_once("## By question\n").unwrap();
    let (index, _) = rest.split_once("\n## ").unwrap();
    let rows = index.lines().filter(|line| line.starts_with("| ")).skip(2);
    let all: BTreeMap<&str, (&str, Value)> =
        Dialects::builtin().iter().map(|one| (one.name(), (one.text(), tree(one.text())))).collect();
    let mut tried = 0;
    for row in rows {
        let [question, uses, dialects] = row.trim_matches(['|', ' ']).split(" | ").collect::<Vec<_>>()[..]
        else {
            panic!("{row}");
        };
        assert!(code(dialects).next().is_some(), "{question}");
        for name in code(dialects) {
            let (text, tree) = all.get(name).unwrap_or_else(|| panic!("{question}: no dialect {name}"));
            let mut keys = BTreeSet::new();
            walk(tree, "", &mut |pointer, _| {
                keys.insert(pointer.rsplit('/').next().unwrap().to_owned());
            });
            for used in code(uses) {
                let key = used.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
                let does = if key { keys.contains(used) } else { text.contains(used) };
                assert!(does, "{question}: {name} does not use `{used}`");
                tried += 1;
            }
        }
    }
    assert!(tried > 80, "{tried}");
}
