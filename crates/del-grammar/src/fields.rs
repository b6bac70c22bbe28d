//! Arguments as keys and values between marks.

use del_dialects::description::{FieldForm, Slot};
use del_dialects::{Tool, spelling};
use serde_json::{Map, Value};

use crate::rules::{Class, Expr, RuleId};
use crate::shape::{Parameters, Shape};
use crate::value::{self, Values};
use crate::{Warning, Warnings, pattern, strings};

/// The arguments of one tool.
pub(crate) fn arguments(
    form: &FieldForm,
    closer: Option<&str>,
    tool: &Tool,
    parameters: &Parameters,
    values: &mut Values<'_>,
    warnings: &mut Warnings,
) -> Expr {
    let mut ways = Vec::new();
    let next = closer.and_then(|closer| next_lines(form, closer, parameters));
    let mut fields =
        Fields { form, next, tool: &tool.name, parameters, values, warnings, nested: Vec::new() };
    for shape in parameters.kinds(&parameters.shape) {
        match shape {
            Shape::Object { members, others } => {
                let mut parts = Vec::new();
                for member in members {
                    let field = fields.field(Key::Named(&member.key), &member.shape);
                    parts.push(if member.required { field } else { field.optional() });
                }
                parts.extend(others.iter().map(|shape| fields.field(Key::Any, shape).repeat(0, None)));
                ways.push(Expr::sequence(parts));
            }
            Shape::Map(shape) => ways.push(fields.field(Key::Any, shape).repeat(0, None)),
            _ => {}
        }
    }
    if ways.is_empty() {
        ways.push(fields.field(Key::Any, &Shape::Any).repeat(0, None));
    }
    Expr::choice(ways)
}

/// The one argument of a tool whose call is nothing but its value.
pub(crate) fn argument(
    form: &FieldForm,
    tool: &Tool,
    key: &str,
    parameters: &Parameters,
    values: &mut Values<'_>,
    warnings: &mut Warnings,
) -> Expr {
    let declared = parameters.kinds(&parameters.shape).into_iter().find_map(|shape| match shape {
        Shape::Object { members, .. } => members.iter().find(|member| member.key == key),
        _ => None,
    });
    let shape = declared.map_or(&Shape::Any, |member| &member.shape);
    let mut fields =
        Fields { form, next: None, tool: &tool.name, parameters, values, warnings, nested: Vec::new() };
    fields.field(Key::Named(key), shape)
}

/// What no value of several lines holds, where fields are lines: a line that begins with a key, or closes the call. None
/// where any word may be a key.
fn next_lines(form: &FieldForm, closer: &str, parameters: &Parameters) -> Option<Vec<String>> {
    let pair = form.parts.iter().skip_while(|part| **part != Slot::Key).find_map(|part| match part {
        Slot::Text(text) => Some(text.trim_end()),
        _ => None,
    })?;
    let mut words = vec![format!("\n{}", closer.trim_start())];
    for shape in parameters.kinds(&parameters.shape) {
        let Shape::Object { members, others } = shape else { return None };
        if others.is_some() {
            return None;
        }
        let heads = members.iter().map(|member| format!("{}{pair}", member.key));
        words.extend(heads.flat_map(|head| ["\n", " ", "\t"].map(|before| format!("{before}{head}"))));
    }
    Some(words)
}

struct Fields<'a, 'r> {
    form: &'a FieldForm,
    /// What ends a value in place of the form's closers.
    next: Option<Vec<String>>,
    tool: &'a str,
    parameters: &'a Parameters,
    values: &'a mut Values<'r>,
    warnings: &'a mut Warnings,
    /// The rules of objects and lists that are written as elements, by their shapes.
    nested: Vec<(Shape, RuleId)>,
}

/// The key of a field.
#[derive(Clone, Copy)]
enum Key<'k> {
    Named(&'k str),
    Any,
    /// An item of a list.
    Item,
}

/// A value, and what the slots beside it say of it.
struct Typed {
    is_text: String,
    word: String,
    value: Expr,
}

impl Fields<'_, '_> {
    /// One field.
    fn field(&mut self, key: Key<'_>, shape: &Shape) -> Expr {
        let parts = match (key, &self.form.nest) {
            (Key::Item, Some(nest)) => &nest.item,
            _ => &self.form.parts,
        };
        let says_text = self.form.parts.contains(&Slot::IsString);
        let says_type = self.form.parts.contains(&Slot::Type);
        let mut groups: Vec<(Typed, Vec<Expr>)> = Vec::new();
        for typed in self.typed(key, shape, says_text || says_type) {
            let same = |(known, _): &&mut (Typed, Vec<Expr>)| {
                (!says_text || known.is_text == typed.is_text) && (!says_type || known.word == typed.word)
            };
            if let Some((_, values)) = groups.iter_mut().find(same) {
                values.push(typed.value);
            } else {
                let value = typed.value.clone();
                groups.push((typed, vec![value]));
            }
        }
        let ways = groups.into_iter().map(|(typed, values)| {
            let value = Expr::choice(values);
            Expr::sequence(parts.iter().map(|part| match part {
                Slot::Text(text) => Expr::text(text),
                Slot::Key => match key {
                    Key::Named(key) => Expr::text(&spelling::key(self.form, key)),
                    _ => any_key(),
                },
                Slot::IsString => Expr::text(&typed.is_text),
                Slot::Type => Expr::text(&typed.word),
                Slot::Value => value.clone(),
                _ => Expr::empty(),
            }))
        });
        Expr::choice(ways.collect::<Vec<_>>())
    }

    /// The values of `shape`, apart by kind. `told` says that the field tells text from other values.
    fn typed(&mut self, key: Key<'_>, shape: &Shape, told: bool) -> Vec<Typed> {
        let everything = [
            Shape::Text { min: 0, max: None },
            Shape::Number { min: None, max: None },
            Shape::Boolean,
            Shape::Null,
            Shape::Array { items: Box::new(Shape::Any), min: 0, max: None },
            Shape::Map(Box::new(Shape::Any)),
        ];
        let mut kinds = self.parameters.kinds(shape);
        if kinds.contains(&&Shape::Any) {
            kinds = everything.iter().collect();
        }
        let elements = self.form.nest.as_ref().is_some_and(|nest| nest.written);
        let is_text = |kind: &&Shape| match kind {
            Shape::Text { .. } => true,
            // Where it may hold what ends it, it is any text.
            Shape::Pattern { text, .. } => !self.form.xml && !self.holds(text),
            _ => false,
        };
        // Where text stands as it is, any other value is text as well.
        if let (false, Some(text)) =
            (told || self.form.xml || self.form.json, kinds.iter().copied().find(is_text))
        {
            kinds.retain(|kind| elements && is_container(kind));
            kinds.push(text);
        }
        kinds.into_iter().map(|kind| self.one(key, kind)).collect()
    }

    fn one(&mut self, key: Key<'_>, kind: &Shape) -> Typed {
        let word = match key {
            Key::Named(key) => key,
            Key::Any => "value",
            Key::Item => "item",
        };
        let hint = format!("{}-{word}", self.tool);
        let (sample, value) = match kind {
            Shape::Text { .. } | Shape::Pattern { .. } if self.form.json => {
                (Value::from(""), self.values.value(kind, &hint))
            }
            Shape::Text { min, max } => (Value::from(""), self.text(key, *min, *max)),
            Shape::Pattern { text, keyword } => (Value::from(""), self.pattern(key, text, keyword)),
            Shape::Const(value) => (value.clone(), self.constant(value)),
            Shape::Boolean => {
                let words = [true, false].map(|word| self.constant(&Value::Bool(word)));
                (Value::Bool(true), Expr::choice(words))
            }
            Shape::Null => (Value::Null, self.constant(&Value::Null)),
            Shape::Array { .. } | Shape::Tuple { .. } => {
                (Value::Array(Vec::new()), self.container(kind, &hint))
            }
            Shape::Object { .. } | Shape::Map(_) => (Value::Object(Map::new()), self.container(kind, &hint)),
            kind => (Value::from(0), self.values.value(kind, &hint)),
        };
        Typed {
            is_text: self.written(Slot::IsString, &sample),
            word: self.written(Slot::Type, &sample),
            value,
        }
    }

    /// An object or a list: elements where the form writes them, or JSON, which stands for what elements cannot say.
    fn container(&mut self, kind: &Shape, hint: &str) -> Expr {
        let json = self.values.value(kind, hint);
        if !self.form.nest.as_ref().is_some_and(|nest| nest.written) {
            return json;
        }
        if let Some((_, rule)) = self.nested.iter().find(|(known, _)| known == kind) {
            return Expr::Rule(*rule);
        }
        let rule = self.values.rules.reserve(hint);
        self.nested.push((kind.clone(), rule));
        let elements = match kind {
            Shape::Object { members, others } => {
                let mut parts = Vec::new();
                for member in members {
                    let field = self.field(Key::Named(&member.key), &member.shape);
                    parts.push(if member.required { field } else { field.optional() });
                }
                parts.extend(others.iter().map(|shape| self.field(Key::Any, shape).repeat(0, None)));
                Expr::sequence(parts)
            }
            Shape::Map(shape) => self.field(Key::Any, shape).repeat(0, None),
            Shape::Array { items, min, max } => self.field(Key::Item, items).repeat(*min, *max),
            Shape::Tuple { first, items, min, max } => {
                let values: Vec<Expr> = first.iter().map(|shape| self.field(Key::Item, shape)).collect();
                let more = self.field(Key::Item, items);
                value::tuple(&values, &more, (*min, *max), &Expr::empty())
            }
            _ => Expr::empty(),
        };
        self.values.rules.define(rule, Expr::choice([elements, json]));
        Expr::Rule(rule)
    }

    fn constant(&self, value: &Value) -> Expr {
        Expr::Literal(self.written(Slot::Value, value))
    }

    /// What the writer writes for one slot of the form.
    fn written(&self, slot: Slot, value: &Value) -> String {
        spelling::slot(self.form, slot, value)
    }

    /// True where no text of this form can be taken for what ends a value.
    fn holds(&self, text: &Expr) -> bool {
        let first = |mark: &String| mark.trim_start().chars().next();
        !self.form.value_close.is_empty()
            && self.form.value_close.iter().filter_map(first).all(|first| !pattern::may_hold(text, first))
    }

    fn pattern(&mut self, key: Key<'_>, text: &Expr, keyword: &str) -> Expr {
        if self.form.xml {
            let entity = |c: char| self.form.entities().iter().find(|(plain, _)| *plain == c);
            let escaped =
                |c: char| entity(c).map_or_else(|| c.to_string(), |(_, entity)| (*entity).to_owned());
            return pattern::spelled(text, &|class: &Class| {
                strings::spelled(class, &|c| entity(c).is_some(), &escaped)
            });
        }
        if self.holds(text) {
            return pattern::spelled(text, &strings::as_it_is);
        }
        self.warn(key, keyword);
        self.text(key, 0, None)
    }

    fn warn(&mut self, key: Key<'_>, keyword: &str) {
        let path = match key {
            Key::Named(key) => key.to_owned(),
            _ => "*".to_owned(),
        };
        self.warnings.add(Warning { tool: self.tool.to_owned(), path, keyword: keyword.to_owned() });
    }

    fn text(&mut self, key: Key<'_>, min: u32, max: Option<u32>) -> Expr {
        if self.form.xml {
            let entities = self.form.entities();
            let plain: Vec<(char, char)> = entities.iter().map(|(c, _)| (*c, *c)).collect();
            let spelled = entities.iter().map(|(_, entity)| Expr::text(entity));
            let char = Expr::choice(std::iter::once(Expr::Class(Class::not(&plain))).chain(spelled));
            let (id, _) = self
                .values
                .rules
                .shared("character", if self.form.is_quoted() { "quoted XML" } else { "XML" });
            self.values.rules.define(id, char);
            return Expr::Rule(id).repeat(min, max);
        }
        for (word, said) in [("minLength", min > 0), ("maxLength", max.is_some())] {
            if said {
                self.warn(key, word);
            }
        }
        // With any key, what closes the value is known but for the key.
        let closer = |mark: &String| match key {
            Key::Named(key) => mark.replace("{key}", key),
            _ => mark.split("{key}").next().unwrap_or_default().to_owned(),
        };
        if let Some(next) = &self.next {
            return Expr::Without(next.clone());
        }
        let ends = [&self.form.value_close, &self.form.borders];
        Expr::Without(ends.into_iter().flatten().map(closer).collect())
    }
}

fn is_container(kind: &Shape) -> bool {
    matches!(kind, Shape::Object { .. } | Shape::Map(_) | Shape::Array { .. } | Shape::Tuple { .. })
}

/// A key that no schema declares: letters of most scripts, digits and a few signs.
fn any_key() -> Expr {
    let letters = [
        ('a', 'z'),
        ('A', 'Z'),
        ('_', '_'),
        ('\u{c0}', '\u{24f}'),
        ('\u{370}', '\u{167f}'),
        ('\u{3040}', '\u{d7ff}'),
    ];
    let others = [('0', '9'), ('-', '-'), ('.', '.')];
    let tail = Expr::Class(Class::ranges(&[&letters[..], &others[..]].concat()));
    Expr::sequence([Expr::Class(Class::ranges(&letters)), tail.repeat(0, Some(63))])
}
