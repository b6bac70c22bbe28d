//! A proxy in front of a model server, and a client.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use del_proxy::{Proxy, RouteSettings, Settings, Upstream};
use reqwest::{Client, ClientBuilder, Method, RequestBuilder, Response};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::model::Model;

/// A proxy that serves until it is dropped or stopped.
#[derive(Debug)]
pub(crate) struct Stand {
    pub(crate) address: SocketAddr,
    pub(crate) model: Model,
    pub(crate) proxy: Arc<Proxy>,
    client: Client,
    stop: Option<oneshot::Sender<()>>,
    serving: JoinHandle<()>,
}

pub(crate) fn client() -> Client {
    builder().pool_max_idle_per_host(0).build().unwrap()
}

/// A client in the making, with the cryptography that one needs to be built at all.
pub(crate) fn builder() -> ClientBuilder {
    let _ = rustls::crypto::ring::default_provider().install_default();
    Client::builder().no_proxy()
}

/// A server on this machine, as `del serve` has it.
pub(crate) fn upstream(base: &str) -> Upstream {
    Upstream::new(client(), base, None).retrying_on(client()).direct(Duration::from_secs(5))
}

/// A route for every model to these servers.
pub(crate) fn route(models: &[&Model]) -> RouteSettings {
    RouteSettings::new(models.iter().map(|model| upstream(&model.base)).collect())
}

impl Stand {
    /// A proxy with the usual settings.
    pub(crate) async fn new(model: Model) -> Self {
        Self::with(model, |_| {}).await
    }

    pub(crate) async fn with(model: Model, set: impl FnOnce(&mut Settings)) -> Self {
        let mut settings = Settings::new(vec![route(&[&model])]);
        set(&mut settings);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopped) = oneshot::channel();
        let proxy = Proxy::new(settings, address).unwrap();
        let served = Arc::clone(&proxy);
        let serving = tokio::spawn(async move {
            let stopped = async { drop(stopped.await) };
            del_proxy::serve(listener, served, stopped).await.unwrap();
        });
        Self { address, model, proxy, client: client(), stop: Some(stop), serving }
    }

    pub(crate) fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.client.request(method, format!("http://{}{path}", self.address))
    }

    pub(crate) async fn get(&self, path: &str) -> Response {
        self.request(Method::GET, path).send().await.unwrap()
    }

    pub(crate) fn post(&self, body: &Value) -> RequestBuilder {
        self.request(Method::POST, "/v1/chat/completions").body(body.to_string())
    }

    /// The answer to a request that is not streamed.
    pub(crate) async fn ask(&self, body: &Value) -> Value {
        let response = self.post(body).send().await.unwrap();
        assert_eq!(response.status(), 200);
        document(response).await
    }

    /// The message of the answer.
    pub(crate) async fn message(&self, body: &Value) -> Value {
        self.ask(body).await["choices"][0]["message"].clone()
    }

    /// The events of the answer to a request that is streamed.
    pub(crate) async fn events(&self, body: &Value) -> Vec<Value> {
        let response = self.post(body).send().await.unwrap();
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        events(&response.text().await.unwrap())
    }

    /// Tells the proxy to stop.
    pub(crate) fn stop(&mut self) {
        let _ = self.stop.take().map(|stop| stop.send(()));
    }

    /// Waits until it has.
    pub(crate) async fn ended(self) {
        self.serving.await.unwrap();
    }
}

pub(crate) async fn document(response: Response) -> Value {
    serde_json::from_str(&response.text().await.unwrap()).unwrap()
}

/// Waits until so much of an answer has come as is `enough`.
pub(crate) async fn until(response: &mut Response, enough: impl Fn(&str) -> bool) {
    let mut text = String::new();
    while !enough(&text) {
        text.push_str(std::str::from_utf8(&response.chunk().await.unwrap().unwrap()).unwrap());
    }
}

/// The events of a stream; `[DONE]` is null.
pub(crate) fn events(text: &str) -> Vec<Value> {
    let data = text.split_terminator("\n\n").map(|event| event.strip_prefix("data: ").unwrap());
    data.map(|data| serde_json::from_str(data).unwrap_or_default()).collect()
}

/// A request with one tool.
pub(crate) fn weather() -> Value {
    json!({"model": "m", "messages": [{"role": "user", "content": "Weather in Paris?"}], "tools": [tool("get_weather")]})
}

pub(crate) fn tool(name: &str) -> Value {
    json!({"type": "function", "function": {"name": name, "description": format!("Does {name}."), "parameters":
        {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}}})
}

/// The same, streamed.
pub(crate) fn streamed(mut body: Value) -> Value {
    body["stream"] = json!(true);
    body
}

/// The request with these members besides.
pub(crate) fn with(mut body: Value, members: Value) -> Value {
    if let Value::Object(members) = members {
        for (name, value) in members {
            body[name] = value;
        }
    }
    body
}

/// The message that a stream amounts to: text, and name and arguments of calls, and the reason of its end.
pub(crate) fn assembled(events: &[Value]) -> (String, Vec<(String, String)>, String) {
    let (mut text, mut calls, mut finish) = (String::new(), Vec::new(), String::new());
    for choice in events.iter().filter_map(|event| event["choices"].get(0)) {
        let delta = &choice["delta"];
        text.push_str(delta["content"].as_str().unwrap_or_default());
        for call in delta["tool_calls"].as_array().into_iter().flatten() {
            let function = &call["function"];
            if let Some(name) = function["name"].as_str() {
                calls.push((name.to_owned(), String::new()));
            }
            let (_, arguments): &mut (String, String) = calls.last_mut().unwrap();
            arguments.push_str(function["arguments"].as_str().unwrap());
        }
        finish.push_str(choice["finish_reason"].as_str().unwrap_or_default());
    }
    (text, calls, finish)
}

/// The same of a message that came at once.
pub(crate) fn told(completion: &Value) -> (String, Vec<(String, String)>, String) {
    let choice = &completion["choices"][0];
    let message = &choice["message"];
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let calls = message["tool_calls"].as_array().into_iter().flatten();
    let calls = calls.map(|call| (text(&call["function"]["name"]), text(&call["function"]["arguments"])));
    (text(&message["content"]), calls.collect(), text(&choice["finish_reason"]))
}
