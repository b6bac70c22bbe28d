//! Chat completions. What their clients ask is what [`crate::asked`] reads; what servers say, [`crate::chunk`] does.

mod deltas;
pub mod to_client;
pub(crate) mod to_server;
