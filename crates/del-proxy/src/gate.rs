//! Who may come in: no page of a browser but those that may, nobody by another name of this machine, nobody without the key.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::http::request::Parts;
use axum::http::{HeaderValue, Method, StatusCode, header};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

use crate::inspector::is_page;
use crate::keys::{Holder, Keys, shown};
use crate::refusal::Refusal;
use crate::sites::is_preflight;

/// What every request has to pass.
#[derive(Debug)]
pub(crate) struct Gate {
    address: SocketAddr,
    keys: Keys,
    /// The sites whose pages may ask.
    origins: Vec<String>,
}

impl Gate {
    /// The gate of a server at this address. Without a key, it has to be one that only this machine reaches.
    pub(crate) fn new(address: SocketAddr, keys: Keys) -> Self {
        Self { address, keys, origins: Vec::new() }
    }

    /// The same for pages of these sites as well.
    pub(crate) fn open_to(mut self, origins: Vec<String>) -> Self {
        self.origins = origins;
        self
    }

    /// True when clients have to show a key.
    pub(crate) fn wants_key(&self) -> bool {
        !self.keys.is_empty()
    }

    /// Refuses what may not come in, and says whose key it has. Whether it is alive and ready may be asked without one, and so
    /// may browsers for their pages.
    pub(crate) fn check(&self, request: &Parts) -> Result<Option<Arc<Holder>>, Refusal> {
        self.check_host(request)?;
        self.check_origin(request)?;
        check_type(request)?;
        let is_open = matches!(request.uri.path(), "/health" | "/ready") || is_preflight(request);
        if is_open { Ok(None) } else { self.check_key(request) }
    }

    /// A name that leads here by a trick of DNS is none of ours. Where a key is asked for, only that counts: a page has none,
    /// and under which names others reach this machine, by a tunnel or a server in front, is not known.
    fn check_host(&self, request: &Parts) -> Result<(), Refusal> {
        if self.wants_key() {
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
        // Whoever forwards a port has another one in front.
        let (name, port) = split(host);
        let is_port = port.is_none_or(|port| port.parse::<u16>().is_ok());
        let own = || match self.address {
            SocketAddr::V4(address) => address.ip().to_string(),
            SocketAddr::V6(address) => format!("[{}]", address.ip()),
        };
        is_port && (is_loopback(name) || name == own())
    }

    /// Browsers name the site that asks: it has to be this one, or one of those that may. What others have asked is for none of
    /// these.
    fn check_origin(&self, request: &Parts) -> Result<(), Refusal> {
        let headers = &request.headers;
        for origin in headers.get_all(header::ORIGIN) {
            let host = [&b"http://"[..], b"https://"]
                .iter()
                .find_map(|scheme| origin.as_bytes().strip_prefix(*scheme));
            let is_here = host.is_some() && host == headers.get(header::HOST).map(HeaderValue::as_bytes);
            if !is_here && self.site(request).is_none_or(|site| site != origin) {
                let origin = String::from_utf8_lossy(origin.as_bytes());
                let refusal =
                    Refusal::forbidden(format!("expected no Origin, or one that may ask, got `{origin}`"));
                return Err(refusal.hint("start the proxy with --allow-origin for pages of other sites"));
            }
        }
        Ok(())
    }

    /// The site that asks, where it is one of those that may.
    pub(crate) fn site<'r>(&self, request: &'r Parts) -> Option<&'r HeaderValue> {
        let origin = request.headers.get(header::ORIGIN).filter(|_| !is_page(request.uri.path()))?;
        self.origins.iter().any(|known| known.as_bytes() == origin.as_bytes()).then_some(origin)
    }

    fn check_key(&self, request: &Parts) -> Result<Option<Arc<Holder>>, Refusal> {
        if !self.wants_key() {
            return Ok(None);
        }
        let given = request.headers.get(header::AUTHORIZATION).map_or(&b""[..], |value| value.as_bytes());
        let token = match shown(&request.headers) {
            Some(token) => token,
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

/// A form of any page can say JSON in this type, and browsers ask for no leave before; older ones do not even name its site.
fn check_type(request: &Parts) -> Result<(), Refusal> {
    let kinds = request.headers.get_all(header::CONTENT_TYPE).iter();
    let mut kinds = kinds.map(|kind| kind.as_bytes().trim_ascii_start());
    let is_plain = |kind: &[u8]| kind.get(..10).is_some_and(|kind| kind.eq_ignore_ascii_case(b"text/plain"));
    if request.method == Method::GET || !kinds.any(is_plain) {
        return Ok(());
    }
    Err(Refusal::new(
        StatusCode::UNSUPPORTED_MEDIA_TYPE,
        "invalid_request_error",
        "expected a body of the type application/json, got one of text/plain",
    ))
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
        for host in
            ["localhost:8787", "127.0.0.1:8787", "[::1]:8787", "LOCALHOST", "127.0.0.1", "localhost:80"]
        {
            assert_eq!(check(&gate, &[("host", host)]), Ok(()), "{host}");
        }
        for host in [
            "evil.example:8787",
            "localhost:x",
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
    fn pages_of_other_sites_stay_out_unless_they_may_ask() {
        let listed = ["https://app.example", "http://localhost:3000", "app://notes"].map(str::to_owned);
        let gate =
            |origins| Gate::new("127.0.0.1:8787".parse().unwrap(), Keys::new(Vec::new())).open_to(origins);
        let from = |gate: &Gate, origin| check(gate, &[("host", "localhost:8787"), ("origin", origin)]);
        for origin in &listed {
            assert_eq!(from(&gate(listed.to_vec()), origin), Ok(()), "{origin}");
            assert!(from(&gate(Vec::new()), origin).is_err(), "{origin}");
        }
        for origin in [
            "null",
            "",
            "*",
            "https://evil.example",
            "https://app.example.evil.example",
            "https://app.example:8443",
            "http://app.example",
            "HTTPS://APP.EXAMPLE",
            "http://localhost:3001",
            "http://localhost:80",
            "http://localhost",
            "localhost:8787",
            "file://",
            "ftp://localhost:8787",
        ] {
            assert!(from(&gate(listed.to_vec()), origin).is_err(), "{origin}");
        }
        for origin in ["http://localhost:8787", "https://localhost:8787"] {
            assert_eq!(from(&gate(Vec::new()), origin), Ok(()), "{origin}");
        }
        let two = [
            ("host", "localhost:8787"),
            ("origin", "https://app.example"),
            ("origin", "https://evil.example"),
        ];
        assert!(check(&gate(listed.to_vec()), &two).is_err());
    }

    #[test]
    fn forms_with_json_in_them_stay_out() {
        let gate = Gate::new("127.0.0.1:8787".parse().unwrap(), Keys::new(Vec::new()));
        for (kind, may) in [
            ("application/json", true),
            ("application/json; charset=utf-8", true),
            // As curl has it, where nobody says what the body is.
            ("application/x-www-form-urlencoded", true),
            ("text/plain", false),
            ("TEXT/Plain;charset=UTF-8", false),
            (" text/plain", false),
        ] {
            assert_eq!(check(&gate, &[("host", "localhost"), ("content-type", kind)]).is_ok(), may, "{kind}");
        }
        let two =
            [("host", "localhost"), ("content-type", "application/json"), ("content-type", "text/plain")];
        assert!(check(&gate, &two).is_err());
        assert!(check(&gate, &[("host", "localhost")]).is_ok());
    }

    #[test]
    fn with_a_key_the_key_counts() {
        for address in ["0.0.0.0:8787", "127.0.0.1:8787"] {
            the_key_counts(address);
        }
    }

    fn the_key_counts(address: &str) {
        let gate = Gate::new(
            address.parse().unwrap(),
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
