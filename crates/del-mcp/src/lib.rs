//! The Model Context Protocol in both directions: [`serve`] offers Del's tools to any host, and [`Servers`] makes the
//! tools of other servers tools of Del's models.
//!
//! ```
//! use std::path::Path;
//!
//! use del_mcp::{Config, Source};
//!
//! let file = br#"{"mcpServers": {"files": {"command": "files-server", "args": ["."]}, "bad": {"command": 7}}}"#;
//! let config = Config::parse(file, Path::new("mcp.json"), Source::Own)?;
//! assert_eq!(config.servers[0].name, "files");
//! assert_eq!(config.warnings.len(), 1); // one bad entry costs only itself
//! # Ok::<(), del_mcp::ConfigError>(())
//! ```
//!
//! What a server says is not trusted: names, schemas, descriptions and results are checked and bounded, calls of its
//! tools pass the same gate as all others, and nothing that it does can make a call wait for ever. What a server does
//! on its own is not confined: it is a program that the user chose to run.
#![forbid(unsafe_code)]

mod address;
mod child;
mod client;
mod config;
mod content;
mod ear;
mod expand;
mod lines;
mod link;
mod offer;
mod server;

pub use client::{Renewed, Servers, State};
pub use config::{Config, ConfigError, Launch, Server, Source};
pub use server::{Served, serve};
