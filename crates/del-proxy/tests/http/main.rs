//! The proxy over real sockets, in front of a model server that says what a test wants.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod amends;
mod apis;
mod beginnings;
mod behind;
mod bodies;
mod chaos;
mod choices;
mod compact;
mod crowd;
mod earlier;
mod ends;
mod errors;
mod execution;
mod gate;
mod heads;
mod history;
mod hybrid;
mod marks;
mod members;
mod model;
mod models;
mod modes;
mod names;
mod own;
mod passed;
mod pools;
mod refusals;
mod routes;
mod servers;
mod shapes;
mod stand;
mod telemetry;
mod texts;
mod upstream;
mod weighed;
