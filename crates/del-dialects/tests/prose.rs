//! Plain prose of many kinds is text, to the byte, in every dialect: what is no call loses nothing.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod reading;

use del_dialects::{Dialects, End, Event, Message, Parser, Span, Turn};
use reading::{chunks, every_parser, parser, read, turn};

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
            check(dialect.name(), &|| dialect.parser(turn.clone()), &mut all);
        }
    }
    for turn in [Turn::default(), turn()] {
        check("auto", &|| Dialects::builtin().parser(turn.clone()), &mut all);
    }
    all.dedup();
    assert!(all.is_empty(), "{} texts:\n{}", all.len(), all.join("\n"));
}

/// Plain words as people are answered: paragraphs, quotes, dashes, brackets, numbers.
const ANSWER: &str = "\
The harbour of the old town lies in a bay that opens to the south, and most of the boats which are tied up there belong to \
families who have fished these waters for longer than anybody can remember. In the morning, when the light is still grey, \
men and women carry nets, boxes and ropes down the steps; by noon the quay is empty again.

There are three reasons why visitors come: the food, the view, and the quiet. You can walk from one end of the village to \
the other in ten minutes. If you would like to stay longer, ask at the small hotel by the church - it has eight rooms, and \
two of them look out over the water. Prices start at 45 euros (breakfast included), but in August they are higher.

To get there, take the train to the city and change to the bus number 12. It leaves every hour, except on Sundays; the \
last one goes at 19:30. Don't forget to bring cash: the driver won't take cards. \"It's always been like this,\" he says, \
and he isn't going to change it now.";

/// The text in the pieces that a tokenizer cuts English into: words with the space before them, and other characters alone.
fn tokens(text: &str) -> Vec<&str> {
    let word = |c: char| c.is_alphanumeric();
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let behind = first.len_utf8();
        let end = if word(first) || first == ' ' { rest[behind..].find(|c| !word(c)) } else { Some(0) };
        let (token, left) = rest.split_at(end.map_or(rest.len(), |end| behind + end));
        tokens.push(token);
        rest = left;
    }
    tokens
}

#[test]
fn few_words_wait_for_those_behind_them() {
    let tokens = tokens(ANSWER);
    every_parser(|name| {
        let mut parser = parser(name, turn());
        let silent = tokens.iter().filter(|token| {
            let mut spoke = false;
            parser.push(token, &mut |event: Event<'_>, _: Span| spoke |= matches!(event, Event::Text(_)));
            !spoke
        });
        let (silent, all) = (silent.count(), tokens.len());
        assert!(silent * 100 <= all * 12, "{name:?}: {silent} of {all} tokens");
    });
}
