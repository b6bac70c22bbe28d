//! `read_file`: numbered lines of a text file of any size.

use std::fs::File;
use std::io::{BufReader, Cursor, Read, Seek, SeekFrom};

use serde_json::json;

use super::list_dir;
use crate::arguments::{Arguments, END_LINE, LIMIT, OFFSET, PATH};
use crate::class::Class;
use crate::context::Context;
use crate::control::Control;
use crate::job::{Entry, Job, Prepared};
use crate::outcome::{Code, Failure, ToolResult, counted, sized};
use crate::pager::{Page, Range, page};
use crate::question::Question;
use crate::text::{self, Charset};
use crate::workspace::{Access, Obstacle, Place, Stamp};

/// What is read of a file to tell its encoding; a file up to this size is known whole.
const EXAMINED: u64 = 8 << 20;
/// Text that is not UTF-8 is decoded in memory, up to this size.
const MAX_DECODED: u64 = 64 << 20;

pub(crate) static TOOL: Entry = Entry {
    name: "read_file",
    aliases: &["read", "view", "cat", "openfile"],
    class: Class::Read,
    parameters: &[&PATH, &OFFSET, &LIMIT, &END_LINE],
    definition: include_str!("../../schemas/engine/read_file.json"),
    core: Some(("read_file", include_str!("../../schemas/core/read_file.json"))),
    del: true,
    prepare,
};

struct ReadFile {
    place: Place,
    offset: u64,
    limit: u64,
}

fn prepare(mut arguments: Arguments, context: &Context) -> Prepared {
    let path = arguments.need_text(&PATH)?;
    let offset = arguments.number(&OFFSET).unwrap_or(1);
    let to_end = match arguments.number(&END_LINE) {
        Some(end) if end < offset => {
            let cause =
                format!("'{}' must be >= the first line {offset}, got {end}.", arguments.spelling(&END_LINE));
            return Err(Failure::new(Code::BadType, cause));
        }
        end => end.map(|end| end - offset + 1),
    };
    let limit = arguments.number(&LIMIT).or(to_end).unwrap_or(context.limits.read_lines);
    Ok(Box::new(ReadFile { place: context.existing(&path, Access::Read)?, offset, limit }))
}

impl Job for ReadFile {
    fn class(&self) -> Class {
        Class::Read
    }

    fn question(&self, _: &Context) -> Result<Question, Failure> {
        Ok(Question::read(TOOL.name, &self.place.shown))
    }

    fn run(self: Box<Self>, context: &Context, control: &Control<'_>) -> Result<ToolResult, Failure> {
        let (mut file, metadata) = match context.workspace.open_file(&self.place) {
            Err(Obstacle::Directory) => return self.directory(context, control),
            opened => opened.map_err(|obstacle| context.failure(&obstacle, &self.place))?,
        };
        let system = |error: std::io::Error| context.failure(&error.into(), &self.place);
        let mut start = Vec::new();
        file.by_ref().take(EXAMINED).read_to_end(&mut start).map_err(system)?;
        let size = metadata.len().max(start.len() as u64);
        if text::is_binary(&start) {
            return Err(self.binary(&start, size));
        }
        let whole = (start.len() as u64) < EXAMINED;
        let (charset, mark) = text::mark(&start).unwrap_or_else(|| (text::unmarked(&start), 0));
        let range = Range { first: self.offset, lines: self.limit, bytes: context.limits.result_bytes };
        let page = if charset == Charset::Utf8 {
            utf8(file, mark as u64, range)
        } else if size > MAX_DECODED {
            let cause = format!(
                "{} is {} of {}; text that is not UTF-8 is read up to {}.",
                self.place.shown,
                sized(size),
                charset.label(),
                sized(MAX_DECODED)
            );
            return Err(Failure::new(Code::TooLarge, cause));
        } else {
            if !whole {
                file.read_to_end(&mut start).map_err(system)?;
            }
            page(&mut Cursor::new(text::decode(&start).text), range)
        };
        let page = page.map_err(system)?;
        let result = self.result(&page, charset)?;
        context.remember(&self.place, Stamp::of(&metadata, whole.then_some(&start)));
        Ok(result)
    }
}

impl ReadFile {
    fn directory(&self, context: &Context, control: &Control<'_>) -> Result<ToolResult, Failure> {
        let mut result = Box::new(list_dir::plain(&self.place)).run(context, control)?;
        result.note(&format!("[{} is a directory; this is its listing]", self.place.shown));
        Ok(result)
    }

    fn binary(&self, start: &[u8], size: u64) -> Failure {
        let kind = text::binary_kind(start, size);
        let cause = if kind.contains(" image ") {
            format!("{} is {kind}; this model cannot see images.", self.place.shown)
        } else {
            format!("{} is {kind}.", self.place.shown)
        };
        Failure::new(Code::Binary, cause)
    }

    fn result(&self, page: &Page, charset: Charset) -> Result<ToolResult, Failure> {
        if page.total == 0 {
            return Ok(
                ToolResult::success("(empty file)").with_data(json!({"path": self.place.shown, "lines": 0}))
            );
        }
        if page.last == 0 {
            let lines = counted(usize::try_from(page.total).unwrap_or(usize::MAX), "line");
            let cause =
                format!("offset {} is beyond the end of {} ({lines}).", self.offset, self.place.shown);
            return Err(Failure::new(Code::BadType, cause));
        }
        let mut result = ToolResult::success(&page.text);
        let total = if page.more { format!("more than {}", page.total) } else { page.total.to_string() };
        let (first, last) = (self.offset, page.last);
        let ends_early = last < page.total || page.more;
        if ends_early {
            result.note(&format!("[Lines {first}-{last} of {total}. Use offset={} to continue.]", last + 1));
        } else if first > 1 {
            result.note(&format!("[Lines {first}-{last} of {total}.]"));
        }
        if charset != Charset::Utf8 {
            result.note(&format!("[decoded as {}]", charset.label()));
        } else if page.lossy {
            result.note("[bytes that are not UTF-8 are shown as \u{fffd}]");
        }
        let data = json!({"path": self.place.shown, "first": first, "last": last, "lines": page.total});
        Ok(result.with_data(data).shortened(ends_early || page.cut))
    }
}

fn utf8(mut file: File, mark: u64, range: Range) -> std::io::Result<Page> {
    file.seek(SeekFrom::Start(mark))?;
    page(&mut BufReader::with_capacity(64 * 1024, file), range)
}
