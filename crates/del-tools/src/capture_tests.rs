use super::*;

fn cleaned(bytes: &[u8]) -> String {
    let mut cleaner = Cleaner::default();
    let mut whole = cleaner.push(bytes);
    whole.push_str(&cleaner.finish());
    let mut cleaner = Cleaner::default();
    let mut pieces: String = bytes.iter().map(|byte| cleaner.push(&[*byte])).collect();
    pieces.push_str(&cleaner.finish());
    assert_eq!(whole, pieces, "the split shows");
    whole
}

#[test]
fn escapes_go_and_text_stays() {
    assert_eq!(cleaned(b"a\tb\n"), "a\tb\n");
    assert_eq!(cleaned(b"\x1b[31mred\x1b[0m\n"), "red\n");
    assert_eq!(cleaned(b"\x1b]0;title\x07x\x1b]8;;http://a\x1b\\link\x1b]8;;\x1b\\\n"), "xlink\n");
    assert_eq!(cleaned("größe\n".as_bytes()), "größe\n");
    assert_eq!(cleaned(b"a\xffb\n"), "a\u{fffd}b\n");
    assert_eq!(cleaned(b"a\x00\x07b"), "ab");
}

#[test]
fn what_is_not_closed_ends_with_its_line() {
    for opened in ["\x1b]0;title", "\x1bP1;2q", "\x1b_G", "\x1b^", "\x1bX", "\x1b[3", "\x1b"] {
        let text = format!("a{opened}\nnext ]line\n");
        assert_eq!(cleaned(text.as_bytes()), "a\nnext ]line\n", "{opened:?}");
    }
    assert_eq!(cleaned(b"a\xc3\nb\xe2\x82"), "a\u{fffd}\nb\u{fffd}");
}

#[test]
fn a_line_that_was_written_over_shows_its_last_state() {
    assert_eq!(cleaned(b" 10%\r 50%\r100%\ndone\n"), "100%\ndone\n");
    assert_eq!(cleaned(b"dos\r\nlines\r\n"), "dos\nlines\n");
    assert_eq!(cleaned(b"ab\x08c\n"), "ac\n");
    assert_eq!(cleaned(b"50%\r"), "50%");
}

#[test]
fn a_line_without_end_is_passed_on() {
    let mut cleaner = Cleaner::default();
    let mut length = 0;
    for _ in 0..100 {
        length += cleaner.push(&[b'x'; 10_000]).len();
        assert!(cleaner.screen.line.len() <= MAX_LINE + 10_000);
    }
    assert_eq!(length + cleaner.finish().len(), 1_000_000);
}

#[test]
fn a_window_keeps_both_ends() {
    let mut window = Window::new(30);
    for n in 0..1000 {
        window.push(&format!("line {n}\n"));
    }
    let shown = window.show(30, "; more");
    assert!(shown.starts_with("line 0\n"), "{shown}");
    assert!(shown.ends_with("line 998\nline 999"), "{shown}");
    assert!(shown.contains(" lines, ") && shown.contains("bytes omitted; more] ..."), "{shown}");
    assert!(window.head.len() + window.tail.len() <= 3 * window.keep);
}

#[test]
fn a_window_shows_everything_that_fits() {
    let mut window = Window::new(30);
    window.push("äöü\n");
    assert_eq!((window.show(30, ""), window.chars()), ("äöü".to_owned(), 4));
    window.push(&"x".repeat(40));
    let shown = window.show(30, "");
    assert!(shown.starts_with("äöü\nxxx") || shown.starts_with("äöü\n"), "{shown}");
    assert!(shown.contains("bytes omitted"), "{shown}");
}

#[test]
fn a_spill_writes_only_what_is_too_long() {
    let directory = tempfile::tempdir().unwrap();
    let workspace = Workspace::open(directory.path(), &[]).unwrap();
    let mut short = Spill::new(&workspace, 10);
    short.push("0123456789");
    assert!(short.finish().is_none());
    let mut long = Spill::new(&workspace, 10);
    long.push("0123456789");
    long.push("abc");
    long.push("def");
    let (path, complete) = long.finish().unwrap();
    assert!(complete);
    assert_eq!(std::fs::read_to_string(path).unwrap(), "0123456789abcdef");
}
