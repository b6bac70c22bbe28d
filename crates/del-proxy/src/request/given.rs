//! A request apart from its tools, which are read once however often they are sent.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use del_dialects::Tool;
use del_wire::Asked;
use del_wire::tools::{self, Functions, Lately};
use serde::de::{Deserializer as _, Error as _, MapAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::api::Api;

/// A request, and apart from it its tools, where these are a list.
#[derive(Debug)]
pub(crate) struct Apart<'a> {
    pub(crate) body: Map<String, Value>,
    /// As they were written.
    pub(crate) tools: Option<&'a str>,
}

/// The tools of a request.
#[derive(Debug)]
pub(crate) struct Given {
    pub(crate) functions: Functions,
    /// The same, read, where all are functions and can be.
    pub(crate) tools: Option<Arc<[Tool]>>,
}

/// The tools that clients gave lately, by the API that they are written for.
#[derive(Debug, Default)]
pub(crate) struct KnownTools(Mutex<HashMap<Api, Lately<Arc<Given>>>>);

/// So many lists of tools are kept for each API, of at most so many bytes.
const MOST: usize = 8;
const LONGEST: usize = 128 << 10;

impl KnownTools {
    /// The tools that this JSON gives to clients of this API.
    pub(crate) fn read(&self, api: Api, json: &str) -> serde_json::Result<Arc<Given>> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let lately = known.entry(api).or_insert_with(|| Lately::new(MOST, LONGEST));
        lately.of(json, |json| {
            let mut functions = api.functions(serde_json::from_str(json)?);
            let list = Value::Array(std::mem::take(&mut functions.list));
            let tools = tools::read(&list).ok().map(Into::into);
            if let Value::Array(list) = list {
                functions.list = list;
            }
            let tools = tools.filter(|_| functions.are_all());
            Ok(Arc::new(Given { functions, tools }))
        })
    }
}

impl Given {
    /// These tools, where a request has all of them and no others.
    pub(crate) fn tools_of(&self, asked: &Asked) -> Option<Arc<[Tool]>> {
        let list = asked.body.get("tools").and_then(Value::as_array)?;
        self.tools.clone().filter(|_| list.len() == self.functions.list.len())
    }
}

impl<'a> Apart<'a> {
    /// Reads a request of this API.
    pub(crate) fn read(api: Api, bytes: &'a [u8]) -> serde_json::Result<Self> {
        let mut json = serde_json::Deserializer::from_slice(bytes);
        let read = json.deserialize_map(Members(api))?;
        json.end()?;
        Ok(read)
    }
}

/// Reads the members of a request.
struct Members(Api);

impl<'de> Visitor<'de> for Members {
    type Value = Apart<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Apart<'de>, A::Error> {
        let mut read = Apart { body: Map::new(), tools: None };
        while let Some(name) = map.next_key::<String>()? {
            let value = match (name.as_str(), self.0.messages()) {
                ("tools", _) => {
                    let json = map.next_value::<&RawValue>()?.get();
                    read.tools = Some(json).filter(|json| json.starts_with('['));
                    if read.tools.is_some() {
                        read.body.shift_remove(&name);
                        continue;
                    }
                    serde_json::from_str(json).map_err(A::Error::custom)?
                }
                ("messages", Some(messages)) => {
                    messages(map.next_value::<&RawValue>()?.get()).map_err(A::Error::custom)?
                }
                _ => map.next_value()?,
            };
            read.body.insert(name, value);
        }
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::{Apart, KnownTools};
    use crate::api::Api;

    #[test]
    fn tools_stay_as_they_were_written_where_they_are_a_list() {
        for (body, members, tools) in [
            (r#"{"a": 1, "tools": [ {"b": 2} ]}"#, json!({"a": 1}), Some(r#"[ {"b": 2} ]"#)),
            (r#"{"tools": null, "a": 1}"#, json!({"tools": null, "a": 1}), None),
            (r#"{"tools": [], "tools": {}}"#, json!({"tools": {}}), None),
            (r#"{"tools": {}, "tools": []}"#, json!({}), Some("[]")),
        ] {
            let read = Apart::read(Api::Chat, body.as_bytes()).unwrap();
            assert_eq!((json!(read.body), read.tools), (members, tools), "{body}");
        }
        for body in ["[]", r#"{"tools": [}"#, r#"{"a""#, "{} {}"] {
            assert!(Apart::read(Api::Chat, body.as_bytes()).is_err(), "{body}");
        }
    }

    #[test]
    fn the_same_tools_are_read_once_for_each_api() {
        let known = KnownTools::default();
        let json = r#"[{"name": "f", "input_schema": {"type": "object"}}]"#;
        let read = |api| known.read(api, json).unwrap();
        assert!(Arc::ptr_eq(&read(Api::Messages), &read(Api::Messages)));
        assert_eq!(read(Api::Messages).functions.list[0]["function"]["name"], "f");
        assert_eq!(read(Api::Chat).functions.list[0]["name"], "f");
        assert_eq!(read(Api::Messages).tools.as_ref().unwrap()[0].name, "f");
        let hosted = known.read(Api::Messages, r#"[{"type": "web_search_1", "name": "w"}]"#).unwrap();
        assert!(hosted.tools.is_none() && hosted.functions.dropped == ["web_search_1"]);
        let custom = known.read(Api::Chat, r#"[{"type": "custom", "custom": {"name": "c"}}]"#).unwrap();
        assert!(custom.tools.is_none());
    }
}
