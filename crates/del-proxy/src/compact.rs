//! Conversations that clients of Responses want shorter. A server of that API does it itself; for any other, its model
//! sums up.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use axum::body::{Body, to_bytes};
use axum::extract::State;
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, Request, Response, Uri, header};
use axum::response::IntoResponse;
use del_agent::prompt;
use del_dialects::{Collect, Dialects, End, Turn};
use del_wire::responses::compaction::{as_text, response};
use del_wire::{Chunk, ServerApi, Usage};
use serde_json::{Value, json};

use crate::api::Api;
use crate::document::Document;
use crate::lists;
use crate::of_model::OfModel;
use crate::proxy::{DROPPED, Proxy};
use crate::refusal::Refusal;
use crate::stamp::{response_id, unique};

type Shared = State<Arc<Proxy>>;
type Outcome = Result<Response<Body>, Refusal>;

/// Characters of each result that a summary is made of: fewer where the model cannot read as much.
const SUMMED: [usize; 3] = [1500, 400, 100];
/// So many bytes of what the user said stay as they are, the newest.
const KEPT: usize = 64 << 10;
/// The longest answer that is read.
const LONGEST: usize = 32 << 20;

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
    let mut lengths = SUMMED.into_iter().peekable();
    let (summary, cost) = loop {
        let length = lengths.next().unwrap_or_default();
        match sum_up(&proxy, &parts, &model, &as_text(&conversation, length)).await {
            Err(refusal) if refusal.is_too_long() && lengths.peek().is_some() => {}
            told => break told?,
        }
    };
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let id = response_id(&unique());
    let said = response(&id, now, &kept(&conversation), &prompt::summary(&summary, None), cost);
    let mut headers = HeaderMap::new();
    lists::insert(&mut headers, DROPPED, &left_out);
    Ok((headers, Document(said)).into_response())
}

/// The newest of what the user said.
fn kept(conversation: &[Value]) -> Vec<Value> {
    let said = conversation.iter().filter(|message| message["role"] == "user");
    let said = said.filter(|message| !message["content"].as_str().is_some_and(prompt::is_summary));
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

/// The model's summary of a conversation, and what it cost.
async fn sum_up(
    proxy: &Arc<Proxy>,
    parts: &Parts,
    model: &str,
    conversation: &str,
) -> Result<(String, Usage), Refusal> {
    let question = prompt::sum_up(&Dialects::builtin().neutralise(conversation), "");
    let mut asked = json!({"model": model, "messages": [
        {"role": "system", "content": prompt::SUMMER}, {"role": "user", "content": question}]});
    if proxy.setup().settings.executor.is_some() {
        // Else the tools that run here would be offered.
        asked["tool_choice"] = json!("none");
    }
    let mut request = Request::new(Body::from(asked.to_string()));
    *request.method_mut() = Method::POST;
    *request.uri_mut() = Uri::from_static("/v1/chat/completions");
    *request.headers_mut() = parts.headers.clone();
    for about_body in [header::CONTENT_LENGTH, header::CONTENT_ENCODING, header::TRANSFER_ENCODING] {
        request.headers_mut().remove(about_body);
    }
    *request.extensions_mut() = parts.extensions.clone();
    let answer = Arc::clone(proxy).answer(Api::Chat, request).await?;
    let said = to_bytes(answer.into_body(), LONGEST).await;
    let said = said.map_err(|error| Refusal::bad_gateway(format!("the summary broke off: {error}")))?;
    let chunk = Chunk::read_whole(&String::from_utf8_lossy(&said));
    let chunk = chunk.map_err(|error| Refusal::bad_gateway(error.to_string()))?;
    let text = chunk.choices.into_iter().find_map(|choice| choice.content).unwrap_or_default();
    // What it thought aloud is no part of it.
    let mut message = Collect::new();
    let mut parser = Dialects::builtin().parser(Turn::default());
    parser.push(&text, &mut message);
    parser.finish(End::End, &mut message);
    let summary = Dialects::builtin().restore(message.into_message().content.trim()).into_owned();
    if summary.is_empty() {
        return Err(Refusal::bad_gateway("expected a summary from the model, got none"));
    }
    Ok((summary, chunk.usage.unwrap_or_default()))
}
