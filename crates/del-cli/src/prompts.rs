//! Markdown files with words for the model: commands that the user types, and skills that the model reads when it needs them.

mod front;

use std::path::{Path, PathBuf};

use del_dialects::{Dialects, Tool};
use serde_json::json;

use crate::folders;

/// One file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Prompt {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    pub(crate) description: String,
    /// What stands behind the name.
    pub(crate) hint: String,
    /// The only tools that may be called for it, as they stand there.
    pub(crate) tools: Option<Vec<String>>,
    pub(crate) path: PathBuf,
    body: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Command,
    Skill,
}

/// A file has no words for the model.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("/{name} asks nothing: expected words for the model in {}, got none", path.display())]
pub(crate) struct Empty {
    name: String,
    path: PathBuf,
}

/// What the tool is called with which the model reads a skill.
pub(crate) const SKILL: &str = "skill";
/// Folders in folders, for commands.
const DEPTH: usize = 4;
/// Files of one folder.
const MOST: usize = 200;
const LONGEST: u64 = 256 * 1024;

impl Prompt {
    /// The file `path` with this content; `name` is from its place.
    pub(crate) fn parse(name: String, kind: Kind, path: &Path, text: &str) -> Self {
        let (front, body) = front::split(text);
        let get = |key: &str| front.iter().find(|(known, _)| known == key).map(|(_, value)| value.as_str());
        let first =
            || body.lines().map(|line| line.trim_start_matches('#').trim()).find(|line| !line.is_empty());
        let description = get("description").filter(|text| !text.is_empty()).or_else(first);
        Self {
            name,
            kind,
            description: description.unwrap_or_default().to_owned(),
            hint: get("argument-hint").unwrap_or_default().to_owned(),
            tools: get("allowed-tools").map(front::list),
            path: path.to_owned(),
            body: body.trim().to_owned(),
        }
    }

    /// The words for the model, with what the user typed behind the name put in.
    pub(crate) fn filled(&self, arguments: &str) -> Result<String, Empty> {
        let text = self.put_in(arguments);
        if text.trim().is_empty() {
            return Err(Empty { name: self.name.clone(), path: self.path.clone() });
        }
        Ok(text)
    }

    fn put_in(&self, arguments: &str) -> String {
        let words = shlex::split(arguments)
            .unwrap_or_else(|| arguments.split_whitespace().map(str::to_owned).collect());
        let (mut text, mut rest, mut used) = (String::new(), self.body.as_str(), false);
        while let Some(at) = rest.find('$') {
            text.push_str(&rest[..at]);
            rest = &rest[at + 1..];
            let digit = rest.chars().next().and_then(|c| c.to_digit(10)).filter(|digit| *digit > 0);
            if let Some(behind) = rest.strip_prefix("ARGUMENTS") {
                (used, rest) = (true, behind);
                text.push_str(arguments);
            } else if let Some(digit) = digit {
                (used, rest) = (true, &rest[1..]);
                text.push_str(words.get(digit as usize - 1).map_or("", String::as_str));
            } else {
                text.push('$');
            }
        }
        text.push_str(rest);
        if !used && !arguments.is_empty() {
            text.push_str("\n\n");
            text.push_str(arguments);
        }
        text
    }

    /// The words of a skill, and where its other files are.
    pub(crate) fn whole(&self) -> String {
        let folder = self.path.parent().unwrap_or(Path::new("."));
        format!("{}\n\n[files that it names are in {}]", self.body, folder.display())
    }
}

/// The prompt that a line `/NAME …` names, and what stands behind the name.
pub(crate) fn named<'p, 'l>(prompts: &'p [Prompt], line: &'l str) -> Option<(&'p Prompt, &'l str)> {
    let line = line.trim().strip_prefix('/')?;
    let (name, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    Some((prompts.iter().find(|prompt| prompt.name == name)?, rest.trim()))
}

/// The user's own.
pub(crate) fn own() -> Vec<Prompt> {
    let Some(folder) = folders::configuration() else { return Vec::new() };
    let files = in_folder(&folder);
    let read = |(name, kind, path): (String, Kind, PathBuf)| {
        let text = String::from_utf8_lossy(&std::fs::read(&path).ok()?).into_owned();
        Some(Prompt::parse(name, kind, &path, &text))
    };
    files.into_iter().filter_map(read).collect()
}

/// Adds those whose names are free: what comes first stays.
pub(crate) fn add(prompts: &mut Vec<Prompt>, more: impl IntoIterator<Item = Prompt>) {
    for prompt in more {
        if prompts.iter().all(|known| known.name != prompt.name) {
            prompts.push(prompt);
        }
    }
}

/// The files in `commands` and `skills` of a folder, by name. Links are not followed.
pub(crate) fn in_folder(folder: &Path) -> Vec<(String, Kind, PathBuf)> {
    let mut found = Vec::new();
    commands(&folder.join("commands"), "", DEPTH, &mut found);
    for (name, path) in entries(&folder.join("skills")) {
        let file = path.join("SKILL.md");
        if is_file(&file) {
            found.push((name, Kind::Skill, file));
        }
    }
    found.truncate(MOST);
    found
}

fn commands(folder: &Path, before: &str, depth: usize, found: &mut Vec<(String, Kind, PathBuf)>) {
    for (name, path) in entries(folder) {
        if let Some(stem) = name.strip_suffix(".md").filter(|stem| !stem.is_empty()) {
            if is_file(&path) {
                found.push((format!("{before}{stem}"), Kind::Command, path));
            }
        } else if depth > 1 && path.symlink_metadata().is_ok_and(|metadata| metadata.is_dir()) {
            commands(&path, &format!("{before}{name}:"), depth - 1, found);
        }
    }
}

/// What is in a folder, in order; only names that can be typed and shown as they are.
fn entries(folder: &Path) -> Vec<(String, PathBuf)> {
    let plain = |name: &String| name.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | '.'));
    let read = std::fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    let mut entries: Vec<(String, PathBuf)> = read
        .filter_map(|entry| Some((entry.file_name().into_string().ok().filter(plain)?, entry.path())))
        .collect();
    entries.sort();
    entries.truncate(MOST);
    entries
}

fn is_file(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|metadata| metadata.is_file() && metadata.len() <= LONGEST)
}

/// The definition of the tool that reads a skill.
pub(crate) fn tool() -> Tool {
    Tool {
        name: SKILL.into(),
        description:
            "Reads a skill: instructions for one kind of task. Read it before you begin with such a task."
                .into(),
        parameters: json!({
            "type": "object",
            "properties": {"name": {"type": "string", "description": "the skill's name"}},
            "required": ["name"]
        })
        .into(),
    }
}

/// What the model is told of the skills that there are, a line each.
pub(crate) fn introduce(prompts: &[Prompt]) -> String {
    let mut text = String::new();
    for skill in prompts.iter().filter(|prompt| prompt.kind == Kind::Skill) {
        let line = format!("- {}: {}", skill.name, skill.description.replace('\n', " "));
        text.push('\n');
        text.push_str(&Dialects::builtin().neutralise(&line));
    }
    if text.is_empty() { text } else { format!("Skills, which the tool `{SKILL}` reads:{text}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prompt(text: &str) -> Prompt {
        Prompt::parse("x".to_owned(), Kind::Command, Path::new("/p/x.md"), text)
    }

    #[test]
    fn a_file_says_what_it_is_for_and_what_may_be_called() {
        let read = prompt(
            "---\ndescription: \"Looks: twice\"\nargument-hint: [FILE]\nallowed-tools: Bash(git diff:*), Read\nmodel: x\n---\n# Look\n\nat $1\n",
        );
        assert_eq!((read.description.as_str(), read.hint.as_str()), ("Looks: twice", "[FILE]"));
        assert_eq!(read.tools.as_deref(), Some(&["Bash".to_owned(), "Read".to_owned()][..]));
        let plain = prompt("\n# Do it\nnow");
        assert_eq!((plain.description.as_str(), plain.tools), ("Do it", None));
        assert_eq!(
            prompt("---\nallowed-tools:\n  - Read\n  - Grep\n---\nx").tools.unwrap(),
            ["Read", "Grep"]
        );
        // Without an end it is no head.
        assert_eq!(prompt("---\na: b").filled("").unwrap(), "---\na: b");
    }

    #[test]
    fn what_is_typed_is_put_in_and_nothing_else_is_read_in_it() {
        for (body, arguments, filled) in [
            ("fix $1 in $2.", "bug 'a b.rs'", "fix bug in a b.rs."),
            ("fix $ARGUMENTS", "$1 twice", "fix $1 twice"),
            ("fix it", "now", "fix it\n\nnow"),
            ("costs $5 and $x", "", "costs  and $x"),
            ("an $3 end", "one", "an  end"),
            ("it's $1", "don't", "it's don't"),
        ] {
            assert_eq!(prompt(body).filled(arguments).unwrap(), filled);
        }
        for body in ["", "---\ndescription: x\n---\n", "$1"] {
            assert!(prompt(body).filled("").is_err(), "{body:?}");
        }
        assert_eq!(prompt("$1").filled("go").unwrap(), "go");
    }

    #[test]
    fn folders_are_read_in_order_and_links_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let write = |path: &str| {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "x").unwrap();
        };
        for path in
            ["commands/b.md", "commands/a/c.md", "commands/x.txt", "skills/s/SKILL.md", "skills/none/x.md"]
        {
            write(path);
        }
        std::os::unix::fs::symlink("/etc/passwd", folder.path().join("commands/link.md")).unwrap();
        let found: Vec<String> = in_folder(folder.path()).into_iter().map(|(name, ..)| name).collect();
        assert_eq!(found, ["a:c", "b", "s"]);
    }
}
