//! What the agent asks of the world: an answer of the server's, a count of its tokens, time.

use std::time::Duration;

use del_agent::{Effect, Input, View};
use serde_json::Value;

use super::Session;
use crate::exchange::exchange;
use crate::onlooker::Screen;

/// What a server is given to say how much its model takes.
pub(super) const PATIENCE: Duration = Duration::from_secs(2);

impl Session {
    pub(super) fn step(&mut self, input: Input<'_>, screen: &mut dyn Screen) -> Effect {
        let (turns, before) = (&mut self.turns, self.turns_before);
        self.agent.step(input, &mut |view| watch(view, turns, before, screen))
    }

    pub(super) fn exchange(&mut self, body: &Value, screen: &mut dyn Screen) -> Effect {
        let Self { runtime, server, agent, interrupt, turns, turns_before, .. } = self;
        let mut step =
            |input: Input<'_>| agent.step(input, &mut |view| watch(view, turns, *turns_before, screen));
        runtime.block_on(exchange(server, body, interrupt, &mut step))
    }

    pub(super) fn wait(&mut self, milliseconds: u64, screen: &mut dyn Screen) -> Effect {
        let input = self.waited(Duration::from_millis(milliseconds));
        self.step(input, screen)
    }

    /// Has the server count what is in the context, as far as that is not known.
    pub(super) fn count(&mut self) {
        if let Some(body) = self.agent.to_be_counted()
            && let Input::Counted(Some(tokens)) = self.counted(&body)
        {
            self.agent.learn_count(tokens);
        }
    }

    /// The same, while nothing else is done.
    pub(crate) fn count_now(&mut self) {
        self.interrupt.begin();
        self.count();
        self.interrupt.rest();
    }

    /// How many tokens a request has, if the server says so in time.
    pub(super) fn counted(&self, body: &Value) -> Input<'static> {
        self.runtime.block_on(async {
            tokio::select! {
                counted = tokio::time::timeout(PATIENCE, self.server.count(body)) => {
                    Input::Counted(counted.ok().flatten())
                }
                () = self.interrupt.pressed() => Input::Cancel,
            }
        })
    }

    /// What has happened when the time is over.
    pub(super) fn waited(&self, time: Duration) -> Input<'static> {
        let interrupted = self.runtime.block_on(async {
            tokio::select! {
                () = tokio::time::sleep(time) => false,
                () = self.interrupt.pressed() => true,
            }
        });
        if interrupted { Input::Cancel } else { Input::Waited }
    }
}

fn watch(view: View<'_>, turns: &mut u32, before: u32, screen: &mut dyn Screen) {
    if let View::Turn { turn, .. } = view {
        *turns = before + turn;
    }
    screen.view(view);
}
