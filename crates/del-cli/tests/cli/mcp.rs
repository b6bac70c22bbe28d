//! `del mcp`: tools for other hosts, and the tools of servers for models.

mod changes;
mod host;
mod http;
mod remote;
mod servers;
