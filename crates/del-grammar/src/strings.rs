//! Strings as a model writes them.

use serde_json::Value;

use crate::pattern;
use crate::rules::{Class, Expr};
use crate::value::Values;

impl Values<'_> {
    /// A string of any characters.
    pub(crate) fn text(&mut self, min: u32, max: Option<u32>) -> Expr {
        let quote = match &self.syntax.loose {
            None => "\"",
            Some(loose) => loose.quotes[0].as_str(),
        };
        let (long, quote) = (quote.len() > 1, Expr::text(quote));
        if long {
            let Expr::Literal(word) = &quote else { return quote };
            let said = [("minLength", min > 0), ("maxLength", max.is_some())];
            self.missed.extend(said.into_iter().filter(|(_, said)| *said).map(|(word, _)| word));
            let inside = Expr::Without(vec![word.clone()]);
            return self.shared("string", |_| Expr::sequence([quote.clone(), inside, quote]));
        }
        let char = self.shared("char", |values| values.character());
        if (min, max) != (0, None) {
            return Expr::sequence([quote.clone(), char.repeat(min, max), quote]);
        }
        self.shared("string", |_| Expr::sequence([quote.clone(), char.repeat(0, None), quote]))
    }

    /// A string whose characters these are.
    pub(crate) fn pattern(&mut self, text: &Expr, keyword: &'static str) -> Expr {
        let quote = match &self.syntax.loose {
            None => "\"",
            Some(loose) => loose.quotes[0].as_str(),
        };
        // Where quotes are whole words, what is between them has no escapes.
        if quote.len() > 1 {
            let held = quote.chars().next().is_some_and(|first| !pattern::may_hold(text, first));
            if held {
                let plain = pattern::spelled(text, &as_it_is);
                return Expr::sequence([Expr::text(quote), plain, Expr::text(quote)]);
            }
            self.missed.push(keyword);
            return self.text(0, None);
        }
        let is_special = |c: char| c == '\\' || quote.starts_with(c) || c.is_ascii_control();
        let json = self.syntax.loose.is_none();
        let spell_one = |class: &Class| {
            spelled(class, &|c| is_special(c) && !(json && c == '\x7f'), &|c| {
                let text = self.constant(&Value::from(c.to_string()));
                text[quote.len()..text.len() - quote.len()].to_owned()
            })
        };
        let spell = |class: &Class| {
            // All control characters have one form, and DEL stands as it is in JSON.
            let controls = class.ranges.iter().position(|(from, to)| *from == '\0' && *to >= '\x1f');
            if let Some(place) = controls.filter(|_| json) {
                let mut others = class.clone();
                match others.ranges[place].1 {
                    '\x1f' => _ = others.ranges.remove(place),
                    _ => others.ranges[place].0 = ' ',
                }
                let code = Expr::sequence([
                    Expr::text("u00"),
                    Class::digits(0, 1),
                    Expr::Class(Class::ranges(&[('0', '9'), ('a', 'f')])),
                ]);
                let plain = Expr::Class(Class::of("bfnrt".chars()));
                let escape = Expr::sequence([Expr::text("\\"), Expr::choice([plain, code])]);
                let others = (!others.ranges.is_empty()).then(|| spell_one(&others));
                return Expr::choice(others.into_iter().chain([escape]));
            }
            spell_one(class)
        };
        Expr::sequence([Expr::text(quote), pattern::spelled(text, &spell), Expr::text(quote)])
    }

    /// One character of a string.
    fn character(&self) -> Expr {
        let hex = |digits: u32| {
            Expr::Class(Class::ranges(&[('0', '9'), ('a', 'f'), ('A', 'F')])).repeat(digits, Some(digits))
        };
        let escape = |plain: &str, wide: Expr| {
            let plain = Expr::Class(Class::of(plain.chars()));
            Expr::sequence([Expr::text("\\"), Expr::choice([plain, wide])])
        };
        let Some(loose) = &self.syntax.loose else {
            let plain = Class::not(&[('"', '"'), ('\\', '\\'), ('\0', '\x1f')]);
            // Half a pair of surrogates is no character.
            let class = |ranges: &[(char, char)]| Expr::Class(Class::ranges(ranges));
            let others = class(&[('0', '9'), ('a', 'c'), ('e', 'f'), ('A', 'C'), ('E', 'F')]);
            let d = || class(&[('d', 'd'), ('D', 'D')]);
            let second = class(&[('c', 'f'), ('C', 'F')]);
            let wide = Expr::choice([
                Expr::sequence([others, hex(3)]),
                Expr::sequence([d(), class(&[('0', '7')]), hex(2)]),
                Expr::sequence([
                    d(),
                    class(&[('8', '9'), ('a', 'b'), ('A', 'B')]),
                    hex(2),
                    Expr::text("\\u"),
                    d(),
                    second,
                    hex(2),
                ]),
            ]);
            let wide = Expr::sequence([Expr::text("u"), wide]);
            return Expr::choice([Expr::Class(plain), escape("\"\\/bfnrt", wide)]);
        };
        let quote = char::from(loose.quotes[0].as_bytes()[0]);
        let plain = Class::not(&[(quote, quote), ('\\', '\\'), ('\0', '\x1f'), ('\x7f', '\x7f')]);
        let wide = Expr::sequence([Expr::text("x"), hex(2)]);
        Expr::choice([Expr::Class(plain), escape(&format!("{quote}\\nrt"), wide)])
    }
}

/// A character of `class`: those that are special as `escaped` writes them, all others as they are. Only ASCII is ever
/// special.
pub(crate) fn spelled(
    class: &Class,
    is_special: &impl Fn(char) -> bool,
    escaped: &impl Fn(char) -> String,
) -> Expr {
    let mut plain: Vec<(char, char)> = Vec::new();
    let mut ways = Vec::new();
    for &(from, to) in &class.ranges {
        for c in (from..=to).take_while(char::is_ascii) {
            match plain.last_mut() {
                _ if is_special(c) => ways.push(Expr::Literal(escaped(c))),
                Some((_, last)) if u32::from(*last) + 1 == u32::from(c) => *last = c,
                _ => plain.push((c, c)),
            }
        }
        if !to.is_ascii() {
            plain.push((from.max('\u{80}'), to));
        }
    }
    match plain.as_slice() {
        [] => {}
        [(from, to)] if from == to => ways.insert(0, Expr::Literal(from.to_string())),
        plain => ways.insert(0, Expr::Class(Class::ranges(plain))),
    }
    Expr::choice(ways)
}

/// A character of `class` where nothing is special.
pub(crate) fn as_it_is(class: &Class) -> Expr {
    spelled(class, &|_| false, &|c| c.to_string())
}
