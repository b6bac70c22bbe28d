//! JSON in which the arguments of calls keep their spelling: as values, they are the text that they were written as. A value
//! has no place for the digits of every number.

use serde_json::{Map, Value, json};

use crate::arguments;
use crate::error::WireError;
use crate::fields::{Fields, json, list};
use crate::members::Members;

/// Reads JSON in which arguments are objects at the end of this path of members; a list of objects on it is gone through.
pub(crate) fn read(text: &str, path: &[&str]) -> Result<Value, WireError> {
    match (text.as_bytes().first(), path) {
        // Lists in lists are on no path, and a client could send them deeper than a stack is.
        (Some(b'['), [_, ..]) => {
            list(text, "list")?.into_iter().map(|item| read_object(item, path)).collect()
        }
        _ => read_object(text, path),
    }
}

fn read_object(text: &str, path: &[&str]) -> Result<Value, WireError> {
    match (text.as_bytes().first(), path) {
        (Some(b'{'), []) => Ok(json!(text)),
        (Some(b'{'), [name, rest @ ..]) => {
            let mut members = Map::new();
            for (key, value) in Fields::read(text, name)?.iter() {
                let value = if key == *name { read(value, rest) } else { json(value) };
                members.insert(key.to_owned(), value?);
            }
            Ok(Value::Object(members))
        }
        _ => json(text),
    }
}

/// Writes the same again.
pub(crate) fn write(value: &Value, path: &[&str], out: &mut Vec<u8>) {
    match (value, path) {
        (Value::String(text), []) => out.extend_from_slice(arguments::object(text).as_bytes()),
        (Value::Array(list), [_, ..]) => {
            out.push(b'[');
            for (place, item) in list.iter().enumerate() {
                if place > 0 {
                    out.push(b',');
                }
                write(item, path, out);
            }
            out.push(b']');
        }
        (Value::Object(members), [name, rest @ ..]) => {
            let mut object = Members::default();
            for (key, value) in members {
                if key == name {
                    object.name(key);
                    write(value, rest, &mut object.0);
                } else {
                    object.add_value(key, value);
                }
            }
            object.write(out);
        }
        // A vector takes every write.
        _ => drop(serde_json::to_writer(out, value)),
    }
}

/// Makes values of the arguments, for whoever can do without their spelling.
pub(crate) fn forget(value: &mut Value, path: &[&str]) {
    match (value, path) {
        (value @ Value::String(_), []) => {
            let read = value.as_str().and_then(|text| serde_json::from_str(arguments::object(text)).ok());
            *value = read.unwrap_or_else(|| json!({}));
        }
        (Value::Array(list), [_, ..]) => list.iter_mut().for_each(|item| forget(item, path)),
        (Value::Object(members), [name, rest @ ..]) => {
            if let Some(member) = members.get_mut(*name) {
                forget(member, rest);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{forget, read, write};

    const PATH: [&str; 3] = ["calls", "function", "arguments"];

    #[test]
    fn what_was_read_is_written_again() {
        for (text, arguments) in [
            (
                r#"[{"a":1,"calls":[{"function":{"arguments":{"n": 12345678901234567890123, "f":1.50,"e":1e400}}}]}]"#,
                json!(r#"{"n": 12345678901234567890123, "f":1.50,"e":1e400}"#),
            ),
            (r#"[{"calls":{"function":{"name":"f","arguments":{}}}}]"#, json!("{}")),
            (r#"[{"calls":[],"arguments":{"calls":1}},{"calls":null},"calls"]"#, Value::Null),
        ] {
            let value = read(text, &PATH).unwrap();
            let first = &value[0]["calls"];
            let call = if first.is_array() { &first[0] } else { first };
            assert_eq!(call["function"]["arguments"], arguments);
            let mut out = Vec::new();
            write(&value, &PATH, &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), text);
        }
        assert!(read(r#"[{"calls":[}]"#, &PATH).is_err());
        let [deep, deeper] = [100, 200_000].map(|depth| "[".repeat(depth) + &"]".repeat(depth));
        assert!(read(&deep, &PATH).is_ok() && read(&deeper, &PATH).is_err());
        assert!(read(&format!("[{{\"calls\":{deeper}}}]"), &PATH).is_err());
    }

    #[test]
    fn what_is_no_object_is_an_empty_one() {
        for (given, plain) in [
            (json!(r#"{"a": [1.0]}"#), json!({"a": [1.0]})),
            (json!("Paris"), json!({})),
            (json!(r#"{"a": 1e400}"#), json!({})),
            (json!({"a": 1}), json!({"a": 1})),
        ] {
            let mut value = json!({"calls": [{"function": {"arguments": given}}]});
            let mut out = Vec::new();
            write(&value, &PATH, &mut out);
            forget(&mut value, &PATH);
            assert_eq!(value["calls"][0]["function"]["arguments"], plain);
            let spelled = if given == "Paris" {
                "{}".to_owned()
            } else {
                given.as_str().map_or_else(|| given.to_string(), str::to_owned)
            };
            assert!(String::from_utf8(out).unwrap().contains(&format!("\"arguments\":{spelled}}}")));
        }
    }
}
