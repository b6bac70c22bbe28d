//! Hybrid mode: the model is told of all tools in a line each, and gets the whole definitions of those that it asks for.
//!
//! It asks by a call of one more tool, [`REQUEST`], however calls reach it: over the API, in its dialect, or as
//! `<am:request_tools>`. What it has the definitions of follows from the conversation alone, so nobody has to
//! remember anything: a tool that was asked for or called is defined from then on.

use del_dialects::{Call, CallResult, Tool};
use serde_json::{Value, json};

use crate::error::excerpt;
use crate::prompt;

/// The tool that asks for definitions.
pub const REQUEST: &str = "request_tools";

/// The tools of a conversation, and those of them that the model has the definitions of.
#[derive(Debug, Clone)]
pub struct Hybrid<'a> {
    all: &'a [Tool],
    /// Their places, in the order in which the definitions came: what a server has read of a prompt stays as it is.
    defined: Vec<usize>,
}

/// A description by words is answered by so many tools.
const MOST_FOUND: usize = 5;
/// Names that are told in place of one that nobody has.
const MOST_SIMILAR: usize = 3;
/// Characters of a description in the list of all tools.
const LONGEST_LINE: usize = 100;

impl<'a> Hybrid<'a> {
    /// Nothing is defined yet. There is no hybrid mode without tools, or where one of them has the name of the tool that
    /// asks for the others.
    pub fn new(all: &'a [Tool]) -> Option<Self> {
        let can = !all.is_empty() && all.iter().all(|tool| tool.name != REQUEST);
        can.then_some(Self { all, defined: Vec::new() })
    }

    /// The model made this call: what it asked for, or called, is defined from now on.
    pub fn take(&mut self, call: &Call) {
        let places = if call.name == REQUEST { found(self.all, &call.arguments).0 } else { Vec::new() };
        let called = self.all.iter().position(|tool| tool.name == call.name);
        for place in places.into_iter().chain(called) {
            if !self.defined.contains(&place) {
                self.defined.push(place);
            }
        }
    }

    /// The model has the definition of this tool from now on.
    pub fn define(&mut self, name: &str) {
        self.take(&Call { id: None, name: name.to_owned(), arguments: String::new() });
    }

    /// Takes the calls in messages of the API.
    pub fn read(&mut self, messages: &[Value]) {
        let messages = messages.iter().filter_map(Value::as_object);
        messages
            .flat_map(|fields| prompt::calls(fields).unwrap_or_default())
            .for_each(|call| self.take(&call));
    }

    /// The result of a call that is answered here: one that asks for definitions, or one of a tool whose definition the
    /// model had not seen, so that its arguments are guessed. Every other call is to be run.
    pub fn answer(&self, call: &Call) -> Option<CallResult> {
        let result = |ok, text| CallResult { id: call.id.clone(), name: call.name.clone(), text, ok };
        if call.name == REQUEST {
            let (places, unknown) = found(self.all, &call.arguments);
            return Some(result(!places.is_empty(), self.told(&places, &unknown)));
        }
        let tool = self.all.iter().find(|tool| tool.name == call.name && !self.has(&tool.name))?;
        let text = format!(
            "Error: not run: you had no definition of {} yet. You have it now. Call it again, with {}",
            tool.name,
            arguments(tool)
        );
        Some(result(false, text))
    }

    /// Whether the model has the definition of this tool.
    pub fn has(&self, name: &str) -> bool {
        self.defined().any(|tool| tool.name == name)
    }

    /// The tools that the model has the definitions of.
    pub fn defined(&self) -> impl Iterator<Item = &'a Tool> {
        self.defined.iter().map(|place| &self.all[*place])
    }

    /// The tool that asks for definitions, whose description lists all tools.
    pub fn request(&self) -> Tool {
        let list: String = self.all.iter().map(line).collect();
        Tool {
            name: REQUEST.to_owned(),
            description: format!("Gives you the definitions of tools, which you need before you call one of these:{list}"),
            parameters: json!({"type": "object", "required": ["query"], "properties": {"query": {"type": "string",
                "description": "names of all tools that you will need, separated by commas, or what a tool should do"}}})
            .into(),
        }
    }

    /// What the model is told of: how to ask, and what it has asked for.
    pub fn tools(&self) -> Vec<Tool> {
        std::iter::once(self.request()).chain(self.defined().cloned()).collect()
    }

    fn told(&self, places: &[usize], unknown: &[String]) -> String {
        let tools: Vec<&Tool> = places.iter().map(|place| &self.all[*place]).collect();
        let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
        let mut parts = Vec::new();
        match tools.as_slice() {
            [] => parts.push("Error: nothing is defined by that.".to_owned()),
            [one] => {
                parts.push(format!(
                    "You have the definition of {} now. Call it, with {}",
                    one.name,
                    arguments(one)
                ));
            }
            several => {
                parts.push(format!("You have the definitions of {} now. Call them:", names.join(", ")));
                parts.extend(several.iter().map(|tool| format!("{} with {}", tool.name, arguments(tool))));
            }
        }
        parts.extend(unknown.iter().map(|name| {
            let similar = similar(self.all, name).join(", ");
            format!("Expected a name from the list, such as {similar}, got `{}`.", excerpt(name))
        }));
        if names.is_empty() && unknown.is_empty() {
            parts.push("Expected names of tools, separated by commas, got none.".to_owned());
        }
        parts.join(" ")
    }
}

/// The arguments of a tool by name and type: without them, small models write those of the call before.
fn arguments(tool: &Tool) -> String {
    let required = tool.parameters.get("required").and_then(Value::as_array);
    let optional = |key: &String| {
        if required.is_some_and(|all| all.iter().any(|one| one == key)) { "" } else { ", optional" }
    };
    let properties = tool.parameters.get("properties").and_then(Value::as_object).into_iter().flatten();
    let said = |(key, schema): (&String, &Value)| {
        let kind = schema["type"].as_str().unwrap_or("any");
        format!("{key} ({kind}{})", optional(key))
    };
    let all: Vec<String> = properties.map(said).collect();
    if all.is_empty() {
        "no arguments.".to_owned()
    } else {
        format!("its own arguments: {}.", all.join(", "))
    }
}

/// A tool in the list of all. There is no end of a sentence in it: the shortest form of definitions stops there.
fn line(tool: &Tool) -> String {
    let text = tool.description.trim();
    let first = text.split(['\n', '\r']).next().unwrap_or_default();
    let sentence = first.split(". ").next().unwrap_or_default().trim().trim_end_matches('.');
    let cut = sentence.char_indices().nth(LONGEST_LINE).map(|(end, _)| format!("{}…", &sentence[..end]));
    let about = cut.as_deref().unwrap_or(sentence);
    let between = if about.is_empty() { "" } else { ": " };
    format!("\n- {}{between}{about}", tool.name)
}

/// The places of the tools that are asked for, and what nobody knows of it.
fn found(all: &[Tool], arguments: &str) -> (Vec<usize>, Vec<String>) {
    let mut texts = Vec::new();
    match serde_json::from_str(arguments) {
        Ok(value) => strings(&value, &mut texts),
        Err(_) => texts.push(arguments.to_owned()),
    }
    let (mut places, mut unknown) = (Vec::new(), Vec::new());
    let is_around = |letter: char| letter.is_whitespace() || "\"'`*[](){}<>-.".contains(letter);
    for part in texts.iter().flat_map(|text| text.split([',', ';', '\n'])) {
        let part = part.trim_matches(is_around);
        if part.is_empty() {
            continue;
        }
        let words = part.split_whitespace().map(|word| named(all, word.trim_matches(is_around)));
        let known = match named(all, part) {
            Some(place) => vec![place],
            None => words.collect::<Option<Vec<_>>>().unwrap_or_else(|| fitting(all, part)),
        };
        if known.is_empty() {
            unknown.push(part.to_owned());
        }
        places.extend(known);
    }
    let mut seen = Vec::new();
    places.retain(|place| {
        !seen.contains(place) && {
            seen.push(*place);
            true
        }
    });
    (places, unknown)
}

/// All texts in a value.
fn strings(value: &Value, out: &mut Vec<String>) {
    match value {
        Value::String(text) => out.push(text.clone()),
        Value::Array(list) => list.iter().for_each(|value| strings(value, out)),
        Value::Object(members) => members.values().for_each(|value| strings(value, out)),
        _ => {}
    }
}

fn named(all: &[Tool], name: &str) -> Option<usize> {
    let exact = all.iter().position(|tool| tool.name == name);
    exact.or_else(|| all.iter().position(|tool| tool.name.eq_ignore_ascii_case(name)))
}

/// The tools that plain words describe best: the rarer a word is in names and descriptions, the more it counts.
fn fitting(all: &[Tool], wanted: &str) -> Vec<usize> {
    /// Shorter words say nothing.
    const SHORTEST: usize = 3;
    // A name that nobody has is a mistake, and no description.
    if !wanted.contains(' ') && wanted.contains(|letter: char| !letter.is_alphabetic()) {
        return Vec::new();
    }
    let texts: Vec<String> =
        all.iter().map(|tool| format!("{} {}", tool.name, tool.description).to_lowercase()).collect();
    let mut scores = vec![0.0_f64; all.len()];
    for word in wanted.to_lowercase().split(|letter: char| !letter.is_alphanumeric()) {
        // "files" is meant by "file" as well.
        let stem = word.strip_suffix('s').unwrap_or(word);
        if stem.chars().count() < SHORTEST {
            continue;
        }
        let holding: Vec<usize> = (0..all.len()).filter(|place| texts[*place].contains(stem)).collect();
        let count = u32::try_from(holding.len()).unwrap_or(u32::MAX);
        for place in holding {
            let in_name = all[place].name.to_lowercase().contains(stem);
            scores[place] += if in_name { 2.0 } else { 1.0 } / f64::from(count);
        }
    }
    let best = scores.iter().copied().fold(0.0, f64::max);
    let mut places: Vec<usize> =
        (0..all.len()).filter(|place| scores[*place] > 0.0 && scores[*place] * 2.0 >= best).collect();
    places.sort_by(|a, b| scores[*b].total_cmp(&scores[*a]));
    places.truncate(MOST_FOUND);
    places
}

/// The names that share most pairs of letters with this one.
fn similar<'t>(all: &'t [Tool], name: &str) -> Vec<&'t str> {
    let pairs = |text: &str| -> Vec<(char, char)> {
        let letters: Vec<char> = text.to_lowercase().chars().collect();
        letters.windows(2).map(|pair| (pair[0], pair[1])).collect()
    };
    let wanted = pairs(name);
    let mut names: Vec<(f64, &str)> = all
        .iter()
        .map(|tool| {
            let own = pairs(&tool.name);
            let shared = own.iter().filter(|pair| wanted.contains(pair)).count();
            let count = |count: usize| f64::from(u32::try_from(count).unwrap_or(u32::MAX));
            (count(shared) / count(own.len() + wanted.len()).max(1.0), tool.name.as_str())
        })
        .collect();
    names.sort_by(|a, b| b.0.total_cmp(&a.0));
    names.into_iter().take(MOST_SIMILAR).map(|(_, name)| name).collect()
}

#[cfg(test)]
mod tests {
    use del_dialects::{Call, Detail, Dialects, Tool};
    use serde_json::json;

    use super::{Hybrid, REQUEST};

    fn tools() -> Vec<Tool> {
        let tool = |name: &str, description: &str| Tool {
            name: name.to_owned(),
            description: description.to_owned(),
            parameters: json!({"type": "object", "properties": {"city": {"type": "string"}}}).into(),
        };
        vec![
            tool("get_weather", "Says the weather of a city. In degrees.\nOr not."),
            tool("get_time", "Says the time in a city."),
            tool("send_mail", &"long ".repeat(40)),
            tool("list_files", "Lists a folder's contents"),
            tool("bare", ""),
        ]
    }

    fn call(name: &str, arguments: &str) -> Call {
        Call { id: Some("c".to_owned()), name: name.to_owned(), arguments: arguments.to_owned() }
    }

    fn names(hybrid: &Hybrid<'_>) -> Vec<String> {
        hybrid.defined().map(|tool| tool.name.clone()).collect()
    }

    #[test]
    fn all_tools_are_listed_in_a_line_each_and_none_is_defined() {
        let tools = tools();
        let hybrid = Hybrid::new(&tools).unwrap();
        let told = hybrid.tools();
        assert_eq!((told.len(), told[0].name.as_str()), (1, REQUEST));
        let list: Vec<&str> = told[0].description.lines().skip(1).collect();
        assert_eq!(
            list[..2],
            ["- get_weather: Says the weather of a city", "- get_time: Says the time in a city"]
        );
        assert_eq!((list[2].chars().count(), list[4]), ("- send_mail: ".len() + 101, "- bare"));
        // Whole also where definitions are cut at the end of a sentence.
        let hermes = Dialects::builtin().get("hermes-json").unwrap();
        assert!(hermes.definitions_in(&told, Detail::Compact).contains("- bare"));
    }

    #[test]
    fn what_is_asked_for_is_defined_however_it_is_asked() {
        let tools = tools();
        for (arguments, expected) in [
            (r#"{"query": "get_time"}"#, vec!["get_time"]),
            (r#"{"query": "`send_mail`, GET_TIME"}"#, vec!["send_mail", "get_time"]),
            (r#"{"names": ["bare", "get_time", "bare"]}"#, vec!["bare", "get_time"]),
            (r#"{"query": "get_time send_mail"}"#, vec!["get_time", "send_mail"]),
            (r#"{"query": "the weather in Paris"}"#, vec!["get_weather"]),
            (r#"{"query": "weather"}"#, vec!["get_weather"]),
            (r#"{"query": "folders"}"#, vec!["list_files"]),
            ("get_time\n- bare", vec!["get_time", "bare"]),
            (r#"{"query": "get_thyme, bare"}"#, vec!["bare"]),
            (r#"{"query": ""}"#, vec![]),
            ("{}", vec![]),
        ] {
            let mut hybrid = Hybrid::new(&tools).unwrap();
            hybrid.take(&call(REQUEST, arguments));
            assert_eq!(names(&hybrid), expected, "{arguments}");
            let result = hybrid.answer(&call(REQUEST, arguments)).unwrap();
            assert_eq!((result.ok, result.id.as_deref()), (!expected.is_empty(), Some("c")), "{result:?}");
            assert!(expected.iter().all(|name| result.text.contains(name)), "{result:?}");
        }
    }

    #[test]
    fn more_come_at_any_turn_behind_those_that_are_there() {
        let tools = tools();
        let mut hybrid = Hybrid::new(&tools).unwrap();
        hybrid.read(&[
            json!({"role": "user", "content": "hi"}),
            json!({"role": "assistant", "tool_calls": [{"function": {"name": "send_mail", "arguments": "{}"}}]}),
            json!({"role": "assistant", "tool_calls": [{"function": {"name": REQUEST, "arguments": "{\"query\": \"get_time\"}"}}]}),
        ]);
        assert_eq!(names(&hybrid), ["send_mail", "get_time"]);
        assert_eq!(hybrid.tools()[1], tools[2]);
    }

    #[test]
    fn a_mistake_is_told_so_that_it_can_be_mended() {
        let tools = tools();
        let hybrid = Hybrid::new(&tools).unwrap();
        let told = |arguments| hybrid.answer(&call(REQUEST, arguments)).unwrap().text;
        let unknown = told(r#"{"query": "get_wether"}"#);
        assert_eq!(
            unknown,
            "Error: nothing is defined by that. Expected a name from the list, such as get_weather, get_time, list_files, \
             got `get_wether`."
        );
        assert!(told("{}").ends_with("Expected names of tools, separated by commas, got none."));
    }

    #[test]
    fn a_call_without_the_definition_asks_for_it() {
        let tools = tools();
        let mut hybrid = Hybrid::new(&tools).unwrap();
        let guess = call("get_time", r#"{"town": "Rome"}"#);
        let result = hybrid.answer(&guess).unwrap();
        assert!(!result.ok && result.text.starts_with("Error: not run"), "{result:?}");
        assert!(result.text.ends_with("with its own arguments: city (string, optional)."), "{result:?}");
        hybrid.take(&guess);
        assert_eq!(names(&hybrid), ["get_time"]);
        assert_eq!(hybrid.answer(&guess), None);
        // Whether there is such a tool at all is not the question here.
        assert_eq!(hybrid.answer(&call("nobody", "{}")), None);
    }

    #[test]
    fn there_is_none_without_tools_or_with_one_of_that_name() {
        let mut tools = tools();
        tools[0].name = REQUEST.to_owned();
        assert!(Hybrid::new(&tools).is_none() && Hybrid::new(&[]).is_none());
    }
}
