//! Emphasis, code and links inside a line. A span goes out when its end is there: what was written is never taken back.

use std::ops::Range;

use super::flow::{Flow, Style};

/// Text that waits for the end of a span.
#[derive(Debug, Default)]
pub(super) struct Inline {
    held: String,
    /// The character before it.
    before: Option<char>,
    /// How the line looks.
    base: Style,
}

/// Bytes after which nothing is a span any more.
const LONGEST: usize = 600;
/// Bytes of a span that each character may decide about.
const SURE: usize = 12;
/// Names of characters that models write, and what they mean. Not by number: that could be any.
const ENTITIES: [(&str, &str); 12] = [
    ("amp", "&"),
    ("lt", "<"),
    ("gt", ">"),
    ("quot", "\""),
    ("apos", "'"),
    ("#39", "'"),
    ("nbsp", " "),
    ("mdash", "—"),
    ("ndash", "–"),
    ("hellip", "…"),
    ("rarr", "→"),
    ("copy", "©"),
];

/// What stands at the front of the held text.
enum Front {
    /// So many bytes of text.
    Text(usize),
    /// Text in place of what was written.
    Said { said: String, style: Style, taken: usize },
    /// A span of so many bytes, its delimiters as long on both sides, with other spans in it.
    Span { style: Style, mark: usize, taken: usize },
    /// A link of so many bytes: spans, and where it leads.
    Link { name: Range<usize>, behind: String, taken: usize },
    /// It depends on what follows.
    Open,
}

impl Inline {
    /// Begins a line.
    pub(super) fn begin(&mut self, base: Style) {
        *self = Self { base, ..Self::default() };
    }

    pub(super) fn push(&mut self, c: char, flow: &mut Flow) {
        if self.held.is_empty() && !is_special(c) {
            self.before = Some(c);
            return flow.push(c, self.base);
        }
        self.held.push(c);
        // Only these, or what stands behind a run of them, can decide anything.
        if is_special(c) || self.held.len() < SURE || self.held.len() > LONGEST || ends_run(&self.held) {
            self.settle(false, flow);
        }
    }

    /// The line is over.
    pub(super) fn end(&mut self, flow: &mut Flow) {
        self.settle(true, flow);
    }

    fn settle(&mut self, over: bool, flow: &mut Flow) {
        let held = std::mem::take(&mut self.held);
        let over = over || held.len() > LONGEST;
        let rest = write(&held, self.before, self.base, over, flow);
        let written = &held[..held.len() - rest.len()];
        self.before = written.chars().next_back().or(self.before);
        rest.clone_into(&mut self.held);
    }
}

/// A whole line.
pub(super) fn line(text: &str, base: Style, flow: &mut Flow) {
    write(text, None, base, true, flow);
}

/// Writes what is certain, and gives back the rest; all is when the line is `over`.
fn write<'t>(text: &'t str, before: Option<char>, base: Style, over: bool, flow: &mut Flow) -> &'t str {
    let (mut rest, mut before) = (text, before);
    while !rest.is_empty() {
        let taken = match front(rest, before, over, flow.is_coloured()) {
            Front::Open => return rest,
            Front::Text(taken) => {
                flow.text(&rest[..taken], base);
                taken
            }
            Front::Said { said, style, taken } => {
                flow.text(&said, base.and(style));
                taken
            }
            Front::Link { name, behind, taken } => {
                let style = base.and(Style::UNDERLINED);
                write(&rest[name], None, style, true, flow);
                flow.text(&behind, style);
                taken
            }
            Front::Span { style, mark, taken } => {
                write(
                    &rest[mark..taken - mark],
                    rest[..mark].chars().next_back(),
                    base.and(style),
                    true,
                    flow,
                );
                taken
            }
        };
        before = rest[..taken].chars().next_back();
        rest = &rest[taken..];
    }
    rest
}

fn is_special(c: char) -> bool {
    matches!(c, '*' | '_' | '`' | '~' | '[' | ']' | '(' | ')' | '\\' | '!' | '&' | ';')
}

fn ends_run(text: &str) -> bool {
    text.chars().rev().nth(1).is_some_and(is_special)
}

fn front(text: &str, before: Option<char>, over: bool, coloured: bool) -> Front {
    // Where styles cannot be seen, the marks are what there is to see.
    if !coloured && !text.starts_with('&') {
        return Front::Text(text.find('&').unwrap_or(text.len()));
    }
    let Some(first) = text.chars().next() else { return Front::Open };
    match first {
        '&' => entity(text, over),
        '\\' => match text[1..].chars().next() {
            Some(c) if c.is_ascii_punctuation() => {
                Front::Said { said: c.to_string(), style: Style::PLAIN, taken: 2 }
            }
            Some(_) => Front::Text(1),
            None if over => Front::Text(1),
            None => Front::Open,
        },
        '`' => code(text, over),
        '*' | '_' | '~' => emphasis(text, first, before, over),
        '[' => link(text, 0, over),
        '!' => match text[1..].chars().next() {
            Some('[') => link(text, 1, over),
            None if !over => Front::Open,
            _ => Front::Text(1),
        },
        _ => {
            let plain = text.find(['*', '_', '`', '~', '[', '\\', '!', '&']);
            Front::Text(plain.unwrap_or(text.len()).max(first.len_utf8()))
        }
    }
}

/// A character by its name, as in a page.
fn entity(text: &str, over: bool) -> Front {
    const LONGEST: usize = 6;
    let named = text[1..].find(|c: char| !c.is_ascii_alphanumeric() && c != '#');
    match named {
        Some(end) if text[1 + end..].starts_with(';') => {
            match ENTITIES.iter().find(|(name, _)| *name == &text[1..=end]) {
                Some((_, said)) => {
                    Front::Said { said: (*said).to_owned(), style: Style::PLAIN, taken: end + 2 }
                }
                None => Front::Text(1),
            }
        }
        None if !over && text.len() <= 1 + LONGEST => Front::Open,
        _ => Front::Text(1),
    }
}

fn run(text: &str, mark: char) -> usize {
    text.chars().take_while(|c| *c == mark).count()
}

fn code(text: &str, over: bool) -> Front {
    let mark = run(text, '`');
    let mut at = mark;
    while let Some(found) = text[at..].find('`') {
        let start = at + found;
        let length = run(&text[start..], '`');
        at = start + length;
        // A run at the very end may become longer.
        if length == mark && (over || at < text.len()) {
            let inside = &text[mark..start];
            let stripped = inside.strip_prefix(' ').and_then(|inside| inside.strip_suffix(' '));
            let said = stripped.filter(|inside| !inside.trim().is_empty()).unwrap_or(inside).to_owned();
            return Front::Said { said, style: Style::CODE, taken: at };
        }
    }
    if over { Front::Text(mark) } else { Front::Open }
}

fn emphasis(text: &str, mark: char, before: Option<char>, over: bool) -> Front {
    let length = run(text, mark);
    if length > 3 || mark == '~' && length != 2 {
        return if mark != '~' || over || length < text.len() { Front::Text(length) } else { Front::Open };
    }
    let Some(next) = text[length..].chars().next() else {
        return if over { Front::Text(length) } else { Front::Open };
    };
    // Inside words, only two stars are meant: `snake_case` and `2*3*4` are neither.
    let in_word = before.is_some_and(char::is_alphanumeric) && !(mark == '*' && length == 2);
    if next.is_whitespace() || in_word {
        return Front::Text(length);
    }
    let unclosed = || if over { Front::Text(length) } else { Front::Open };
    // Three may be one around two, or two around one: the first that closes says so.
    let (outer, inner) = match closing(text, mark, length, over).next() {
        Some((_, first @ 1..=2)) if length == 3 => (3 - first, Some(first)),
        Some(_) => (length, None),
        None => return unclosed(),
    };
    let style = match (mark, outer) {
        ('~', _) => Style::STRUCK,
        (_, 1) => Style::ITALIC,
        (_, 2) => Style::BOLD,
        _ => Style::BOLD.and(Style::ITALIC),
    };
    match end(text, mark, length, outer, inner, over) {
        Some(taken) => Front::Span { style, mark: outer, taken },
        None => unclosed(),
    }
}

/// The runs of a mark behind `at` that can close something: where each stands, and how long it is.
fn closing(text: &str, mark: char, at: usize, over: bool) -> impl Iterator<Item = (usize, usize)> {
    runs(text, mark, at).filter(move |(start, length)| closes(text, mark, *start, *length, over))
}

fn runs(text: &str, mark: char, mut at: usize) -> impl Iterator<Item = (usize, usize)> {
    std::iter::from_fn(move || {
        let start = at + text[at..].find(mark)?;
        let length = run(&text[start..], mark);
        at = start + length;
        Some((start, length))
    })
}

fn closes(text: &str, mark: char, start: usize, length: usize, over: bool) -> bool {
    let end = start + length;
    let in_word = mark == '_' && text[end..].chars().next().is_some_and(char::is_alphanumeric);
    !text[..start].ends_with(char::is_whitespace)
        && !text[..start].ends_with('\\')
        && !in_word
        // A run at the very end may become longer.
        && (over || end < text.len())
        && !inside_code(&text[..start])
}

/// Where a span ends whose mark is `outer` long; `inner` is the length of one inside that is open from the start. One of
/// another length inside it may hold marks of its own.
fn end(
    text: &str,
    mark: char,
    from: usize,
    outer: usize,
    mut inner: Option<usize>,
    over: bool,
) -> Option<usize> {
    for (start, length) in runs(text, mark, from) {
        let end = start + length;
        let begins = text[..start].ends_with(char::is_whitespace)
            && text[end..].chars().next().is_some_and(|c| !c.is_whitespace())
            && !inside_code(&text[..start]);
        if begins && length != outer && length < 3 {
            inner = Some(length);
        } else if !closes(text, mark, start, length, over) {
        } else if length == outer || inner.is_some_and(|inner| inner + outer == length) {
            return Some(end);
        } else if inner == Some(length) {
            inner = None;
        } else if length > outer && inner.is_none() {
            return Some(start + outer);
        }
    }
    None
}

fn inside_code(text: &str) -> bool {
    text.matches('`').count() % 2 == 1
}

/// `[text](address)`, behind a `!` for a picture: the text, and where it leads.
fn link(text: &str, at: usize, over: bool) -> Front {
    let unknown = || if over { Front::Text(at + 1) } else { Front::Open };
    let Some(close) = text[at..].find(']').map(|found| at + found) else { return unknown() };
    match text[close + 1..].chars().next() {
        Some('(') => {}
        None => return unknown(),
        Some(_) => return Front::Text(at + 1),
    }
    let Some(end) = text[close..].find(')').map(|found| close + found) else { return unknown() };
    let (name, address) = (&text[at + 1..close], &text[close + 2..end]);
    match address.split_whitespace().next().unwrap_or_default() {
        address if name.is_empty() || name == address => {
            Front::Said { said: address.to_owned(), style: Style::UNDERLINED, taken: end + 1 }
        }
        address => {
            let behind = format!(" ({address})");
            Front::Link { name: at + 1..close, behind, taken: end + 1 }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The line with its styles as tags, fed character by character, which must not show.
    fn shown(text: &str) -> String {
        let whole = {
            let mut flow = Flow::new(1000, true);
            line(text, Style::PLAIN, &mut flow);
            flow.end_row();
            flow.take()
        };
        let mut flow = Flow::new(1000, true);
        let mut inline = Inline::default();
        inline.begin(Style::PLAIN);
        text.chars().for_each(|c| inline.push(c, &mut flow));
        inline.end(&mut flow);
        flow.end_row();
        let pieces = flow.take();
        assert_eq!(pieces, whole, "{text}");
        let tags = [
            ("\u{1b}[0;1;3m", "<bi>"),
            ("\u{1b}[0;1m", "<b>"),
            ("\u{1b}[0;3m", "<i>"),
            ("\u{1b}[0;36m", "<c>"),
            ("\u{1b}[0;9m", "<s>"),
            ("\u{1b}[0;4m", "<u>"),
            ("\u{1b}[0m", "<>"),
        ];
        tags.iter().fold(whole.trim_end().to_owned(), |text, (escape, tag)| text.replace(escape, tag))
    }

    #[test]
    fn spans_become_styles() {
        for (text, expected) in [
            ("a **bold** word", "a <b>bold<> word"),
            ("an *italic* and _another_.", "an <i>italic<> and <i>another<>."),
            ("***both*** now", "<bi>both<> now"),
            ("run `cargo test -p x` now", "run <c>cargo test -p x<> now"),
            ("``a ` b`` c", "<c>a ` b<> c"),
            ("~~gone~~ here", "<s>gone<> here"),
            ("**bold with `code`** end", "<b>bold with<> \u{1b}[0;1;36mcode<> end"),
            ("[the book](https://a.b/c) says", "<u>the book (https://a.b/c)<> says"),
            ("![](a.png)", "<u>a.png<>"),
            ("*it **both** it* x", "<i>it<> <bi>both<> <i>it<> x"),
            ("***both** it* x", "<bi>both<> <i>it<> x"),
            ("***both* bold** x", "<bi>both<> <b>bold<> x"),
            ("*it **both*** x", "<i>it<> <bi>both<> x"),
            ("**a *b** c", "<b>a *b<> c"),
            ("[the **book**](https://a.b) x", "<u>the<> \u{1b}[0;1;4mbook<> <u>(https://a.b)<> x"),
            ("a &lt; b &amp;&amp; c&nbsp;&mdash; d &hellip;", "a < b && c — d …"),
            ("`&lt;` stays", "<c>&lt;<> stays"),
        ] {
            assert_eq!(shown(text), expected, "{text}");
        }
    }

    #[test]
    fn what_is_no_span_stays_as_it_is() {
        for text in [
            "snake_case_name and 2*3*4",
            "2 * 3 * 4",
            "an open ** star",
            "a `tick",
            "list[0](x",
            "a [ ] box",
            "~5 and ~/src",
            "!important",
            "AT&T; a & b &unknown; &x",
            "C:\\dir",
        ] {
            assert_eq!(shown(text), text);
        }
        assert_eq!(shown("\\*not\\*"), "*not*");
    }

    #[test]
    fn a_span_that_never_ends_is_let_go() {
        let mut flow = Flow::new(80, true);
        let mut inline = Inline::default();
        inline.begin(Style::PLAIN);
        format!("**{}", "word ".repeat(400)).chars().for_each(|c| inline.push(c, &mut flow));
        assert!(flow.take().len() > 1000);
    }
}
