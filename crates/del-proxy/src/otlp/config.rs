//! Where the collector is, by the variables that OpenTelemetry names.

use std::time::Duration;

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use reqwest::Url;
use serde_json::{Value, json};

use super::encode::{attributes, text};

/// Where traces and metrics go.
#[derive(Debug, Clone)]
pub struct Config {
    /// Where traces go, if anywhere.
    pub(super) traces: Option<Endpoint>,
    /// The same for metrics.
    pub(super) metrics: Option<Endpoint>,
    pub(super) timeout: Duration,
    /// Spans wait so long for others,
    pub(super) batch_every: Duration,
    /// or until they are so many.
    pub(super) batch: usize,
    /// So many requests may wait to be told of.
    pub(super) room: usize,
    pub(super) metrics_every: Duration,
    resource: Vec<(String, String)>,
}

#[derive(Debug, Clone)]
pub(super) struct Endpoint {
    pub(super) url: String,
    pub(super) headers: HeaderMap,
}

/// The variables, as whoever asks for one of them knows them.
struct Variables<'a>(&'a dyn Fn(&str) -> Option<String>);

impl Config {
    /// What the variables say; `None` where they name no collector.
    ///
    /// # Errors
    /// When one of them says nothing that can be used.
    pub fn of(variable: &dyn Fn(&str) -> Option<String>) -> Result<Option<Self>, String> {
        let variables = Variables(variable);
        if variables.get("OTEL_SDK_DISABLED").is_some_and(|word| word.eq_ignore_ascii_case("true")) {
            return Ok(None);
        }
        let traces = variables.endpoint("TRACES", "traces")?;
        let metrics = variables.endpoint("METRICS", "metrics")?;
        if traces.is_none() && metrics.is_none() {
            return Ok(None);
        }
        Ok(Some(Self {
            traces,
            metrics,
            timeout: variables.milliseconds("OTEL_EXPORTER_OTLP_TIMEOUT", 10_000)?,
            batch_every: variables.milliseconds("OTEL_BSP_SCHEDULE_DELAY", 5_000)?,
            batch: variables.number("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", 512)?,
            room: variables.number("OTEL_BSP_MAX_QUEUE_SIZE", 2_048)?,
            metrics_every: variables.milliseconds("OTEL_METRIC_EXPORT_INTERVAL", 60_000)?,
            resource: variables.resource()?,
        }))
    }

    pub(super) fn resource(&self) -> Value {
        json!({"attributes": attributes(self.resource.iter().map(|(name, value)| (name.as_str(), text(value))))})
    }
}

impl Variables<'_> {
    /// An empty variable is none.
    fn get(&self, name: &str) -> Option<String> {
        (self.0)(name).filter(|value| !value.trim().is_empty())
    }

    /// That of one signal, else that of all.
    fn of_signal(&self, signal: &str, name: &str) -> Option<(String, String)> {
        let names = [format!("OTEL_EXPORTER_OTLP_{signal}_{name}"), format!("OTEL_EXPORTER_OTLP_{name}")];
        names.into_iter().find_map(|name| self.get(&name).map(|value| (name, value)))
    }

    fn endpoint(&self, signal: &str, path: &str) -> Result<Option<Endpoint>, String> {
        match self.get(&format!("OTEL_{signal}_EXPORTER")).as_deref() {
            None | Some("otlp") => {}
            Some("none") => return Ok(None),
            Some(other) => {
                return Err(format!("OTEL_{signal}_EXPORTER: expected otlp or none, got `{other}`"));
            }
        }
        let Some((name, value)) = self.of_signal(signal, "ENDPOINT") else { return Ok(None) };
        let url = Url::parse(&value).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
        let url =
            url.ok_or_else(|| format!("{name}: expected an address of http or https, got `{value}`"))?;
        let url = if name == "OTEL_EXPORTER_OTLP_ENDPOINT" {
            format!("{}/v1/{path}", url.as_str().trim_end_matches('/'))
        } else {
            url.into()
        };
        if let Some((name, protocol)) = self.of_signal(signal, "PROTOCOL")
            && !protocol.starts_with("http/")
        {
            return Err(format!(
                "{name}: expected http/json, as JSON over HTTP is what is sent, got `{protocol}`; collectors take it \
                 at port 4318"
            ));
        }
        let mut headers = HeaderMap::new();
        if let Some((name, list)) = self.of_signal(signal, "HEADERS") {
            for (key, value) in pairs(&list).map_err(|got| wrong_pair(&name, &got))? {
                let header = HeaderName::try_from(&key).ok().zip(HeaderValue::try_from(&value).ok());
                // What it says may be secret.
                let (key, value) =
                    header.ok_or_else(|| format!("{name}: expected names and values of headers"))?;
                headers.insert(key, value);
            }
        }
        Ok(Some(Endpoint { url, headers }))
    }

    fn number(&self, name: &str, usual: usize) -> Result<usize, String> {
        let Some(value) = self.get(name) else { return Ok(usual) };
        let number = value.trim().parse().ok().filter(|number| *number > 0);
        number.ok_or_else(|| format!("{name}: expected a number from 1 on, got `{value}`"))
    }

    fn milliseconds(&self, name: &str, usual: usize) -> Result<Duration, String> {
        Ok(Duration::from_millis(self.number(name, usual)? as u64))
    }

    fn resource(&self) -> Result<Vec<(String, String)>, String> {
        const NAME: &str = "OTEL_RESOURCE_ATTRIBUTES";
        let given = self.get(NAME).unwrap_or_default();
        let mut all = pairs(&given).map_err(|got| wrong_pair(NAME, &got))?;
        if let Some(name) = self.get("OTEL_SERVICE_NAME") {
            all.retain(|(key, _)| key != "service.name");
            all.push(("service.name".to_owned(), name));
        } else if all.iter().all(|(key, _)| key != "service.name") {
            all.push(("service.name".to_owned(), "del".to_owned()));
        }
        if all.iter().all(|(key, _)| key != "service.version") {
            all.push(("service.version".to_owned(), env!("CARGO_PKG_VERSION").to_owned()));
        }
        Ok(all)
    }
}

fn wrong_pair(name: &str, got: &str) -> String {
    format!("{name}: expected name=value, name=value, got `{got}` among them")
}

/// Names and values, percent-encoded, or what is no such pair.
fn pairs(list: &str) -> Result<Vec<(String, String)>, String> {
    let items = list.split(',').map(str::trim).filter(|item| !item.is_empty());
    items
        .map(|item| {
            // Of what has no `=`, nobody knows whether it is secret.
            let (key, value) = item.split_once('=').ok_or("a word without `=`")?;
            Ok((key.trim().to_owned(), decoded(value.trim())))
        })
        .collect()
}

fn decoded(value: &str) -> String {
    let bytes = value.as_bytes();
    let (mut out, mut at) = (Vec::with_capacity(bytes.len()), 0);
    while let Some(&byte) = bytes.get(at) {
        let digits = value.get(at + 1..at + 3).and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match digits.filter(|_| byte == b'%') {
            Some(decoded) => {
                out.push(decoded);
                at += 3;
            }
            None => {
                out.push(byte);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::Config;

    fn config(variables: &[(&str, &str)]) -> Result<Option<Config>, String> {
        Config::of(&|name| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn no_collector_is_named() {
        for variables in [
            &[][..],
            &[("OTEL_EXPORTER_OTLP_ENDPOINT", " ")],
            &[("OTEL_EXPORTER_OTLP_ENDPOINT", "http://c:4318"), ("OTEL_SDK_DISABLED", "TRUE")],
            &[
                ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://c:4318"),
                ("OTEL_TRACES_EXPORTER", "none"),
                ("OTEL_METRICS_EXPORTER", "none"),
            ],
        ] {
            assert!(config(variables).unwrap().is_none(), "{variables:?}");
        }
    }

    #[test]
    fn one_address_is_for_both_and_each_may_have_its_own() {
        let both = config(&[
            ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://c:4318/"),
            ("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "https://m/in"),
            ("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20x, tenant=a=b"),
            ("OTEL_EXPORTER_OTLP_TIMEOUT", "250"),
            ("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=test"),
            ("OTEL_SERVICE_NAME", "proxy"),
        ]);
        let both = both.unwrap().unwrap();
        let traces = both.traces.as_ref().unwrap();
        assert_eq!(traces.url, "http://c:4318/v1/traces");
        assert_eq!(
            (&traces.headers["authorization"], &traces.headers["tenant"]),
            (&"Bearer x".parse().unwrap(), &"a=b".parse().unwrap())
        );
        assert_eq!(both.metrics.as_ref().unwrap().url, "https://m/in");
        assert_eq!(both.timeout, Duration::from_millis(250));
        let resource = both.resource().to_string();
        assert!(resource.contains(r#"{"key":"service.name","value":{"stringValue":"proxy"}}"#), "{resource}");
        assert!(resource.contains("deployment.environment.name"), "{resource}");
    }

    #[test]
    fn what_is_wrong_is_said_without_secrets() {
        for (name, value, said) in [
            ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc", "expected http/json"),
            ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "collector:4318", "expected an address"),
            ("OTEL_EXPORTER_OTLP_HEADERS", "secret", "expected name=value"),
            ("OTEL_EXPORTER_OTLP_TIMEOUT", "soon", "expected a number"),
            ("OTEL_TRACES_EXPORTER", "zipkin", "expected otlp or none"),
        ] {
            let error =
                config(&[("OTEL_EXPORTER_OTLP_ENDPOINT", "http://c:4318"), (name, value)]).unwrap_err();
            assert!(error.starts_with(name) && error.contains(said), "{error}");
            assert!(!error.contains("secret"), "{error}");
        }
    }
}
