//! `dynamo-parsers`: one pass over a whole text, and for a stream a jail that holds back what may be a call.

use std::env;

use dynamo_parsers::tool_calling::ToolDefinition;
use dynamo_parsers::tool_calling::jail::{Annotated, JailedStream};
use dynamo_parsers::tool_calling::parsers::{detect_and_parse_tool_call_with_recovery, get_tool_parser_map};
use dynamo_protocols::types::CreateChatCompletionStreamResponse;
use futures::{StreamExt, stream};
use serde_json::json;

use crate::case::{Call, Case};
use crate::peer::{Mode, Parts, Reading, pieces, wait};

pub(crate) fn read(parser: &str, case: &Case, mode: Mode) -> Option<Reading> {
    if !has_tokens(parser) || !get_tool_parser_map().contains_key(parser) {
        return None;
    }
    let read = async {
        match mode {
            Mode::Batch => whole(parser, case).await,
            Mode::Stream => jailed(parser, case).await,
        }
    };
    Some(wait(read).and_then(|reading| reading))
}

/// The parsers for Harmony read tokens, and would fetch the list of them where there is none.
pub(crate) fn has_tokens(parser: &str) -> bool {
    parser != "harmony" || env::var_os("TIKTOKEN_ENCODINGS_BASE").is_some()
}

async fn whole(parser: &str, case: &Case) -> Reading {
    let tools = tools(case);
    let found = detect_and_parse_tool_call_with_recovery(&case.text, Some(parser), Some(&tools));
    let (calls, _) = found.await.map_err(|error| error.to_string())?;
    Ok(calls.iter().map(|call| Call::new(&call.function.name, &call.function.arguments)).collect())
}

async fn jailed(parser: &str, case: &Case) -> Reading {
    let mut chunks = Vec::new();
    for piece in pieces(&case.text, Mode::Stream) {
        chunks.push(chunk(json!({"role": "assistant", "content": piece}), None)?);
    }
    chunks.push(chunk(json!({}), Some("stop"))?);
    let jail = JailedStream::builder().tool_call_parser(parser).tool_definitions(tools(case)).build();
    let out: Vec<Annotated<CreateChatCompletionStreamResponse>> =
        jail.apply(stream::iter(chunks)).collect().await;
    let mut parts = Parts::default();
    let choices = out.into_iter().filter_map(|chunk| chunk.data).flat_map(|chunk| chunk.choices);
    for part in choices.flat_map(|choice| choice.delta.tool_calls.unwrap_or_default()) {
        let function = part.function.as_ref();
        let arguments = function.and_then(|function| function.arguments.as_deref()).unwrap_or_default();
        let name = function.and_then(|function| function.name.as_deref());
        parts.add(part.index as usize, name, arguments);
    }
    Ok(parts.into_calls())
}

/// A chunk of a stream as `OpenAI` sends it.
fn chunk(
    delta: serde_json::Value,
    finish: Option<&str>,
) -> Result<Annotated<CreateChatCompletionStreamResponse>, serde_json::Error> {
    let choice = json!({"index": 0, "delta": delta, "finish_reason": finish, "logprobs": null});
    let data = json!({
        "id": "", "object": "chat.completion.chunk", "created": 0, "model": "", "choices": [choice]
    });
    let data = Some(serde_json::from_value(data)?);
    Ok(Annotated { data, id: None, event: None, comment: None, error: None })
}

fn tools(case: &Case) -> Vec<ToolDefinition> {
    let functions = case.tools.iter().map(|tool| &tool["function"]);
    let define = |function: &serde_json::Value| ToolDefinition {
        name: function["name"].as_str().unwrap_or_default().to_owned(),
        parameters: Some(function["parameters"].clone()),
        strict: None,
    };
    functions.map(define).collect()
}
