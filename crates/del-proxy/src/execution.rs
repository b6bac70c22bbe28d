//! Tools that run where the proxy does. The proxy knows neither what they are nor what may run: whoever starts it does.

use std::fmt::Debug;

use del_dialects::{CallResult, ReadCall};
use serde_json::Value;

/// Has tools, and runs calls of them.
pub trait Executor: Debug + Send + Sync {
    /// The tools in the form of OpenAI's API, as a model is told of them.
    fn tools(&self) -> &[Value];

    /// Takes up the calls of one request. May block.
    ///
    /// # Errors
    /// Why no calls can be run.
    fn begin(&self) -> Result<Box<dyn Runner>, String>;
}

/// Runs the calls of one request, of as many turns as it takes.
pub trait Runner: Send {
    /// Runs calls in their order, as far as they may run: the results stand in the same order. `tell` gets lines for
    /// whoever waits. Blocks until all are done.
    fn run(&mut self, calls: &[ReadCall], tell: &mut dyn FnMut(String)) -> Vec<CallResult>;

    /// What ends [`Runner::run`] early, from another thread. Calls that it ends have results that say so.
    fn stopper(&self) -> Box<dyn FnOnce() + Send>;
}
