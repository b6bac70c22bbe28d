//! Words: what they hold, and what they become once values are known.

use super::{
    Assignment, Command, Compound, Piece, Pipeline, Redirection, Simple, Substitution, VARIABLES, Word, sum,
};
use crate::mark::Mark;

/// Why a value does not fit into a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Unfit;

/// More words than this do not come of braces or values.
const MAX_WORDS: usize = 4096;

impl Word {
    /// A word of these characters, none of which means anything.
    pub(crate) fn of(text: impl Into<String>) -> Self {
        Self { pieces: vec![Piece::Text(text.into())], plain: 0, quoted: true, span: 0..0 }
    }

    /// The word itself when nothing in it is to be expanded.
    pub(crate) fn literal(&self) -> Option<&str> {
        match self.pieces.as_slice() {
            [] => Some(""),
            [Piece::Text(text)] => Some(text),
            _ => None,
        }
    }

    /// The word when all of it stands outside of quotes: what the shell's own words have to be.
    pub(crate) fn bare(&self) -> Option<&str> {
        self.literal().filter(|_| !self.quoted)
    }

    /// Whether it is the name of a file with what commands print.
    pub(super) fn is_file(&self) -> bool {
        self.has(|piece| matches!(piece, Piece::File(_)))
    }

    /// The word with its wildcards as characters: what the shell leaves when nothing matches.
    pub(crate) fn unmatched(&self) -> String {
        let mut text = String::new();
        for piece in &self.pieces {
            match piece {
                Piece::Text(part) | Piece::Value(part) => text.push_str(part),
                Piece::Any => text.push('*'),
                Piece::One => text.push('?'),
                Piece::Set { others, ranges } => set(*others, ranges, &mut text),
                Piece::Choice(words) => {
                    text.push('{');
                    text.push_str(&words.join(","));
                    text.push('}');
                }
                Piece::Variable { name, .. } => {
                    text.push('$');
                    text.push_str(name);
                }
                Piece::Output { .. } => text.push_str("$(…)"),
                Piece::File(_) => text.push_str("<(…)"),
                Piece::Sum(sum) => text.extend(["$((", sum, "))"]),
            }
        }
        text
    }

    /// The words that braces make of it, if there are not too many.
    pub(crate) fn choices(&self) -> Result<Vec<Self>, Unfit> {
        let mut words = vec![Self { pieces: Vec::new(), ..self.clone() }];
        for piece in &self.pieces {
            let Piece::Choice(parts) = piece else {
                for word in &mut words {
                    word.push(piece.clone());
                }
                continue;
            };
            if words.len() * parts.len() > MAX_WORDS {
                return Err(Unfit);
            }
            // The first word comes with each part, then the second: `{a,b}{c,d}` is `ac ad bc bd`.
            let longer = |word: &Self| {
                let word = word.clone();
                parts.iter().map(move |part| {
                    let mut word = word.clone();
                    if !part.is_empty() {
                        word.push(Piece::Text(part.clone()));
                    }
                    word
                })
            };
            words = words.iter().flat_map(longer).collect();
        }
        // `{a,}` is one word: a choice of nothing is no word, unless there are quotes.
        if self.pieces.iter().any(|piece| matches!(piece, Piece::Choice(_))) {
            words.retain(|word| !word.pieces.is_empty());
        }
        Ok(words)
    }

    /// The word with the values of its variables. `None` where one is not known, or is not plain outside of quotes.
    pub(crate) fn with_values(&self, value: impl Fn(&str) -> Option<String>) -> Option<Self> {
        let mut word = Self { pieces: Vec::new(), ..self.clone() };
        for piece in &self.pieces {
            word.push(match piece {
                Piece::Variable { name, quoted } => {
                    let value = value(name)?;
                    let given = VARIABLES.contains(&name.as_str());
                    if given && (value.chars().any(char::is_control) || !quoted && !is_plain(&value)) {
                        return None;
                    }
                    if *quoted { Piece::Text(value) } else { Piece::Value(value) }
                }
                Piece::Sum(sum) => Piece::Text(computed(sum, &value)?),
                piece => piece.clone(),
            });
        }
        Some(word)
    }

    /// Whether nothing in it waits for the output of a command.
    pub(crate) fn is_worked_out(&self) -> bool {
        !self.has(|piece| matches!(piece, Piece::Output { .. } | Piece::File(_)))
    }

    /// The words that blanks in values make of it, and wildcards in them as such.
    pub(crate) fn split(self) -> Result<Vec<Self>, Unfit> {
        if !self.pieces.iter().any(|piece| matches!(piece, Piece::Value(_))) {
            return Ok(vec![self]);
        }
        let mut words = Vec::new();
        let empty = Self { pieces: Vec::new(), plain: 0, quoted: true, span: self.span };
        let mut word = empty.clone();
        for piece in self.pieces {
            let Piece::Value(value) = piece else {
                word.push(piece);
                continue;
            };
            // A list of characters in a value is not read as one.
            if value.contains(['[', '\\']) || words.len() > MAX_WORDS {
                return Err(Unfit);
            }
            for c in value.chars() {
                match c {
                    ' ' | '\t' | '\n' if word.pieces.is_empty() => {}
                    ' ' | '\t' | '\n' => words.push(std::mem::replace(&mut word, empty.clone())),
                    '*' => word.push(Piece::Any),
                    '?' => word.push(Piece::One),
                    c => word.push(Piece::Text(c.into())),
                }
            }
        }
        if !word.pieces.is_empty() {
            words.push(word);
        }
        Ok(words)
    }

    /// The same where the shell does not divide values: in assignments and texts to be fed.
    pub(crate) fn undivided(mut self) -> Self {
        for piece in &mut self.pieces {
            if let Piece::Variable { quoted, .. } | Piece::Output { quoted, .. } = piece {
                *quoted = true;
            }
        }
        self
    }

    fn push(&mut self, piece: Piece) {
        match (self.pieces.last_mut(), piece) {
            (Some(Piece::Text(text)), Piece::Text(more)) => text.push_str(&more),
            (_, piece) => self.pieces.push(piece),
        }
    }

    fn substitutions<'a>(&'a self, found: &mut Vec<Substitution<'a>>) {
        found.extend(self.pieces.iter().filter_map(|piece| match piece {
            Piece::Output { script, .. } => Some(Substitution { script, is_file: false }),
            Piece::File(script) => Some(Substitution { script, is_file: true }),
            _ => None,
        }));
    }

    fn with_outputs(&self, outputs: &mut impl Iterator<Item = Option<String>>, status: Option<&str>) -> Self {
        let mut word = Self { pieces: Vec::new(), ..self.clone() };
        for piece in &self.pieces {
            let value = match piece {
                Piece::Output { quoted, .. } => outputs.next().flatten().map(|text| (text, *quoted)),
                Piece::File(_) => outputs.next().flatten().map(|text| (Mark::Made.before(&text), true)),
                Piece::Variable { name, quoted } if name == "?" => {
                    status.map(|text| (text.to_owned(), *quoted))
                }
                _ => None,
            };
            word.push(match value {
                Some((text, true)) => Piece::Text(text),
                Some((text, false)) => Piece::Value(text),
                None => piece.clone(),
            });
        }
        word
    }

    pub(super) fn has(&self, wanted: impl Fn(&Piece) -> bool) -> bool {
        self.pieces.iter().any(wanted)
    }
}

impl Pipeline {
    /// The substitutions that are worked out before it runs, in their order.
    pub(crate) fn outputs(&self) -> Vec<Substitution<'_>> {
        let mut found = Vec::new();
        for word in self.words() {
            word.substitutions(&mut found);
        }
        found
    }

    /// Whether the status of the command before it is among its words.
    pub(crate) fn asks_status(&self) -> bool {
        self.words()
            .any(|word| word.has(|piece| matches!(piece, Piece::Variable { name, .. } if name == "?")))
    }

    /// The pipeline with values for its substitutions, as far as there are any, and for the last status.
    pub(crate) fn with_outputs(
        &self,
        outputs: impl IntoIterator<Item = Option<String>>,
        status: Option<&str>,
    ) -> Self {
        let mut outputs = outputs.into_iter();
        let commands =
            self.commands.iter().map(|command| command.with_outputs(&mut outputs, status)).collect();
        Self { commands, ..self.clone() }
    }

    pub(super) fn words(&self) -> impl Iterator<Item = &Word> {
        self.commands.iter().flat_map(|command| {
            let (words, redirections, assignments): (&[Word], &[Redirection], &[Assignment]) = match command {
                Command::Simple(simple) => (&simple.words, &simple.redirections, &simple.assignments),
                Command::Compound(Compound::For { words, .. }, redirections) => (words, redirections, &[]),
                Command::Compound(_, redirections) => (&[], redirections, &[]),
            };
            let set = assignments.iter().map(|assignment| &assignment.value);
            set.chain(words).chain(redirections.iter().filter_map(Redirection::word))
        })
    }
}

impl Command {
    fn with_outputs(&self, outputs: &mut impl Iterator<Item = Option<String>>, status: Option<&str>) -> Self {
        let mut command = self.clone();
        let mut none = Vec::new();
        let (words, redirections, assignments) = match &mut command {
            Self::Simple(Simple { assignments, words, redirections }) => (words, redirections, assignments),
            Self::Compound(Compound::For { words, .. }, redirections) => {
                (words, redirections, &mut Vec::new())
            }
            Self::Compound(_, redirections) => (&mut none, redirections, &mut Vec::new()),
        };
        let set = assignments.iter_mut().map(|assignment| &mut assignment.value);
        for word in set.chain(words).chain(redirections.iter_mut().filter_map(Redirection::word_mut)) {
            *word = word.with_outputs(outputs, status);
        }
        command
    }
}

impl Redirection {
    fn word(&self) -> Option<&Word> {
        match self {
            Self::Input(word) | Self::Text(word) => Some(word),
            Self::Discard(_) | Self::DiscardBoth | Self::Join(..) | Self::Write(_) => None,
        }
    }

    fn word_mut(&mut self) -> Option<&mut Word> {
        match self {
            Self::Input(word) | Self::Text(word) => Some(word),
            Self::Discard(_) | Self::DiscardBoth | Self::Join(..) | Self::Write(_) => None,
        }
    }
}

/// What a computation comes to with these values. Where one of them is not there yet, nothing is known of it.
fn computed(sum: &str, value: impl Fn(&str) -> Option<String>) -> Option<String> {
    let sum = sum::filled(sum, value)?;
    match Mark::within(&sum) {
        Some(_) => Some(Mark::Text.character().to_string()),
        None => sum::compute(&sum).map(|value| value.to_string()),
    }
}

fn set(others: bool, ranges: &[(char, char)], text: &mut String) {
    text.push('[');
    if others {
        text.push('!');
    }
    for (first, last) in ranges {
        text.push(*first);
        if first != last {
            text.push('-');
            text.push(*last);
        }
    }
    text.push(']');
}

/// Whether a value means only itself outside of quotes.
fn is_plain(value: &str) -> bool {
    value.chars().all(|c| c.is_alphanumeric() || "/_.:-+@,".contains(c))
}
