//! Calls that were denied because nobody was there to ask: what the user can do about that, in a line.

use std::collections::BTreeSet;

use del_tools::{Advice, Plan, Verdict, counted};

use super::Hands;
use crate::consent::Asked;

/// Calls that did not run, and the rules that would let them.
#[derive(Debug, Default)]
pub(super) struct Unasked {
    calls: usize,
    rules: BTreeSet<String>,
    /// There is no rule for some of them.
    unruled: bool,
}

/// Rules that are named.
const NAMED: usize = 2;

impl Hands {
    /// Takes down a call that is about to be denied, if nobody is there.
    pub(super) fn note_unasked(&mut self, plan: &Plan, asked: &Asked) {
        // No option is a yes to a guess, or to what a hook wants asked.
        let open = !plan.is_doubtful() && !matches!(plan.advice(), Advice::Ask(_));
        if open && matches!(asked, Asked::Nobody) && self.gate.verdict(plan) == Verdict::Ask {
            let rules = plan.question().rules();
            self.unasked.calls += 1;
            self.unasked.unruled |= rules.is_empty();
            self.unasked.rules.extend(rules);
        }
    }

    /// How many calls were denied as nobody was there.
    pub(crate) fn denied(&self) -> usize {
        self.unasked.calls
    }

    /// How the calls could have run that were denied as nobody was there, if any were; `all` is the option that lets all run.
    pub(crate) fn advice(&self, all: &str) -> Option<String> {
        let Unasked { calls, rules, unruled } = &self.unasked;
        let quoted = |rule: &String| Some(format!("--allow-tool {}", shlex::try_quote(rule).ok()?));
        let named: Vec<String> = rules.iter().take(NAMED).filter_map(quoted).collect();
        let way = match named.as_slice() {
            [] => format!("{all} lets them run"),
            named if !unruled && rules.len() <= NAMED => {
                format!("`{}` lets what is like that run, {all} anything", named.join(" "))
            }
            named => format!("`{}` lets some of them run, {all} anything", named.join(" ")),
        };
        let were = if *calls == 1 { "was" } else { "were" };
        (*calls > 0)
            .then(|| format!("{} {were} denied, as nobody is there to ask: {way}", counted(*calls, "call")))
    }
}
