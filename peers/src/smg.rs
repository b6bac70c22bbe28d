//! `tool-parser`, the parsers of smg.

use openai_protocol::common::Tool;
use serde_json::Value;
use tool_parser::ParserFactory;

use crate::Fail;
use crate::case::{Call, Case};
use crate::peer::{Mode, Parts, Reading, pieces, wait};

pub(crate) fn read(parser: &str, case: &Case, mode: Mode) -> Option<Reading> {
    let factory = ParserFactory::new();
    if !factory.registry().has_parser(parser) {
        return None;
    }
    Some(wait(parse(&factory, parser, case, mode)).and_then(|reading| reading))
}

async fn parse(factory: &ParserFactory, name: &str, case: &Case, mode: Mode) -> Reading {
    let tools: Vec<Tool> = serde_json::from_value(Value::from(case.tools.clone()))?;
    let mut parser = factory.registry().create_parser(name).ok_or_else(|| Fail::from("no parser"))?;
    if mode == Mode::Batch {
        let (_, calls) = parser.parse_complete_with_tools(&case.text, &tools).await?;
        return Ok(calls.iter().map(|c| Call::new(&c.function.name, &c.function.arguments)).collect());
    }
    let mut parts = Parts::default();
    for piece in pieces(&case.text, mode) {
        for part in parser.parse_incremental(&piece, &tools).await?.calls {
            parts.add(part.tool_index, part.name.as_deref(), &part.parameters);
        }
    }
    for part in parser.get_unstreamed_tool_args().unwrap_or_default() {
        parts.add(part.tool_index, part.name.as_deref(), &part.parameters);
    }
    Ok(parts.into_calls())
}
