//! Columns hold what messages do.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use arrow_array::cast::AsArray;
use arrow_array::{Array, StructArray};
use del_bulk::{Answer, Columns, field};
use del_dialects::{Call, Collect, Dialects, End, Message, Turn};

/// Answers of every dialect: whole, with text before, cut off, and broken.
fn texts() -> Vec<String> {
    let calls = [
        Call { id: None, name: "f".to_owned(), arguments: r#"{"a": "x", "n": 1}"#.to_owned() },
        Call { id: Some("call_1".to_owned()), name: "g".to_owned(), arguments: "{}".to_owned() },
    ];
    let mut texts =
        vec![String::new(), "Just words.".to_owned(), "<think>A thought.</think>Words.".to_owned()];
    for dialect in Dialects::builtin().iter() {
        let Ok(text) = dialect.render_calls(&calls, &[]) else { continue };
        let mut half = text.len() / 2;
        while !text.is_char_boundary(half) {
            half -= 1;
        }
        texts.extend([text[..half].to_owned(), format!("I will look.\n{text}"), text.replace('}', ",}")]);
    }
    texts
}

fn read<S: del_dialects::Sink>(text: &str, sink: &mut S) {
    let mut parser = Dialects::builtin().parser(Turn::default());
    parser.push(text, sink);
    parser.finish(End::Cut, sink);
}

fn message(text: &str) -> Message {
    let mut collect = Collect::new();
    read(text, &mut collect);
    collect.into_message()
}

#[test]
fn a_column_holds_what_the_messages_do() {
    let texts = texts();
    assert!(texts.len() > 150, "{} texts", texts.len());
    let (mut columns, mut answer) = (Columns::default(), Answer::default());
    for text in &texts {
        answer.clear();
        read(text, &mut answer);
        columns.add(Some(&answer));
        columns.add(None);
    }
    let made = columns.finish().unwrap();
    assert_eq!(made.data_type(), field().data_type());
    let made = made.as_struct();
    let calls = texts.iter().map(|text| message(text).calls.len()).sum::<usize>();
    assert!(calls > 150, "{calls} calls");
    for (place, text) in texts.iter().enumerate() {
        same(made, 2 * place, &message(text), text);
        assert!(made.is_null(2 * place + 1));
    }
}

fn same(made: &StructArray, row: usize, expected: &Message, text: &str) {
    let string = |name: &str| made.column_by_name(name).unwrap().as_string::<i64>();
    let dialect = string("dialect");
    let dialect = dialect.is_valid(row).then(|| dialect.value(row));
    assert_eq!(dialect, expected.dialect.as_deref(), "{text:?}");
    assert_eq!(string("content").value(row), expected.content, "{text:?}");
    assert_eq!(string("reasoning").value(row), expected.reasoning, "{text:?}");
    let calls = made.column_by_name("calls").unwrap().as_list::<i64>().value(row);
    let part = |name: &str, place: usize| {
        let column = calls.as_struct().column_by_name(name).unwrap().as_string::<i64>().clone();
        column.is_valid(place).then(|| column.value(place).to_owned())
    };
    let found: Vec<Call> = (0..calls.len())
        .map(|place| Call {
            id: part("id", place),
            name: part("name", place).unwrap(),
            arguments: part("arguments", place).unwrap(),
        })
        .collect();
    assert_eq!(found, expected.calls, "{text:?}");
    let faults = made.column_by_name("faults").unwrap().as_list::<i64>().value(row);
    let kinds = faults.as_struct().column_by_name("kind").unwrap().as_string::<i64>().clone();
    let changes = faults.as_struct().column_by_name("changes_arguments").unwrap().as_boolean().clone();
    let found: Vec<(&str, bool)> =
        (0..kinds.len()).map(|place| (kinds.value(place), changes.value(place))).collect();
    let wanted: Vec<_> =
        expected.faults.iter().map(|fault| (fault.kind.as_str(), fault.kind.changes_arguments())).collect();
    assert_eq!(found, wanted, "{text:?}");
}
