//! Which models there are, as clients of OpenAI's and of Anthropic's APIs are told: each in the shape of its own.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, Response};
use axum::response::IntoResponse;
use del_wire::ServerApi;
use del_wire::time::{rfc3339, seconds};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio::task::JoinSet;

use crate::document::Document;
use crate::family::Family;
use crate::lists::percent_encoded;
use crate::member::Question;
use crate::proxy::{Proxy, Setup, text};
use crate::refusal::Refusal;
use crate::route::{Route, Routes};

type Shared = State<Arc<Proxy>>;
type Outcome = Result<Response<Body>, Refusal>;

/// The longest list that is read.
const LONGEST: usize = 32 << 20;
/// How long a server may take to list its models.
const LIST: Duration = Duration::from_secs(10);
/// Anthropic's servers list so many at once at most, and are asked so often.
const AT_ONCE: usize = 1000;
const MOST_PAGES: usize = 32;

/// Which part of the list a client of Anthropic's API asks for.
#[derive(Debug, Deserialize)]
pub(crate) struct Page {
    limit: Option<usize>,
    after_id: Option<String>,
    before_id: Option<String>,
}

/// The models of all routes.
pub(crate) async fn models(
    State(proxy): Shared,
    page: Result<Query<Page>, QueryRejection>,
    parts: Parts,
) -> Outcome {
    let setup = proxy.setup();
    let family = Family::of(&parts);
    if let Some(route) = setup.routes.only().filter(|only| is_of(family, only)) {
        return proxy.pass(&setup, route, &parts, "/models", Bytes::new()).await;
    }
    let models = listed(&proxy, &setup, &parts.headers).await?;
    if family != Family::Anthropic {
        let models: Vec<Value> = models.into_iter().map(of_openai).collect();
        return Ok(Document(json!({"object": "list", "data": models})).into_response());
    }
    let Query(page) = page.map_err(|error| Refusal::bad_request(error.body_text()))?;
    Ok(Document(page.of(models.into_iter().map(of_anthropic).collect())?).into_response())
}

/// One model.
pub(crate) async fn model(State(proxy): Shared, Path(name): Path<String>, parts: Parts) -> Outcome {
    let setup = proxy.setup();
    let family = Family::of(&parts);
    let mut own = None;
    if let Some(route) = setup.routes.only() {
        // A server may know more names than it lists, or tell of none alone.
        let path = parts.uri.path().trim_start_matches("/v1").to_owned();
        if is_of(family, route) {
            let answer = proxy.pass(&setup, route, &parts, &path, Bytes::new()).await?;
            if answer.status().is_success() {
                return Ok(answer);
            }
            own = Some(answer);
        } else if let Ok(known) = said(&proxy, &setup, route, &parts.headers, &path).await
            && known["id"].is_string()
        {
            return Ok(Document(shaped(family, known)).into_response());
        }
    }
    let models = listed(&proxy, &setup, &parts.headers).await;
    let named = |models: Vec<Value>| models.into_iter().find(|model| model["id"] == name);
    match (models.map(named), own) {
        (Ok(Some(model)), _) => Ok(Document(shaped(family, model)).into_response()),
        (_, Some(refused)) => Ok(refused),
        (Ok(None), None) => Err(Refusal::not_found(format!("there is no model `{name}`"))),
        (Err(refusal), None) => Err(refusal),
    }
}

/// True where the servers of a route list their models as such a client reads them.
fn is_of(family: Family, route: &Route) -> bool {
    (family == Family::Anthropic) == (route.api == ServerApi::Anthropic)
}

fn shaped(family: Family, model: Value) -> Value {
    if family == Family::Anthropic { of_anthropic(model) } else { of_openai(model) }
}

/// A model in the shape of Anthropic's API, with what its server says of it.
fn of_anthropic(model: Value) -> Value {
    if model["type"] == "model" {
        return model;
    }
    let name = model["display_name"].as_str().map_or(&model["id"], |_| &model["display_name"]);
    let created = model["created_at"].as_str().map_or_else(|| rfc3339(created(&model)), str::to_owned);
    json!({"type": "model", "id": model["id"], "display_name": name, "created_at": created})
}

/// A model in the shape of OpenAI's API, with what its server says of it.
fn of_openai(model: Value) -> Value {
    if model["type"] != "model" {
        return model;
    }
    let mut shaped = Map::from_iter([
        ("id".to_owned(), model["id"].clone()),
        ("object".to_owned(), json!("model")),
        ("created".to_owned(), json!(created(&model))),
        ("owned_by".to_owned(), json!("anthropic")),
    ]);
    let others = model.as_object().into_iter().flatten().filter(|(name, _)| *name != "type");
    for (name, value) in others {
        shaped.entry(name.clone()).or_insert_with(|| value.clone());
    }
    Value::Object(shaped)
}

/// When a model was made, in seconds since 1970.
pub(crate) fn created(model: &Value) -> u64 {
    let told = || model["created_at"].as_str().and_then(seconds);
    model["created"].as_u64().or_else(told).unwrap_or(0)
}

impl Page {
    /// This part of the list.
    fn of(self, mut models: Vec<Value>) -> Result<Value, Refusal> {
        let limit = self.limit.unwrap_or(usize::MAX);
        if self.limit.is_some_and(|limit| !(1..=AT_ONCE).contains(&limit)) {
            return Err(Refusal::bad_request(format!("expected a `limit` from 1 to {AT_ONCE}, got {limit}")));
        }
        let place = |name: &str, id: &Option<String>| {
            let Some(id) = id else { return Ok(None) };
            let place = models.iter().position(|model| model["id"] == *id);
            let unknown = || {
                Refusal::bad_request(format!("expected the id of one of the models as `{name}`, got `{id}`"))
            };
            place.map(Some).ok_or_else(unknown)
        };
        let (after, before) = (place("after_id", &self.after_id)?, place("before_id", &self.before_id)?);
        let end = before.unwrap_or(models.len());
        let begin = after.map_or(0, |after| after + 1).min(end);
        // Those before a model are told from there backwards, and so in their order all the same.
        let (begin, end, has_more) = if before.is_some() {
            let from = end.saturating_sub(limit).max(begin);
            (from, end, from > begin)
        } else {
            let to = begin.saturating_add(limit).min(end);
            (begin, to, to < end)
        };
        models.truncate(end);
        models.drain(..begin);
        let id = |model: Option<&Value>| model.map_or(Value::Null, |model| model["id"].clone());
        let (first, last) = (id(models.first()), id(models.last()));
        Ok(json!({"data": models, "has_more": has_more, "first_id": first, "last_id": last}))
    }
}

/// The models of all routes whose servers answer, under the names by which they are asked for here.
pub(crate) async fn listed(
    proxy: &Arc<Proxy>,
    setup: &Arc<Setup>,
    headers: &HeaderMap,
) -> Result<Vec<Value>, Refusal> {
    let mut lists = JoinSet::new();
    for (at, route) in setup.routes.iter().enumerate() {
        let (proxy, setup, route) = (Arc::clone(proxy), Arc::clone(setup), Arc::clone(route));
        let headers = headers.clone();
        lists.spawn(async move {
            let served = tokio::time::timeout(LIST, served(&proxy, &setup, &route, &headers)).await;
            let late = |_| Err(Refusal::too_late("the model server does not list its models in time"));
            (at, served.unwrap_or_else(late).map(|served| named(&setup.routes, &route, &served)))
        });
    }
    let mut lists = lists.join_all().await;
    lists.sort_by_key(|(at, _)| *at);
    let (mut models, mut refused): (Vec<Value>, _) = (Vec::new(), None);
    let mut answers = false;
    for (_, list) in lists {
        match list {
            Ok(list) => {
                answers = true;
                for model in list {
                    if !models.iter().any(|known| known["id"] == model["id"]) {
                        models.push(model);
                    }
                }
            }
            Err(refusal) => refused = Some(refusal),
        }
    }
    match refused {
        Some(refusal) if !answers => Err(refusal),
        _ => Ok(models),
    }
}

/// What the servers of a route say of their models, on all pages.
pub(crate) async fn served(
    proxy: &Proxy,
    setup: &Setup,
    route: &Route,
    headers: &HeaderMap,
) -> Result<Vec<Value>, Refusal> {
    let unlisted = || Refusal::bad_gateway("the model server lists no models");
    if route.api != ServerApi::Anthropic {
        let mut list = said(proxy, setup, route, headers, "/models").await?;
        return taken(&mut list).ok_or_else(unlisted);
    }
    let (mut models, mut after) = (Vec::new(), String::new());
    for _ in 0..MOST_PAGES {
        let path = format!("/models?limit={AT_ONCE}{after}");
        let mut page = said(proxy, setup, route, headers, &path).await?;
        models.extend(taken(&mut page).ok_or_else(unlisted)?);
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
        match page["last_id"].as_str().filter(|_| page["has_more"] == true) {
            Some(last) => after = format!("&after_id={}", percent_encoded(last, plain)),
            None => break,
        }
    }
    Ok(models)
}

/// The models of a list.
fn taken(list: &mut Value) -> Option<Vec<Value>> {
    let Value::Array(models) = list["data"].take() else { return None };
    Some(models.into_iter().filter(|model| model["id"].is_string()).collect())
}

/// What the servers of a route say at a path; null where they refuse.
async fn said(
    proxy: &Proxy,
    setup: &Setup,
    route: &Route,
    headers: &HeaderMap,
    path: &str,
) -> Result<Value, Refusal> {
    let sent = setup.sent(headers, Bytes::new());
    let question = Question::Path(Method::GET, path);
    let response = route.pool.turn(&proxy.metrics).ask(question, &sent).await?;
    let (status, said) = (response.status(), text(response.into_body(), LONGEST).await?);
    let said = serde_json::from_str(&said).unwrap_or_default();
    Ok(if status.is_success() { said } else { Value::Null })
}

/// The models of a route, of those that are `served`, by the names that lead there.
pub(crate) fn named(routes: &Routes, route: &Arc<Route>, served: &[Value]) -> Vec<Value> {
    let settings = &route.settings;
    let own_names = settings.models.iter().filter(|name| !name.contains('*'));
    let own = own_names.map(|name| {
        let known = served.iter().find(|model| model["id"] == route.target(name));
        let mut model =
            known.cloned().unwrap_or_else(|| json!({"object": "model", "created": 0, "owned_by": "del"}));
        model["id"] = json!(name);
        model
    });
    // All other names that lead to an alias mean the same model.
    let others = served.iter().filter(|model| {
        let leads_here = |name| routes.find(name).is_some_and(|found| Arc::ptr_eq(found, route));
        (settings.model.is_none() || settings.models.is_empty())
            && model["id"].as_str().is_some_and(leads_here)
    });
    own.chain(others.cloned()).collect()
}
