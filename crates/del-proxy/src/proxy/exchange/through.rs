//! A chat in which nothing is about tools: it goes on as it came, and so does its answer.

use axum::body::{Body, Bytes};
use axum::http::{Method, Response};
use del_agent::Mode;
use del_wire::ServerApi;
use serde_json::{Map, Value, json};

use super::outcome::{LONGEST_ANSWER, refused};
use super::{Exchange, Way};
use crate::member::Question;
use crate::proxy::{bytes, query};
use crate::refusal::Refusal;
use crate::request::no_object;

impl Exchange {
    pub(super) async fn through(&self, way: Way) -> Result<Response<Body>, Refusal> {
        let asked = self.request.natively(true)?.into_bytes(ServerApi::OpenAi);
        self.pass_on(way.mode, Question::Answer(&query(&self.parts)), asked).await
    }

    /// The completion of a prompt by a server that completes prompts itself: what is said of the template (`raw`, `suffix`,
    /// `context`) means something there alone.
    pub(super) async fn generated(&self, mut asked: Bytes) -> Result<Response<Body>, Refusal> {
        if let Some(model) = &self.route.settings.model {
            let body = serde_json::from_slice::<Map<String, Value>>(&asked);
            let mut body = body.map_err(|error| no_object(&error))?;
            body.insert("model".to_owned(), json!(model));
            asked = Value::Object(body).to_string().into();
        }
        self.pass_on(Mode::Native, Question::Above(Method::POST, "/api/generate"), asked).await
    }

    async fn pass_on(
        &self,
        mode: Mode,
        question: Question<'_>,
        asked: Bytes,
    ) -> Result<Response<Body>, Refusal> {
        let (proxy, route) = (&self.proxy, &self.route);
        let mut turn = route.pool.turn(&proxy.metrics);
        loop {
            let tap = self.entry.as_ref().map(|entry| entry.ask(&asked, route.api, None));
            self.sends(mode);
            let (asked, question) = (asked.clone(), question.clone());
            let passed = proxy.passed(&self.setup, &mut turn, &self.parts, question, asked).await?;
            if let Some(tap) = &tap {
                tap.head(passed.status());
            }
            let (head, body) = passed.map(|body| body.watched_by(tap)).into_parts();
            if !head.status.is_success() {
                return Err(refused(head, body).await?);
            }
            if self.request.streams() {
                return Ok(Response::from_parts(head, Body::new(body)));
            }
            // Nothing of an answer that comes at once goes out before it is whole.
            match bytes(body, LONGEST_ANSWER).await {
                Ok(said) => return Ok(Response::from_parts(head, Body::from(said))),
                Err(_) if turn.goes_on() => {
                    proxy.metrics.retried.inc();
                }
                Err(refusal) => return Err(refusal),
            }
        }
    }
}
