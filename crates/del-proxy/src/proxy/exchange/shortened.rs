//! A response that is no answer, but stands for the conversation so far from now on.

use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, Response, StatusCode, header};
use axum::response::IntoResponse;
use del_wire::responses::compaction::{TRIGGER, item};
use del_wire::{Chunk, Piece, Told, ToldChoice};

use super::Exchange;
use super::outcome::DROPPED;
use crate::lists;
use crate::proxy::shortened;
use crate::refusal::Refusal;
use crate::stamp::unique;

impl Exchange {
    pub(super) async fn shortened(&self) -> Result<Response<Body>, Refusal> {
        let conversation = self.request.conversation();
        if conversation.is_empty() {
            return Err(Refusal::bad_request("expected a conversation as `input`, got an empty one"));
        }
        let (summary, cost) = shortened(&self.proxy, &self.parts, &self.about.model, conversation).await?;
        let mut client = self.api.client(&self.about, &unique());
        let pieces = vec![Piece::Compaction(item(&summary))];
        let choice =
            ToldChoice { first: true, pieces, reason: Some("stop".to_owned()), ..ToldChoice::default() };
        let chunk = Chunk { usage: Some(cost), ..Chunk::default() };
        let told = Told { raw: None, chunk: &chunk, choices: vec![choice] };
        let (kind, body) = if self.request.streams() {
            let mut out = Vec::new();
            client.tell(&told, &mut out);
            client.done(&[], &mut out);
            (client.content_type(), Body::from(out))
        } else {
            ("application/json", Body::from(client.whole(&told)))
        };
        let mut headers = HeaderMap::new();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
        let left_out: Vec<&String> = self.request.left_out().iter().filter(|name| *name != TRIGGER).collect();
        lists::insert(&mut headers, DROPPED, &left_out);
        Ok((StatusCode::OK, headers, body).into_response())
    }
}
