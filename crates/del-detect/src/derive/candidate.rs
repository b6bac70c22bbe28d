//! Descriptions that may be the one, and which of them is.

use std::sync::Arc;

use del_dialects::{Dialect, Tool};

use crate::compare::{self, Fit};
use crate::describe::{self, Sketch};
use crate::probe::{Findings, Turn};
use crate::report::Description;
use crate::syntax::Shape;
use crate::{cases, trial};

/// Describes each shape, and keeps the best.
pub(super) fn consider(
    shapes: &[Shape],
    sketch: &Sketch,
    turns: &[Turn],
    findings: &Findings,
    tools: &[Tool],
    best: &mut Option<Candidate>,
) {
    // A call stands on a line of its own, unless the turns show it right behind text.
    for (shape, inline) in shapes.iter().flat_map(|shape| [(shape, false), (shape, true)]) {
        let toml = describe::describe(sketch, shape, inline);
        let explains = shape.explains();
        let Some(made) = Candidate::of(&toml, &shape.open, explains, turns, findings, tools) else {
            continue;
        };
        // A known dialect forgives more, so that one of its own has to read more.
        let better = best.as_ref().is_none_or(|best| match best.description.copy_of {
            Some(_) => best.fit.key().0 < made.fit.key().0,
            None => best.key() < made.key(),
        });
        if better {
            *best = Some(made);
        }
    }
}

/// A description that may be the one.
pub(super) struct Candidate {
    pub(super) fit: Fit,
    /// How much of what is written it explains.
    explains: usize,
    pub(super) description: Description,
}

impl Candidate {
    pub(super) fn of(
        toml: &str,
        open: &[String],
        explains: usize,
        turns: &[Turn],
        findings: &Findings,
        tools: &[Tool],
    ) -> Option<Self> {
        let dialect = Dialect::from_toml(describe::NAME, toml).map(Arc::new).ok()?;
        let fit = compare::fit(&dialect, findings, tools);
        if fit.read == 0 {
            return None;
        }
        let failed = trial::failures(&dialect);
        // What it cannot write and read again says that the form was misunderstood.
        if failed.iter().any(|failure| failure.is_grave) {
            return None;
        }
        let mut open = open.to_vec();
        open.extend(
            failed.iter().map(|failure| format!("{} cannot be written: {}", failure.about, failure.why)),
        );
        let toml = describe::with_open(toml, &open);
        let mut description = Description {
            cases: cases::of(&dialect, turns, tools),
            toml,
            turns: fit.turns + fit.besides,
            read: fit.clean + fit.beside,
            missed: fit.missed.clone(),
            open,
            copy_of: None,
        };
        description.cases.extend(cases::beside(&dialect, &findings.beside, tools, description.cases.len()));
        Some(Self { fit, explains, description })
    }

    /// Better ones are greater: those that read more, then those that explain more.
    fn key(&self) -> impl Ord + use<> {
        let (clean, read, written, shared) = self.fit.key();
        (clean, read, self.explains, written, shared)
    }
}
