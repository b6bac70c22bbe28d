//! Tools, calls and results as records of JSON and the like. Three structs do not pay for the five crates behind
//! `#[derive(Serialize, Deserialize)]`.

use serde::de::Error;
use serde::ser::SerializeStruct;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value, from_value, json};

use super::{Call, CallResult};
use crate::tool::Tool;

/// The members of a record: an `option`, which is not written where there is none, and others, each with what stands for
/// it where it is left out. Members that a record does not have are ignored.
macro_rules! record {
    ($name:ident { option: $($option:ident)?, $($field:ident: $default:expr),+ }) => {
        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let fields = [$(stringify!($field)),+].len() $(+ usize::from(self.$option.is_some()))?;
                let mut record = serializer.serialize_struct(stringify!($name), fields)?;
                $(match &self.$option {
                    Some(value) => record.serialize_field(stringify!($option), value)?,
                    None => record.skip_field(stringify!($option))?,
                })?
                $(record.serialize_field(stringify!($field), &self.$field)?;)+
                record.end()
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let mut members = Map::<String, Value>::deserialize(deserializer)?;
                Ok(Self {
                    $($option: member::<_, D::Error>(&mut members, stringify!($option), Some(Value::Null))?,)?
                    $($field: member::<_, D::Error>(&mut members, stringify!($field), $default)?),+
                })
            }
        }
    };
}

fn member<T: for<'de> Deserialize<'de>, E: Error>(
    members: &mut Map<String, Value>,
    key: &'static str,
    default: Option<Value>,
) -> Result<T, E> {
    let value = members.remove(key).or(default).ok_or_else(|| E::missing_field(key))?;
    from_value(value).map_err(|why| E::custom(format_args!("{key}: {why}")))
}

record!(Tool {
    option:,
    name: None,
    description: Some(Value::from("")),
    parameters: Some(json!({"type": "object", "properties": {}}))
});
record!(Call { option: id, name: None, arguments: None });
record!(CallResult { option: id, name: None, text: None, ok: None });
