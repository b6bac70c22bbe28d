//! The model servers of a route, which take its requests in turn.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::http::{Response, StatusCode};
use tokio::time::Instant;

use crate::beginning::InPlace;
use crate::member::{Member, Question, Sent, Visit};
use crate::metrics::{Ended, Metrics};
use crate::refusal::Refusal;
use crate::timed::Timed;
use crate::upstream::Upstream;

/// Model servers of one API with the same models.
#[derive(Debug)]
pub(crate) struct Pool {
    members: Vec<Arc<Member>>,
    /// Where the search for the next one begins.
    next: AtomicUsize,
}

/// One request's way through a pool: it asks no server twice.
#[derive(Debug)]
pub(crate) struct Turn<'a> {
    pool: &'a Pool,
    metrics: &'a Metrics,
    tried: Vec<usize>,
}

impl Pool {
    pub(crate) fn new(upstreams: Vec<Upstream>) -> Self {
        let members = upstreams.into_iter().map(|upstream| Arc::new(Member::new(upstream))).collect();
        Self { members, next: AtomicUsize::new(0) }
    }

    pub(crate) fn members(&self) -> &[Arc<Member>] {
        &self.members
    }

    /// A request begins its way.
    pub(crate) fn turn<'a>(&'a self, metrics: &'a Metrics) -> Turn<'a> {
        Turn { pool: self, metrics, tried: Vec::new() }
    }

    /// The least busy of those that are not left alone, and of several the one whose turn it is. Where all are, the one
    /// that was longest.
    fn choose(&self, tried: &[usize]) -> Option<usize> {
        // Only a request that begins its way takes a turn.
        let step = usize::from(tried.is_empty());
        let (count, first) = (self.members.len(), self.next.fetch_add(step, Ordering::Relaxed));
        let order = (0..count).map(|step| first.wrapping_add(step) % count);
        order.filter(|at| !tried.contains(at)).min_by_key(|at| {
            let member = &self.members[*at];
            let breaker = member.breaker();
            let alone = breaker.until().filter(|_| !breaker.lets_through(Instant::now()));
            (alone, member.busy())
        })
    }

    /// Looks at every server now and then, for as long as it is polled.
    pub(crate) async fn watch(self: Arc<Self>, every: Duration) {
        loop {
            tokio::time::sleep(every).await;
            for member in &self.members {
                let answers = member.look().await.is_ok_and(|status| !status.is_server_error());
                let mut breaker = member.breaker();
                if !answers {
                    breaker.open(Instant::now());
                } else if !breaker.is_closed() {
                    breaker.succeeded();
                }
            }
        }
    }
}

impl Turn<'_> {
    /// True when there is a server that was not asked.
    pub(crate) fn goes_on(&self) -> bool {
        self.tried.len() < self.pool.members.len()
    }

    /// Asks the next server, and others where that one cannot answer: as long as nothing of an answer came back.
    pub(crate) async fn ask(
        &mut self,
        question: Question<'_>,
        sent: &Sent<'_>,
    ) -> Result<Response<Timed>, Refusal> {
        let mut last = None;
        while let Some(at) = self.pool.choose(&self.tried) {
            self.tried.push(at);
            let member = &self.pool.members[at];
            let visit = member.visit();
            let (answer, ended) = self.once(member, visit, question.clone(), sent).await;
            member.count(self.metrics, ended);
            let final_answer = matches!(ended, Ended::Answered | Ended::Refused) || !self.goes_on();
            if final_answer || answer.as_ref().is_err_and(Refusal::is_late) {
                return answer;
            }
            self.metrics.retried.inc();
            last = Some(answer);
        }
        last.unwrap_or_else(|| Err(Refusal::bad_gateway("every model server was asked, and none answered")))
    }

    /// Another request of the same client begins: it may go to every server.
    pub(crate) fn anew(&mut self) {
        self.tried.clear();
    }

    async fn once(
        &self,
        member: &Member,
        visit: Visit,
        question: Question<'_>,
        sent: &Sent<'_>,
    ) -> (Result<Response<Timed>, Refusal>, Ended) {
        let of_a_model = matches!(question, Question::Answer(_));
        let answer = member.ask(question, sent).await;
        let ended = Ended::of(answer.as_ref().map(Response::status).ok());
        let (head, body) = match answer {
            Ok(response) => response.into_parts(),
            Err(refusal) => {
                visit.failed();
                return (Err(refusal), ended);
            }
        };
        let upstream = &member.upstream;
        let mut body = Timed::new(body, upstream.first_byte, upstream.between_bytes, visit);
        let (mut head, mut ended) = (head, ended);
        if of_a_model && head.status.is_success() {
            // Its beginning tells whether it is an answer, and whether it comes.
            match InPlace::find(&mut body, upstream.api).await {
                Ok(None) => {}
                Ok(Some(said)) => {
                    head.status = StatusCode::from_u16(said.error.status).unwrap_or(StatusCode::BAD_GATEWAY);
                    ended = if said.says_why() { Ended::of(Some(head.status)) } else { Ended::Refused };
                    body = body.saying(said.said);
                }
                Err(wordless) => {
                    body.fail();
                    return (Err(wordless.refusal(&member.place)), Ended::Failed);
                }
            }
        }
        match ended {
            Ended::Failed => body.fail(),
            Ended::Answered | Ended::Refused => member.breaker().succeeded(),
            Ended::Busy => {}
        }
        (Ok(Response::from_parts(head, body)), ended)
    }
}

#[cfg(test)]
mod tests {
    use reqwest::Client;

    use super::*;

    fn pool() -> Pool {
        let _ = rustls::crypto::ring::default_provider().install_default();
        Pool::new(
            ["a", "b", "c"]
                .map(|name| Upstream::new(Client::new(), format!("http://{name}/v1"), None))
                .into(),
        )
    }

    #[test]
    fn the_least_busy_server_is_next_and_equals_take_turns() {
        let pool = pool();
        let first: Vec<_> = (0..4).map(|_| pool.choose(&[]).unwrap()).collect();
        assert_eq!(first, [0, 1, 2, 0]);
        let visits = [0, 0, 2].map(|at: usize| pool.members[at].visit());
        assert_eq!(pool.choose(&[]), Some(1));
        assert_eq!(pool.choose(&[1]), Some(2));
        assert_eq!(pool.choose(&[1, 2]), Some(0));
        assert_eq!(pool.choose(&[0, 1, 2]), None);
        drop(visits);
        assert!(pool.members.iter().all(|member| member.busy() == 0));
    }

    #[test]
    fn a_server_that_fails_is_left_alone_unless_all_do() {
        let pool = pool();
        pool.members[1].breaker().open(Instant::now());
        assert!((0..6).all(|_| pool.choose(&[]) != Some(1)));
        let later = Instant::now() + Duration::from_millis(1);
        pool.members[0].breaker().open(later);
        pool.members[2].breaker().open(later);
        assert!((0..3).all(|_| pool.choose(&[]) == Some(1)));
    }
}
