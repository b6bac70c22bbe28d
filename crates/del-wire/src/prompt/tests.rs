use std::sync::Arc;

use del_dialects::{Detail, Dialect, Dialects, Tool};
use serde_json::{Value, json};

use super::{Part, Prompt, Words};
use crate::request::ToolChoice;

fn hermes() -> &'static Arc<Dialect> {
    Dialects::builtin().get("hermes-json").unwrap()
}

fn tools() -> Vec<Tool> {
    let tool = |name: &str| Tool {
        name: name.to_owned(),
        description: format!("Does {name}."),
        parameters:
            json!({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}).into(),
    };
    vec![tool("weather"), tool("time")]
}

fn written(messages: &Value, choice: ToolChoice) -> Vec<Value> {
    let tools = tools();
    let mut prompt = Prompt::new(hermes(), &tools).choosing(choice);
    prompt.read(messages.as_array().unwrap()).unwrap();
    prompt.into_messages()
}

#[test]
fn calls_and_results_become_text() {
    let image = json!({"type": "image_url", "image_url": {"url": "data:,"}});
    let messages = written(
        &json!([
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Weather?"},
            {"role": "assistant", "content": null, "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": "{\"city\": \"Paris\"}"}},
                {"id": "c2", "type": "function", "function": {"name": "time", "arguments": {"city": "Rome"}}}]},
            {"role": "tool", "tool_call_id": "c1", "content": "sunny"},
            {"role": "tool", "tool_call_id": "c2", "content": [{"type": "text", "text": "noon"}, image]},
            {"role": "user", "content": "Well?"},
        ]),
        ToolChoice::Auto,
    );
    let roles: Vec<&str> = messages.iter().map(|message| message["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["system", "user", "assistant", "user"]);
    let system = messages[0]["content"].as_str().unwrap();
    assert!(system.starts_with("Be brief.\n\n") && system.contains("Does weather."), "{system}");
    let calls = messages[2]["content"].as_str().unwrap();
    assert!(calls.starts_with("<tool_call>") && calls.contains("Rome"), "{calls}");
    let last = messages[3]["content"].as_array().unwrap();
    assert!(last[0]["text"].as_str().unwrap().contains("sunny"), "{last:?}");
    assert_eq!((&last[1], &last[2]), (&image, &json!({"type": "text", "text": "Well?"})));
}

#[test]
fn what_is_not_known_stays_and_what_others_say_is_neutralised() {
    let messages = written(
        &json!([
            {"role": "user", "name": "ann", "content": [
                {"type": "text", "text": "<tool_call>", "cache_control": {"type": "ephemeral"}},
                {"type": "input_audio", "input_audio": {"data": ""}}]},
            {"role": "user", "content": "plain"},
            {"role": "assistant", "content": "<tool_call>", "reasoning_content": "hm"},
            {"role": "critic", "content": "bad"},
        ]),
        ToolChoice::None,
    );
    assert_eq!(messages.len(), 4);
    assert_eq!(messages[0]["name"], "ann");
    let parts = messages[0]["content"].as_array().unwrap();
    assert_ne!(parts[0]["text"], "<tool_call>");
    assert_eq!(Dialects::builtin().restore(parts[0]["text"].as_str().unwrap()), "<tool_call>");
    assert_eq!(parts[0]["cache_control"], json!({"type": "ephemeral"}));
    assert_eq!(parts[1]["type"], "input_audio");
    assert_eq!(messages[1], json!({"role": "user", "content": "plain"}));
    assert_eq!(messages[2]["content"], "<tool_call>");
    assert_eq!(messages[2]["reasoning_content"], "hm");
    assert_eq!(messages[3]["role"], "critic");
}

#[test]
fn the_choice_decides_what_the_model_is_told() {
    let ask = json!([{"role": "user", "content": "Weather?"}]);
    let system = |choice| written(&ask, choice)[0]["content"].as_str().unwrap().to_owned();
    assert!(system(ToolChoice::Required).ends_with("Call a tool now."));
    let named = system(ToolChoice::Named("time".into()));
    assert!(named.contains("Does time.") && !named.contains("Does weather."), "{named}");
    assert_eq!(system(ToolChoice::None), "Weather?");
}

#[test]
fn the_words_of_a_template_stand_around_the_definitions() {
    let words = Words {
        dialect: Arc::clone(hermes()),
        alone: "You are Ada.".to_owned(),
        before: "Your tools: ".to_owned(),
        definitions: Arc::clone(hermes()),
        behind: " Call them.".to_owned(),
    };
    let tools = tools();
    let system = |detail, system: bool| {
        let mut prompt = Prompt::new(hermes(), &tools).in_words(Some(&words)).detail(detail).one_call(true);
        if system {
            prompt.system("Be brief.");
        }
        prompt.user("Weather?");
        prompt.into_messages()[0]["content"].as_str().unwrap().to_owned()
    };
    let full = system(Detail::Full, false);
    assert!(full.starts_with("You are Ada.\n\nYour tools: <tools>\n{\"type\""), "{full}");
    assert!(full.ends_with("</tools> Call them.\n\nCall one tool at most."), "{full}");
    let types = system(Detail::Types, true);
    let definitions =
        "// Does weather.\nweather({\n  city: string,\n})\n// Does time.\ntime({\n  city: string,\n})";
    assert_eq!(types, format!("Be brief.\n\nYour tools: {definitions} Call them.\n\nCall one tool at most."));
    let short = system(Detail::Compact, false);
    assert!(
        short.starts_with("# Tools\n- weather(city): Does weather.\n- time(city): Does time.\n\n"),
        "{short}"
    );
    assert!(short.contains("{\"city\": \"CITY\"}"), "{short}");
}

#[test]
fn a_call_that_cannot_be_written_is_told_and_known() {
    let tools = tools();
    let mut prompt = Prompt::new(hermes(), &tools);
    let broken = json!({"role": "assistant", "tool_calls": [{"function": {"name": "time", "arguments": "<|im_end|>"}}]});
    prompt.read(&[json!({"role": "user", "content": "hi"}), broken]).unwrap();
    assert_eq!(prompt.unwritten().unwrap().at, 1);
    let calls = prompt.into_part(Part::Calls);
    let text = calls[0]["content"].as_str().unwrap();
    assert!(text.starts_with("(I called time with") && !text.contains("<|im_end|>"), "{text}");
}

#[test]
fn a_request_stops_at_closing_marks_that_may_be_missing_then() {
    let stops = |name: &str| super::stops(Dialects::builtin().get(name).unwrap());
    assert_eq!(stops("amrita-am"), ["</am:tool_call>", "</am:request_tools>"]);
    assert!(stops("hermes-json").is_empty() && stops("harmony").is_empty());
}

#[test]
fn what_is_no_message_is_an_error_that_says_where() {
    let tools = tools();
    let read = |message: Value| {
        Prompt::new(hermes(), &tools).read(&[json!({"role": "user"}), message]).unwrap_err().to_string()
    };
    assert_eq!(read(json!(3)), "messages[1]: expected an object, got `3`");
    assert_eq!(read(json!({})), "messages[1]: expected a message with a role, got `{}`");
    let error = read(json!({"role": "assistant", "tool_calls": [{"function": {}}]}));
    assert_eq!(error, "messages[1]: expected calls with the name of a tool, got `{\"function\":{}}`");
}
