//! Plain prose of many kinds is text, to the byte, in every dialect: what is no call loses nothing.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod reading;

use del_dialects::{Dialects, End, Message, Parser, Turn};
use reading::{chunks, read, turn};

const PROSE: [&str; 38] = [
    "Hello\nIt rains.",
    "Hello",
    "Hello, how are you?",
    "Paris\n",
    "Weather:\nIt rains in Paris.",
    "get_weather\nis the tool that I would take.",
    "list_dir is a tool. So is write_file.",
    "# Heading\n\nA paragraph.\n\n## Another\n\n- one\n- two\n  1. three\n",
    "| a | b |\n| --- | --- |\n| 1 | 2 |",
    "```rust\nfn main() {\n    println!(\"{}\", 1);\n}\n```\nThat is all.",
    "Run `ls -la | wc -l`, then `cd ..`.",
    "```\n$ cargo test\n```",
    "<p>A <b>bold</b> word &amp; a <br/> break</p>",
    "<config>\n  <name>x</name>\n  <value>1</value>\n</config>",
    "{\"city\": \"Paris\", \"days\": 3}",
    "[1, 2, 3]",
    "[\"a\", \"b\"]",
    "The list is [1, 2], the set is {1, 2}, the call f(x) is pure.",
    "x = 1\ny = [x for x in range(3)]\nprint(x, y)",
    "if a < b && c > d { return a | b; }",
    "a <- b; c -> d; e << f; g >> h; i <= j; k >= l",
    "He said: \"It's 5 o'clock.\" Then he left.",
    "\"Quoted\" and 'quoted' and “quoted” and «quoted».",
    "Wait... what?! No -- never; (perhaps) [maybe] {surely}.",
    "1. First\n2. Second\n3. Third",
    "key: value\nother: 2\n",
    "2 + 2 = 4, 10 % 3 = 1, 5 * 5 = 25, $100, 50 %, #1, @me",
    "https://example.com/a?b=c&d=e#f",
    "Café, naïve, 北京, Москва, 🎉 and 👩‍👩‍👧.",
    "日本語の文章です。\n二行目です。",
    "\u{1}\u{7f} control",
    "\n\n  indented\n\ttabbed\n\n",
    "A line\r\nanother line\r\n",
    "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old\n+new",
    "SELECT * FROM t WHERE a <> 'b';",
    "\\frac{a}{b} \\le \\sum_{i=0}^{n} x_i",
    "Note:\nThe answer\nis\n42",
    "TODO\nbuy milk\n",
];

/// What is wrong with what was read of a text.
fn wrong(text: &str, message: &Message) -> Option<String> {
    let whole = message.content == text && message.reasoning.is_empty();
    let clean = message.calls.is_empty() && message.faults.is_empty();
    (!whole || !clean).then(|| format!("{text:?} became {message:?}"))
}

fn check(name: &str, parser: &dyn Fn() -> Parser, all: &mut Vec<String>) {
    for text in PROSE {
        for pieces in [vec![text], chunks(text, 1)] {
            let (message, _) = read(parser(), pieces, End::End);
            all.extend(wrong(text, &message).map(|what| format!("{name}: {what}")));
        }
    }
}

#[test]
fn prose_is_text_in_every_dialect() {
    let mut all = Vec::new();
    for dialect in reading::tested() {
        for turn in [Turn::default(), turn()] {
            check(&dialect.name, &|| dialect.parser(turn.clone()), &mut all);
        }
    }
    for turn in [Turn::default(), turn()] {
        check("auto", &|| Dialects::builtin().parser(turn.clone()), &mut all);
    }
    all.dedup();
    assert!(all.is_empty(), "{} texts:\n{}", all.len(), all.join("\n"));
}
