//! Chat completions. What their clients ask is what [`crate::asked`] reads; what servers say, [`crate::chunk`] does.

mod members;
pub mod to_client;
pub mod to_server;
