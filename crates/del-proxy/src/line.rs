//! Connections to a model server, over plain HTTP.
//!
//! Whoever asks on a connection moves it along, and whoever reads the answer does: it has no task of its own. So nothing
//! stands between the server's bytes and the client's, and no thread has to be woken to hand them over.

use std::fmt;
use std::io;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use axum::body::Bytes;
use axum::http::{HeaderValue, Request, Response};
use http_body::{Body, Frame, SizeHint};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::client::conn::http1::{Connection, SendRequest, handshake};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::time::Instant;

use crate::alarm::Alarm;

/// The connections to one server.
#[derive(Debug)]
pub(crate) struct Lines {
    host: String,
    port: u16,
    /// What it is called in requests.
    name: HeaderValue,
    /// A connection has to stand within this time.
    patience: Duration,
    idle: Mutex<Idle>,
}

/// Those that wait for a request, the latest last.
#[derive(Debug, Default)]
struct Idle {
    lines: Vec<(Line, Instant)>,
    /// Somebody closes those that waited too long.
    watched: bool,
}

/// A connection.
struct Line {
    sender: SendRequest<Full<Bytes>>,
    connection: Pin<Box<Connection<TokioIo<TcpStream>, Full<Bytes>>>>,
    alarm: Alarm,
}

/// The body of an answer. What is dropped before its end closes the connection, and so ends the request.
pub(crate) struct Answer {
    body: Incoming,
    /// Nothing once the connection is at its end, or waits for the next request.
    line: Option<Line>,
    lines: Arc<Lines>,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LineError {
    /// There is no connection.
    #[error(transparent)]
    Connect(io::Error),
    /// It ended.
    #[error(transparent)]
    Broken(hyper::Error),
    /// Nothing came in time.
    #[error("no answer in time")]
    Late,
}

/// Connections that are kept for later requests, and for how long: some servers close theirs after 5 seconds.
const MOST_IDLE: usize = 64;
const LONGEST_IDLE: Duration = Duration::from_secs(4);

impl Lines {
    /// Connections to this server; none is made yet.
    pub(crate) fn new(host: String, port: u16, name: HeaderValue, patience: Duration) -> Arc<Self> {
        Arc::new(Self { host, port, name, patience, idle: Mutex::default() })
    }

    /// What the server is called in requests.
    pub(crate) fn name(&self) -> &HeaderValue {
        &self.name
    }

    /// Asks on a connection that waits, or on a new one, for an answer that begins before `end`. One that waited may be dead
    /// when it is used: where nothing came back, such a request is made and sent once more.
    pub(crate) async fn ask(
        self: &Arc<Self>,
        request: impl Fn() -> Request<Full<Bytes>>,
        end: Instant,
    ) -> Result<Response<Answer>, LineError> {
        if let Some(line) = self.take() {
            match self.ask_on(line, request(), end).await {
                Err(LineError::Broken(_)) => {}
                asked => return asked,
            }
        }
        let connected = tokio::time::timeout_at(end, self.connect()).await;
        let line = connected.map_err(|_| LineError::Late)?.map_err(LineError::Connect)?;
        self.ask_on(line, request(), end).await
    }

    async fn ask_on(
        self: &Arc<Self>,
        mut line: Line,
        request: Request<Full<Bytes>>,
        end: Instant,
    ) -> Result<Response<Answer>, LineError> {
        let response = {
            let mut answer = pin!(line.sender.send_request(request));
            let (connection, alarm) = (&mut line.connection, &mut line.alarm);
            let mut over = false;
            std::future::poll_fn(|context| {
                if !over {
                    over = connection.as_mut().poll(context).is_ready();
                }
                if let Poll::Ready(answer) = answer.as_mut().poll(&mut no_news()) {
                    return Poll::Ready(answer.map_err(LineError::Broken));
                }
                alarm.poll_at(end, context).map(|()| Err(LineError::Late))
            })
            .await?
        };
        let (head, body) = response.into_parts();
        Ok(Response::from_parts(head, Answer { body, line: Some(line), lines: Arc::clone(self) }))
    }

    async fn connect(&self) -> io::Result<Line> {
        let connected = TcpStream::connect((self.host.as_str(), self.port));
        let late = |_| io::Error::new(io::ErrorKind::TimedOut, "no connection in time");
        let stream = tokio::time::timeout(self.patience, connected).await.map_err(late)??;
        // A request goes out when it is written.
        stream.set_nodelay(true)?;
        let (sender, connection) = handshake(TokioIo::new(stream)).await.map_err(io::Error::other)?;
        Ok(Line { sender, connection: Box::pin(connection), alarm: Alarm::default() })
    }

    /// One that waits, and is not known to be dead.
    fn take(&self) -> Option<Line> {
        loop {
            let (mut line, since) = self.idle().lines.pop()?;
            if since.elapsed() < LONGEST_IDLE && line.is_ready() {
                return Some(line);
            }
        }
    }

    /// Keeps a connection for the next request.
    fn keep(self: &Arc<Self>, line: Line) {
        let mut idle = self.idle();
        if idle.lines.len() >= MOST_IDLE {
            return;
        }
        idle.lines.push((line, Instant::now()));
        if !std::mem::replace(&mut idle.watched, true) {
            drop(tokio::spawn(Arc::clone(self).close_idle()));
        }
    }

    /// Closes each once it has waited too long, until nothing waits.
    async fn close_idle(self: Arc<Self>) {
        let mut end = Instant::now() + LONGEST_IDLE;
        loop {
            tokio::time::sleep_until(end).await;
            let mut idle = self.idle();
            idle.lines.retain(|(_, since)| since.elapsed() < LONGEST_IDLE);
            let Some((_, longest)) = idle.lines.first() else {
                idle.lines.shrink_to_fit();
                idle.watched = false;
                return;
            };
            end = *longest + LONGEST_IDLE;
        }
    }

    fn idle(&self) -> MutexGuard<'_, Idle> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Who waits for something that only the connection brings is told by nobody: whoever moves the connection looks.
fn no_news() -> Context<'static> {
    Context::from_waker(Waker::noop())
}

impl Line {
    /// Moves it along: true where it takes a request.
    fn is_ready(&mut self) -> bool {
        self.connection.as_mut().poll(&mut no_news()).is_pending() && self.sender.is_ready()
    }
}

impl Answer {
    /// The answer has come whole.
    fn end(&mut self) {
        if let Some(mut line) = self.line.take()
            && line.is_ready()
        {
            self.lines.keep(line);
        }
    }
}

impl Body for Answer {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let this = &mut *self;
        let mut frame = Pin::new(&mut this.body).poll_frame(&mut no_news());
        if frame.is_pending()
            && let Some(line) = &mut this.line
        {
            if line.connection.as_mut().poll(context).is_ready() {
                this.line = None;
            }
            frame = Pin::new(&mut this.body).poll_frame(&mut no_news());
        }
        match &frame {
            Poll::Ready(Some(Err(_))) => this.line = None,
            Poll::Ready(None) => this.end(),
            // Nobody asks for more than it has.
            Poll::Ready(Some(Ok(_))) if this.body.is_end_stream() => this.end(),
            _ => {}
        }
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl fmt::Debug for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Line")
    }
}

impl fmt::Debug for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Answer")
    }
}

#[cfg(test)]
mod tests {
    use tokio::net::TcpListener;

    use super::*;

    #[tokio::test]
    async fn each_connection_that_waits_is_closed_at_its_own_time() {
        let server = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = server.local_addr().unwrap().port();
        let lines = Lines::new("127.0.0.1".into(), port, HeaderValue::from_static("server"), LONGEST_IDLE);
        let (first, second) = (lines.connect().await.unwrap(), lines.connect().await.unwrap());
        tokio::time::pause();
        let waiting = async |seconds| {
            tokio::time::sleep(Duration::from_secs_f32(seconds)).await;
            lines.idle().lines.len()
        };
        lines.keep(first);
        assert_eq!(waiting(1.0).await, 1);
        lines.keep(second);
        assert_eq!(waiting(2.5).await, 2);
        assert_eq!(waiting(1.0).await, 1);
        assert_eq!(waiting(1.0).await, 0);
        assert!(!lines.idle().watched);
    }
}
