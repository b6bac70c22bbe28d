//! What a JSON Schema says of values, without the ways of saying it.

mod bounds;
mod read;

use del_dialects::Tool;
use read::Reader;
use serde_json::{Map, Value};

use crate::Warnings;
use crate::rules::Expr;

/// A set of values.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Shape {
    Any,
    Const(Value),
    Text {
        min: u32,
        max: Option<u32>,
    },
    /// A text of this form: [`pattern`](super::pattern) says what its characters are.
    Pattern {
        text: Expr,
        /// The keyword that asks for it.
        keyword: &'static str,
    },
    Integer {
        min: Option<i64>,
        max: Option<i64>,
    },
    Number {
        min: Option<i64>,
        max: Option<i64>,
    },
    Boolean,
    Null,
    Array {
        items: Box<Shape>,
        min: u32,
        max: Option<u32>,
    },
    /// A list whose first items have shapes of their own.
    Tuple {
        first: Vec<Shape>,
        items: Box<Shape>,
        min: u32,
        max: Option<u32>,
    },
    Object {
        members: Vec<Member>,
        /// What members that are not declared may be, where any are wanted.
        others: Option<Box<Shape>>,
    },
    /// An object with any keys.
    Map(Box<Shape>),
    OneOf(Vec<Shape>),
    /// The definition of this number.
    Ref(usize),
}

/// A member of an object.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Member {
    pub(crate) key: String,
    pub(crate) required: bool,
    pub(crate) shape: Shape,
}

/// The arguments of a tool.
#[derive(Debug)]
pub(crate) struct Parameters {
    pub(crate) shape: Shape,
    pub(crate) definitions: Vec<Definition>,
}

/// A part of a schema that others refer to.
#[derive(Debug)]
pub(crate) struct Definition {
    pub(crate) name: String,
    pub(crate) shape: Shape,
}

impl Parameters {
    pub(crate) fn of(tool: &Tool, warnings: &mut Warnings) -> Self {
        let mut reader = Reader::new(tool, warnings);
        let no_arguments =
            tool.parameters.get("properties").is_some_and(|all| all == &Value::Object(Map::new()))
                && ["anyOf", "oneOf", "allOf", "$ref"].iter().all(|word| tool.parameters.get(word).is_none());
        let shape = if no_arguments {
            Shape::Object { members: Vec::new(), others: None }
        } else {
            reader.shape(&tool.parameters, &mut String::new(), 0)
        };
        let mut definitions = reader.definitions;
        break_circles(&mut definitions);
        Self { shape, definitions }
    }

    /// The shapes that `shape` stands for, each of one kind; references are followed.
    pub(crate) fn kinds<'s>(&'s self, shape: &'s Shape) -> Vec<&'s Shape> {
        let (mut kinds, mut open, mut seen) = (Vec::new(), vec![shape], Vec::new());
        while let Some(shape) = open.pop() {
            match shape {
                Shape::OneOf(shapes) => open.extend(shapes.iter().rev()),
                Shape::Ref(place) if !seen.contains(place) => {
                    seen.push(*place);
                    open.push(&self.definitions[*place].shape);
                }
                Shape::Ref(_) => {}
                shape => kinds.push(shape),
            }
        }
        kinds
    }
}

/// A definition that is itself before any value has begun says nothing: it becomes any value.
fn break_circles(definitions: &mut [Definition]) {
    for place in 0..definitions.len() {
        let (mut open, mut seen) = (vec![&definitions[place].shape], Vec::new());
        let mut circle = false;
        while let Some(shape) = open.pop() {
            match shape {
                Shape::OneOf(shapes) => open.extend(shapes),
                Shape::Ref(next) if *next == place => circle = true,
                Shape::Ref(next) if !seen.contains(next) => {
                    seen.push(*next);
                    open.push(&definitions[*next].shape);
                }
                _ => {}
            }
        }
        if circle {
            definitions[place].shape = Shape::Any;
        }
    }
}
