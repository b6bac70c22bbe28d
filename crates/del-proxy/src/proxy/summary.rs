//! Conversations that the model sums up, for clients that want them shorter.

use std::pin::Pin;
use std::sync::Arc;

use axum::body::{Body, to_bytes};
use axum::http::request::Parts;
use axum::http::{Method, Request, Uri, header};
use del_agent::prompt;
use del_dialects::{Collect, Dialects, End, Turn};
use del_wire::responses::compaction::as_text;
use del_wire::{Chunk, Usage};
use serde_json::{Value, json};

use super::Proxy;
use crate::api::Api;
use crate::refusal::Refusal;

/// A summary, and what it cost.
type Summed = Result<(String, Usage), Refusal>;

/// Characters of each result that a summary is made of: fewer where the model cannot read as much.
const SUMMED: [usize; 3] = [1500, 400, 100];
/// The longest answer that is read.
const LONGEST: usize = 32 << 20;

/// A summary of a conversation, as its model is told of it, and what it cost.
pub(crate) fn shortened<'a>(
    proxy: &'a Arc<Proxy>,
    parts: &'a Parts,
    model: &'a str,
    conversation: &'a [Value],
) -> Pin<Box<dyn Future<Output = Summed> + Send + 'a>> {
    Box::pin(async move {
        let mut lengths = SUMMED.into_iter().peekable();
        loop {
            let length = lengths.next().unwrap_or_default();
            match sum_up(proxy, parts, model, &as_text(conversation, length)).await {
                Err(refusal) if refusal.is_too_long() && lengths.peek().is_some() => {}
                told => return told.map(|(summary, cost)| (prompt::summary(&summary, None), cost)),
            }
        }
    })
}

/// The model's summary of a conversation, and what it cost.
async fn sum_up(proxy: &Arc<Proxy>, parts: &Parts, model: &str, conversation: &str) -> Summed {
    let question = prompt::sum_up(&Dialects::builtin().neutralise(conversation), "");
    let mut asked = json!({"model": model, "messages": [
        {"role": "system", "content": prompt::SUMMER}, {"role": "user", "content": question}]});
    let setup = proxy.setup();
    if setup.settings.executor.is_some() {
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
    let answer = Arc::clone(proxy).answer(setup, Api::Chat, request, None).await?;
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
