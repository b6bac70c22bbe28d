//! Whether a lexer that takes the longest piece always takes the right one.
//!
//! At each place where a piece may end, the characters that the next one may begin with must not go on with any piece
//! that may stand there. Counts are taken for any number, so that a grammar may be refused which is fine, but none
//! is let through which is not.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::linear::{Linear, LinearRule};
use crate::rules::{Class, Expr, Rules};
use crate::without::Automaton;

/// More states than this are not looked at.
const MAX_STATES: usize = 20_000;

/// True when the pieces can be told apart by taking the longest.
pub(crate) fn is_free_of_conflicts(linear: &Linear, rules: &Rules) -> bool {
    let alphabet = Alphabet::of(rules);
    let mut pieces = Vec::new();
    let mut states = 0;
    for rule in &linear.list {
        let Some(piece) = Pieces::of(rule, rules, &alphabet, MAX_STATES.saturating_sub(states)) else {
            return false;
        };
        states += piece.states.len();
        pieces.push(piece);
    }
    let borders = Borders::of(linear, &pieces);
    linear.list.iter().zip(&pieces).enumerate().all(|(place, (rule, pieces))| {
        pieces.states.iter().all(|state| {
            let goes_on = |with: &BTreeSet<usize>| with.iter().any(|atom| state.next.contains_key(atom));
            let ends: Vec<&BTreeSet<usize>> = state
                .ends
                .iter()
                .map(|end| match rule.cuts.get(*end) {
                    Some(cut) => &borders.first[cut.inner],
                    None => &borders.follow[place],
                })
                .collect();
            let apart = |(place, one): (usize, &&BTreeSet<usize>)| {
                ends[place + 1..].iter().all(|other| one.is_disjoint(other))
            };
            ends.iter().all(|with| !goes_on(with)) && ends.iter().enumerate().all(apart)
        })
    })
}

/// What texts of each rule may begin with, and what may stand behind them.
struct Borders {
    first: Vec<BTreeSet<usize>>,
    follow: Vec<BTreeSet<usize>>,
}

impl Borders {
    fn of(linear: &Linear, pieces: &[Pieces]) -> Self {
        let count = linear.list.len();
        let mut empty = vec![false; count];
        let mut borders = Self { first: vec![BTreeSet::new(); count], follow: vec![BTreeSet::new(); count] };
        loop {
            let mut changed = false;
            for (place, (rule, pieces)) in linear.list.iter().zip(pieces).enumerate() {
                let start = &pieces.states[0];
                let mut first: BTreeSet<usize> = start.next.keys().copied().collect();
                let mut is_empty = false;
                for end in &start.ends {
                    match rule.cuts.get(*end) {
                        None => is_empty = true,
                        Some(cut) => {
                            first.extend(&borders.first[cut.inner]);
                            if empty[cut.inner] {
                                first.extend(cut.behind.iter().flat_map(|behind| &borders.first[*behind]));
                                is_empty |= cut.behind.is_none_or(|behind| empty[behind]);
                            }
                        }
                    }
                }
                changed |= is_empty != empty[place] || first != borders.first[place];
                empty[place] = is_empty;
                borders.first[place] = first;
                for cut in &rule.cuts {
                    let mut behind_inner = BTreeSet::new();
                    if let Some(behind) = cut.behind {
                        behind_inner.extend(borders.first[behind].iter().copied());
                        let follow = borders.follow[place].clone();
                        changed |= extend(&mut borders.follow[behind], &follow);
                    }
                    if cut.behind.is_none_or(|behind| empty[behind]) {
                        behind_inner.extend(borders.follow[place].iter().copied());
                    }
                    changed |= extend(&mut borders.follow[cut.inner], &behind_inner);
                }
            }
            if !changed {
                return borders;
            }
        }
    }
}

fn extend(set: &mut BTreeSet<usize>, more: &BTreeSet<usize>) -> bool {
    let before = set.len();
    set.extend(more);
    set.len() > before
}

/// Characters that no class tells apart are one atom.
struct Alphabet {
    /// Where the atoms begin.
    starts: Vec<u32>,
}

impl Alphabet {
    fn of(rules: &Rules) -> Self {
        let mut starts = BTreeSet::from([0]);
        let mut mark = |from: char, to: char| {
            starts.insert(u32::from(from));
            starts.insert(u32::from(to) + 1);
        };
        let mut open: Vec<&Expr> = rules.iter().map(|rule| &rule.body).collect();
        while let Some(expr) = open.pop() {
            match expr {
                Expr::Literal(text) => text.chars().for_each(|c| mark(c, c)),
                Expr::Class(class) => class.ranges.iter().for_each(|(from, to)| mark(*from, *to)),
                Expr::Without(words) => {
                    for state in &Automaton::without(words).states {
                        state.steps.keys().chain(&state.refused).for_each(|c| mark(*c, *c));
                    }
                }
                expr => open.extend(expr.parts()),
            }
        }
        Self { starts: starts.into_iter().collect() }
    }

    fn atom(&self, c: char) -> usize {
        self.starts.partition_point(|start| *start <= u32::from(c)) - 1
    }

    fn atoms(&self, class: &Class) -> Vec<usize> {
        let inside = |atom: &usize| {
            let start = self.starts[*atom];
            class.ranges.iter().any(|(from, to)| (u32::from(*from)..=u32::from(*to)).contains(&start))
        };
        (0..self.starts.len()).filter(|atom| inside(atom) != class.negated).collect()
    }
}

/// The pieces of one rule together, as a deterministic automaton. The first state is where it starts.
struct Pieces {
    states: Vec<State>,
}

#[derive(Default)]
struct State {
    next: BTreeMap<usize, usize>,
    /// The cuts whose text before may end here; the number behind the last is the plain text.
    ends: Vec<usize>,
}

impl Pieces {
    fn of(rule: &LinearRule, rules: &Rules, alphabet: &Alphabet, budget: usize) -> Option<Self> {
        let mut nfa = Nfa { rules, alphabet, nodes: vec![Node::default()], budget: budget * 4 };
        let texts = rule.cuts.iter().map(|cut| Some(&cut.before)).chain([rule.plain.as_ref()]);
        for (place, text) in texts.enumerate() {
            if let Some(text) = text {
                let start = nfa.node();
                nfa.nodes[0].free.push(start);
                let end = nfa.add(text, start)?;
                nfa.nodes[end].ends = Some(place);
            }
        }
        nfa.determined(budget)
    }
}

/// Its first node is where it starts.
struct Nfa<'r> {
    rules: &'r Rules,
    alphabet: &'r Alphabet,
    nodes: Vec<Node>,
    budget: usize,
}

#[derive(Default)]
struct Node {
    steps: Vec<(usize, usize)>,
    free: Vec<usize>,
    ends: Option<usize>,
}

impl Nfa<'_> {
    fn node(&mut self) -> usize {
        self.nodes.push(Node::default());
        self.nodes.len() - 1
    }

    /// The node behind `expr`, which begins at `from`; none where it would become too large.
    fn add(&mut self, expr: &Expr, from: usize) -> Option<usize> {
        if self.nodes.len() > self.budget {
            return None;
        }
        match expr {
            Expr::Literal(text) => {
                let mut at = from;
                for c in text.chars() {
                    let next = self.node();
                    let atom = self.alphabet.atom(c);
                    self.nodes[at].steps.push((atom, next));
                    at = next;
                }
                Some(at)
            }
            Expr::Class(class) => {
                let next = self.node();
                let steps = self.alphabet.atoms(class).into_iter().map(|atom| (atom, next));
                self.nodes[from].steps.extend(steps);
                Some(next)
            }
            Expr::Sequence(parts) => parts.iter().try_fold(from, |at, part| self.add(part, at)),
            Expr::Choice(parts) => {
                let end = self.node();
                for part in parts {
                    let start = self.node();
                    self.nodes[from].free.push(start);
                    let last = self.add(part, start)?;
                    self.nodes[last].free.push(end);
                }
                Some(end)
            }
            Expr::Repeat { of, min, max } => {
                let (start, end) = (self.node(), self.node());
                self.nodes[from].free.push(start);
                let last = self.add(of, start)?;
                self.nodes[last].free.push(end);
                if *min == 0 {
                    self.nodes[from].free.push(end);
                }
                if *max != Some(1) {
                    self.nodes[last].free.push(start);
                }
                Some(end)
            }
            Expr::Rule(id) => {
                let rules = self.rules;
                self.add(&rules.get(*id).body, from)
            }
            Expr::Without(words) => Some(self.add_without(words, from)),
        }
    }

    fn add_without(&mut self, words: &[String], from: usize) -> usize {
        let automaton = Automaton::without(words);
        let base = self.nodes.len();
        let end = base + automaton.states.len();
        self.nodes.resize_with(end + 1, Node::default);
        self.nodes[from].free.push(base);
        for (place, state) in automaton.states.iter().enumerate() {
            let special = state.steps.keys().chain(&state.refused).map(|c| (*c, *c)).collect();
            let others = self.alphabet.atoms(&Class { negated: true, ranges: special });
            let node = &mut self.nodes[base + place];
            node.free.push(end);
            node.steps.extend(others.into_iter().map(|atom| (atom, base)));
            let marked = state.steps.iter().map(|(c, next)| (self.alphabet.atom(*c), base + next));
            node.steps.extend(marked);
        }
        end
    }

    fn determined(&self, budget: usize) -> Option<Pieces> {
        let start = self.closed(BTreeSet::from([0]));
        let mut places = HashMap::from([(start.clone(), 0)]);
        let (mut sets, mut states) = (vec![start], Vec::new());
        while let Some(set) = sets.get(states.len()).cloned() {
            if sets.len() > budget {
                return None;
            }
            let mut next: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
            for &node in &set {
                for &(atom, target) in &self.nodes[node].steps {
                    next.entry(atom).or_default().insert(target);
                }
            }
            let ends: BTreeSet<usize> = set.iter().filter_map(|node| self.nodes[*node].ends).collect();
            let mut state = State { ends: ends.into_iter().collect(), ..State::default() };
            for (atom, targets) in next {
                let targets = self.closed(targets);
                let place = *places.entry(targets.clone()).or_insert_with(|| {
                    sets.push(targets);
                    sets.len() - 1
                });
                state.next.insert(atom, place);
            }
            states.push(state);
        }
        Some(Pieces { states })
    }

    fn closed(&self, mut nodes: BTreeSet<usize>) -> BTreeSet<usize> {
        let mut open: Vec<usize> = nodes.iter().copied().collect();
        while let Some(node) = open.pop() {
            open.extend(self.nodes[node].free.iter().filter(|next| nodes.insert(**next)));
        }
        nodes
    }
}
