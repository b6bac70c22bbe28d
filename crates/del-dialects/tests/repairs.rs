//! Every row of `docs/repairs.md`, in every syntax of values: one defect, one fate.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod reading;

use std::fs;
use std::path::Path;

use del_dialects::{End, Tool, Turn};
use reading::{borders, chunks, parser, read, spans, squeezed};
use serde_json::{Value, json};

/// A syntax: its name in the table, its dialect, an answer with a call whose value stands for `VALUE`, and whether the
/// value is an argument or all of them.
struct Syntax {
    name: &'static str,
    dialect: &'static str,
    answer: &'static str,
    argument: bool,
}

const SYNTAXES: [Syntax; 9] = [
    Syntax { name: "json", dialect: "mistral-args", answer: "[TOOL_CALLS]f[ARGS]VALUE</s>", argument: false },
    Syntax {
        name: "call",
        dialect: "hermes-json",
        answer: "<tool_call>\n{\"name\": \"f\", \"arguments\": VALUE}\n</tool_call>",
        argument: false,
    },
    Syntax { name: "python", dialect: "pythonic", answer: "[f(o=VALUE)]", argument: true },
    Syntax {
        name: "literal",
        dialect: "sarashina",
        answer: "<|tool_calls|>[{'name': 'f', 'arguments': VALUE}]</s>",
        argument: false,
    },
    Syntax {
        name: "gemma",
        dialect: "gemma4",
        answer: "<|tool_call>call:f{o:VALUE}<tool_call|>",
        argument: true,
    },
    Syntax {
        name: "field",
        dialect: "glm45",
        answer: "<tool_call>f\n<arg_key>o</arg_key>\n<arg_value>VALUE</arg_value>\n</tool_call>",
        argument: true,
    },
    Syntax {
        name: "typed",
        dialect: "qwen3-coder",
        answer: "<tool_call>\n<function=f>\n<parameter=o>\nVALUE\n</parameter>\n</function>\n</tool_call>",
        argument: true,
    },
    Syntax {
        name: "marked",
        dialect: "dsml-v4",
        answer: "<｜DSML｜tool_calls>\n<｜DSML｜invoke name=\"f\">\n<｜DSML｜parameter name=\"o\" string=\"false\">VALUE</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜tool_calls>",
        argument: true,
    },
    Syntax {
        name: "element",
        dialect: "minimax-m3",
        answer: "]<]minimax[>[<tool_call>\n]<]minimax[>[<invoke name=\"f\">]<]minimax[>[<o>VALUE]<]minimax[>[</o>]<]minimax[>[</invoke>\n]<]minimax[>[</tool_call>",
        argument: true,
    },
];

/// A row of the table.
struct Row {
    what: String,
    written: String,
    /// None where the call is refused.
    read: Option<String>,
    fault: String,
    /// Syntaxes that write it so, or have another fault.
    others: Vec<String>,
}

#[test]
fn one_defect_has_one_fate() {
    let rows = rows();
    assert!(rows.len() > 35, "expected the table of docs/repairs.md, got {} rows", rows.len());
    let mut wrong = Vec::new();
    for row in &rows {
        for syntax in &SYNTAXES {
            if let Err(report) = check(row, syntax) {
                wrong.push(format!("{}, {}: {report}", row.what, syntax.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of docs/repairs.md:\n{}", wrong.len(), wrong.join("\n"));
}

fn check(row: &Row, syntax: &Syntax) -> Result<(), String> {
    let answer = syntax.answer.replace("VALUE", &row.written);
    let other = row.others.iter().find(|other| other.split(':').next() == Some(syntax.name));
    let fault = match other {
        None => Some(row.fault.as_str()),
        Some(other) => other.split_once(':').map(|(_, fault)| fault),
    };
    let refused = fault == Some("bad_arguments");
    let (whole, events) = read(parser(Some(syntax.dialect), turn()), [answer.as_str()], End::End);
    let faults: Vec<&str> = whole.faults.iter().map(|fault| fault.kind.as_str()).collect();
    let got = whole.calls.first().map(|call| call.arguments.as_str());
    // The raw text of a field that is no JSON stays text, which is told.
    let text = (fault == Some("wrong_type")).then(|| json!(row.written).to_string());
    let value = text.as_deref().or(row.read.as_deref()).filter(|_| !refused);
    let expected =
        value.map(|value| if syntax.argument { format!("{{\"o\":{value}}}") } else { value.to_owned() });
    let same = match (&expected, got) {
        (Some(expected), Some(got)) => squeezed(expected) == squeezed(got),
        (None, None) => true,
        _ => false,
    };
    // Of a call that does not count the rest may be noted, too.
    let told = if refused { &faults[..faults.len().min(1)] } else { &faults[..] };
    if !same || told != fault.into_iter().collect::<Vec<_>>() {
        return Err(format!("{answer:?}\n  expected {expected:?} {fault:?}\n  got      {got:?} {faults:?}"));
    }
    let mut ways: Vec<Vec<&str>> = [1, 3].iter().map(|size| chunks(&answer, *size)).collect();
    ways.extend(borders(&answer).into_iter().map(|at| vec![&answer[..at], &answer[at..]]));
    for pieces in ways {
        let (split, log) = read(parser(Some(syntax.dialect), turn()), pieces.iter().copied(), End::End);
        if split != whole || log != events {
            return Err(format!("{pieces:?}: other events than the whole text"));
        }
    }
    Ok(())
}

fn turn() -> Turn {
    let parameters = json!({"type": "object", "properties": {"o": {"type": "object"}}});
    let tool = Tool { name: "f".to_owned(), description: String::new(), parameters };
    Turn::new(vec![tool])
}

fn rows() -> Vec<Row> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/repairs.md");
    let text = fs::read_to_string(&path).unwrap();
    let lines = text.lines().filter(|line| line.starts_with("| ") && line.contains('`'));
    lines
        .map(|line| {
            let cells: Vec<&str> = line.trim_matches('|').split('|').collect();
            let [what, written, read, fault] = cells[..4] else { panic!("{line}") };
            let one = |cell: &str| spans(cell).first().map(|span| span.replace('⏎', "\n"));
            Row {
                what: what.trim().to_owned(),
                written: one(written).expect("what is written"),
                read: one(read),
                fault: one(fault).expect("a fault"),
                others: cells.get(4).map_or_else(Vec::new, |cell| spans(cell)),
            }
        })
        .collect()
}

#[test]
fn what_is_read_is_json() {
    for row in rows() {
        if let Some(read) = row.read {
            assert!(serde_json::from_str::<Value>(&read).is_ok(), "{}: {read}", row.what);
        }
    }
}
