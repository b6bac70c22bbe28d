//! Who may come in: no page of a browser, nobody by another name of this machine, nobody without the key.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::http::header;
use axum::http::request::Parts;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

use crate::inspector::is_page;
use crate::keys::{Holder, Keys};
use crate::refusal::Refusal;

/// What every request has to pass.
#[derive(Debug)]
pub(crate) struct Gate {
    address: SocketAddr,
    keys: Keys,
    /// Calls run here: even a page of another program on this machine stays out.
    strict: bool,
}

impl Gate {
    /// The gate of a server at this address. Without a key, it has to be one that only this machine reaches.
    pub(crate) fn new(address: SocketAddr, keys: Keys) -> Self {
        Self { address, keys, strict: false }
    }

    /// The same where only pages of its own may ask.
    pub(crate) fn strict(mut self, strict: bool) -> Self {
        self.strict = strict;
        self
    }

    /// True when clients have to show a key.
    pub(crate) fn wants_key(&self) -> bool {
        !self.keys.is_empty()
    }

    /// Refuses what may not come in, and says whose key it has. Whether it is alive and ready may be asked without one.
    pub(crate) fn check(&self, request: &Parts) -> Result<Option<Arc<Holder>>, Refusal> {
        self.check_host(request)?;
        self.check_origin(request)?;
        if matches!(request.uri.path(), "/health" | "/ready") { Ok(None) } else { self.check_key(request) }
    }

    /// A name that leads here by a trick of DNS is none of ours. Where others may connect, only the key counts: what
    /// names this machine has among them is not known.
    fn check_host(&self, request: &Parts) -> Result<(), Refusal> {
        if !self.address.ip().is_loopback() && self.wants_key() {
            return Ok(());
        }
        let mut hosts = request.headers.get_all(header::HOST).iter();
        let host = match (hosts.next(), hosts.next()) {
            (Some(host), None) => host.to_str().unwrap_or_default(),
            _ => return Err(Refusal::forbidden("expected one Host header")),
        };
        let authority = request.uri.authority().map(axum::http::uri::Authority::as_str);
        match [Some(host), authority].into_iter().flatten().find(|host| !self.is_own(host)) {
            None => Ok(()),
            Some(other) => {
                Err(Refusal::forbidden(format!("expected a name of this machine as Host, got `{other}`"))
                    .hint(format!("use http://{}", self.address)))
            }
        }
    }

    fn is_own(&self, host: &str) -> bool {
        let (name, port) = split(host);
        let right_port = port.is_none_or(|port| port.parse() == Ok(self.address.port()));
        let own = match self.address {
            SocketAddr::V4(address) => address.ip().to_string(),
            SocketAddr::V6(address) => format!("[{}]", address.ip()),
        };
        right_port && (is_loopback(name) || name == own)
    }

    /// Browsers name the site that asks. Pages of this machine may, but where it matters only those from here.
    fn check_origin(&self, request: &Parts) -> Result<(), Refusal> {
        let headers = &request.headers;
        let strict = self.strict || is_page(request.uri.path());
        for origin in headers.get_all(header::ORIGIN) {
            let origin = origin.to_str().unwrap_or_default();
            let host = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
            let may = |host: &str| {
                let here = headers.get(header::HOST).is_some_and(|own| own.as_bytes() == host.as_bytes());
                is_loopback(split(host).0) && (here || !strict) || here && strict && self.wants_key()
            };
            if !host.is_some_and(may) {
                return Err(Refusal::forbidden(format!(
                    "expected no Origin, or one of this machine, got `{origin}`"
                )));
            }
        }
        Ok(())
    }

    fn check_key(&self, request: &Parts) -> Result<Option<Arc<Holder>>, Refusal> {
        let headers = &request.headers;
        if !self.wants_key() {
            return Ok(None);
        }
        let given = headers.get(header::AUTHORIZATION).map_or(&b""[..], |value| value.as_bytes());
        let token = match given.split_at_checked(7) {
            Some((scheme, token)) if scheme.eq_ignore_ascii_case(b"bearer ") => token,
            // As clients of Anthropic's API show theirs.
            _ if headers.contains_key("x-api-key") => headers["x-api-key"].as_bytes(),
            // Browsers ask their users for a name and a password.
            _ if is_page(request.uri.path()) && password(given).is_some() => {
                &password(given).unwrap_or_default()
            }
            _ => {
                return Err(Refusal::unauthorized(
                    "expected `Authorization: Bearer` or `x-api-key` with the key of this proxy",
                ));
            }
        };
        let holder = self.keys.holder(token).cloned();
        holder.map(Some).ok_or_else(|| Refusal::unauthorized("this is not the key of this proxy"))
    }
}

/// The password of `Authorization: Basic`, whatever the name.
fn password(given: &[u8]) -> Option<Vec<u8>> {
    let (scheme, rest) = given.split_at_checked(6)?;
    let both = BASE64_STANDARD.decode(rest).ok().filter(|_| scheme.eq_ignore_ascii_case(b"basic "))?;
    let colon = both.iter().position(|byte| *byte == b':')?;
    Some(both[colon + 1..].to_vec())
}

fn is_loopback(name: &str) -> bool {
    name.eq_ignore_ascii_case("localhost") || matches!(name, "127.0.0.1" | "[::1]")
}

/// Name and port.
fn split(host: &str) -> (&str, Option<&str>) {
    match host.rsplit_once(':') {
        Some((name, port)) if !port.contains(']') => (name, Some(port)),
        _ => (host, None),
    }
}

#[cfg(test)]
mod tests {
    use axum::http::Request;

    use super::Gate;
    use crate::keys::ClientKey;
    use crate::keys::Keys;

    fn check(gate: &Gate, headers: &[(&str, &str)]) -> Result<(), String> {
        let mut request = Request::post("/v1/chat/completions");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let (parts, ()) = request.body(()).unwrap().into_parts();
        gate.check(&parts).map(drop).map_err(|refusal| refusal.to_string())
    }

    #[test]
    fn only_names_of_this_machine_lead_here() {
        let gate = Gate::new("127.0.0.1:8787".parse().unwrap(), Keys::new(Vec::new()));
        for host in ["localhost:8787", "127.0.0.1:8787", "[::1]:8787", "LOCALHOST", "127.0.0.1"] {
            assert_eq!(check(&gate, &[("host", host)]), Ok(()), "{host}");
        }
        for host in [
            "evil.example:8787",
            "localhost:80",
            "localhost.evil.example:8787",
            "127.0.0.1.nip.example",
            "",
            "[::1]x:8787",
        ] {
            assert!(check(&gate, &[("host", host)]).is_err(), "{host}");
        }
        assert!(check(&gate, &[]).is_err());
        assert!(check(&gate, &[("host", "localhost"), ("host", "localhost")]).is_err());
        let other = Gate::new("127.0.0.5:1".parse().unwrap(), Keys::new(Vec::new()));
        assert_eq!(check(&other, &[("host", "127.0.0.5:1")]), Ok(()));
    }

    #[test]
    fn pages_of_other_sites_stay_out() {
        let gate = Gate::new("127.0.0.1:8787".parse().unwrap(), Keys::new(Vec::new()));
        let from = |origin| check(&gate, &[("host", "localhost"), ("origin", origin)]);
        for origin in ["http://localhost:3000", "https://127.0.0.1", "http://[::1]:1"] {
            assert_eq!(from(origin), Ok(()), "{origin}");
        }
        for origin in [
            "null",
            "https://evil.example",
            "http://localhost.evil.example",
            "file://",
            "http://localhost/x:1",
        ] {
            assert!(from(origin).is_err(), "{origin}");
        }
    }

    #[test]
    fn with_a_key_the_key_counts() {
        let gate = Gate::new(
            "0.0.0.0:8787".parse().unwrap(),
            Keys::new(vec![ClientKey::new("a", "other"), ClientKey::new("b", "s3cret")]),
        );
        let with = |key| check(&gate, &[("host", "gpu.lan:8787"), ("authorization", key)]);
        assert_eq!(with("Bearer s3cret"), Ok(()));
        assert_eq!(with("bearer s3cret"), Ok(()));
        let of_anthropic = |key| check(&gate, &[("host", "gpu.lan:8787"), ("x-api-key", key)]);
        assert!(of_anthropic("s3cret").is_ok() && of_anthropic("s3cre").is_err());
        for key in ["Bearer s3cre", "Bearer s3crets", "Bearer ", "s3cret", "Basic s3cret"] {
            let error = with(key).unwrap_err();
            assert!(!error.contains("s3cret"), "{error}");
        }
        assert!(!format!("{gate:?}").contains("s3cret"));
    }
}
