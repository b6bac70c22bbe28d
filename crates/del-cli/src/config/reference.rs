//! The keys in `docs/config.md` are those of the program.
//!
//! With `UPDATE_README=1` they are written instead of compared.

use std::fmt::Write;
use std::path::Path;

use super::key::KEYS;
use super::set_options;
use crate::assistant::Assistant;

const BEGIN: &str = "<!-- keys: written by `UPDATE_README=1 cargo test -p del-cli reference` -->\n";
const END: &str = "<!-- end of keys -->";

#[test]
fn the_keys_of_the_configuration_file_are_fresh() {
    set_options(Assistant::options);
    let mut fresh = String::from("| Key | Meaning | Default | Holds for |\n| --- | --- | --- | --- |\n");
    for key in &KEYS {
        let default = key.default().map(|value| format!("`{value}`")).unwrap_or_default();
        let holds = match (key.holds(&["models"]), key.holds(&["exec"])) {
            (_, true) => "every command that has the option",
            (true, false) => "`del`, `del -p`, `del acp`, `del models`, `del doctor`",
            (false, false) if matches!(key.name, "color" | "dialect_dir") => "every command",
            (false, false) if !key.holds(&["acp"]) => "`del`, `del -p`",
            (false, false) => "`del`, `del -p`, `del acp`",
        };
        let about = key.about();
        let about =
            about.split(" [default: ").next().unwrap_or_default().replace('|', "\\|").replace('<', "\\<");
        writeln!(fresh, "| `{} = {}` | {about} | {default} | {holds} |", key.name, key.example).unwrap();
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/config.md");
    let text = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = text.split_once(BEGIN).unwrap();
    let (written, behind) = rest.split_once(END).unwrap();
    if std::env::var_os("UPDATE_README").is_some() {
        std::fs::write(&path, format!("{before}{BEGIN}{fresh}{END}{behind}")).unwrap();
    } else {
        assert_eq!(written, fresh, "write it anew with UPDATE_README=1 cargo test -p del-cli reference");
    }
}
