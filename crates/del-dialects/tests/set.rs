//! What holds of the built-in dialects as a set: that each is described, briefly, and tested; that their models do not
//! collide; and that no code knows one of them by name.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use del_dialects::{Collect, Dialect, Dialects, End, Turn};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The folders of `dialects`, with their names.
fn folders() -> Vec<(String, PathBuf)> {
    let entries = fs::read_dir(root().join("dialects")).unwrap().map(|entry| entry.unwrap().path());
    let named = |path: PathBuf| (path.file_name().unwrap().to_string_lossy().into_owned(), path);
    entries.filter(|path| path.is_dir()).map(named).collect()
}

#[test]
fn a_folder_is_a_description_and_its_cases() {
    let folders = folders();
    for (name, folder) in &folders {
        assert!(folder.join("dialect.toml").is_file(), "{name} has no description");
        assert!(Dialects::cases(name) > 0, "{name} has no cases");
        for entry in fs::read_dir(folder).unwrap() {
            let file = entry.unwrap().file_name().to_string_lossy().into_owned();
            let known = ["dialect.toml", "cases", "gaps.toml", "written.toml"].contains(&file.as_str());
            assert!(known, "{name} holds {file}, which nothing reads");
        }
        for entry in fs::read_dir(folder.join("cases")).unwrap() {
            let file = entry.unwrap().file_name().to_string_lossy().into_owned();
            let (number, slug) = file.split_once('-').unwrap_or((&file, ""));
            let numbered = number.len() == 2 && number.bytes().all(|byte| byte.is_ascii_digit());
            let named = slug.strip_suffix(".toml").is_some_and(|slug| !slug.is_empty());
            assert!(numbered && named, "{name}: expected NN-slug.toml, got {file}");
        }
    }
    assert_eq!(folders.len(), Dialects::builtin().iter().count(), "not every description is one");
}

#[test]
fn a_description_is_short() {
    let written = |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with('#');
    let mut lines: Vec<usize> =
        Dialects::builtin().iter().map(|dialect| dialect.text().lines().filter(written).count()).collect();
    lines.sort_unstable();
    let median = lines[lines.len() / 2];
    assert!(median < 40, "half of the descriptions have {median} lines or more");
}

#[test]
fn a_model_belongs_to_one_dialect() {
    let all = Dialects::builtin();
    let mut owners: BTreeMap<&str, &str> = BTreeMap::new();
    for dialect in all.iter() {
        for glob in dialect.models() {
            assert_eq!(*glob, glob.to_lowercase(), "{}: ids are compared in lower case", dialect.name());
            if let Some(other) = owners.insert(glob, dialect.name()) {
                panic!("{other} and {} both claim {glob}", dialect.name());
            }
            let example = glob.replace('*', "");
            assert!(example.len() > 2, "{}: {glob} fits almost anything", dialect.name());
            for id in [example.clone(), example.to_uppercase()] {
                let found = all.for_model(&id).map(|found| found.name());
                assert_eq!(found, Some(dialect.name()), "{glob} and its own example {id}");
            }
        }
    }
}

#[test]
fn every_description_is_one() {
    for dialect in Dialects::builtin().iter() {
        let read = Dialect::from_toml(dialect.name(), dialect.text()).unwrap();
        assert_eq!(read, **dialect, "what the build made of it is another");
    }
}

/// A description that says no more than it has to, and these aliases.
fn own(aliases: &str) -> String {
    format!(
        "title = \"Own\"\nsource = \"this test\"\n[call]\npieces = [{{ mark = \"%%\" }}, {{ head = \"{{name}}\" }}, \
         {{ mark = \":\" }}, {{ args = \"object\" }}]\n[aliases]\n{aliases}\n"
    )
}

#[test]
fn a_name_means_its_dialect_before_the_alias_of_another() {
    let taken = Dialects::builtin().iter().last().unwrap().name().to_owned();
    let first = own(&format!("vllm = [\"{taken}\", \"Both_Names\"]\nollama = \"other\""));
    let second = own("sglang = \"both-names\"");
    let all = Dialects::with([("a_first", first.as_str()), ("b-second", second.as_str())]).unwrap();
    let name = |name: &str| all.get(name).map(|dialect| dialect.name());
    for (asked, found) in [
        (taken.as_str(), Some(taken.as_str())),
        (&format!("vllm:{taken}"), Some("a_first")),
        (" A-First ", Some("a_first")),
        ("both-names", Some("a_first")),
        ("vllm:both_names", Some("a_first")),
        ("SGLang:BOTH_names", Some("b-second")),
        ("other", Some("a_first")),
        ("vllm:other", None),
        ("nobody:both-names", None),
        ("vllm:a_first", None),
        ("", None),
        (":", None),
    ] {
        assert_eq!(name(asked), found, "{asked:?}");
    }
}

#[test]
fn every_name_of_a_dialect_is_known() {
    let all = Dialects::builtin();
    for dialect in all.iter() {
        assert_eq!(all.get(&dialect.name().to_uppercase()).unwrap().name(), dialect.name());
        for (engine, alias) in
            dialect.aliases().iter().flat_map(|(engine, names)| names.iter().map(move |name| (engine, name)))
        {
            let found = all.get(&format!("{engine}:{alias}")).unwrap();
            let shared = |other: &&Arc<Dialect>| {
                other.aliases().get(engine).is_some_and(|names| names.contains(alias))
            };
            assert_eq!(found.name(), all.iter().find(shared).unwrap().name(), "{engine}:{alias}");
        }
    }
}

#[test]
fn a_dialect_that_nobody_holds_is_freed() {
    for known in Dialects::builtin().iter() {
        let dialect = Arc::new(Dialect::from_toml("own", known.text()).unwrap());
        let held = Arc::downgrade(&dialect);
        drop(dialect.parser(Turn::default()));
        drop(dialect);
        assert!(held.upgrade().is_none(), "{}", known.name());
    }
}

#[test]
fn no_code_knows_a_dialect_by_name() {
    let mut files = Vec::new();
    sources(&root().join("src"), &mut files);
    assert!(files.len() > 20, "expected the sources of this crate");
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        let code = text.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//"));
        for (number, line) in code {
            for name in Dialects::builtin().iter().map(|dialect| dialect.name()) {
                let literal = line.contains(&format!("\"{name}\""));
                assert!(!literal, "{}:{} names the dialect {name}", file.display(), number + 1);
            }
        }
    }
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

#[test]
fn a_mark_behind_a_name_may_be_made_of_its_characters() {
    for mark in ["@@", "@", "::", ":", "-->", "/#"] {
        let text = format!(
            r#"title = "Own"
family = "own"
models = []
source = "this test"
rank = 90

[call]
pieces = [{{ mark = "%%tool:" }}, {{ head = "{{name}}" }}, {{ mark = "{mark}" }}, {{ args = "object" }}, {{ mark = "%%end", need = "soft" }}]

[results]
role = "tool"

[detect]
all = ["%%tool:"]
"#
        );
        let dialect = Arc::new(Dialect::from_toml("own", &text).unwrap_or_else(|error| panic!("{error}")));
        for name in ["get_weather", "files.read-all"] {
            let answer = format!("I look.\n%%tool:{name}{mark}{{\"city\": \"Paris\"}}%%end");
            for size in [1, 3, answer.len()] {
                let mut parser = dialect.parser(Turn::default());
                let mut collected = Collect::new();
                for piece in answer.as_bytes().chunks(size) {
                    parser.push(std::str::from_utf8(piece).unwrap(), &mut collected);
                }
                parser.finish(End::End, &mut collected);
                let message = collected.into_message();
                let names: Vec<&str> = message.calls.iter().map(|call| call.name.as_str()).collect();
                assert_eq!(names, [name], "{mark} in pieces of {size}");
            }
        }
    }
}
