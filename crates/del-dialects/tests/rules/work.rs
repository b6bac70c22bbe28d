//! Rule 12: the work, and what is held, are bounded.

use del_dialects::{Call, End, FaultKind, Limits};

use crate::faults;
use crate::reading::{
    as_meant, borders, call, chunks, cost, dialects_of, every_dialect, every_parser, kept, limits, parser,
    read, sample, sample_calls, tools, turn,
};

#[test]
fn rule_12_work_is_linear() {
    every_dialect(|dialect| {
        let text = format!("Let me look.\n{}\n", sample(dialect)).repeat(1000);
        for name in [Some(dialect.name()), None] {
            let mut endless = turn();
            endless.limits.calls = u32::MAX;
            for pieces in [vec![text.as_str()], chunks(&text, 5)] {
                let (examined, _) = cost(parser(name, endless.clone()), pieces);
                let bound = 4 * text.len() as u64;
                assert!(examined <= bound, "{name:?} {}: {examined} of {}", dialect.name(), text.len());
            }
        }
    });
}

/// Each mark begins what may be a call, and only the end of the text shows that none of them is: what is read again must
/// not grow with the square.
#[test]
fn rule_12_marks_inside_one_another_are_linear() {
    const BEGUN: [&str; 5] = ["{\"s\":\"{[", "{\"(\":\"!", "{\"s\":{\"s\":'", "get_weather(city='", "x"];
    const ENDS: [&str; 4] = ["\"}!", "\",\"{\"x", "\"}]{\"name\":{", "')=("];
    every_parser(|name| {
        for dialect in dialects_of(name) {
            let sample = sample(&dialect);
            let step = if name.is_some() { 2 } else { 11 };
            for at in borders(&sample).into_iter().step_by(step) {
                for (begun, end) in BEGUN.iter().flat_map(|begun| ENDS.map(|end| (begun, end))) {
                    let unit = format!(" {}{begun}", &sample[..at]);
                    // In thousandths.
                    let looks = |bytes: usize| {
                        let text = unit.repeat(bytes / unit.len() + 1) + end;
                        1000 * cost(parser(name, turn()), vec![text.as_str()]).0 / text.len() as u64
                    };
                    let (short, long) = (looks(2000), looks(8000));
                    assert!(long < short * 3 / 2 + 1000, "{name:?} {unit:?} {end:?}: {short} and {long}");
                }
            }
        }
    });
}

/// A call in a fence that breaks behind the fences of many others: each of them is tried, and none is read as far.
#[test]
fn rule_12_broken_calls_in_fences_are_linear() {
    const MOST: u64 = 8;
    let unit = "x\n```json\n{\"name\": \"add_item\", \"arguments\": {\"item\": {\"a\": \"x\\\"y\n```";
    let text = unit.repeat(64 << 10 >> 6);
    every_parser(|name| {
        for size in [13, text.len()] {
            let (examined, _) = cost(parser(name, turn()), chunks(&text, size));
            assert!(examined <= MOST * text.len() as u64, "{name:?}: {examined} of {}", text.len());
        }
    });
}

/// A call in Python without marks, of which no bracket or quote closes as it was opened: each of many is looked through once.
#[test]
fn rule_12_brackets_that_close_otherwise_are_linear() {
    const MOST: u64 = 8;
    for unit in ["</think>get_weather(\"s\",[r,c)", "</think>get_weather(\"s\"r(\",[r,c)"] {
        let text = unit.repeat((64 << 10) / unit.len());
        every_parser(|name| {
            for size in [13, text.len()] {
                let mut endless = turn();
                endless.limits.calls = u32::MAX;
                let (examined, _) = cost(parser(name, endless), chunks(&text, size));
                assert!(examined <= MOST * text.len() as u64, "{name:?}: {examined} of {}", text.len());
            }
        });
    }
}

/// White space may end what stands before it or belong to it, as what follows tells: that is asked once for a whole run.
#[test]
fn rule_12_runs_of_white_space_are_linear() {
    const MOST: u64 = 8;
    every_dialect(|dialect| {
        let sample = sample(dialect);
        for at in borders(&sample) {
            for (space, behind) in [("\n", ">"), ("\n ", "x"), ("\t", "\"")] {
                let text = format!("{}e{}{behind}", &sample[..at], space.repeat(200)).repeat(5);
                let (examined, _) = cost(parser(Some(dialect.name()), turn()), vec![text.as_str()]);
                let bound = MOST * text.len() as u64;
                assert!(examined <= bound, "{} {at}: {examined} of {}: {text:?}", dialect.name(), text.len());
            }
        }
    });
}

#[test]
fn rule_12_depth_calls_and_arguments_have_limits() {
    let [weather, list] = sample_calls();
    let deep = format!("{{\"item\":{{\"a\":{}1{}}}}}", "[".repeat(20), "]".repeat(20));
    let deep = [list.clone(), call("add_item", &deep)];
    let three = [weather.clone(), list.clone(), weather];
    let big = [list, call("write_file", &format!(r#"{{"path":"{}"}}"#, "x".repeat(500)))];
    every_dialect(|dialect| {
        let check = |what: &str, limits: Limits, calls: &[Call], expected: usize| {
            let text = dialect.render_calls(calls, &tools()).unwrap_or_else(|error| panic!("{error}"));
            for chars in [1, 7, 1000] {
                let (message, events) =
                    read(dialect.parser(turn().limited(limits.clone())), chunks(&text, chars), End::End);
                let known = faults(&events);
                assert_eq!(
                    kept(dialect, as_meant(message.calls, &calls[..expected])),
                    kept(dialect, calls[..expected].to_vec()),
                    "{} {what}",
                    dialect.name()
                );
                assert!(known.contains(&FaultKind::Limit), "{} {what}: {known:?}", dialect.name());
                assert_eq!(message.content.trim(), "", "{} {what}", dialect.name());
            }
        };
        check("depth", limits(|limits| limits.depth = 10), &deep, 1);
        check("calls", limits(|limits| limits.calls = 2), &three, 2);
        check("arguments", limits(|limits| limits.arguments = 200), &big, 1);
    });
}

#[test]
fn rule_12_names_have_a_limit() {
    every_dialect(|dialect| {
        for (letters, fits) in [(60, true), (61, false), (5000, false)] {
            let long = "n".repeat(letters);
            let sample = dialect.render_calls(&[call("get_weather", "{}")], &tools()).unwrap();
            let text = sample.replace("get_weather", &long);
            let limits = limits(|limits| limits.name = 60);
            for chars in [1, 7, 10_000] {
                let mut turn = turn().limited(limits.clone());
                crate::reading::declare(&mut turn, &[call(&long, "{}")]);
                let (message, _) = read(dialect.parser(turn), chunks(&text, chars), End::End);
                assert_eq!(message.calls.len(), usize::from(fits), "{} {letters}", dialect.name());
            }
        }
    });
}

#[test]
fn rule_12_what_is_held_is_bounded() {
    const HELD: usize = 4096;
    every_parser(|name| {
        let mut openings: Vec<String> = Vec::new();
        for dialect in dialects_of(name) {
            let sample = sample(&dialect);
            let step = if name.is_some() { 3 } else { 29 };
            openings.extend(borders(&sample).into_iter().step_by(step).map(|at| sample[..at].to_owned()));
        }
        for opening in openings {
            for flood in ["x", " ", "\n", "{", "[", "\\", "\"", "<", "'", "a=", "{\"a\":"] {
                let text = format!("{opening}{}", flood.repeat(3 * HELD / flood.len()));
                let limits = limits(|limits| limits.held = HELD);
                let (_, most) = cost(parser(name, turn().limited(limits)), chunks(&text, 300));
                assert!(most <= HELD + 1200, "{name:?} holds {most} bytes of {opening:?} and {flood:?}");
            }
        }
    });
}
