//! How a model server is asked, and asked again: natively or in the prompt, held to a grammar as far as it takes one, and
//! with the definitions that the model wants.

use std::sync::Arc;

use axum::body::Bytes;
use axum::http::Response;
use del_agent::{Constrain, Mode};
use del_wire::{Amends, ApiError, ApiErrorKind, ServerApi, Wishes};

use super::Exchange;
use super::outcome::{LONGEST_ERROR, answer_headers, refused};
use crate::account::Account;
use crate::answer::Asking;
use crate::api::Api;
use crate::long_work;
use crate::member::Question;
use crate::pool::Turn;
use crate::proxy::streamed::{Coming, Next};
use crate::proxy::{query, text};
use crate::refusal::Refusal;
use crate::request::{Hold, Writing, Written};
use crate::timed::Timed;

/// How the server is asked.
#[derive(Debug, Clone, Copy)]
pub(in crate::proxy) struct Way {
    pub(in crate::proxy) mode: Mode,
    pub(in crate::proxy) constrain: Constrain,
    /// How the server takes the grammar, where calls are held to one.
    pub(in crate::proxy) hold: Option<Hold>,
}

/// A model may ask for definitions so often before it is told all of them.
const MOST_ROUNDS: u32 = 5;

impl Exchange {
    pub(in crate::proxy) fn way(&self) -> Way {
        let (route, request) = (&self.route, &self.request);
        let usual = route.engine.map(Hold::of);
        let hold = route.modes.hold(request.model(), || request.number_of_tools(), usual);
        let constrain = if hold.is_some() { route.constrain() } else { Constrain::Off };
        Way { mode: route.mode(request.model()), constrain, hold }
    }

    /// What a server answers, asked in the `way` that it can be.
    pub(in crate::proxy) async fn ask(
        &self,
        way: &mut Way,
        turn: &mut Turn<'_>,
    ) -> Result<Response<Timed>, Refusal> {
        let route = &self.route;
        let hold = way.hold;
        loop {
            let response = self.send(turn, *way).await?;
            if response.status().is_success() {
                if way.hold != hold {
                    let tools = self.request.number_of_tools();
                    route.modes.learn_hold(self.request.model(), tools, way.hold);
                }
                return Ok(response);
            }
            let (head, said) = response.into_parts();
            let said = text(said, LONGEST_ERROR).await?;
            let error = ApiError::from_response(head.status.as_u16(), &said);
            if way.mode == Mode::Native
                && error.kind == ApiErrorKind::ToolsUnsupported
                && route.refused_tools(self.request.model())
            {
                way.mode = Mode::Prompt;
            } else if way.mode == Mode::Prompt
                && way.constrain != Constrain::Off
                && Hold::is_meant_by(&error.message)
            {
                way.hold = way.hold.and_then(Hold::next);
                if way.hold.is_none() {
                    way.constrain = Constrain::Off;
                }
            } else if let Some(amends) = self.amends_after(&error, *way)? {
                route.modes.amend(self.request.model(), amends);
            } else {
                let headers = answer_headers(&head.headers);
                return Err(Refusal::of_server(head.status, headers, &error, &said));
            }
            turn.anew();
        }
    }

    /// What to change of a request that was refused so, where that may help.
    pub(super) fn amends_after(&self, error: &ApiError, way: Way) -> Result<Option<Amends>, Refusal> {
        let known = self.route.modes.amends(self.request.model());
        let asked = self.written(way)?;
        let asked = str::from_utf8(&asked).unwrap_or_default();
        let own = match self.route.api {
            ServerApi::OpenAi => self.api == Api::Chat,
            ServerApi::Anthropic => self.api == Api::Messages,
            ServerApi::Responses | ServerApi::Ollama => self.api == Api::Responses,
        };
        Ok(known.after(error, asked, Wishes { own, seals: self.request.wants_seals() }))
    }

    /// What the model server is asked.
    pub(super) fn written(&self, way: Way) -> Result<Bytes, Refusal> {
        long_work::on(self.size, || self.writes(way))
    }

    fn writes(&self, way: Way) -> Result<Bytes, Refusal> {
        let settings = &self.route.settings;
        let of_tools = || self.request.offers_tools() || self.request.speaks_of_tools();
        let written = if way.mode == Mode::Prompt && of_tools() {
            let dialect = self.route.dialect(self.request.model());
            self.request.in_prompt(Writing {
                dialect: &dialect,
                constrain: way.constrain,
                hold: way.hold,
                context: self.route.context,
                begun: self.begun(way).as_deref(),
                words: settings.words.as_ref(),
                detail: settings.detail,
            })?
        } else {
            self.request.natively(self.route.chats())?
        };
        let as_it_came = matches!(written, Written::Bytes(_));
        let asked = written.into_bytes(self.route.api);
        let amends = self.route.modes.amends(self.request.model());
        if amends.are_none() {
            return Ok(asked);
        }
        let amended = str::from_utf8(&asked).ok().and_then(|asked| amends.amend(asked, as_it_came));
        Ok(amended.map_or(asked, Bytes::from))
    }

    /// What the answer is begun with, for a model that has to call and is not held to it.
    pub(in crate::proxy) fn begun(&self, way: Way) -> Option<String> {
        let held = way.hold.is_some() && way.constrain != Constrain::Off;
        if !self.route.settings.prefill || way.mode != Mode::Prompt || held || !self.request.demands_call() {
            return None;
        }
        let tools = self.request.tools();
        let named = match &*tools {
            [only] => Some(only),
            all => all.iter().find(|tool| self.request.names(&tool.name)),
        };
        self.route.dialect(self.request.model()).opening(named)
    }

    /// The model asks for definitions: it gets them, or all of them where it asked too often. Where it tried to call in vain,
    /// it is told.
    pub(in crate::proxy) fn define(&mut self, asking: Asking, way: Way) -> Result<(), Refusal> {
        if asking.calls.is_empty() {
            return self.correct(asking, way.mode);
        }
        if !asking.said.is_empty() {
            let between = if self.said.is_empty() { "" } else { "\n\n" };
            self.said = [&self.said, between, &asking.said].concat();
        }
        let mut ids = self.ids();
        self.request.define(asking, &mut ids)?;
        self.rounds += 1;
        self.request.set_hybrid(self.rounds < MOST_ROUNDS);
        Ok(())
    }

    /// The model is asked again in the middle of a stream: what that goes on with.
    pub(super) fn further(mut self: Box<Self>, asking: Asking, way: Way) -> Coming {
        Box::pin(async move {
            self.note(|record| record.summary.refused += asking.refused.len());
            self.define(asking, way)?;
            let (proxy, route) = (Arc::clone(&self.proxy), Arc::clone(&self.route));
            let mut turn = route.pool.turn(&proxy.metrics);
            let response = self.send(&mut turn, way).await?;
            let (head, body) = response.into_parts();
            if !head.status.is_success() {
                return Err(refused(head, body).await?);
            }
            Ok(Next {
                body,
                reader: self.reader(way),
                server: route.api.reader(),
                further: Box::new(move |asking| self.further(asking, way)),
            })
        })
    }

    async fn send(&self, turn: &mut Turn<'_>, way: Way) -> Result<Response<Timed>, Refusal> {
        let body = self.written(way)?;
        let read = || (way.mode, self.reader(way));
        let tap = self.entry.as_ref().map(|entry| entry.ask(&body, self.route.api, Some(read())));
        let sent = self.setup.sent(&self.parts.headers, body);
        // What another API has there means nothing to the server.
        let query = if self.api == Api::Chat { query(&self.parts) } else { String::new() };
        self.sends(way.mode);
        let response = turn.ask(Question::Answer(&query), &sent).await;
        if let Ok(response) = &response {
            self.note(|record| record.upstream = Some(response.body().place().to_owned()));
        }
        if let Some(tap) = &tap {
            match &response {
                Ok(response) => tap.head(response.status()),
                Err(_) => tap.end(false),
            }
        }
        Ok(response?.map(|body| body.watched_by(tap)))
    }

    pub(super) fn sends(&self, mode: Mode) {
        if let Some(account) = Account::of(&self.parts) {
            account.sends(mode, self.route.api);
        }
    }
}
