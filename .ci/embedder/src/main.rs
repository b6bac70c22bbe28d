//! Reads and writes calls in every built-in dialect, in a program that depends on `del-dialects` alone. The order of
//! members in JSON objects is alphabetical here, which the library must not mind.

use std::process::ExitCode;

use del_dialects::{Call, Collect, Dialects, End, Tool, Turn};
use serde_json::{Value, json};

fn main() -> ExitCode {
    let mut wrong = 0;
    let mut written = 0;
    for dialect in Dialects::builtin().iter() {
        match check(dialect) {
            Ok(is_written) => written += usize::from(is_written),
            Err(error) => {
                eprintln!("{}: {error}", dialect.name());
                wrong += 1;
            }
        }
    }
    let ordered = json!({"b": 1, "a": 2}).to_string() != r#"{"a":2,"b":1}"#;
    if ordered {
        eprintln!("expected objects without an order of their own, got `preserve_order`: some dependency turns it on");
    }
    println!("{written} dialects write and read a call back, {wrong} do not");
    if wrong > 0 || ordered || written < 60 { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// Whether the dialect can carry the call at all; an error where it comes back as another one.
fn check(dialect: &std::sync::Arc<del_dialects::Dialect>) -> Result<bool, String> {
    let parameters = json!({
        "type": "object",
        "properties": {"path": {"type": "string"}, "depth": {"type": "integer"}},
        "required": ["path"],
    })
    .into();
    let tools = [Tool { name: "list_dir".to_owned(), description: "Lists a directory.".to_owned(), parameters }];
    let arguments = json!({"path": "a b/ü", "depth": 3});
    let call = Call { id: None, name: "list_dir".to_owned(), arguments: arguments.to_string() };
    let Ok(text) = dialect.render_calls(std::slice::from_ref(&call), &tools) else { return Ok(false) };
    for size in [1, text.len().max(1)] {
        let mut parser = dialect.parser(Turn::new(tools.to_vec()));
        let mut collect = Collect::new();
        let mut rest = text.as_str();
        while !rest.is_empty() {
            let mut cut = size.min(rest.len());
            while !rest.is_char_boundary(cut) {
                cut += 1;
            }
            let (piece, behind) = rest.split_at(cut);
            parser.push(piece, &mut collect);
            rest = behind;
        }
        parser.finish(End::End, &mut collect);
        let message = collect.into_message();
        let [read] = message.calls.as_slice() else {
            return Err(format!("expected one call, got {} from {text:?}", message.calls.len()));
        };
        let got: Value = serde_json::from_str(&read.arguments).map_err(|error| error.to_string())?;
        if read.name != call.name || got != arguments {
            return Err(format!("expected {call:?}, got {read:?} from {text:?}"));
        }
    }
    Ok(true)
}
