//! What an editor sets a conversation up with, in Del's own words, and what it can set later.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use agent_client_protocol::Error;
use agent_client_protocol::v1::schema::{
    McpServer, SessionConfigOption, SessionConfigOptionCategory, SessionConfigSelectOption, SessionMode,
    SessionModeState,
};
use del_mcp::{Launch, Server, Source};
use del_tools::Approval;

use crate::hands::Switch;
use crate::session::Session;

/// The option by which an editor picks a mode. Editors that know options take it from there alone, older ones from the
/// list of modes.
pub(super) const MODE: &str = "mode";
/// The option by which an editor picks a model.
pub(super) const MODEL: &str = "model";

/// What a conversation is set to, also while an answer comes.
#[derive(Clone)]
pub(super) struct Setup {
    switch: Switch,
    held: Arc<Mutex<Held>>,
}

struct Held {
    approval: Approval,
    model: String,
    models: Vec<String>,
}

/// What is done without asking: its id, its name, and what it means.
const MODES: [(Approval, &str, &str, &str); 4] = [
    (Approval::Ask, "ask", "Ask", "Asks before it writes or runs anything"),
    (
        Approval::AutoEdit,
        "auto-edit",
        "Auto-edit",
        "Edits files without asking, asks before it runs anything",
    ),
    (Approval::Plan, "plan", "Plan", "Only reads"),
    (Approval::Yolo, "yolo", "Unsafe", "Writes and runs without asking"),
];

impl Setup {
    pub(super) fn new(session: &Session) -> Self {
        let model = session.settings.model.clone();
        let mut models = session.server.models.clone();
        if !models.contains(&model) && !model.is_empty() {
            models.insert(0, model.clone());
        }
        let held = Held { approval: session.hands.gate.approval(), model, models };
        Self { switch: session.hands.switch.clone(), held: Arc::new(Mutex::new(held)) }
    }

    /// The modes there are, and the one that holds.
    pub(super) fn modes(&self) -> SessionModeState {
        let mode = |(_, id, name, about): &(_, &'static str, &str, &str)| {
            SessionMode::new(*id, *name).description((*about).to_owned())
        };
        SessionModeState::new(id(self.held().approval), MODES.iter().map(mode).collect())
    }

    /// All that can be set, and what it is set to: the mode, and the model where the server names any.
    pub(super) fn options(&self) -> Vec<SessionConfigOption> {
        let held = self.held();
        let mode = |(_, id, name, about): &(_, &'static str, &str, &str)| {
            SessionConfigSelectOption::new(*id, *name).description((*about).to_owned())
        };
        let modes: Vec<_> = MODES.iter().map(mode).collect();
        let mode = SessionConfigOption::select(MODE, "Mode", id(held.approval), modes)
            .description("What is done without asking".to_owned())
            .category(SessionConfigOptionCategory::Mode);
        let mut options = vec![mode];
        if !held.models.is_empty() {
            let models: Vec<_> = held
                .models
                .iter()
                .map(|model| SessionConfigSelectOption::new(model.clone(), model.clone()))
                .collect();
            let model = SessionConfigOption::select(MODEL, "Model", held.model.clone(), models);
            options.push(model.category(SessionConfigOptionCategory::Model));
        }
        options
    }

    /// Changes what is done without asking, at once: also for what is under way.
    pub(super) fn set_mode(&self, wanted: &str) -> Result<(), Error> {
        let Some((approval, ..)) = MODES.iter().find(|(_, id, ..)| *id == wanted) else {
            let ids = MODES.map(|(_, id, ..)| id).join(", ");
            return Err(Error::invalid_params().data(format!("expected one of {ids}; got {wanted}")));
        };
        self.held().approval = *approval;
        self.switch.set(*approval);
        Ok(())
    }

    /// Whether a model is one of those that were offered.
    pub(super) fn check_model(&self, wanted: &str) -> Result<(), Error> {
        let held = self.held();
        if held.models.iter().any(|model| model == wanted) {
            return Ok(());
        }
        let models = held.models.join(", ");
        Err(Error::invalid_params().data(format!("expected one of {models}; got {wanted}")))
    }

    /// Another model was taken.
    pub(super) fn took_model(&self, model: &str) {
        model.clone_into(&mut self.held().model);
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn id(approval: Approval) -> &'static str {
    MODES.iter().find(|(known, ..)| *known == approval).map_or("ask", |(_, id, ..)| *id)
}

/// The MCP servers that the editor names, as far as Del can reach them, and the names of the others.
pub(super) fn servers(given: &[McpServer]) -> (Vec<Server>, Vec<String>) {
    let (mut servers, mut left_out) = (Vec::new(), Vec::new());
    for server in given {
        let (name, launch) = match server {
            McpServer::Stdio(stdio) => {
                let environment = stdio
                    .env
                    .iter()
                    .map(|variable| (variable.name.clone(), variable.value.clone()))
                    .collect();
                let command = stdio.command.to_string_lossy().into_owned();
                let arguments = stdio.args.clone();
                (&stdio.name, Launch::Program { command, arguments, environment, directory: None })
            }
            McpServer::Http(http) => {
                let headers =
                    http.headers.iter().map(|header| (header.name.clone(), header.value.clone())).collect();
                (&http.name, Launch::Address { url: http.url.clone(), headers })
            }
            McpServer::Sse(sse) => {
                left_out.push(sse.name.clone());
                continue;
            }
            _ => continue,
        };
        let name = fitting(name);
        servers.push(Server { name, source: Source::Named, launch, disabled: false, timeout: None });
    }
    (servers, left_out)
}

/// A name that a server can have: editors let their users write anything.
fn fitting(name: &str) -> String {
    let mut fitting = String::new();
    for c in name.chars().take(40) {
        let c = if c.is_ascii_alphanumeric() { c } else { '-' };
        if c != '-' || !fitting.ends_with('-') {
            fitting.push(c);
        }
    }
    let fitting = fitting.trim_matches('-');
    if fitting.is_empty() { "server".to_owned() } else { fitting.to_owned() }
}

#[cfg(test)]
mod tests {
    use agent_client_protocol::v1::schema::{EnvVariable, McpServerSse, McpServerStdio};

    use super::*;

    #[test]
    fn servers_are_named_so_that_tools_can_bear_their_names() {
        let stdio = McpServerStdio::new("My  notes (v2)", "/bin/notes").env(vec![EnvVariable::new("A", "1")]);
        let given =
            [McpServer::Stdio(stdio), McpServer::Sse(McpServerSse::new("old", "http://127.0.0.1:1/"))];
        let (servers, left_out) = servers(&given);
        assert_eq!(servers[0].name, "My-notes-v2");
        let environment = vec![("A".to_owned(), "1".to_owned())];
        assert!(
            matches!(&servers[0].launch, Launch::Program { environment: given, .. } if *given == environment)
        );
        assert_eq!(left_out, ["old"]);
    }
}
