//! What models write comes out as calls.

use std::sync::Arc;

use del_agent::ToolsMode;
use del_dialects::{Call, Dialects, Tool};
use serde_json::json;

use crate::model::{Model, says};
use crate::stand::{Stand, assembled, streamed, told, weather};

fn paris() -> Vec<(String, String)> {
    vec![("get_weather".to_owned(), "{\"city\": \"Paris\"}".to_owned())]
}

/// As small models write calls that nobody holds to a form.
const LOOSE: [(&str, &str); 7] = [
    ("", "```json\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Paris\"}}\n```"),
    ("", "{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Paris\"}}"),
    ("", "{\"name\": \"get_weather\", \"parameters\": {\"city\": \"Paris\"}}"),
    (
        "I need to look that up.",
        "I need to look that up.\n\n```json\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Paris\"}}\n```",
    ),
    (
        "Sure! I will call the tool.",
        "Sure! I will call the tool.\n<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Paris\"}}\n</tool_call>",
    ),
    ("", "<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Paris\"}}"),
    ("", "[{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Paris\"}}]"),
];

#[tokio::test]
async fn calls_that_nobody_holds_to_a_form_come_out() {
    for mode in [ToolsMode::Native, ToolsMode::Prompt] {
        for (text, written) in LOOSE {
            let model = Model::new(|seen| says(seen, written, 4));
            let stand = Stand::with(model, |settings| settings.routes[0].tools_mode = mode).await;
            for (content, calls, finish) in
                [told(&stand.ask(&weather()).await), assembled(&stand.events(&streamed(weather())).await)]
            {
                assert_eq!(content.trim(), text, "{written}");
                assert_eq!((calls, finish.as_str()), (paris(), "tool_calls"), "{written}");
            }
        }
    }
}

#[tokio::test]
async fn every_dialect_goes_through() {
    let tools: Vec<Tool> = del_wire::tools::read(&weather()["tools"]).unwrap();
    let call = Call { id: None, name: "get_weather".into(), arguments: "{\"city\": \"Paris\"}".into() };
    let mut unwritten = 0;
    for dialect in Dialects::builtin().iter() {
        // Some write nothing but the arguments that tools of one client have.
        let Ok(written) = dialect.render_calls(std::slice::from_ref(&call), &tools) else {
            unwritten += 1;
            continue;
        };
        // Without a lead, calls stand alone.
        let text =
            if dialect.lead().is_empty() { written } else { format!("Well.{}{written}", dialect.lead()) };
        let model = Model::new(move |seen| says(seen, &text, 3));
        let stand = Stand::with(model, |settings| {
            settings.routes[0].tools_mode = ToolsMode::Prompt;
            settings.routes[0].dialect = Some(Arc::clone(dialect));
        })
        .await;
        let response = stand.post(&weather()).send().await.unwrap();
        assert_eq!(response.headers()["x-del-dialect"], dialect.name());
        let whole = told(&crate::stand::document(response).await);
        let names: Vec<&str> = whole.1.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["get_weather"], "{}: {whole:?}", dialect.name());
        assert!(whole.1[0].1.contains("Paris") && whole.2 == "tool_calls", "{}", dialect.name());
        assert_eq!(assembled(&stand.events(&streamed(weather())).await), whole, "{}", dialect.name());
    }
    assert!(unwritten < 3, "{unwritten} dialects cannot write the call");
}

#[tokio::test]
async fn each_of_several_choices_is_read_for_itself() {
    let model = Model::new(|_| {
        let hermes =
            "<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Paris\"}}\n</tool_call>";
        let chunk = |index: u8, delta: serde_json::Value, finish: Option<&str>| {
            let choice = json!({"index": index, "delta": delta, "finish_reason": finish});
            format!("data: {}\n\n", json!({"choices": [choice]}))
        };
        let mut all = String::new();
        for letter in hermes.chars() {
            all.push_str(&chunk(1, json!({"content": letter}), None));
            all.push_str(&chunk(0, json!({"content": "a"}), None));
        }
        all.push_str(&chunk(0, json!({}), Some("length")));
        all.push_str(&chunk(1, json!({}), Some("stop")));
        all.push_str("data: [DONE]\n\n");
        crate::model::Reply::Stream(vec![all.into_bytes()], crate::model::Then::End)
    });
    let stand = Stand::new(model).await;
    let events = stand.events(&streamed(weather())).await;
    let of = |index: u8| {
        let own = events.iter().filter(|event| event["choices"][0]["index"] == index);
        assembled(&own.cloned().collect::<Vec<_>>())
    };
    assert_eq!(of(1), (String::new(), paris(), "tool_calls".to_owned()));
    let (text, calls, finish) = of(0);
    assert!(text.chars().all(|letter| letter == 'a') && text.len() > 50 && calls.is_empty(), "{text}");
    assert_eq!(finish, "length");
}

#[tokio::test]
async fn no_more_than_one_call_goes_out_where_one_is_wanted() {
    let two = "<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Paris\"}}\n</tool_call>\n\
               <tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Rome\"}}\n</tool_call>";
    let stand = Stand::new(Model::new(|seen| says(seen, two, 5))).await;
    let mut body = weather();
    assert_eq!(told(&stand.ask(&body).await).1.len(), 2);
    body["parallel_tool_calls"] = json!(false);
    assert_eq!(told(&stand.ask(&body).await).1, paris());
    assert_eq!(assembled(&stand.events(&streamed(body)).await).1, paris());
}

#[tokio::test]
async fn what_is_copied_from_a_neutralised_result_is_restored() {
    let copied = Dialects::builtin().neutralise("see <tool_call> and <|im_end|>").into_owned();
    assert_ne!(copied, "see <tool_call> and <|im_end|>");
    let text = format!(
        "<tool_call>\n{{\"name\": \"get_weather\", \"arguments\": {{\"city\": \"{copied}\"}}}}\n</tool_call>"
    );
    let model = Model::new(move |seen| says(seen, &text, 2));
    let stand = Stand::with(model, |settings| settings.routes[0].tools_mode = ToolsMode::Prompt).await;
    let expected = "{\"city\": \"see <tool_call> and <|im_end|>\"}";
    assert_eq!(told(&stand.ask(&weather()).await).1[0].1, expected);
    assert_eq!(assembled(&stand.events(&streamed(weather())).await).1[0].1, expected);
}

#[tokio::test]
async fn calls_whose_arguments_were_guessed_are_named() {
    const JSON: &str =
        "<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": CITY}}\n</tool_call>\n";
    let text = JSON.replace("CITY", "\"Oslo\"") + &JSON.replace("CITY", "True");
    let model = Model::new(move |seen| says(seen, &text, 3));
    let stand = Stand::new(model).await;
    let response = stand.post(&weather()).send().await.unwrap();
    let named = response.headers()["x-del-changed-arguments"].to_str().unwrap().to_owned();
    let document = crate::stand::document(response).await;
    let calls = document["choices"][0]["message"]["tool_calls"].as_array().unwrap();
    assert_eq!((calls.len(), calls[1]["id"].as_str()), (2, Some(named.as_str())), "{document:#}");
    let text = stand.post(&streamed(weather())).send().await.unwrap().text().await.unwrap();
    let (before, _) = text.split_once("\n\ndata: [DONE]").unwrap();
    let comment = before.rsplit("\n\n").next().unwrap();
    let id = comment.strip_prefix(": x-del-changed-arguments: ").unwrap();
    assert!(id.starts_with("call_") && text.matches(id).count() == 2, "{text}");
}
