//! Calls that run here: on a thread of their own, until they are done or nobody waits for them.

use std::sync::{Arc, Mutex, PoisonError};

use del_dialects::{CallResult, ReadCall};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::task::{JoinHandle, spawn_blocking};

use crate::execution::{Executor, Runner};

/// Whoever runs the calls of one request.
pub(super) struct Runs {
    executor: Arc<dyn Executor>,
    /// What the calls of earlier turns were run by.
    runner: Mutex<Option<Box<dyn Runner>>>,
}

/// Calls that run.
pub(super) struct AtWork {
    task: JoinHandle<Outcome>,
    lines: UnboundedReceiver<Said>,
    stop: Stop,
}

/// Whoever ran the calls, and their results.
type Outcome = Result<(Box<dyn Runner>, Vec<CallResult>), String>;

/// What comes of a run before its results.
enum Said {
    Stopper(Box<dyn FnOnce() + Send>),
    Line(String),
}

/// Ends the calls when it is dropped.
#[derive(Default)]
struct Stop(Option<Box<dyn FnOnce() + Send>>);

impl Runs {
    pub(super) fn new(executor: Arc<dyn Executor>) -> Self {
        Self { executor, runner: Mutex::new(None) }
    }

    fn take(&mut self) -> Option<Box<dyn Runner>> {
        self.runner.get_mut().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Starts calls.
    pub(super) fn start(&mut self, calls: Vec<ReadCall>) -> AtWork {
        let (known, executor) = (self.take(), Arc::clone(&self.executor));
        let (tell, lines) = unbounded_channel();
        let task = spawn_blocking(move || {
            let mut runner = match known {
                Some(runner) => runner,
                None => executor.begin()?,
            };
            if tell.send(Said::Stopper(runner.stopper())).is_err() {
                return Ok((runner, Vec::new()));
            }
            let results = runner.run(&calls, &mut |line| {
                let _ = tell.send(Said::Line(line));
            });
            Ok((runner, results))
        });
        AtWork { task, lines, stop: Stop::default() }
    }
}

impl Drop for Runs {
    /// Ending what calls left behind takes its time.
    fn drop(&mut self) {
        if let Some(runner) = self.take() {
            std::thread::spawn(move || drop(runner));
        }
    }
}

impl AtWork {
    /// The next line for whoever waits, until all calls are done.
    pub(super) async fn next_line(&mut self) -> Option<String> {
        loop {
            match self.lines.recv().await? {
                Said::Line(line) => return Some(line),
                Said::Stopper(stop) => self.stop.0 = Some(stop),
            }
        }
    }

    /// The results in the order of the calls, once all are done.
    pub(super) async fn results(mut self, runs: &mut Runs) -> Result<Vec<CallResult>, String> {
        let done = (&mut self.task).await.map_err(|error| error.to_string())?;
        self.stop.0 = None;
        let (runner, results) = done?;
        runs.runner = Mutex::new(Some(runner));
        Ok(results)
    }
}

impl Drop for Stop {
    fn drop(&mut self) {
        if let Some(stop) = self.0.take() {
            stop();
        }
    }
}
