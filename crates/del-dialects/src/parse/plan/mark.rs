//! What a spelling in text may be: the beginning of a call, the edge of something, or nothing by itself.

use super::{Plan, Then, bit, is_distinct};
use crate::codec::reading::MAX_SPACE;
use crate::dialect::Slot;
use crate::parse::character::starts_name;
use crate::tool::Tool;
use crate::value::white_space;

/// What a spelling in text may be.
#[derive(Debug, Default)]
pub(in crate::parse) struct TextMark {
    pub(in crate::parse) spelling: String,
    /// Walks of which it may be the beginning, in order of preference.
    pub(in crate::parse) openers: Vec<Opener>,
    pub(in crate::parse) thought: Option<usize>,
    pub(in crate::parse) thought_end: Option<ThoughtEnd>,
    pub(in crate::parse) invented: Option<usize>,
    pub(in crate::parse) wrapper: Option<Wrapper>,
    /// A call may have its name right before it, and lack the marks before that.
    pub(in crate::parse) headed: Option<Headed>,
    /// It has no meaning by itself and is dropped: a closer, or the end of a turn.
    pub(in crate::parse) dropped: Option<Dropped>,
    /// It ends a value in calls of these walks.
    pub(in crate::parse) values: Vec<usize>,
    /// It opens calls and means nothing else, and where none begins nothing in it does.
    pub(in crate::parse) only_opens: bool,
    /// It is what is left of a header whose marks were taken out.
    pub(super) residue: bool,
}

impl TextMark {
    /// True when it only counts at the start of a line.
    pub(in crate::parse) fn is_line(&self) -> bool {
        !self.has_other_meaning() && self.openers.iter().all(|opener| opener.line_start)
    }

    fn has_other_meaning(&self) -> bool {
        self.is_told() || self.dropped.is_some() || self.wrapper.is_some()
    }

    /// True when it begins or ends a thought, or begins a result.
    pub(in crate::parse) fn is_told(&self) -> bool {
        self.thought.is_some() || self.thought_end.is_some() || self.invented.is_some()
    }

    /// True when it means something wherever it stands, and whatever follows it.
    pub(in crate::parse) fn is_markup(&self, plan: &Plan) -> bool {
        let opens = |opener: &Opener| {
            let walk = &plan.walks[opener.walk];
            walk.dialect.tool.is_none() && !walk.needs_declared
        };
        self.dropped.is_some() || self.is_told() || self.openers.iter().any(opens)
    }

    /// True when it opens calls and means nothing else, neither follows a name nor ends a value, and is too short to be
    /// talked about.
    pub(super) fn is_opener_alone(&self) -> bool {
        let single = self.spelling.chars().nth(1).is_none();
        let line = |opener: &Opener| opener.line_start;
        !self.has_other_meaning()
            && self.headed.is_none()
            && self.values.is_empty()
            && !is_distinct(&self.spelling)
            && (single || self.openers.iter().all(line))
    }

    /// True when a call of it may begin within a line: one that may stand anywhere, and has its name `behind` the mark if it
    /// needs one.
    pub(in crate::parse) fn may_open(&self, plan: &Plan, tools: &[Tool], behind: &str) -> bool {
        let named = |opener: &Opener| opener.may_be_named(plan, tools, behind) != Some(false);
        self.openers.iter().any(|opener| !opener.line_start && named(opener))
    }
}

/// What follows the name of a call.
#[derive(Debug, Clone, Copy)]
pub(in crate::parse) struct Headed {
    pub(in crate::parse) walk: usize,
    /// The step of the name.
    pub(in crate::parse) step: usize,
    /// It closes a call without arguments.
    pub(in crate::parse) closer: bool,
    /// The name begins a line.
    pub(in crate::parse) line: bool,
}

/// A mark around the answer for the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::parse) enum Wrapper {
    Begin,
    /// This stands before it.
    End(String),
}

/// The end of thinking.
#[derive(Debug)]
pub(in crate::parse) struct ThoughtEnd {
    /// What is written before the mark.
    pub(in crate::parse) before: String,
    /// A template may end inside the thinking, so that no opening mark is in the answer.
    pub(in crate::parse) prefilled: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::parse) enum Dropped {
    Closer,
    /// A closer in messages to tools, and text in any other.
    Inside,
    /// A closer of a value, where it begins a line or follows a call.
    Value,
    TurnEnd,
    /// Before or behind a text, whatever the dialect; behind a space it is a word of a sentence.
    Edge,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::parse) struct Opener {
    pub(in crate::parse) walk: usize,
    /// Only at the start of a line.
    pub(in crate::parse) line_start: bool,
    /// At the end of a sentence as well, before the end of its line.
    pub(in crate::parse) announced: bool,
    /// A mark that is written before it is missing: others are tried first.
    pub(super) skips: bool,
    /// The step whose mark it is; none when it begins the arguments.
    pub(in crate::parse) step: Option<usize>,
}

impl Opener {
    /// The beginning of a call by whatever stands there.
    pub(in crate::parse) fn of(walk: usize) -> Self {
        Self { walk, line_start: false, announced: false, skips: false, step: None }
    }

    /// True when a word is all that begins the call, and the mark before it is missing.
    pub(in crate::parse) fn is_worded(&self, plan: &Plan) -> bool {
        let walk = &plan.walks[self.walk];
        self.step.is_some_and(|step| walk.is_worded(bit(step)))
    }

    /// False where the mark makes a call only before the name of a declared tool, and `behind` it there is none; none when
    /// that cannot be said yet.
    pub(in crate::parse) fn may_be_named(&self, plan: &Plan, tools: &[Tool], behind: &str) -> Option<bool> {
        let walk = &plan.walks[self.walk];
        let head = self.step.is_some_and(|step| walk.head(step + 1).is_some());
        if head && walk.needs_declared { may_be_named(tools, behind) } else { Some(true) }
    }

    /// False where neither a mark nor a name follows the mark, and one of them has to.
    pub(in crate::parse) fn may_go_on(&self, plan: &Plan, behind: &str) -> bool {
        let Some(step) = self.step else { return true };
        let walk = &plan.walks[self.walk];
        let rest = &behind[white_space(behind.as_bytes())..];
        let Some(site) = walk.expected().sites.get(step + 1) else { return true };
        let named = |step: usize| walk.head(step).is_some_and(|head| head.parts.contains(&Slot::Name));
        let nameless = matches!(site.then, Then::Head(step) if named(step)) && !starts_name(rest, 0);
        rest.is_empty() || !nameless || site.marks.starts(rest.as_bytes()) != Some(false)
    }

    /// True when what begins is the header of a message.
    pub(in crate::parse) fn is_header(&self, plan: &Plan) -> bool {
        self.step.is_none() && plan.walks[self.walk].heading.is_some()
    }
}

/// True when `text` begins with the name of one of `tools`; none where it may go on as one.
pub(in crate::parse) fn may_be_named(tools: &[Tool], text: &str) -> Option<bool> {
    let name = &text[white_space(&text.as_bytes()[..text.len().min(MAX_SPACE)])..];
    let first = name.as_bytes().first();
    // Mostly none begins so, which is seen without a look at the rest.
    let begins = |tool: &&Tool| first.is_none() || tool.name.as_bytes().first() == first;
    let mut open = false;
    for tool in tools.iter().filter(begins) {
        if name.starts_with(tool.name.as_str()) {
            return Some(true);
        }
        open |= tool.name.starts_with(name);
    }
    (!open).then_some(false)
}

/// True when the name of one of `tools` is `word`, or begins with it.
pub(in crate::parse) fn begins_a_name(tools: &[Tool], word: &str) -> bool {
    tools.iter().any(|tool| tool.name.starts_with(word))
}
