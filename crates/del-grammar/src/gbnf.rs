//! Grammars for llama.cpp, and in the same notation for `XGrammar`.

use std::fmt::Write as _;

use crate::rules::{Class, Expr, Rules, times};
use crate::without::{Automaton, place_of};

/// One rule a line, the first of them `root`.
pub(crate) fn print(rules: &Rules) -> String {
    let mut printer = Printer { rules, out: String::new(), automata: Vec::new() };
    for rule in rules.iter() {
        printer.rule(&rule.name, &rule.body);
    }
    printer.automata();
    printer.out
}

/// The same for a part of a grammar: `root` is this expression.
pub(crate) fn print_part(rules: &Rules, root: &Expr) -> String {
    let mut printer = Printer { rules, out: String::new(), automata: Vec::new() };
    printer.rule(&rules.get(Rules::root()).name, root);
    for id in rules.reachable(root) {
        let rule = rules.get(id);
        printer.rule(&rule.name, &rule.body);
    }
    printer.automata();
    printer.out
}

struct Printer<'r> {
    rules: &'r Rules,
    out: String,
    /// Words that texts must not hold; their place is in the names of their rules.
    automata: Vec<Vec<String>>,
}

impl Printer<'_> {
    fn rule(&mut self, name: &str, body: &Expr) {
        let _ = write!(self.out, "{name} ::= ");
        self.alternatives(body);
        self.out.push('\n');
    }

    fn alternatives(&mut self, expr: &Expr) {
        if let Expr::Choice(parts) = expr {
            for (place, part) in parts.iter().enumerate() {
                if place > 0 {
                    self.out.push_str(" | ");
                }
                self.sequence(part);
            }
        } else {
            self.sequence(expr);
        }
    }

    fn sequence(&mut self, expr: &Expr) {
        if let Expr::Sequence(parts) = expr {
            for (place, part) in parts.iter().enumerate() {
                if place > 0 {
                    self.out.push(' ');
                }
                self.item(part);
            }
        } else {
            self.item(expr);
        }
    }

    fn item(&mut self, expr: &Expr) {
        match expr {
            Expr::Literal(text) => self.literal(text),
            Expr::Class(class) => self.class(class),
            Expr::Rule(id) => self.out.push_str(&self.rules.get(*id).name),
            Expr::Sequence(_) | Expr::Choice(_) => {
                self.out.push('(');
                self.alternatives(expr);
                self.out.push(')');
            }
            Expr::Repeat { of, min, max } => {
                if matches!(**of, Expr::Repeat { .. }) {
                    self.out.push('(');
                    self.item(of);
                    self.out.push(')');
                } else {
                    self.item(of);
                }
                self.out.push_str(&times(*min, *max));
            }
            Expr::Without(words) => {
                let place = place_of(words, &mut self.automata);
                self.out.push_str(&state_name(place, 0));
            }
        }
    }

    fn literal(&mut self, text: &str) {
        self.out.push('"');
        for c in text.chars() {
            match c {
                '"' => self.out.push_str("\\\""),
                c => self.character(c),
            }
        }
        self.out.push('"');
    }

    fn class(&mut self, class: &Class) {
        self.out.push_str(if class.negated { "[^" } else { "[" });
        if class.negated && class.ranges.is_empty() {
            // An empty set is none to llama.cpp; no text holds this character.
            self.character('\0');
        }
        for &(from, to) in &class.ranges {
            self.class_character(from);
            if from != to {
                self.out.push('-');
                self.class_character(to);
            }
        }
        self.out.push(']');
    }

    fn class_character(&mut self, c: char) {
        match c {
            ']' => self.out.push_str("\\]"),
            '[' => self.out.push_str("\\["),
            '^' | '-' => {
                let _ = write!(self.out, "\\x{:02x}", u32::from(c));
            }
            c => self.character(c),
        }
    }

    fn character(&mut self, c: char) {
        match c {
            '\\' => self.out.push_str("\\\\"),
            '\n' => self.out.push_str("\\n"),
            '\r' => self.out.push_str("\\r"),
            '\t' => self.out.push_str("\\t"),
            '\0'..='\x1f' | '\x7f' => {
                let _ = write!(self.out, "\\x{:02x}", u32::from(c));
            }
            // No one sees these.
            '\u{80}'..='\u{a0}' | '\u{2000}'..='\u{200f}' | '\u{2028}'..='\u{202f}' | '\u{feff}' => {
                let _ = write!(self.out, "\\u{:04x}", u32::from(c));
            }
            char::MAX => self.out.push_str("\\U0010ffff"),
            c => self.out.push(c),
        }
    }

    /// The states of the automata as rules: each a character and the next state, or the end.
    fn automata(&mut self) {
        for (place, words) in std::mem::take(&mut self.automata).iter().enumerate() {
            for (number, state) in Automaton::without(words).states.iter().enumerate() {
                let mut targets: Vec<(usize, Vec<char>)> = Vec::new();
                for (&c, &target) in &state.steps {
                    match targets.iter_mut().find(|(known, _)| *known == target) {
                        Some((_, chars)) => chars.push(c),
                        None => targets.push((target, vec![c])),
                    }
                }
                let special: Vec<(char, char)> =
                    state.steps.keys().chain(&state.refused).map(|&c| (c, c)).collect();
                let _ = write!(self.out, "{} ::= ", state_name(place, number));
                self.class(&Class::not(&special));
                let _ = write!(self.out, " {}", state_name(place, 0));
                for (target, chars) in targets {
                    self.out.push_str(" | ");
                    self.class(&Class::of(chars));
                    let _ = write!(self.out, " {}", state_name(place, target));
                }
                self.out.push_str(" | \"\"\n");
            }
        }
    }
}

/// No rule has such a name: names of rules do not begin with a capital letter.
fn state_name(automaton: usize, state: usize) -> String {
    if state == 0 { format!("W{automaton}") } else { format!("W{automaton}-{state}") }
}
