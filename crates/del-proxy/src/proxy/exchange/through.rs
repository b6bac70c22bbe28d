//! A chat in which nothing is about tools: it goes on as it came, and so does its answer.

use axum::body::Body;
use axum::http::Response;
use del_wire::ServerApi;

use super::outcome::{LONGEST_ANSWER, refused};
use super::{Exchange, Way};
use crate::member::Question;
use crate::proxy::{bytes, query};
use crate::refusal::Refusal;

impl Exchange {
    pub(super) async fn through(&self, way: Way) -> Result<Response<Body>, Refusal> {
        let (proxy, route) = (&self.proxy, &self.route);
        let asked = self.request.natively(true)?.into_bytes(ServerApi::OpenAi);
        let query = query(&self.parts);
        let mut turn = route.pool.turn(&proxy.metrics);
        loop {
            let tap = self.entry.as_ref().map(|entry| entry.ask(&asked, route.api, None));
            self.sends(way.mode);
            let question = Question::Answer(&query);
            let passed = proxy.passed(&self.setup, &mut turn, &self.parts, question, asked.clone()).await?;
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
