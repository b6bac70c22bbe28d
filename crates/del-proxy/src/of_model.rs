//! What clients ask of a model by its name, beside its answers.

use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::http::Request;
use axum::http::request::Parts;
use serde_json::{Map, Value, json};

use crate::account::Account;
use crate::proxy::{Proxy, Setup};
use crate::refusal::Refusal;
use crate::request::no_object;
use crate::route::Route;

/// A question, and where it goes.
pub(crate) struct OfModel {
    pub(crate) parts: Parts,
    pub(crate) setup: Arc<Setup>,
    pub(crate) route: Arc<Route>,
    /// The model, as the client calls it.
    pub(crate) model: String,
    /// The question. There, the model has the name that the server knows.
    pub(crate) body: Map<String, Value>,
    /// The same as it goes on: as it came where the names are one.
    pub(crate) bytes: Bytes,
}

impl OfModel {
    /// Reads a question that names its model in one of these members.
    pub(crate) async fn read(proxy: &Proxy, request: Request<Body>, names: &[&str]) -> Result<Self, Refusal> {
        let (parts, body) = request.into_parts();
        let setup = proxy.setup();
        let mut bytes = setup.read(&parts, body).await?;
        let account = Account::of(&parts);
        if let Some(account) = account {
            account.asks(&bytes);
        }
        let mut body: Map<String, Value> =
            serde_json::from_slice(&bytes).map_err(|error| no_object(&error))?;
        let named = names.iter().find_map(|name| body.get(*name)?.as_str());
        let model = named.unwrap_or_default().to_owned();
        let route = setup.routes.of(&model)?;
        if let Some(account) = account {
            account.note(|record| record.model = Some(route.target(&model).to_owned()));
        }
        if route.target(&model) != model {
            body.insert("model".to_owned(), json!(route.target(&model)));
            bytes = Value::Object(body.clone()).to_string().into();
        }
        Ok(Self { parts, setup, route, model, body, bytes })
    }
}
