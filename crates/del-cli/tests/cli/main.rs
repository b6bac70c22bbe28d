//! The program as users run it.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on should stop")]

mod acp;
mod apis;
mod assistant;
mod attachments;
#[cfg(feature = "bulk")]
mod bulk;
mod config;
mod consent;
mod conversation;
mod convert;
mod del;
mod delegate;
mod detect;
mod dialects;
mod doctor;
mod endings;
mod exec;
mod grammar;
mod hooks;
mod jobs;
mod keys;
mod man;
mod mcp;
mod meanwhile;
mod parse;
mod policy;
mod prompts;
mod refactoring;
mod render;
mod routes;
mod sandbox;
mod scenarios;
mod schema;
mod screen;
mod serve;
mod server;
mod sessions;
mod surface;
mod task;
mod terminal;
mod tools;
mod trouble;
mod trust;
mod undo;
mod web;
