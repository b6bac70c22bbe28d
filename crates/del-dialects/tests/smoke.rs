use del_dialects::*;
fn run(d: Option<&str>, text: &str, chunk: usize, cut: End) -> (Message, u64) {
    let all = Dialects::builtin();
    let tools: Vec<Tool> = serde_json::from_str(include_str!("tools.json")).unwrap();
    let turn = Turn::new(tools);
    let mut p = match d {
        Some(d) => all.get(d).unwrap().parser(turn),
        None => all.parser(turn),
    };
    let mut c = Collect::new();
    let chars: Vec<char> = text.chars().collect();
    for ch in chars.chunks(chunk) {
        let s: String = ch.iter().collect();
        p.push(&s, &mut c);
    }
    let w = p.examined();
    p.finish(cut, &mut c);
    (c.into_message(), w)
}
#[test]
fn smoke() {
    for (name, text) in Dialects::sources() {
        if let Err(e) = Dialect::from_toml(name, text) {
            panic!("{name}: {e}");
        }
    }
    let samples: &[(&str, &str)] = &[
        (
            "hermes-json",
            "Let me see.\n<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Paris\", \"days\": 3}}\n</tool_call>\n<tool_call>\n{\"name\": \"add_item\", \"arguments\": {\"item\": {\"a\": 1}}}\n</tool_call> bye",
        ),
        (
            "hermes-json",
            "<think>\nhm\n</think>\n\n<tool_call>{\"arguments\": {\"city\": \"P</tool_call>\"}, \"name\": \"get_weather\"}</tool_call>",
        ),
        (
            "qwen3-coder",
            "<tool_call>\n<function=get_weather>\n<parameter=city>\nParis\n</parameter>\n<parameter=days>\n3\n</parameter>\n</function>\n</tool_call>",
        ),
        (
            "jamba",
            "<tool_calls>[\n    {\"name\": \"get_weather\", \"arguments\": {\"city\": \"Paris\"}},\n    {\"name\": \"add_item\", \"arguments\": {}}\n]</tool_calls>",
        ),
        (
            "mistral-json",
            "[TOOL_CALLS] [{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Paris\", \"days\": 3}, \"id\": \"abc123XYZ\"}]",
        ),
        (
            "mistral-args",
            "[TOOL_CALLS]get_weather[CALL_ID]abc123XYZ[ARGS]{\"city\": \"Paris\"}[TOOL_CALLS]add_item[ARGS]{\"item\": {}}",
        ),
        (
            "llama3-json",
            "<|python_tag|>{\"name\": \"get_weather\", \"parameters\": {\"city\": \"Paris\"}}; {\"name\": \"add_item\", \"parameters\": {}}",
        ),
        (
            "openai-json",
            "[{\"name\": \"get_weather\", \"parameters\": {\"city\": \"Paris\"}}, {\"name\": \"add_item\", \"parameters\": {}}]",
        ),
        (
            "llama-function",
            "<function=get_weather>{\"city\": \"Paris\"}</function><function=add_item>{}</function>",
        ),
        (
            "deepseek-v3",
            "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>get_weather\n```json\n{\"city\": \"Paris\"}\n```<｜tool▁call▁end｜>\n<｜tool▁call▁begin｜>function<｜tool▁sep｜>add_item\n```json\n{}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
        ),
        (
            "deepseek-v31",
            "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>get_weather<｜tool▁sep｜>{\"city\": \"Paris\"}<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
        ),
        (
            "del-chinese",
            "<|tool▁calls▁begin|>\n<|tool▁call▁begin|>\nfunction<|tool▁sep|>get_weather\n```json\n{\"city\": \"Paris\"}\n```\n<|tool▁call▁end|>\n<|tool▁calls▁end|>",
        ),
        (
            "del-chinese",
            "<|tool▁call▁begin|>function<|tool▁sep|>list_dir {\"path\": \".\"}\n<|tool▁call▁begin|>function<|tool▁sep|>project_context {}",
        ),
        (
            "openai-xml",
            "<tool_calls>\n<invoke name=\"get_weather\">\n<parameter name=\"city\">Paris</parameter>\n</invoke>\n</tool_calls>",
        ),
        ("markdown-call", "## Function Call\nget_weather({\"city\": \"Paris\"})\nadd_item({})"),
        ("del-legacy", "TOOL_USE: get_weather {\"city\": \"Paris\"}\nTOOL_USE: add_item {}"),
        (
            "dsml-v32",
            "ok\n\n<｜DSML｜function_calls>\n<｜DSML｜invoke name=\"get_weather\">\n<｜DSML｜parameter name=\"city\" string=\"true\">Paris</｜DSML｜parameter>\n<｜DSML｜parameter name=\"days\" string=\"false\">3</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜function_calls>",
        ),
        (
            "pythonic",
            "[get_weather(city='Paris', days=3), add_item(item={'a': None}, tags=['u', \"v\"], ok=True)]",
        ),
        (
            "harmony",
            "<|channel|>analysis<|message|>Need weather.<|end|><|start|>assistant<|channel|>commentary to=functions.get_weather <|constrain|>json<|message|>{\"city\": \"Paris\", \"days\": 3}<|call|>",
        ),
        (
            "amrita-am",
            "<am:tool_call name=\"get_weather\">\n<city>Paris &amp; co</city>\n<days>3</days>\n</am:tool_call>",
        ),
        ("amrita-am", "<am:tool_call name=\"get_weather\">\n<city>Paris</city>\n<days>3</days>\n"),
        ("amrita-am", "I need more. <am:request_tools>weather</am:request_tools>"),
        ("amrita-am", "<am:request_tools>weather"),
        (
            "amrita-am",
            "<am:tool_call name=\"get_weather\">\n<city><![CDATA[\nA & <b>\n]]></city>\n</am:tool_call>\n<am:request_tools>weather</am:request_tools>",
        ),
    ];
    for (d, text) in samples {
        let (m, _) = run(Some(d), text, usize::MAX, End::End);
        println!(
            "{d}: c={:?} r={:?} {:?} {:?}",
            m.content,
            m.reasoning,
            m.calls.iter().map(|c| format!("{}{:?} {}", c.name, c.id, c.arguments)).collect::<Vec<_>>(),
            m.faults.iter().map(|f| (f.kind.as_str(), f.span.clone())).collect::<Vec<_>>()
        );
        for chunk in 1..8 {
            let (m2, w) = run(Some(d), text, chunk, End::End);
            assert_eq!(m, m2, "{d} {chunk}");
            assert!(w <= 4 * text.len() as u64, "{d} {chunk} {w} {}", text.len());
        }
        let (ma, w) = run(None, text, usize::MAX, End::End);
        println!("   auto={:?} {} work {}/{}", ma.dialect, ma.calls == m.calls, w, text.len());
    }
}
#[test]
fn renders() {
    let tools: Vec<Tool> = serde_json::from_str(include_str!("tools.json")).unwrap();
    let calls = vec![
        Call {
            id: None,
            name: "get_weather".into(),
            arguments: r#"{"city": "Pa\"r\nis", "days": 3}"#.into(),
        },
        Call {
            id: None,
            name: "add_item".into(),
            arguments: r#"{"item": {"a": [1, null, "x"]}, "ok": true}"#.into(),
        },
    ];
    for d in Dialects::builtin().iter() {
        match d.render_calls(&calls, &tools) {
            Ok(t) => println!("--- {}\n{t}", d.name),
            Err(e) => println!("--- {} {e}", d.name),
        }
    }
    println!("{}", Dialects::builtin().get("hermes").unwrap().system_prompt(&tools, Detail::Compact));
}
