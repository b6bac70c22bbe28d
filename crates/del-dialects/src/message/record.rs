//! Tools, calls and results as records of JSON and the like. Three structs do not pay for the five crates behind
//! `#[derive(Serialize, Deserialize)]`.

use serde::de::{DeserializeOwned, Error};
use serde::ser::SerializeStruct;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value, json};

use super::{Call, CallResult, Tool};

/// The members of an object that have not been read yet. Others than those asked for are ignored.
struct Members(Map<String, Value>);

impl Members {
    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Map::deserialize(deserializer).map(Self)
    }

    fn optional<T: DeserializeOwned, E: Error>(&mut self, key: &str) -> Result<Option<T>, E> {
        let value = self.0.remove(key).map(serde_json::from_value);
        value.transpose().map_err(|why| E::custom(format_args!("{key}: {why}")))
    }

    fn required<T: DeserializeOwned, E: Error>(&mut self, key: &'static str) -> Result<T, E> {
        self.optional(key)?.ok_or_else(|| E::missing_field(key))
    }
}

impl Serialize for Tool {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut record = serializer.serialize_struct("Tool", 3)?;
        record.serialize_field("name", &self.name)?;
        record.serialize_field("description", &self.description)?;
        record.serialize_field("parameters", &self.parameters)?;
        record.end()
    }
}

impl<'de> Deserialize<'de> for Tool {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut members = Members::read(deserializer)?;
        let no_parameters = || json!({"type": "object", "properties": {}}).into();
        Ok(Self {
            name: members.required("name")?,
            description: members.optional("description")?.unwrap_or_default(),
            parameters: members.optional("parameters")?.unwrap_or_else(no_parameters),
        })
    }
}

impl Serialize for Call {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut record = serializer.serialize_struct("Call", 2 + usize::from(self.id.is_some()))?;
        match &self.id {
            Some(id) => record.serialize_field("id", id)?,
            None => record.skip_field("id")?,
        }
        record.serialize_field("name", &self.name)?;
        record.serialize_field("arguments", &self.arguments)?;
        record.end()
    }
}

impl<'de> Deserialize<'de> for Call {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut members = Members::read(deserializer)?;
        Ok(Self {
            id: members.optional("id")?.flatten(),
            name: members.required("name")?,
            arguments: members.required("arguments")?,
        })
    }
}

impl Serialize for CallResult {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut record = serializer.serialize_struct("CallResult", 3 + usize::from(self.id.is_some()))?;
        match &self.id {
            Some(id) => record.serialize_field("id", id)?,
            None => record.skip_field("id")?,
        }
        record.serialize_field("name", &self.name)?;
        record.serialize_field("text", &self.text)?;
        record.serialize_field("ok", &self.ok)?;
        record.end()
    }
}

impl<'de> Deserialize<'de> for CallResult {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut members = Members::read(deserializer)?;
        Ok(Self {
            id: members.optional("id")?.flatten(),
            name: members.required("name")?,
            text: members.required("text")?,
            ok: members.required("ok")?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_read_as_they_were_written() {
        let tools = [
            json!({"name": "f", "description": "d", "parameters": {"type": "object"}}),
            json!({"name": "", "description": "", "parameters": {}}),
        ];
        for tool in tools {
            assert_eq!(json!(serde_json::from_value::<Tool>(tool.clone()).unwrap()), tool);
        }
        for call in [json!({"name": "f", "arguments": "{}"}), json!({"id": "7", "name": "", "arguments": ""})]
        {
            assert_eq!(json!(serde_json::from_value::<Call>(call.clone()).unwrap()), call);
        }
        for result in [
            json!({"name": "f", "text": "", "ok": false}),
            json!({"id": "", "name": "f", "text": "t", "ok": true}),
        ] {
            assert_eq!(json!(serde_json::from_value::<CallResult>(result.clone()).unwrap()), result);
        }
    }

    #[test]
    fn what_a_record_may_leave_out_has_a_default() {
        let tool: Tool = serde_json::from_value(json!({"name": "f", "strict": true})).unwrap();
        assert_eq!(
            json!(tool),
            json!({"name": "f", "description": "", "parameters": {"type": "object", "properties": {}}})
        );
        let call: Call = serde_json::from_value(json!({"id": null, "name": "f", "arguments": ""})).unwrap();
        assert_eq!(call.id, None);
    }

    #[test]
    fn a_broken_record_is_told_by_its_member() {
        let missing = serde_json::from_value::<Tool>(json!({"description": ""})).unwrap_err();
        assert_eq!(missing.to_string(), "missing field `name`");
        let wrong = serde_json::from_value::<Call>(json!({"name": "f", "arguments": {}})).unwrap_err();
        assert_eq!(wrong.to_string(), "arguments: invalid type: map, expected a string");
        assert!(serde_json::from_value::<CallResult>(json!([])).is_err());
    }
}
