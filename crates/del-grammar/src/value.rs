//! Values as a model writes them: JSON, or a loose syntax.

use del_dialects::description::{Literal, Loose};
use del_dialects::spelling;
use serde_json::Value;

use crate::integers::{self, MAX_FREE_DIGITS};
use crate::rules::{Class, Expr, RuleId, Rules};
use crate::shape::{Member, Parameters, Shape};

/// Builds the values of one dialect.
pub(crate) struct Values<'r> {
    pub(crate) rules: &'r mut Rules,
    pub(crate) syntax: Syntax,
    /// The definitions of the tool at hand.
    definitions: Vec<RuleId>,
    /// Keywords that the syntax cannot hold values to.
    pub(crate) missed: Vec<&'static str>,
}

/// How values are written.
pub(crate) struct Syntax {
    /// Tells it from others.
    name: String,
    /// None for JSON.
    pub(crate) loose: Option<Loose>,
    comma: String,
    colon: String,
    words: [String; 3],
}

impl<'r> Values<'r> {
    pub(crate) fn new(rules: &'r mut Rules, literal: &Literal) -> Self {
        let syntax = match literal {
            Literal::Json => Syntax {
                name: "JSON".to_owned(),
                loose: None,
                comma: ", ".to_owned(),
                colon: ": ".to_owned(),
                words: ["true", "false", "null"].map(str::to_owned),
            },
            Literal::Loose(loose) => Syntax {
                name: format!("{loose:?}"),
                comma: loose.comma.clone(),
                colon: loose.colon.clone(),
                words: loose.words.clone(),
                loose: Some(loose.clone()),
            },
        };
        Self { rules, syntax, definitions: Vec::new(), missed: Vec::new() }
    }

    /// Goes on with this tool: references mean its definitions.
    pub(crate) fn enter(&mut self, parameters: &Parameters, hint: &str) {
        self.definitions = parameters
            .definitions
            .iter()
            .map(|definition| self.rules.reserve(&format!("{hint}-{}", definition.name)))
            .collect();
        for (place, definition) in parameters.definitions.iter().enumerate() {
            let id = self.definitions[place];
            let body = self.value(&definition.shape, &format!("{hint}-{}", definition.name));
            self.rules.define(id, body);
        }
    }

    /// The arguments as one object, brackets included.
    pub(crate) fn arguments(&mut self, parameters: &Parameters, hint: &str) -> Expr {
        let kinds = parameters.kinds(&parameters.shape);
        let mut objects: Vec<Expr> = Vec::new();
        for kind in kinds {
            if let Shape::Object { .. } | Shape::Map(_) = kind {
                let object = self.outer(kind, hint);
                objects.push(object);
            }
        }
        if objects.is_empty() {
            objects.push(self.outer(&Shape::Map(Box::new(Shape::Any)), hint));
        }
        Expr::choice(objects)
    }

    /// A value in any place but the outermost.
    pub(crate) fn value(&mut self, shape: &Shape, hint: &str) -> Expr {
        match shape {
            Shape::Any => self.any(),
            Shape::Const(value) => Expr::Literal(self.constant(value)),
            Shape::Text { min, max } => self.text(*min, *max),
            Shape::Pattern { text, keyword } => self.pattern(text, keyword),
            Shape::Integer { min: None, max: None } => self.shared("integer", |_| integers::any()),
            Shape::Integer { min, max } => integers::between(*min, *max),
            Shape::Number { min: None, max: None } => {
                self.shared("number", |_| Expr::sequence([Expr::text("-").optional(), positive()]))
            }
            Shape::Number { min: Some(0), max: None } => self.shared("positive", |_| positive()),
            Shape::Number { min, max } => integers::numbers(*min, *max),
            Shape::Boolean => self.shared("boolean", |values| {
                Expr::choice(values.syntax.words[..2].iter().map(|word| Expr::text(word)))
            }),
            Shape::Null => Expr::text(&self.syntax.words[2]),
            Shape::Array { items, min, max } => self.array(items, *min, *max, hint),
            Shape::Tuple { first, items, min, max } => {
                let values: Vec<Expr> = first.iter().map(|shape| self.value(shape, hint)).collect();
                let more = self.value(items, &format!("{hint}-item"));
                let more = self.rules.named(&format!("{hint}-item"), more);
                let comma = Expr::text(&self.syntax.comma);
                Expr::sequence([
                    Expr::text("["),
                    tuple(&values, &more, (*min, *max), &comma),
                    Expr::text("]"),
                ])
            }
            Shape::Object { members, others } => {
                let mut items = self.members(members, hint);
                if let Some(others) = others {
                    let key = self.any_key();
                    let value = self.value(others, hint);
                    let pair = Expr::sequence([key, Expr::text(&self.syntax.colon), value]);
                    items.push((hint.to_owned(), self.list(pair, 1, None, hint), false));
                }
                let inside = self.listed(&items, hint);
                Expr::sequence([Expr::text("{"), inside, Expr::text("}")])
            }
            Shape::Map(values) => {
                let key = self.any_key();
                let value = self.value(values, hint);
                let pair = Expr::sequence([key, Expr::text(&self.syntax.colon), value]);
                let inside = self.list(pair, 0, None, hint);
                Expr::sequence([Expr::text("{"), inside, Expr::text("}")])
            }
            Shape::OneOf(shapes) => {
                let values: Vec<Expr> = shapes.iter().map(|shape| self.value(shape, hint)).collect();
                Expr::choice(values)
            }
            Shape::Ref(place) => Expr::Rule(self.definitions[*place]),
        }
    }

    /// What stands for a value in the text.
    pub(crate) fn constant(&self, value: &Value) -> String {
        match &self.syntax.loose {
            Some(syntax) => spelling::literal(syntax, value),
            None => spelling::json(value),
        }
    }

    /// The object of the arguments itself: in a loose syntax its brackets and keys are others than those inside.
    fn outer(&mut self, shape: &Shape, hint: &str) -> Expr {
        let Some(loose) = self.syntax.loose.clone().filter(|loose| !loose.is_uniform()) else {
            return self.value(shape, hint);
        };
        let sign = |byte: u8| Expr::Literal(char::from(byte).to_string());
        let inside = match shape {
            Shape::Object { members, others } => {
                let mut items = Vec::new();
                for member in self.in_order(members) {
                    let hint = format!("{hint}-{}", member.key);
                    let value = self.value(&member.shape, &hint);
                    let key = if loose.pair == b':' { self.key(&member.key) } else { member.key.clone() };
                    let pair = Expr::sequence([Expr::text(&key), sign(loose.pair), value]);
                    items.push((hint, pair, member.required));
                }
                if let Some(others) = others {
                    let pair = self.outer_pair(others, &loose, hint);
                    items.push((hint.to_owned(), self.list(pair, 1, None, hint), false));
                }
                self.listed(&items, hint)
            }
            Shape::Map(values) => {
                let pair = self.outer_pair(values, &loose, hint);
                self.list(pair, 0, None, hint)
            }
            _ => Expr::empty(),
        };
        Expr::sequence([sign(loose.open), inside, sign(loose.close)])
    }

    /// An argument that is not declared.
    fn outer_pair(&mut self, shape: &Shape, loose: &Loose, hint: &str) -> Expr {
        let value = self.value(shape, hint);
        let key = if loose.pair == b':' { self.any_key() } else { bare_key() };
        Expr::sequence([key, Expr::Literal(char::from(loose.pair).to_string()), value])
    }

    fn members(&mut self, members: &[Member], hint: &str) -> Vec<(String, Expr, bool)> {
        let mut items = Vec::new();
        for member in self.in_order(members) {
            let hint = format!("{hint}-{}", member.key);
            let value = self.value(&member.shape, &hint);
            let key = Expr::Literal(self.key(&member.key));
            let pair = Expr::sequence([key, Expr::text(&self.syntax.colon), value]);
            items.push((hint, pair, member.required));
        }
        items
    }

    /// Members in the order in which they are written.
    fn in_order<'m>(&self, members: &'m [Member]) -> Vec<&'m Member> {
        let mut members: Vec<&Member> = members.iter().collect();
        if self.syntax.loose.as_ref().is_some_and(|loose| loose.sorted) {
            members.sort_by(|a, b| a.key.cmp(&b.key));
        }
        members
    }

    fn key(&self, key: &str) -> String {
        match &self.syntax.loose {
            None => spelling::string(key),
            Some(loose) if loose.writes_bare(key) => key.to_owned(),
            Some(_) => self.constant(&Value::from(key)),
        }
    }

    fn any_key(&mut self) -> Expr {
        if self.syntax.loose.as_ref().is_some_and(|loose| !loose.quoted_keys) {
            Expr::choice([bare_key(), self.text(0, None)])
        } else {
            self.text(0, None)
        }
    }

    fn array(&mut self, items: &Shape, min: u32, max: Option<u32>, hint: &str) -> Expr {
        let hint = format!("{hint}-item");
        let item = self.value(items, &hint);
        let inside = self.list(item, min, max, &hint);
        Expr::sequence([Expr::text("["), inside, Expr::text("]")])
    }

    /// Items with commas between them.
    fn list(&mut self, item: Expr, min: u32, max: Option<u32>, hint: &str) -> Expr {
        if max == Some(0) {
            return Expr::empty();
        }
        let item = self.rules.named(hint, item);
        let mut more = Expr::sequence([Expr::text(&self.syntax.comma), item.clone()]);
        let (fewest, most) = (min.saturating_sub(1), max.map(|max| max - 1));
        if fewest > 1 || most.is_some_and(|most| most > 1) {
            more = self.rules.add(&format!("{hint}-more"), more);
        }
        let some = Expr::sequence([item, more.repeat(fewest, most)]);
        if min == 0 { some.optional() } else { some }
    }

    /// Members in their order, with commas between those that are there. Each has a name for its rule, its text, and
    /// whether it has to be there.
    fn listed(&mut self, items: &[(String, Expr, bool)], hint: &str) -> Expr {
        let comma = Expr::text(&self.syntax.comma);
        let first_required = items.iter().position(|(_, _, required)| *required).unwrap_or(items.len());
        // Behind a member that has to be there, each one brings its own comma.
        let mut behind: Vec<Expr> = Vec::new();
        for (_, item, required) in items.iter().skip(first_required + 1) {
            let item = Expr::sequence([comma.clone(), item.clone()]);
            behind.push(if *required { item } else { item.optional() });
        }
        let behind = Expr::sequence(behind);
        let (leading, rest) = items.split_at(first_required);
        let required = rest.first().map(|(_, item, _)| item.clone());
        if leading.is_empty() {
            return required.map_or(Expr::empty(), |item| Expr::sequence([item, behind]));
        }
        // Before it, whichever comes first has no comma: one way for each, and what may follow it as a rule.
        let mut tail = required.clone().map(|item| Expr::sequence([comma.clone(), item, behind.clone()]));
        let mut ways = required.map(|item| vec![Expr::sequence([item, behind])]).unwrap_or_default();
        for (place, (name, item, _)) in leading.iter().enumerate().rev() {
            let item = self.rules.named(name, item.clone());
            ways.push(Expr::sequence(std::iter::once(item.clone()).chain(tail.clone())));
            if place > 0 {
                let optional = Expr::sequence([comma.clone(), item]).optional();
                let next = Expr::sequence(std::iter::once(optional).chain(tail));
                tail = Some(self.rules.add(&format!("{hint}-rest"), next));
            }
        }
        ways.reverse();
        let ways = Expr::choice(ways);
        if first_required == items.len() { ways.optional() } else { ways }
    }

    fn any(&mut self) -> Expr {
        let kinds = [
            Shape::Map(Box::new(Shape::Any)),
            Shape::Array { items: Box::new(Shape::Any), min: 0, max: None },
            Shape::Text { min: 0, max: None },
            Shape::Number { min: None, max: None },
            Shape::Boolean,
            Shape::Null,
        ];
        self.shared("value", |values| {
            Expr::choice(kinds.iter().map(|kind| values.value(kind, "value")).collect::<Vec<_>>())
        })
    }

    /// The rule that stands for `what` throughout, which `body` makes once.
    pub(crate) fn shared(&mut self, what: &'static str, body: impl FnOnce(&mut Self) -> Expr) -> Expr {
        let (id, defined) = self.rules.shared(what, &self.syntax.name);
        if !defined {
            let body = body(self);
            self.rules.define(id, body);
        }
        Expr::Rule(id)
    }
}

/// The first items in their order, and more behind them; `between` stands between two.
pub(crate) fn tuple(first: &[Expr], more: &Expr, (min, max): (u32, Option<u32>), between: &Expr) -> Expr {
    let known = u32::try_from(first.len()).unwrap_or(u32::MAX);
    let left = |count: u32| count.saturating_sub(known);
    let next = Expr::sequence([between.clone(), more.clone()]);
    let mut tail = next.repeat(left(min), max.map(left));
    for (place, item) in first.iter().enumerate().rev() {
        let place = u32::try_from(place).unwrap_or(u32::MAX);
        if max.is_some_and(|max| place >= max) {
            tail = Expr::empty();
            continue;
        }
        let item = if place > 0 { Expr::sequence([between.clone(), item.clone()]) } else { item.clone() };
        tail = Expr::sequence([item, tail]);
        if place >= min {
            tail = tail.optional();
        }
    }
    tail
}

/// The key of an object with any keys, where keys stand bare.
fn bare_key() -> Expr {
    let head = Expr::Class(Class::ranges(&[('a', 'z'), ('A', 'Z'), ('_', '_')]));
    let tail = Class::ranges(&[('a', 'z'), ('A', 'Z'), ('0', '9'), ('_', '_')]);
    Expr::sequence([head, Expr::Class(tail).repeat(0, Some(63))])
}

/// Digits, and behind them perhaps a fraction and an exponent.
fn positive() -> Expr {
    let digits = || Class::digits(0, 9);
    let whole = Expr::choice([
        Expr::text("0"),
        Expr::sequence([Class::digits(1, 9), digits().repeat(0, Some(MAX_FREE_DIGITS - 1))]),
    ]);
    let fraction = Expr::sequence([Expr::text("."), digits().repeat(1, Some(MAX_FREE_DIGITS))]);
    let power = Expr::choice([
        digits().repeat(1, Some(2)),
        Expr::sequence([Class::digits(1, 2), digits().repeat(2, Some(2))]),
        Expr::sequence([Expr::text("30"), Class::digits(0, 8)]),
    ]);
    // Beyond it there is no number of 64 bits.
    let power = Expr::choice([
        Expr::sequence([Expr::text("-"), digits().repeat(1, Some(3))]),
        Expr::sequence([Expr::text("+").optional(), power]),
    ]);
    let exponent = Expr::sequence([Expr::Class(Class::of(['e', 'E'])), power]);
    Expr::sequence([whole, fraction.optional(), exponent.optional()])
}
