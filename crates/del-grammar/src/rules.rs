//! The parts of a grammar, as no target has them and every target knows them.

use std::collections::{HashMap, HashSet};
use std::hash::Hash;

/// Named rules; the first is the root.
#[derive(Debug, Clone, Default)]
pub(crate) struct Rules {
    list: Vec<Rule>,
    /// Rules that stand for one thing throughout, by what it is called and by the syntax that it has.
    shared: HashMap<(&'static str, String), RuleId>,
    /// Names that are taken, with the last number that made one like it unique.
    names: HashMap<String, u32>,
}

#[derive(Debug, Clone)]
pub(crate) struct Rule {
    /// Of ASCII letters, digits and `-`; unique.
    pub(crate) name: String,
    pub(crate) body: Expr,
}

/// A rule by its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct RuleId(pub(crate) usize);

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Expr {
    /// This text; the empty text is what matches nothing else.
    Literal(String),
    /// One character.
    Class(Class),
    Sequence(Vec<Expr>),
    Choice(Vec<Expr>),
    Repeat {
        of: Box<Expr>,
        min: u32,
        max: Option<u32>,
    },
    Rule(RuleId),
    /// Any text, also none, that holds none of these.
    Without(Vec<String>),
}

/// A set of characters.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(crate) struct Class {
    /// True when the ranges are what is *not* in it.
    pub(crate) negated: bool,
    /// Both ends belong to it.
    pub(crate) ranges: Vec<(char, char)>,
}

/// How often something stands, as every target writes it behind it.
pub(crate) fn times(min: u32, max: Option<u32>) -> String {
    match (min, max) {
        (0, Some(1)) => "?".to_owned(),
        (0, None) => "*".to_owned(),
        (1, None) => "+".to_owned(),
        (min, None) => format!("{{{min},}}"),
        (min, Some(max)) if min == max => format!("{{{min}}}"),
        (min, Some(max)) => format!("{{{min},{max}}}"),
    }
}

impl Rules {
    /// A rule that is defined later, under a name like `hint`.
    pub(crate) fn reserve(&mut self, hint: &str) -> RuleId {
        let name = self.name(hint);
        self.list.push(Rule { name, body: Expr::empty() });
        RuleId(self.list.len() - 1)
    }

    pub(crate) fn define(&mut self, id: RuleId, body: Expr) {
        self.list[id.0].body = body;
    }

    /// A rule of its own for `body`.
    pub(crate) fn add(&mut self, hint: &str, body: Expr) -> Expr {
        let id = self.reserve(hint);
        self.define(id, body);
        Expr::Rule(id)
    }

    /// The rule that stands for `what` throughout a syntax; false when it has still to be defined.
    pub(crate) fn shared(&mut self, what: &'static str, syntax: &str) -> (RuleId, bool) {
        let key = (what, syntax.to_owned());
        if let Some(id) = self.shared.get(&key) {
            return (*id, true);
        }
        let id = self.reserve(what);
        self.shared.insert(key, id);
        (id, false)
    }

    /// `body` such that using it twice does not write it twice.
    pub(crate) fn named(&mut self, hint: &str, body: Expr) -> Expr {
        match body {
            Expr::Rule(_) | Expr::Class(_) => body,
            Expr::Literal(text) if text.len() <= 8 => Expr::Literal(text),
            body => self.add(hint, body),
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Rule> {
        self.list.iter()
    }

    pub(crate) fn get(&self, id: RuleId) -> &Rule {
        &self.list[id.0]
    }

    /// The rule that all begins with.
    pub(crate) fn root() -> RuleId {
        RuleId(0)
    }

    /// The rules that `expr` is made of, each once, in the order in which they are met.
    pub(crate) fn reachable(&self, expr: &Expr) -> Vec<RuleId> {
        let (mut found, mut open) = (Vec::new(), vec![expr]);
        let mut seen = vec![false; self.list.len()];
        while let Some(expr) = open.pop() {
            match expr {
                Expr::Rule(id) if !std::mem::replace(&mut seen[id.0], true) => {
                    found.push(*id);
                    open.push(&self.get(*id).body);
                }
                expr => open.extend(expr.parts().iter().rev()),
            }
        }
        found
    }

    /// For each rule, whether it is a part of itself.
    pub(crate) fn recursive(&self) -> Vec<bool> {
        let is_inside = |(place, rule): (usize, &Rule)| self.reachable(&rule.body).contains(&RuleId(place));
        self.list.iter().enumerate().map(is_inside).collect()
    }

    fn name(&mut self, hint: &str) -> String {
        let mut plain: String = hint
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' })
            .collect();
        plain.truncate(MAX_NAME);
        let plain = match plain.trim_matches('-') {
            "" => "rule",
            plain => plain,
        };
        let count = self.names.entry(plain.to_owned()).or_insert(0);
        *count += 1;
        if *count == 1 {
            return plain.to_owned();
        }
        // Another rule may have that name by its own hint.
        let mut number = *count;
        while self.names.contains_key(&format!("{plain}-{number}")) {
            number += 1;
        }
        let name = format!("{plain}-{number}");
        self.names.insert(plain.to_owned(), number);
        self.names.insert(name.clone(), 1);
        name
    }
}

/// Leaves the first of all that are equal. A schema may have thousands.
pub(crate) fn keep_first<T: Hash + Eq>(list: &mut Vec<T>) {
    let mut seen = HashSet::with_capacity(list.len());
    let first: Vec<bool> = list.iter().map(|one| seen.insert(one)).collect();
    let mut first = first.into_iter();
    list.retain(|_| first.next().unwrap_or(true));
}

/// The longest name, before a number makes it unique.
const MAX_NAME: usize = 64;

impl Expr {
    pub(crate) fn empty() -> Self {
        Self::Literal(String::new())
    }

    pub(crate) fn text(text: &str) -> Self {
        Self::Literal(text.to_owned())
    }

    /// One after another; literals that meet become one.
    pub(crate) fn sequence(parts: impl IntoIterator<Item = Self>) -> Self {
        let mut flat: Vec<Self> = Vec::new();
        for part in parts {
            let parts = if let Self::Sequence(parts) = part { parts } else { vec![part] };
            for part in parts {
                match (flat.last_mut(), part) {
                    (_, Self::Literal(text)) if text.is_empty() => {}
                    (Some(Self::Literal(before)), Self::Literal(text)) => before.push_str(&text),
                    (_, part) => flat.push(part),
                }
            }
        }
        match flat.len() {
            0 => Self::empty(),
            1 => flat.remove(0),
            _ => Self::Sequence(flat),
        }
    }

    /// One of these.
    pub(crate) fn choice(parts: impl IntoIterator<Item = Self>) -> Self {
        let mut flat: Vec<Self> = Vec::new();
        for part in parts {
            if let Self::Choice(parts) = part { flat.extend(parts) } else { flat.push(part) }
        }
        keep_first(&mut flat);
        if flat.len() == 1 { flat.remove(0) } else { Self::Choice(flat) }
    }

    /// What it is made of, where that is not one thing alone.
    pub(crate) fn parts(&self) -> &[Self] {
        match self {
            Self::Sequence(parts) | Self::Choice(parts) => parts,
            Self::Repeat { of, .. } => std::slice::from_ref(of),
            _ => &[],
        }
    }

    pub(crate) fn optional(self) -> Self {
        self.repeat(0, Some(1))
    }

    /// `self` may not be empty text.
    pub(crate) fn repeat(self, min: u32, max: Option<u32>) -> Self {
        match (min, max) {
            (_, Some(0)) => Self::empty(),
            (1, Some(1)) => self,
            _ => Self::Repeat { of: Box::new(self), min, max },
        }
    }
}

impl Class {
    pub(crate) fn of(chars: impl IntoIterator<Item = char>) -> Self {
        Self { negated: false, ranges: chars.into_iter().map(|c| (c, c)).collect() }
    }

    pub(crate) fn ranges(ranges: &[(char, char)]) -> Self {
        Self { negated: false, ranges: ranges.to_vec() }
    }

    pub(crate) fn not(ranges: &[(char, char)]) -> Self {
        Self { negated: true, ranges: ranges.to_vec() }
    }

    /// `0` to `9`, or a part of it.
    pub(crate) fn digits(from: u8, to: u8) -> Expr {
        let digit = |value: u8| char::from(b'0' + value.min(9));
        if from == to {
            return Expr::Literal(digit(from).to_string());
        }
        Expr::Class(Self::ranges(&[(digit(from), digit(to))]))
    }
}
