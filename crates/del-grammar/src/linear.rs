//! A grammar as regular pieces around its recursive rules.
//!
//! A lexer that always takes the longest piece cannot go wrong inside a piece. So everything up to the next recursive
//! rule is one piece, whatever rules it was written as, and what stands behind that rule is a rule of its own.

use std::collections::HashMap;

use crate::rules::{Expr, RuleId, Rules};

/// More rules than this are no gain over a grammar of single characters.
const MAX_RULES: usize = 4000;
/// The most repetitions that are told apart where some hold a recursive rule and some do not.
const MAX_UNROLLED: u32 = 64;

/// Rules in which nothing but [`Cut::inner`] and [`Cut::behind`] refers to other rules of the list. The first is the
/// root.
pub(crate) struct Linear {
    pub(crate) list: Vec<LinearRule>,
}

/// A regular text, or one of the cuts.
#[derive(Default)]
pub(crate) struct LinearRule {
    /// What the rule was written as, for people.
    pub(crate) name: String,
    pub(crate) plain: Option<Expr>,
    pub(crate) cuts: Vec<Cut>,
}

/// A recursive rule between what comes before and behind it.
pub(crate) struct Cut {
    pub(crate) before: Expr,
    pub(crate) inner: usize,
    /// None where nothing follows.
    pub(crate) behind: Option<usize>,
}

/// An expression, split at its first recursive rule.
struct Split {
    plain: Option<Expr>,
    cuts: Vec<(Expr, RuleId, Expr)>,
}

impl Linear {
    /// None where it would become too large.
    pub(crate) fn of(rules: &Rules) -> Option<Self> {
        let recursive = rules.recursive();
        let open = |id: RuleId| rules.reachable(&Expr::Rule(id)).iter().any(|id| recursive[id.0]);
        let holds = rules.iter().enumerate().map(|(place, _)| open(RuleId(place))).collect();
        let mut builder = Builder { rules, recursive, holds, places: HashMap::new(), list: Vec::new() };
        builder.place(&Expr::Rule(Rules::root()), "start");
        let mut at = 0;
        while let Some((expr, name)) =
            builder.list.get(at).map(|(expr, rule)| (expr.clone(), rule.name.clone()))
        {
            if builder.list.len() > MAX_RULES {
                return None;
            }
            let body = match &expr {
                Expr::Rule(id) => &rules.get(*id).body,
                expr => expr,
            };
            let split = builder.split(body);
            builder.list[at].1.plain = split.plain;
            for (before, inner, behind) in split.cuts {
                let inner = builder.place(&Expr::Rule(inner), &rules.get(inner).name);
                let behind =
                    (behind != Expr::empty()).then(|| builder.place(&behind, &format!("{name}-behind")));
                let cuts = &mut builder.list[at].1.cuts;
                match cuts.iter_mut().find(|cut| cut.inner == inner && cut.behind == behind) {
                    Some(cut) => {
                        let known = std::mem::replace(&mut cut.before, Expr::empty());
                        cut.before = Expr::choice([known, before]);
                    }
                    None => cuts.push(Cut { before, inner, behind }),
                }
            }
            at += 1;
        }
        Some(Self { list: builder.list.into_iter().map(|(_, rule)| rule).collect() })
    }
}

struct Builder<'r> {
    rules: &'r Rules,
    /// For each rule, whether it is recursive, and whether it holds one that is.
    recursive: Vec<bool>,
    holds: Vec<bool>,
    places: HashMap<Expr, usize>,
    list: Vec<(Expr, LinearRule)>,
}

impl Builder<'_> {
    /// The place of the rule for `expr`, which gets a name like `hint` when it is new.
    fn place(&mut self, expr: &Expr, hint: &str) -> usize {
        let new = self.list.len();
        let place = *self.places.entry(expr.clone()).or_insert(new);
        if place == new {
            self.list.push((expr.clone(), LinearRule { name: hint.to_owned(), ..LinearRule::default() }));
        }
        place
    }

    fn split(&self, expr: &Expr) -> Split {
        match expr {
            Expr::Rule(id) if self.recursive[id.0] => {
                Split { plain: None, cuts: vec![(Expr::empty(), *id, Expr::empty())] }
            }
            Expr::Rule(id) if self.holds[id.0] => self.split(&self.rules.get(*id).body),
            Expr::Sequence(parts) => self.sequence(parts),
            Expr::Choice(parts) => {
                let (mut plain, mut cuts) = (Vec::new(), Vec::new());
                for split in parts.iter().map(|part| self.split(part)) {
                    plain.extend(split.plain);
                    cuts.extend(split.cuts);
                }
                Split { plain: (!plain.is_empty()).then(|| Expr::choice(plain)), cuts }
            }
            Expr::Repeat { of, min, max } => self.repeat(of, *min, *max),
            expr => Split { plain: Some(expr.clone()), cuts: Vec::new() },
        }
    }

    fn sequence(&self, parts: &[Expr]) -> Split {
        let mut plain = Some(Expr::empty());
        let mut cuts = Vec::new();
        for (place, part) in parts.iter().enumerate() {
            let Some(before) = plain else { break };
            let split = self.split(part);
            for (more, inner, behind) in split.cuts {
                let behind =
                    Expr::sequence(std::iter::once(behind).chain(parts[place + 1..].iter().cloned()));
                cuts.push((Expr::sequence([before.clone(), more]), inner, behind));
            }
            plain = split.plain.map(|part| Expr::sequence([before, part]));
        }
        Split { plain, cuts }
    }

    fn repeat(&self, of: &Expr, min: u32, max: Option<u32>) -> Split {
        let split = self.split(of);
        if split.cuts.is_empty() {
            return Split { plain: Some(of.clone().repeat(min, max)), cuts: Vec::new() };
        }
        let max = max.filter(|max| split.plain.is_none() || *max <= MAX_UNROLLED);
        let mut cuts = Vec::new();
        // How many come without a recursive rule, before the first that has one.
        let last = match (&split.plain, max) {
            (None, _) => 0,
            (Some(_), Some(max)) => max - 1,
            (Some(_), None) => min.min(MAX_UNROLLED),
        };
        for passed in 0..=last {
            let open = max.is_none() && passed == last && split.plain.is_some();
            let before = match &split.plain {
                Some(plain) => plain.clone().repeat(passed, (!open).then_some(passed)),
                None => Expr::empty(),
            };
            let left = |count: u32| count.saturating_sub(passed + 1);
            let rest = of.clone().repeat(if open { 0 } else { left(min) }, max.map(left));
            for (more, inner, behind) in &split.cuts {
                let before = Expr::sequence([before.clone(), more.clone()]);
                cuts.push((before, *inner, Expr::sequence([behind.clone(), rest.clone()])));
            }
        }
        let plain = match split.plain {
            Some(plain) => Some(plain.repeat(min, max)),
            None => (min == 0).then(Expr::empty),
        };
        Split { plain, cuts }
    }
}
