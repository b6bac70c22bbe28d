//! A chat in which nothing is about tools: it goes on as it came, and so does its answer.

use axum::body::{Body, Bytes};
use axum::http::{Method, Response};
use del_agent::Mode;
use del_wire::ApiError;
use serde_json::{Map, Value, json};

use super::outcome::{LONGEST_ANSWER, LONGEST_ERROR, answer_headers};
use super::{Exchange, Way};
use crate::member::Question;
use crate::proxy::{bytes, query, text};
use crate::refusal::Refusal;
use crate::request::no_object;

impl Exchange {
    pub(super) async fn through(&self, way: Way) -> Result<Response<Body>, Refusal> {
        let asked = self.written(way)?;
        self.pass_on(Some(way), Question::Answer(&query(&self.parts)), asked).await
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
        self.pass_on(None, Question::Above(Method::POST, "/api/generate"), asked).await
    }

    /// Passes on what was `asked`. With a `way`, the server is asked once more for what it refused and gets otherwise since.
    async fn pass_on(
        &self,
        way: Option<Way>,
        question: Question<'_>,
        mut asked: Bytes,
    ) -> Result<Response<Body>, Refusal> {
        let (proxy, route) = (&self.proxy, &self.route);
        let mut turn = route.pool.turn(&proxy.metrics);
        loop {
            let tap = self.entry.as_ref().map(|entry| entry.ask(&asked, route.api, None));
            self.sends(way.map_or(Mode::Native, |way| way.mode));
            let (body, question) = (asked.clone(), question.clone());
            let passed = proxy.passed(&self.setup, &mut turn, &self.parts, question, body).await?;
            if let Some(tap) = &tap {
                tap.head(passed.status());
            }
            let (head, body) = passed.map(|body| body.watched_by(tap)).into_parts();
            if !head.status.is_success() {
                let said = text(body, LONGEST_ERROR).await?;
                let error = ApiError::from_response(head.status.as_u16(), &said);
                let amends = match way {
                    Some(way) => self.amends_after(&error, way)?.zip(Some(way)),
                    None => None,
                };
                let Some((amends, way)) = amends else {
                    return Err(Refusal::of_server(
                        head.status,
                        answer_headers(&head.headers),
                        &error,
                        &said,
                    ));
                };
                route.modes.amend(self.request.model(), amends);
                asked = self.written(way)?;
                turn.anew();
                continue;
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
