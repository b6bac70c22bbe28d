//! Every folder in `tests/scenarios` is a test: a tree, a call, and what comes of it.
//!
//! - `before/`: the working directory. `dot_x` stands for `.x`; a `keep` file only keeps its directory.
//! - `call.json`: `{"tool", "arguments"}`, or a list of them; `"toolset"` and `"approval"` if not `core` and `yolo`.
//! - `expected.txt`: the texts that the model sees, with `---` between them. `T` stands for a duration.
//! - `after/`: the working directory afterwards; without it nothing may have changed.
//!
//! With `UPDATE_SCENARIOS=1` the last two are written instead of compared; read the difference before keeping it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use del_tools::{Approval, Control, Gate, ToolResult, Toolbox, Toolset};
use libtest_mimic::{Arguments, Failed, Trial};
use serde_json::Value;

fn main() -> std::io::Result<()> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scenarios");
    let mut trials = Vec::new();
    for entry in fs::read_dir(&folder)? {
        let entry = entry?;
        let path = entry.path();
        if path.is_dir() {
            let name = entry.file_name().to_string_lossy().into_owned();
            trials.push(Trial::test(name, move || scenario(&path)));
        }
    }
    assert!(trials.len() > 20, "the scenarios are not where they should be: {}", folder.display());
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}

fn scenario(folder: &Path) -> Result<(), Failed> {
    let directory = tempfile::tempdir()?;
    let before = folder.join("before");
    if before.is_dir() {
        copy(&before, directory.path())?;
    }
    let start = tree(directory.path())?;
    let call: Value = serde_json::from_str(&fs::read_to_string(folder.join("call.json"))?)?;
    let said = run(directory.path(), &call)?;
    let end = tree(directory.path())?;
    let (expected_file, after) = (folder.join("expected.txt"), folder.join("after"));
    if std::env::var_os("UPDATE_SCENARIOS").is_some() {
        fs::write(expected_file, said)?;
        if after.is_dir() {
            fs::remove_dir_all(&after)?;
        }
        return if start == end { Ok(()) } else { store(&end, &after) };
    }
    let expected = fs::read_to_string(expected_file)?;
    if expected != said {
        return Err(format!("the text differs\n--- expected\n{expected}\n--- said\n{said}").into());
    }
    let wanted = if after.is_dir() {
        let copied = tempfile::tempdir()?;
        copy(&after, copied.path())?;
        tree(copied.path())?
    } else {
        start
    };
    if wanted != end {
        return Err(
            format!("the tree differs\n--- expected\n{}\n--- is\n{}", shown(&wanted), shown(&end)).into()
        );
    }
    Ok(())
}

fn run(directory: &Path, call: &Value) -> Result<String, Failed> {
    let calls = call["calls"].as_array().cloned().unwrap_or_else(|| vec![call.clone()]);
    let toolset = call["toolset"].as_str().unwrap_or("core").parse::<Toolset>().map_err(|e| e.to_string())?;
    let toolbox = Toolbox::open(directory, &[], toolset)?;
    let approval = match call["approval"].as_str().unwrap_or("yolo") {
        "yolo" => Approval::Yolo,
        "ask" => Approval::Ask,
        "auto-edit" => Approval::AutoEdit,
        "plan" => Approval::Plan,
        other => return Err(format!("unknown approval {other}").into()),
    };
    let mut gate = Gate::new(approval);
    let mut texts = Vec::new();
    for call in calls {
        let name = call["tool"].as_str().ok_or("no tool")?;
        let arguments = match &call["arguments"] {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        let result = toolbox.plan(name, &arguments).and_then(|plan| {
            gate.pass(&plan, None)?;
            Ok(toolbox.run(plan, &Control::default()))
        });
        texts.push(result.unwrap_or_else(ToolResult::from).text);
    }
    let root = toolbox.directory().to_string_lossy().into_owned();
    let name = root.rsplit('/').next().unwrap_or_default();
    let text = texts.join("\n---\n").replace(&root, "$ROOT").replace(name, "$NAME");
    Ok(timeless(&text) + "\n")
}

/// `text` with every duration as `T`.
fn timeless(text: &str) -> String {
    let mut out = String::new();
    for line in text.split_inclusive('\n') {
        match line.split_once(" (exit code ").and_then(|(head, rest)| Some((head, rest.split_once(", ")?))) {
            Some((head @ ("Success" | "Failed"), (code, rest))) if rest.trim_end().ends_with(" s)") => {
                out.extend([head, " (exit code ", code, ", T s)\n"]);
            }
            _ => out.push_str(line),
        }
    }
    out
}

fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let name = name.strip_prefix("dot_").map_or(name.clone(), |rest| format!(".{rest}"));
        if entry.file_type()?.is_dir() {
            fs::create_dir(to.join(&name))?;
            copy(&entry.path(), &to.join(&name))?;
        } else if name != "keep" {
            fs::copy(entry.path(), to.join(&name))?;
        }
    }
    Ok(())
}

type Tree = BTreeMap<PathBuf, Option<Vec<u8>>>;

fn tree(root: &Path) -> std::io::Result<Tree> {
    let mut found = Tree::new();
    let mut pending = vec![root.to_owned()];
    while let Some(directory) = pending.pop() {
        for entry in fs::read_dir(directory)? {
            let path = entry?.path();
            let inner = path.strip_prefix(root).unwrap_or(&path).to_owned();
            if path.is_dir() {
                found.insert(inner, None);
                pending.push(path);
            } else {
                found.insert(inner, Some(fs::read(path)?));
            }
        }
    }
    Ok(found)
}

fn store(tree: &Tree, to: &Path) -> Result<(), Failed> {
    for (inner, content) in tree {
        let named = inner.iter().map(|name| {
            let name = name.to_string_lossy();
            name.strip_prefix('.').map_or(name.to_string(), |rest| format!("dot_{rest}"))
        });
        let path = to.join(named.collect::<PathBuf>());
        if let Some(content) = content {
            fs::create_dir_all(path.parent().unwrap_or(to))?;
            fs::write(path, content)?;
            continue;
        }
        fs::create_dir_all(&path)?;
        if !tree.keys().any(|other| other.parent() == Some(inner)) {
            fs::write(path.join("keep"), "")?;
        }
    }
    Ok(())
}

fn shown(tree: &Tree) -> String {
    let line = |(path, content): (&PathBuf, &Option<Vec<u8>>)| match content {
        Some(content) => format!("{}: {:?}", path.display(), String::from_utf8_lossy(content)),
        None => format!("{}/", path.display()),
    };
    tree.iter().map(line).collect::<Vec<_>>().join("\n")
}
