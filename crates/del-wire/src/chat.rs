//! Chat completions. What their clients ask is what [`crate::asked`] reads; what servers say, [`crate::chunk`] does.

pub mod to_client;
pub mod to_server;
