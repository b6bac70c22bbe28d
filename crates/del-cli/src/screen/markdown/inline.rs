//! Emphasis, code and links inside a line. A span goes out when its end is there: what was written is never taken back.

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

/// What stands at the front of the held text.
enum Front {
    /// So many bytes of text.
    Text(usize),
    /// Text in place of what was written.
    Said { said: String, style: Style, taken: usize },
    /// A span of so many bytes, its delimiters as long on both sides, with other spans in it.
    Span { style: Style, mark: usize, taken: usize },
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
        if is_special(c) || self.held.len() < 8 || self.held.len() > LONGEST || ends_run(&self.held) {
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
    matches!(c, '*' | '_' | '`' | '~' | '[' | ']' | '(' | ')' | '\\' | '!')
}

fn ends_run(text: &str) -> bool {
    text.chars().rev().nth(1).is_some_and(is_special)
}

fn front(text: &str, before: Option<char>, over: bool, coloured: bool) -> Front {
    // Where styles cannot be seen, the marks are what there is to see.
    if !coloured {
        return Front::Text(text.len());
    }
    let Some(first) = text.chars().next() else { return Front::Open };
    match first {
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
            let plain = text.find(['*', '_', '`', '~', '[', '\\', '!']);
            Front::Text(plain.unwrap_or(text.len()).max(first.len_utf8()))
        }
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
    let style = match (mark, length) {
        ('~', 2) => Style::STRUCK,
        ('~', _) => return if over || length < text.len() { Front::Text(length) } else { Front::Open },
        (_, 1) => Style::ITALIC,
        (_, 2) => Style::BOLD,
        (_, 3) => Style::BOLD.and(Style::ITALIC),
        _ => return Front::Text(length),
    };
    let Some(next) = text[length..].chars().next() else {
        return if over { Front::Text(length) } else { Front::Open };
    };
    // Inside words, only two stars are meant: `snake_case` and `2*3*4` are neither.
    let in_word = before.is_some_and(char::is_alphanumeric) && !(mark == '*' && length == 2);
    if next.is_whitespace() || in_word {
        return Front::Text(length);
    }
    let mut at = length;
    while let Some(found) = text[at..].find(mark) {
        let start = at + found;
        let end = start + run(&text[start..], mark);
        let closes = !text[..start].ends_with(char::is_whitespace) && !text[..start].ends_with('\\');
        let in_word = mark == '_' && text[end..].chars().next().is_some_and(char::is_alphanumeric);
        if closes
            && !in_word
            && end - start >= length
            && (over || end < text.len())
            && !inside_code(&text[..start])
        {
            let taken = if end - start == length { end } else { end.min(start + length) };
            return Front::Span { style, mark: length, taken };
        }
        at = end;
    }
    if over { Front::Text(length) } else { Front::Open }
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
    let said = match address.split_whitespace().next().unwrap_or_default() {
        address if name.is_empty() || name == address => address.to_owned(),
        address => format!("{name} ({address})"),
    };
    Front::Said { said, style: Style::UNDERLINED, taken: end + 1 }
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
