//! Texts that were made to hurt: long, deep, endless, half. In every dialect and in all together, whole and byte by
//! byte, nothing panics, no byte is looked at more than four times, and no more is held than the limits allow.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod reading;

use std::env;

use del_dialects::{End, Limits, Turn};
use reading::{
    Raw, all_marks, borders, call, chunks, cost, dialects_of, endless, every_parser, lawful, parser, sample,
    tools, turn,
};

/// Bytes of a flood: the full length with `DEL_LONG` or in a release build.
fn size() -> usize {
    if env::var_os("DEL_LONG").is_some() || !cfg!(debug_assertions) { 1 << 20 } else { 32 << 10 }
}

/// Bytes of a text of which there are very many.
fn short() -> usize {
    (size() / 8).min(16 << 10)
}

/// A turn in which neither calls nor arguments run out, so that the work is real.
fn open_turn() -> Turn {
    endless(&turn())
}

/// Reads a flood whole, byte by byte and in pieces, and checks what it costs.
fn survive(name: Option<&str>, what: &str, text: &str) {
    let held = Limits::default().held;
    for (way, pieces) in
        [("whole", vec![text]), ("byte by byte", chunks(text, 1)), ("in pieces of 61", chunks(text, 61))]
    {
        let (examined, most) = cost(parser(name, open_turn()), pieces);
        // What one opening may cost does not grow with the text; all together know many that begin alike.
        let opening = if name.is_none() { 16 << 10 } else { 0 };
        let bound = 4 * text.len() as u64 + opening;
        let percent = examined * 100 / text.len() as u64;
        assert!(examined <= bound, "{name:?} {what} {way}: {percent} looks at a hundred bytes");
        assert!(most <= held + 64, "{name:?} {what} {way}: {most} bytes are held");
    }
    let short: String = text.chars().take(4096).collect();
    for end in [End::End, End::Cut] {
        let mut raw = Raw::default();
        let mut parser = parser(name, open_turn());
        for piece in chunks(&short, 3) {
            parser.push(piece, &mut raw);
        }
        parser.finish(end, &mut raw);
        if let Err(why) = lawful(&short, &raw.0) {
            panic!("{name:?} {what} {end:?}: {why}");
        }
    }
}

fn flood(unit: &str) -> String {
    unit.repeat(size() / unit.len())
}

#[test]
fn floods_of_one_character() {
    every_parser(|name| {
        for unit in
            ["<", "{", "[", "\\", "\"", "`", "(", "\n", " ", "\t", ">", "|", "｜", "日", "#", ",", "&"]
        {
            survive(name, unit, &flood(unit));
        }
    });
}

#[test]
fn floods_of_pairs() {
    every_parser(|name| {
        for unit in [
            "[{",
            "{{\"",
            "{\"name\":",
            "{'a':",
            "</",
            "<|",
            "[[\"\",",
            "\n{",
            "\n[",
            "a(",
            "\n## ",
            "``` ",
            "\\\"",
            "//\n",
        ] {
            survive(name, unit, &flood(unit));
        }
    });
}

#[test]
fn floods_of_half_marks() {
    every_parser(|name| {
        for mark in all_distinct(name) {
            let borders = borders(&mark);
            for at in [borders[borders.len() / 2], borders[borders.len() - 2]] {
                if at > 0 {
                    let half = &mark[..at];
                    let text: String = half.repeat((size() / 8) / half.len());
                    survive(name, &format!("halves {half:?}"), &text);
                }
            }
        }
    });
}

#[test]
fn floods_of_whole_marks() {
    every_parser(|name| {
        for mark in all_distinct(name) {
            for unit in [mark.clone(), format!("{mark}\n"), format!("\n{mark} x")] {
                survive(name, &format!("marks {unit:?}"), &unit.repeat((size() / 8) / unit.len()));
            }
        }
    });
}

fn all_distinct(name: Option<&str>) -> Vec<String> {
    let marks = dialects_of(name).iter().flat_map(|dialect| all_marks(dialect)).collect::<Vec<_>>();
    let mut marks: Vec<String> = marks.into_iter().filter(|mark| mark.len() > 2).collect();
    marks.sort();
    marks.dedup();
    // All together know hundreds of spellings; every fifth is enough for a flood.
    if name.is_none() { marks.into_iter().step_by(5).collect() } else { marks }
}

#[test]
fn openings_that_never_go_on() {
    every_parser(|name| {
        for dialect in dialects_of(name) {
            let sample = sample(&dialect);
            let step = if name.is_some() { 1 } else { 31 };
            for at in borders(&sample).into_iter().step_by(step).filter(|at| *at > 0) {
                let text = sample[..at].repeat(short() / at + 1);
                survive(name, &format!("{} again and again", &sample[..at]), &text);
            }
        }
    });
}

#[test]
fn openings_before_a_flood() {
    every_parser(|name| {
        for dialect in dialects_of(name) {
            let sample = sample(&dialect);
            let step = if name.is_some() { 5 } else { 47 };
            for at in borders(&sample).into_iter().step_by(step) {
                for unit in ["x", " ", "{", "\"", "\\", "<", "\n", "日", "a,", "\" a=\"b"] {
                    let text = format!("{}{}", &sample[..at], unit.repeat(short() / unit.len()));
                    survive(name, &format!("{:?} and {unit:?}", &sample[..at]), &text);
                }
            }
        }
    });
}

#[test]
fn what_fuzzing_found() {
    for (name, unit) in [
        ("gemma4", "<|tool_call>call:g>call:get_weather(city:<|\"ool_call|>"),
        ("gemma4", "<|tool_call>r{y:|"),
        ("mistral-args", "[TOOL_CALLS]list_dir[ARGS]{#path\": \".\"}</s>"),
        ("gemma4", "<|tool_call>r{y:call:r{y:<|\"|>"),
        ("ernie45", "<tool_call>{\"s\":{\"\":\"}ééééééééééééé"),
        ("amrita-am", "<am:tool_call name=\"f\"><c\u{0}>if a</c></am:tool_call>"),
        ("granite-20b-fc", "<function_call> {\"na {\0o_suther { "),
        (
            "seed-oss",
            "<seed:tool_call>\n<function=add_item>\n<parameter=item>{'a': 1}</parameter>\n<parameter=tags>['u', \
             'vg]\n</function>\n</seed:toolc_all>\n",
        ),
        (
            "dsml-v4",
            "The form is \"\n\n<｜DSML｜tool_calls><｜DSML｜invoke name=\"get_weather\"><｜DSML｜parameter \
             name=\"city\" [string=\"true\">P<atem:invoke name=\"ameter></｜DSML｜invoke></｜DSML｜tool_calls>\" as I \
             said. So \"\n\n<｜DSML｜tool_calls><｜DSML｜invoke name=\"get_weather\"<|GCML|tool_calls>><｜DSML｜pameter \
             t_me=\"city\" string=\"true\">Rome</｜DSML｜invoke></｜DSML｜tool_calls> it is.",
        ),
        (
            "harmony",
            "<|channel|>commentary to=assééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééé\
             ééééééééééééééééééééééééééii.",
        ),
    ] {
        survive(Some(name), unit, &unit.repeat(short() / unit.len()));
    }
    // What is tried between quotes searches for the end of its text, which shows in a long flood alone.
    let unit = "<start_function_call>call:getthaw_eer{city:(<escape>Paris<esCape>)}<end_function_call> \"";
    let flood = unit.repeat((16 << 10) / unit.len());
    let (examined, _) = cost(parser(Some("functiongemma"), open_turn()), vec![flood.as_str()]);
    assert!(examined <= 8 * flood.len() as u64, "{examined} looks at {} bytes", flood.len());
    // Each value misses a closer of its own.
    let unit = |number: usize| format!("<am:tool_call name=\"f\"><k{number}>v</am:tool_call>");
    survive(Some("amrita-am"), "closers of other keys", &(0..short() / 50).map(unit).collect::<String>());
}

#[test]
fn a_hundred_thousand_levels() {
    every_parser(|name| {
        for dialect in dialects_of(name) {
            let text =
                dialect.render_calls(&[call("add_item", r#"{"item":{"a":"HERE"}}"#)], &tools()).unwrap();
            let (before, after) = text.split_once("HERE").unwrap();
            let (before, after) =
                (before.trim_end_matches(['"', '\'']), after.trim_start_matches(['"', '\'']));
            let levels = if cfg!(debug_assertions) { 10_000 } else { 100_000 };
            for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
                let deep = format!("{before}{}1{}{after}", open.repeat(levels), close.repeat(levels));
                survive(name, &format!("{} {levels} levels of {open}", dialect.name()), &deep);
            }
        }
    });
}

#[test]
fn a_million_empty_calls() {
    every_parser(|name| {
        for dialect in dialects_of(name) {
            let unit = dialect.render_calls(&[call("project_context", "{}")], &tools()).unwrap();
            let count = match (cfg!(debug_assertions) && env::var_os("DEL_LONG").is_none(), name) {
                (true, Some(_)) => 5_000,
                (true, None) => 500,
                (false, Some(_)) => 1_000_000,
                (false, None) => 20_000,
            };
            let text = format!("{unit}\n").repeat(count);
            for pieces in [vec![text.as_str()], chunks(&text, 7)] {
                let (examined, most) = cost(parser(name, open_turn()), pieces);
                let bound = 4 * text.len() as u64;
                assert!(
                    examined <= bound,
                    "{name:?} {}: {examined} looks at {} bytes",
                    dialect.name(),
                    text.len()
                );
                assert!(most <= 1024, "{name:?} {}: {most} bytes are held", dialect.name());
            }
        }
    });
}

#[test]
fn one_call_with_very_long_parts() {
    every_parser(|name| {
        for dialect in dialects_of(name) {
            let text = dialect.render_calls(&[call("write_file", r#"{"path":"HERE"}"#)], &tools()).unwrap();
            let length = if name.is_some() { size() } else { size() / 8 };
            for (what, place, letter) in [
                ("value", "HERE", "日"),
                ("value", "HERE", "\\\\"),
                ("key", "path", "k"),
                ("name", "write_file", "n"),
                ("markup", &text[..text.chars().next().map_or(0, char::len_utf8)], "<<"),
            ] {
                let long = text.replacen(place, &letter.repeat(length / letter.len()), 1);
                survive(name, &format!("{} with a long {what}", dialect.name()), &long);
            }
        }
    });
}
