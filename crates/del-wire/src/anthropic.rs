//! Anthropic's messages.

pub mod from_client;
pub mod from_server;
pub mod plain;
pub mod to_client;
pub mod to_server;
