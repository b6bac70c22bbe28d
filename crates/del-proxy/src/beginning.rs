//! What an answer begins with. Some gateways answer with status 200 whatever happens, and say what happened inside.

use std::pin::Pin;

use del_wire::{ApiError, ApiErrorKind, Decoder, Frame, FromServer, Heard, ServerApi};
use http_body::Body as _;

use crate::timed::{Came, Interruption, Timed};

/// An error in the place of an answer, and all that the server said.
#[derive(Debug)]
pub(crate) struct InPlace {
    pub(crate) error: ApiError,
    pub(crate) said: String,
}

/// So much of an answer is looked at; errors are shorter.
const MOST: usize = 64 << 10;

impl InPlace {
    /// True when the server is at fault, or says nothing of what it is: then the request may be.
    pub(crate) fn says_why(&self) -> bool {
        self.error.kind != ApiErrorKind::Other
    }

    /// Waits until it is known whether `body` is one. What came until then comes first.
    /// A body that fails meanwhile is no error in place: it fails so.
    pub(crate) async fn find(body: &mut Timed, api: ServerApi) -> Result<Option<Self>, Interruption> {
        let mut search = Search::new(api);
        let mut came: Vec<Came> = Vec::new();
        let mut looked_at = 0;
        while looked_at < MOST && search.goes_on() {
            let next = std::future::poll_fn(|context| Pin::new(&mut *body).poll_frame(context)).await;
            match &next {
                Some(Ok(frame)) => {
                    let bytes = frame.data_ref().map_or(&[][..], |bytes| bytes);
                    looked_at += bytes.len();
                    search.push(bytes);
                }
                Some(Err(_)) => search.found = Found::Answer,
                None => search.end(),
            }
            came.push(next);
        }
        if matches!(came.last(), Some(Some(Err(_))))
            && let Some(Some(Err(error))) = came.pop()
        {
            body.put_back(came);
            return Err(error);
        }
        body.put_back(came);
        Ok(match search.found {
            Found::Error(error) => Some(error),
            _ => None,
        })
    }
}

/// The search for an error before all else.
struct Search {
    decoder: Option<Decoder>,
    server: FromServer,
    api: ServerApi,
    found: Found,
}

enum Found {
    /// Nothing that says something.
    Nothing,
    Answer,
    Error(InPlace),
}

impl Search {
    fn new(api: ServerApi) -> Self {
        Self { decoder: Some(Decoder::new()), server: api.reader(), api, found: Found::Nothing }
    }

    fn goes_on(&self) -> bool {
        matches!(self.found, Found::Nothing)
    }

    fn push(&mut self, bytes: &[u8]) {
        let Some(mut decoder) = self.decoder.take() else { return };
        // Line by line: what follows the first event is for others to read.
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            if decoder.push(line, &mut |frame| self.frame(frame)).is_err() {
                self.found = Found::Answer;
            }
            if !self.goes_on() {
                break;
            }
        }
        self.decoder = Some(decoder);
    }

    fn end(&mut self) {
        if let Some(decoder) = self.decoder.take() {
            // What cannot be read is told by whoever reads the answer.
            let _ = decoder.finish(&mut |frame| self.frame(frame));
        }
        if self.goes_on() {
            self.found = Found::Answer;
        }
    }

    fn frame(&mut self, frame: Frame<'_>) {
        if !self.goes_on() {
            return;
        }
        let Frame::Data { data, .. } = frame else {
            self.found = Found::Answer;
            return;
        };
        // Most answers are told by a look: in these APIs the first event says something.
        let at_once = matches!(self.api, ServerApi::OpenAi | ServerApi::Ollama);
        if at_once && !data.contains("\"error\"") {
            self.found = Found::Answer;
            return;
        }
        let error = match self.server.event(data) {
            Ok(Heard::Nothing) => None,
            Ok(Heard::Chunk(chunk, _)) if chunk.error.is_some() => chunk.error.clone(),
            Ok(Heard::Chunk(chunk, _)) if !at_once && !chunk.choices.iter().any(says) => None,
            _ => {
                self.found = Found::Answer;
                None
            }
        };
        let error = error.or_else(|| self.api.reader().whole(data).ok()?.error);
        if let Some(error) = error {
            self.found = Found::Error(InPlace { error: *error, said: data.to_owned() });
        }
    }
}

fn says(delta: &del_wire::Delta) -> bool {
    delta.adds() || delta.finish.is_some()
}
