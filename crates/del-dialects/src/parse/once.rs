//! Plans are built once for a dialect or a set of them, and kept with it.

use std::sync::Arc;

use super::{Parser, Plan};
use crate::dialect::Dialect;
use crate::dialects::Dialects;
use crate::turn::Turn;

impl Dialect {
    /// A parser for one answer in this dialect, and in those that it [`reads`](Self::reads) as well.
    pub fn parser(self: &Arc<Self>, turn: Turn) -> Parser {
        Parser::new(self.plan(), turn)
    }

    pub(crate) fn plan(self: &Arc<Self>) -> Arc<Plan> {
        self.once.plan.get(|| {
            // The plan holds what it reads: of this dialect a copy, or neither would ever be freed.
            let own = Arc::new(Self::clone(self));
            let others = self.reads.iter().filter_map(|name| Dialects::builtin().get(name)).cloned();
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
}
