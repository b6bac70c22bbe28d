//! What the answer of a model server comes to.

use std::sync::Arc;

use axum::body::Body;
use axum::http::response::Parts as Head;
use axum::http::{HeaderMap, HeaderValue, Response, StatusCode, header};
use axum::response::IntoResponse;
use del_agent::Mode;
use del_dialects::Report;
use del_wire::{ApiError, Chunk, ToClient, Told, ToldChoice};
use serde_json::{Map, Value};

use super::{Exchange, MOST_TRIES, Way};
use crate::account::Account;
use crate::answer::{Asking, CHANGED, LEFT_OUT, REFUSED, Reader, Stream, Trouble, translate_between};
use crate::lists;
use crate::long_work;
use crate::memory::Past;
use crate::proxy::streamed::{Afterwards, Streamed};
use crate::proxy::{insert, text};
use crate::refusal::Refusal;
use crate::stamp::{response_id, unique};
use crate::timed::Timed;
use crate::upstream::end_to_end;

/// What an attempt comes to.
pub(super) enum Outcome {
    Answer(Response<Body>),
    /// A stream, of which nothing has gone out.
    Stream(HeaderMap, Box<Streamed>),
    /// The model is asked again, with definitions or with what was wrong with its calls.
    Asking(Asking),
    /// There is no call in it, although one was demanded: what the model said in its place, and is told of that.
    NoCall(Map<String, Value>, String),
    /// The server broke off before anything of it went out.
    BrokenOff(Refusal),
}

/// The longest error that is read.
pub(super) const LONGEST_ERROR: usize = 1 << 20;
/// The longest answer that is not streamed.
pub(in crate::proxy) const LONGEST_ANSWER: usize = 256 << 20;
/// What observers are told of an answer that the model server broke off.
pub(in crate::proxy) const BROKEN_OFF: &str = "upstream_broke_off";
/// Names the dialect of an answer's calls.
pub(in crate::proxy) const DIALECT: &str = "x-del-dialect";
/// Names the kinds of tools that were left out, as nobody here has them.
const DROPPED_TOOLS: &str = "x-del-dropped-tools";
/// Names the members of the request that were left out, as the server's API has no place for them.
pub(crate) const DROPPED: &str = "x-del-dropped-parameters";

impl Exchange {
    pub(in crate::proxy) fn reader(&self, way: Way) -> Reader {
        Reader {
            dialect: self.route.settings.dialect.clone(),
            tools: self.request.tools(),
            one_call: self.request.wants_one_call(),
            reads: self.request.offers_tools(),
            offered: self.request.offered(),
            custom: self.request.custom(),
            defined: self.request.defined(),
            names: self.request.names_of_tools(),
            before: self.said.clone(),
            begun: self.begun(way),
            restore: way.mode == Mode::Prompt,
            runs: self.setup.settings.executor.is_some() && self.request.offers_tools(),
            asks_again: self.asks_again(),
            ..Reader::new(self.setup.settings.dialects)
        }
    }

    pub(super) async fn answered(&self, way: Way, response: Response<Timed>) -> Result<Outcome, Refusal> {
        let (head, body) = response.into_parts();
        let mut headers = answer_headers(&head.headers);
        let as_it_came = self.route.chats() && way.mode == Mode::Native && self.request.hybrid().is_none();
        self.tell_dropped(as_it_came, &mut headers);
        let id = unique();
        let client = self.api.client(&self.about, &id);
        if self.request.streams() {
            return self.streamed(way, headers, body, client, &id).await;
        }
        match text(body, LONGEST_ANSWER).await {
            Ok(text) => long_work::on(text.len(), || self.whole(way, headers, &text, client, &id)),
            Err(refusal) => Ok(Outcome::BrokenOff(refusal)),
        }
    }

    /// Tells what of the request the model server was not told.
    pub(in crate::proxy) fn tell_dropped(&self, as_it_came: bool, headers: &mut HeaderMap) {
        let amends = self.route.modes.amends(self.request.model());
        let amended = self.request.left_out_by(amends).map(str::to_owned);
        let left_out: Vec<String> = self.request.left_out().iter().cloned().chain(amended).collect();
        lists::insert(headers, DROPPED_TOOLS, self.request.dropped(as_it_came));
        lists::insert(headers, DROPPED, &left_out);
    }

    async fn streamed(
        &self,
        way: Way,
        mut headers: HeaderMap,
        body: Timed,
        client: Box<dyn ToClient>,
        id: &str,
    ) -> Result<Outcome, Refusal> {
        let written = (way.mode == Mode::Prompt).then(|| self.route.dialect(self.request.model()));
        if let Some(dialect) =
            self.route.settings.dialect.clone().or(written).filter(|_| self.request.offers_tools())
        {
            insert(&mut headers, DIALECT, dialect.name());
        }
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(client.content_type()));
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        let mut stream = Stream::between(self.reader(way), self.ids(), self.route.api.reader(), client);
        let demanded = self.request.demands_call();
        if demanded || self.conversation.is_some() || self.request.offers_tools() {
            stream = stream.keeping();
        }
        let mut streamed = Streamed::new(body, stream, self.afterwards(id));
        if demanded {
            streamed.until_call(self.request.choices()).await;
        } else {
            streamed.until_word().await;
        }
        if (demanded || !streamed.has_word())
            && let Some(asking) = streamed.take_asking()
        {
            self.note(|record| record.summary += streamed.stream().summary());
            if streamed.stream().thinks_as_reasoning() {
                self.route.modes.thinks_as_reasoning(self.request.model());
            }
            return Ok(Outcome::Asking(asking));
        }
        if demanded && streamed.lacks_call() {
            let stream = streamed.stream();
            let broken: Vec<Report> = stream.broken().cloned().collect();
            let refused: Vec<String> = stream.refused().map(str::to_owned).collect();
            let told = self.demand(&broken, &refused, way.mode);
            return Ok(Outcome::NoCall(stream.message().unwrap_or_default(), told));
        }
        Ok(Outcome::Stream(headers, Box::new(streamed)))
    }

    fn whole(
        &self,
        way: Way,
        mut headers: HeaderMap,
        text: &str,
        mut client: Box<dyn ToClient>,
        id: &str,
    ) -> Result<Outcome, Refusal> {
        let server = self.route.api.reader();
        let answer = translate_between(&self.reader(way), self.ids(), text, server, client.as_mut());
        let answer = answer.map_err(no_answer)?;
        let metrics = &self.proxy.metrics;
        self.note(|record| record.summary += answer.summary.clone());
        if answer.summary.as_reasoning {
            self.route.modes.thinks_as_reasoning(self.request.model());
        }
        if let Some(asking) = answer.asking {
            return Ok(Outcome::Asking(asking));
        }
        if let Some(said) = answer.lacking.filter(|_| self.request.demands_call()) {
            let told = self.demand(&answer.broken, &answer.refused, way.mode);
            return Ok(Outcome::NoCall(said.past(), told));
        }
        metrics.refused.inc_by(answer.refused.len() as u64);
        metrics.called(answer.dialect.as_deref(), answer.calls);
        metrics.changed.inc_by(answer.changed.len() as u64);
        if let Some(dialect) = &answer.dialect {
            insert(&mut headers, DIALECT, dialect);
        }
        lists::insert(&mut headers, CHANGED, &answer.changed);
        lists::insert(&mut headers, REFUSED, &answer.refused);
        lists::insert(&mut headers, LEFT_OUT, &Vec::from_iter(answer.left_out));
        let said = answer.blocks.past();
        if let Some(behind) = self.behind() {
            behind.keep(&said);
        }
        if let Some(conversation) = &self.conversation {
            let mut past =
                Past { messages: conversation.clone(), asked: conversation.len(), answer: client.kept() };
            past.messages.push(Value::Object(said));
            self.proxy.memory.of(&self.parts.extensions).put(response_id(id), past);
        }
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        Ok(Outcome::Answer((StatusCode::OK, headers, answer.body).into_response()))
    }

    /// What Ollama says once a model is loaded, or is so no more. Other servers have theirs at hand.
    pub(super) fn loaded(&self) -> Response<Body> {
        let mut client = self.api.client(&self.about, "");
        let reason = if self.request.unloads() { "unload" } else { "load" };
        let loaded = ToldChoice { reason: Some(reason.to_owned()), ..ToldChoice::default() };
        let said = client.whole(&Told { raw: None, chunk: &Chunk::default(), choices: vec![loaded] });
        let kind = if self.request.streams() { client.content_type() } else { "application/json" };
        ([(header::CONTENT_TYPE, HeaderValue::from_static(kind))], said).into_response()
    }

    /// Counts what a stream held, and remembers it where it is to be remembered.
    fn afterwards(&self, id: &str) -> Afterwards {
        let kept = self.conversation.clone();
        let kept = kept.map(|messages| (messages, response_id(id), self.parts.extensions.clone()));
        let proxy = Arc::clone(&self.proxy);
        let account = Account::of(&self.parts).cloned();
        let (behind, route, model) =
            (self.behind(), Arc::clone(&self.route), self.request.model().to_owned());
        Box::new(move |stream| {
            if stream.thinks_as_reasoning() {
                route.modes.thinks_as_reasoning(&model);
            }
            if let Some(account) = account {
                account.note(|record| {
                    record.summary += stream.summary();
                    if !stream.is_whole() {
                        record.error = Some(BROKEN_OFF);
                    }
                });
            }
            let metrics = &proxy.metrics;
            let (dialect, calls) = stream.calls();
            metrics.called(dialect, calls);
            metrics.changed.inc_by(stream.changed().count() as u64);
            metrics.refused.inc_by(stream.refused().count() as u64);
            metrics.failures.inc_by(u64::from(!stream.is_whole()));
            let Some(message) = stream.message() else { return };
            if let Some(behind) = behind {
                behind.keep(&message);
            }
            if let Some((mut messages, id, asker)) = kept {
                let asked = messages.len();
                messages.push(Value::Object(message));
                proxy.memory.of(&asker).put(id, Past { messages, asked, answer: stream.kept() });
            }
        })
    }
}

/// The headers of a server's answer that go on to the client.
pub(in crate::proxy) fn answer_headers(headers: &HeaderMap) -> HeaderMap {
    end_to_end(headers, |name| {
        matches!(*name, header::CONTENT_LENGTH | header::CONTENT_TYPE | header::CONTENT_ENCODING)
    })
}

/// What the server says is no answer.
pub(in crate::proxy) fn no_answer(trouble: Trouble) -> Refusal {
    match trouble {
        Trouble::Garbage(_) => Refusal::no_answer(&trouble),
        Trouble::Refused(error, said) => Refusal::in_answer(&error, &said),
    }
}

/// Why a server gives no answer, in its own words.
pub(super) async fn refused(head: Head, body: Timed) -> Result<Refusal, Refusal> {
    let said = text(body, LONGEST_ERROR).await?;
    let error = ApiError::from_response(head.status.as_u16(), &said);
    Ok(Refusal::of_server(head.status, answer_headers(&head.headers), &error, &said))
}

/// The model does not do what `tool_choice` demands.
pub(in crate::proxy) fn no_call() -> Refusal {
    Refusal::new(
        StatusCode::UNPROCESSABLE_ENTITY,
        "upstream_error",
        format!("the model made no call that `tool_choice` allows, in {MOST_TRIES} tries"),
    )
    .hint("ask with tool_choice auto, or use a model that calls tools more readily")
}
