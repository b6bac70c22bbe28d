//! Conversations that clients of Responses want shorter. A server of that API does it itself; for any other, its model
//! sums up.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, Request, Response};
use axum::response::IntoResponse;
use del_agent::prompt;
use del_wire::ServerApi;
use del_wire::responses::compaction::{is_record, response};
use serde_json::Value;

use crate::api::Api;
use crate::document::Document;
use crate::lists;
use crate::of_model::OfModel;
use crate::proxy::{DROPPED, Proxy, shortened};
use crate::refusal::Refusal;
use crate::stamp::{response_id, unique};

type Shared = State<Arc<Proxy>>;
type Outcome = Result<Response<Body>, Refusal>;

/// So many bytes of what the user said stay as they are, the newest.
const KEPT: usize = 64 << 10;

/// What the user said, and a summary.
pub(crate) async fn compact(State(proxy): Shared, request: Request<Body>) -> Outcome {
    let OfModel { parts, setup, route, model, body, bytes } =
        OfModel::read(&proxy, request, &["model"]).await?;
    if route.api == ServerApi::Responses {
        return proxy.pass(&setup, &route, &parts, "/responses/compact", bytes).await;
    }
    let taken = Api::Responses.take(body, None, &proxy.memory.of(&parts.extensions))?;
    let conversation = taken.conversation.unwrap_or_default();
    if conversation.is_empty() {
        return Err(Refusal::bad_request("expected a conversation as `input`, got an empty one"));
    }
    let mut left_out: Vec<String> = taken.asked.unread.into_iter().collect();
    left_out.extend(conversation.iter().flat_map(|message| ServerApi::OpenAi.left_out_of(message)));
    left_out.sort();
    left_out.dedup();
    let (summary, cost) = shortened(&proxy, &parts, &model, &conversation).await?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let id = response_id(&unique());
    let said = response(&id, now, &kept(&conversation), &summary, cost);
    let mut headers = HeaderMap::new();
    lists::insert(&mut headers, DROPPED, &left_out);
    Ok((headers, Document(said)).into_response())
}

/// The newest of what the user said.
fn kept(conversation: &[Value]) -> Vec<Value> {
    let said = conversation.iter().filter(|message| message["role"] == "user");
    let said = said.filter(|message| !message["content"].as_str().is_some_and(prompt::is_summary));
    let said = said.filter(|message| !is_record(message));
    let mut room = KEPT;
    let fits = |message: &&Value| {
        let size = message.to_string().len();
        let fits = size <= room;
        room = room.saturating_sub(size);
        fits
    };
    let mut kept: Vec<Value> = said.rev().take_while(fits).cloned().collect();
    kept.reverse();
    kept
}
