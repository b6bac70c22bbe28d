//! A connection whose other side has to take what it is sent.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Sleep;

/// A connection that fails when the other side takes nothing for too long.
#[derive(Debug)]
pub(crate) struct Taking<S> {
    stream: S,
    patience: Duration,
    /// Runs while something waits to be taken.
    timer: Option<Pin<Box<Sleep>>>,
}

impl<S: AsyncWrite + Unpin> Taking<S> {
    pub(crate) fn new(stream: S, patience: Duration) -> Self {
        Self { stream, patience, timer: None }
    }

    /// What came of writing, or an error where nothing has for too long.
    fn in_time<T>(
        &mut self,
        context: &mut Context<'_>,
        write: impl FnOnce(Pin<&mut S>, &mut Context<'_>) -> Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        let written = write(Pin::new(&mut self.stream), context);
        if written.is_ready() {
            self.timer = None;
            return written;
        }
        let patience = self.patience;
        let timer = self.timer.get_or_insert_with(|| Box::pin(tokio::time::sleep(patience)));
        timer.as_mut().poll(context).map(|()| {
            self.timer = None;
            Err(io::ErrorKind::TimedOut.into())
        })
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Taking<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, into)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Taking<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.in_time(context, |stream, context| stream.poll_write(context, bytes))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.in_time(context, |stream, context| stream.poll_write_vectored(context, parts))
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.in_time(context, AsyncWrite::poll_flush)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.in_time(context, AsyncWrite::poll_shutdown)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, duplex};
    use tokio::time::Instant;

    use super::Taking;

    const PATIENCE: Duration = Duration::from_millis(200);

    #[tokio::test]
    async fn who_takes_nothing_is_left_and_who_takes_a_little_is_not() {
        let (ours, mut theirs) = duplex(4);
        let mut taking = Taking::new(ours, PATIENCE);
        taking.write_all(b"1234").await.unwrap();
        let begun = Instant::now();
        let error = taking.write_all(b"5").await.unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::TimedOut);
        assert!(begun.elapsed() >= PATIENCE);
        let slow = tokio::spawn(async move {
            let mut taken = [0; 24];
            for byte in taken.chunks_mut(1) {
                tokio::time::sleep(PATIENCE / 8).await;
                theirs.read_exact(byte).await.unwrap();
            }
            String::from_utf8(taken.to_vec()).unwrap()
        });
        let begun = Instant::now();
        taking.write_all(b"abcdefghijklmnopqrst").await.unwrap();
        assert!(begun.elapsed() > PATIENCE, "longer than anything may wait, and yet it came");
        assert_eq!(slow.await.unwrap(), "1234abcdefghijklmnopqrst");
    }
}
