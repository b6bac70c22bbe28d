//! A request whose calls run here: the model is asked again with their results until it is done, or calls a tool of the
//! client's.

mod heard;
mod kept;
mod work;

use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, HeaderValue, Response, StatusCode, header};
use axum::response::IntoResponse;
use del_agent::Mode;
use del_agent::guard::Guard;
use del_dialects::{ReadCall, Report};
use serde_json::{Map, Value, json};
use tokio::sync::{mpsc, oneshot};

use self::heard::{Heard, calls_of};
use self::work::failed;
use super::driven::Driven;
use super::exchange::{
    BROKEN_OFF, DIALECT, Exchange, LONGEST_ANSWER, MOST_TRIES, Way, answer_headers, no_answer, no_call,
    said_in,
};
use super::injected::Injected;
use super::insert;
use super::runs::Runs;
use crate::answer::{
    CHANGED, REFUSED, Reader, Relay, Series, Stream, none_of_the_tools, none_to_be_read, translate_between,
};
use crate::execution::Executor;
use crate::lists;
use crate::long_work;
use crate::refusal::Refusal;
use crate::stamp::unique;
use crate::timed::Timed;

/// Names the tools that ran here, in their order.
const EXECUTED: &str = "x-del-executed";
/// Names the tools that the model was not offered, as the client has others of the same names.
const NOT_INJECTED: &str = "x-del-not-injected";
/// The result of a call at which it ended.
const NOT_RUN: &str = "Not run, for there were too many turns already.";
/// How often in a row the model is told that it wrote no call that can be read.
const REPAIRS: u32 = 3;

/// A request on its way through its turns.
struct Turns {
    exchange: Box<Exchange>,
    injected: Injected,
    way: Way,
    id: String,
    series: Arc<Mutex<Series>>,
    runs: Runs,
    guard: Guard,
    /// What was added to the conversation.
    added: Vec<Value>,
    /// So much of it is in the request.
    passed: usize,
    /// What waits to go out.
    pending: Vec<u8>,
    /// The tools that ran, in their order.
    executed: Vec<String>,
    changed: Vec<String>,
    refused: Vec<String>,
    dialect: Option<String>,
    turn: u32,
    tries: u32,
    repairs: u32,
    /// Where what goes out goes, if it does as it comes.
    out: Option<mpsc::Sender<Bytes>>,
}

/// How it goes on.
enum Next {
    Ask,
    End(String),
}

impl Exchange {
    /// Answers a request whose calls may run here.
    pub(super) async fn in_turns(
        self: Box<Self>,
        injected: Injected,
        executor: Arc<dyn Executor>,
    ) -> Result<Response<Body>, Refusal> {
        let mut way = self.way();
        let route = Arc::clone(&self.route);
        let proxy = Arc::clone(&self.proxy);
        let response = self.ask(&mut way, &mut route.pool.turn(&proxy.metrics)).await?;
        let (streams, id) = (self.request.streams(), unique());
        let client = self.api.client(&self.about, &id);
        let mut headers = answer_headers(response.headers());
        let kind = if streams { client.content_type() } else { "application/json" };
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
        self.remark(&injected, way.mode, &mut headers);
        let series = Series::new(client, Arc::clone(&injected.names), streams, &id);
        let mut turns = Turns {
            exchange: self,
            injected,
            way,
            id,
            series: Arc::new(Mutex::new(series)),
            runs: Runs::new(executor),
            guard: Guard::default(),
            added: Vec::new(),
            passed: 0,
            pending: Vec::new(),
            executed: Vec::new(),
            changed: Vec::new(),
            refused: Vec::new(),
            dialect: None,
            turn: 0,
            tries: 1,
            repairs: 0,
            out: None,
        };
        if streams {
            headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
            let (out, coming) = mpsc::channel(1);
            turns.out = Some(out);
            let (tell, mut refused) = oneshot::channel();
            let mut body = Driven::new(Box::pin(turns.stream(response, tell)), coming);
            body.begin().await;
            if let Ok(refusal) = refused.try_recv() {
                return Err(refusal);
            }
            return Ok((StatusCode::OK, headers, Body::new(body)).into_response());
        }
        let reason = turns.run(response).await?.unwrap_or_default();
        let body = turns.series().whole(&reason);
        for (name, list) in turns.remarks() {
            lists::insert(&mut headers, name, list);
        }
        if let Some(dialect) = &turns.dialect {
            insert(&mut headers, DIALECT, dialect);
        }
        turns.remember();
        Ok((StatusCode::OK, headers, body).into_response())
    }

    fn remark(&self, injected: &Injected, mode: Mode, headers: &mut HeaderMap) {
        self.tell_dropped(self.route.chats() && mode == Mode::Native, headers);
        lists::insert(headers, NOT_INJECTED, &injected.clashes);
    }
}

impl Turns {
    fn series(&self) -> MutexGuard<'_, Series> {
        self.series.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// All of it, as it comes. Of what is refused before anything went out, whoever waits for the answer is told.
    async fn stream(mut self, response: Response<Timed>, refused: oneshot::Sender<Refusal>) {
        let ended = self.run(response).await;
        let mut out = std::mem::take(&mut self.pending);
        match ended {
            Ok(Some(reason)) => {
                let told = self.remarks().into_iter().filter(|(_, list)| !list.is_empty());
                let remarks: Vec<_> = told.map(|(name, list)| (name, lists::line(list))).collect();
                self.series().done(&reason, &remarks, &mut out);
                self.remember();
            }
            // The client was told.
            Ok(None) => {
                self.exchange.proxy.metrics.failures.inc();
                self.exchange.note(|record| record.error = Some(BROKEN_OFF));
            }
            Err(refusal) if !self.series().has_begun() => {
                // Whoever does not wait any more needs no answer.
                let _ = refused.send(refusal);
                return;
            }
            Err(refusal) => {
                self.exchange.note(|record| record.error = Some(refusal.kind()));
                self.series().refuse(&refusal, &mut out);
            }
        }
        self.send(&mut out).await;
    }

    async fn send(&self, out: &mut Vec<u8>) {
        if let Some(to) = self.out.as_ref().filter(|_| !out.is_empty()) {
            // Whoever does not listen any more ends all of this.
            let _ = to.send(std::mem::take(out).into()).await;
        }
    }

    /// Turn by turn, to the end: its reason. `None` where a stream broke off, which the client was told.
    async fn run(&mut self, first: Response<Timed>) -> Result<Option<String>, Refusal> {
        let mut response = Some(first);
        loop {
            let response = match response.take() {
                Some(response) => response,
                None => {
                    let (proxy, route) = (Arc::clone(&self.exchange.proxy), Arc::clone(&self.exchange.route));
                    self.exchange.ask(&mut self.way, &mut route.pool.turn(&proxy.metrics)).await?
                }
            };
            self.turn += 1;
            self.series().begin(self.exchange.request.demands_call());
            let Some(mut heard) = self.hear(response).await? else { return Ok(None) };
            if let Some(asking) = heard.asking.take() {
                // Nothing was done that would count as a turn, and rounds have a limit of their own.
                self.turn -= 1;
                self.exchange.define(asking, self.way)?;
                continue;
            }
            if let Next::End(reason) = self.heard(heard).await? {
                return Ok(Some(reason));
            }
        }
    }

    async fn hear(&self, response: Response<Timed>) -> Result<Option<Heard>, Refusal> {
        let (exchange, api) = (&self.exchange, self.exchange.route.api);
        // What the model said before has gone to the series.
        let reader = Reader { before: String::new(), ..exchange.reader(self.way) };
        let mut relay = Relay(Arc::clone(&self.series));
        let mut body = response.into_body();
        if self.out.is_none() {
            let text = super::text(body, LONGEST_ANSWER).await?;
            let answer = long_work::on(text.len(), || {
                translate_between(&reader, exchange.ids(), &text, api.reader(), &mut relay)
            });
            if let Ok(answer) = &answer {
                exchange.note(|record| record.summary += answer.summary.clone());
                self.learn(answer.summary.as_reasoning);
            }
            return answer.map(|answer| Some(Heard::from(answer))).map_err(no_answer);
        }
        let stream = Stream::between(reader, exchange.ids(), api.reader(), Box::new(relay));
        let mut stream = stream.keeping();
        let mut out = Vec::new();
        while !stream.is_over() {
            let frame =
                std::future::poll_fn(|context| http_body::Body::poll_frame(Pin::new(&mut body), context));
            match frame.await {
                Some(Ok(frame)) => {
                    if let Some(bytes) = frame.data_ref() {
                        stream.push(bytes, &mut out);
                    }
                }
                Some(Err(error)) => stream.end(Some(&error.to_string()), &mut out),
                None => stream.end(None, &mut out),
            }
            self.send(&mut out).await;
        }
        exchange.note(|record| record.summary += stream.summary());
        self.learn(stream.thinks_as_reasoning());
        if let Some(asking) = stream.take_asking() {
            return Ok(Some(Heard { asking: Some(asking), ..Heard::default() }));
        }
        Ok(Heard::of(&stream))
    }

    /// Learns what the server calls thoughts.
    fn learn(&self, as_reasoning: bool) {
        if as_reasoning {
            self.exchange.route.modes.thinks_as_reasoning(self.exchange.request.model());
        }
    }

    /// Does what an answer says.
    async fn heard(&mut self, heard: Heard) -> Result<Next, Refusal> {
        let calls = calls_of(&heard.message);
        let demanded = self.exchange.request.demands_call();
        if demanded && calls.is_empty() {
            return self.demand(heard);
        }
        self.exchange.proxy.metrics.called(heard.dialect.as_deref(), calls.len());
        let guess = |id: &Option<String>| {
            heard.guesses.iter().find(|(guessed, _)| id.as_ref() == Some(guessed)).map(|(_, kind)| *kind)
        };
        let (own, theirs): (Vec<ReadCall>, Vec<ReadCall>) = calls
            .into_iter()
            .map(|call| ReadCall { guess: guess(&call.id), call })
            .partition(|read| self.injected.has(&read.call.name));
        let doubtful = theirs.iter().filter(|read| read.guess.is_some());
        self.changed.extend(doubtful.filter_map(|read| read.call.id.clone()));
        let note = self.note(&heard);
        self.dialect = self.dialect.take().or(heard.dialect);
        self.refused.extend(heard.refused);
        self.added.push(Value::Object(heard.message));
        if own.is_empty() {
            return Ok(self.without_own(!theirs.is_empty(), note, heard.broken.first()));
        }
        self.repairs = 0;
        if theirs.is_empty() && self.turn >= self.most_turns() {
            self.add_results(own.iter().map(|read| failed(read, NOT_RUN)));
            return Ok(self.give_up(&format!("`{}` was not run", own[0].call.name)));
        }
        if let Some(repeated) = self.work(&own).await? {
            return Ok(self.give_up(&repeated));
        }
        if !theirs.is_empty() {
            return Ok(Next::End(self.reason("tool_calls")));
        }
        if demanded && (!self.injected.beside || self.exchange.request.names(&own[0].call.name)) {
            self.exchange.request.frees_choice();
        }
        Ok(self.go_on(note))
    }

    /// A demanded call did not come. Where there was no room for it, asking again brings none.
    fn demand(&mut self, heard: Heard) -> Result<Next, Refusal> {
        if heard.cut {
            let mut out = std::mem::take(&mut self.pending);
            self.series().let_go(&mut out);
            self.pending = out;
            self.added.push(Value::Object(heard.message));
            return Ok(Next::End("length".to_owned()));
        }
        if self.tries == MOST_TRIES {
            return Err(no_call());
        }
        self.tries += 1;
        self.exchange.proxy.metrics.asked_again.inc();
        let told = self.exchange.demand(&heard.broken, &heard.refused, self.way.mode);
        self.exchange.request.again(said_in(&heard.message), Map::new(), &told)?;
        Ok(Next::Ask)
    }

    /// An answer in which nothing is to be run is the last one, unless the model tried to call.
    fn without_own(&mut self, theirs: bool, note: Option<String>, broken: Option<&Report>) -> Next {
        if theirs {
            return Next::End(self.reason("tool_calls"));
        }
        // A client that has half a call has to be told, not the model.
        let untold = self.series().theirs().is_empty();
        if note.is_some() && untold && self.repairs < REPAIRS && self.turn < self.most_turns() {
            self.repairs += 1;
            return self.go_on(note);
        }
        let silent = untold && !self.series().has_said();
        let remark = match (broken, self.refused.last()) {
            (Some(report), _) if untold && self.series().reason() != Some("length") => {
                none_to_be_read(report)
            }
            (None, Some(name)) if silent => none_of_the_tools(name),
            _ => return Next::End(self.reason("stop")),
        };
        let remark = self.series().remark(&remark);
        self.pending.extend(remark);
        Next::End(self.reason("stop"))
    }

    /// Why the last answer ended, or this where nothing says so.
    fn reason(&self, usual: &str) -> String {
        self.series().reason().unwrap_or(usual).to_owned()
    }

    /// What the model is told of its calls that did not count.
    fn note(&self, heard: &Heard) -> Option<String> {
        let cut = self.series().reason() == Some("length") && calls_of(&heard.message).is_empty();
        self.exchange.correction(&heard.broken, &heard.refused, cut, self.way.mode)
    }

    /// Asks the model again, with what was added since.
    fn go_on(&mut self, note: Option<String>) -> Next {
        self.added.extend(note.map(|note| json!({"role": "user", "content": note})));
        self.exchange.request.add(&self.added[self.passed..]);
        self.passed = self.added.len();
        Next::Ask
    }

    /// Ends before the model has, and says why.
    fn give_up(&mut self, why: &str) -> Next {
        let text = format!("[Stopped after {} requests to the model: {why}. Ask to go on.]", self.turn);
        let remark = self.series().remark(&text);
        self.pending.extend(remark);
        self.added.push(json!({"role": "assistant", "content": text}));
        Next::End("length".to_owned())
    }

    fn most_turns(&self) -> u32 {
        self.exchange.setup.settings.max_turns.max(1)
    }

    /// What headers say of an answer that comes at once.
    fn remarks(&self) -> [(&'static str, &[String]); 3] {
        [(CHANGED, &self.changed), (REFUSED, &self.refused), (EXECUTED, &self.executed)]
    }
}
