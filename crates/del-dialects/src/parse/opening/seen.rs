//! What is known of an opening so far.

use super::{From, Opening, Place};
use crate::codec::attributes;
use crate::dialect::is_plain_tag;
use crate::parse::Io;
use crate::parse::plan::{Plan, Then, Walk, may_be_named};
use crate::tool::{Tool, may_have};

impl Opening {
    /// The name from the head, if it is there.
    pub(in crate::parse) fn name<'t>(&self, io: &Io<'t>) -> Option<&'t str> {
        self.name.map(|(from, to)| &io.text[io.at + from..io.at + to])
    }

    /// The tool that is called, where the head or the form of the call says it. No call begins without one.
    pub(in crate::parse) fn called<'t>(&self, io: &Io<'t>) -> Option<&'t str> {
        let plan = io.plan;
        self.name(io).or(plan.walks[self.walk].dialect.tool.as_deref())
    }

    /// The text behind the mark that was found.
    pub(in crate::parse) fn behind<'t>(&self, io: &Io<'t>) -> &'t str {
        &io.text[(io.at + self.found).min(io.text.len())..]
    }

    /// The id from the head, if it is there.
    pub(in crate::parse) fn id<'t>(&self, io: &Io<'t>) -> Option<&'t str> {
        self.id.map(|(from, to)| &io.text[io.at + from..io.at + to])
    }

    /// True where anything but a known name would more likely be data than a call.
    pub(in crate::parse) fn is_doubtful(&self) -> bool {
        !matches!(self.from, From::Text { fresh: true } | From::Gap)
    }

    /// True when the mark that was found is made of words, as text is, and the one before it is missing: what follows has
    /// to prove that this is a call.
    pub(in crate::parse) fn is_worded(&self, plan: &Plan) -> bool {
        plan.walks[self.walk].is_worded(self.opened)
    }

    /// True when nothing but words was passed.
    pub(in crate::parse) fn has_words_alone(&self, plan: &Plan) -> bool {
        self.opened != 0 && plan.walks[self.walk].has_words_alone(self.opened)
    }

    /// True when it was found by a tag that any document may hold.
    pub(in crate::parse) fn is_plain(&self, io: &Io<'_>) -> bool {
        is_plain_tag(&io.text[io.at + self.start..io.at + self.found])
    }

    /// True when a token of the model's markup was passed.
    pub(in crate::parse) fn has_token(&self, plan: &Plan) -> bool {
        plan.walks[self.walk].has_token(self.opened)
    }

    /// True behind the head, where only arguments or a closer are missing, and a line ended.
    pub(in crate::parse) fn awaits_arguments(&self, walk: &Walk, io: &Io<'_>) -> bool {
        let rest = &io.text[io.at + self.token..];
        self.place == Place::Site
            && walk.expected().sites[self.step].then == Then::Args
            && rest.contains('\n')
            && rest.trim().is_empty()
    }

    /// True when it was found behind a call.
    pub(in crate::parse) fn is_behind_a_call(&self) -> bool {
        self.from == From::Gap
    }

    /// True when it was found in thinking.
    pub(in crate::parse) fn in_a_thought(&self) -> bool {
        matches!(self.from, From::Thought(_))
    }

    /// Where words behind the name in its tag say what may be an argument of the tool, which no value is read from.
    pub(in crate::parse) fn says_argument(&self, io: &Io<'_>, tool: Option<&Tool>) -> Option<usize> {
        let ((_, end), tool) = (self.name?, tool?);
        let (from, to) = (io.at + end, io.at + self.token);
        let tag = io.text.get(from..to)?.split(['<', '>', '\n']).next();
        let behind = tag.filter(|behind| behind.contains('='))?;
        let walk = &io.plan.walks[self.walk];
        let is_own = |name: &str| {
            let mut heads = (0..self.step).filter_map(|step| walk.head(step));
            heads.any(|head| head.attributes.contains_key(name))
        };
        let is_argument = |name: &str| !is_own(name) && may_have(Some(tool), name);
        attributes::say_more(behind, is_argument).then_some(from)
    }

    /// Where reading goes on.
    pub(in crate::parse) fn token(&self) -> usize {
        self.token
    }

    /// Where the markup begins.
    pub(in crate::parse) fn start(&self) -> usize {
        self.start
    }

    /// False where the name stands that is none of a declared tool.
    pub(in crate::parse) fn may_be_declared(&self, io: &Io<'_>, tools: &[Tool]) -> bool {
        match (self.name(io), self.place) {
            (Some(name), _) => tools.iter().any(|tool| tool.name == name),
            (None, Place::Head(_)) => may_be_named(tools, &io.text[io.at + self.token..]) != Some(false),
            _ => true,
        }
    }
}
