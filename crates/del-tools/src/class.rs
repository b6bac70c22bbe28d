//! How much a call may do.

/// What a call does to the world. Later ones weigh more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// Looks, inside the workspace.
    Read,
    /// Changes files inside the workspace.
    Write,
    /// Runs a program.
    Execute,
    /// Talks to the network.
    Network,
}
