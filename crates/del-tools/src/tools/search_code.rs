//! `search_code`: lines that match a regular expression, in a file or a tree.

use std::thread;
use std::time::{Duration, Instant};

use globset::GlobMatcher;
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder};
use serde_json::json;

use crate::arguments::{
    Arguments, CASE_INSENSITIVE, CASE_SENSITIVE, CONTEXT_LINES, FILE_PATTERN, LITERAL, MATCH_LIMIT, PATH,
    PATTERN,
};
use crate::context::Context;
use crate::glob;
use crate::hits::{Hits, Style};
use crate::outcome::{Failure, ToolResult, counted, grouped};
use crate::pattern::Pattern;
use crate::policy::Class;
use crate::question::Question;
use crate::registry::{Entry, Job, Prepared};
use crate::sieve::{Sieve, Sought, Verdict};
use crate::toolbox::Control;
use crate::workspace::{Access, EntryKind, Flow, Kept, Obstacle, Order, Place, Walk, on_one_line};

const DEFAULT_MATCHES: u64 = 100;
/// Larger files are passed over, and counted.
const MAX_FILE: u64 = 10 << 20;
/// After this the search ends with what it has.
const BUDGET: Duration = Duration::from_secs(20);

pub(crate) static TOOL: Entry = Entry {
    name: "search_code",
    aliases: &["grep", "search", "ripgrep", "rg", "grepsearch", "searchfiles"],
    class: Class::Read,
    parameters: &[
        &PATTERN,
        &PATH,
        &FILE_PATTERN,
        &CASE_INSENSITIVE,
        &CASE_SENSITIVE,
        &CONTEXT_LINES,
        &LITERAL,
        &MATCH_LIMIT,
    ],
    definition: include_str!("../../schemas/engine/search_code.json"),
    core: Some(("grep_search", include_str!("../../schemas/core/grep_search.json"))),
    del: true,
    prepare,
};

struct SearchCode {
    place: Place,
    pattern: Pattern,
    files: Option<GlobMatcher>,
    context: usize,
    limit: usize,
}

fn prepare(mut arguments: Arguments, context: &Context) -> Prepared {
    let pattern = arguments.need_text(&PATTERN)?;
    let path = arguments.path();
    let sensitive = arguments.flag(&CASE_SENSITIVE);
    let insensitive =
        arguments.flag(&CASE_INSENSITIVE).or(sensitive.map(|sensitive| !sensitive)).unwrap_or(false);
    let literal = arguments.flag(&LITERAL).unwrap_or(false);
    let files = match arguments.text(&FILE_PATTERN).filter(|pattern| !pattern.trim().is_empty()) {
        Some(written) => {
            Some(glob::anywhere(written.trim().trim_start_matches("./").trim_start_matches('/'))?)
        }
        None => None,
    };
    let lines = arguments.number(&CONTEXT_LINES).unwrap_or(0);
    let limit = arguments.number(&MATCH_LIMIT).unwrap_or(DEFAULT_MATCHES);
    Ok(Box::new(SearchCode {
        pattern: Pattern::new(pattern, insensitive, literal)?,
        place: context.existing(&path, Access::Read)?,
        files,
        context: usize::try_from(lines).unwrap_or(usize::MAX),
        limit: usize::try_from(limit).unwrap_or(usize::MAX),
    }))
}

impl Job for SearchCode {
    fn class(&self) -> Class {
        Class::Read
    }

    fn question(&self, _: &Context) -> Result<Question, Failure> {
        Ok(Question::read(TOOL.name, &self.place.shown))
    }

    fn run(self: Box<Self>, context: &Context, control: &Control<'_>) -> Result<ToolResult, Failure> {
        let style = Style { context: self.context, limit: self.limit, room: context.limits.result_bytes };
        let deadline = Instant::now() + BUDGET;
        let mut search = Search {
            searcher: self.searcher(),
            hits: Hits::new(style, deadline),
            deadline,
            searched: 0,
            too_large: 0,
        };
        if let Err(obstacle) = self.tree(context, control, &mut search) {
            match obstacle {
                Obstacle::NotDirectory => self.one(context, &mut search)?,
                other => return Err(context.failure(&other, &self.place)),
            }
        }
        control.check()?;
        Ok(self.result(search))
    }
}

struct Search {
    searcher: Searcher,
    hits: Hits,
    deadline: Instant,
    searched: usize,
    too_large: usize,
}

impl SearchCode {
    fn searcher(&self) -> Searcher {
        SearcherBuilder::new()
            .line_number(true)
            .before_context(self.context)
            .after_context(self.context)
            .binary_detection(BinaryDetection::quit(0))
            .build()
    }

    fn tree(&self, context: &Context, control: &Control<'_>, search: &mut Search) -> Result<(), Obstacle> {
        let walk = Walk { depth: usize::MAX, respect_ignored: true, hidden: true, order: Order::Path };
        let prefix = self.place.prefix();
        let sought =
            Sought { matcher: self.pattern.matcher(), max_file: MAX_FILE, deadline: search.deadline };
        let mut tell = |verdict| {
            self.count(verdict, &prefix, search);
            let over = search.hits.is_full() || search.hits.is_late() || control.check().is_err();
            if over { Flow::Stop } else { Flow::On }
        };
        thread::scope(|scope| {
            let mut sieve = Sieve::new(scope, sought, &mut tell);
            let walked = context.workspace.walk(&self.place, walk, &mut |entry| {
                let wanted = entry.kind == EntryKind::File
                    && self.files.as_ref().is_none_or(|glob| glob.is_match(entry.path));
                let over = Instant::now() > sought.deadline || control.check().is_err();
                match () {
                    () if over => Flow::Stop,
                    () if wanted => sieve.add(entry.keep()),
                    () => Flow::On,
                }
            });
            if control.check().is_ok() {
                sieve.finish();
            }
            walked
        })
    }

    fn count(&self, verdict: Verdict, prefix: &str, search: &mut Search) {
        match verdict {
            // A file that cannot be opened is passed over, as grep does.
            Verdict::Unreadable => {}
            Verdict::TooLarge => search.too_large += 1,
            Verdict::NoMatch => search.searched += 1,
            Verdict::Match(file) => {
                search.searched += 1;
                self.show(&file, prefix, search);
            }
        }
    }

    fn show(&self, file: &Kept, prefix: &str, search: &mut Search) {
        let Ok((opened, _)) = file.open() else { return };
        let path = format!("{prefix}{}", file.shown());
        let matcher = self.pattern.matcher();
        let _ = search.searcher.search_file(matcher, &opened, search.hits.in_file(&path, matcher));
    }

    fn one(&self, context: &Context, search: &mut Search) -> Result<(), Failure> {
        let (file, _) =
            context.workspace.open_file(&self.place).map_err(|o| context.failure(&o, &self.place))?;
        search.searched += 1;
        let matcher = self.pattern.matcher();
        let sink = search.hits.in_file(&self.place.shown, matcher);
        search.searcher.search_file(matcher, &file, sink).map_err(|e| context.failure(&e.into(), &self.place))
    }

    fn result(&self, search: Search) -> ToolResult {
        let late = search.hits.is_late();
        let found = search.hits.finish();
        let mut result = if found.matches == 0 {
            ToolResult::success(format!(
                "No matches for {} in {} ({} searched).",
                on_one_line(self.pattern.written()),
                self.place.shown,
                counted(search.searched, "file")
            ))
        } else {
            let mut result = ToolResult::success(found.text);
            let files = counted(found.files, "file");
            result.note(&if found.more {
                let shown = grouped(found.matches as u64);
                format!("[{shown} matches shown in {files}; more exist. Narrow the pattern, path or file_pattern.]")
            } else {
                format!("[{} in {files}]", counted(found.matches, "match"))
            });
            result
        };
        if let Some(note) = self.pattern.note(found.matches) {
            result.note(note);
        }
        if search.too_large > 0 {
            result.note(&format!("[{} over 10 MiB not searched]", counted(search.too_large, "file")));
        }
        if late {
            result.note("[stopped after 20 s; not every file was searched. Narrow path or file_pattern.]");
        }
        let data = json!({"matches": found.matches, "files": found.files, "searched": search.searched});
        result.with_data(data).shortened(found.more || late)
    }
}
