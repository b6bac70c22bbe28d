//! `extract_functions`: the functions and types of a file or a tree.

use del_code::{Language, Symbol};
use serde_json::json;

use crate::arguments::{Arguments, CODE, INCLUDE_PRIVATE, LANGUAGE, PATH};
use crate::class::Class;
use crate::code::{self, Reading, Subject};
use crate::context::Context;
use crate::control::Control;
use crate::job::{Entry, Job, Prepared};
use crate::outcome::{Failure, ToolResult, counted, grouped};
use crate::question::Question;
use crate::survey::survey;
use crate::workspace::Place;

const MAX_SHOWN: usize = 500;
/// Files that are parsed at most.
const MAX_PARSED: usize = 2000;

pub(crate) static TOOL: Entry = Entry {
    name: "extract_functions",
    aliases: &["listfunctions", "listsymbols", "symbols", "outline", "getsymbols"],
    class: Class::Read,
    parameters: &[&PATH, &CODE, &LANGUAGE, &INCLUDE_PRIVATE],
    definition: include_str!("../../schemas/engine/extract_functions.json"),
    core: None,
    del: true,
    prepare,
};

struct ExtractFunctions {
    subject: Subject,
    include_private: bool,
}

fn prepare(mut arguments: Arguments, context: &Context) -> Prepared {
    let include_private = arguments.flag(&INCLUDE_PRIVATE).unwrap_or(true);
    Ok(Box::new(ExtractFunctions { subject: Subject::read(&mut arguments, context)?, include_private }))
}

impl Job for ExtractFunctions {
    fn class(&self) -> Class {
        Class::Read
    }

    fn question(&self, _: &Context) -> Result<Question, Failure> {
        Ok(Question::read(TOOL.name, self.subject.shown()))
    }

    fn run(self: Box<Self>, context: &Context, control: &Control<'_>) -> Result<ToolResult, Failure> {
        match &self.subject {
            Subject::Place(place) => self.place(place, context, control),
            Subject::Text { text, language } => Ok(self.text(text, *language, context)),
        }
    }
}

impl ExtractFunctions {
    fn place(&self, place: &Place, context: &Context, control: &Control<'_>) -> Result<ToolResult, Failure> {
        let surveyed = survey(context, control, place, &|_| true, &|file| {
            let language = Language::of_file(file.path, file.text)?;
            if file.number >= MAX_PARSED {
                return None;
            }
            Some(code::outline(file.text, language, &|| file.is_over()).map(|reading| (reading, language)))
        })?;
        let mut listing = Listing::new(self.include_private, context);
        let mut unread = 0;
        for (path, found) in &surveyed.found {
            match found {
                Some((reading, language)) => listing.file(path, reading, language),
                None => unread += 1,
            }
        }
        let mut notes = surveyed.notes();
        if surveyed.one && surveyed.found.is_empty() {
            notes.push("[the language of the file is not known]".to_owned());
        }
        if unread > 0 {
            notes.push(format!("[{} could not be parsed in time]", counted(unread, "file")));
        }
        if surveyed.sources > MAX_PARSED {
            notes.push(format!(
                "[only the first {} parsed. Narrow path.]",
                counted(MAX_PARSED, "source file")
            ));
        }
        Ok(listing.result(&place.shown, &notes).shortened(surveyed.is_cut()))
    }

    fn text(&self, text: &str, language: Option<&'static Language>, context: &Context) -> ToolResult {
        let mut listing = Listing::new(self.include_private, context);
        let reading = language.and_then(|language| code::outline(text, language, &|| false));
        let notes = match (language, &reading) {
            (None, _) => vec!["[the language is not known; name it with 'language']".to_owned()],
            (Some(_), None) => vec!["[the text could not be parsed]".to_owned()],
            _ => Vec::new(),
        };
        if let (Some(language), Some(reading)) = (language, &reading) {
            listing.file("(content)", reading, language);
        }
        listing.result("(content)", &notes)
    }
}

struct Listing {
    include_private: bool,
    lines: Vec<String>,
    room: usize,
    shown: usize,
    symbols: usize,
    files: usize,
    hidden: usize,
    full: bool,
    broken: bool,
}

impl Listing {
    fn new(include_private: bool, context: &Context) -> Self {
        Self {
            include_private,
            lines: Vec::new(),
            room: context.limits.result_bytes,
            shown: 0,
            symbols: 0,
            files: 0,
            hidden: 0,
            full: false,
            broken: false,
        }
    }

    fn file(&mut self, path: &str, reading: &Reading, language: &Language) {
        let symbols = &reading.outline.symbols;
        let listed: Vec<_> = symbols.iter().filter(|s| self.include_private || !s.private).collect();
        self.hidden += symbols.len() - listed.len();
        self.broken |= reading.has_errors && !listed.is_empty();
        if listed.is_empty() {
            return;
        }
        self.files += 1;
        self.symbols += listed.len();
        let roughly = if reading.approximate { ", approximate" } else { "" };
        let mut head = Some(format!("{path} ({}{roughly})", language.name()));
        for symbol in listed {
            let line = line(symbol);
            let needed = line.len() + 1 + head.as_ref().map_or(0, |head| head.len() + 1);
            if self.full || self.shown == MAX_SHOWN || needed > self.room {
                self.full = true;
                return;
            }
            self.room -= needed;
            self.shown += 1;
            self.lines.extend(head.take());
            self.lines.push(line);
        }
    }

    fn result(self, shown: &str, notes: &[String]) -> ToolResult {
        let mut result = if self.symbols == 0 {
            ToolResult::success(format!("No functions found in {shown}."))
        } else {
            ToolResult::success(self.lines.join("\n"))
        };
        if self.shown < self.symbols {
            let total = grouped(self.symbols as u64);
            result.note(&format!("[{} of {total} symbols shown; narrow path]", self.shown));
        } else if self.files > 1 {
            let (symbols, files) = (counted(self.symbols, "symbol"), counted(self.files, "file"));
            result.note(&format!("[{symbols} in {files}]"));
        }
        if self.hidden > 0 {
            result.note(&format!("[{} not shown]", counted(self.hidden, "private symbol")));
        }
        if self.broken {
            result.note("[syntax errors in the text; some symbols may be missing]");
        }
        for note in notes {
            result.note(note);
        }
        let data = json!({"symbols": self.symbols, "files": self.files, "shown": self.shown});
        let cut = self.shown < self.symbols;
        result.with_data(data).shortened(cut)
    }
}

fn line(symbol: &Symbol) -> String {
    let Symbol { kind, name, signature, first, last, .. } = symbol;
    format!("  {first}-{last}  {kind}  {name}{signature}")
}
