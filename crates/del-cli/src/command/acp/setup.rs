//! What an editor sets a conversation up with, in Del's own words, and what it can set later.

use agent_client_protocol::v1::schema::{
    McpServer, SessionConfigOption, SessionConfigOptionCategory, SessionConfigSelectOption, SessionMode,
    SessionModeState,
};
use del_mcp::{Launch, Server, Source};
use del_tools::Approval;

use crate::session::Session;

/// The option by which an editor picks a model.
pub(super) const MODEL: &str = "model";

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

/// The modes there are, and the one that holds.
pub(super) fn modes(now: Approval) -> SessionModeState {
    let mode = |(_, id, name, about): &(_, &'static str, &str, &str)| {
        SessionMode::new(*id, *name).description((*about).to_owned())
    };
    let current = MODES.iter().find(|(approval, ..)| *approval == now).map_or("ask", |(_, id, ..)| *id);
    SessionModeState::new(current, MODES.iter().map(mode).collect())
}

/// The mode with this id.
pub(super) fn approval(id: &str) -> Option<Approval> {
    MODES.iter().find(|(_, known, ..)| *known == id).map(|(approval, ..)| *approval)
}

/// What an editor can set besides: the model, where the server names several.
pub(super) fn options(session: &Session) -> Vec<SessionConfigOption> {
    let current = &session.settings.model;
    let mut models = session.server.models.clone();
    if !models.contains(current) && !current.is_empty() {
        models.insert(0, current.clone());
    }
    if models.is_empty() {
        return Vec::new();
    }
    let offered: Vec<SessionConfigSelectOption> =
        models.iter().map(|model| SessionConfigSelectOption::new(model.clone(), model.clone())).collect();
    let model = SessionConfigOption::select(MODEL, "Model", current.clone(), offered)
        .category(SessionConfigOptionCategory::Model);
    vec![model]
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

    #[test]
    fn every_mode_has_an_id_of_its_own() {
        for (approval, id, ..) in MODES {
            assert_eq!(super::approval(id), Some(approval));
            assert_eq!(modes(approval).current_mode_id.0.as_ref(), id);
        }
    }
}
