//! The keys of clients, and how much may be asked with each.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::http::header::{AUTHORIZATION, RETRY_AFTER};
use axum::http::{HeaderMap, HeaderValue};
use subtle::ConstantTimeEq;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

use crate::refusal::Refusal;

/// A key of clients, and what they may do with it.
pub struct ClientKey {
    /// What it is called where it is counted and refused.
    pub name: String,
    /// What clients show.
    pub secret: String,
    /// At most so many requests in a minute.
    pub per_minute: Option<u32>,
    /// At most so many requests under way at once.
    pub max_concurrent: Option<usize>,
}

impl ClientKey {
    /// A key without limits.
    pub fn new(name: impl Into<String>, secret: impl Into<String>) -> Self {
        Self { name: name.into(), secret: secret.into(), per_minute: None, max_concurrent: None }
    }
}

impl std::fmt::Debug for ClientKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("ClientKey").field(&self.name).finish()
    }
}

/// A secret that is not shown.
pub(crate) struct Key(String);

impl Key {
    pub(crate) fn new(key: String) -> Self {
        Self(key)
    }

    pub(crate) fn secret(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Key")
    }
}

/// The keys that are taken.
#[derive(Debug)]
pub(crate) struct Keys(Vec<Arc<Holder>>);

/// Who has a key.
#[derive(Debug)]
pub(crate) struct Holder {
    pub(crate) name: String,
    key: Key,
    rate: Option<Mutex<Rate>>,
    room: Option<(usize, Arc<Semaphore>)>,
}

/// Requests that may be made now. They come back as time passes.
#[derive(Debug)]
struct Rate {
    per_minute: f64,
    left: f64,
    since: Instant,
}

/// The key that a client shows.
pub(crate) fn shown(headers: &HeaderMap) -> Option<&[u8]> {
    let given = headers.get(AUTHORIZATION).map_or(&b""[..], |value| value.as_bytes());
    match given.split_at_checked(7) {
        Some((scheme, token)) if scheme.eq_ignore_ascii_case(b"bearer ") => Some(token),
        // As clients of Anthropic's API show theirs.
        _ => headers.get("x-api-key").map(HeaderValue::as_bytes),
    }
}

impl Keys {
    pub(crate) fn new(keys: Vec<ClientKey>) -> Self {
        Self(keys.into_iter().map(|key| Arc::new(Holder::new(key))).collect())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whose key this is. Every key is compared, in a time that does not tell how much of it was right.
    pub(crate) fn holder(&self, shown: &[u8]) -> Option<&Arc<Holder>> {
        let is = |holder: &&Arc<Holder>| bool::from(shown.ct_eq(holder.key.secret().as_bytes()));
        self.0.iter().rfind(is)
    }
}

impl Holder {
    fn new(key: ClientKey) -> Self {
        let rate = |per_minute: u32| {
            let per_minute = f64::from(per_minute);
            Mutex::new(Rate { per_minute, left: per_minute, since: Instant::now() })
        };
        Self {
            name: key.name,
            key: Key::new(key.secret),
            rate: key.per_minute.map(rate),
            room: key.max_concurrent.map(|most| (most, Arc::new(Semaphore::new(most)))),
        }
    }

    /// A place among the requests under way, until it is dropped.
    pub(crate) fn enter(&self) -> Result<Option<OwnedSemaphorePermit>, Refusal> {
        let place = match &self.room {
            None => None,
            Some((most, room)) => Some(Arc::clone(room).try_acquire_owned().map_err(|_| {
                Refusal::busy(format!("expected at most {most} requests at once with this key, got one more"))
            })?),
        };
        let Some(rate) = &self.rate else { return Ok(place) };
        let mut rate = rate.lock().unwrap_or_else(PoisonError::into_inner);
        match rate.take(Instant::now()) {
            Ok(()) => Ok(place),
            Err(wait) => {
                let most = rate.per_minute;
                let refusal = Refusal::busy(format!(
                    "expected at most {most} requests in a minute with this key, got one more"
                ));
                let seconds = HeaderValue::from(wait.as_secs() + 1);
                Err(refusal.header(RETRY_AFTER, seconds))
            }
        }
    }
}

impl Rate {
    /// Takes one request, or says when there will be one.
    fn take(&mut self, now: Instant) -> Result<(), Duration> {
        const MINUTE: f64 = 60.0;
        let passed = now.saturating_duration_since(self.since).as_secs_f64();
        self.since = now;
        self.left = (self.left + passed * self.per_minute / MINUTE).min(self.per_minute);
        if self.left >= 1.0 {
            self.left -= 1.0;
            return Ok(());
        }
        Err(Duration::from_secs_f64((1.0 - self.left) * MINUTE / self.per_minute))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_come_back_as_time_passes() {
        let start = Instant::now();
        let mut rate = Rate { per_minute: 2.0, left: 2.0, since: start };
        assert_eq!([rate.take(start), rate.take(start)], [Ok(()), Ok(())]);
        assert_eq!(rate.take(start), Err(Duration::from_secs(30)));
        assert_eq!(rate.take(start + Duration::from_secs(15)), Err(Duration::from_secs(15)));
        assert_eq!(rate.take(start + Duration::from_secs(31)), Ok(()));
        let later = start + Duration::from_secs(3600);
        assert_eq!([rate.take(later), rate.take(later)], [Ok(()), Ok(())]);
        assert!(rate.take(later).is_err());
    }

    #[test]
    fn places_are_given_back() {
        let holder = Holder::new(ClientKey { max_concurrent: Some(1), ..ClientKey::new("a", "s") });
        let place = holder.enter().unwrap();
        assert!(holder.enter().is_err());
        drop(place);
        assert!(holder.enter().is_ok());
        assert!(!format!("{holder:?}").contains("\"s\""));
    }
}
