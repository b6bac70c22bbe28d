//! `list_dir`: what is in a directory.

use globset::GlobMatcher;
use serde_json::json;

use crate::arguments::{ALL, Arguments, DEPTH, NAME_GLOB, PATH, RECURSIVE};
use crate::class::Class;
use crate::context::Context;
use crate::control::Control;
use crate::glob;
use crate::job::{Entry, Job, Prepared};
use crate::outcome::{Failure, ToolResult, counted, grouped, sized};
use crate::question::Question;
use crate::text::on_one_line;
use crate::workspace::{Access, Entry as Found, EntryKind, Flow, LATE, Order, Place, Walk};

const MAX_SHOWN: usize = 500;
/// Entries that are counted at most.
const MAX_COUNTED: usize = 200_000;
const DEFAULT_DEPTH: u64 = 3;

pub(crate) static TOOL: Entry = Entry {
    name: "list_dir",
    aliases: &["ls", "list", "listfiles", "listdirectory", "dir"],
    class: Class::Read,
    parameters: &[&PATH, &RECURSIVE, &NAME_GLOB, &DEPTH, &ALL],
    definition: include_str!("../../schemas/engine/list_dir.json"),
    core: Some(("list_directory", include_str!("../../schemas/core/list_directory.json"))),
    del: true,
    prepare,
};

pub(crate) struct ListDir {
    place: Place,
    pattern: Option<Pattern>,
    depth: usize,
    recursive: bool,
    all: bool,
}

struct Pattern {
    written: String,
    glob: GlobMatcher,
    on_path: bool,
}

/// The listing of `place` alone, as `read_file` gives it for a directory.
pub(crate) fn plain(place: &Place) -> ListDir {
    ListDir { place: place.clone(), pattern: None, depth: 1, recursive: false, all: false }
}

fn prepare(mut arguments: Arguments, context: &Context) -> Prepared {
    let path = arguments.text(&PATH).unwrap_or_else(|| ".".to_owned());
    let path = if path.trim().is_empty() { "." } else { &path };
    let pattern = match arguments.text(&NAME_GLOB).filter(|pattern| !pattern.trim().is_empty()) {
        Some(written) => Some(Pattern::new(written)?),
        None => None,
    };
    let deep = pattern.as_ref().is_some_and(|pattern| pattern.on_path);
    let recursive = arguments.flag(&RECURSIVE).unwrap_or(deep);
    let depth = arguments.number(&DEPTH).unwrap_or(DEFAULT_DEPTH);
    let depth = if recursive { usize::try_from(depth).unwrap_or(usize::MAX) } else { 1 };
    let all = arguments.flag(&ALL).unwrap_or(false);
    let place = context.existing(path, Access::Read)?;
    Ok(Box::new(ListDir { place, pattern, depth, recursive, all }))
}

impl Job for ListDir {
    fn class(&self) -> Class {
        Class::Read
    }

    fn question(&self, _: &Context) -> Result<Question, Failure> {
        Ok(Question::read(TOOL.name, &self.place.shown))
    }

    fn run(self: Box<Self>, context: &Context, control: &Control<'_>) -> Result<ToolResult, Failure> {
        let walk = Walk {
            depth: self.depth,
            respect_ignored: self.recursive && !self.all,
            hidden: !self.recursive || self.all,
            order: Order::DirectoriesFirst,
        };
        let mut listing = Listing { room: context.limits.result_bytes, ..Listing::default() };
        let walked = context.workspace.walk(&self.place, walk, &mut |entry| {
            listing.anything = true;
            if self.pattern.as_ref().is_none_or(|pattern| pattern.matches(entry)) {
                listing.add(entry);
            }
            listing.too_deep |= entry.cut && self.recursive;
            let enough = listing.seen() >= MAX_COUNTED || control.check().is_err();
            if enough { Flow::Stop } else { Flow::On }
        });
        control.check()?;
        let late = walked.map_err(|obstacle| context.failure(&obstacle, &self.place))?;
        let mut result = self.result(&listing);
        if late {
            result.note(LATE);
        }
        Ok(result.shortened(late))
    }
}

impl ListDir {
    fn result(&self, listing: &Listing) -> ToolResult {
        let seen = listing.seen();
        if seen == 0 {
            return ToolResult::success(match &self.pattern {
                Some(pattern) if listing.anything => {
                    format!("(no entry matches {})", on_one_line(&pattern.written))
                }
                _ => "(empty directory)".to_owned(),
            });
        }
        let mut counts = format!(
            "{}: {}, {}",
            self.place.shown,
            counted(listing.directories, "directory"),
            counted(listing.files, "file")
        );
        if listing.links > 0 {
            counts = format!("{counts}, {}", counted(listing.links, "link"));
        }
        if listing.others > 0 {
            counts = format!("{counts}, {} other", listing.others);
        }
        let mut result = ToolResult::success(counts);
        for line in &listing.lines {
            result.note(line);
        }
        let shown = listing.lines.len();
        if shown < seen {
            let total = if seen >= MAX_COUNTED {
                format!("more than {}", grouped(seen as u64))
            } else {
                grouped(seen as u64)
            };
            result.note(&format!("[{shown} of {total} entries shown; narrow with pattern or path]"));
        }
        if listing.too_deep {
            result.note(&format!("[directories below depth {} are not listed]", self.depth));
        }
        let data = json!({
            "path": self.place.shown, "directories": listing.directories, "files": listing.files, "links": listing.links,
        });
        result.with_data(data).shortened(shown < seen)
    }
}

#[derive(Default)]
struct Listing {
    lines: Vec<String>,
    room: usize,
    full: bool,
    directories: usize,
    files: usize,
    links: usize,
    others: usize,
    anything: bool,
    too_deep: bool,
}

impl Listing {
    fn seen(&self) -> usize {
        self.directories + self.files + self.links + self.others
    }

    fn add(&mut self, entry: &Found<'_>) {
        *match entry.kind {
            EntryKind::Directory => &mut self.directories,
            EntryKind::File => &mut self.files,
            EntryKind::Link => &mut self.links,
            EntryKind::Special => &mut self.others,
        } += 1;
        if self.full || self.lines.len() == MAX_SHOWN {
            return;
        }
        let line = line(entry);
        if line.len() + 1 > self.room {
            self.full = true;
            return;
        }
        self.room -= line.len() + 1;
        self.lines.push(line);
    }
}

fn line(entry: &Found<'_>) -> String {
    let name = entry.shown();
    match entry.kind {
        EntryKind::Directory if entry.denied => format!("[DENIED] {name}/"),
        EntryKind::Directory => format!("[DIR]  {name}/"),
        EntryKind::File => format!("[FILE] {name} ({})", sized(entry.metadata().map_or(0, |m| m.len()))),
        EntryKind::Link => match entry.link() {
            Some(target) => format!("[LINK] {name} -> {}", on_one_line(&target.to_string_lossy())),
            None => format!("[LINK] {name}"),
        },
        EntryKind::Special => format!("[OTHER] {name}"),
    }
}

impl Pattern {
    fn new(written: String) -> Result<Self, Failure> {
        let pattern = written.trim().trim_start_matches("./");
        let on_path = pattern.contains('/');
        let glob = glob::whole(pattern.trim_end_matches('/'))?;
        Ok(Self { written, glob, on_path })
    }

    fn matches(&self, entry: &Found<'_>) -> bool {
        let name = entry.path.file_name().unwrap_or_default();
        if self.on_path { self.glob.is_match(entry.path) } else { self.glob.is_match(name) }
    }
}
