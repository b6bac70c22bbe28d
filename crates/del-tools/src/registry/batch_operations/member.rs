//! One operation of a batch: what it means, what can be shown of it beforehand, and running it at its turn.

use serde_json::{Map, Value};

use super::arrange;
use crate::arguments::{Arguments, PATH, folded};
use crate::class::Class;
use crate::context::Context;
use crate::control::Control;
use crate::job::{Entry, Job};
use crate::outcome::{Code, Failure, ToolResult, excerpt};
use crate::outline::Outline;
use crate::question::{Entries, Part, Question, Subject};
use crate::registry;
use crate::spelt::Spelt;
use crate::workspace::{Access, Place};

/// Keys under which the name of the tool may stand, the better ones first.
const NAMES: [&str; 8] = ["tool", "tool_name", "name", "function", "operation", "op", "type", "action"];
/// Keys under which the arguments may stand.
const ARGUMENTS: [&str; 5] = ["arguments", "parameters", "args", "input", "params"];

/// One operation.
pub(super) struct Member {
    entry: &'static Entry,
    /// The name as the model knows it.
    name: &'static str,
    /// JSON text.
    arguments: String,
}

/// What the user is shown of an operation.
pub(super) struct Shown {
    pub(super) part: Part,
    /// Whether it will fail, as far as can be known.
    fails: bool,
}

/// An operation at its turn.
struct Planned {
    job: Box<dyn Job>,
    question: Question,
    notes: Vec<String>,
}

impl Member {
    /// Understands `{"tool", "arguments"}` and what models write in its place.
    pub(super) fn read(item: &Value, context: &Context) -> Result<Self, Failure> {
        let bad = |cause: &str| Failure::new(Code::BadType, cause);
        let object = match item {
            Value::Object(object) => object.clone(),
            Value::String(text) => serde_json::from_str(text).map_err(|_| bad("expected an object."))?,
            _ => return Err(bad("expected an object.")),
        };
        let (key, name) = NAMES
            .iter()
            .find_map(|key| Some((*key, object.get(*key)?.as_str()?)))
            .ok_or_else(|| Failure::new(Code::MissingArg, "needs 'tool' (string)."))?;
        let entry = entry(name, context)?;
        let arguments = arguments(&object, key);
        let name = if arrange::is_own(entry) { entry.name } else { context.name_of(entry.name) };
        Ok(Self { entry, name, arguments })
    }

    /// What its arguments say of it.
    pub(super) fn outline(&self, context: &Context) -> Option<Outline> {
        if !arrange::is_own(self.entry) {
            return Some(Outline::of(self.entry, self.arguments().ok()?, context));
        }
        let places = self.places(context).unwrap_or_default();
        let paths = places.into_iter().map(|place| place.shown).collect();
        Some(Outline { tool: super::TOOL.name, least: self.entry.class, paths, shows: false })
    }

    /// The operation as others are told of it.
    pub(super) fn spelt(&self) -> Option<Spelt> {
        Some(Spelt::of(self.entry, self.arguments().ok()?))
    }

    /// What can be shown of it before anything runs; `before` comes earlier in the batch.
    pub(super) fn show(&self, context: &Context, before: &[Shown]) -> Shown {
        let changed = |path: &String| {
            before.iter().any(|shown| {
                shown.part.class > Class::Read
                    && shown.part.question.subject.paths().into_iter().any(|other| overlap(other, path))
            })
        };
        match self.plan(context) {
            Ok(Planned { job, mut question, .. }) => {
                self.foresee(&mut question, before, context);
                if question.subject.paths().into_iter().any(changed) {
                    let remark = "shown as things are now; an operation before it changes that";
                    question.remarks.push(remark.to_owned());
                }
                Shown { part: Part { class: job.class(), question }, fails: false }
            }
            Err(failure) => {
                let depends = before.iter().any(|shown| shown.part.class > Class::Read && !shown.fails);
                let places = self.places(context).filter(|_| depends && may_mend(failure.code));
                match places {
                    Some(places) => self.later(&places, before, context),
                    None => self.failing(&failure, context),
                }
            }
        }
    }

    /// Runs it, if it is still what was shown.
    pub(super) fn run(
        &self,
        shown: &Shown,
        context: &Context,
        control: &Control<'_>,
    ) -> Result<ToolResult, Failure> {
        let planned = self.plan(context)?;
        if planned.job.class() > shown.part.class || !shown.part.question.covers(&planned.question) {
            let cause =
                "this has become another operation than the one that was agreed to; call it by itself.";
            return Err(Failure::new(Code::Stale, cause));
        }
        let mut result = planned.job.run(context, control)?;
        for note in &planned.notes {
            result.note(note);
        }
        Ok(result)
    }

    /// `read_file src/a.rs`
    pub(super) fn label(&self, shown: &Shown) -> String {
        match shown.part.question.subject.paths().first() {
            Some(path) => format!("{} {path}", self.name),
            None => self.name.to_owned(),
        }
    }

    fn plan(&self, context: &Context) -> Result<Planned, Failure> {
        let arguments = self.arguments()?;
        let notes = arguments.notes().to_vec();
        let job = (self.entry.prepare)(arguments, context)?;
        let question = job.question(context)?;
        Ok(Planned { job, question, notes })
    }

    fn arguments(&self) -> Result<Arguments, Failure> {
        let definition: Value = serde_json::from_str(self.entry.definition).unwrap_or_default();
        let properties = &definition["function"]["parameters"]["properties"];
        Arguments::read(self.name, &self.arguments, self.entry.parameters, properties)
    }

    /// The places that it is about, where that can be known already and all of them may be touched.
    fn places(&self, context: &Context) -> Option<Vec<Place>> {
        let mut arguments = self.arguments().ok()?;
        let writes = self.entry.class > Class::Read;
        let places = if arrange::is_own(self.entry) {
            arrange::places(self.entry, arguments, context)?
        } else {
            let parameter = self.entry.parameters.iter().find(|parameter| parameter.name == PATH.name)?;
            let access = if writes { Access::Write } else { Access::Read };
            vec![context.workspace.resolve(&arguments.text(parameter)?, access).ok()?]
        };
        let allowed = |place: &Place| !writes || context.may_write(place).is_ok();
        places.iter().all(allowed).then_some(places)
    }

    /// Adds what will have come by then to the entries of an operation on a whole tree.
    fn foresee(&self, question: &mut Question, before: &[Shown], context: &Context) {
        if let Subject::Arrange { entries, .. } = &mut question.subject
            && before.iter().any(|shown| shown.part.class > Class::Read)
            && let Some(places) = self.places(context)
        {
            *entries = self.entries(&places, before, context);
        }
    }

    fn entries(&self, places: &[Place], before: &[Shown], context: &Context) -> Entries {
        let changed = before.iter().filter(|shown| shown.part.class > Class::Read);
        let changed: Vec<Entries> = changed.map(|shown| shown.part.question.subject.changed()).collect();
        arrange::entries(self.entry, places, &changed, context)
    }

    fn later(&self, places: &[Place], before: &[Shown], context: &Context) -> Shown {
        let paths = places.iter().map(|place| place.shown.clone()).collect();
        let entries = self.entries(places, before, context);
        let subject = Subject::Later { paths, arguments: self.arguments.clone(), entries };
        let mut question = Question::new(self.question_name(), subject);
        if self.entry.class > Class::Read {
            let cautions = places.iter().filter_map(|place| context.caution(place));
            let loss = arrange::loss(self.entry, context);
            question.cautions.extend(cautions.chain(loss).map(str::to_owned));
            let unknown = "what comes before it decides what this changes; it cannot be shown yet";
            question.cautions.push(unknown.to_owned());
        }
        Shown { part: Part { class: self.entry.class, question }, fails: false }
    }

    /// Shown as what only reads, so that it is refused should it turn out to do more.
    fn failing(&self, failure: &Failure, context: &Context) -> Shown {
        let places = self.places(context).unwrap_or_default();
        let paths = places.into_iter().map(|place| place.shown).collect();
        let subject =
            Subject::Later { paths, arguments: self.arguments.clone(), entries: Entries::default() };
        let mut question = Question::new(self.question_name(), subject);
        question.remarks.push(format!("would fail: {failure}"));
        Shown { part: Part { class: Class::Read, question }, fails: true }
    }

    fn question_name(&self) -> &'static str {
        if arrange::is_own(self.entry) { super::TOOL.name } else { self.entry.name }
    }
}

fn entry(name: &str, context: &Context) -> Result<&'static Entry, Failure> {
    if let Some(own) = arrange::find(&folded(name)) {
        return Ok(own);
    }
    let offered = |entry: &Entry| context.only.as_ref().is_none_or(|only| only.contains(&entry.name));
    match registry::find(name) {
        Some(entry) if entry.name == super::TOOL.name => {
            Err(Failure::new(Code::BadType, "a batch cannot hold another batch."))
        }
        Some(entry) if offered(entry) => Ok(entry),
        _ => {
            let name = excerpt(name, 80);
            let names: Vec<_> = context
                .names
                .iter()
                .map(|(_, name)| *name)
                .filter(|name| *name != super::TOOL.name)
                .collect();
            let cause =
                format!("unknown tool '{name}'. Available: {}, delete, move, copy, mkdir.", names.join(", "));
            Err(Failure::new(Code::UnknownTool, cause))
        }
    }
}

/// The arguments under a key of their own, or what stands beside the name.
fn arguments(object: &Map<String, Value>, name: &str) -> String {
    for key in ARGUMENTS.iter().filter(|key| **key != name) {
        match object.get(*key) {
            Some(Value::String(text)) if text.trim_start().starts_with('{') => return text.clone(),
            Some(inner @ Value::Object(_)) => return inner.to_string(),
            Some(Value::Null) if object.len() == 2 => return "{}".to_owned(),
            _ => {}
        }
    }
    let mut rest = object.clone();
    rest.shift_remove(name);
    Value::Object(rest).to_string()
}

/// Failures that what comes before may make good.
fn may_mend(code: Code) -> bool {
    matches!(
        code,
        Code::NotFound
            | Code::NoMatch
            | Code::NotUnique
            | Code::NoChange
            | Code::Placeholder
            | Code::Stale
            | Code::Exists
            | Code::IsDir
            | Code::NotDir
    )
}

/// Whether one path lies at or below the other.
fn overlap(one: &str, other: &str) -> bool {
    let (one, other) = (std::path::Path::new(one), std::path::Path::new(other));
    one.starts_with(other) || other.starts_with(one) || one.as_os_str() == "." || other.as_os_str() == "."
}
