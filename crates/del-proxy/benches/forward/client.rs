//! Clients that cost little themselves.

use std::net::SocketAddr;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::Result;

/// A connection that stays open.
pub(crate) struct Client {
    stream: TcpStream,
    bytes: Vec<u8>,
}

impl Client {
    pub(crate) async fn connect(address: SocketAddr) -> Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, bytes: Vec::with_capacity(32 << 10) })
    }

    /// The whole answer to a request, head included.
    pub(crate) async fn ask(&mut self, request: &[u8]) -> Result<&[u8]> {
        self.send(request).await?;
        while !is_whole(&self.bytes) {
            if !self.more().await? {
                return Err("expected a whole answer, got the end of the connection".into());
            }
        }
        Ok(&self.bytes)
    }

    pub(crate) async fn send(&mut self, request: &[u8]) -> Result<()> {
        self.bytes.clear();
        self.stream.write_all(request).await?;
        Ok(())
    }

    /// Waits for more of the answer. False at the end of the connection.
    pub(crate) async fn more(&mut self) -> Result<bool> {
        Ok(self.stream.read_buf(&mut self.bytes).await? > 0)
    }

    /// What came of the answer.
    pub(crate) fn answer(&self) -> &[u8] {
        &self.bytes
    }
}

/// True when an answer has come to its end, in whichever way that is told.
pub(crate) fn is_whole(bytes: &[u8]) -> bool {
    if bytes.ends_with(b"\r\n0\r\n\r\n") {
        return true;
    }
    let Some(head) = bytes.windows(4).position(|four| four == b"\r\n\r\n") else { return false };
    let head = &bytes[..head + 4];
    let text = str::from_utf8(head).unwrap_or_default();
    let length = text.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().ok())?
    });
    length.is_some_and(|length| bytes.len() >= head.len() + length)
}

/// What came, for a message.
pub(crate) fn shown(bytes: &[u8]) -> String {
    String::from_utf8_lossy(&bytes[..bytes.len().min(400)]).into_owned()
}
