//! Ollama's own chat, and its completion of one prompt. What its servers say, [`crate::chunk`] reads.

pub mod from_client;
pub mod to_client;
pub mod to_server;
