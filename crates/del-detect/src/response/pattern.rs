//! The part of regular expressions that response templates need: literal text, alternatives of it, and named groups.

/// A part of a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Bit {
    /// Text that has to be there.
    Text(String),
    /// Text that may be there.
    Maybe(String),
    /// One of these.
    Either(Vec<String>),
    /// A named group; what it may hold is not looked at.
    Group(String),
}

/// How often something may stand in a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Times {
    Once,
    Maybe,
    Many,
}

/// Takes a pattern apart; none when it says more than [`Bit`] can.
pub(super) fn read(pattern: &str) -> Option<Vec<Bit>> {
    let mut reader = Reader { rest: pattern, bits: Vec::new() };
    while !reader.rest.is_empty() {
        reader.item()?;
    }
    Some(reader.bits)
}

/// All texts that a pattern stands for; none when it holds a group.
pub(super) fn spellings(pattern: &str) -> Option<Vec<String>> {
    // More than so many would be no list of spellings.
    const MOST: usize = 64;
    let mut all = vec![String::new()];
    for bit in read(pattern)? {
        let ways: Vec<String> = match bit {
            Bit::Text(text) => vec![text],
            Bit::Maybe(text) => vec![text, String::new()],
            Bit::Either(ways) => ways,
            Bit::Group(_) => return None,
        };
        all = all.iter().flat_map(|known| ways.iter().map(move |way| format!("{known}{way}"))).collect();
        if all.len() > MOST {
            return None;
        }
    }
    Some(all)
}

/// A field's form from the pattern of its tags: literal text around the groups `key` and `value`.
pub(super) fn field(pattern: &str) -> Option<String> {
    let mut form = String::new();
    for bit in read(pattern)? {
        match bit {
            Bit::Text(text) => form.push_str(&text),
            Bit::Either(ways) => form.push_str(ways.first()?),
            Bit::Maybe(_) => {}
            Bit::Group(name) if name == "key" || name == "value" => {
                form.extend(["{", &name, "}"]);
            }
            Bit::Group(_) => return None,
        }
    }
    Some(form)
}

struct Reader<'p> {
    rest: &'p str,
    bits: Vec<Bit>,
}

impl Reader<'_> {
    fn item(&mut self) -> Option<()> {
        if let Some(rest) = self.rest.strip_prefix("(?P<") {
            let (name, rest) = rest.split_once('>')?;
            let (_, rest) = inside(rest)?;
            self.rest = rest;
            self.bits.push(Bit::Group(name.to_owned()));
            return Some(());
        }
        if let Some(rest) = self.rest.strip_prefix("(?=") {
            self.rest = inside(rest)?.1;
            return Some(());
        }
        if let Some(rest) = self.rest.strip_prefix("(?:") {
            let (inner, rest) = inside(rest)?;
            self.rest = rest;
            let ways: Vec<String> = split(inner)
                .into_iter()
                .filter(|way| !way.starts_with("(?="))
                .map(|way| match &read(way)?[..] {
                    [] => Some(String::new()),
                    [Bit::Text(text)] => Some(text.clone()),
                    _ => None,
                })
                .collect::<Option<_>>()?;
            let maybe = self.quantifier()? == Times::Maybe;
            match &ways[..] {
                [one] if maybe => self.bits.push(Bit::Maybe(one.clone())),
                [one] => self.text(one),
                _ if maybe => return None,
                _ => self.bits.push(Bit::Either(ways)),
            }
            return Some(());
        }
        if let Some(rest) = self.rest.strip_prefix("\\s") {
            // White space around marks is free.
            self.rest = rest;
            self.quantifier()?;
            return Some(());
        }
        let text = self.character()?;
        match self.quantifier()? {
            Times::Once => self.text(&text),
            Times::Maybe => self.bits.push(Bit::Maybe(text)),
            Times::Many => return None,
        }
        Some(())
    }

    /// One literal character.
    fn character(&mut self) -> Option<String> {
        let mut chars = self.rest.chars();
        let mut c = chars.next()?;
        if c == '\\' {
            c = match chars.next()? {
                'n' => '\n',
                't' => '\t',
                'r' => '\r',
                c if c.is_ascii_alphanumeric() => return None,
                c => c,
            };
        } else if matches!(c, '(' | ')' | '[' | '{' | '.' | '*' | '+' | '?' | '|' | '^' | '$') {
            return None;
        }
        self.rest = chars.as_str();
        Some(c.to_string())
    }

    /// A quantifier, if one follows; none where it is one that no mark can have.
    fn quantifier(&mut self) -> Option<Times> {
        let times = match self.rest.bytes().next() {
            Some(b'?') => Times::Maybe,
            Some(b'*' | b'+') => Times::Many,
            Some(b'{') => return None,
            _ => return Some(Times::Once),
        };
        self.rest = self.rest[1..].trim_start_matches('?');
        Some(times)
    }

    fn text(&mut self, text: &str) {
        match self.bits.last_mut() {
            Some(Bit::Text(known)) => known.push_str(text),
            _ => self.bits.push(Bit::Text(text.to_owned())),
        }
    }
}

/// What stands before the parenthesis that closes a group, and what behind it.
fn inside(text: &str) -> Option<(&str, &str)> {
    let (mut depth, mut escaped, mut class) = (0_usize, false, false);
    for (at, c) in text.char_indices() {
        match c {
            _ if std::mem::take(&mut escaped) => {}
            '\\' => escaped = true,
            '[' => class = true,
            ']' => class = false,
            _ if class => {}
            '(' => depth += 1,
            ')' if depth == 0 => return Some((&text[..at], &text[at + 1..])),
            ')' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// The alternatives of a group.
fn split(text: &str) -> Vec<&str> {
    let mut all = Vec::new();
    let (mut from, mut depth, mut escaped) = (0, 0_usize, false);
    for (at, c) in text.char_indices() {
        match c {
            _ if std::mem::take(&mut escaped) => {}
            '\\' => escaped = true,
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            '|' if depth == 0 => {
                all.push(&text[from..at]);
                from = at + 1;
            }
            _ => {}
        }
    }
    all.push(&text[from..]);
    all
}
