//! What is made of a dialect when it is first read or written, and kept with it.

use std::sync::{Arc, OnceLock};

use crate::dialect::Dialect;
use crate::dialects::Dialects;
use crate::neutral::Marks;
use crate::parse::{Parser, Plan, Turn};

/// Made when it is first asked for; a copy of the dialect begins without.
#[derive(Debug, Default)]
pub(crate) struct Once {
    plan: OnceLock<Arc<Plan>>,
    /// The marks of all dialects and of this one, where it is none of the built-in ones.
    marks: OnceLock<Marks>,
    /// Whether it reads what it writes.
    pub(crate) sound: OnceLock<bool>,
}

impl Clone for Once {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl Dialect {
    /// A parser for one answer in this dialect, and in those that it [`reads`](Self::reads) as well.
    pub fn parser(self: &Arc<Self>, turn: Turn) -> Parser {
        Parser::new(Arc::clone(self.plan()), turn)
    }

    pub(crate) fn plan(self: &Arc<Self>) -> &Arc<Plan> {
        self.once.plan.get_or_init(|| {
            // The plan holds what it reads: of this dialect a copy, or neither would ever be freed.
            let own = Arc::new(Self::clone(self));
            let others = self.reads.iter().filter_map(|name| Dialects::builtin().get(name)).cloned();
            let all: Vec<Arc<Self>> = std::iter::once(own).chain(others).collect();
            Arc::new(Plan::new(&all))
        })
    }

    /// The marks that must not survive in text of others, beside this dialect's own text.
    pub(crate) fn foreign_marks(&self) -> &Marks {
        let all = Dialects::builtin();
        if all.iter().any(|known| known.name == self.name && known.text == self.text) {
            return all.marks();
        }
        self.once.marks.get_or_init(|| Marks::of(all.iter().map(Arc::as_ref).chain([self])))
    }
}
