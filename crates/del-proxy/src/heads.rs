//! Heads of requests as they come on a connection, before HTTP's reader has them: it takes a length away where a request
//! comes in chunks as well, has one limit of time for a slow head and an idle connection, and refuses without a word.

mod head;

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::http::StatusCode;
use memchr::memmem;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Instant;

use self::head::Head;
use crate::alarm::Alarm;
use crate::family::Family;
use crate::refusal::Refusal;
use crate::stamp::unique;
use crate::under_way::UnderWay;

/// What was sent by a client that has been refused is taken for so long, that it may read why: a system tells clients nothing of
/// an answer once it has closed the connection upon bytes that nobody took.
const LINGER: Duration = Duration::from_secs(1);
/// How a refusal of HTTP's reader begins.
const REFUSES: &[u8] = b"HTTP/1.1 4";
/// What every answer of this proxy has.
const OURS: &[u8] = b"x-request-id: ";
const NO_WORDS: &[u8] = b"content-length: 0\r\n";

/// A connection whose heads are seen.
#[derive(Debug)]
pub(crate) struct Heads<S> {
    stream: S,
    under_way: Arc<UnderWay>,
    place: Place,
    limits: Limits,
    /// What is waited for, and until when.
    waits_for: Option<(Wait, Instant)>,
    alarm: Alarm,
    /// Something that was written waits to be taken.
    waits: bool,
    /// What is written in the place of a refusal without a word, and how much of that is.
    worded: Option<(Vec<u8>, usize)>,
}

/// How long a client may take.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// For a head, from its first byte on.
    pub(crate) head: Duration,
    /// To be silent between two requests, and before the first.
    pub(crate) silence: Duration,
}

/// What is waited for with a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wait {
    /// The rest of a head.
    Head,
    /// The next request.
    Request,
    /// That the client takes the last words.
    End,
}

/// Where the bytes that come next stand.
#[derive(Debug)]
enum Place {
    /// In a head, or before one.
    Head(Head),
    /// Behind one: in the body, if nothing was sent ahead.
    Behind { family: Family, read: u64, last: [u8; 4] },
    /// Something was sent ahead, so that it is not known where a head begins.
    Unknown,
}

impl<S> Heads<S> {
    pub(crate) fn new(stream: S, under_way: Arc<UnderWay>, limits: Limits) -> Self {
        Self {
            stream,
            under_way,
            place: Place::Head(Head::default()),
            limits,
            waits_for: None,
            alarm: Alarm::default(),
            waits: false,
            worded: None,
        }
    }

    /// Ready when this was waited for long enough.
    fn poll_late(&mut self, wait: Wait, context: &mut Context<'_>) -> Poll<()> {
        let end = match self.waits_for {
            Some((known, end)) if known == wait => end,
            _ => {
                let most = match wait {
                    Wait::Head => self.limits.head,
                    Wait::Request => self.limits.silence,
                    Wait::End => LINGER,
                };
                Instant::now() + most
            }
        };
        self.waits_for = Some((wait, end));
        self.alarm.poll_at(end, context)
    }

    /// Takes note of what has come.
    fn see(&mut self, bytes: &[u8]) {
        self.waits_for.take_if(|(wait, _)| *wait == Wait::Request);
        if self.under_way.is_idle()
            && let Place::Behind { .. } = self.place
        {
            self.place = if self.is_whole() { Place::Head(Head::default()) } else { Place::Unknown };
        }
        match &mut self.place {
            Place::Head(head) => {
                let Some(end) = head.take(bytes) else { return };
                self.under_way.sees_head(head.has_length);
                let family = head.family.unwrap_or(Family::OpenAi);
                self.place = Place::Behind { family, read: 0, last: [0; 4] };
                self.waits_for = None;
                self.see_behind(&bytes[end..]);
            }
            Place::Behind { .. } => self.see_behind(bytes),
            Place::Unknown => {}
        }
    }

    fn see_behind(&mut self, bytes: &[u8]) {
        if let Place::Behind { read, last, .. } = &mut self.place {
            *read += bytes.len() as u64;
            match bytes.last_chunk() {
                Some(new) => *last = *new,
                None => {
                    last.rotate_left(bytes.len());
                    last[4 - bytes.len()..].copy_from_slice(bytes);
                }
            }
        }
    }

    /// True when all that was to come of a request has, and nothing else.
    fn is_whole(&self) -> bool {
        match &self.place {
            Place::Head(head) => !head.has_begun(),
            Place::Behind { read, last, .. } => self.under_way.ended_with(*read, last == b"\r\n\r\n"),
            Place::Unknown => false,
        }
    }

    /// The API that was called, as far as that is known.
    fn family(&self) -> Family {
        match &self.place {
            Place::Head(head) => head.family.unwrap_or_else(|| Family::of_line(&head.line)),
            Place::Behind { family, .. } => *family,
            Place::Unknown => Family::OpenAi,
        }
    }

    /// A refusal of HTTP's reader, with words.
    fn word(&self, bytes: &[u8]) -> Option<Vec<u8>> {
        let head = bytes.strip_suffix(b"\r\n").filter(|head| head.starts_with(REFUSES))?;
        let at = memmem::find(head, NO_WORDS).filter(|_| memmem::find(head, OURS).is_none())?;
        let status = StatusCode::from_bytes(head.get(9..12)?).ok()?;
        Some(worded(status, self.family(), &head[..at], &head[at + NO_WORDS.len()..]))
    }
}

/// An answer of this status, whose head begins and ends with these lines.
fn worded(status: StatusCode, family: Family, before: &[u8], behind: &[u8]) -> Vec<u8> {
    let message = match status {
        StatusCode::REQUEST_TIMEOUT => "expected the head of a request sooner: it did not come in time",
        StatusCode::URI_TOO_LONG => "expected an address of less than 64 KiB, got a longer one",
        StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE => {
            "expected the head of a request of at most 64 KiB and 100 lines, got a larger one"
        }
        _ => "expected the head of a request in HTTP/1.1, got something else",
    };
    let body = Refusal::new(status, "invalid_request_error", message).body(family).to_string();
    let id = unique();
    let beside = match family {
        Family::Anthropic => format!("request-id: req_{id}\r\n"),
        _ => String::new(),
    };
    let lines = format!(
        "content-type: application/json\r\ncontent-length: {}\r\nx-request-id: req_{id}\r\n{beside}",
        body.len()
    );
    [before, lines.as_bytes(), behind, b"\r\n", body.as_bytes()].concat()
}

impl<S: AsyncRead + AsyncWrite + Unpin> Heads<S> {
    /// Nothing has come: of a head that has begun, something has to in time, and a head where there is no request.
    fn wait(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let wait = match &self.place {
            Place::Head(head) if head.has_begun() => Wait::Head,
            _ if self.under_way.is_idle() => Wait::Request,
            _ => return Poll::Pending,
        };
        ready!(self.poll_late(wait, context));
        self.waits_for = None;
        if wait == Wait::Head && !self.waits {
            let line = b"HTTP/1.1 408 Request Timeout\r\nconnection: close\r\n";
            let told = worded(StatusCode::REQUEST_TIMEOUT, self.family(), line, b"");
            // It fits, as nothing waits to be taken.
            let _ = Pin::new(&mut self.stream).poll_write(context, &told);
        }
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }

    /// Writes, or words where `first` is a refusal without any.
    fn write(
        &mut self,
        context: &mut Context<'_>,
        first: &[u8],
        write: impl FnOnce(Pin<&mut S>, &mut Context<'_>) -> Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        if self.worded.is_none() && self.under_way.is_idle() {
            self.worded = self.word(first).map(|answer| (answer, 0));
        }
        let Some((answer, done)) = &mut self.worded else {
            let written = write(Pin::new(&mut self.stream), context);
            self.waits = written.is_pending();
            return written;
        };
        while *done < answer.len() {
            match ready!(Pin::new(&mut self.stream).poll_write(context, &answer[*done..]))? {
                0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                more => *done += more,
            }
        }
        self.worded = None;
        Poll::Ready(Ok(first.len()))
    }

    /// Takes what still comes of a request that was not read to its end.
    fn linger(&mut self, context: &mut Context<'_>) -> Poll<()> {
        if self.is_whole() {
            return Poll::Ready(());
        }
        let mut room = [0; 4096];
        loop {
            let mut into = ReadBuf::new(&mut room);
            match Pin::new(&mut self.stream).poll_read(context, &mut into) {
                Poll::Ready(Ok(())) if !into.filled().is_empty() => {}
                Poll::Ready(_) => return Poll::Ready(()),
                Poll::Pending => break,
            }
        }
        self.poll_late(Wait::End, context)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for Heads<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = into.filled().len();
        match Pin::new(&mut self.stream).poll_read(context, into) {
            Poll::Ready(Ok(())) => {
                self.see(&into.filled()[before..]);
                Poll::Ready(Ok(()))
            }
            Poll::Ready(error) => Poll::Ready(error),
            Poll::Pending => self.wait(context),
        }
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Heads<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.write(context, bytes, |stream, context| stream.poll_write(context, bytes))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let first = parts.first().map_or(&[][..], |part| part);
        self.write(context, first, |stream, context| stream.poll_write_vectored(context, parts))
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(Pin::new(&mut self.stream).poll_shutdown(context))?;
        self.linger(context).map(Ok)
    }
}

#[cfg(test)]
mod tests {
    use axum::http::Request;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream, duplex};

    use super::*;

    const PATIENCE: Duration = Duration::from_millis(100);

    fn pair() -> (DuplexStream, Heads<DuplexStream>, Arc<UnderWay>) {
        let (theirs, ours) = duplex(4096);
        let under_way = Arc::<UnderWay>::default();
        let limits = Limits { head: PATIENCE, silence: 10 * PATIENCE };
        let heads = Heads::new(ours, Arc::clone(&under_way), limits);
        (theirs, heads, under_way)
    }

    async fn read(heads: &mut Heads<DuplexStream>) -> io::Result<usize> {
        heads.read(&mut [0; 4096]).await
    }

    #[tokio::test]
    async fn half_a_head_is_not_waited_for_and_silence_is() {
        let (mut theirs, mut heads, under_way) = pair();
        let silent = tokio::time::timeout(4 * PATIENCE, read(&mut heads)).await;
        assert!(silent.is_err(), "{silent:?}");
        theirs.write_all(b"GET /a HTTP/1.1\r\n\r\n").await.unwrap();
        read(&mut heads).await.unwrap();
        drop(under_way.begin(&Request::new(axum::body::Body::empty())));
        let silent = tokio::time::timeout(4 * PATIENCE, read(&mut heads)).await;
        assert!(silent.is_err(), "{silent:?}");
        for piece in [&b"POST /v1/mess"[..], b"ages HTTP/1.1\r\nhost"] {
            theirs.write_all(piece).await.unwrap();
            read(&mut heads).await.unwrap();
        }
        let error = read(&mut heads).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        drop(heads);
        let mut told = String::new();
        theirs.read_to_string(&mut told).await.unwrap();
        let (head, body) = told.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 408 ") && body.starts_with("{\"type\":\"error\""), "{told}");
        assert!(head.contains(&format!("content-length: {}\r\n", body.len())), "{told}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_silent_connection_ends_without_a_word_and_each_request_begins_a_new_silence() {
        let (mut theirs, mut heads, under_way) = pair();
        for pause in [9, 0, 9] {
            tokio::time::sleep(pause * PATIENCE).await;
            theirs.write_all(b"GET /a HTTP/1.1\r\n\r\n").await.unwrap();
            read(&mut heads).await.unwrap();
            let begun = under_way.begin(&Request::new(axum::body::Body::empty()));
            let answering = tokio::time::timeout(20 * PATIENCE, read(&mut heads)).await;
            assert!(answering.is_err(), "nothing more is wanted of a client that waits: {answering:?}");
            drop(begun);
            let silent = tokio::time::timeout(9 * PATIENCE, read(&mut heads)).await;
            assert!(silent.is_err(), "{silent:?}");
            theirs.write_all(b"\r\n").await.unwrap();
            read(&mut heads).await.unwrap();
        }
        let (begun, error) = (Instant::now(), read(&mut heads).await.unwrap_err());
        assert_eq!((error.kind(), begun.elapsed()), (io::ErrorKind::TimedOut, 10 * PATIENCE));
        drop(heads);
        let mut told = String::new();
        theirs.read_to_string(&mut told).await.unwrap();
        assert_eq!(told, "");
    }
}
