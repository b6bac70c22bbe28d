//! What the manifests of build tools say: name, dependencies, entry points, commands.

use serde_json::Value;

/// Dependencies that are named.
const MAX_NAMED: usize = 12;
/// Commands of one manifest that are named.
const MAX_COMMANDS: usize = 12;

/// What one manifest says.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Manifest {
    /// Name, version and dependencies, as far as they are told.
    pub(crate) about: String,
    /// What is run first: files, or names of programs.
    pub(crate) entries: Vec<String>,
    /// How to build, test and lint.
    pub(crate) commands: Vec<String>,
}

/// Files of which the name alone tells the commands.
const NAMED: [(&str, &[&str]); 10] = [
    ("pom.xml", &["mvn package", "mvn test"]),
    ("build.gradle", &["gradle build", "gradle test"]),
    ("build.gradle.kts", &["gradle build", "gradle test"]),
    ("CMakeLists.txt", &["cmake -B build && cmake --build build", "ctest --test-dir build"]),
    ("Gemfile", &["bundle install", "bundle exec rake"]),
    ("mix.exs", &["mix compile", "mix test"]),
    ("setup.py", &["pip install -e ."]),
    ("pytest.ini", &["python -m pytest"]),
    ("deno.json", &["deno task", "deno test"]),
    ("build.zig", &["zig build", "zig build test"]),
];

/// Reads the file `name` if it is a manifest.
pub(crate) fn read(name: &str, text: &str) -> Option<Manifest> {
    Some(match name {
        "Cargo.toml" => cargo(&toml::from_str(text).ok()?),
        "pyproject.toml" => pyproject(&toml::from_str(text).ok()?),
        "package.json" => package(&serde_json::from_str(text).ok()?),
        "composer.json" => composer(&serde_json::from_str(text).ok()?),
        "go.mod" => go(text),
        "Makefile" | "makefile" | "GNUmakefile" => targets(text, "make"),
        "justfile" | "Justfile" => targets(text, "just"),
        "requirements.txt" => Manifest { about: dependencies(requirements(text)), ..Manifest::default() },
        _ => {
            let (_, commands) = NAMED.iter().find(|(file, _)| *file == name)?;
            Manifest { commands: owned(commands), ..Manifest::default() }
        }
    })
}

fn cargo(value: &Value) -> Manifest {
    let package = &value["package"];
    let members = strings(&value["workspace"]["members"]);
    let mut about = titled(package);
    if !members.is_empty() {
        let joint = if about.is_empty() { "" } else { "; " };
        about = format!("{about}{joint}workspace of {}", named(members));
    }
    let bins = value["bin"].as_array().into_iter().flatten().filter_map(|bin| bin["name"].as_str());
    Manifest {
        about: joined(about, keys(&value["dependencies"])),
        entries: bins.map(str::to_owned).collect(),
        commands: owned(&["cargo build", "cargo test", "cargo clippy"]),
    }
}

fn pyproject(value: &Value) -> Manifest {
    let poetry = &value["tool"]["poetry"];
    let project = if value["project"].is_object() { &value["project"] } else { poetry };
    let listed = strings(&value["project"]["dependencies"]).into_iter().map(|line| requirement(&line));
    let names: Vec<_> = listed.chain(keys(&poetry["dependencies"])).filter(|name| name != "python").collect();
    let scripts = keys(&project["scripts"]);
    let tool = |name: &str| value["tool"][name].is_object();
    let mut commands = Vec::new();
    if tool("pytest") {
        commands.push("python -m pytest".to_owned());
    }
    if tool("ruff") {
        commands.push("ruff check".to_owned());
    }
    if tool("mypy") {
        commands.push("mypy .".to_owned());
    }
    Manifest { about: joined(titled(project), names), entries: scripts, commands }
}

fn package(value: &Value) -> Manifest {
    let names = keys(&value["dependencies"]).into_iter().chain(keys(&value["devDependencies"])).collect();
    let entries = [&value["main"], &value["module"], &value["bin"]].into_iter().filter_map(Value::as_str);
    let scripts = keys(&value["scripts"]).into_iter().map(|name| format!("npm run {name}"));
    Manifest {
        about: joined(titled(value), names),
        entries: entries.map(str::to_owned).chain(keys(&value["bin"])).collect(),
        commands: scripts.take(MAX_COMMANDS).collect(),
    }
}

fn composer(value: &Value) -> Manifest {
    let scripts = keys(&value["scripts"]).into_iter().map(|name| format!("composer {name}"));
    Manifest {
        about: joined(titled(value), keys(&value["require"])),
        entries: Vec::new(),
        commands: scripts.take(MAX_COMMANDS).collect(),
    }
}

fn go(text: &str) -> Manifest {
    let module = text.lines().find_map(|line| line.strip_prefix("module ")).unwrap_or_default();
    let required = text.lines().map(|line| line.trim().trim_start_matches("require ")).filter_map(|line| {
        let (path, version) = line.split_once(' ')?;
        let direct = version.starts_with('v') && !version.contains("// indirect");
        direct.then(|| path.to_owned())
    });
    Manifest {
        about: joined(module.trim().to_owned(), required.collect()),
        entries: Vec::new(),
        commands: owned(&["go build ./...", "go test ./...", "go vet ./..."]),
    }
}

fn targets(text: &str, program: &str) -> Manifest {
    let name = |line: &str| {
        let (head, rest) = line.split_once(':')?;
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        let word = !head.is_empty() && head.chars().all(plain) && !rest.starts_with('=');
        word.then(|| format!("{program} {head}"))
    };
    let mut commands: Vec<_> = text.lines().filter_map(name).collect();
    commands.dedup();
    commands.truncate(MAX_COMMANDS);
    Manifest { commands, ..Manifest::default() }
}

fn requirements(text: &str) -> Vec<String> {
    let lines = text.lines().map(str::trim).filter(|line| line.starts_with(|c: char| c.is_alphanumeric()));
    lines.map(requirement).collect()
}

/// The name in `name[extra]>=1.0`.
fn requirement(line: &str) -> String {
    line.chars().take_while(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | '.')).collect()
}

fn titled(value: &Value) -> String {
    let name = value["name"].as_str().unwrap_or_default();
    match value["version"].as_str() {
        Some(version) if !name.is_empty() => format!("{name} {version}"),
        _ => name.to_owned(),
    }
}

fn joined(about: String, names: Vec<String>) -> String {
    match (about.is_empty(), dependencies(names)) {
        (_, listed) if listed.is_empty() => about,
        (true, listed) => listed,
        (false, listed) => format!("{about}; {listed}"),
    }
}

fn dependencies(names: Vec<String>) -> String {
    if names.is_empty() { String::new() } else { format!("depends on {}", named(names)) }
}

fn named(mut names: Vec<String>) -> String {
    let more = names.len().saturating_sub(MAX_NAMED);
    names.truncate(MAX_NAMED);
    let names: Vec<_> = names.iter().map(|name| name.chars().take(60).collect::<String>()).collect();
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    names.join(", ") + &rest
}

fn keys(value: &Value) -> Vec<String> {
    value.as_object().map(|object| object.keys().cloned().collect()).unwrap_or_default()
}

fn strings(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

fn owned(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn manifests_tell_their_names_dependencies_and_commands() {
        let about = |name, text| read(name, text).unwrap().about;
        let cargo =
            "[package]\nname = \"a\"\nversion = \"1.0\"\n[dependencies]\nserde = \"1\"\nlog = \"0.4\"\n";
        assert_eq!(about("Cargo.toml", cargo), "a 1.0; depends on log, serde");
        let workspace = "[workspace]\nmembers = [\"crates/*\"]\n";
        assert_eq!(about("Cargo.toml", workspace), "workspace of crates/*");
        let python =
            "[project]\nname = \"b\"\ndependencies = [\"httpx[http2]>=0.2\", \"rich\"]\n[tool.ruff]\n";
        assert_eq!(about("pyproject.toml", python), "b; depends on httpx, rich");
        assert_eq!(read("pyproject.toml", python).unwrap().commands, ["ruff check"]);
        let module = "module example.com/x\n\nrequire (\n\ta.b/c v1.2.3\n\td.e/f v0.1.0 // indirect\n)\n";
        assert_eq!(about("go.mod", module), "example.com/x; depends on a.b/c");
        let node = r#"{"name": "c", "version": "2.0.0", "scripts": {"test": "x"}, "dependencies": {"left": "1"}, "main": "m.js"}"#;
        let node = read("package.json", node).unwrap();
        assert_eq!(node.about, "c 2.0.0; depends on left");
        assert_eq!((node.entries, node.commands), (vec!["m.js".to_owned()], vec!["npm run test".to_owned()]));
        let make = ".PHONY: all\nall: a b\nX := 1\nclean:\n\trm x\n%.o: %.c\n";
        assert_eq!(read("Makefile", make).unwrap().commands, ["make all", "make clean"]);
    }

    #[test]
    fn what_is_no_manifest_is_none_and_what_is_broken_says_nothing() {
        assert_eq!(read("notes.md", "module x"), None);
        assert_eq!(read("Cargo.toml", "[[["), None);
        assert_eq!(read("package.json", "[1]").unwrap(), Manifest::default());
    }
}
