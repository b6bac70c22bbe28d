//! What the documents show is what the code does: the table of dialects, and the examples.
//!
//! With `UPDATE_README=1` the table is written instead of compared.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::{env, fs};

use del_dialects::{Call, Collect, Dialect, Dialects, End, Message, Turn};

#[path = "readme/tables.rs"]
mod tables;

const BEGIN: &str = "<!-- dialects: written by `UPDATE_README=1 cargo test -p del-cli --test readme` -->\n";
const END: &str = "<!-- end of dialects -->";

mod example {
    include!("readme/example.rs");

    #[test]
    fn the_example_of_the_library_runs() {
        main();
        let source = include_str!("readme/example.rs");
        assert_eq!(super::block("README.md", "```rust\n"), source);
    }
}

#[test]
fn the_table_of_dialects_is_fresh() {
    let (path, fresh) = (document("docs/dialects.md"), tables::long(Dialects::builtin()));
    let text = fs::read_to_string(&path).unwrap();
    let (before, rest) = text.split_once(BEGIN).unwrap();
    let (table, behind) = rest.split_once(END).unwrap();
    if env::var_os("UPDATE_README").is_some() {
        return fs::write(&path, format!("{before}{BEGIN}{fresh}{END}{behind}")).unwrap();
    }
    assert!(
        table == fresh,
        "the table of dialects in {} is stale; write it anew with\n  \
         UPDATE_README=1 cargo test -p del-cli --test readme\n--- expected\n{fresh}--- got\n{table}",
        path.display()
    );
}

#[test]
fn del_parse_prints_what_the_readme_shows() {
    let written = block("README.md", "```text\n");
    assert!(written.ends_with('\n'), "as a file ends");
    let folder = tempfile::tempdir().unwrap();
    let answer = folder.path().join("answer.txt");
    fs::write(&answer, &written).unwrap();
    let del = |file: &[&Path], input: &str| {
        let mut del = Command::new(env!("CARGO_BIN_EXE_del"))
            .args(["parse", "--events"])
            .args(file)
            .env("XDG_CONFIG_HOME", "/nonexistent")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        // With a file it may end before it has read anything.
        let _ = del.stdin.take().unwrap().write_all(input.as_bytes());
        String::from_utf8(del.wait_with_output().unwrap().stdout).unwrap()
    };
    let shown = block("README.md", "```json\n");
    assert_eq!(shown, del(&[&answer], ""));
    assert_eq!(shown, del(&[], written.trim_end()));
}

#[test]
fn the_dialect_of_the_guide_is_one() {
    let dialect = Dialect::from_toml("my-model", &block("docs/description.md", "```toml\n")).unwrap();
    let call = Call { id: None, name: "get_weather".into(), arguments: r#"{"city": "Paris"}"#.into() };
    let dialect = Arc::new(dialect);
    let text = dialect.render_calls(std::slice::from_ref(&call), &[]).unwrap();
    assert_eq!(text, block("docs/description.md", "```text\n").trim_end());
    assert_eq!(read(&dialect, &text).calls, [call]);
}

fn document(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name)
}

/// The first block of a document that opens with `fence`.
fn block(name: &str, fence: &str) -> String {
    let text = fs::read_to_string(document(name)).unwrap();
    let (_, rest) = text.split_once(fence).unwrap();
    rest.split_once("```").unwrap().0.to_owned()
}

fn read(dialect: &Arc<Dialect>, text: &str) -> Message {
    let mut answer = Collect::new();
    let mut parser = dialect.parser(Turn::default());
    parser.push(text, &mut answer);
    parser.finish(End::End, &mut answer);
    answer.into_message()
}
