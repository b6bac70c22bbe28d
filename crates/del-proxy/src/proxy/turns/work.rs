//! The calls of an answer are run, and their results told.

use axum::http::StatusCode;
use del_agent::guard::Verdict;
use del_agent::prompt::repeated;
use del_dialects::{Call, CallResult, ReadCall};

use super::{NOT_RUN, Turns};
use crate::proxy::injected::message_of;
use crate::refusal::Refusal;

/// The result of a call that has none.
const NO_RESULT: &str = "The tool gave no result.";

impl Turns {
    /// Runs calls, and adds their results. Gives back why to stop, if the model makes the same call without end.
    pub(super) async fn work(&mut self, own: &[ReadCall]) -> Result<Option<String>, Refusal> {
        self.guard.next_turn();
        let verdicts: Vec<Verdict> = own.iter().map(|read| self.guard.judge(&read.call)).collect();
        for (read, verdict) in own.iter().zip(&verdicts) {
            if let Verdict::Stop { times } = verdict {
                self.add_results(own.iter().map(|read| failed(read, NOT_RUN)));
                let name = &read.call.name;
                return Ok(Some(format!(
                    "`{name}` was called {times} times in a row with the same arguments"
                )));
            }
        }
        let wanted: Vec<ReadCall> = own
            .iter()
            .zip(&verdicts)
            .filter(|(_, verdict)| **verdict == Verdict::Run)
            .map(|(read, _)| read.clone())
            .collect();
        let mut done = self.run_calls(wanted).await?.into_iter();
        self.add_results(own.iter().zip(&verdicts).map(|(read, verdict)| match verdict {
            Verdict::Tell { times } => failed(read, &repeated(*times)),
            _ => done.next().unwrap_or_else(|| failed(read, NO_RESULT)),
        }));
        Ok(None)
    }

    /// Runs calls, and tells meanwhile what is done.
    async fn run_calls(&mut self, calls: Vec<ReadCall>) -> Result<Vec<CallResult>, Refusal> {
        if calls.is_empty() {
            return Ok(Vec::new());
        }
        self.executed.extend(calls.iter().map(|read| read.call.name.clone()));
        self.exchange.note(|record| record.executed.clone_from(&self.executed));
        let mut at_work = self.runs.start(calls);
        while let Some(line) = at_work.next_line().await {
            let mut out = std::mem::take(&mut self.pending);
            self.series().progress(&line, &mut out);
            self.send(&mut out).await;
        }
        let results = at_work.results(&mut self.runs).await.map_err(|reason| {
            let message = format!("no calls can be run here: {reason}");
            Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, "api_error", message)
        })?;
        let failed = results.iter().filter(|result| !result.ok).count();
        self.exchange.proxy.metrics.executed(results.len(), failed);
        Ok(results)
    }

    pub(super) fn add_results(&mut self, results: impl Iterator<Item = CallResult>) {
        self.added.extend(results.map(|result| message_of(&result)));
    }
}

/// The result of a call that did not run.
pub(super) fn failed(read: &ReadCall, text: &str) -> CallResult {
    let Call { id, name, .. } = &read.call;
    CallResult { id: id.clone(), name: name.clone(), text: text.to_owned(), ok: false }
}
