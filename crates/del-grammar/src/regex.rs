//! One regular expression for a grammar that has no recursive rules.

use std::fmt::Write as _;

use thiserror::Error;

use crate::rules::{Class, Expr, Rules, times};
use crate::without::Automaton;

/// The longest regular expression: engines take no more.
const MAX_LEN: usize = 1 << 20;

/// Why there is no regular expression.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum RegexError {
    /// A rule is a part of itself, as values of any depth are.
    #[error(
        "expected calls of a known depth, got the rule {rule:?} inside itself; give free values a schema"
    )]
    Recursive {
        /// The rule's name, as the other formats show it.
        rule: String,
    },
    /// Its rules, each written out wherever it is used, are too long.
    #[error("expected at most {MAX_LEN} bytes for the regular expression, got more")]
    TooLong,
}

/// A regular expression for whole texts, without anchors. It knows groups, classes, counts and escapes of characters
/// alone, which every engine has.
pub(crate) fn print(rules: &Rules) -> Result<String, RegexError> {
    let recursive = rules.recursive();
    let reachable = rules.reachable(&Expr::Rule(Rules::root()));
    if let Some(id) = reachable.into_iter().find(|id| recursive[id.0]) {
        return Err(RegexError::Recursive { rule: rules.get(id).name.clone() });
    }
    let mut out = String::new();
    alternatives(rules, &rules.get(Rules::root()).body, &mut out)?;
    Ok(out)
}

fn alternatives(rules: &Rules, expr: &Expr, out: &mut String) -> Result<(), RegexError> {
    if out.len() > MAX_LEN {
        return Err(RegexError::TooLong);
    }
    match expr {
        Expr::Choice(parts) => {
            for (place, part) in parts.iter().enumerate() {
                if place > 0 {
                    out.push('|');
                }
                sequence(rules, part, out)?;
            }
            Ok(())
        }
        expr => sequence(rules, expr, out),
    }
}

fn sequence(rules: &Rules, expr: &Expr, out: &mut String) -> Result<(), RegexError> {
    match expr {
        Expr::Sequence(parts) => parts.iter().try_for_each(|part| item(rules, part, out)),
        expr => item(rules, expr, out),
    }
}

fn item(rules: &Rules, expr: &Expr, out: &mut String) -> Result<(), RegexError> {
    match expr {
        Expr::Literal(text) => out.push_str(&escaped(text)),
        Expr::Class(set) => out.push_str(&class(set)),
        Expr::Rule(id) => item(rules, &rules.get(*id).body, out)?,
        Expr::Sequence(_) => sequence(rules, expr, out)?,
        Expr::Choice(_) => group(rules, expr, out)?,
        Expr::Repeat { of, min, max } => {
            match &**of {
                Expr::Class(set) => out.push_str(&class(set)),
                of => group(rules, of, out)?,
            }
            out.push_str(&times(*min, *max));
        }
        Expr::Without(words) => out.push_str(&without(words)),
    }
    Ok(())
}

fn group(rules: &Rules, expr: &Expr, out: &mut String) -> Result<(), RegexError> {
    out.push_str("(?:");
    alternatives(rules, expr, out)?;
    out.push(')');
    Ok(())
}

/// Text that holds none of these words. The states of its automaton are taken out one by one, the last first; each
/// leaves what led through it to the states before it.
fn without(words: &[String]) -> String {
    let automaton = Automaton::without(words);
    // For each state, what leads to an earlier one, and what leads to the end.
    let mut steps: Vec<Vec<(usize, String)>> = Vec::new();
    let mut ends: Vec<String> = Vec::new();
    for state in &automaton.states {
        let special: Vec<(char, char)> = state.steps.keys().chain(&state.refused).map(|&c| (c, c)).collect();
        let mut to = vec![(0, class(&Class::not(&special)))];
        for (&c, &target) in &state.steps {
            add(&mut to, target, &escaped(&c.to_string()));
        }
        steps.push(to);
        ends.push(String::new());
    }
    for last in (1..steps.len()).rev() {
        let mut from_last = std::mem::take(&mut steps[last]);
        let again = from_last.iter().position(|(target, _)| *target == last).map(|at| from_last.remove(at).1);
        let again = again.map_or(String::new(), |step| format!("(?:{step})*"));
        let end = ends[last].clone();
        for place in 0..last {
            let Some(at) = steps[place].iter().position(|(target, _)| *target == last) else { continue };
            let (_, into) = steps[place].remove(at);
            for (target, step) in &from_last {
                add(&mut steps[place], *target, &format!("(?:{into}){again}(?:{step})"));
            }
            // The text may end in this state as well.
            let way = format!("(?:{into}){again}{}", optional(&end));
            ends[place] = if ends[place].is_empty() { way } else { format!("{}|{way}", ends[place]) };
        }
    }
    let again = steps.first().and_then(|to| to.first()).map_or("", |(_, step)| step.as_str());
    format!("(?:{again})*{}", optional(ends.first().map_or("", String::as_str)))
}

fn add(steps: &mut Vec<(usize, String)>, target: usize, step: &str) {
    match steps.iter_mut().find(|(known, _)| *known == target) {
        Some((_, known)) => {
            known.push('|');
            known.push_str(step);
        }
        None => steps.push((target, step.to_owned())),
    }
}

fn optional(way: &str) -> String {
    if way.is_empty() { String::new() } else { format!("(?:{way})?") }
}

/// A text as a regular expression.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        if "\\.+*?()|[]{}^$/".contains(c) {
            out.push('\\');
        }
        character(c, &mut out);
    }
    out
}

/// A set of characters as a regular expression.
pub(crate) fn class(class: &Class) -> String {
    let mut out = String::from(if class.negated { "[^" } else { "[" });
    if class.negated && class.ranges.is_empty() {
        // Not every engine has a word for any character; no text holds this one.
        class_character('\0', &mut out);
    }
    for &(from, to) in &class.ranges {
        class_character(from, &mut out);
        if from != to {
            out.push('-');
            class_character(to, &mut out);
        }
    }
    out.push(']');
    out
}

fn class_character(c: char, out: &mut String) {
    if "\\[]^-&~/".contains(c) {
        out.push('\\');
    }
    character(c, out);
}

fn character(c: char, out: &mut String) {
    match c {
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        '\0'..='\x1f' | '\x7f' => {
            let _ = write!(out, "\\x{:02x}", u32::from(c));
        }
        c => out.push(c),
    }
}
