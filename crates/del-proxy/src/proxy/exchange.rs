//! One request for an answer of a model, from the client to the model server and back.

mod outcome;
mod through;

use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::http::request::Parts;
use axum::http::{Response, StatusCode};
use axum::response::IntoResponse;
use del_agent::{Constrain, Mode, ToolsMode};
use del_wire::{ApiError, ApiErrorKind, Mendings, ServerApi};
use serde_json::{Map, Value, json};

use super::injected::{Injected, recall};
use super::streamed::{Coming, Next};
use super::{Proxy, Setup, insert, query, text};
use crate::account::{Account, Record};
use crate::answer::Asking;
use crate::api::Api;
use crate::held::Held;
use crate::inspector::Entry;
use crate::patient::{Manner, patiently};
use crate::pool::{Question, Turn};
use crate::refusal::Refusal;
use crate::request::{Hold, Request, Writing, no_object};
use crate::route::Route;
use crate::timed::Timed;

pub(super) use self::outcome::{
    BROKEN_OFF, DIALECT, DROPPED, LONGEST_ANSWER, answer_headers, ids, no_answer, no_call,
};
use self::outcome::{LONGEST_ERROR, Outcome, refused};

/// A request and what is known of it.
#[derive(Debug)]
pub(super) struct Exchange {
    pub(super) proxy: Arc<Proxy>,
    pub(super) setup: Arc<Setup>,
    pub(super) route: Arc<Route>,
    pub(super) api: Api,
    parts: Parts,
    /// Members of the request, as the client wrote them, that its answer is written with.
    pub(super) about: Map<String, Value>,
    pub(super) request: Request,
    /// What came before the answer, where it is to be remembered.
    pub(super) conversation: Option<Vec<Value>>,
    /// The tools that run here.
    injected: Option<Injected>,
    /// What was wrong with the conversation so far.
    mended: Mendings,
    /// Where it is kept for whoever looks.
    entry: Option<Arc<Entry>>,
    /// What the model has said in this answer, and how often it asked for definitions.
    said: String,
    rounds: u32,
}

/// How the server is asked.
#[derive(Debug, Clone, Copy)]
pub(super) struct Way {
    pub(super) mode: Mode,
    pub(super) constrain: Constrain,
    /// How the server takes the grammar, where calls are held to one.
    pub(super) hold: Option<Hold>,
}

/// A model that does not call although it has to is asked so often.
pub(super) const MOST_TRIES: u32 = 3;
/// A model may ask for definitions so often before it is told all of them.
const MOST_ROUNDS: u32 = 5;
/// Says what was wrong with the conversation so far, and how often.
const MENDED: &str = "x-del-mended-history";

impl Exchange {
    /// Reads the body of a request.
    pub(super) fn new(proxy: Arc<Proxy>, api: Api, parts: Parts, bytes: Bytes) -> Result<Box<Self>, Refusal> {
        let setup = proxy.setup();
        if api == Api::Chat
            && setup.settings.executor.is_none()
            && let Some(request) = Request::at_a_glance(&bytes, &proxy.tools)
        {
            let asked = (Map::new(), request, None, None);
            return Self::on_its_way(proxy, setup, api, parts, asked);
        }
        let body: Map<String, Value> = serde_json::from_slice(&bytes).map_err(|error| no_object(&error))?;
        if let Some(other) = body.get("stream").filter(|stream| !stream.is_boolean() && !stream.is_null()) {
            return Err(Refusal::bad_request(format!("expected true or false as `stream`, got `{other}`")));
        }
        let about = about(api, &body);
        let mut taken = api.take(body, &proxy.memory)?;
        let injected = match &setup.settings.executor {
            Some(executor) => {
                recall(&mut taken.asked, &proxy.memory);
                Injected::add(&mut taken.asked, executor.tools())?
            }
            None => None,
        };
        let kept = about.get("store") != Some(&Value::Bool(false));
        let request = Request::new(bytes, taken.asked)?;
        let asked = (about, request, taken.conversation.filter(|_| kept), injected);
        Self::on_its_way(proxy, setup, api, parts, asked)
    }

    fn on_its_way(
        proxy: Arc<Proxy>,
        setup: Arc<Setup>,
        api: Api,
        parts: Parts,
        (about, mut request, conversation, injected): (
            Map<String, Value>,
            Request,
            Option<Vec<Value>>,
            Option<Injected>,
        ),
    ) -> Result<Box<Self>, Refusal> {
        request.check_choice()?;
        let route = setup.routes.of(request.model())?;
        if let Some(model) = &route.settings.model {
            request.rename(model)?;
        }
        let mended = request.mend(&route, setup.settings.dialects)?;
        proxy.metrics.mended(&mended);
        if let Some(account) = Account::of(&parts) {
            account.note(|record| {
                record.model = Some(request.model().to_owned());
                record.route = Some(route.settings.models.join(",")).filter(|models| !models.is_empty());
                record.streams = request.streams();
                record.mended = mended.clone();
            });
        }
        request.set_hybrid(route.settings.tools_mode == ToolsMode::Hybrid);
        let said = String::new();
        // It goes from hand to hand.
        Ok(Box::new(Self {
            proxy,
            setup,
            route,
            api,
            parts,
            about,
            request,
            conversation,
            injected,
            mended,
            entry: None,
            said,
            rounds: 0,
        }))
    }

    /// The same, kept for whoever looks.
    pub(super) fn watched_by(mut self: Box<Self>, entry: Arc<Entry>) -> Box<Self> {
        entry.of_model(self.request.model());
        self.entry = Some(entry);
        self
    }

    /// The answer. A client that is to get a stream is kept waiting until there is one.
    pub(super) async fn run(self: Box<Self>) -> Result<Response<Body>, Refusal> {
        let mended = self.mended.to_string();
        let mut answer = self.patiently().await?;
        if !mended.is_empty() {
            insert(answer.headers_mut(), MENDED, &mended);
        }
        Ok(answer)
    }

    async fn patiently(self: Box<Self>) -> Result<Response<Body>, Refusal> {
        if !self.request.streams() {
            return self.answer().await;
        }
        let mut client = self.api.client(&self.about, "0");
        let account = Account::of(&self.parts).cloned();
        let manner = Manner {
            content_type: client.content_type(),
            keep_alive: client.keep_alive(),
            after: self.setup.settings.keep_alive,
            failure: Box::new(move |refusal| {
                if let Some(account) = account {
                    account.note(|record| record.error = Some(refusal.kind()));
                }
                let mut out = Vec::new();
                client.fail(&refusal.to_string(), None, &mut out);
                out
            }),
        };
        patiently(Box::pin(self.answer()), manner).await
    }

    /// The answer takes a place in its route until it has gone out.
    async fn answer(self: Box<Self>) -> Result<Response<Body>, Refusal> {
        let place = self.route.enter()?;
        let answer = self.asked().await?;
        Ok(match place {
            Some(place) => answer.map(|body| Body::new(Held::new(body, place))),
            None => answer,
        })
    }

    async fn asked(mut self: Box<Self>) -> Result<Response<Body>, Refusal> {
        let (proxy, setup, route) =
            (Arc::clone(&self.proxy), Arc::clone(&self.setup), Arc::clone(&self.route));
        if let (Some(injected), Some(executor)) = (self.injected.take(), &setup.settings.executor) {
            return Box::pin(self.in_turns(injected, Arc::clone(executor))).await;
        }
        if self.api.loads() && route.api != ServerApi::Ollama && self.request.says_nothing() {
            return Ok(self.loaded());
        }
        let mut way = self.way();
        let of_tools = self.request.has_tools() || way.mode == Mode::Prompt && self.request.speaks_of_tools();
        if route.chats() && self.api == Api::Chat && !of_tools {
            return self.through(way).await;
        }
        let mut turn = route.pool.turn(&proxy.metrics);
        let mut tries = 1;
        loop {
            let response = self.ask(&mut way, &mut turn).await?;
            match self.answered(way, response).await {
                Ok(Outcome::Answer(response)) => return Ok(response),
                Ok(Outcome::Stream(headers, mut streamed)) => {
                    if self.request.hybrid().is_some() {
                        streamed.further(Box::new(move |asking| self.further(asking, way)));
                    }
                    return Ok((StatusCode::OK, headers, Body::new(*streamed)).into_response());
                }
                Ok(Outcome::Asking(asking)) => {
                    self.define(asking)?;
                    turn.anew();
                }
                Ok(Outcome::NoCall(_)) if tries == MOST_TRIES => return Err(no_call()),
                Ok(Outcome::NoCall(said)) => {
                    tries += 1;
                    proxy.metrics.asked_again.inc();
                    self.request.again(&said)?;
                    turn.anew();
                }
                Ok(Outcome::BrokenOff(_)) if turn.goes_on() => {
                    proxy.metrics.retried.inc();
                }
                Ok(Outcome::BrokenOff(refusal)) | Err(refusal) => return Err(refusal),
            }
        }
    }

    pub(super) fn way(&self) -> Way {
        Way {
            mode: self.route.mode(self.request.model()),
            constrain: self.route.constrain(),
            hold: self.route.engine.map(Hold::of),
        }
    }

    /// What a server answers, asked in the `way` that it can be.
    pub(super) async fn ask(&self, way: &mut Way, turn: &mut Turn<'_>) -> Result<Response<Timed>, Refusal> {
        let route = &self.route;
        loop {
            let response = self.send(turn, *way).await?;
            if response.status().is_success() {
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
            } else {
                let headers = answer_headers(&head.headers);
                return Err(Refusal::of_server(head.status, headers, &error.message, &said));
            }
            turn.anew();
        }
    }

    /// What the model server is asked.
    fn written(&self, way: Way) -> Result<Bytes, Refusal> {
        let settings = &self.route.settings;
        let of_tools = self.request.offers_tools() || self.request.speaks_of_tools();
        let written = if way.mode == Mode::Prompt && of_tools {
            let dialect = self.route.dialect(self.request.model());
            self.request.in_prompt(Writing {
                dialect: &dialect,
                constrain: way.constrain,
                hold: way.hold,
                begun: self.begun(way).as_deref(),
                words: settings.words.as_ref(),
                detail: settings.detail,
            })?
        } else {
            self.request.natively(self.route.chats())?
        };
        Ok(written.into_bytes(self.route.api))
    }

    /// What the answer is begun with, for a model that has to call and is not held to it.
    pub(super) fn begun(&self, way: Way) -> Option<String> {
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

    /// The model asks for definitions: it gets them, or all of them where it asked too often.
    pub(super) fn define(&mut self, asking: Asking) -> Result<(), Refusal> {
        if !asking.said.is_empty() {
            let between = if self.said.is_empty() { "" } else { "\n\n" };
            self.said = [&self.said, between, &asking.said].concat();
        }
        self.request.define(asking, &mut ids())?;
        self.rounds += 1;
        self.request.set_hybrid(self.rounds < MOST_ROUNDS);
        Ok(())
    }

    /// A stream asks for definitions: what it goes on with.
    fn further(mut self: Box<Self>, asking: Asking, way: Way) -> Coming {
        Box::pin(async move {
            self.define(asking)?;
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

    /// Notes something for those who are told of requests.
    pub(super) fn note(&self, note: impl FnOnce(&mut Record)) {
        if let Some(account) = Account::of(&self.parts) {
            account.note(note);
        }
    }

    fn sends(&self, mode: Mode) {
        if let Some(account) = Account::of(&self.parts) {
            account.sends(mode, self.route.api);
        }
    }
}

/// The members of a request that its answer is written with.
fn about(api: Api, body: &Map<String, Value>) -> Map<String, Value> {
    if api == Api::Responses {
        return body
            .iter()
            .filter(|(name, _)| *name != "input")
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
    }
    let mut about = Map::new();
    if let Some(model) = body.get("model") {
        about.insert("model".to_owned(), model.clone());
    }
    if body.contains_key("functions") {
        about.insert("functions".to_owned(), json!(true));
    }
    about
}
