//! One request to a model server and its answer, as an agent is told of them.

use std::future::Future;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use del_agent::{Effect, Input};
use reqwest::Response;
use reqwest::header::RETRY_AFTER;
use serde_json::Value;
use tokio::time::{Instant, sleep_until};

use crate::interrupt::Interrupt;
use crate::screen::stage;
use crate::server::{self, SILENCE, Server};
use crate::tls;

/// The longest error that is read from a server.
const LONGEST_ERROR: usize = 1 << 20;

/// Silence after which whoever waits is told that it may be more than slowness.
const ODD: Duration = Duration::from_secs(60);

/// What became of a wait.
enum Came<T> {
    It(T),
    Nothing,
    /// The user wants no more of it.
    Stop,
}

/// Asks the server, and tells `step` what comes until it wants something else: that is given back.
pub(crate) async fn exchange(
    server: &Server,
    body: &Value,
    interrupt: &Interrupt,
    step: &mut impl FnMut(Input<'_>) -> Effect,
) -> Effect {
    let until = Instant::now() + server.first_byte;
    let response = match wait_for(server.completion(body).send(), interrupt, until).await {
        Came::It(response) => response,
        Came::Nothing => return step(Input::Silent),
        Came::Stop => return step(Input::Cancel),
    };
    match response {
        // It would be led astray the next time as well.
        Err(error) if error.is_redirect() || error.is_builder() || tls::words(&error).is_some() => {
            step(Input::Astray(&server::reason(&error)))
        }
        Err(error) if error.is_connect() => step(Input::Unreachable(&server::reason(&error))),
        Err(error) => step(Input::HungUp(&server::reason(&error))),
        Ok(response) if response.status().as_u16() >= 400 => refused(response, interrupt, step).await,
        Ok(response) => stream(response, until, interrupt, step).await,
    }
}

/// The body as it comes. Its first byte has to come in time.
async fn stream(
    mut response: Response,
    mut until: Instant,
    interrupt: &Interrupt,
    step: &mut impl FnMut(Input<'_>) -> Effect,
) -> Effect {
    loop {
        let piece = match wait_for(response.chunk(), interrupt, until).await {
            Came::It(piece) => piece,
            Came::Nothing => return step(Input::Silent),
            Came::Stop => return step(Input::Cancel),
        };
        match piece {
            Ok(Some(bytes)) => match step(Input::Bytes(&bytes)) {
                Effect::Continue => until = Instant::now() + SILENCE,
                effect => return effect,
            },
            Ok(None) => return step(Input::End),
            Err(error) => return step(Input::HungUp(&server::reason(&error))),
        }
    }
}

/// Waits for something, and says so where it takes oddly long.
async fn wait_for<T>(work: impl Future<Output = T>, interrupt: &Interrupt, until: Instant) -> Came<T> {
    let mut work = pin!(work);
    let odd = Instant::now() + ODD;
    let mut told = false;
    loop {
        tokio::select! {
            it = &mut work => return Came::It(it),
            () = interrupt.pressed() => return Came::Stop,
            () = sleep_until(until) => return Came::Nothing,
            () = sleep_until(odd), if !told => {
                told = true;
                say_odd();
            }
        }
    }
}

/// Says that nothing comes: below what is said where that can be, else once.
fn say_odd() {
    static SAID: AtomicBool = AtomicBool::new(false);
    const WHY: &str =
        "nothing comes from the model server: it loads the model, reads a long prompt, or hangs";
    if !stage::current().is_some_and(|stage| stage.hint(WHY)) && !SAID.swap(true, Ordering::Relaxed) {
        crate::remark(format!("{WHY} (said once)"));
    }
}

/// When a server wants to be asked again, as seconds or as a date of HTTP, in milliseconds from `now` on.
fn retry_after(value: &str, now: SystemTime) -> Option<u64> {
    let value = value.trim();
    if let Ok(seconds) = value.parse::<u64>() {
        return Some(seconds.saturating_mul(1000));
    }
    let wait = httpdate::parse_http_date(value).ok()?.duration_since(now).unwrap_or_default();
    u64::try_from(wait.as_millis()).ok()
}

async fn refused(
    mut response: Response,
    interrupt: &Interrupt,
    step: &mut impl FnMut(Input<'_>) -> Effect,
) -> Effect {
    let status = response.status().as_u16();
    let asked = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok());
    let retry_after = asked.and_then(|value| retry_after(value, SystemTime::now()));
    let mut body = Vec::new();
    while body.len() < LONGEST_ERROR {
        let piece = match wait_for(response.chunk(), interrupt, Instant::now() + SILENCE).await {
            Came::It(piece) => piece,
            Came::Nothing => break,
            Came::Stop => return step(Input::Cancel),
        };
        // Half of what the server says is better than nothing.
        let Ok(Some(bytes)) = piece else { break };
        body.extend_from_slice(&bytes);
    }
    let body = String::from_utf8_lossy(&body);
    step(Input::Refused { status, body: &body, retry_after })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_is_told_in_seconds_or_by_a_date() {
        let now = httpdate::parse_http_date("Wed, 21 Oct 2099 07:28:00 GMT").unwrap();
        for (value, milliseconds) in [
            ("30", Some(30_000)),
            ("Wed, 21 Oct 2099 07:28:10 GMT", Some(10_000)),
            ("Wed, 21 Oct 2009 07:28:10 GMT", Some(0)),
            ("soon", None),
        ] {
            assert_eq!(retry_after(value, now), milliseconds, "{value}");
        }
    }
}
