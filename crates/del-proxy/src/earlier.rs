//! Earlier responses, for clients that ask for one again. They come from memory, where they are as long as there is room.

use std::sync::Arc;

use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::http::request::Parts;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::document::Document;
use crate::proxy::Proxy;
use crate::refusal::Refusal;

type Shared = State<Arc<Proxy>>;
type Outcome = Result<Document, Refusal>;

/// What a client may ask of a response.
#[derive(Debug, Deserialize)]
pub(crate) struct Wanted {
    #[serde(default)]
    stream: bool,
}

/// Which part of a list a client asks for.
#[derive(Debug, Deserialize)]
pub(crate) struct Page {
    after: Option<String>,
    #[serde(default = "usual")]
    limit: usize,
    #[serde(default)]
    order: Order,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Order {
    Asc,
    #[default]
    Desc,
}

fn usual() -> usize {
    20
}

/// A response.
pub(crate) async fn response(
    State(proxy): Shared,
    Path(id): Path<String>,
    wanted: Result<Query<Wanted>, QueryRejection>,
    parts: Parts,
) -> Outcome {
    let Query(wanted) = wanted.map_err(|error| unreadable(&error))?;
    let answer = proxy.memory.of(&parts.extensions).answer(&id).ok_or_else(|| unknown(&id))?;
    if wanted.stream {
        return Err(Refusal::bad_request("expected a response that runs in the background for `stream`")
            .hint("nothing runs in the background here; ask for the response without `stream`"));
    }
    Ok(Document(answer))
}

/// Forgets a response.
pub(crate) async fn delete(State(proxy): Shared, Path(id): Path<String>, parts: Parts) -> Outcome {
    if !proxy.memory.of(&parts.extensions).forget(&id) {
        return Err(unknown(&id));
    }
    Ok(Document(json!({"id": id, "object": "response", "deleted": true})))
}

/// Only what runs in the background can be cancelled, and nothing does.
pub(crate) async fn cancel(State(proxy): Shared, Path(id): Path<String>, parts: Parts) -> Outcome {
    proxy.memory.of(&parts.extensions).answer(&id).ok_or_else(|| unknown(&id))?;
    Err(Refusal::bad_request("expected a response that runs in the background, got one that is over"))
}

/// What a response was given to, the newest first unless the client wants it otherwise.
pub(crate) async fn input_items(
    State(proxy): Shared,
    Path(id): Path<String>,
    page: Result<Query<Page>, QueryRejection>,
    parts: Parts,
) -> Outcome {
    let Query(Page { after, limit, order }) = page.map_err(|error| unreadable(&error))?;
    if !(1..=100).contains(&limit) {
        return Err(Refusal::bad_request(format!("expected a `limit` from 1 to 100, got {limit}")));
    }
    let mut items = proxy.memory.of(&parts.extensions).asked(&id).ok_or_else(|| unknown(&id))?;
    if matches!(order, Order::Desc) {
        items.reverse();
    }
    if let Some(after) = after {
        let place = items.iter().position(|item| item["id"] == after);
        let place = place.ok_or_else(|| {
            Refusal::bad_request(format!("expected the id of one of the items as `after`, got `{after}`"))
        })?;
        items.drain(..=place);
    }
    let has_more = items.len() > limit;
    items.truncate(limit);
    let id_of = |item: Option<&Value>| item.map(|item| item["id"].clone());
    let (first, last) = (id_of(items.first()), id_of(items.last()));
    Ok(Document(
        json!({"object": "list", "data": items, "first_id": first, "last_id": last, "has_more": has_more}),
    ))
}

fn unknown(id: &str) -> Refusal {
    Refusal::not_found(format!("Response with id '{id}' not found."))
        .hint("responses are kept in memory, the newest, as --response-memory says")
}

fn unreadable(error: &QueryRejection) -> Refusal {
    Refusal::new(StatusCode::BAD_REQUEST, "invalid_request_error", error.body_text())
}
