//! Reading a language without a grammar, roughly: by a line that looks like a definition.

use crate::language::Language;
use crate::outline::{Outline, Symbol, is_todo};
use crate::patterns::Patterns;

/// More symbols of one text are not listed.
const MAX_SYMBOLS: usize = 20_000;

/// What `text` seems to define; `None` where nothing is known of the language. Only first lines are known.
pub fn outline_by_patterns(text: &str, language: &Language) -> Option<Outline> {
    let Patterns(patterns) = language.patterns();
    if patterns.is_empty() {
        return None;
    }
    let mut symbols = Vec::new();
    for (kind, regex) in patterns {
        let (mut line, mut counted) = (1, 0);
        for found in regex.captures_iter(text).take(MAX_SYMBOLS) {
            let Some(name) = found.name("name") else { continue };
            let signature = found.name("signature").map_or("", |m| m.as_str().trim());
            line += text[counted..name.start()].bytes().filter(|byte| *byte == b'\n').count();
            counted = name.start();
            symbols.push(Symbol {
                kind: kind.clone(),
                name: name.as_str().to_owned(),
                signature: signature.chars().take(200).collect(),
                first: line,
                last: line,
                private: false,
                cost: None,
                at: name.start(),
            });
        }
    }
    symbols.sort_by_key(|symbol| symbol.at);
    symbols.dedup_by_key(|symbol| symbol.at);
    let todos = text.lines().filter(|line| is_todo(line)).count();
    Some(Outline { symbols, todos, ..Outline::default() })
}
