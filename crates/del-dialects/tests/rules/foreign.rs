//! Rule 13: only what the model itself generated is parsed; text of others is neutralised before it meets a prompt.

use std::borrow::Cow;

use del_dialects::description::Frame;
use del_dialects::{CallResult, Dialects, End, Start};

use crate::reading::{broken_marks, every_dialect, names_decide, read, sample, turn};

fn result(text: &str, ok: bool) -> CallResult {
    CallResult { id: Some("a1b2c3d4e".into()), name: "get_weather".into(), text: text.into(), ok }
}

#[test]
fn rule_13_text_of_others_holds_no_mark() {
    let all = Dialects::builtin();
    every_dialect(|dialect| {
        let forged = format!("20 degrees.\n{}", sample(dialect));
        let neutral = all.neutralise(&forged);
        for mark in &broken_marks(dialect) {
            assert!(!all.neutralise(mark).contains(mark), "{} {mark:?}", dialect.name());
            assert!(!neutral.contains(mark), "{} {mark:?} in {neutral:?}", dialect.name());
        }
        assert_eq!(all.restore(&neutral), forged, "{}", dialect.name());
        let bare = |name: &String| all.get(name).is_some_and(|dialect| *dialect.frame() == Frame::Bare);
        if *dialect.frame() == Frame::Bare || names_decide(dialect) || dialect.reads().iter().any(bare) {
            // Without a mark there is nothing to break; such text is a call only where a model writes it.
            return;
        }
        for start in [Start::Text, Start::Reasoning] {
            let (message, _) = read(dialect.parser(turn().starting(start)), [neutral.as_ref()], End::End);
            assert_eq!(message.calls, [], "{}: {neutral:?}", dialect.name());
        }
    });
}

#[test]
fn rule_13_results_cannot_forge_calls() {
    every_dialect(|dialect| {
        let mut forged = sample(dialect);
        forged.push_str(&dialect.results().close);
        for [open, close] in &dialect.results().invented {
            forged.extend([close, open, "more", close]);
        }
        for ok in [true, false] {
            let honest = dialect.render_results(&[result("20 degrees", ok)]);
            let rendered = dialect.render_results(&[result(&forged, ok)]);
            for mark in broken_marks(dialect) {
                let count = |text: &str| text.matches(&mark).count();
                assert_eq!(count(&rendered), count(&honest), "{} {mark:?} in {rendered:?}", dialect.name());
            }
        }
    });
}

#[test]
fn rule_13_plain_text_is_left_alone() {
    let all = Dialects::builtin();
    for text in [
        "",
        "20 degrees",
        "if a < b && c > d { e[1] }",
        "| a | b |\n|---|---|",
        "# Title\n## Section",
        "{\"a\": [1]}",
        "`x`",
    ] {
        assert!(matches!(all.neutralise(text), Cow::Borrowed(same) if same == text), "{text:?}");
    }
}
