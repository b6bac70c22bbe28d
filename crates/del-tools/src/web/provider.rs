//! Services that search the web: how each is asked, and how it answers.

use std::fmt;
use std::str::FromStr;

use serde_json::{Value, json};
use url::Url;

use super::html::{attribute, text};
use super::{WebAnswer, refused};
use crate::outcome::Failure;

/// A kind of service.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Provider {
    /// A server of `SearXNG`, with JSON among its formats.
    SearxNg,
    /// Brave's API.
    Brave,
    /// Tavily's API.
    Tavily,
    /// The pages of `DuckDuckGo` without scripts.
    DuckDuckGo,
}

/// A word that names no provider.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown provider '{0}'; expected searxng, brave, tavily or duckduckgo")]
pub struct UnknownProvider(pub String);

/// Something that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hit {
    pub(crate) title: String,
    pub(crate) url: String,
    pub(crate) snippet: String,
}

/// What a provider is asked.
pub(super) struct Asked {
    pub(super) url: Url,
    pub(super) headers: Vec<(&'static str, String)>,
    pub(super) body: Option<String>,
}

/// Characters of a snippet.
const SNIPPET: usize = 300;

impl FromStr for Provider {
    type Err = UnknownProvider;

    fn from_str(word: &str) -> Result<Self, UnknownProvider> {
        match word.trim().to_lowercase().as_str() {
            "searxng" | "searx" => Ok(Self::SearxNg),
            "brave" => Ok(Self::Brave),
            "tavily" => Ok(Self::Tavily),
            "duckduckgo" | "ddg" => Ok(Self::DuckDuckGo),
            _ => Err(UnknownProvider(word.to_owned())),
        }
    }
}

impl fmt::Display for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::SearxNg => "searxng",
            Self::Brave => "brave",
            Self::Tavily => "tavily",
            Self::DuckDuckGo => "duckduckgo",
        })
    }
}

impl Provider {
    /// The variable in which people keep the key.
    pub fn key_variable(self) -> Option<&'static str> {
        match self {
            Self::Brave => Some("BRAVE_API_KEY"),
            Self::Tavily => Some("TAVILY_API_KEY"),
            Self::SearxNg | Self::DuckDuckGo => None,
        }
    }

    pub(super) fn wants_key(self) -> bool {
        self.key_variable().is_some()
    }

    /// Where it is, unless somebody says otherwise.
    pub(super) fn usual(self) -> Option<&'static str> {
        match self {
            Self::SearxNg => None,
            Self::Brave => Some("https://api.search.brave.com/res/v1/web/search"),
            Self::Tavily => Some("https://api.tavily.com/search"),
            Self::DuckDuckGo => Some("https://html.duckduckgo.com/html/"),
        }
    }

    /// The request for a search.
    pub(super) fn request(self, base: &Url, query: &str, most: usize, key: Option<&str>) -> Asked {
        let mut url = base.clone();
        let mut headers = vec![
            ("accept-encoding", "identity".to_owned()),
            ("user-agent", concat!("del/", env!("CARGO_PKG_VERSION")).to_owned()),
        ];
        let mut body = None;
        let key = key.unwrap_or_default();
        match self {
            Self::SearxNg => {
                if !url.path().ends_with("/search") {
                    let path = format!("{}/search", url.path().trim_end_matches('/'));
                    url.set_path(&path);
                }
                url.query_pairs_mut().append_pair("q", query).append_pair("format", "json");
            }
            Self::Brave => {
                url.query_pairs_mut().append_pair("q", query).append_pair("count", &most.to_string());
                headers.push(("accept", "application/json".to_owned()));
                headers.push(("x-subscription-token", key.to_owned()));
            }
            Self::Tavily => {
                body = Some(json!({"query": query, "max_results": most}).to_string());
                headers.push(("content-type", "application/json".to_owned()));
                headers.push(("authorization", format!("Bearer {key}")));
            }
            Self::DuckDuckGo => {
                url.query_pairs_mut().append_pair("q", query);
            }
        }
        Asked { url, headers, body }
    }

    /// What an answer says was found.
    pub(super) fn read(self, answer: &WebAnswer) -> Result<Vec<Hit>, Failure> {
        let body = String::from_utf8_lossy(&answer.body);
        if self == Self::DuckDuckGo {
            return Ok(pages(&body));
        }
        let (list, snippet) = match self {
            Self::Brave => ("/web/results", "description"),
            _ => ("/results", "content"),
        };
        let json: Value = serde_json::from_str(&body).map_err(|_| {
            let hint =
                if self == Self::SearxNg { "; is json among the formats in its settings?" } else { "." };
            refused(&format!("{self} does not answer with JSON{hint}"))
        })?;
        let found = json.pointer(list).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let word = |one: &Value, key: &str| one[key].as_str().unwrap_or_default().to_owned();
        Ok(found
            .iter()
            .filter_map(|one| hit(&word(one, "title"), &word(one, "url"), &word(one, snippet)))
            .collect())
    }
}

/// A hit, if it leads to a page.
fn hit(title: &str, url: &str, snippet: &str) -> Option<Hit> {
    let url = Url::parse(url).ok().filter(|url| matches!(url.scheme(), "http" | "https"))?;
    let snippet = text(snippet);
    let snippet = match snippet.char_indices().nth(SNIPPET) {
        Some((at, _)) => format!("{}…", &snippet[..at]),
        None => snippet,
    };
    let title: String = text(title).chars().take(SNIPPET).collect();
    Some(Hit { title, url: url.into(), snippet })
}

/// The results in a page of `DuckDuckGo`.
fn pages(html: &str) -> Vec<Hit> {
    let mut hits = Vec::new();
    for part in html.split("class=\"result__a\"").skip(1) {
        let Some((tag, rest)) = part.split_once('>') else { continue };
        let Some(link) = attribute(tag, "href") else { continue };
        let title = rest.split("</a>").next().unwrap_or_default();
        let snippet = rest
            .split_once("class=\"result__snippet\"")
            .and_then(|(_, behind)| behind.split_once('>'))
            .map(|(_, behind)| behind.split("</a>").next().unwrap_or_default());
        hits.extend(hit(title, &target(&text(link)), snippet.unwrap_or_default()));
    }
    hits
}

/// Where a link of a page leads: `DuckDuckGo` counts clicks on the way.
fn target(link: &str) -> String {
    let link = if link.starts_with("//") { format!("https:{link}") } else { link.to_owned() };
    let counted = Url::parse(&link).ok().and_then(|url| {
        let mut pairs = url.query_pairs();
        pairs.find(|(name, _)| name == "uddg").map(|(_, value)| value.into_owned())
    });
    counted.unwrap_or(link)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(provider: Provider, body: &str) -> Vec<(String, String, String)> {
        let answer = WebAnswer { status: 200, body: body.into(), ..WebAnswer::default() };
        let hits = provider.read(&answer).unwrap();
        hits.into_iter().map(|hit| (hit.title, hit.url, hit.snippet)).collect()
    }

    #[test]
    fn pages_are_read() {
        let html = r#"<div class="result"><h2 class="result__title"><a rel="nofollow" class="result__a" href="//duckduckgo.com/l/?uddg=https%3A%2F%2Fexample.com%2Fa%3Fb%3Dc&amp;rut=1">An <b>example</b></a></h2>
            <a class="result__snippet" href="//duckduckgo.com/l/?uddg=x">It&#x27;s <b>an</b> example</a></div>
            <a rel="nofollow" class="result__a" href="javascript:alert(1)">bad</a>
            <a rel="nofollow" class="result__a" href="https://example.org/">Plain</a>"#;
        assert_eq!(
            read(Provider::DuckDuckGo, html),
            [
                ("An example".into(), "https://example.com/a?b=c".into(), "It's an example".into()),
                ("Plain".into(), "https://example.org/".into(), String::new()),
            ]
        );
    }

    #[test]
    fn json_is_read() {
        let hits = r#"{"results": [{"title": "T", "url": "https://x.org/", "content": "c"}, {"title": "no url"}, 5]}"#;
        assert_eq!(read(Provider::SearxNg, hits), [("T".into(), "https://x.org/".into(), "c".into())]);
        let hits = r#"{"web": {"results": [{"title": "T", "url": "https://x.org/", "description": "a <strong>b</strong>"}]}}"#;
        assert_eq!(read(Provider::Brave, hits)[0].2, "a b");
        assert!(read(Provider::Tavily, "{}").is_empty());
        let answer = WebAnswer { status: 200, body: b"<html>".to_vec(), ..WebAnswer::default() };
        assert!(Provider::SearxNg.read(&answer).unwrap_err().cause.contains("formats"));
    }

    #[test]
    fn queries_are_written_so_that_they_stay_queries() {
        let base = Url::parse("http://127.0.0.1:8888").unwrap();
        let asked = Provider::SearxNg.request(&base, "a&format=html #x\r\nHost: y", 5, None);
        assert_eq!(
            asked.url.as_str(),
            "http://127.0.0.1:8888/search?q=a%26format%3Dhtml+%23x%0D%0AHost%3A+y&format=json"
        );
    }
}
