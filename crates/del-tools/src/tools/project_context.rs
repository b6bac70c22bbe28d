//! `project_context`: what a project is, on one page.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::Read;

use del_code::{Kind, Language};
use serde_json::json;

use crate::arguments::{Arguments, DEPTH, PATH};
use crate::class::Class;
use crate::code;
use crate::context::Context;
use crate::control::Control;
use crate::job::{Entry, Job, Prepared};
use crate::outcome::{Failure, ToolResult, counted};
use crate::project::manifest::{self, Manifest};
use crate::project::{repository, tree};
use crate::question::Question;
use crate::survey::{MAX_FILE, survey};
use crate::text;
use crate::text::on_one_line;
use crate::workspace::{Access, Obstacle, Place};

/// Bytes of the page.
const MAX_PAGE: usize = 8 * 1024;
/// Bytes of one section of it, but the last.
const MAX_SECTION: usize = 2 * 1024;
/// Characters of a line.
const MAX_LINE: usize = 160;
const DEFAULT_DEPTH: u64 = 2;
const LANGUAGES: usize = 8;
const MANIFESTS: usize = 12;
/// Manifests lie at most this deep.
const MANIFEST_DEPTH: usize = 3;
const README_LINES: usize = 20;
const ENTRIES: usize = 12;

/// Files that a program begins with.
const BEGINNINGS: [&str; 14] = [
    "main.rs",
    "lib.rs",
    "main.py",
    "__main__.py",
    "app.py",
    "manage.py",
    "index.js",
    "index.ts",
    "main.ts",
    "server.js",
    "main.go",
    "Main.java",
    "main.c",
    "main.cpp",
];
/// Files with instructions for models.
const INSTRUCTIONS: [&str; 9] = [
    "AGENTS.md",
    "CLAUDE.md",
    "GEMINI.md",
    "DEL.md",
    ".cursorrules",
    ".windsurfrules",
    "copilot-instructions.md",
    "CONTRIBUTING.md",
    "DESIGN.md",
];

pub(crate) static TOOL: Entry = Entry {
    name: "project_context",
    aliases: &["projectinfo", "projectoverview", "overview", "getprojectcontext"],
    class: Class::Read,
    parameters: &[&PATH, &DEPTH],
    definition: include_str!("../../schemas/engine/project_context.json"),
    core: None,
    del: true,
    prepare,
};

struct ProjectContext {
    place: Place,
    depth: usize,
}

fn prepare(mut arguments: Arguments, context: &Context) -> Prepared {
    let path = arguments.path();
    let place = context.existing(&path, Access::Read)?;
    if !context.workspace.metadata(&place).is_ok_and(|metadata| metadata.is_dir()) {
        return Err(context.failure(&Obstacle::NotDirectory, &place));
    }
    let depth = arguments.number(&DEPTH).unwrap_or(DEFAULT_DEPTH);
    Ok(Box::new(ProjectContext { place, depth: usize::try_from(depth).unwrap_or(usize::MAX) }))
}

impl Job for ProjectContext {
    fn class(&self) -> Class {
        Class::Read
    }

    fn question(&self, _: &Context) -> Result<Question, Failure> {
        Ok(Question::read(TOOL.name, &self.place.shown))
    }

    fn run(self: Box<Self>, context: &Context, control: &Control<'_>) -> Result<ToolResult, Failure> {
        let paths = RefCell::new(Vec::new());
        let own = self.place.prefix();
        let see = |path: &str| {
            paths.borrow_mut().push(path.strip_prefix(&own).unwrap_or(path).to_owned());
            true
        };
        let surveyed = survey(context, control, &self.place, &see, &|file| {
            let language = Language::of_file(file.path, file.text);
            let kind = code::kind(file.path, file.text, language)?;
            let name = language.map_or_else(|| Kind::name(kind), |language| language.name());
            Some((name, kind.count(file.text).code))
        })?;
        let mut languages: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
        for (_, (name, code)) in &surveyed.found {
            let sum = languages.entry(name).or_default();
            sum.0 += 1;
            sum.1 += code;
        }
        let paths = paths.into_inner();
        let found = Project { paths: &paths, own: &own, context };
        let manifests = found.manifests();
        let mut page = Page::default();
        page.section(&found.head(control));
        page.section(&spoken(languages));
        page.section(&about(&manifests));
        page.section(&found.entries(&manifests));
        page.section(&commands(&manifests));
        page.section(&found.instructions());
        page.section(&found.environment());
        page.section(&found.readme());
        page.rest(&found.tree(self.depth));
        let mut result = ToolResult::success(page.text);
        for note in surveyed.notes() {
            result.note(&note);
        }
        let data = json!({"files": paths.len(), "manifests": manifests.len()});
        Ok(result.with_data(data).shortened(page.cut || surveyed.is_cut()))
    }
}

/// The page, and whether something did not fit.
#[derive(Default)]
struct Page {
    text: String,
    cut: bool,
}

impl Page {
    /// Adds lines up to the size of a section.
    fn section(&mut self, lines: &[String]) {
        self.add(lines, MAX_SECTION);
    }

    /// Adds lines up to the end of the page.
    fn rest(&mut self, lines: &[String]) {
        self.add(lines, MAX_PAGE);
    }

    fn add(&mut self, lines: &[String], most: usize) {
        // The mark of what was cut off has to fit as well.
        let room = most.min(MAX_PAGE.saturating_sub(self.text.len() + 16));
        let mut used = 0;
        for line in lines {
            let line = shortened(line);
            if used + line.len() + 1 > room {
                self.cut = true;
                self.text.push_str("\n  …");
                return;
            }
            if !self.text.is_empty() {
                self.text.push('\n');
            }
            used += line.len() + 1;
            self.text.push_str(&line);
        }
    }
}

fn shortened(line: &str) -> String {
    let line = on_one_line(line.trim_end());
    match line.char_indices().nth(MAX_LINE) {
        Some((cut, _)) => format!("{}…", &line[..cut]),
        None => line,
    }
}

/// Lines under a heading; none without lines.
fn headed(heading: &str, lines: Vec<String>) -> Vec<String> {
    if lines.is_empty() {
        return lines;
    }
    std::iter::once(heading.to_owned()).chain(lines.into_iter().map(|line| format!("  {line}"))).collect()
}

/// What is there to be described.
struct Project<'a> {
    /// The files, from the place that is described.
    paths: &'a [String],
    /// That place, with a slash behind it.
    own: &'a str,
    context: &'a Context,
}

impl Project<'_> {
    fn head(&self, control: &Control<'_>) -> Vec<String> {
        let root = self.context.workspace.root();
        let name = root.file_name().map_or_else(|| "/".into(), |name| name.to_string_lossy());
        let own = self.own.trim_end_matches('/');
        let name = if own.is_empty() { name.into_owned() } else { format!("{name}/{own}") };
        let mut lines = vec![format!("Project: {name} ({})", counted(self.paths.len(), "file"))];
        if let Some(repository) = repository::read(self.context, control) {
            let state = match repository.changed {
                0 => "clean".to_owned(),
                n => format!("{} changed", counted(n, "file")),
            };
            lines.push(format!("Git: {}, {state}", repository.branch));
            lines.extend(repository.commits.iter().map(|commit| format!("  {commit}")));
        }
        lines
    }

    fn manifests(&self) -> Vec<(&str, Manifest)> {
        let near = self.paths.iter().filter(|path| path.split('/').count() <= MANIFEST_DEPTH);
        let mut near: Vec<_> = near.collect();
        near.sort_by_key(|path| (path.split('/').count(), path.as_str()));
        let read = |path: &'_ &String| manifest::read(name(path), &self.content(path)?);
        near.into_iter().filter_map(|path| Some((path.as_str(), read(&path)?))).take(MANIFESTS).collect()
    }

    fn entries(&self, manifests: &[(&str, Manifest)]) -> Vec<String> {
        let told = manifests.iter().flat_map(|(path, manifest)| {
            manifest.entries.iter().map(move |entry| format!("{entry} ({path})"))
        });
        let mut seen: Vec<_> = self.paths.iter().filter(|path| BEGINNINGS.contains(&name(path))).collect();
        seen.sort_by_key(|path| (path.split('/').count(), path.as_str()));
        let entries = told.chain(seen.into_iter().cloned()).take(ENTRIES).collect();
        headed("Entry points:", entries)
    }

    fn instructions(&self) -> Vec<String> {
        let found: Vec<_> = self
            .paths
            .iter()
            .filter(|path| INSTRUCTIONS.contains(&name(path)))
            .take(ENTRIES)
            .cloned()
            .collect();
        if found.is_empty() { Vec::new() } else { vec![format!("Instructions: {}", found.join(", "))] }
    }

    /// The names in environment files; their values are nobody's business.
    fn environment(&self) -> Vec<String> {
        let is = |path: &&String| name(path).starts_with(".env") && path.split('/').count() <= MANIFEST_DEPTH;
        let listed = self.paths.iter().filter(is).filter_map(|path| {
            let text = self.content(path)?;
            let names = text.lines().filter_map(|line| {
                let key = line.trim().trim_start_matches("export ").split_once('=')?.0.trim();
                let plain = key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
                (plain && !key.is_empty()).then_some(key)
            });
            let names: Vec<_> = names.take(20).collect();
            Some(format!("{path}: {}", names.join(", ")))
        });
        headed("Environment files (names only):", listed.take(ENTRIES).collect())
    }

    fn readme(&self) -> Vec<String> {
        let is = |path: &&String| !path.contains('/') && path.to_lowercase().starts_with("readme");
        let Some(path) = self.paths.iter().find(is) else { return Vec::new() };
        let text = self.content(path).unwrap_or_default();
        let lines = text.lines().take(README_LINES).map(str::to_owned).collect();
        headed(&format!("{path} (first lines):"), lines)
    }

    fn tree(&self, depth: usize) -> Vec<String> {
        let (mut lines, more) = tree::lines(self.paths.iter().map(String::as_str), depth);
        if more > 0 {
            lines.push(format!("  [{} more]", counted(more, "entry")));
        }
        if lines.is_empty() { lines } else { std::iter::once("Tree:".to_owned()).chain(lines).collect() }
    }

    fn content(&self, path: &str) -> Option<String> {
        let place = self.context.workspace.resolve(&format!("{}{path}", self.own), Access::Read).ok()?;
        let (file, _) = self.context.workspace.open_file(&place).ok()?;
        let mut bytes = Vec::new();
        file.take(MAX_FILE).read_to_end(&mut bytes).ok()?;
        Some(text::decode(&bytes).text)
    }
}

fn name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn spoken(languages: BTreeMap<&str, (usize, usize)>) -> Vec<String> {
    let mut languages: Vec<_> = languages.into_iter().collect();
    languages.sort_by_key(|(_, (_, code))| std::cmp::Reverse(*code));
    let more = languages.len().saturating_sub(LANGUAGES);
    languages.truncate(LANGUAGES);
    let line = |(name, (files, code)): (&str, (usize, usize))| {
        format!("{name}: {}, {} of code", counted(files, "file"), counted(code, "line"))
    };
    let mut lines: Vec<_> = languages.into_iter().map(line).collect();
    if more > 0 {
        lines.push(format!("and {} more", counted(more, "language")));
    }
    headed("Languages:", lines)
}

fn about(manifests: &[(&str, Manifest)]) -> Vec<String> {
    let line = |(path, manifest): &(&str, Manifest)| match manifest.about.as_str() {
        "" => (*path).to_owned(),
        about => format!("{path}: {about}"),
    };
    headed("Manifests:", manifests.iter().map(line).collect())
}

/// The commands of the manifests that lie highest.
fn commands(manifests: &[(&str, Manifest)]) -> Vec<String> {
    let top = manifests.iter().map(|(path, _)| path.matches('/').count()).min().unwrap_or(0);
    let highest = manifests.iter().filter(|(path, _)| path.matches('/').count() == top);
    let mut named: Vec<String> = Vec::new();
    for command in highest.flat_map(|(_, manifest)| &manifest.commands) {
        if !named.contains(command) {
            named.push(command.clone());
        }
    }
    if named.is_empty() { named } else { vec![format!("Commands: {}", named.join(", "))] }
}
