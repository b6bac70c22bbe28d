//! Names of tools that a server's API refuses: it is told others in their place, each for one, and its calls get theirs
//! back.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value, json};

/// What the APIs of OpenAI and of Anthropic take: letters, digits, `_` and `-` of ASCII, so many at most.
const LONGEST: usize = 64;
/// What stays of a name that gets a number.
const STEM: usize = 56;

/// The names of one request that a server is told otherwise.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToolNames {
    told: HashMap<String, String>,
    given: HashMap<String, String>,
}

impl ToolNames {
    /// Those of a request for a chat completion: of its tools, and of calls and results in its conversation. The same tools
    /// in the same order have the same names in each.
    pub fn of(body: &Map<String, Value>) -> Self {
        let mut given = Vec::new();
        each(body.get("tools"), |tool| given.extend(tool.pointer("/function/name")));
        each(body.get("messages"), |message| {
            each(message.get("tool_calls"), |call| given.extend(call.pointer("/function/name")));
            if is_result(message) {
                given.extend(message.get("name"));
            }
        });
        let (plain, odd): (Vec<&str>, Vec<&str>) =
            given.into_iter().filter_map(Value::as_str).partition(|name| fits(name));
        let mut names = Self::default();
        if odd.is_empty() {
            return names;
        }
        let mut taken: HashSet<String> = plain.into_iter().map(str::to_owned).collect();
        let mut numbers = HashMap::<String, usize>::new();
        for name in odd {
            // Without a name, it is the server's affair.
            if name.is_empty() || names.told.contains_key(name) {
                continue;
            }
            let mut told = like(name, LONGEST);
            while !taken.insert(told.clone()) {
                let stem = like(name, STEM);
                let number = numbers.entry(stem.clone()).or_insert(1);
                *number += 1;
                told = format!("{stem}_{number}");
            }
            names.given.insert(told.clone(), name.to_owned());
            names.told.insert(name.to_owned(), told);
        }
        names
    }

    /// True where the server takes all names.
    pub fn is_empty(&self) -> bool {
        self.told.is_empty()
    }

    /// What the server is told in place of this name.
    pub fn told<'n>(&'n self, given: &'n str) -> &'n str {
        self.told.get(given).map_or(given, String::as_str)
    }

    /// What the client calls the tool that the server calls so.
    pub fn given<'n>(&'n self, told: &'n str) -> &'n str {
        self.given.get(told).map_or(told, String::as_str)
    }

    /// Writes a request as the server takes it.
    pub fn tell(&self, body: &mut Map<String, Value>) {
        each_mut(body.get_mut("tools"), |tool| self.tell_at(tool.pointer_mut("/function/name")));
        each_mut(body.get_mut("messages"), |message| self.tell_in(message));
        self.tell_at(body.get_mut("tool_choice").and_then(|choice| choice.pointer_mut("/function/name")));
    }

    /// The same of a message.
    pub fn tell_in(&self, message: &mut Value) {
        each_mut(message.get_mut("tool_calls"), |call| self.tell_at(call.pointer_mut("/function/name")));
        if is_result(message) {
            self.tell_at(message.get_mut("name"));
        }
    }

    fn tell_at(&self, name: Option<&mut Value>) {
        if let Some(name) = name
            && let Some(told) = name.as_str().and_then(|given| self.told.get(given))
        {
            *name = json!(told);
        }
    }
}

fn each<'v>(list: Option<&'v Value>, look: impl FnMut(&'v Value)) {
    list.and_then(Value::as_array).into_iter().flatten().for_each(look);
}

fn each_mut(list: Option<&mut Value>, change: impl FnMut(&mut Value)) {
    list.and_then(Value::as_array_mut).into_iter().flatten().for_each(change);
}

/// The name of any other message is that of who speaks.
fn is_result(message: &Value) -> bool {
    matches!(message["role"].as_str(), Some("tool" | "function"))
}

fn fits(name: &str) -> bool {
    (1..=LONGEST).contains(&name.len()) && name.chars().all(is_plain)
}

fn is_plain(sign: char) -> bool {
    sign.is_ascii_alphanumeric() || matches!(sign, '_' | '-')
}

/// A name as similar as the API takes it, of so many signs at most.
fn like(name: &str, most: usize) -> String {
    name.chars().take(most).map(|sign| if is_plain(sign) { sign } else { '_' }).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{LONGEST, ToolNames, fits};

    #[test]
    fn every_name_has_one_of_its_own_there_and_back() {
        let long = "long".repeat(40);
        let (longer, cut) = (format!("{long}er"), long[..LONGEST].to_owned());
        let names = ["a.b", "a_b", "a/b", "a_b_2", "plain", &long, &longer, &cut, "天気", "気天", "é", &long];
        let tool = |name: &&str| json!({"type": "function", "function": {"name": name}});
        let called = json!({"role": "assistant", "tool_calls": [{"function": {"name": "gone.away"}}]});
        let result = |name: &str| json!({"role": "tool", "name": name});
        let choice = json!({"type": "function", "function": {"name": long}});
        let messages = json!([{"role": "user", "name": "Zoë"}, called, result("a.b"), result("plain")]);
        let body = json!({"tools": names.iter().map(tool).collect::<Value>(), "tool_choice": choice, "messages": messages});
        let mut body = body.as_object().unwrap().clone();
        let known = ToolNames::of(&body);
        known.tell(&mut body);
        let told: Vec<&str> = body["tools"]
            .as_array()
            .unwrap()
            .iter()
            .map(|tool| tool["function"]["name"].as_str().unwrap())
            .collect();
        for (told, name) in told.iter().zip(names) {
            assert!(fits(told), "{told}");
            assert_eq!((known.given(told), known.told(name)), (name, *told));
        }
        let mut different: Vec<&str> = told.clone();
        different.sort_unstable();
        different.dedup();
        assert_eq!(different.len(), names.len() - 1, "{told:?}");
        assert_eq!((told[0], told[1], told[4]), ("a_b_3", "a_b", "plain"));
        assert_eq!(body["tool_choice"]["function"]["name"], told[5]);
        assert_eq!(body["messages"][0]["name"], "Zoë");
        assert_eq!(body["messages"][1]["tool_calls"][0]["function"]["name"], "gone_away");
        assert_eq!(
            (&body["messages"][2]["name"], &body["messages"][3]["name"]),
            (&json!(told[0]), &json!("plain"))
        );
    }

    #[test]
    fn names_that_servers_take_stay() {
        let body = json!({"tools": [{"function": {"name": "a-b_C9"}}, {"function": {"name": ""}}, {"function": {}}, 1],
            "messages": [{"role": "user", "name": "a b"}, 2]});
        assert!(ToolNames::of(body.as_object().unwrap()).is_empty());
    }
}
