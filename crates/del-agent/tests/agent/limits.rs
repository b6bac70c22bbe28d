//! Where an answer or a question ends that would not end well by itself.

use del_agent::{Circle, Effect, Failure, Input, Notice, Settings};
use serde_json::{Value, json};

use crate::script::{Talk, native_call, prompt_mode, settings, text_answer, tool_results};

#[test]
fn the_same_call_again_and_again_is_told_then_stopped() {
    let mut talk = Talk::new(settings());
    talk.ask("Read it.");
    for turn in 1..=2 {
        let calls = talk.answer_with_calls(&native_call(&format!("c{turn}"), "read_file", &["{}"]));
        talk.give(tool_results(&calls, "R"));
    }
    for turn in 3..=4 {
        let effect = talk.answer(&native_call(&format!("c{turn}"), "read_file", &["{ }"]));
        let Effect::Request(body) = effect else { panic!("{effect:?}") };
        let told =
            body["messages"].as_array().unwrap().last().unwrap()["content"].as_str().unwrap().to_owned();
        assert!(told.starts_with(&format!("Error: not run. You made this very call {turn} times")), "{told}");
    }
    let effect = talk.answer(&native_call("c5", "read_file", &["{}"]));
    let Effect::Failed(failure) = effect else { panic!("{effect:?}") };
    assert_eq!(failure, Failure::Loop { name: "read_file".into(), times: 5 });
    let body = talk.ask("Something else.");
    let messages = body["messages"].as_array().unwrap();
    let results = messages.iter().filter(|message| message["role"] == "tool").count();
    let calls = messages.iter().filter(|message| message.get("tool_calls").is_some()).count();
    assert_eq!((calls, results), (5, 5));
}

#[test]
fn turns_are_limited() {
    let mut talk = Talk::new(Settings { max_turns: 2, ..settings() });
    talk.ask("Read it.");
    let calls = talk.answer_with_calls(&native_call("a", "read_file", &["{\"path\":\"1\"}"]));
    talk.give(tool_results(&calls, "R"));
    let calls = talk.answer_with_calls(&native_call("b", "read_file", &["{\"path\":\"2\"}"]));
    let effect = talk.step(Input::Results(tool_results(&calls, "R")));
    assert_eq!(effect, Effect::Failed(Failure::TurnLimit { turns: 2 }));
    assert!(matches!(talk.step(Input::Start("go on")), Effect::Request(_)));
}

#[test]
fn a_call_that_was_cut_never_runs_and_the_model_is_told() {
    let mut talk = Talk::new(settings());
    talk.ask("Write it.");
    let mut chunks = native_call("a", "read_file", &["{\"path\":\"1\"}"]);
    chunks.pop();
    chunks.push(json!({"choices": [{"index": 0, "delta": {"tool_calls": [
        {"index": 1, "id": "b", "function": {"name": "write_file", "arguments": "{\"path\":\"/etc"}}]}}]}));
    chunks.push(json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "length"}]}));
    let calls = talk.answer_with_calls(&chunks);
    assert_eq!(calls.iter().map(|call| call.name.as_str()).collect::<Vec<_>>(), ["read_file"]);
    let body = talk.give(tool_results(&calls, "R"));
    let last = body["messages"].as_array().unwrap().last().unwrap().clone();
    assert_eq!(
        last,
        json!({"role": "user", "content": "Your call of write_file did not run: your answer was cut off at its longest length.\nWrite the whole call again, shorter."})
    );
    assert!(talk.notices().contains(&Notice::Cut));
}

/// Pieces of an answer, of which the model writes one after the other until it is stopped; how many it could.
fn endless(talk: &mut Talk, piece: &str, pieces: usize) -> (Effect, usize) {
    let chunk = json!({"choices": [{"index": 0, "delta": {"content": piece}}]}).to_string();
    for read in 1..=pieces {
        let effect = talk.step(Input::Chunk(&chunk));
        if effect != Effect::Continue {
            return (effect, read);
        }
    }
    (Effect::Continue, pieces)
}

#[test]
fn a_model_that_goes_round_in_circles_is_stopped_and_keeps_little_of_it() {
    let mut talk = Talk::new(settings());
    talk.ask("Tell me.");
    let (effect, read) = endless(&mut talk, "Once more.\n", 100_000);
    let Effect::Done(done) = effect else { panic!("{effect:?}") };
    assert!(done.cut && read < 30_000, "{read}");
    assert_eq!(done.answer, "Once more.\nOnce more.");
    assert_eq!(talk.notices(), [Notice::Circular(Circle::Words)]);
    // What it is shown of itself does not lead it there again.
    let Effect::Request(body) = talk.step(Input::Start("Go on.")) else { panic!() };
    assert_eq!(body["messages"][2]["content"], "Once more.\nOnce more.");
}

#[test]
fn a_text_that_was_asked_for_is_whole_although_it_says_the_same_again_and_again() {
    for (piece, pieces) in [("All work and no play.\n", 400), ("aaaaaaaa", 25_000)] {
        let mut talk = Talk::new(settings());
        talk.ask("Write it as often as I said.");
        assert_eq!(endless(&mut talk, piece, pieces), (Effect::Continue, pieces));
        let end = json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}).to_string();
        assert_eq!(talk.step(Input::Chunk(&end)), Effect::Continue);
        let Effect::Done(done) = talk.step(Input::End) else { panic!() };
        assert_eq!((done.answer, done.cut), (piece.repeat(pieces).trim().to_owned(), false));
        assert_eq!(talk.notices(), []);
        assert_eq!(talk.shown.iter().filter(|shown| *shown == "repeating true").count(), 1);
    }
}

#[test]
fn a_file_with_the_same_line_again_and_again_is_written() {
    for over_the_api in [false, true] {
        let mut talk = Talk::new(settings());
        talk.ask("Write it a thousand times.");
        let arguments = json!({"path": "All work and no play.\n".repeat(1000)}).to_string();
        let (before, after) = if over_the_api {
            (String::new(), String::new())
        } else {
            ("<tool_call>{\"name\": \"write_file\", \"arguments\": ".to_owned(), "}</tool_call>".to_owned())
        };
        let text = before + &arguments + &after;
        let chars: Vec<char> = text.chars().collect();
        let mut chunks: Vec<Value> = chars
            .chunks(40)
            .map(|piece| piece.iter().collect::<String>())
            .map(|piece| {
                if over_the_api {
                    json!({"tool_calls": [{"index": 0, "function": {"arguments": piece}}]})
                } else {
                    json!({"content": piece})
                }
            })
            .map(|delta| json!({"choices": [{"index": 0, "delta": delta}]}))
            .collect();
        if over_the_api {
            chunks[0]["choices"][0]["delta"]["tool_calls"][0]["function"]["name"] = json!("write_file");
        }
        chunks.push(json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}));
        let calls = talk.answer_with_calls(&chunks);
        assert_eq!(
            serde_json::from_str::<Value>(&calls[0].arguments).unwrap(),
            serde_json::from_str::<Value>(&arguments).unwrap()
        );
        assert_eq!(talk.notices(), []);
    }
}

#[test]
fn whoever_stops_a_model_that_repeats_itself_keeps_little_of_it() {
    let mut talk = Talk::new(settings());
    talk.ask("Tell me.");
    assert_eq!(endless(&mut talk, "Once more.\n", 2000).0, Effect::Continue);
    assert_eq!(talk.step(Input::Cancel), Effect::Failed(Failure::Cancelled));
    let Effect::Request(body) = talk.step(Input::Start("Go on.")) else { panic!() };
    assert_eq!(body["messages"][2]["content"], "Once more.\nOnce more.");
}

#[test]
fn white_space_without_end_is_stopped_where_a_schema_holds_the_answer() {
    let held = Settings {
        extra: [("response_format".to_owned(), json!({"type": "json_object"}))].into_iter().collect(),
        ..settings()
    };
    let mut talk = Talk::new(held);
    talk.ask("Tell me.");
    assert!(endless(&mut talk, "\n", 2000).1 < 1000);
    assert_eq!(talk.notices()[0], Notice::Circular(Circle::Blanks));
}

#[test]
fn calls_that_come_again_and_again_in_one_answer_are_stopped_and_run_once() {
    let arguments = |path: &str| format!("{{\"path\": \"{}\"}}", path.repeat(100));
    let call = |name: &str, path: &str| {
        format!("<tools>\n{{\"name\": \"{name}\", \"arguments\": {}}}\n</tools>\n", arguments(path))
    };
    let text = [call("read_file", "a/"), call("write_file", "b/")].concat();
    let said: Vec<Value> = [&text[..100], &text[100..]]
        .into_iter()
        .map(|piece| json!({"choices": [{"index": 0, "delta": {"content": piece}}]}))
        .collect();
    let made: Vec<Value> = [("read_file", "a/"), ("write_file", "b/")]
        .into_iter()
        .map(|(name, path)| json!({"function": {"name": name, "arguments": arguments(path)}}))
        .collect();
    for over_the_api in [false, true] {
        let mut talk = Talk::new(settings());
        talk.ask("Do it.");
        let (mut effect, mut read) = (Effect::Continue, 0);
        while effect == Effect::Continue && read < 100 {
            let chunk = if over_the_api {
                let mut call = made[read % 2].clone();
                call["index"] = json!(read);
                call["id"] = json!(format!("c{read}"));
                json!({"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]})
            } else {
                said[read % 2].clone()
            };
            effect = talk.step(Input::Chunk(&chunk.to_string()));
            read += 1;
        }
        let Effect::Run(calls) = effect else { panic!("{effect:?}") };
        let names: Vec<&str> = calls.iter().map(|read| read.call.name.as_str()).collect();
        assert_eq!(names, ["read_file", "write_file"]);
        assert!(talk.notices().contains(&Notice::Circular(Circle::Calls)), "{:?}", talk.notices());
        let calls: Vec<_> = calls.into_iter().map(|read| read.call).collect();
        let Effect::Request(body) = talk.step(Input::Results(tool_results(&calls, "R"))) else { panic!() };
        assert_eq!(body["messages"].as_array().unwrap().len(), 5, "nothing is told of the call that was cut");
    }
}

#[test]
fn a_model_that_cannot_write_calls_is_given_up() {
    let mut talk = Talk::new(settings());
    talk.ask("Write it.");
    for _ in 0..3 {
        let effect = talk.answer(&native_call("a", "write_file", &["[1]"]));
        let Effect::Request(body) = effect else { panic!("{effect:?}") };
        let last =
            body["messages"].as_array().unwrap().last().unwrap()["content"].as_str().unwrap().to_owned();
        let told = "Your call of write_file did not run: the arguments cannot be read; the call was left out. \
                    Got the arguments [1]. Expected this form, with your values:\n";
        assert!(last.contains(told) && last.contains("\"path\": \"…\""), "{last}");
    }
    let effect = talk.answer(&native_call("a", "write_file", &["[1]"]));
    assert!(matches!(effect, Effect::Failed(Failure::BrokenCalls { times: 4, .. })), "{effect:?}");
}

#[test]
fn a_long_answer_that_is_cut_is_done_and_says_so() {
    let mut talk = Talk::new(settings());
    talk.ask("Tell.");
    let mut chunks = text_answer(&["once upon"]);
    *chunks.last_mut().unwrap() = json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "length"}]});
    let done = talk.answer_with_text(&chunks);
    assert!(done.cut && done.answer == "once upon");
}

#[test]
fn calls_that_are_only_shown_are_said_not_to_have_run() {
    let call = "```json\n{\"name\": \"read_file\", \"arguments\": {\"file_path\": \"a.txt\"}}\n```\n";
    let other = "```json\n{\"name\": \"fly\", \"arguments\": {}}\n```\n";
    let shown = || Some(Notice::Shown { names: vec!["read_file".to_owned()] });
    for (text, said) in [
        (format!("Call it so:\n{call}and once more:\n{call}That is all."), shown()),
        ("Do it so:\n```bash\nread_file --path a.txt\n```\nYes.".to_owned(), shown()),
        (format!("Call it so:\n{other}That is all."), None),
        ("```json\n{\"name\": \"Ann\", \"parameters\": {}, \"age\": 7}\n```".to_owned(), None),
        ("It is `read_file` that you want:\n```\ncat a.txt\n```\nYes.".to_owned(), None),
    ] {
        let mut talk = Talk::new(prompt_mode());
        talk.ask("one");
        let done = talk.answer_with_text(&[
            json!({"choices": [{"delta": {"role": "assistant", "content": text}, "finish_reason": "stop"}]}),
        ]);
        assert_eq!(done.answer, text.trim());
        assert_eq!(talk.notices(), said.into_iter().collect::<Vec<_>>(), "{text}");
    }
}

#[test]
fn an_answer_that_is_a_call_of_no_tool_is_told_once() {
    for text in
        ["```json\n{\"name\": \"fly\", \"arguments\": {}}\n```", "{{\"name\": \"fly\", \"arguments\": {}}}"]
    {
        let mut talk = Talk::new(settings());
        talk.ask("one");
        let Effect::Request(body) = talk.answer(&text_answer(&[text])) else { panic!("it is told") };
        let told = body["messages"].as_array().unwrap().last().unwrap()["content"].as_str().unwrap();
        assert!(
            told.starts_with("Nothing ran: there is no tool fly. ")
                && told.ends_with(": read_file, write_file."),
            "{told}"
        );
        let said = Notice::NoSuchTool { name: "fly".to_owned() };
        assert_eq!(talk.notices(), std::slice::from_ref(&said));
        // Who says it again means it.
        assert_eq!(talk.answer_with_text(&text_answer(&[text])).answer, text);
        assert_eq!(talk.notices(), [said.clone(), said]);
    }
}
