//! One request to a model server and its answer, as an agent is told of them.

use del_agent::{Effect, Input};
use reqwest::Response;
use reqwest::header::RETRY_AFTER;
use serde_json::Value;

use crate::interrupt::Interrupt;
use crate::server::{self, Server};

/// The longest error that is read from a server.
const LONGEST_ERROR: usize = 1 << 20;

/// Asks the server, and tells `step` what comes until it wants something else: that is given back.
pub(crate) async fn exchange(
    server: &Server,
    body: &Value,
    interrupt: &Interrupt,
    step: &mut impl FnMut(Input<'_>) -> Effect,
) -> Effect {
    let response = tokio::select! {
        response = server.completion(body).send() => response,
        () = interrupt.pressed() => return step(Input::Cancel),
    };
    match response {
        // It would be led astray the next time as well.
        Err(error) if error.is_redirect() || error.is_builder() => {
            step(Input::Astray(&server::reason(&error)))
        }
        Err(error) => step(Input::Unreachable(&server::reason(&error))),
        Ok(response) if response.status().as_u16() >= 400 => refused(response, interrupt, step).await,
        Ok(response) => stream(response, interrupt, step).await,
    }
}

async fn stream(
    mut response: Response,
    interrupt: &Interrupt,
    step: &mut impl FnMut(Input<'_>) -> Effect,
) -> Effect {
    loop {
        let piece = tokio::select! {
            piece = response.chunk() => piece,
            () = interrupt.pressed() => return step(Input::Cancel),
        };
        match piece {
            Ok(Some(bytes)) => match step(Input::Bytes(&bytes)) {
                Effect::Continue => {}
                effect => return effect,
            },
            Ok(None) => return step(Input::End),
            Err(error) => return step(Input::HungUp(&server::reason(&error))),
        }
    }
}

async fn refused(
    mut response: Response,
    interrupt: &Interrupt,
    step: &mut impl FnMut(Input<'_>) -> Effect,
) -> Effect {
    let status = response.status().as_u16();
    let retry_after = response.headers().get(RETRY_AFTER).and_then(|value| {
        let seconds: u64 = value.to_str().ok()?.trim().parse().ok()?;
        Some(seconds.saturating_mul(1000))
    });
    let mut body = Vec::new();
    while body.len() < LONGEST_ERROR {
        let piece = tokio::select! {
            piece = response.chunk() => piece,
            () = interrupt.pressed() => return step(Input::Cancel),
        };
        // Half of what the server says is better than nothing.
        let Ok(Some(bytes)) = piece else { break };
        body.extend_from_slice(&bytes);
    }
    let body = String::from_utf8_lossy(&body);
    step(Input::Refused { status, body: &body, retry_after })
}
