//! A working directory with tools over it.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use del_tools::{Confinement, Control, Level, ToolResult, Toolbox, Toolset, UndoStore};
use serde_json::Value;
use tempfile::TempDir;

/// Two directories side by side: `project`, which the tools may touch, and `outside`, which they may not.
pub(crate) struct Desk {
    root: TempDir,
    pub(crate) toolbox: Toolbox,
}

impl Desk {
    pub(crate) fn new() -> Self {
        Self::with(Toolset::All)
    }

    pub(crate) fn with(toolset: Toolset) -> Self {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("project")).unwrap();
        fs::create_dir(root.path().join("outside")).unwrap();
        fs::write(root.path().join("outside/secret.txt"), "secret\n").unwrap();
        let toolbox = Toolbox::open(&root.path().join("project"), &[], toolset).unwrap();
        Self { root, toolbox }
    }

    /// A desk with a sandbox, as far as there is one here.
    pub(crate) fn confined(mut self) -> Self {
        self.toolbox.confine(&Confinement::default()).unwrap();
        self
    }

    /// Whether the sandbox keeps commands from writing.
    pub(crate) fn is_held(&self) -> bool {
        matches!(self.toolbox.sandbox().level(), Level::Partial | Level::Full)
    }

    /// Tools over a directory of somebody else's desk.
    pub(crate) fn over(directory: &Path) -> Self {
        let root = tempfile::tempdir().unwrap();
        let toolbox = Toolbox::open(directory, &[], Toolset::All).unwrap();
        Self { root, toolbox }
    }

    /// A desk whose changes can be undone.
    pub(crate) fn keeping() -> Self {
        let mut desk = Self::new();
        desk.toolbox.keep_undo(UndoStore::open(&desk.store()).unwrap());
        desk
    }

    /// Another toolbox over the same directory and the same store, as another process has it.
    pub(crate) fn another(&self) -> Toolbox {
        let mut toolbox = Toolbox::open(&self.work(), &[], Toolset::All).unwrap();
        toolbox.keep_undo(UndoStore::open(&self.store()).unwrap());
        toolbox
    }

    pub(crate) fn store(&self) -> PathBuf {
        self.root.path().join("state/undo")
    }

    pub(crate) fn work(&self) -> PathBuf {
        self.root.path().join("project")
    }

    pub(crate) fn outside(&self) -> PathBuf {
        self.root.path().join("outside")
    }

    pub(crate) fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.work().join(name)
    }

    pub(crate) fn put(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    pub(crate) fn get(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// All that stands in the working directory: directories with their modes, links and files with their contents.
    pub(crate) fn snapshot(&self) -> BTreeMap<PathBuf, String> {
        let mut found = BTreeMap::new();
        let mut pending = vec![self.work()];
        while let Some(folder) = pending.pop() {
            for entry in fs::read_dir(&folder).unwrap() {
                let entry = entry.unwrap();
                let (path, kind) = (entry.path(), entry.file_type().unwrap());
                let what = if kind.is_symlink() {
                    format!("link to {}", fs::read_link(&path).unwrap().display())
                } else if kind.is_dir() {
                    pending.push(path.clone());
                    format!("directory {:o}", entry.metadata().unwrap().permissions().mode())
                } else {
                    format!("{:?}", fs::read(&path).unwrap())
                };
                found.insert(path, what);
            }
        }
        found
    }

    /// Calls a tool with consent.
    pub(crate) fn call(&self, tool: &str, arguments: &Value) -> ToolResult {
        self.watched(tool, arguments, &Control::default())
    }

    pub(crate) fn watched(&self, tool: &str, arguments: &Value, control: &Control<'_>) -> ToolResult {
        match self.toolbox.plan(tool, &arguments.to_string()) {
            Ok(plan) => self.toolbox.run(plan, control),
            Err(failure) => failure.into(),
        }
    }

    /// Calls a tool that must succeed.
    pub(crate) fn ok(&self, tool: &str, arguments: &Value) -> String {
        let result = self.call(tool, arguments);
        assert!(result.ok, "{tool} {arguments}: {}", result.text);
        result.text
    }

    /// Calls a tool that must fail with this code.
    pub(crate) fn fails(&self, tool: &str, arguments: &Value, code: &str) -> String {
        let result = self.call(tool, arguments);
        assert!(!result.ok, "{tool} {arguments} succeeded: {}", result.text);
        assert_eq!(result.data.unwrap()["code"], code, "{}", result.text);
        result.text
    }
}
