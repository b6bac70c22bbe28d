//! What a server says without being asked: how far a call is, and that its tools are others now.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::ClientHandler;
use rmcp::model::{ClientConfig, ProgressNotificationParam, ProgressToken};
use rmcp::service::{NotificationContext, RoleClient};
use tokio::sync::mpsc::{self, Receiver, Sender};

use crate::offer::{plain, shortened};

/// Listens to one server.
#[derive(Clone)]
pub(crate) struct Ear {
    me: ClientConfig,
    calls: Arc<Mutex<HashMap<ProgressToken, Sender<String>>>>,
    changed: Arc<AtomicBool>,
}

/// The progress of one call, until it is dropped.
pub(crate) struct Heard {
    ear: Ear,
    token: ProgressToken,
    pub(crate) steps: Receiver<String>,
}

/// Steps of a call that wait to be shown.
const WAITING: usize = 16;
/// Bytes of what is said of a step.
const STEP: usize = 200;

impl Ear {
    pub(crate) fn new(me: ClientConfig) -> Self {
        Self { me, calls: Arc::default(), changed: Arc::default() }
    }

    /// Whether the server has said that its tools are others.
    pub(crate) fn has_news(&self) -> bool {
        self.changed.load(Ordering::SeqCst)
    }

    /// The same, since this was asked last.
    pub(crate) fn tools_changed(&self) -> bool {
        self.changed.swap(false, Ordering::SeqCst)
    }

    /// Listens for the progress of the call with this token.
    pub(crate) fn listen(&self, token: ProgressToken) -> Heard {
        let (send, steps) = mpsc::channel(WAITING);
        self.calls().insert(token.clone(), send);
        Heard { ear: self.clone(), token, steps }
    }

    fn calls(&self) -> MutexGuard<'_, HashMap<ProgressToken, Sender<String>>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Heard {
    fn drop(&mut self) {
        self.ear.calls().remove(&self.token);
    }
}

impl ClientHandler for Ear {
    fn get_info(&self) -> ClientConfig {
        self.me.clone()
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.changed.store(true, Ordering::SeqCst);
    }

    async fn on_progress(&self, step: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        if let Some(call) = self.calls().get(&step.progress_token) {
            // One that finds no room is left out.
            let _ = call.try_send(told(&step));
        }
    }
}

/// A step, in a line.
fn told(step: &ProgressNotificationParam) -> String {
    let far = match step.total {
        Some(total) => format!("{} of {total}", step.progress),
        None => step.progress.to_string(),
    };
    let told = match step.message.as_deref().map(str::trim).filter(|message| !message.is_empty()) {
        Some(message) => format!("{message} ({far})"),
        None => far,
    };
    shortened(&plain(&told.replace('\n', " ")), STEP)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_step_is_told_in_a_line() {
        let step = |more: serde_json::Value| {
            let mut step = json!({"progressToken": 1, "progress": 3});
            step.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            told(&serde_json::from_value(step).unwrap())
        };
        assert_eq!(step(json!({})), "3");
        assert_eq!(step(json!({"total": 10})), "3 of 10");
        assert_eq!(step(json!({"total": 10, "message": "a\nb\u{1b}[2J"})), "a b␛[2J (3 of 10)");
        assert!(step(json!({"progress": 1e300})).len() <= STEP + '…'.len_utf8());
    }
}
