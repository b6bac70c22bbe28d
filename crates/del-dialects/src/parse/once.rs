//! Plans are built once for a dialect or a set of them, and kept with it.

use std::sync::Arc;

use super::{Parser, Plan};
use crate::collect::{Collect, Message};
use crate::dialect::Dialect;
use crate::dialects::Dialects;
use crate::event::End;
use crate::turn::Turn;

impl Dialect {
    /// A parser for one answer in this dialect, and in those that it [`reads`](Self::reads) as well.
    pub fn parser(self: &Arc<Self>, turn: Turn) -> Parser {
        Parser::new(self.plan(), turn)
    }

    /// Reads a whole answer that the model ended by itself. One that was cut off, or that arrives in pieces, is pushed to
    /// a [`parser`](Self::parser). It starts where `turn` says: as text, if that says nothing. Where nobody knows whether
    /// the prompt ended inside the thinking, [`Start::Unknown`](crate::Start::Unknown) lets the marks tell.
    ///
    /// ```
    /// use del_dialects::{Dialects, Turn};
    ///
    /// let dialect = Dialects::builtin().get("pythonic").expect("a built-in dialect");
    /// let message = dialect.parse("[get_weather(city='Paris')]", Turn::default());
    /// assert_eq!(message.calls[0].arguments, r#"{"city":"Paris"}"#);
    /// ```
    pub fn parse(self: &Arc<Self>, text: &str, turn: Turn) -> Message {
        self.parser(turn).read(text)
    }

    pub(crate) fn plan(self: &Arc<Self>) -> Arc<Plan> {
        self.once.plan.get(|| {
            // The plan holds what it reads: of this dialect a copy, or neither would ever be freed.
            let own = Arc::new(Self::clone(self));
            let others = self.reads.iter().filter_map(|name| Dialects::alone(name)).cloned();
            let all: Vec<Arc<Self>> = std::iter::once(own).chain(others).collect();
            Plan::new(&all)
        })
    }
}

impl Dialects {
    /// A parser for one answer in whichever dialect it is, also in several.
    pub fn parser(&self, turn: Turn) -> Parser {
        Parser::new(self.plan.get(|| Plan::new(&self.list)), turn)
    }

    /// Reads a whole answer that the model ended by itself, in whichever dialect it is. It starts where `turn` says.
    ///
    /// ```
    /// use del_dialects::{Dialects, Start, Turn};
    ///
    /// let message = Dialects::builtin().parse("[TOOL_CALLS]list_dir[ARGS]{}", Turn::default());
    /// assert_eq!(message.dialect.as_deref(), Some("mistral-args"));
    /// let message = Dialects::builtin().parse("I look.</think> Hello.", Turn::default().starting(Start::Unknown));
    /// assert_eq!(message.reasoning, "I look.");
    /// ```
    pub fn parse(&self, text: &str, turn: Turn) -> Message {
        self.parser(turn).read(text)
    }
}

impl Parser {
    /// Reads the rest of an answer at once, up to its end.
    fn read(mut self, text: &str) -> Message {
        let mut answer = Collect::new();
        self.push(text, &mut answer);
        self.finish(End::End, &mut answer);
        answer.into_message()
    }
}

/// A parser is made on one thread and used on another, and so is what it is made of.
const _: () = {
    const fn is_shared<T: Clone + Send + Sync>() {}
    is_shared::<Parser>();
    is_shared::<Arc<Plan>>();
};
