//! A rough reading of any shell text, for what is refused and what a user's rules forbid.
//!
//! It understands no text wrongly enough to matter: it only ever looks for more commands than there are. Whether a
//! command is safe is never decided here.

/// Substitutions within substitutions are looked into so far.
const MAX_DEPTH: usize = 6;

/// What stands behind this many bytes is not looked at: as many as a system hands to a shell as one word.
const MAX_LENGTH: usize = 128 * 1024;

/// Here-documents of one line, and commands on it that may read them.
const MAX_DOCUMENTS: usize = 4;
const MAX_READERS: usize = 8;

/// A simple command, roughly.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Rough {
    /// Its words without quotes; variables stand as they were written.
    pub(crate) words: Vec<String>,
    /// Files that its outputs go to.
    pub(crate) outputs: Vec<String>,
    /// A text that it is fed.
    pub(crate) fed: Vec<String>,
    /// The command whose output it reads.
    pub(crate) piped_from: Option<usize>,
    /// Commands in substitutions among its words.
    pub(crate) inner: Vec<usize>,
    /// In so many subshells.
    pub(crate) depth: usize,
    /// It runs only if the one before it succeeded.
    pub(crate) follows: bool,
}

/// What a text holds.
pub(crate) struct Scanned {
    /// All commands that it may hold, those of substitutions too.
    pub(crate) commands: Vec<Rough>,
    /// Whether it was read to its end.
    pub(crate) whole: bool,
}

/// Reads a text.
pub(crate) fn scan(text: &str) -> Scanned {
    let mut end = text.len().min(MAX_LENGTH);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let mut scanned = Scanned { commands: Vec::new(), whole: end == text.len() };
    let text = &text[..end];
    let Scanned { commands, whole } = &mut scanned;
    Scanner { text, at: 0, commands, whole, depth: 0, shells: 0, line: 0 }.run();
    scanned
}

struct Scanner<'a, 'c> {
    text: &'a str,
    at: usize,
    commands: &'c mut Vec<Rough>,
    whole: &'c mut bool,
    depth: usize,
    /// So many subshells are open.
    shells: usize,
    /// The first command of the line.
    line: usize,
}

#[derive(Default)]
struct State {
    command: Rough,
    word: Option<String>,
    target: Option<Target>,
    documents: Vec<String>,
}

#[derive(Clone, Copy)]
enum Target {
    Output,
    Input,
    Text,
    Document,
}

impl Scanner<'_, '_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn next(&mut self) -> Option<char> {
        let c = self.rest().chars().next()?;
        self.at += c.len_utf8();
        Some(c)
    }

    fn eat(&mut self, wanted: &str) -> bool {
        let found = self.rest().starts_with(wanted);
        if found {
            self.at += wanted.len();
        }
        found
    }

    fn run(mut self) {
        let mut state = State::default();
        self.line = self.commands.len();
        while let Some(c) = self.next() {
            match c {
                '\\' => {
                    if !self.eat("\n")
                        && let Some(c) = self.next()
                    {
                        state.push(c);
                    }
                }
                '\'' => {
                    state.open();
                    while let Some(c) = self.next().filter(|c| *c != '\'') {
                        state.push(c);
                    }
                }
                '"' => self.double(&mut state),
                '$' if self.eat("'") => {
                    state.open();
                    while let Some(c) = self.next().filter(|c| *c != '\'') {
                        let c = if c == '\\' { self.next().unwrap_or(c) } else { c };
                        state.push(c);
                    }
                }
                '$' if self.eat("IFS") || self.eat("{IFS}") => state.end_word(),
                '$' if self.eat("(") => self.substitution(&mut state, ')'),
                '$' if self.eat("{") => {
                    state.push('$');
                    state.push('{');
                    while let Some(c) = self.next() {
                        state.push(c);
                        if c == '}' {
                            break;
                        }
                    }
                }
                '`' => self.substitution(&mut state, '`'),
                '#' if state.word.is_none() => {
                    let end = self.rest().find('\n').unwrap_or(self.rest().len());
                    self.at += end;
                }
                ' ' | '\t' | '\r' => state.end_word(),
                '<' | '>' => self.redirection(c, &mut state),
                '&' if self.rest().starts_with('>') => {
                    state.end_word();
                    self.next();
                    self.redirection('>', &mut state);
                }
                '|' if !self.eat("|") => {
                    self.eat("&");
                    let from = self.end_command(&mut state);
                    state.command.piped_from = from;
                }
                '\n' => {
                    self.end_command(&mut state);
                    self.documents(&mut state);
                    self.line = self.commands.len();
                }
                '&' if self.eat("&") => {
                    self.end_command(&mut state);
                    state.command.follows = true;
                }
                ';' | '&' | '|' | '(' | ')' => {
                    self.end_command(&mut state);
                    match c {
                        '(' => self.shells += 1,
                        ')' => self.shells = self.shells.saturating_sub(1),
                        _ => {}
                    }
                }
                c => state.push(c),
            }
        }
        self.end_command(&mut state);
    }

    fn double(&mut self, state: &mut State) {
        state.open();
        while let Some(c) = self.next() {
            match c {
                '"' => return,
                '\\' => {
                    if let Some(c) = self.next().filter(|c| *c != '\n') {
                        if !matches!(c, '"' | '\\' | '$' | '`') {
                            state.push('\\');
                        }
                        state.push(c);
                    }
                }
                '$' if self.eat("(") => self.substitution(state, ')'),
                '`' => self.substitution(state, '`'),
                c => state.push(c),
            }
        }
    }

    /// Reads what stands in a substitution up to `end` as commands of their own.
    fn substitution(&mut self, state: &mut State, end: char) {
        state.open();
        let (inside, length) = enclosed(self.rest(), end);
        let (inside, depth, shells) = (inside.to_owned(), self.depth + 1, self.shells + 1);
        self.at += length;
        let before = self.commands.len();
        if depth <= MAX_DEPTH {
            let (commands, whole) = (&mut *self.commands, &mut *self.whole);
            Scanner { text: &inside, at: 0, commands, whole, depth, shells, line: 0 }.run();
        } else {
            *self.whole = false;
        }
        state.command.inner.extend(before..self.commands.len());
        state.push('$');
    }

    fn redirection(&mut self, c: char, state: &mut State) {
        let digits = state.word.as_ref().is_some_and(|word| word.bytes().all(|b| b.is_ascii_digit()));
        if digits {
            state.word = None;
        }
        state.end_word();
        if self.eat("(") {
            self.substitution(state, ')');
            return;
        }
        state.target = Some(match c {
            '<' if self.eat("<<") => Target::Text,
            '<' if self.eat("<") => {
                self.eat("-");
                Target::Document
            }
            '<' if self.eat(">") => Target::Output,
            '<' => {
                self.eat("&");
                Target::Input
            }
            _ => {
                let _ = self.eat(">") || self.eat("|") || self.eat("&");
                Target::Output
            }
        });
    }

    fn end_command(&mut self, state: &mut State) -> Option<usize> {
        state.end_word();
        state.target = None;
        let mut command = std::mem::take(&mut state.command);
        command.depth = self.shells;
        if command.words.is_empty() && command.outputs.is_empty() && command.inner.is_empty() {
            return None;
        }
        self.commands.push(command);
        Some(self.commands.len() - 1)
    }

    /// The texts of here-documents: they feed the commands of the line before them.
    fn documents(&mut self, state: &mut State) {
        let documents = std::mem::take(&mut state.documents);
        *self.whole &= documents.len() <= MAX_DOCUMENTS;
        for end in documents.into_iter().take(MAX_DOCUMENTS) {
            let mut text = String::new();
            while !self.rest().is_empty() {
                let line = self.rest().split('\n').next().unwrap_or_default().to_owned();
                self.at = (self.at + line.len() + 1).min(self.text.len());
                if line.trim_start_matches('\t') == end {
                    break;
                }
                text.push_str(&line);
                text.push('\n');
            }
            let readers = self.line.max(self.commands.len().saturating_sub(MAX_READERS));
            *self.whole &= readers == self.line;
            for command in self.commands.iter_mut().skip(readers) {
                command.fed.push(text.clone());
            }
        }
    }
}

impl State {
    fn open(&mut self) {
        self.word.get_or_insert_default();
    }

    fn push(&mut self, c: char) {
        self.word.get_or_insert_default().push(c);
    }

    fn end_word(&mut self) {
        let Some(word) = self.word.take() else { return };
        match self.target.take() {
            None => self.command.words.extend(braces(&word)),
            Some(Target::Output) => self.command.outputs.push(word),
            Some(Target::Text) => self.command.fed.push(word),
            Some(Target::Document) => self.documents.push(word),
            Some(Target::Input) => {}
        }
    }
}

/// What stands before the `end` that belongs to the beginning, and the length with it.
fn enclosed(text: &str, end: char) -> (&str, usize) {
    let mut open = 0_usize;
    let mut quote = None;
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' if quote != Some('\'') => escaped = true,
            _ if quote == Some(c) => quote = None,
            '\'' | '"' if quote.is_none() && end == ')' => quote = Some(c),
            '(' if quote.is_none() && end == ')' => open += 1,
            c if c == end && quote.is_none() => {
                if open == 0 {
                    return (&text[..at], at + c.len_utf8());
                }
                open -= 1;
            }
            _ => {}
        }
    }
    (text, text.len())
}

/// A word with one pair of braces as the words that it becomes.
fn braces(word: &str) -> Vec<String> {
    let parts = || {
        let (before, rest) = word.split_once('{')?;
        let (inside, after) = rest.split_once('}')?;
        (inside.contains(',') && !before.ends_with('$')).then_some((before, inside, after))
    };
    match parts() {
        Some((before, inside, after)) => {
            inside.split(',').take(64).map(|part| format!("{before}{part}{after}")).collect()
        }
        None => vec![word.to_owned()],
    }
}
