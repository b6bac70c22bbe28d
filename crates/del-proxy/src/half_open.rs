//! A client that has closed its writing half. It may wait for its answer, or be gone: the connection tells that only when
//! something is written to it. So it gets signs of life, upon which the system of a client that is gone says so.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use socket2::{SockRef, TcpKeepalive};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::Sleep;

use crate::under_way::UnderWay;

/// So soon a client that has closed its writing half gets the first sign of life, and so often later: between two, the time
/// doubles. Most that close it are gone, which shows at the second.
const SOON: Duration = Duration::from_millis(50);
const LOOK: Duration = Duration::from_secs(1);
/// Before an answer has begun, any client of HTTP/1.1 reads past this.
const INTERIM: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\n";

/// A connection that stays open for an answer when the client has closed its half, unless it is gone.
#[derive(Debug)]
pub(crate) struct HalfOpen {
    stream: TcpStream,
    under_way: Arc<UnderWay>,
    /// Runs once the client has closed its half.
    look: Option<Pin<Box<Sleep>>>,
    wait: Duration,
}

impl HalfOpen {
    pub(crate) fn new(stream: TcpStream, under_way: Arc<UnderWay>) -> Self {
        Self { stream, under_way, look: None, wait: SOON }
    }

    /// Waits until the answer has gone out, or the client shows that it is gone.
    fn until_over(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        while self.under_way.owes_answer() {
            let look = self.look.get_or_insert_with(|| {
                // Where no sign of life can be given: a system that forgets the connection, after a minute, says so too.
                let keep_alive = TcpKeepalive::new().with_time(LOOK).with_interval(10 * LOOK);
                let _ = SockRef::from(&self.stream).set_tcp_keepalive(&keep_alive);
                Box::pin(tokio::time::sleep(self.wait))
            });
            ready!(look.as_mut().poll(context));
            self.wait = LOOK.min(2 * self.wait);
            look.set(tokio::time::sleep(self.wait));
            if let Some(error) = self.stream.take_error()? {
                return Poll::Ready(Err(error));
            }
            if !self.under_way.takes_interim() {
                self.under_way.ask_for_word();
            } else if self.stream.try_write(INTERIM)? < INTERIM.len() {
                // Of what waits to be taken, nothing is left: there is room for more than this.
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncRead for HalfOpen {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.look.is_none() {
            let before = into.filled().len();
            ready!(Pin::new(&mut self.stream).poll_read(context, into))?;
            if into.filled().len() > before {
                return Poll::Ready(Ok(()));
            }
        }
        self.until_over(context)
    }
}

impl AsyncWrite for HalfOpen {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.under_way.writes();
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.under_way.writes();
        Pin::new(&mut self.stream).poll_write_vectored(context, parts)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
