//! The program as users run it.

mod consent;
mod conversation;
mod del;
mod dialects;
mod exec;
mod parse;
mod render;
mod server;
mod surface;
mod task;
mod tools;
