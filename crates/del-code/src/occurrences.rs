//! Where a name occurs, and as what.

use std::collections::HashMap;

use memchr::memmem;
use tree_sitter::TreeCursor;

use crate::grammar::{Grammar, role};
use crate::outline::Symbol;
use crate::source::Source;

/// More occurrences in one text are not looked for.
const MAX_FOUND: usize = 10_000;

/// Where a name occurs in a text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Occurrences {
    /// In the order of the text.
    pub found: Vec<Occurrence>,
    /// Those in comments and strings, which are not listed.
    pub skipped: usize,
}

/// One place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Occurrence {
    /// The byte where it begins.
    pub at: usize,
    /// What the name is there.
    pub label: Label,
    /// What it is defined as, with the names around it, where it is a symbol's definition.
    pub symbol: Option<String>,
}

/// What a name is at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Label {
    /// It is defined here.
    Def,
    /// It is called or constructed.
    Call,
    /// It is imported.
    Import,
    /// It is used as a type.
    Type,
    /// Anything else.
    Ref,
    /// A word in a text that no grammar reads.
    Text,
}

impl Label {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Def => "def",
            Self::Call => "call",
            Self::Import => "import",
            Self::Type => "type",
            Self::Ref => "ref",
            Self::Text => "text",
        }
    }
}

/// The bytes at which `name` begins in `text` as a whole word.
pub fn words<'a>(text: &'a str, name: &'a str) -> impl Iterator<Item = usize> + 'a {
    let part = |c: char| c.is_alphanumeric() || c == '_';
    let (open, close) = (name.starts_with(part), name.ends_with(part));
    let whole = move |at: &usize| {
        let before = text[..*at].chars().next_back().is_some_and(part);
        let after = text[at + name.len()..].chars().next().is_some_and(part);
        let part_of_another = (open && before) || (close && after);
        !part_of_another
    };
    memmem::find_iter(text.as_bytes(), name).filter(move |at| !name.is_empty() && whole(at))
}

impl Source<'_> {
    /// Looks for `name`, which is one word and not qualified.
    pub fn occurrences(&self, name: &str) -> Occurrences {
        let hits: Vec<_> = words(self.text, name).take(MAX_FOUND).collect();
        let mut reader = Reader {
            grammar: self.grammar,
            symbols: HashMap::new(),
            hits: &hits,
            length: name.len(),
            above: Vec::new(),
            occurrences: Occurrences::default(),
        };
        if hits.is_empty() {
            return reader.occurrences;
        }
        let outline = self.outline();
        reader.symbols = outline.symbols.iter().map(|symbol| (symbol.at, symbol)).collect();
        self.walk(|cursor, depth| reader.enter(cursor, depth));
        reader.pass(usize::MAX);
        reader.occurrences
    }
}

/// A node that is being read.
#[derive(Clone, Copy)]
struct Above {
    kind: u16,
    /// The field in which it has the next one.
    field: u16,
    end: usize,
    /// Whether what is in it is part of a comment or a string.
    quoted: bool,
}

struct Reader<'a> {
    grammar: &'a Grammar,
    /// By where their names begin.
    symbols: HashMap<usize, &'a Symbol>,
    /// Those that are still to be found.
    hits: &'a [usize],
    length: usize,
    /// The nodes above.
    above: Vec<Above>,
    occurrences: Occurrences,
}

impl Reader<'_> {
    /// Goes down to the innermost node of each hit.
    fn enter(&mut self, cursor: &TreeCursor<'_>, depth: usize) -> bool {
        let node = cursor.node();
        self.pass(node.start_byte());
        self.above.truncate(depth);
        if let Some(parent) = self.above.last_mut() {
            parent.field = cursor.field_id().map_or(0, u16::from);
        }
        let Some(at) = self.hits.first().copied().filter(|at| *at < node.end_byte()) else { return false };
        let kind = node.kind_id();
        let around = self.above.last().is_some_and(|node| node.quoted);
        let quoted = self.grammar.is(kind, role::COMMENT | role::STRING)
            || (around && !self.grammar.is(kind, role::INTERPOLATION));
        self.above.push(Above { kind, field: 0, end: node.end_byte(), quoted });
        if node.child_count() > 0 {
            return true;
        }
        if node.start_byte() == at && node.end_byte() == at + self.length {
            self.take(at, true);
            self.hits = &self.hits[1..];
        }
        false
    }

    /// Takes what lies before `start` and in no leaf that is the name itself: it belongs to the last node around it.
    fn pass(&mut self, start: usize) {
        while let Some((at, rest)) = self.hits.split_first()
            && *at < start
        {
            while self.above.last().is_some_and(|node| node.end <= *at) {
                self.above.pop();
            }
            self.take(*at, false);
            self.hits = rest;
        }
    }

    /// `exact` says that the innermost node is the name and nothing else.
    fn take(&mut self, at: usize, exact: bool) {
        if self.above.last().is_some_and(|node| node.quoted) {
            self.occurrences.skipped += 1;
            return;
        }
        let symbol = self.symbols.get(&at).map(|symbol| symbol.name.clone());
        let label = if symbol.is_some() {
            Label::Def
        } else if exact {
            self.label()
        } else {
            Label::Ref
        };
        self.occurrences.found.push(Occurrence { at, label, symbol });
    }

    /// What the innermost node is.
    fn label(&self) -> Label {
        let stands = |node: &Above, role| self.grammar.stands(node.kind, node.field, role);
        let around = || self.above.iter().rev().skip(1);
        let mut unwrapped = around().skip_while(|node| stands(node, role::WITHIN));
        if unwrapped.next().is_some_and(|node| stands(node, role::DEFINITION)) {
            return Label::Def;
        }
        for node in around() {
            if stands(node, role::CALL) {
                return Label::Call;
            }
            if !stands(node, role::MEMBER) {
                break;
            }
        }
        if around().take(12).any(|node| self.grammar.is(node.kind, role::IMPORT)) {
            return Label::Import;
        }
        let typed = |node: &Above| self.grammar.is(node.kind, role::TYPE) || stands(node, role::TYPE);
        if self.above.iter().rev().take(8).any(typed) { Label::Type } else { Label::Ref }
    }
}
