//! Grammars for llguidance, in its dialect of Lark.
//!
//! Its lexer takes the longest piece and never goes back. A regular grammar is one piece. Another is cut into pieces
//! around its recursive rules; where those could be taken wrongly, each character is a piece.

use std::fmt::Write as _;

use del_dialects::spelling;

use crate::conflict::is_free_of_conflicts;
use crate::linear::Linear;
use crate::regex::{class, escaped};
use crate::rules::{Class, Expr, RuleId, Rules, times};
use crate::without::{Automaton, place_of};

/// One rule a line, the first of them `start`.
pub(crate) fn print(rules: &Rules) -> String {
    let linear = Linear::of(rules).filter(|linear| is_free_of_conflicts(linear, rules));
    let mut printer = Printer { rules, out: String::new(), automata: Vec::new() };
    match linear {
        Some(linear) => printer.pieces(&linear),
        None => printer.characters(),
    }
    printer.out
}

struct Printer<'r> {
    rules: &'r Rules,
    out: String,
    /// Words that texts must not hold; their place is in the names of their rules.
    automata: Vec<Vec<String>>,
}

impl Printer<'_> {
    fn pieces(&mut self, linear: &Linear) {
        let names = names(linear);
        let mut terminals: Vec<(String, Expr)> = Vec::new();
        for (place, rule) in linear.list.iter().enumerate() {
            let mut ways = Vec::new();
            let mut terminal = |what: &str, expr: &Expr| match expr {
                Expr::Rule(id) => terminal_name(self.rules, *id),
                expr => {
                    let name = format!("{}_{what}", names[place].to_ascii_uppercase());
                    terminals.push((name.clone(), expr.clone()));
                    name
                }
            };
            if let Some(plain) = &rule.plain {
                ways.push(if *plain == Expr::empty() { "\"\"".to_owned() } else { terminal("TEXT", plain) });
            }
            for (number, cut) in rule.cuts.iter().enumerate() {
                let mut way = Vec::new();
                if cut.before != Expr::empty() {
                    way.push(terminal(&format!("TO_{}", number + 1), &cut.before));
                }
                way.push(names[cut.inner].clone());
                way.extend(cut.behind.map(|behind| names[behind].clone()));
                ways.push(way.join(" "));
            }
            let _ = writeln!(self.out, "{}: {}", names[place], ways.join(" | "));
        }
        let mut used: Vec<RuleId> = Vec::new();
        let plain = linear.list.iter().filter_map(|rule| rule.plain.as_ref());
        let before = linear.list.iter().flat_map(|rule| rule.cuts.iter().map(|cut| &cut.before));
        for id in plain.chain(before).flat_map(|expr| self.rules.reachable(expr)) {
            if !used.contains(&id) {
                used.push(id);
            }
        }
        for (name, expr) in &terminals {
            self.terminal(name, expr);
        }
        for id in used {
            self.terminal(&terminal_name(self.rules, id), &self.rules.get(id).body);
        }
        for place in 0..self.automata.len() {
            let words: Vec<String> = self.automata[place].iter().map(|word| refused(word)).collect();
            let _ = writeln!(self.out, "W_{place}: /(?s:.*)/ & ~/(?s:.*)({})(?s:.*)/", words.join("|"));
        }
    }

    fn terminal(&mut self, name: &str, body: &Expr) {
        let _ = write!(self.out, "{name}: ");
        self.alternatives(body, false);
        self.out.push('\n');
    }

    /// Every rule as a rule, every character as a piece.
    fn characters(&mut self) {
        let rules = self.rules;
        for (place, rule) in rules.iter().enumerate() {
            let _ = write!(self.out, "{}: ", rule_name(rules, RuleId(place)));
            self.alternatives(&rule.body, true);
            self.out.push('\n');
        }
        for (place, words) in std::mem::take(&mut self.automata).iter().enumerate() {
            for (number, state) in Automaton::without(words).states.iter().enumerate() {
                let special: Vec<(char, char)> =
                    state.steps.keys().chain(&state.refused).map(|&c| (c, c)).collect();
                let name = |state: usize| format!("w_{place}_{state}");
                let others = class(&Class::not(&special));
                let _ = write!(self.out, "{}: /{others}/ {}", name(number), name(0));
                for (&c, &target) in &state.steps {
                    let _ = write!(self.out, " | {} {}", spelling::string(&c.to_string()), name(target));
                }
                self.out.push_str(" | \"\"\n");
            }
        }
    }

    fn alternatives(&mut self, expr: &Expr, split: bool) {
        if let Expr::Choice(parts) = expr {
            for (place, part) in parts.iter().enumerate() {
                if place > 0 {
                    self.out.push_str(" | ");
                }
                self.sequence(part, split);
            }
        } else {
            self.sequence(expr, split);
        }
    }

    fn sequence(&mut self, expr: &Expr, split: bool) {
        if let Expr::Sequence(parts) = expr {
            for (place, part) in parts.iter().enumerate() {
                if place > 0 {
                    self.out.push(' ');
                }
                self.item(part, split);
            }
        } else {
            self.item(expr, split);
        }
    }

    fn item(&mut self, expr: &Expr, split: bool) {
        match expr {
            Expr::Literal(text) if split && text.chars().count() > 1 => {
                let chars: Vec<String> = text.chars().map(|c| literal(&c.to_string())).collect();
                let _ = write!(self.out, "({})", chars.join(" "));
            }
            Expr::Literal(text) => self.out.push_str(&literal(text)),
            Expr::Class(set) => {
                let _ = write!(self.out, "/{}/", class(set));
            }
            Expr::Rule(id) if split => self.out.push_str(&rule_name(self.rules, *id)),
            Expr::Rule(id) => self.out.push_str(&terminal_name(self.rules, *id)),
            Expr::Sequence(_) | Expr::Choice(_) => {
                self.out.push('(');
                self.alternatives(expr, split);
                self.out.push(')');
            }
            Expr::Repeat { of, min, max } => {
                let nested = matches!(**of, Expr::Repeat { .. });
                self.out.push_str(if nested { "(" } else { "" });
                self.item(of, split);
                self.out.push_str(if nested { ")" } else { "" });
                self.out.push_str(&times(*min, *max));
            }
            Expr::Without(words) => {
                let place = place_of(words, &mut self.automata);
                let _ = if split { write!(self.out, "w_{place}_0") } else { write!(self.out, "W_{place}") };
            }
        }
    }
}

/// A text between quotes, as JSON writes it.
fn literal(text: &str) -> String {
    spelling::string(text).replace('\x7f', "\\u007f")
}

/// What a text must not hold, as a regular expression. A mark with any suffix is refused where the suffix begins.
fn refused(word: &str) -> String {
    match word.split_once(spelling::SUFFIX) {
        Some((head, _)) => escaped(&format!("{head}:")),
        None => escaped(word),
    }
}

/// Names of the rules: the first is `start`, and all differ.
fn names(linear: &Linear) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for (place, rule) in linear.list.iter().enumerate() {
        let plain = format!("r_{}", rule.name.trim_start_matches("r_").replace('-', "_"));
        let plain = if place == 0 { "start".to_owned() } else { plain };
        let short: String = plain.chars().take(MAX_NAME).collect();
        let mut name = short.clone();
        let mut number = 1;
        while names.contains(&name) {
            number += 1;
            name = format!("{short}_{number}");
        }
        names.push(name);
    }
    names
}

/// The longest name, before a number makes it unique.
const MAX_NAME: usize = 64;

/// Names of rules have no `_`, so that none of these is one that is made here.
fn terminal_name(rules: &Rules, id: RuleId) -> String {
    format!("T_{}", rules.get(id).name.to_ascii_uppercase())
}

fn rule_name(rules: &Rules, id: RuleId) -> String {
    if id == Rules::root() { "start".to_owned() } else { format!("r_{}", rules.get(id).name) }
}
