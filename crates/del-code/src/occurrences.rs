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
        !(open && before) && !(close && after)
    };
    let name = if name.is_empty() { "\0\0" } else { name };
    memmem::find_iter(text.as_bytes(), name).filter(whole)
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
        reader.occurrences
    }
}

struct Reader<'a> {
    grammar: &'a Grammar,
    /// By where their names begin.
    symbols: HashMap<usize, &'a Symbol>,
    /// Those that are still to be found.
    hits: &'a [usize],
    length: usize,
    /// The kinds of the nodes above, and the field in which each has the next one.
    above: Vec<(u16, u16)>,
    occurrences: Occurrences,
}

impl Reader<'_> {
    /// Goes down to the innermost node of each hit.
    fn enter(&mut self, cursor: &TreeCursor<'_>, depth: usize) -> bool {
        let node = cursor.node();
        self.above.truncate(depth);
        let field = cursor.field_id().map_or(0, u16::from);
        if let Some(parent) = self.above.last_mut() {
            parent.1 = field;
        }
        // What lies between the nodes belongs to none of them.
        while let Some((at, rest)) = self.hits.split_first()
            && *at < node.start_byte()
        {
            self.take(*at, None);
            self.hits = rest;
        }
        let Some(at) = self.hits.first().copied().filter(|at| *at < node.end_byte()) else { return false };
        let kind = node.kind_id();
        if node.child_count() > 0 {
            self.above.push((kind, 0));
            return true;
        }
        // A leaf: it is the name, or it holds it somewhere.
        let exact = node.start_byte() == at && node.end_byte() == at + self.length;
        while let Some((at, rest)) = self.hits.split_first()
            && *at < node.end_byte()
        {
            self.take(*at, Some((kind, exact)));
            self.hits = rest;
        }
        false
    }

    fn take(&mut self, at: usize, leaf: Option<(u16, bool)>) {
        let quoted = |kind: u16| self.grammar.is(kind, role::COMMENT | role::STRING);
        let code = |kind: u16| self.grammar.is(kind, role::INTERPOLATION);
        let nearest =
            leaf.map(|(kind, _)| kind).into_iter().chain(self.above.iter().rev().map(|(kind, _)| *kind));
        let skipped = nearest.take_while(|kind| !code(*kind)).any(quoted);
        if skipped {
            self.occurrences.skipped += 1;
            return;
        }
        let symbol = self.symbols.get(&at).map(|symbol| symbol.name.clone());
        let label = match leaf {
            _ if symbol.is_some() => Label::Def,
            Some((kind, true)) => self.label(kind),
            _ => Label::Ref,
        };
        self.occurrences.found.push(Occurrence { at, label, symbol });
    }

    fn label(&self, leaf: u16) -> Label {
        let stands = |&(kind, field): &(u16, u16), role| self.grammar.stands(kind, field, role);
        let mut up = self.above.iter().rev().skip_while(|place| stands(place, role::WITHIN));
        if up.next().is_some_and(|place| stands(place, role::DEFINITION)) {
            return Label::Def;
        }
        for place in self.above.iter().rev() {
            if stands(place, role::CALL) {
                return Label::Call;
            }
            if !stands(place, role::MEMBER) {
                break;
            }
        }
        if self.above.iter().rev().take(12).any(|(kind, _)| self.grammar.is(*kind, role::IMPORT)) {
            return Label::Import;
        }
        let near = || self.above.iter().rev().take(8);
        let typed = near().any(|place| stands(place, role::TYPE) || self.grammar.is(place.0, role::TYPE));
        if typed || self.grammar.is(leaf, role::TYPE) { Label::Type } else { Label::Ref }
    }
}
