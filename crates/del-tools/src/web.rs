//! Searching the web: where to, what is asked, and what may be reached on the way.
//!
//! Whoever sets it up brings the client: the tools themselves speak to nobody. What they ask of it is one request to
//! addresses that were looked at, and one answer; redirections are followed here, each looked at anew.

mod address;
mod html;
mod provider;

use std::collections::VecDeque;
use std::fmt;
use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use url::{Host, Url};

use crate::control::Control;
use crate::outcome::{Code, Failure};
use address::is_public;
pub(crate) use provider::Hit;
pub use provider::{Provider, UnknownProvider};

/// For one search, all redirections included.
const PATIENCE: Duration = Duration::from_secs(15);
/// Of one answer.
const MAX_BYTES: usize = 2 << 20;
const MAX_REDIRECTIONS: usize = 3;
/// Requests in a minute.
const MAX_REQUESTS: usize = 10;

/// Sends one HTTP request and brings the answer. It follows no redirection, asks no proxy, connects to nothing but the
/// addresses of the request, and undoes no compression.
pub trait Fetch: Send + Sync + fmt::Debug {
    /// Brings the answer, or says why there is none. It gives up when `stop` says so.
    fn fetch(&self, request: &WebRequest, stop: &(dyn Fn() -> bool + Sync)) -> Result<WebAnswer, String>;
}

/// A request.
#[derive(Debug, Clone)]
pub struct WebRequest {
    /// Where it goes. The host is a name, or one of the addresses.
    pub url: String,
    /// The host of the URL.
    pub host: String,
    /// What the name stands for: nothing else may be connected to.
    pub addresses: Vec<SocketAddr>,
    /// Headers, by their names in lower case.
    pub headers: Vec<(&'static str, String)>,
    /// JSON to be posted; a plain request when there is none.
    pub body: Option<String>,
    /// How long it may take.
    pub timeout: Duration,
    /// Where the body of the answer is cut.
    pub max_bytes: usize,
}

/// An answer.
#[derive(Debug, Clone, Default)]
pub struct WebAnswer {
    /// The status.
    pub status: u16,
    /// Where it redirects to.
    pub location: Option<String>,
    /// How the body is compressed, if it says so.
    pub encoding: Option<String>,
    /// The body, as it came.
    pub body: Vec<u8>,
    /// Whether there was more of it.
    pub cut: bool,
}

/// A service that searches the web.
#[derive(Debug)]
pub struct Web {
    provider: Provider,
    /// Where the user says it is: this host and port may be anywhere.
    base: Url,
    key: Option<String>,
    fetch: Arc<dyn Fetch>,
    recent: Mutex<VecDeque<Instant>>,
}

/// Why the web cannot be set up so.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WebError {
    /// The provider has no address of its own.
    #[error("{0} needs the address of a server, such as http://127.0.0.1:8888")]
    NoUrl(Provider),
    /// The address is none.
    #[error("'{0}' is no address of a web server; expected http:// or https://")]
    BadUrl(String),
    /// The provider wants a key.
    #[error("{0} needs a key")]
    NoKey(Provider),
}

impl Web {
    /// A service at `url`, or where it usually is.
    pub fn new(
        provider: Provider,
        url: Option<&str>,
        key: Option<String>,
        fetch: Arc<dyn Fetch>,
    ) -> Result<Self, WebError> {
        let given = url.or(provider.usual()).ok_or(WebError::NoUrl(provider))?;
        let bad = || WebError::BadUrl(given.to_owned());
        let base = Url::parse(given).map_err(|_| bad())?;
        if !matches!(base.scheme(), "http" | "https") || base.host().is_none() {
            return Err(bad());
        }
        if provider.wants_key() && key.is_none() {
            return Err(WebError::NoKey(provider));
        }
        Ok(Self { provider, base, key, fetch, recent: Mutex::default() })
    }

    pub(crate) fn provider(&self) -> Provider {
        self.provider
    }

    /// The host, and its port unless that is the usual one.
    pub(crate) fn destination(&self) -> String {
        let host = self.base.host_str().unwrap_or_default();
        self.base.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
    }

    /// What there is to `query`.
    pub(crate) fn search(
        &self,
        query: &str,
        most: usize,
        control: &Control<'_>,
    ) -> Result<Vec<Hit>, Failure> {
        let deadline = Instant::now() + PATIENCE;
        let answer = match self.ask(query, most, deadline, control) {
            Err(failure) if failure.code == Code::Network && !control.is_cancelled() => {
                self.ask(query, most, deadline, control)
            }
            other => other,
        }?;
        let mut hits = self.provider.read(&answer)?;
        hits.truncate(most);
        Ok(hits)
    }

    fn ask(
        &self,
        query: &str,
        most: usize,
        deadline: Instant,
        control: &Control<'_>,
    ) -> Result<WebAnswer, Failure> {
        self.admit()?;
        let asked = self.provider.request(&self.base, query, most, self.key.as_deref());
        let mut url = asked.url;
        for _ in 0..=MAX_REDIRECTIONS {
            control.check()?;
            let home = self.is_home(&url);
            let request = WebRequest {
                addresses: self.addresses(&url)?,
                host: url.host_str().unwrap_or_default().to_owned(),
                // A key goes nowhere but where the user wants it.
                headers: asked.headers.iter().filter(|(name, _)| home || !is_secret(name)).cloned().collect(),
                body: asked.body.clone(),
                timeout: deadline.saturating_duration_since(Instant::now()),
                max_bytes: MAX_BYTES,
                url: url.clone().into(),
            };
            if request.timeout.is_zero() {
                return Err(network("the search took longer than 15 s."));
            }
            let answer = self
                .fetch
                .fetch(&request, &|| control.is_cancelled())
                .map_err(|error| network(&format!("cannot reach {}: {error}.", shown(&url))))?;
            control.check()?;
            let location = answer.location.as_ref().filter(|_| (300..400).contains(&answer.status));
            let Some(location) = location else { return self.sound(answer) };
            if asked.body.is_some() {
                return Err(refused(&format!(
                    "{} redirects what was sent to it; this is not followed.",
                    shown(&url)
                )));
            }
            url = url.join(location).map_err(|_| refused("the server redirects to what is no address."))?;
        }
        Err(refused(&format!("{} redirects more than {MAX_REDIRECTIONS} times.", self.destination())))
    }

    /// The answer, if it can be used.
    fn sound(&self, answer: WebAnswer) -> Result<WebAnswer, Failure> {
        let at = self.destination();
        let limited =
            || Failure::new(Code::RateLimited, format!("{at} wants fewer searches; wait, then try again."));
        match answer.status {
            429 => return Err(limited()),
            // What DuckDuckGo answers to whom it takes for a program.
            202 if self.provider == Provider::DuckDuckGo => return Err(limited()),
            401 | 403 => {
                let cause = format!(
                    "{at} refuses the search (status {}). Check the key and the settings.",
                    answer.status
                );
                return Err(Failure::new(Code::Failed, cause));
            }
            500.. => return Err(network(&format!("{at} is out of order (status {}).", answer.status))),
            200 => {}
            other => return Err(refused(&format!("{at} answers with status {other}."))),
        }
        if answer.encoding.as_deref().is_some_and(|encoding| !encoding.eq_ignore_ascii_case("identity")) {
            return Err(refused(&format!("{at} compresses its answer though it was told not to.")));
        }
        if answer.cut {
            return Err(refused(&format!("{at} answers with more than {} MiB.", MAX_BYTES >> 20)));
        }
        Ok(answer)
    }

    /// What the host stands for, if it may be reached: it is asked for once, and nothing else is connected to.
    fn addresses(&self, url: &Url) -> Result<Vec<SocketAddr>, Failure> {
        if !matches!(url.scheme(), "http" | "https") || !url.username().is_empty() || url.password().is_some()
        {
            return Err(refused(&format!("{} is not reached: only plain http and https are.", shown(url))));
        }
        let port = url.port_or_known_default().unwrap_or(0);
        let addresses: Vec<SocketAddr> = match url.host() {
            Some(Host::Ipv4(address)) => vec![(address, port).into()],
            Some(Host::Ipv6(address)) => vec![(address, port).into()],
            Some(Host::Domain(name)) => (name, port)
                .to_socket_addrs()
                .map_err(|_| network(&format!("the name {} is not known.", shown(url))))?
                .collect(),
            None => Vec::new(),
        };
        if addresses.is_empty() {
            return Err(network(&format!("the name {} is not known.", shown(url))));
        }
        if !self.is_home(url)
            && !self.is_home_by_tls(url)
            && !addresses.iter().all(|address| is_public(address.ip()))
        {
            return Err(refused(&format!(
                "{} is not reached: it lies in a private network, and only the address that the user has set may.",
                shown(url)
            )));
        }
        Ok(addresses)
    }

    /// Whether it is the server that the user has named.
    fn is_home(&self, url: &Url) -> bool {
        (url.scheme(), url.host(), url.port_or_known_default())
            == (self.base.scheme(), self.base.host(), self.base.port_or_known_default())
    }

    /// Whether it is the same server by https where the user has named it by http: at the same port, or at the usual
    /// one of each.
    fn is_home_by_tls(&self, url: &Url) -> bool {
        (self.base.scheme(), url.scheme()) == ("http", "https")
            && self.base.host() == url.host()
            && self.base.port() == url.port()
    }

    /// Counts a request, or refuses it.
    fn admit(&self) -> Result<(), Failure> {
        let mut recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        while recent.front().is_some_and(|first| now.duration_since(*first) >= Duration::from_secs(60)) {
            recent.pop_front();
        }
        if recent.len() >= MAX_REQUESTS {
            let cause =
                format!("more than {MAX_REQUESTS} searches in a minute; wait, or work with what was found.");
            return Err(Failure::new(Code::RateLimited, cause));
        }
        recent.push_back(now);
        Ok(())
    }
}

fn is_secret(header: &str) -> bool {
    matches!(header, "authorization" | "x-subscription-token")
}

fn shown(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
}

/// What may be better at the next try.
fn network(cause: &str) -> Failure {
    Failure::new(Code::Network, cause)
}

/// What will not be.
fn refused(cause: &str) -> Failure {
    Failure::new(Code::Failed, cause)
}
