//! Reads GBNF as llama.cpp does, and tells whether a text is one of the grammar's.
//!
//! Rules, literals, character classes, groups and repetitions, with that program's limits: unknown escapes, undefined
//! rules, rules that begin with themselves and repetitions that unroll too far are errors.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// The unrolled items that llama.cpp lets one repetition have.
const MAX_UNROLLED: usize = 2000;

#[derive(Debug, Clone)]
enum Item {
    /// Ranges, and whether they are what is not meant.
    Chars(Vec<(char, char)>, bool),
    Rule(usize),
}

/// Alternatives of sequences, for each rule.
pub(crate) struct Gbnf {
    rules: Vec<Vec<Vec<Item>>>,
    names: HashMap<String, usize>,
}

/// What is still to come, the next item first. Shared tails keep it small.
#[derive(Debug, PartialEq, Eq, Hash, Clone)]
struct Frame {
    rule: usize,
    way: usize,
    at: usize,
    next: Option<Rc<Frame>>,
}

impl Gbnf {
    pub(crate) fn read(text: &str) -> Result<Self, String> {
        let mut reader =
            Reader { chars: text.chars().collect(), at: 0, rules: Vec::new(), names: HashMap::new() };
        reader.space(true);
        while reader.peek().is_some() {
            reader.rule()?;
        }
        let mut rules = Vec::new();
        for (place, rule) in reader.rules.into_iter().enumerate() {
            let name =
                || reader.names.iter().find(|(_, known)| **known == place).map(|(name, _)| name.clone());
            rules.push(rule.ok_or_else(|| format!("undefined rule {:?}", name()))?);
        }
        let grammar = Self { rules, names: reader.names };
        grammar.root()?;
        grammar.check_left_recursion()?;
        Ok(grammar)
    }

    fn root(&self) -> Result<usize, String> {
        self.names.get("root").copied().ok_or_else(|| "no root".to_owned())
    }

    /// A rule that can reach itself before any character makes the sampler loop.
    fn check_left_recursion(&self) -> Result<(), String> {
        let mut nullable = vec![false; self.rules.len()];
        loop {
            let before = nullable.clone();
            for (place, ways) in self.rules.iter().enumerate() {
                nullable[place] |= ways
                    .iter()
                    .any(|way| way.iter().all(|item| matches!(item, Item::Rule(id) if before[*id])));
            }
            if nullable == before {
                break;
            }
        }
        for start in 0..self.rules.len() {
            let (mut open, mut seen) = (vec![start], HashSet::new());
            while let Some(rule) = open.pop() {
                for way in &self.rules[rule] {
                    for item in way {
                        let Item::Rule(id) = item else { break };
                        if *id == start {
                            let name = self.names.iter().find(|(_, place)| **place == start);
                            return Err(format!("left recursion in {name:?}"));
                        }
                        if seen.insert(*id) {
                            open.push(*id);
                        }
                        if !nullable[*id] {
                            break;
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// True when the whole text is one of the grammar's.
    pub(crate) fn accepts(&self, text: &str) -> bool {
        let mut ends = false;
        let mut stacks = HashSet::new();
        for way in 0..self.rules[self.root().unwrap()].len() {
            let start = Frame { rule: self.root().unwrap(), way, at: 0, next: None };
            ends |= self.expand(Some(Rc::new(start)), &mut stacks);
        }
        for c in text.chars() {
            let mut next = HashSet::new();
            ends = false;
            for frame in &stacks {
                if let Item::Chars(ranges, negated) = &self.rules[frame.rule][frame.way][frame.at]
                    && ranges.iter().any(|(from, to)| (*from..=*to).contains(&c)) != *negated
                {
                    ends |= self.expand(Some(Self::step(frame)), &mut next);
                }
            }
            stacks = next;
        }
        ends
    }

    /// A text of the grammar, as this seed has it. Small, as each way is the less likely the longer the text is.
    pub(crate) fn sample(&self, seed: u64) -> String {
        let mut dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let sizes = self.sizes();
        let mut text = String::new();
        let mut open = vec![Item::Rule(self.root().unwrap())];
        while let Some(item) = open.pop() {
            match item {
                Item::Chars(ranges, negated) => text.push(dice.pick(&ranges, negated)),
                Item::Rule(rule) => {
                    let ways = &self.rules[rule];
                    let least =
                        |way: &Vec<Item>| way.iter().map(|item| Self::size(item, &sizes)).sum::<usize>();
                    let shortest = ways.iter().min_by_key(|way| least(way)).unwrap();
                    let free = text.len() < 400 && dice.roll(8) > 0;
                    let way = if free { &ways[dice.roll(ways.len())] } else { shortest };
                    open.extend(way.iter().rev().cloned());
                }
            }
        }
        text
    }

    /// The least characters of each rule.
    fn sizes(&self) -> Vec<usize> {
        let mut sizes = vec![usize::MAX / 1000; self.rules.len()];
        loop {
            let before = sizes.clone();
            for (place, ways) in self.rules.iter().enumerate() {
                let least = |way: &Vec<Item>| way.iter().map(|item| Self::size(item, &before)).sum();
                sizes[place] = ways.iter().map(least).min().unwrap_or(0).min(before[place]);
            }
            if sizes == before {
                return sizes;
            }
        }
    }

    fn size(item: &Item, sizes: &[usize]) -> usize {
        match item {
            Item::Chars(..) => 1,
            Item::Rule(rule) => sizes[*rule],
        }
    }

    fn step(frame: &Rc<Frame>) -> Rc<Frame> {
        Rc::new(Frame { at: frame.at + 1, ..(**frame).clone() })
    }

    /// Adds the stacks that begin with characters; true when nothing need follow.
    fn expand(&self, stack: Option<Rc<Frame>>, into: &mut HashSet<Rc<Frame>>) -> bool {
        let (mut open, mut seen, mut ends) = (vec![stack], HashSet::new(), false);
        while let Some(stack) = open.pop() {
            let Some(frame) = stack else {
                ends = true;
                continue;
            };
            if !seen.insert(Rc::clone(&frame)) {
                continue;
            }
            match self.rules[frame.rule][frame.way].get(frame.at) {
                None => open.push(frame.next.clone()),
                Some(Item::Chars(..)) => {
                    into.insert(frame);
                }
                Some(Item::Rule(rule)) => {
                    let last = frame.at + 1 == self.rules[frame.rule][frame.way].len();
                    let next = if last { frame.next.clone() } else { Some(Self::step(&frame)) };
                    for way in 0..self.rules[*rule].len() {
                        open.push(Some(Rc::new(Frame { rule: *rule, way, at: 0, next: next.clone() })));
                    }
                }
            }
        }
        ends
    }
}

/// A small generator of random numbers.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from((self.0 >> 33) % u64::try_from(sides).unwrap()).unwrap()
    }

    /// A character of a class: of one of its ranges, or one that is much like those that models write.
    fn pick(&mut self, ranges: &[(char, char)], negated: bool) -> char {
        if !negated {
            let (from, to) = ranges[self.roll(ranges.len())];
            let width = u32::from(to) - u32::from(from) + 1;
            let off = u32::try_from(self.roll(usize::try_from(width).unwrap())).unwrap();
            return char::from_u32(u32::from(from) + off).unwrap_or(from);
        }
        let usual: Vec<char> = "aZ0 .,:;'\"\\/<>[]{}()|=_-\n\té東😀&#`".chars().collect();
        let is_in = |c: &char| !ranges.iter().any(|(from, to)| (*from..=*to).contains(c));
        let usual: Vec<char> = usual.into_iter().filter(is_in).collect();
        usual[self.roll(usual.len())]
    }
}

struct Reader {
    chars: Vec<char>,
    at: usize,
    rules: Vec<Option<Vec<Vec<Item>>>>,
    names: HashMap<String, usize>,
}

impl Reader {
    fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    fn next(&mut self) -> Result<char, String> {
        let c = self.peek().ok_or("the grammar ends too early")?;
        self.at += 1;
        Ok(c)
    }

    fn eat(&mut self, text: &str) -> Result<(), String> {
        for wanted in text.chars() {
            let got = self.next()?;
            if got != wanted {
                let rest: String = self.chars[self.at - 1..].iter().take(40).collect();
                return Err(format!("expected {wanted:?}, got {rest:?}"));
            }
        }
        Ok(())
    }

    fn space(&mut self, lines: bool) {
        while self.peek().is_some_and(|c| c == ' ' || c == '\t' || (lines && (c == '\n' || c == '\r'))) {
            self.at += 1;
        }
    }

    fn name(&mut self) -> Result<usize, String> {
        let start = self.at;
        while self.peek().is_some_and(|c| c.is_ascii_alphanumeric() || c == '-') {
            self.at += 1;
        }
        if start == self.at {
            let rest: String = self.chars[start..].iter().take(40).collect();
            return Err(format!("expected a name, got {rest:?}"));
        }
        let name: String = self.chars[start..self.at].iter().collect();
        let new = self.rules.len();
        let id = *self.names.entry(name).or_insert(new);
        if id == new {
            self.rules.push(None);
        }
        Ok(id)
    }

    fn rule(&mut self) -> Result<(), String> {
        let id = self.name()?;
        if self.rules[id].is_some() {
            return Err(format!("rule {id} is defined twice"));
        }
        self.space(false);
        self.eat("::=")?;
        self.space(true);
        let ways = self.ways(false)?;
        self.rules[id] = Some(ways);
        if self.peek().is_some() {
            self.eat("\n")?;
        }
        self.space(true);
        Ok(())
    }

    fn ways(&mut self, nested: bool) -> Result<Vec<Vec<Item>>, String> {
        let mut ways = vec![self.sequence(nested)?];
        while self.peek() == Some('|') {
            self.at += 1;
            self.space(true);
            ways.push(self.sequence(nested)?);
        }
        Ok(ways)
    }

    fn sequence(&mut self, nested: bool) -> Result<Vec<Item>, String> {
        let mut items: Vec<Item> = Vec::new();
        let mut last = 0;
        let mut weight = 1;
        while let Some(c) = self.peek() {
            match c {
                '"' => {
                    self.at += 1;
                    (last, weight) = (items.len(), 1);
                    while self.peek() != Some('"') {
                        let c = self.character()?;
                        items.push(Item::Chars(vec![(c, c)], false));
                    }
                    self.at += 1;
                }
                '[' => {
                    self.at += 1;
                    (last, weight) = (items.len(), 1);
                    let class = self.class()?;
                    items.push(class);
                }
                '(' => {
                    self.at += 1;
                    self.space(true);
                    let rules = self.rules.len();
                    let group = self.group()?;
                    (last, weight) = (items.len(), (self.rules.len() - rules).max(1));
                    items.push(group);
                }
                '*' | '+' | '?' | '{' => {
                    let (min, max) = self.bounds()?;
                    if last == items.len() {
                        return Err("a repetition of nothing".to_owned());
                    }
                    let unrolled = max.unwrap_or(min).max(1);
                    if weight * unrolled >= MAX_UNROLLED {
                        return Err(format!("a repetition unrolls to {weight} times {unrolled} rules"));
                    }
                    let item: Vec<Item> = items.split_off(last);
                    self.repeat(&item, min, max, &mut items);
                    weight *= unrolled;
                }
                c if c.is_ascii_alphanumeric() || c == '-' => {
                    (last, weight) = (items.len(), 1);
                    let id = self.name()?;
                    items.push(Item::Rule(id));
                }
                _ => break,
            }
            self.space(nested);
        }
        Ok(items)
    }

    fn group(&mut self) -> Result<Item, String> {
        let id = self.rules.len();
        self.rules.push(None);
        let ways = self.ways(true)?;
        self.rules[id] = Some(ways);
        self.eat(")")?;
        Ok(Item::Rule(id))
    }

    fn class(&mut self) -> Result<Item, String> {
        let negated = self.peek() == Some('^');
        self.at += usize::from(negated);
        let mut ranges = Vec::new();
        while self.peek() != Some(']') {
            let from = self.character()?;
            let is_range = self.peek() == Some('-') && self.chars.get(self.at + 1) != Some(&']');
            let to = if is_range {
                self.at += 1;
                self.character()?
            } else {
                from
            };
            ranges.push((from, to));
        }
        self.at += 1;
        if ranges.is_empty() {
            return Err("an empty class".to_owned());
        }
        Ok(Item::Chars(ranges, negated))
    }

    fn character(&mut self) -> Result<char, String> {
        match self.next()? {
            '\\' => {}
            c => return Ok(c),
        }
        let digits = match self.next()? {
            'n' => return Ok('\n'),
            'r' => return Ok('\r'),
            't' => return Ok('\t'),
            c @ ('\\' | '"' | '[' | ']') => return Ok(c),
            'x' => 2,
            'u' => 4,
            'U' => 8,
            c => return Err(format!("unknown escape \\{c}")),
        };
        let hex: String = (0..digits).map(|_| self.next()).collect::<Result<_, _>>()?;
        u32::from_str_radix(&hex, 16).ok().and_then(char::from_u32).ok_or_else(|| format!("bad escape {hex}"))
    }

    fn bounds(&mut self) -> Result<(usize, Option<usize>), String> {
        match self.next()? {
            '*' => return Ok((0, None)),
            '+' => return Ok((1, None)),
            '?' => return Ok((0, Some(1))),
            _ => {}
        }
        let min = self.number()?;
        if self.peek() == Some('}') {
            self.at += 1;
            return Ok((min, Some(min)));
        }
        self.eat(",")?;
        let max = if self.peek() == Some('}') { None } else { Some(self.number()?) };
        self.eat("}")?;
        Ok((min, max))
    }

    fn number(&mut self) -> Result<usize, String> {
        let start = self.at;
        while self.peek().is_some_and(|c| c.is_ascii_digit()) {
            self.at += 1;
        }
        self.chars[start..self.at]
            .iter()
            .collect::<String>()
            .parse()
            .map_err(|_| "expected a number".to_owned())
    }

    fn repeat(&mut self, item: &[Item], min: usize, max: Option<usize>, into: &mut Vec<Item>) {
        for _ in 0..min {
            into.extend_from_slice(item);
        }
        match max {
            None => {
                let id = self.rules.len();
                let mut again = item.to_vec();
                again.push(Item::Rule(id));
                self.rules.push(Some(vec![again, Vec::new()]));
                into.push(Item::Rule(id));
            }
            Some(max) => {
                let mut rest: Option<usize> = None;
                for _ in min..max {
                    let mut way = item.to_vec();
                    way.extend(rest.map(Item::Rule));
                    self.rules.push(Some(vec![way, Vec::new()]));
                    rest = Some(self.rules.len() - 1);
                }
                into.extend(rest.map(Item::Rule));
            }
        }
    }
}
