//! What only a batch does: delete, move, copy, make a directory.

use std::borrow::Cow;

use crate::arguments::{Arguments, FROM, PATH, RECURSIVE, TO};
use crate::class::Class;
use crate::commit::{Change, MAX_KEPT, Purpose};
use crate::context::Context;
use crate::control::Control;
use crate::job::{Entry, Job, Prepared};
use crate::outcome::{ChangeKind, Code, Failure, FileChange, ToolResult, counted, sized};
use crate::question::{Action, Entries, Question, Subject};
use crate::workspace::{Access, Found, Place, SET_GROUP};

/// More entries of one operation are not held against rules: then it counts as meant by every rule about paths.
const MOST_ENTRIES: usize = 50_000;

static DELETE: Entry = own("delete", &[&PATH, &RECURSIVE], delete);
static MOVE: Entry =
    own("move", &[&FROM, &TO], |arguments, context| relocate(arguments, context, Action::Move));
static COPY: Entry =
    own("copy", &[&FROM, &TO], |arguments, context| relocate(arguments, context, Action::Copy));
static MAKE: Entry = own("mkdir", &[&PATH], make);

const fn own(
    name: &'static str,
    parameters: &'static [&'static crate::arguments::Parameter],
    prepare: fn(Arguments, &Context) -> Prepared,
) -> Entry {
    Entry {
        name,
        aliases: &[],
        class: Class::Write,
        parameters,
        definition: "{}",
        core: None,
        del: false,
        prepare,
    }
}

/// The operation with this folded name.
pub(super) fn find(name: &str) -> Option<&'static Entry> {
    Some(match name {
        "delete" | "remove" | "rm" | "deletefile" | "removefile" | "unlink" | "rmdir" | "deletedirectory" => {
            &DELETE
        }
        "move" | "mv" | "rename" | "movefile" | "renamefile" => &MOVE,
        "copy" | "cp" | "copyfile" => &COPY,
        "mkdir" | "makedirectory" | "createdirectory" | "createdir" | "makedir" => &MAKE,
        _ => return None,
    })
}

/// Whether it is one of these.
pub(super) fn is_own(entry: &Entry) -> bool {
    [&DELETE, &MOVE, &COPY, &MAKE].iter().any(|own| own.name == entry.name)
}

/// The places that an operation is about, whether it can be done now or not.
pub(super) fn places(entry: &Entry, mut arguments: Arguments, context: &Context) -> Option<Vec<Place>> {
    let parameter = if entry.parameters.iter().any(|own| own.name == TO.name) { &FROM } else { &PATH };
    let path = arguments.text(parameter)?;
    let place = match entry.name {
        "mkdir" => context.workspace.resolve(path.trim_end_matches('/'), Access::Write),
        "copy" => context.workspace.resolve(&path, Access::Read),
        _ => context.workspace.resolve_entry(&path),
    };
    let mut places = vec![place.ok()?];
    if let Some(to) = arguments.text(&TO) {
        places.push(target(context, &to, &places[0]).ok()?);
    }
    Some(places)
}

/// What is lost for good, if something is.
pub(super) fn loss(entry: &Entry, context: &Context) -> Option<&'static str> {
    (entry.name == DELETE.name && context.undo.is_none()).then_some("this cannot be undone")
}

/// The entries of such an operation, as far as they are there, and those that come there by what is done `before`.
pub(super) fn entries(entry: &Entry, places: &[Place], before: &[Entries], context: &Context) -> Entries {
    let mut entries = Entries::default();
    let (action, [from, rest @ ..]) = (action(entry), places) else { return entries };
    let Some(action) = action else { return entries };
    let to = rest.first().map(|to| to.shown.as_str());
    let found = context.found_at(from).unwrap_or_default();
    let found: Vec<String> = found.into_iter().map(|(place, _)| place.shown).collect();
    entries.add(&found, action, &from.shown, to);
    for before in before {
        entries.add(&before.written, action, &from.shown, to);
        entries.more |= before.more;
    }
    entries
}

fn action(entry: &Entry) -> Option<Action> {
    let actions = [(&DELETE, Action::Delete), (&MOVE, Action::Move), (&COPY, Action::Copy)];
    actions.into_iter().find(|(own, _)| own.name == entry.name).map(|(_, action)| action)
}

impl Entries {
    /// Adds what is done to those of `paths` that lie at or below `from`.
    fn add(&mut self, paths: &[String], action: Action, from: &str, to: Option<&str>) {
        for path in paths {
            let Some(rest) = below(path, from) else { continue };
            if self.written.len() > MOST_ENTRIES {
                self.more = true;
                return;
            }
            if matches!(action, Action::Move | Action::Copy) {
                self.read.push(path.clone());
            }
            if matches!(action, Action::Move | Action::Delete) {
                self.written.push(path.clone());
            }
            if let Some(to) = to {
                self.written.push(if rest.is_empty() { to.to_owned() } else { format!("{to}/{rest}") });
            }
        }
    }
}

/// What follows `from` in the path of something at or below it, both as they are shown.
fn below<'a>(path: &'a str, from: &str) -> Option<&'a str> {
    if path == from {
        return Some("");
    }
    if from == "." {
        return (!path.starts_with('/')).then_some(path);
    }
    path.strip_prefix(from)?.strip_prefix('/')
}

struct Arrange {
    action: Action,
    place: Place,
    to: Option<Place>,
    /// What stands at the place, and below it.
    found: Vec<(Place, Found)>,
    what: String,
}

fn delete(mut arguments: Arguments, context: &Context) -> Prepared {
    let path = arguments.need_text(&PATH)?;
    let recursive = arguments.flag(&RECURSIVE).unwrap_or(false);
    let place = context.workspace.resolve_entry(&path)?;
    let found = movable(context, &place)?;
    if found.len() > 1 && !recursive {
        let inner = counted(found.len() - 1, "entry");
        let cause = format!(
            "{} is a directory with {inner}; set recursive=true to delete it with them.",
            place.shown
        );
        return Err(Failure::new(Code::IsDir, cause));
    }
    Ok(Box::new(Arrange { action: Action::Delete, what: what(&found), place, to: None, found }))
}

fn relocate(mut arguments: Arguments, context: &Context, action: Action) -> Prepared {
    let (from, to) = (arguments.need_text(&FROM)?, arguments.need_text(&TO)?);
    let place = match action {
        Action::Copy => context.existing(&from, Access::Read)?,
        _ => context.workspace.resolve_entry(&from)?,
    };
    let found = movable(context, &place)?;
    let target = target(context, &to, &place)?;
    context.may_write(&target)?;
    if !found_nothing(context, &target)? {
        let cause = format!("{} is there already; delete it first or take another name.", target.shown);
        return Err(Failure::new(Code::Exists, cause));
    }
    if context.workspace.absolute(&target).starts_with(context.workspace.absolute(&place)) {
        let cause = format!("{} lies in {}; it cannot be put into itself.", target.shown, place.shown);
        return Err(Failure::new(Code::BadType, cause));
    }
    Ok(Box::new(Arrange { action, what: what(&found), place, to: Some(target), found }))
}

/// Where `place` goes: into `to` if that is a directory or is written with a slash at its end, else under that name.
fn target(context: &Context, to: &str, place: &Place) -> Result<Place, Failure> {
    let workspace = &context.workspace;
    let named = to.trim_end_matches('/');
    let directory = match workspace.resolve(if named.is_empty() { to } else { named }, Access::Write) {
        Ok(directory) if to.ends_with('/') => directory,
        Err(failure) if failure.code == Code::Outside => return Err(failure),
        Ok(found) if workspace.metadata(&found).is_ok_and(|metadata| metadata.is_dir()) => found,
        _ => return workspace.resolve_entry(named),
    };
    let name = place.path().file_name().unwrap_or_default();
    workspace.entry(&directory, name).map_err(|_| workspace.outside(to))
}

fn make(mut arguments: Arguments, context: &Context) -> Prepared {
    let path = arguments.need_text(&PATH)?;
    let place = context.workspace.resolve(path.trim_end_matches('/'), Access::Write)?;
    context.may_write(&place)?;
    if place.exists && !context.workspace.metadata(&place).is_ok_and(|metadata| metadata.is_dir()) {
        return Err(Failure::new(
            Code::Exists,
            format!("{} is there already, and no directory.", place.shown),
        ));
    }
    let what = if place.exists { "it is there already" } else { "new" };
    Ok(Box::new(Arrange {
        action: Action::MakeDirectory,
        place,
        to: None,
        found: Vec::new(),
        what: what.into(),
    }))
}

/// What stands at a place that may be taken from there, and below it: no repository.
fn movable(context: &Context, place: &Place) -> Result<Vec<(Place, Found)>, Failure> {
    context.may_write(place)?;
    let found = context.found_at(place)?;
    if found[0].1 == Found::Nothing {
        return Err(context.not_found(&place.shown));
    }
    for (inner, _) in &found {
        context.may_write(inner)?;
    }
    Ok(found)
}

fn found_nothing(context: &Context, place: &Place) -> Result<bool, Failure> {
    let found = context.workspace.find(place).map_err(|obstacle| context.failure(&obstacle, place))?;
    Ok(found == Found::Nothing)
}

/// `a file of 12 B`, `2 directories, 3 files, 1.2 kB`.
fn what(found: &[(Place, Found)]) -> String {
    let (mut directories, mut files, mut links, mut bytes) = (0, 0, 0, 0);
    for (_, found) in found {
        match found {
            Found::Nothing => {}
            Found::Directory { .. } => directories += 1,
            Found::Link { .. } => links += 1,
            Found::File { len, .. } => (files, bytes) = (files + 1, bytes + len),
        }
    }
    let counts = [(directories, "directory"), (files, "file"), (links, "link")];
    let mut parts: Vec<_> =
        counts.iter().filter(|(n, _)| *n > 0).map(|(n, noun)| counted(*n, noun)).collect();
    if files > 0 {
        parts.push(sized(bytes));
    }
    parts.join(", ")
}

impl Job for Arrange {
    fn class(&self) -> Class {
        Class::Write
    }

    fn question(&self, context: &Context) -> Result<Question, Failure> {
        let subject = Subject::Arrange {
            action: self.action,
            path: self.place.shown.clone(),
            to: self.to.as_ref().map(|to| to.shown.clone()),
            what: self.what.clone(),
            entries: self.entries(),
        };
        let mut question = Question::new(super::TOOL.name, subject);
        let moved = |place: &Place| self.to.as_ref().map(|to| place.moved(&self.place, to));
        let places = self.found.iter().flat_map(|(place, _)| [Some(place.clone()), moved(place)]).flatten();
        for place in places.chain([self.place.clone()]) {
            if let Some(caution) = context.caution(&place)
                && question.cautions.len() < 5
            {
                question.cautions.push(format!("{}: {caution}", place.shown));
            }
        }
        question.cautions.dedup();
        if self.action == Action::Delete {
            question.cautions.extend(loss(&DELETE, context).map(str::to_owned));
        }
        Ok(question)
    }

    fn run(self: Box<Self>, context: &Context, control: &Control<'_>) -> Result<ToolResult, Failure> {
        control.check()?;
        let writing = context.workspace.writing([Some(&self.place), self.to.as_ref()].into_iter().flatten());
        let (changes, tool) = match (self.action, &self.to) {
            (Action::Copy, Some(to)) => (self.copies(context, to)?, COPY.name),
            (Action::Move, Some(to)) => {
                (vec![Change::Move { from: self.place.clone(), to: to.clone() }], MOVE.name)
            }
            (Action::MakeDirectory, _) => {
                (vec![Change::MakeDirectory { place: self.place.clone(), mode: None }], MAKE.name)
            }
            _ => {
                let remove = |(place, _): &(Place, Found)| Change::Remove { place: place.clone() };
                (self.found.iter().rev().map(remove).collect(), DELETE.name)
            }
        };
        if self.action == Action::MakeDirectory && self.place.exists {
            return Ok(ToolResult::success(format!("No change: {} is there already.", self.place.shown)));
        }
        let notes = context.commit(&Purpose::from(tool), &changes, &writing)?;
        let mut result = ToolResult::success(self.said(context));
        result.changes = self.changes();
        for note in notes {
            result.note(note);
        }
        Ok(result)
    }
}

impl Arrange {
    /// All that is read and changed.
    fn entries(&self) -> Entries {
        let found: Vec<String> = self.found.iter().map(|(place, _)| place.shown.clone()).collect();
        let mut entries = match self.action {
            Action::MakeDirectory => {
                Entries { written: vec![self.place.shown.clone()], ..Entries::default() }
            }
            _ => Entries::default(),
        };
        entries.add(&found, self.action, &self.place.shown, self.to.as_ref().map(|to| to.shown.as_str()));
        entries
    }

    /// All that is found, made anew at `to`.
    fn copies(&self, context: &Context, to: &Place) -> Result<Vec<Change<'static>>, Failure> {
        let mut total = 0;
        let mut changes = Vec::new();
        for (from, found) in &self.found {
            let place = from.moved(&self.place, to);
            changes.push(match found {
                Found::Nothing => continue,
                Found::Directory { mode } => Change::MakeDirectory { place, mode: Some(*mode & !SET_GROUP) },
                Found::Link { target } => Change::MakeLink { place, target: target.clone() },
                Found::File { mode, len, .. } => {
                    total += len;
                    if total > MAX_KEPT {
                        let cause = format!(
                            "{} has more than {}; that is too much.",
                            self.place.shown,
                            sized(MAX_KEPT)
                        );
                        return Err(Failure::new(Code::TooLarge, cause));
                    }
                    let content = Cow::Owned(context.load(from)?.bytes);
                    Change::Write { place, content, before: None, mode: Some(*mode) }
                }
            });
        }
        Ok(changes)
    }

    fn said(&self, context: &Context) -> String {
        let (shown, what) = (&self.place.shown, &self.what);
        let to = self.to.as_ref().map(|to| to.shown.as_str()).unwrap_or_default();
        match self.action {
            Action::Delete if context.undo.is_some() => format!("Deleted {shown} ({what}; kept for undo)"),
            Action::Delete => format!("Deleted {shown} ({what})"),
            Action::Move => format!("Moved {shown} to {to} ({what})"),
            Action::Copy => format!("Copied {shown} to {to} ({what})"),
            Action::MakeDirectory => format!("Made the directory {shown}"),
        }
    }

    fn changes(&self) -> Vec<FileChange> {
        let change = |place: &Place, kind| FileChange {
            path: place.shown.clone(),
            kind,
            added: 0,
            removed: 0,
            before: None,
        };
        let mut changes = Vec::new();
        if matches!(self.action, Action::Delete | Action::Move) {
            changes.push(change(&self.place, ChangeKind::Removed));
        }
        match &self.to {
            Some(to) => changes.push(change(to, ChangeKind::Created)),
            None if self.action == Action::MakeDirectory => {
                changes.push(change(&self.place, ChangeKind::Created));
            }
            None => {}
        }
        changes
    }
}
