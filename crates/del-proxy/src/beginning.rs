//! What an answer begins with. Some servers answer with status 200 whatever happens, say who speaks, and fail then: nobody
//! has heard of such an answer, so it is none.

use std::pin::Pin;

use del_wire::{ApiError, ApiErrorKind, Decoder, Delta, Frame, FromServer, Heard, ServerApi};
use http_body::Body as _;
use memchr::memmem;

use crate::pieces::Pieces;
use crate::refusal::Refusal;
use crate::timed::{Interruption, Timed};

/// An error in the place of an answer, and all that the server said with it.
#[derive(Debug)]
pub(crate) struct InPlace {
    pub(crate) error: ApiError,
    pub(crate) said: String,
}

/// Why an answer has no first word.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Wordless {
    /// It broke off.
    #[error(transparent)]
    BrokenOff(Interruption),
    /// It ended as if it were whole.
    #[error("it ended")]
    Ended,
    /// It is something else, which begins so.
    #[error("expected JSON, got `{0}`")]
    Garbage(String),
}

/// So much of an answer is looked at. Some begin with all of their request, twice.
const MOST: usize = 1 << 20;
/// A member of such a chunk of llama.cpp's.
const PROGRESS: &str = "\"prompt_progress\"";

impl InPlace {
    /// True when the server is at fault, or says nothing of what it is: then the request may be.
    pub(crate) fn says_why(&self) -> bool {
        self.error.kind != ApiErrorKind::Other
    }

    /// Waits for the first word of an answer: text, thinking, a call, or its end. Gives back the error that stands before
    /// it, or else puts all back that came.
    pub(crate) async fn find(body: &mut Timed, api: ServerApi) -> Result<Option<Self>, Wordless> {
        let mut search = Search::new(api);
        let (mut came, mut over) = (Pieces::default(), false);
        while came.len() < MOST && search.goes_on() {
            let next = std::future::poll_fn(|context| Pin::new(&mut *body).poll_frame(context)).await;
            match next.transpose().map_err(Wordless::BrokenOff)? {
                // Trailers say nothing.
                Some(frame) => {
                    let bytes = frame.into_data().unwrap_or_default();
                    search.push(&bytes);
                    came.add(bytes);
                }
                None => {
                    search.end()?;
                    over = true;
                }
            }
        }
        if let Found::Error(error) = search.found {
            return Ok(Some(error));
        }
        body.put_back(came.into_bytes(), over);
        Ok(None)
    }
}

impl Wordless {
    /// What the client of the server at this address is told, where no other one is asked.
    pub(crate) fn refusal(&self, place: &str) -> Refusal {
        match self {
            Self::BrokenOff(Interruption::Silence) => {
                Refusal::too_late(format!("the model server at {place} did not answer in time: {self}"))
            }
            Self::BrokenOff(_) | Self::Ended => Refusal::bad_gateway(format!(
                "the model server at {place} broke off before the first word of its answer: {self}"
            )),
            Self::Garbage(_) => Refusal::no_answer(self),
        }
    }
}

/// The search for the first word, or for an error before it.
struct Search {
    decoder: Decoder,
    server: FromServer,
    api: ServerApi,
    found: Found,
}

enum Found {
    /// Nothing that says something.
    Nothing,
    /// A word, or what is for others to read.
    Word,
    Error(InPlace),
}

impl Search {
    fn new(api: ServerApi) -> Self {
        Self { decoder: Decoder::new(), server: api.reader(), api, found: Found::Nothing }
    }

    fn goes_on(&self) -> bool {
        matches!(self.found, Found::Nothing)
    }

    fn push(&mut self, mut bytes: &[u8]) {
        let mut decoder = std::mem::take(&mut self.decoder);
        let end: &[u8] = if self.api == ServerApi::Ollama { b"\n" } else { b"\n\n" };
        // One event after the other: what follows the first word is for others to read.
        while !bytes.is_empty() && self.goes_on() {
            let event = memmem::find(bytes, end).map_or(bytes.len(), |at| at + end.len());
            if decoder.push(&bytes[..event], &mut |frame| self.frame(frame)).is_err() {
                self.found = Found::Word;
            }
            bytes = &bytes[event..];
        }
        self.decoder = decoder;
    }

    /// The answer is over.
    fn end(&mut self) -> Result<(), Wordless> {
        self.push(b"\n");
        let decoder = std::mem::take(&mut self.decoder);
        let stray = decoder.stray().map(str::to_owned);
        if decoder.finish(&mut |frame| self.frame(frame)).is_err() {
            self.found = Found::Word;
        }
        match (&self.found, stray) {
            (Found::Nothing, Some(line)) => Err(Wordless::Garbage(line)),
            (Found::Nothing, None) => Err(Wordless::Ended),
            _ => Ok(()),
        }
    }

    fn frame(&mut self, frame: Frame<'_>) {
        if !self.goes_on() {
            return;
        }
        let Frame::Data { data, .. } = frame else {
            self.found = Found::Word;
            return;
        };
        if matches!(self.api, ServerApi::OpenAi | ServerApi::Ollama) && speaks(data) {
            self.found = Found::Word;
            return;
        }
        // An answer that comes at once is one, even if it says nothing.
        let is_whole = self.api == ServerApi::OpenAi && data.contains("\"message\"");
        let error = match self.server.event(data) {
            Ok(Heard::Nothing) => return,
            Ok(Heard::Chunk(chunk, _)) if chunk.error.is_some() => chunk.error.clone(),
            Ok(Heard::Chunk(chunk, _)) if !is_whole && !chunk.choices.iter().any(says) => return,
            Ok(_) => None,
            Err(_) => self.api.reader().whole(data).ok().and_then(|chunk| chunk.error),
        };
        self.found = match error {
            Some(error) => Found::Error(InPlace { error: *error, said: data.to_owned() }),
            None => Found::Word,
        };
    }
}

/// True for most words of chats, which a look tells: they have a text, or the reason of an end. What llama.cpp says of its way
/// through a long prompt counts as one: clients that ask for it watch it.
fn speaks(data: &str) -> bool {
    let speaks = data.contains("\"content\":\"") && !data.contains("\"content\":\"\"")
        || data.contains("\"finish_reason\":\"") && !data.contains("\"finish_reason\":\"\"")
        || data.contains(PROGRESS);
    speaks && !data.contains("\"error\"")
}

/// It has something of the answer, or ends it.
fn says(delta: &Delta) -> bool {
    delta.adds() || delta.finish.is_some() || !delta.unread.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(api: ServerApi, said: &str) -> (&'static str, bool) {
        let mut search = Search::new(api);
        search.push(said.as_bytes());
        let came = !search.goes_on();
        let ended = search.end().is_ok();
        match search.found {
            Found::Nothing => ("nothing", ended),
            Found::Word if came => ("word", ended),
            // A document that is not followed by a line end is read once it is over.
            Found::Word => ("whole", ended),
            Found::Error(_) => ("error", ended),
        }
    }

    #[test]
    fn a_chat_speaks_with_text_thinking_calls_and_its_end() {
        let of = |delta: &str, reason: &str| {
            format!("data: {{\"choices\":[{{\"delta\":{{{delta}}},\"finish_reason\":{reason}}}]}}\n\n")
        };
        for (delta, reason, is) in [
            (r#""role":"assistant""#, "null", "nothing"),
            (r#""role":"assistant","content":"","refusal":null"#, "null", "nothing"),
            (r#""role":"assistant","content":null,"tool_calls":[]"#, "null", "nothing"),
            (r#""content":"a""#, "null", "word"),
            (r#""content": "a""#, "null", "word"),
            (r#""content":"\"""#, "null", "word"),
            (r#""content":"\"error\"""#, "null", "word"),
            (r#""reasoning_content":"a""#, "null", "word"),
            (r#""refusal":"No.""#, "null", "word"),
            (r#""tool_calls":[{"index":0,"function":{"name":"f"}}]"#, "null", "word"),
            (r#""audio":{"data":"AA"}"#, "null", "word"),
            ("", r#""stop""#, "word"),
            ("", r#""""#, "nothing"),
        ] {
            let said = of(delta, reason);
            assert_eq!(found(ServerApi::OpenAi, &said), (is, is == "word"), "{said}");
        }
        for (said, is) in [
            ("data: [DONE]\n\n", "word"),
            (": waits\n\n", "nothing"),
            ("data: {\"choices\":[],\"usage\":{\"prompt_tokens\":1}}\n\n", "nothing"),
            (
                "data: {\"error\":{\"message\":\"no\"},\"choices\":[{\"delta\":{\"content\":\"no\"}}]}\n\n",
                "error",
            ),
            ("data: {\"message\":\"no\"}\n\n", "error"),
            // Others tell what is wrong with it.
            ("data: {\"own\":1}\n\n", "word"),
            ("{\"choices\":[{\"message\":{\"content\":null},\"finish_reason\":\"stop\"}]}", "whole"),
            ("{\"choices\":[{\"message\":{\"content\":\"\"},\"finish_reason\":null}]}", "whole"),
            ("{\"choices\":[{\"message\":", "whole"),
        ] {
            assert_eq!(found(ServerApi::OpenAi, said), (is, is != "nothing"), "{said}");
        }
    }
}
