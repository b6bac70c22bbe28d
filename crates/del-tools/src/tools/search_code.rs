//! `search_code`: lines that match a regular expression, in a file or a tree; or the files that hold them, or how many.

use std::fs::File;
use std::io;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use globset::GlobMatcher;
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder};
use ignore::types::{Types, TypesBuilder};
use serde_json::json;

use crate::arguments::{
    Arguments, CASE_INSENSITIVE, CASE_SENSITIVE, CONTEXT_LINES, FILE_PATTERN, FILE_TYPE, LITERAL,
    MATCH_LIMIT, MODE, PATH, PATTERN,
};
use crate::class::Class;
use crate::context::Context;
use crate::control::Control;
use crate::glob;
use crate::hits::{Counter, Hits, Style};
use crate::job::{Entry, Job, Prepared};
use crate::outcome::{Code, Failure, ToolResult, counted, excerpt, grouped};
use crate::pattern::Pattern;
use crate::question::Question;
use crate::sieve::{InTime, Sieve, Sought, Verdict};
use crate::suggest;
use crate::text::on_one_line;
use crate::workspace::{Access, EntryKind, Flow, Kept, Obstacle, Order, Place, Walk};

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
        &FILE_TYPE,
        &MODE,
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
    types: Option<Types>,
    mode: Mode,
    context: usize,
    limit: usize,
}

/// What is shown of what matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Lines,
    Files,
    Count,
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
    let types = arguments.text(&FILE_TYPE).filter(|kind| !kind.trim().is_empty());
    let types = types.map(|kind| file_types(&kind)).transpose()?;
    let mode = arguments.text(&MODE).map_or(Ok(Mode::Lines), |word| mode(&word))?;
    let lines = arguments.number(&CONTEXT_LINES).unwrap_or(0);
    let limit = arguments.number(&MATCH_LIMIT).unwrap_or(DEFAULT_MATCHES);
    Ok(Box::new(SearchCode {
        pattern: Pattern::new(pattern, insensitive, literal)?,
        place: context.existing(&path, Access::Read)?,
        files,
        types,
        mode,
        context: usize::try_from(lines).unwrap_or(usize::MAX),
        limit: usize::try_from(limit).unwrap_or(usize::MAX),
    }))
}

fn mode(word: &str) -> Result<Mode, Failure> {
    match word.trim().to_lowercase().replace(['-', ' '], "_").as_str() {
        "lines" | "content" | "matches" | "" => Ok(Mode::Lines),
        "files" | "files_with_matches" | "files_only" | "names" | "names_only" => Ok(Mode::Files),
        "count" | "counts" => Ok(Mode::Count),
        _ => {
            let cause = format!("'mode' must be lines, files or count, got \"{}\".", excerpt(word, 40));
            Err(Failure::new(Code::BadType, cause))
        }
    }
}

/// Which files are of a type, by the names that searchers agree on: `py`, `rust`, `js`, `c`.
fn file_types(written: &str) -> Result<Types, Failure> {
    let name = written.trim().trim_start_matches("*.").trim_start_matches('.').to_lowercase();
    let name = match name.as_str() {
        "c++" => "cpp",
        "c#" => "csharp",
        "rs" => "rust",
        other => other,
    };
    let mut builder = TypesBuilder::new();
    builder.add_defaults();
    let definitions = builder.definitions();
    let known: Vec<_> = definitions.iter().map(ignore::types::FileTypeDef::name).collect();
    if known.contains(&name)
        && let Ok(types) = builder.select(name).build()
    {
        return Ok(types);
    }
    let near = suggest::near(name, &known, 1);
    let hint = near.first().map(|near| format!(" Did you mean '{near}'?")).unwrap_or_default();
    let cause = format!("unknown type '{}'.{hint} Use file_pattern for a glob.", excerpt(name, 40));
    Err(Failure::new(Code::BadType, cause))
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
                Obstacle::NotDirectory => self.one(context, control, &mut search)?,
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
            .heap_limit(Some(self.pattern.line_bytes()))
            .binary_detection(BinaryDetection::quit(0))
            .build()
    }

    fn tree(&self, context: &Context, control: &Control<'_>, search: &mut Search) -> Result<(), Obstacle> {
        let walk = Walk { depth: usize::MAX, respect_ignored: true, hidden: true, order: Order::Path };
        let prefix = self.place.prefix();
        let sought = Sought {
            matcher: self.pattern.matcher(),
            max_file: MAX_FILE,
            max_line: self.pattern.line_bytes(),
            deadline: search.deadline,
        };
        let mut tell = |verdict| {
            self.count(verdict, &prefix, control, search);
            let over = search.hits.is_full() || search.hits.is_late() || control.check().is_err();
            if over { Flow::Stop } else { Flow::On }
        };
        thread::scope(|scope| {
            let mut sieve = Sieve::new(scope, sought, &mut tell);
            let walked = context.workspace.walk(&self.place, walk, &mut |entry| {
                let wanted = entry.kind == EntryKind::File && self.wants(entry.path);
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
            walked.map(|_| ())
        })
    }

    fn wants(&self, path: &Path) -> bool {
        self.files.as_ref().is_none_or(|glob| glob.is_match(path))
            && self.types.as_ref().is_none_or(|types| types.matched(path, false).is_whitelist())
    }

    fn count(&self, verdict: Verdict, prefix: &str, control: &Control<'_>, search: &mut Search) {
        match verdict {
            // A file that cannot be opened is passed over, as grep does.
            Verdict::Unreadable => {}
            Verdict::TooLarge => search.too_large += 1,
            Verdict::NoMatch => search.searched += 1,
            Verdict::Match(file) => {
                search.searched += 1;
                self.show(&file, prefix, control, search);
            }
        }
    }

    fn show(&self, file: &Kept, prefix: &str, control: &Control<'_>, search: &mut Search) {
        let path = format!("{prefix}{}", file.shown());
        if self.mode == Mode::Files {
            return search.hits.file(&path, 1);
        }
        let Ok((opened, _)) = file.open() else { return };
        let _ = self.look(&opened, &path, control, search);
    }

    fn one(&self, context: &Context, control: &Control<'_>, search: &mut Search) -> Result<(), Failure> {
        let (file, _) =
            context.workspace.open_file(&self.place).map_err(|o| context.failure(&o, &self.place))?;
        search.searched += 1;
        match self.look(&file, &self.place.shown, control, search) {
            Err(error) if error.kind() == io::ErrorKind::TimedOut => Ok(()),
            // A line that is too long.
            Err(error) if error.raw_os_error().is_none() => {
                search.too_large += 1;
                Ok(())
            }
            looked => looked.map_err(|error| context.failure(&error.into(), &self.place)),
        }
    }

    /// Shows what matches in a file.
    fn look(&self, file: &File, path: &str, control: &Control<'_>, search: &mut Search) -> io::Result<()> {
        let deadline = search.deadline;
        let is_over = || Instant::now() > deadline || control.is_cancelled();
        let reader = InTime { file, is_over: &is_over };
        let matcher = self.pattern.matcher();
        if self.mode == Mode::Lines {
            return search.searcher.search_reader(matcher, reader, search.hits.in_file(path, matcher));
        }
        let mut counter = Counter::default();
        let searched = search.searcher.search_reader(matcher, reader, &mut counter);
        match counter.0 {
            0 => {}
            _ if self.mode == Mode::Files => search.hits.file(path, 1),
            lines => search.hits.file(&format!("{path}:{lines}"), lines),
        }
        searched
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
            let matches = grouped(found.matches as u64);
            result.note(&match (self.mode, found.more) {
                (Mode::Files, false) => format!("[{files}]"),
                (Mode::Files | Mode::Count, true) => {
                    format!("[{files} shown; more exist. Narrow the pattern, path or file_pattern.]")
                }
                (_, true) => {
                    format!("[{matches} matches shown in {files}; more exist. Narrow the pattern, path or file_pattern.]")
                }
                (_, false) => format!("[{} in {files}]", counted(found.matches, "match")),
            });
            result
        };
        if let Some(note) = self.pattern.note(found.matches) {
            result.note(note);
        }
        if search.too_large > 0 {
            result.note(&format!(
                "[{} over 10 MiB or with very long lines not searched]",
                counted(search.too_large, "file")
            ));
        }
        if late {
            result.note("[stopped after 20 s; not every file was searched. Narrow path or file_pattern.]");
        }
        let data = json!({"matches": found.matches, "files": found.files, "searched": search.searched});
        result.with_data(data).shortened(found.more || late)
    }
}
