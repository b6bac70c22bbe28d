//! How arguments are written: one file a codec, and in it both directions.

use std::fmt;

use serde::de::{Deserializer as _, MapAccess, Visitor};
use serde_json::value::RawValue;

pub(crate) mod call;
pub(crate) mod fields;
pub(crate) mod json;
pub(crate) mod loose;

/// The members of a JSON object, in order, each value as it is spelt; none when `json` is no object.
pub(crate) fn members(json: &str) -> Option<Vec<(String, &RawValue)>> {
    struct Members;
    impl<'de> Visitor<'de> for Members {
        type Value = Vec<(String, &'de RawValue)>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut members = Vec::new();
            while let Some(member) = map.next_entry()? {
                members.push(member);
            }
            Ok(members)
        }
    }
    let mut json = serde_json::Deserializer::from_str(json);
    let members = json.deserialize_map(Members).ok()?;
    json.end().ok()?;
    Some(members)
}
