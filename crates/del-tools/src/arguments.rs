//! Arguments as models write them, made into arguments as tools take them: aliases of keys, then types.

mod parameter;

use serde_json::{Map, Value};

use crate::outcome::{Code, Failure};
use crate::text::on_one_line;
use parameter::{Typed, quoted};

pub(crate) use parameter::*;

/// The arguments of one call: spelled and typed as the tool takes them.
#[derive(Debug, Clone)]
pub(crate) struct Arguments {
    tool: String,
    called: String,
    values: Vec<(&'static str, Typed)>,
    spellings: Vec<(&'static str, String)>,
    /// The keys that were sent, for messages.
    keys: String,
    notes: Vec<String>,
}

impl Arguments {
    /// Reads the JSON text of a call to `tool`, which takes `parameters` and declares `properties` to the model.
    /// Errors are worded with the spellings that the model was told.
    pub(crate) fn read(
        tool: &str,
        json: &str,
        parameters: &[&'static Parameter],
        properties: &Value,
    ) -> Result<Self, Failure> {
        let mut object = unwrapped(object(tool, json)?, parameters);
        object.retain(|_, value| !value.is_null());
        let keys = object.keys().map(String::as_str).collect::<Vec<_>>();
        let keys = named(&keys);
        let spellings = parameters.iter().map(|p| (p.name, p.declared(properties))).collect();
        let mut arguments = Self {
            tool: tool.to_owned(),
            called: tool.to_owned(),
            values: Vec::new(),
            spellings,
            keys,
            notes: Vec::new(),
        };
        let chosen = parameters.iter().map(|p| arguments.exact(p, &mut object)).collect::<Vec<_>>();
        for (parameter, exact) in parameters.iter().zip(chosen) {
            let found = match exact {
                Some(found) => {
                    // An exact spelling wins over whatever else was meant by an alias.
                    object.retain(|key, _| !parameter.answers_to(key));
                    Some(found)
                }
                None => arguments.aliased(parameter, &mut object)?,
            };
            if let Some((key, value)) = found
                && let Some(value) = parameter.typed(&key, value, &mut arguments.notes)?
            {
                arguments.values.push((parameter.name, value));
            }
        }
        let unknown: Vec<_> = object.keys().map(String::as_str).collect();
        if !unknown.is_empty() {
            let plural = if unknown.len() == 1 { "" } else { "s" };
            arguments.notes.push(format!("[ignored unknown argument{plural}: {}]", named(&unknown)));
        }
        Ok(arguments)
    }

    /// The same arguments of a call by this name.
    pub(crate) fn called(mut self, name: &str) -> Self {
        name.clone_into(&mut self.called);
        self
    }

    /// The arguments as JSON, spelt as `properties` declare them.
    pub(crate) fn spelt(self, parameters: &[&'static Parameter], properties: &Value) -> Value {
        let key = |name: &str| {
            let parameter = parameters.iter().find(|parameter| parameter.name == name);
            parameter.map_or_else(|| name.to_owned(), |parameter| parameter.declared(properties))
        };
        let spelt = self.values.into_iter().map(|(name, value)| {
            let value = match value {
                Typed::Text(text) => Value::String(text),
                Typed::Number(number) => number.into(),
                Typed::Flag(flag) => Value::Bool(flag),
                Typed::Words(words) => words.into(),
                Typed::Json(value) => value,
            };
            (key(name), value)
        });
        Value::Object(spelt.collect())
    }

    /// Whether the tool was called by `name`, in any spelling.
    pub(crate) fn is_called(&self, name: &str) -> bool {
        self.called.rsplit(['.', ':', '/']).next().is_some_and(|called| folded(called) == folded(name))
    }

    /// Text that must be there.
    pub(crate) fn need_text(&mut self, parameter: &Parameter) -> Result<String, Failure> {
        self.text(parameter).ok_or_else(|| self.missing(parameter, "string"))
    }

    /// Text, if there is any.
    pub(crate) fn text(&mut self, parameter: &Parameter) -> Option<String> {
        match self.take(parameter)? {
            Typed::Text(text) => Some(text),
            _ => None,
        }
    }

    /// A list of words, if there is one.
    pub(crate) fn words(&mut self, parameter: &Parameter) -> Option<Vec<String>> {
        match self.take(parameter)? {
            Typed::Words(words) => Some(words),
            _ => None,
        }
    }

    /// A number, if there is one.
    pub(crate) fn number(&mut self, parameter: &Parameter) -> Option<u64> {
        match self.take(parameter)? {
            Typed::Number(number) => Some(number),
            _ => None,
        }
    }

    /// The path, `.` where none was given or a blank one.
    pub(crate) fn path(&mut self) -> String {
        self.text(&PATH).filter(|path| !path.trim().is_empty()).unwrap_or_else(|| ".".to_owned())
    }

    /// A flag, if there is one.
    pub(crate) fn flag(&mut self, parameter: &Parameter) -> Option<bool> {
        match self.take(parameter)? {
            Typed::Flag(flag) => Some(flag),
            _ => None,
        }
    }

    /// The items of a list that must be there.
    pub(crate) fn need_list(&mut self, parameter: &Parameter) -> Result<Vec<Value>, Failure> {
        match self.take(parameter) {
            Some(Typed::Json(Value::Array(items))) => Ok(items),
            _ => Err(self.missing(parameter, "list")),
        }
    }

    /// Whether nothing was given for it.
    pub(crate) fn is_absent(&self, parameter: &Parameter) -> bool {
        self.values.iter().all(|(name, _)| *name != parameter.name)
    }

    /// The content of a file: text, or JSON that was not written as text.
    pub(crate) fn need_content(&mut self, parameter: &Parameter) -> Result<Value, Failure> {
        match self.take(parameter) {
            Some(Typed::Text(text)) => Ok(Value::String(text)),
            Some(Typed::Json(value)) => Ok(value),
            _ => Err(self.missing(parameter, "string")),
        }
    }

    /// How the parameter is spelled in what the model was told.
    pub(crate) fn spelling(&self, parameter: &Parameter) -> &str {
        self.spellings.iter().find(|(name, _)| *name == parameter.name).map_or(parameter.name, |(_, s)| s)
    }

    /// What the model should know of how its arguments were read; a line each.
    pub(crate) fn notes(&self) -> &[String] {
        &self.notes
    }

    fn take(&mut self, parameter: &Parameter) -> Option<Typed> {
        let at = self.values.iter().position(|(name, _)| *name == parameter.name)?;
        Some(self.values.swap_remove(at).1)
    }

    fn missing(&self, parameter: &Parameter, kind: &str) -> Failure {
        let (tool, spelling, keys) = (&self.tool, self.spelling(parameter), &self.keys);
        let text = format!("{tool} needs '{spelling}' ({kind}). Got keys: {keys}.");
        Failure::new(Code::MissingArg, text)
    }

    fn exact(&self, parameter: &Parameter, object: &mut Map<String, Value>) -> Option<(String, Value)> {
        let key = [self.spelling(parameter), parameter.name].into_iter().find(|k| object.contains_key(*k))?;
        object.shift_remove_entry(key)
    }

    fn aliased(
        &self,
        parameter: &Parameter,
        object: &mut Map<String, Value>,
    ) -> Result<Option<(String, Value)>, Failure> {
        let mut keys: Vec<_> = object.keys().filter(|key| parameter.answers_to(key)).cloned().collect();
        keys.sort_by_key(|key| folded(key) != folded(parameter.name));
        let mut found: Option<(String, Value)> = None;
        for key in keys {
            let Some((key, value)) = object.shift_remove_entry(&key) else { continue };
            match &found {
                Some((first, earlier)) if *earlier != value => {
                    let cause = format!(
                        "'{first}' and '{key}' both mean '{}' but differ. Send one of them.",
                        self.spelling(parameter)
                    );
                    return Err(Failure::new(Code::Conflict, cause));
                }
                Some(_) => {}
                None => found = Some((key, value)),
            }
        }
        Ok(found)
    }
}

/// The JSON text of a call as an object.
pub(crate) fn object(tool: &str, json: &str) -> Result<Map<String, Value>, Failure> {
    let bad = |detail: String| {
        let cause = format!("arguments of {tool} are not valid JSON ({detail}). Send one JSON object.");
        Failure::new(Code::BadJson, cause)
    };
    if json.trim().is_empty() {
        return Ok(Map::new());
    }
    let parse = |text: &str| {
        serde_json::from_str::<Value>(text).map_err(|error| {
            let message = error.to_string();
            let message = message.rsplit_once(" at line ").map_or(message.as_str(), |(cause, _)| cause);
            bad(format!("line {}, column {}: {message}", error.line(), error.column()))
        })
    };
    let value = match parse(json)? {
        Value::String(inner) => parse(&inner)?,
        value => value,
    };
    match value {
        Value::Object(object) => Ok(object),
        Value::Null => Ok(Map::new()),
        other => Err(bad(format!("expected an object, got {}", quoted(&other)))),
    }
}

/// Small models wrap arguments once more: `{"arguments": {…}}`.
pub(crate) fn unwrapped(
    mut object: Map<String, Value>,
    parameters: &[&'static Parameter],
) -> Map<String, Value> {
    for wrapper in ["arguments", "parameters", "args"] {
        let known = parameters.iter().any(|p| object.keys().any(|key| p.answers_to(key)));
        if !known && let Some(Value::Object(inner)) = object.get_mut(wrapper) {
            return std::mem::take(inner);
        }
    }
    object
}

/// Keys for a message: on one line, and not more than a model needs to see what it sent.
fn named(keys: &[&str]) -> String {
    if keys.is_empty() {
        return "none".to_owned();
    }
    let mut named: Vec<_> =
        keys.iter().take(8).map(|key| on_one_line(&key.chars().take(40).collect::<String>())).collect();
    if keys.len() > named.len() {
        named.push(format!("and {} more", keys.len() - named.len()));
    }
    named.join(", ")
}

#[cfg(test)]
#[path = "arguments_tests.rs"]
mod tests;
