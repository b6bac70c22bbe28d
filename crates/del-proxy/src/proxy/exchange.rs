//! One request for an answer of a model, from the client to the model server and back.

mod again;
mod asking;
mod outcome;
mod shortened;
mod through;

use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::http::request::Parts;
use axum::http::{Response, StatusCode};
use axum::response::IntoResponse;
use del_agent::{Mode, ToolsMode};
use del_wire::{Mendings, ServerApi};
use serde_json::{Map, Value};

use super::behind::Behind;
use super::injected::{Injected, recall};
use super::{Proxy, Setup, insert};
use crate::account::{Account, Record};
use crate::api::{About, Api};
use crate::held::Held;
use crate::inspector::Entry;
use crate::long_work;
use crate::patient::{Manner, patiently};
use crate::progress;
use crate::refusal::Refusal;
use crate::request::{Apart, Request, no_object};
use crate::route::Route;
use crate::under_way::UnderWay;

pub(super) use self::again::said_in;
pub(super) use self::asking::Way;
pub(crate) use self::outcome::DROPPED;
use self::outcome::Outcome;
pub(super) use self::outcome::{BROKEN_OFF, DIALECT, LONGEST_ANSWER, answer_headers, no_answer, no_call};

/// A request and what is known of it.
#[derive(Debug)]
pub(super) struct Exchange {
    pub(super) proxy: Arc<Proxy>,
    pub(super) setup: Arc<Setup>,
    pub(super) route: Arc<Route>,
    pub(super) api: Api,
    pub(super) parts: Parts,
    /// What its answer is written with.
    pub(super) about: About,
    pub(super) request: Request,
    /// So many bytes came.
    size: usize,
    /// What came before the answer, where it is to be remembered.
    pub(super) conversation: Option<Vec<Value>>,
    /// The conversation is to be made shorter, here.
    shortens: bool,
    /// The tools that run here.
    injected: Option<Injected>,
    /// What was wrong with the conversation so far.
    mended: Mendings,
    /// Where it is kept for whoever looks.
    entry: Option<Arc<Entry>>,
    /// What the connection knows of it.
    under_way: Option<Arc<UnderWay>>,
    /// What the model has said in this answer, and how often it asked for definitions.
    said: String,
    rounds: u32,
    /// How often it was asked again, as nobody could read its calls or they were of no tool of the request's.
    repairs: u32,
    /// A request for the completion of a prompt, as it came.
    generates: Option<Bytes>,
}

/// A model that does not call although it has to is asked so often.
pub(super) const MOST_TRIES: u32 = 3;
/// Says what was wrong with the conversation so far, and how often.
const MENDED: &str = "x-del-mended-history";

impl Exchange {
    /// Reads the body of a request.
    pub(super) fn new(
        proxy: Arc<Proxy>,
        setup: Arc<Setup>,
        api: Api,
        parts: Parts,
        bytes: Bytes,
    ) -> Result<Box<Self>, Refusal> {
        let size = bytes.len();
        let mut exchange = long_work::on(size, || Self::read(proxy, setup, api, parts, bytes))?;
        exchange.size = size;
        Ok(exchange)
    }

    fn read(
        proxy: Arc<Proxy>,
        setup: Arc<Setup>,
        api: Api,
        parts: Parts,
        bytes: Bytes,
    ) -> Result<Box<Self>, Refusal> {
        if api == Api::Chat
            && setup.settings.executor.is_none()
            && let Some(request) = Request::at_a_glance(&bytes, &proxy.tools)
        {
            let asked = (About::default(), request, None, None);
            return Self::on_its_way(proxy, setup, api, parts, asked);
        }
        let Apart { body, tools } = Apart::read(api, &bytes).map_err(|error| no_object(&error))?;
        if let Some(other) = body.get("stream").filter(|stream| !stream.is_boolean() && !stream.is_null()) {
            return Err(Refusal::bad_request(format!("expected true or false as `stream`, got `{other}`")));
        }
        let given = tools.map(|tools| proxy.tools.read(api, tools)).transpose();
        let given = given.map_err(|error| no_object(&error))?;
        let about = About::of(api, &body, tools);
        let kept = body.get("store") != Some(&Value::Bool(false));
        let shelf = proxy.memory.of(&parts.extensions);
        let mut taken = api.take(body, given.as_ref().map(|given| given.functions.clone()), &shelf)?;
        let injected = match &setup.settings.executor {
            Some(executor) => {
                progress::forget(&mut taken.asked);
                recall(&mut taken.asked, &shelf);
                Injected::add(&mut taken.asked, executor.tools())?
            }
            None => None,
        };
        let known = given.filter(|_| !about.legacy).and_then(|given| given.tools_of(&taken.asked));
        let generates = (api == Api::OllamaGenerate && injected.is_none()).then(|| bytes.clone());
        let request = Request::new(bytes, taken.asked, known)?;
        let asked = (about, request, taken.conversation.filter(|_| kept), injected);
        let mut exchange = Self::on_its_way(proxy, setup, api, parts, asked)?;
        exchange.generates = generates;
        Ok(exchange)
    }

    fn on_its_way(
        proxy: Arc<Proxy>,
        setup: Arc<Setup>,
        api: Api,
        parts: Parts,
        (mut about, mut request, conversation, injected): (
            About,
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
        if !route.chats() && request.choices() > 1 {
            return Err(Refusal::bad_request(
                "expected no more than one choice (`n`) of a server of this API",
            )
            .hint("send a request for each choice"));
        }
        if !route.chats() {
            request.check_shape()?;
            request.take_function_calls();
        }
        if matches!(api, Api::Messages | Api::Responses) {
            request.check_files(route.api)?;
        }
        if let Some(behind) = Behind::of(&proxy, &route, api, &parts.extensions) {
            behind.recall(&mut request);
        }
        if api != Api::Chat || !route.chats() {
            request.note_left_out(route.api);
        }
        let shortens =
            api == Api::Responses && route.api != ServerApi::Responses && request.is_about_length();
        if matches!(api, Api::Messages | Api::Responses) {
            request.make_plain(route.api);
        }
        if api == Api::Chat && !route.chats() && request.counts_tokens() {
            // It is not read at a glance.
            about.counts = true;
        }
        let mended = request.mend(route.settings.dialect.as_ref(), setup.settings.dialects)?;
        // A chat's client knows what its server takes, Ollama takes every name, and in a prompt any will do.
        let in_prompt = route.mode(request.model()) == Mode::Prompt;
        if !route.chats() && route.api != ServerApi::Ollama || route.chats() && api != Api::Chat && !in_prompt
        {
            request.rename_tools();
        }
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
            size: 0,
            conversation,
            shortens,
            injected,
            mended,
            entry: None,
            under_way: None,
            said,
            rounds: 0,
            repairs: 0,
            generates: None,
        }))
    }

    /// Where is remembered what its client has no place for.
    pub(super) fn behind(&self) -> Option<Behind> {
        Behind::of(&self.proxy, &self.route, self.api, &self.parts.extensions)
    }

    /// The same, which came on a connection.
    pub(super) fn on(mut self: Box<Self>, connection: Option<Arc<UnderWay>>) -> Box<Self> {
        self.under_way = connection;
        self
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
            under_way: self.under_way.clone(),
            failure: Box::new(move |refusal| {
                if let Some(account) = account {
                    account.note(|record| record.error = Some(refusal.kind()));
                }
                let mut out = Vec::new();
                refusal.end_stream(&mut *client, &mut out);
                out
            }),
        };
        patiently(Box::pin(self.answer()), manner).await
    }

    /// The answer takes a place in its route until it has gone out.
    async fn answer(self: Box<Self>) -> Result<Response<Body>, Refusal> {
        if self.shortens {
            return self.shortened().await;
        }
        let place = self.route.enter()?;
        let answer = self.asked().await?;
        Ok(match place {
            Some(place) => answer.map(|body| Body::new(Held::new(body, place))),
            None => answer,
        })
    }

    async fn asked(mut self: Box<Self>) -> Result<Response<Body>, Refusal> {
        if let (Some(injected), Some(executor)) = (self.injected.take(), self.setup.settings.executor.clone())
        {
            return Box::pin(self.in_turns(injected, executor)).await;
        }
        if self.api.loads() && self.route.api != ServerApi::Ollama && self.request.says_nothing() {
            return Ok(self.loaded());
        }
        if let Some(asked) = self.generates.take().filter(|_| self.route.api == ServerApi::Ollama) {
            return self.generated(asked).await;
        }
        let mut way = self.way();
        let of_tools = self.request.has_tools() || way.mode == Mode::Prompt && self.request.speaks_of_tools();
        if self.route.chats() && self.api == Api::Chat && !of_tools {
            return self.through(way).await;
        }
        let (proxy, route) = (Arc::clone(&self.proxy), Arc::clone(&self.route));
        let mut turn = route.pool.turn(&proxy.metrics);
        let mut tries = 1;
        loop {
            let response = self.ask(&mut way, &mut turn).await?;
            match self.answered(way, response).await {
                Ok(Outcome::Answer(response)) => return Ok(response),
                Ok(Outcome::Stream(headers, mut streamed)) => {
                    if self.request.hybrid().is_some() || self.asks_again() {
                        streamed.further(Box::new(move |asking| self.further(asking, way)));
                    }
                    return Ok((StatusCode::OK, headers, Body::new(*streamed)).into_response());
                }
                Ok(Outcome::Asking(asking)) => {
                    self.define(asking, way)?;
                    turn.anew();
                }
                Ok(Outcome::NoCall(..)) if tries == MOST_TRIES => return Err(no_call()),
                Ok(Outcome::NoCall(said, told)) => {
                    tries += 1;
                    proxy.metrics.asked_again.inc();
                    self.request.again(said_in(&said), Map::new(), &told)?;
                    turn.anew();
                }
                Ok(Outcome::BrokenOff(_)) if turn.goes_on() => {
                    proxy.metrics.retried.inc();
                }
                Ok(Outcome::BrokenOff(refusal)) | Err(refusal) => return Err(refusal),
            }
        }
    }

    /// Notes something for those who are told of requests.
    pub(super) fn note(&self, note: impl FnOnce(&mut Record)) {
        if let Some(account) = Account::of(&self.parts) {
            account.note(note);
        }
    }
}
