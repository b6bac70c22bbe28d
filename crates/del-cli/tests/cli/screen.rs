//! What stands on a terminal while the program works.

use serde_json::json;

use crate::del::directory;
use crate::server::{Reply, Server, calls, says, thinks};
use crate::terminal::{Terminal, settled};

const MARKDOWN: &str = "# Title\n\nSome **bold** words that go on for so long that they have to be wrapped at the width.\n\n\
    - an item that is longer than one row of a narrow terminal, and wraps\n\n```rust\nlet x = 1;\n```\n\n\
    | a | b |\n|---|---|\n| 1 | two |\n\n日本語 👩\u{200d}💻 done.";

fn ask(server: &Server, columns: u16, variables: &[(&str, &str)], options: &[&str]) -> Terminal {
    let arguments = [&["-p", "go", "--base-url", server.url()], options].concat();
    Terminal::within(directory(&[]), &arguments, columns, variables)
}

/// The escapes in what was written, each by its last character.
fn escapes(seen: &str) -> Vec<char> {
    let ends = |part: &str| part.chars().find(char::is_ascii_alphabetic).unwrap_or(' ');
    seen.split('\u{1b}').skip(1).map(ends).collect()
}

#[test]
fn a_wait_says_what_is_done_and_how_to_stop_it() {
    let server = Server::new(vec![Reply::Silence(Vec::new())]);
    let mut terminal = ask(&server, 80, &[], &[]);
    terminal.until("reading the prompt");
    terminal.until("Ctrl-C stops");
    terminal.write("\u{3}");
    assert_eq!(terminal.end().1, 130);
}

#[test]
fn a_retry_counts_down() {
    let busy = json!({"error": {"message": "loading model"}}).to_string();
    let server = Server::new(vec![Reply::Status(503, busy), says("Now.")]);
    let mut terminal = ask(&server, 80, &[("NO_COLOR", "1")], &[]);
    terminal.until("loading model; try 2 of 12");
    terminal.until("try 2 of 12 in 1 s");
    let (seen, code) = terminal.end();
    assert!(code == 0 && seen.contains("Now."), "{seen:?}");
}

#[test]
fn thinking_is_a_line_when_it_is_over() {
    let server = Server::new(vec![thinks("so this is what I think ", "Yes.")]);
    let (seen, code) = ask(&server, 80, &[("NO_COLOR", "1")], &[]).end();
    assert_eq!(code, 0, "{seen:?}");
    let shown = settled(seen);
    assert!(shown.ends_with("✻ thought for 0 s, about 6 tokens\r\n\r\nYes.\r\n"), "{shown:?}");
}

#[test]
fn the_output_of_a_command_is_seen_while_it_runs() {
    let files = directory(&[]);
    let command = "echo first; while [ ! -e go ]; do sleep 0.05; done; echo second";
    let server = Server::new(vec![calls("c1", "run_command", &json!({"command": command})), says("Done.")]);
    let mut terminal = Terminal::with(
        &files,
        &["-p", "go", "--base-url", server.url(), "--unsafe"],
        80,
        &[("NO_COLOR", "1")],
    );
    terminal.until("│ first");
    std::fs::write(files.path().join("go"), "").unwrap();
    let (seen, code) = terminal.end();
    assert!(code == 0 && seen.contains("second") && seen.contains("Done."), "{seen:?}");
}

#[test]
fn a_change_that_nobody_was_asked_about_is_shown_once() {
    let files = directory(&[("a.txt", "old\n")]);
    let arguments = json!({"file_path": "a.txt", "old_string": "old", "new_string": "new"});
    let server = Server::new(vec![
        calls("c1", "read_file", &json!({"file_path": "a.txt"})),
        calls("c2", "edit_file", &arguments),
        says("Done."),
    ]);
    let options = ["-p", "go", "--base-url", server.url(), "--approval-mode", "auto-edit"];
    let (seen, code) = Terminal::with(&files, &options, 80, &[("NO_COLOR", "1")]).end();
    assert_eq!((code, seen.matches("+new").count(), seen.matches("-old").count()), (0, 1, 1), "{seen:?}");
}

#[test]
fn markdown_is_laid_out_at_every_width() {
    for columns in [40, 60, 80, 120] {
        let server = Server::new(vec![says(MARKDOWN)]);
        let (seen, code) = ask(&server, columns, &[("NO_COLOR", "1")], &[]).end();
        assert_eq!(code, 0, "{seen:?}");
        let shown = settled(seen);
        let rows: Vec<&str> = shown.lines().collect();
        assert!(rows.iter().all(|row| row.chars().count() <= usize::from(columns)), "{columns}: {rows:#?}");
        let text = rows.join(" ").split_whitespace().collect::<Vec<_>>().join(" ");
        for says in [
            "so long that they have to be wrapped at the width.",
            "• an item that is longer",
            "let x = 1;",
            "a │ b ──┼──── 1 │ two",
            "日本語 👩\u{200d}💻 done.",
        ] {
            assert!(text.contains(says), "{columns}: expected {says:?}: {shown:?}");
        }
    }
}

#[test]
fn raw_answers_are_what_the_model_wrote() {
    let server = Server::new(vec![says(MARKDOWN)]);
    let seen = settled(ask(&server, 80, &[("NO_COLOR", "1")], &["--raw"]).end().0);
    assert!(
        seen.contains(
            "Some **bold** words that go on for so long that they have to be wrapped at the width."
        ),
        "{seen:?}"
    );
}

#[test]
fn a_screen_reader_gets_lines_from_top_to_bottom() {
    let files = directory(&[("a.txt", "forty-two\n")]);
    for plain in [("DEL_PLAIN", "1"), ("TERM", "dumb")] {
        let server =
            Server::new(vec![calls("c1", "read_file", &json!({"file_path": "a.txt"})), says(MARKDOWN)]);
        let options = ["-p", "go", "--base-url", server.url()];
        let (seen, code) = Terminal::with(&files, &options, 80, &[plain, ("NO_COLOR", "1")]).end();
        assert!(code == 0 && !seen.contains('\u{1b}'), "{seen:?}");
        for says in ["... reading the prompt\r\n", "call: read_file(", "result: 1  forty-two", "• an item"]
        {
            assert!(seen.contains(says), "expected {says:?}: {seen:?}");
        }
    }
}

#[test]
fn a_terminal_without_unicode_gets_ascii_alone() {
    let server = Server::new(vec![thinks("größe ", MARKDOWN)]);
    let (seen, code) = ask(&server, 80, &[("LANG", "en_US.ISO-8859-1"), ("NO_COLOR", "1")], &[]).end();
    assert!(code == 0 && seen.is_ascii() && settled(seen.clone()).contains("* an item"), "{seen:?}");
}

#[test]
fn no_text_of_a_model_acts_on_the_terminal() {
    let hostile = "# \u{1b}]0;title\u{7}\n**\u{1b}[2J** `\u{9b}31m` \u{202e}evil\n| a\u{1b}[H | b |\n|---|---|\n| \u{1b}c | 2 |\n\n\
        ```sh\n\u{1b}]52;c;aGk=\u{7}\n```\n[x](\u{1b}[1A)";
    let server = Server::new(vec![thinks(hostile, hostile)]);
    let (seen, code) = ask(&server, 80, &[], &[]).end();
    assert_eq!(code, 0, "{seen:?}");
    assert!(!seen.contains(['\u{7}', '\u{9b}', '\u{202e}']) && !seen.contains("\u{1b}]"), "{seen:?}");
    // Colours, and what the sign of life is drawn with: rows up, columns to the right, the rest of a row and of the screen.
    assert!(
        escapes(&seen).iter().all(|end| "mACKJ".contains(*end)) && !seen.contains("\u{1b}[2J"),
        "{seen:?}"
    );
}

#[test]
fn a_hundred_thousand_tokens_cost_little_more_than_themselves() {
    let text = "Some **bold** words, `code` and text. ".repeat(1000) + "\n\n- item\n\n";
    let server = Server::new(vec![says(&text)]);
    let (seen, code) = ask(&server, 80, &[], &[]).end();
    assert_eq!(code, 0);
    // The sign of life, which is drawn by the clock, is the smaller part on any machine.
    assert!(seen.len() < text.len() * 20, "{} for {}", seen.len(), text.len());
}

#[test]
fn nothing_is_drawn_anew_where_what_is_piped_may_come_to_the_same_terminal() {
    let files = directory(&[]);
    let server = Server::new(vec![says("Hello there.")]);
    let (seen, code) = Terminal::piped(&files, &["-p", "go", "--base-url", server.url()]).end();
    assert_eq!(code, 0, "{seen:?}");
    assert!(seen.contains("... writing\r\n") && seen.contains("Hello there."), "{seen:?}");
    assert!(!seen.contains('\u{1b}'), "{seen:?}");
}
