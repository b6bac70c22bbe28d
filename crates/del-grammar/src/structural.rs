//! Structural tags for `XGrammar`, as vLLM and `SGLang` take them.
//!
//! What the sampler may do fast has a word of its own: fixed texts, free text up to a mark, tags around it. Everything
//! in between is a grammar in EBNF.

use serde_json::{Value, json};

use crate::gbnf;
use crate::rules::{Expr, Rules};

/// `{"type": "structural_tag", "format": …}`.
pub(crate) fn print(rules: &Rules) -> Value {
    let recursive = rules.recursive();
    let printer = Printer { rules, recursive };
    json!({"type": "structural_tag", "format": printer.format(&rules.get(Rules::root()).body)})
}

struct Printer<'r> {
    rules: &'r Rules,
    recursive: Vec<bool>,
}

impl Printer<'_> {
    fn format(&self, expr: &Expr) -> Value {
        match expr {
            Expr::Literal(text) => json!({"type": "const_string", "value": text}),
            expr if !self.holds_text(expr) => self.grammar(expr),
            Expr::Rule(id) if self.recursive[id.0] => self.grammar(expr),
            Expr::Rule(id) => self.format(&self.rules.get(*id).body),
            Expr::Without(words) => json!({"type": "any_text", "excludes": words}),
            Expr::Sequence(parts) => self.sequence(parts),
            Expr::Choice(parts) => {
                let ways: Vec<Value> = parts
                    .iter()
                    .filter(|part| **part != Expr::empty())
                    .map(|part| self.format(part))
                    .collect();
                let one =
                    if ways.len() == 1 { ways[0].clone() } else { json!({"type": "or", "elements": ways}) };
                if ways.len() < parts.len() { json!({"type": "optional", "content": one}) } else { one }
            }
            Expr::Repeat { of, min, max } => {
                let content = self.format(of);
                match (min, max) {
                    (0, Some(1)) => json!({"type": "optional", "content": content}),
                    (0, None) => json!({"type": "star", "content": content}),
                    (1, None) => json!({"type": "plus", "content": content}),
                    (min, None) => json!({"type": "repeat", "min": min, "max": -1, "content": content}),
                    (min, Some(max)) => json!({"type": "repeat", "min": min, "max": max, "content": content}),
                }
            }
            Expr::Class(_) => self.grammar(expr),
        }
    }

    /// Neighbours without free text are one grammar; free text between two fixed ones is a tag.
    fn sequence(&self, parts: &[Expr]) -> Value {
        let mut formats: Vec<Value> = Vec::new();
        let mut plain: Vec<Expr> = Vec::new();
        let flush = |plain: &mut Vec<Expr>, formats: &mut Vec<Value>| {
            let expr = Expr::sequence(plain.drain(..));
            if expr != Expr::empty() {
                formats.push(self.format(&expr));
            }
        };
        for part in parts {
            if self.holds_text(part) {
                flush(&mut plain, &mut formats);
                match self.format(part) {
                    Value::Object(mut inner) if inner["type"] == "sequence" => {
                        let elements = inner.remove("elements").and_then(|parts| parts.as_array().cloned());
                        formats.extend(elements.unwrap_or_default());
                    }
                    format => formats.push(format),
                }
            } else {
                plain.push(part.clone());
            }
        }
        flush(&mut plain, &mut formats);
        let is = |format: &Value, kind: &str| format["type"] == kind;
        match formats.as_slice() {
            [one] => one.clone(),
            [begin, text, end]
                if is(begin, "const_string") && is(text, "any_text") && is(end, "const_string") =>
            {
                json!({"type": "tag", "begin": begin["value"], "content": text, "end": end["value"]})
            }
            _ => json!({"type": "sequence", "elements": formats}),
        }
    }

    fn grammar(&self, expr: &Expr) -> Value {
        json!({"type": "grammar", "grammar": gbnf::print_part(self.rules, expr)})
    }

    /// True where some free text is in it.
    fn holds_text(&self, expr: &Expr) -> bool {
        let bodies = self.rules.reachable(expr);
        let mut open: Vec<&Expr> = bodies.iter().map(|id| &self.rules.get(*id).body).collect();
        open.push(expr);
        while let Some(expr) = open.pop() {
            if matches!(expr, Expr::Without(_)) {
                return true;
            }
            open.extend(expr.parts());
        }
        false
    }
}
