use super::*;
use crate::endings::Normalised;

fn edited(text: &str, old: &str, new: &str) -> Result<(String, Option<&'static str>), Miss> {
    let edit = find(text, old, new, false)?;
    Ok((Normalised::new(text).replaced(&edit.spans), edit.note))
}

fn quietly(text: &str, old: &str, new: &str) -> String {
    let (text, note) = edited(text, old, new).unwrap();
    assert_eq!(note, None);
    text
}

fn noted(text: &str, old: &str, new: &str) -> String {
    let (text, note) = edited(text, old, new).unwrap();
    assert!(note.is_some());
    text
}

#[test]
fn exact_text_is_replaced_without_remark() {
    assert_eq!(quietly("a b c", "b", "x"), "a x c");
    assert_eq!(quietly("a\nb\nc\n", "b\n", ""), "a\nc\n");
}

#[test]
fn what_is_there_twice_is_not_replaced() {
    let miss = Miss::NotUnique { lines: vec![1, 3], loose: false };
    assert_eq!(edited("x\ny\nx\n", "x", "z"), Err(miss));
    let all = find("x\ny\nx\n", "x", "z", true).unwrap();
    assert_eq!(Normalised::new("x\ny\nx\n").replaced(&all.spans), "z\ny\nz\n");
}

#[test]
fn line_numbers_of_a_reading_are_left_out() {
    let text = "fn a() {\n    b();\n}\n";
    assert_eq!(noted(text, "     2\t    b();", "     2\t    c();"), "fn a() {\n    c();\n}\n");
    assert_eq!(noted(text, "     1\tfn a() {\n     2\t    b();", "fn b() {"), "fn b() {\n}\n");
}

#[test]
fn line_breaks_written_out_are_read() {
    assert_eq!(noted("a\nb\nc\n", "a\\nb", "x\\ny"), "x\ny\nc\n");
    assert_eq!(
        quietly("say(\"a\\nb\")\n", "a\\nb", "c"),
        "say(\"c\")\n",
        "what stands in the file so is exact"
    );
}

#[test]
fn whitespace_at_line_ends_is_ignored_where_one_place_is_left() {
    assert_eq!(noted("a  \nb\n", "a\nb", "x"), "x\n");
    assert_eq!(
        edited("a \nb\na  \nb\n", "a\nb", "x"),
        Err(Miss::NotUnique { lines: vec![1, 3], loose: true })
    );
}

#[test]
fn a_replacement_takes_the_indentation_of_the_text() {
    let text = "class A:\n    def f(self):\n        return 1\n";
    let old = "def f(self):\n    return 1";
    let new = "def f(self):\n    if x:\n\n        return 2\n    return 1";
    let expected = "class A:\n    def f(self):\n        if x:\n\n            return 2\n        return 1\n";
    assert_eq!(noted(text, old, new), expected);
    assert_eq!(noted("a\nb\n", "    a\n", "    x\n    y\n"), "x\ny\nb\n");
}

#[test]
fn the_end_of_the_file_keeps_its_habit() {
    assert_eq!(noted("a\nb", "b\n", "c\n"), "a\nc");
    assert_eq!(noted("a\nb \n", "b\n", "c\n"), "a\nc\n");
    assert_eq!(noted("a\nb \nc\n", "b\n", ""), "a\nc\n");
}

#[test]
fn typographic_punctuation_is_plain() {
    assert_eq!(noted("say \u{201c}hi\u{201d} \u{2014} now\n", "say \"hi\" - now", "x"), "x\n");
}

#[test]
fn likeness_is_never_enough() {
    assert_eq!(edited("let a = 1;\n", "let a = 2;", "x"), Err(Miss::NoMatch));
    assert_eq!(edited("a\nb\n", "  \n", "x"), Err(Miss::NoMatch));
    assert_eq!(edited("", "a", "x"), Err(Miss::NoMatch));
}
