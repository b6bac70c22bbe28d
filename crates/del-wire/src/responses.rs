//! OpenAI's responses.

pub mod compaction;
mod echo;
mod events;
pub mod from_client;
pub mod from_server;
mod item;
mod namespace;
pub mod past;
pub mod to_client;
pub(crate) mod to_server;

use serde_json::{Map, Value};

use crate::own;

pub use self::echo::Echo;

/// What only servers of this API can do with a request, as a member of it on its way.
pub(crate) const OWN: &str = own::RESPONSES;

/// What a request includes for the answer to say how likely its tokens were.
const LOGPROBS: &str = "message.output_text.logprobs";
/// The same for thoughts that nobody but the server reads.
pub(crate) const SEALS: &str = "reasoning.encrypted_content";

/// True where a request for a chat completion came from a client of this API that wants the seals on thoughts.
pub fn wants_seals(body: &Map<String, Value>) -> bool {
    let include = body.get(OWN).and_then(|own| own["include"].as_array());
    include.is_some_and(|include| include.iter().any(|what| what == SEALS))
}
