//! `dynamo-parsers-v2`: one parser for thinking, text and calls.

use dynamo_parsers_v2::Tool;
use dynamo_parsers_v2::unified::{
    UnifiedParserEvent, UnifiedParserInit, UnifiedParserOutput, UnifiedParserStartingState,
    canonical_unified_family, create_unified_parser_for_family,
};
use serde_json::Value;

use crate::case::Case;
use crate::dynamo::has_tokens;
use crate::peer::{Mode, Parts, Reading, pieces};

pub(crate) fn read(parser: &str, case: &Case, mode: Mode) -> Option<Reading> {
    let known = has_tokens(parser) && canonical_unified_family(parser).is_some();
    known.then(|| parse(parser, case, mode))
}

fn parse(name: &str, case: &Case, mode: Mode) -> Reading {
    let tools = case.tools.iter().map(|tool| tool["function"].clone()).collect();
    let tools: Vec<Tool> = serde_json::from_value(Value::Array(tools))?;
    let mut parser = create_unified_parser_for_family(name, &tools).map_err(|error| error.to_string())?;
    let starting_state = match case.in_reasoning {
        true => UnifiedParserStartingState::Reasoning,
        false => UnifiedParserStartingState::None,
    };
    let init = UnifiedParserInit { starting_state, ..UnifiedParserInit::default() };
    parser.initialize_request(init).map_err(|error| error.to_string())?;
    let mut out = UnifiedParserOutput::default();
    for piece in pieces(&case.text, mode) {
        parser.parse_into(&piece, &mut out).map_err(|error| error.to_string())?;
    }
    out.append(&mut parser.finish().map_err(|error| error.to_string())?);
    let mut parts = Parts::default();
    let mut whole = Vec::new();
    for event in out {
        if let UnifiedParserEvent::ToolCall(part) = event {
            parts.add(part.tool_index, part.name.as_deref(), &part.arguments);
            whole.push((part.tool_index, part.complete));
        }
    }
    let complete = |index: usize| whole.iter().any(|&(of, complete)| of == index && complete);
    Ok(parts.into_calls_where(complete))
}
