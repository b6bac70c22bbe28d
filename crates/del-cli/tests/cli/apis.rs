//! Model servers of each API: a task with a thought, a call, its result and an answer.

use serde_json::{Value, json};

use crate::del::{Run, del, directory, run};
use crate::server::{About, Reply, Seen, Server, says};
use crate::terminal::Terminal;

/// A stream as servers write it: its events, in pieces that have nothing to do with them.
fn events(list: &[Value]) -> Reply {
    let name = |event: &Value| event["type"].as_str().unwrap_or_default().to_owned();
    let written: Vec<String> =
        list.iter().map(|event| format!("event: {}\ndata: {event}\n\n", name(event))).collect();
    Reply::Bytes(written.concat())
}

fn lines(list: &[Value]) -> Reply {
    let written: Vec<String> = list.iter().map(|line| format!("{line}\n")).collect();
    Reply::Bytes(written.concat())
}

fn whole(body: &Value) -> Reply {
    Reply::Status(200, body.to_string())
}

/// Asks what is in a file.
fn ask(server: &Server, options: &[&str]) -> Run {
    let files = directory(&[("a.txt", "forty-two\n")]);
    let given = ["-p", "What is in a.txt?", "--base-url", server.url(), "--output-format", "json"];
    run(del(&[&given, options].concat()).current_dir(files.path()).env("ANTHROPIC_API_KEY", "sk-ant"), "")
}

/// The task was done, and the two requests that it took.
fn done(server: &Server, got: &Run) -> [Seen; 2] {
    let result: Value = serde_json::from_str(&got.out).unwrap();
    assert_eq!((got.code, &result["result"]), (0, &json!("Forty-two.")), "{got:#?}");
    let usage = &result["usage"];
    assert_eq!((&usage["input_tokens"], &usage["output_tokens"]), (&json!(300), &json!(20)), "{result}");
    server.completions().try_into().unwrap()
}

/// What a request holds of its tools.
fn has_tool(tools: &Value, pointer: &str) -> bool {
    tools.as_array().unwrap().iter().any(|tool| tool.pointer(pointer) == Some(&json!("read_file")))
}

#[test]
fn responses_get_the_thought_back_sealed() {
    let call = json!({"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "read_file",
        "arguments": "{\"file_path\": \"a.txt\"}"});
    let mut begun = call.clone();
    begun["arguments"] = json!("");
    let thought = json!({"type": "reasoning", "id": "rs_1", "encrypted_content": "SEAL",
        "summary": [{"type": "summary_text", "text": "I look."}]});
    let said = json!({"type": "message", "role": "assistant",
        "content": [{"type": "output_text", "text": "Forty-two."}]});
    let usage = |input: u64, output: u64| {
        json!({"input_tokens": input, "output_tokens": output, "input_tokens_details": {"cached_tokens": 10},
            "output_tokens_details": {"reasoning_tokens": 5}})
    };
    let response = |output: &[&Value], usage: Value| {
        json!({"id": "resp_1", "object": "response", "status": "completed", "error": null,
            "incomplete_details": null, "model": "scripted", "output": output, "usage": usage})
    };
    let streamed = [
        events(&[
            json!({"type": "response.created", "response": {"id": "resp_1", "model": "scripted"}}),
            json!({"type": "response.output_item.added", "output_index": 0, "item": {"type": "reasoning", "summary": []}}),
            json!({"type": "response.reasoning_summary_part.added", "output_index": 0, "summary_index": 0}),
            json!({"type": "response.reasoning_summary_text.delta", "output_index": 0, "delta": "I "}),
            json!({"type": "response.reasoning_summary_text.delta", "output_index": 0, "delta": "look."}),
            json!({"type": "response.output_item.done", "output_index": 0, "item": thought}),
            json!({"type": "response.output_item.added", "output_index": 1, "item": begun}),
            json!({"type": "response.function_call_arguments.delta", "output_index": 1, "delta": "{\"file_path\": "}),
            json!({"type": "response.function_call_arguments.delta", "output_index": 1, "delta": "\"a.txt\"}"}),
            json!({"type": "response.output_item.done", "output_index": 1, "item": call}),
            json!({"type": "response.completed", "response": response(&[], usage(100, 10))}),
        ]),
        events(&[
            json!({"type": "response.output_text.delta", "output_index": 0, "delta": "Forty"}),
            json!({"type": "response.output_text.delta", "output_index": 0, "delta": "-two."}),
            json!({"type": "response.output_item.done", "output_index": 0, "item": said}),
            json!({"type": "response.completed", "response": response(&[], usage(200, 10))}),
        ]),
    ];
    let at_once =
        [whole(&response(&[&thought, &call], usage(100, 10))), whole(&response(&[&said], usage(200, 10)))];
    for (script, options) in [(streamed, &["--think", "low"][..]), (at_once, &["--think", "low", "-S"])] {
        let server = Server::new(script.into());
        let got = ask(&server, &[&["--api", "responses"], options].concat());
        let [first, second] = done(&server, &got);
        assert_eq!(first.path, "/v1/responses");
        assert!(has_tool(&first.body["tools"], "/name"), "{}", first.body);
        assert!(first.body["instructions"].is_string() && first.body.get("messages").is_none());
        assert_eq!(first.body["reasoning"], json!({"summary": "auto", "effort": "low"}));
        assert_eq!(first.body["include"], json!(["reasoning.encrypted_content"]));
        assert_eq!(first.body["store"], false);
        let input = second.body["input"].as_array().unwrap();
        assert_eq!(input[0], json!({"role": "user", "content": "What is in a.txt?"}));
        let sealed = json!({"type": "reasoning", "summary": thought["summary"], "encrypted_content": "SEAL"});
        assert_eq!(input[1], sealed);
        assert_eq!((&input[2]["type"], &input[2]["call_id"]), (&json!("function_call"), &json!("call_1")));
        assert_eq!(input[3]["type"], "function_call_output");
        assert!(input[3]["output"].as_str().unwrap().contains("forty-two"), "{}", input[3]);
    }
}

#[test]
fn a_model_that_seals_nothing_is_asked_without() {
    let refusal = json!({"error": {"message": "Encrypted content is not supported with this model.",
        "type": "invalid_request_error", "param": "include", "code": null}});
    let said = json!({"object": "response", "status": "completed", "output": [{"type": "message",
        "content": [{"type": "output_text", "text": "Hi."}]}]});
    let server = Server::new(vec![Reply::Status(400, refusal.to_string()), whole(&said)]);
    let got = ask(&server, &["--api", "responses"]);
    assert!(got.code == 0 && got.out.contains("Hi."), "{got:#?}");
    let asked: Vec<bool> =
        server.completions().iter().map(|seen| seen.body.get("include").is_some()).collect();
    assert_eq!(asked, [true, false]);
}

#[test]
fn anthropic_gets_the_thought_back_sealed() {
    let start = |index: u32, block: Value| json!({"type": "content_block_start", "index": index, "content_block": block});
    let delta =
        |index: u32, delta: Value| json!({"type": "content_block_delta", "index": index, "delta": delta});
    let stop = |index: u32| json!({"type": "content_block_stop", "index": index});
    let begin = |input: u64| {
        json!({"type": "message_start", "message": {"id": "msg", "model": "scripted", "content": [],
        "usage": {"input_tokens": input - 30, "cache_read_input_tokens": 20, "cache_creation_input_tokens": 10,
            "output_tokens": 1}}})
    };
    let end = |reason: &str| {
        [
            json!({"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 10}}),
            json!({"type": "message_stop"}),
        ]
    };
    let blocks = json!([
        {"type": "thinking", "thinking": "I look.", "signature": "SEAL"},
        {"type": "redacted_thinking", "data": "SECRET"},
        {"type": "tool_use", "id": "toolu_1", "name": "read_file", "input": {"file_path": "a.txt"}},
    ]);
    let message = |content: Value, reason: &str, input: u64| {
        json!({"id": "msg", "type": "message", "role": "assistant", "model": "scripted", "content": content,
            "stop_reason": reason, "usage": {"input_tokens": input, "output_tokens": 10}})
    };
    let mut first = vec![
        begin(100),
        start(0, json!({"type": "thinking", "thinking": "", "signature": ""})),
        delta(0, json!({"type": "thinking_delta", "thinking": "I "})),
        delta(0, json!({"type": "thinking_delta", "thinking": "look."})),
        delta(0, json!({"type": "signature_delta", "signature": "SEAL"})),
        stop(0),
        start(1, blocks[1].clone()),
        stop(1),
        json!({"type": "ping"}),
        start(2, json!({"type": "tool_use", "id": "toolu_1", "name": "read_file", "input": {}})),
        delta(2, json!({"type": "input_json_delta", "partial_json": "{\"file_path\":"})),
        delta(2, json!({"type": "input_json_delta", "partial_json": " \"a.txt\"}"})),
        stop(2),
    ];
    first.extend(end("tool_use"));
    let mut second = vec![
        begin(200),
        start(0, json!({"type": "text", "text": ""})),
        delta(0, json!({"type": "text_delta", "text": "Forty-two."})),
        stop(0),
    ];
    second.extend(end("end_turn"));
    let text = json!([{"type": "text", "text": "Forty-two."}]);
    let streamed = [events(&first), events(&second)];
    let at_once = [whole(&message(blocks.clone(), "tool_use", 100)), whole(&message(text, "end_turn", 200))];
    for (script, options) in [(streamed, &["--think", "on"][..]), (at_once, &["--think", "on", "-S"])] {
        let server = Server::new(script.into());
        let got = ask(&server, &[&["--api", "anthropic"], options].concat());
        let [first, second] = done(&server, &got);
        assert_eq!((first.path.as_str(), first.key.as_deref()), ("/v1/messages", Some("sk-ant")));
        assert!(first.authorization.is_none());
        assert!(has_tool(&first.body["tools"], "/name") && first.body["system"].is_array(), "{}", first.body);
        assert_eq!(first.body["thinking"], json!({"type": "enabled", "budget_tokens": 8192}));
        assert_eq!(first.body["max_tokens"], 16_384);
        let messages = second.body["messages"].as_array().unwrap();
        assert_eq!(messages[1], json!({"role": "assistant", "content": blocks}));
        let result = &messages[2]["content"][0];
        assert_eq!((&result["type"], &result["tool_use_id"]), (&json!("tool_result"), &json!("toolu_1")));
        assert!(result.to_string().contains("forty-two"), "{result}");
    }
}

#[test]
fn ollama_is_found_and_asked_in_its_own_api() {
    let call = json!({"function": {"name": "read_file", "arguments": {"file_path": "a.txt"}}});
    let part = |message: Value| json!({"model": "scripted", "message": message, "done": false});
    let end = |tokens: u64| {
        json!({"model": "scripted", "message": {"role": "assistant", "content": ""}, "done": true,
            "done_reason": "stop", "prompt_eval_count": tokens, "eval_count": 10})
    };
    let streamed = || {
        vec![
            lines(&[
                part(json!({"role": "assistant", "content": "", "thinking": "I "})),
                part(json!({"role": "assistant", "content": "", "thinking": "look."})),
                part(json!({"role": "assistant", "content": "", "tool_calls": [call]})),
                end(100),
            ]),
            lines(&[
                part(json!({"role": "assistant", "content": "Forty"})),
                part(json!({"role": "assistant", "content": "-two."})),
                end(200),
            ]),
        ]
    };
    let about = |library: &str| {
        let models = json!({"object": "list", "data": [{"id": "scripted", "owned_by": library}]});
        let version = ("/api/version", json!({"version": "0.12.6"}).to_string());
        About { models: (200, models.to_string()), others: vec![version], ..About::default() }
    };
    let options = ["--think", "on", "--num-ctx", "16384", "--keep-alive", "30m"];
    for (server, options) in [
        (Server::about(about("library"), streamed()), options.to_vec()),
        (Server::about(about("me"), streamed()), [&["--api", "ollama"], &options[..]].concat()),
    ] {
        let got = ask(&server, &options);
        let [first, second] = done(&server, &got);
        assert_eq!(first.path, "/api/chat");
        assert!(has_tool(&first.body["tools"], "/function/name"), "{}", first.body);
        let members = ["think", "options", "keep_alive", "truncate"].map(|name| first.body[name].clone());
        assert_eq!(members, [json!(true), json!({"num_ctx": 16384}), json!("30m"), json!(false)]);
        let messages = second.body["messages"].as_array().unwrap();
        let [.., answer, result] = messages.as_slice() else { panic!("{messages:?}") };
        assert_eq!(
            (&answer["thinking"], &answer["tool_calls"][0]["function"]["arguments"]["file_path"]),
            (&json!("I look."), &json!("a.txt"))
        );
        assert_eq!((&result["role"], &result["tool_name"]), (&json!("tool"), &json!("read_file")));
        assert!(result["content"].as_str().unwrap().contains("forty-two"), "{result}");
    }
    // The same server, asked as any other where that is wanted.
    let server = Server::about(about("library"), vec![says("Hi.")]);
    let got = ask(&server, &["--api", "openai"]);
    assert_eq!((got.code, server.completions()[0].path.as_str()), (0, "/v1/chat/completions"), "{got:#?}");
}

#[test]
fn refusals_of_each_api_are_understood() {
    let anthropic = |kind: &str, message: &str| {
        json!({"type": "error", "error": {"type": kind, "message": message}}).to_string()
    };
    let server =
        Server::new(vec![Reply::Status(401, anthropic("authentication_error", "invalid x-api-key"))]);
    let got = ask(&server, &["--api", "anthropic"]);
    assert!(got.code == 41 && got.out.contains("invalid x-api-key"), "{got:#?}");
    // Overloaded in the first event of the stream: tried again.
    let overloaded = json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}});
    let text =
        json!({"type": "message", "content": [{"type": "text", "text": "Hi."}], "stop_reason": "end_turn"});
    let server = Server::new(vec![events(&[overloaded]), whole(&text)]);
    let got = ask(&server, &["--api", "anthropic"]);
    assert!(got.code == 0 && got.out.contains("Hi.") && server.completions().len() == 2, "{got:#?}");
    let failed = json!({"type": "response.failed", "response": {"status": "failed", "output": [],
        "error": {"code": "server_error", "message": "It broke."}}});
    let server = Server::new(vec![events(&[failed]), says("no")]);
    let got = ask(&server, &["--api", "responses"]);
    assert!(got.code == 1 && got.err.contains("It broke."), "{got:#?}");
    let cut = json!({"object": "response", "status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"},
        "output": [{"type": "message", "content": [{"type": "output_text", "text": "So far"}]}]});
    let got = ask(&Server::new(vec![whole(&cut)]), &["--api", "responses"]);
    assert!(got.code == 0 && got.out.contains("So far") && got.err.contains("cut at its limit"), "{got:#?}");
    let got = ask(
        &Server::new(vec![Reply::Status(400, "{\"error\": \"no such thing\"}".to_owned())]),
        &["--api", "ollama"],
    );
    assert!(got.code == 1 && got.out.contains("no such thing"), "{got:#?}");
}

#[test]
fn a_key_goes_to_the_api_that_it_is_for() {
    let text =
        json!({"type": "message", "content": [{"type": "text", "text": "Hi."}], "stop_reason": "end_turn"});
    let server = Server::new(vec![whole(&text)]);
    let files = directory(&[]);
    let arguments = ["-p", "Hi", "--api", "anthropic"];
    let mut command = del(&arguments);
    command
        .current_dir(files.path())
        .env("ANTHROPIC_BASE_URL", server.url())
        .env("OPENAI_API_KEY", "sk-openai");
    assert_eq!(run(&mut command, "").code, 0);
    let seen = &server.completions()[0];
    assert_eq!((seen.key.as_deref(), seen.authorization.as_deref()), (None, None));
}

#[test]
fn what_a_server_does_not_say_of_its_own_it_is_asked_to_count() {
    let text =
        json!({"type": "message", "content": [{"type": "text", "text": "Hi."}], "stop_reason": "end_turn"});
    let about = About {
        others: vec![("/v1/messages/count_tokens", json!({"input_tokens": 4321}).to_string())],
        ..About::default()
    };
    let server = Server::about(about, vec![whole(&text)]);
    let home = directory(&[]);
    let folder = home.path().to_str().unwrap();
    let arguments =
        ["--base-url", server.url(), "--api", "anthropic", "--color", "never", "--working-dir", folder];
    let mut terminal = Terminal::with(&home, &arguments, 100, &[]);
    terminal.until("> ");
    terminal.write("hi\r");
    terminal.until("Hi.");
    terminal.until("4321 tokens");
    terminal.write("/context\r");
    terminal.until("as the server counts");
    let asked = &server.requests("/count_tokens")[0].body;
    assert!(asked["messages"].is_array() && asked["tools"].is_array() && asked.get("max_tokens").is_none());
}

#[test]
fn models_are_listed_with_what_their_server_tells() {
    let models = |rows: Value| (200, json!({"object": "list", "data": rows}).to_string());
    let rows = |about: About| {
        let server = Server::about(about, vec![says("no")]);
        let got = run(&mut del(&["models", "--json", "--base-url", server.url()]), "");
        got.json()
            .as_array()
            .unwrap()
            .iter()
            .map(|row| json!([row["context"], row["tools"], row["from"]]))
            .collect::<Vec<_>>()
    };
    let shown = json!({"capabilities": ["completion", "tools"], "model_info": {"qwen3.context_length": 40960},
        "parameters": "temperature 0.6\nnum_ctx 8192"});
    let ollama = About {
        models: models(json!([{"id": "qwen3", "owned_by": "library"}])),
        others: vec![("/api/version", json!({"version": "1"}).to_string()), ("/api/show", shown.to_string())],
        ..About::default()
    };
    assert_eq!(rows(ollama), [json!([8192, true, "/api/show"])]);
    let router = About {
        models: models(json!([{"id": "a", "context_length": 1000, "supported_parameters": ["tools"]},
            {"id": "b", "max_model_len": 2000}, {"id": "c"}])),
        others: vec![("/api/v0/models", "{}".to_owned())],
        ..About::default()
    };
    let expected =
        [json!([1000, true, "/models"]), json!([2000, null, "/models"]), json!([null, null, null])];
    assert_eq!(rows(router), expected);
    let llama_cpp = About {
        models: models(json!([{"id": "m", "owned_by": "llamacpp"}])),
        props: Some(json!({"default_generation_settings": {"n_ctx": 4096},
            "chat_template_caps": {"supports_tools": false, "supports_tool_calls": false}})),
        ..About::default()
    };
    assert_eq!(rows(llama_cpp), [json!([4096, false, "/props"])]);
}

#[test]
fn a_conversation_goes_on_at_another_server_in_its_api() {
    let first = Server::new(vec![says("One.")]);
    let text =
        json!({"type": "message", "content": [{"type": "text", "text": "Two."}], "stop_reason": "end_turn"});
    let second = Server::new(vec![whole(&text)]);
    let profile = format!(
        "[profiles.other]\nbase_url = \"{}\"\napi = \"anthropic\"\nmodel = \"qwen3-coder\"\nthink = \"off\"\n",
        second.url()
    );
    let home = directory(&[(".config/del/config.toml", &profile)]);
    let folder = home.path().to_str().unwrap();
    let arguments =
        ["--base-url", first.url(), "--tools-mode", "prompt", "--color", "never", "--working-dir", folder];
    let mut terminal = Terminal::start(&home, &arguments);
    terminal.until("> ");
    for (keys, says) in [
        ("first question\r", "One."),
        ("/model @nowhere\r", "expected one of other; got `nowhere`"),
        ("/model @other\r", "(anthropic) from now on; its dialect is qwen3-coder"),
        ("second question\r", "Two."),
    ] {
        terminal.write(keys);
        terminal.until(says);
        terminal.until("> ");
    }
    let sent = &second.completions()[0];
    assert_eq!((sent.path.as_str(), &sent.body["model"]), ("/v1/messages", &json!("qwen3-coder")));
    assert_eq!(sent.body["thinking"], json!({"type": "disabled"}));
    let said = sent.body["messages"].to_string();
    assert!(
        said.contains("first question") && said.contains("One.") && said.contains("second question"),
        "{said}"
    );
    assert!(
        sent.body["system"].to_string().contains("<function="),
        "in its dialect: {}",
        sent.body["system"]
    );
}
