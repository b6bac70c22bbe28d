//! Any description, built of pieces or made of a built-in one: reading it never panics, and one that is accepted
//! writes calls that read back, or says that it cannot, and reads hostile text by the laws.
#![no_main]

use std::sync::Arc;

use del_dialects::{Call, Dialect, Dialects, End, RenderError, Turn};
use del_fuzz::reading::{all_marks, chunks, read};
use del_fuzz::{hold, tools};
use libfuzzer_sys::arbitrary::{Result, Unstructured};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let _ = check(&mut Unstructured::new(data));
});

fn check(input: &mut Unstructured<'_>) -> Result<()> {
    let text = if input.arbitrary()? { built(input)? } else { changed(input)? };
    let Ok(dialect) = Dialect::from_toml("own", &text).map(Arc::new) else { return Ok(()) };
    let calls = [
        ("get_weather", r#"{"city":"Paris","days":3}"#),
        ("write_file", r#"{"path":"a <b> 'c' \"d\"","content":"one\ntwo"}"#),
        ("project_context", "{}"),
    ];
    let calls =
        calls.map(|(name, arguments)| Call { id: None, name: name.into(), arguments: arguments.into() });
    let mut texts = Vec::new();
    for calls in [&calls[..1], &calls[1..2], &calls[2..], &calls[..]] {
        match dialect.render_calls(calls, &tools()) {
            Ok(text) => {
                let (message, events) = read(dialect.parser(Turn::new(tools())), chunks(&text, 1), End::End);
                hold(&text, &events);
                assert_eq!(message.calls.len(), calls.len(), "{text:?}\n{}", dialect.text());
                texts.push(text);
            }
            Err(RenderError::Unrepresentable { .. } | RenderError::Arguments { .. }) => {}
            Err(error) => panic!("{error}"),
        }
    }
    let marks = all_marks(&dialect);
    let mut hostile = String::new();
    while !input.is_empty() && hostile.len() < 2048 {
        match input.int_in_range(0..=3)? {
            0 | 1 if !marks.is_empty() => hostile.push_str(input.choose(&marks)?),
            2 if !texts.is_empty() => hostile.push_str(input.choose(&texts)?),
            _ => hostile.push_str(input.arbitrary::<&str>()?),
        }
    }
    for end in [End::End, End::Cut] {
        let whole = read(dialect.parser(Turn::new(tools())), [hostile.as_str()], end);
        hold(&hostile, &whole.1);
        let split = read(dialect.parser(Turn::new(tools())), chunks(&hostile, 1), end);
        assert_eq!(split, whole, "{hostile:?}\n{}", dialect.text());
    }
    Ok(())
}

/// A built-in description with a few stretches of it replaced.
fn changed(input: &mut Unstructured<'_>) -> Result<String> {
    let all: Vec<&str> = Dialects::builtin().iter().map(|dialect| dialect.text()).collect();
    let mut text = (*input.choose(&all)?).to_owned();
    for _ in 0..input.int_in_range(0..=4)? {
        let borders: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
        let from = *input.choose(&borders)?;
        let len = input.int_in_range(0..=12)?;
        let to = text[from..].char_indices().nth(len).map_or(text.len(), |(at, _)| from + at);
        text.replace_range(from..to, input.arbitrary::<&str>()?);
    }
    Ok(text)
}

/// A description of pieces.
fn built(input: &mut Unstructured<'_>) -> Result<String> {
    let mut text = String::from("title = \"t\"\nsource = \"s\"\n");
    let frame = input.choose(&["tags", "bare"])?;
    text.push_str(&format!("frame = \"{frame}\"\n"));
    if input.arbitrary()? {
        let rules = ["｜\" = \"|", "|\" = \"｜", "<\" = \"[", ">\" = \"> ", "call\" = \"Call", ":x\" = \":*"];
        text.push_str(&format!("rewrite = [{{ \"{}\" }}]\n", input.choose(&rules)?));
    }
    if input.arbitrary()? {
        text.push_str(&format!("[reasoning]\nbegin = {}\nend = {}\n", mark(input)?, mark(input)?));
    }
    if input.arbitrary()? {
        text.push_str(&format!("[block]\nopen = [{}]\nclose = [{}]\n", marks(input)?, marks(input)?));
    }
    let pieces = [marks(input)?, head(input)?, marks(input)?, args(input)?, marks(input)?];
    let pieces: Vec<&str> = pieces.iter().map(String::as_str).filter(|piece| !piece.is_empty()).collect();
    text.push_str(&format!("[call]\npieces = [{}]\n", pieces.join(", ")));
    text.push_str(&format!("between = {}\n", mark(input)?));
    if input.arbitrary()? {
        text.push_str(&format!("lead = {}\n", quoted(input.choose(&["\n", "\n\n", " "])?)));
    }
    Ok(text)
}

fn marks(input: &mut Unstructured<'_>) -> Result<String> {
    let count = input.int_in_range(0..=2)?;
    let one = |input: &mut Unstructured<'_>| {
        let need = input.choose(&["must", "must", "soft", "free", "noise", "stop", "id"])?;
        let line = if input.ratio(1, 8)? { ", line_start = true" } else { "" };
        let also = if input.ratio(1, 4)? { mark(input)? } else { String::new() };
        Ok(format!("{{ mark = [{}, {also}], need = \"{need}\"{line} }}", mark(input)?))
    };
    Ok((0..count).map(|_| one(input)).collect::<Result<Vec<_>>>()?.join(", "))
}

fn mark(input: &mut Unstructured<'_>) -> Result<String> {
    const MARKS: [&str; 16] = [
        "<tool_call>",
        "</tool_call>",
        "<call:",
        ">",
        "[",
        "]",
        "(",
        ")",
        "\n",
        "<|call|>",
        "<|end|>",
        "```json\n",
        "```",
        "call",
        ", ",
        "</call>\n",
    ];
    if input.ratio(5, 6)? {
        Ok(quoted(input.choose(&MARKS)?))
    } else {
        Ok(quoted(input.arbitrary::<&str>()?))
    }
}

fn head(input: &mut Unstructured<'_>) -> Result<String> {
    let forms = ["", "{name}", "functions.{name}:{index}", "{name}|{id}", "{id}"];
    let form = input.choose(&forms)?;
    Ok(if form.is_empty() { String::new() } else { format!("{{ head = {} }}", quoted(form)) })
}

fn args(input: &mut Unstructured<'_>) -> Result<String> {
    let forms = [
        r#"args = "object""#,
        r#"args = "call", form = '{"name": "{name}", "arguments": {args}}'"#,
        r#"args = "call", form = '{"id": "{id}", "{name}": {args}}'"#,
        r#"args = "object", loose = { open = "(", close = ")", pair = "=", quotes = ["'", '"'], quoted_keys = true }"#,
        r#"args = "object", loose = { open = "{", close = "}", pair = ":", quotes = ["<q>"] }"#,
        r#"args = "fields", form = "<p={key}>{value}</p>""#,
        r#"args = "fields", form = "<{key}>{value}</{key}>", xml = true"#,
        r#"args = "fields", form = "<k>{key}</k><v>{value}</v>\n", values = "words""#,
        r#"args = "raw", key = "content""#,
    ];
    let form = input.choose(&forms)?;
    Ok(format!("{{ {form} }}"))
}

/// A TOML string.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
