//! OpenAI's Responses.

pub mod from_client;
pub mod to_client;
