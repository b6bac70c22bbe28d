//! Notices a model that makes the same call again and again.

use std::collections::HashMap;

use del_dialects::Call;
use serde_json::Value;

/// Counts how often each call came in turns that follow one another.
#[derive(Debug, Default)]
pub struct Guard {
    turn: u32,
    seen: HashMap<(String, String), Streak>,
}

#[derive(Debug, Clone, Copy)]
struct Streak {
    times: u32,
    turn: u32,
}

/// What to do with a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Run it.
    Run,
    /// Tell the model instead of running it.
    Tell {
        /// So often it was made.
        times: u32,
    },
    /// Give up.
    Stop {
        /// So often it was made.
        times: u32,
    },
}

const TELL: u32 = 3;
const STOP: u32 = 5;

impl Guard {
    /// Forgets everything: the user spoke.
    pub fn reset(&mut self) {
        *self = Self::default();
    }

    /// A new answer of the model begins.
    pub fn next_turn(&mut self) {
        self.turn += 1;
        let turn = self.turn;
        self.seen.retain(|_, streak| streak.turn + 1 >= turn);
    }

    /// Counts a call. Arguments that differ only in spelling are the same.
    pub fn judge(&mut self, call: &Call) -> Verdict {
        let arguments = match serde_json::from_str::<Value>(&call.arguments) {
            Ok(value) => sorted(value).to_string(),
            Err(_) => call.arguments.clone(),
        };
        let key = (call.name.clone(), arguments);
        let streak = self.seen.entry(key).or_insert(Streak { times: 0, turn: self.turn });
        streak.times += 1;
        streak.turn = self.turn;
        match streak.times {
            times if times >= STOP => Verdict::Stop { times },
            times if times >= TELL => Verdict::Tell { times },
            _ => Verdict::Run,
        }
    }
}

/// The value with the members of its objects in alphabetical order.
fn sorted(value: Value) -> Value {
    match value {
        Value::Object(fields) => {
            let mut fields: Vec<(String, Value)> =
                fields.into_iter().map(|(key, value)| (key, sorted(value))).collect();
            fields.sort_by(|(a, _), (b, _)| a.cmp(b));
            Value::Object(fields.into_iter().collect())
        }
        Value::Array(list) => Value::Array(list.into_iter().map(sorted).collect()),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use del_dialects::Call;

    use super::{Guard, Verdict};

    fn call(arguments: &str) -> Call {
        Call { id: None, name: "f".into(), arguments: arguments.into() }
    }

    #[test]
    fn the_same_call_in_a_row_is_told_then_stopped() {
        let mut guard = Guard::default();
        let verdicts: Vec<Verdict> = [
            r#"{"a":1,"b":2}"#,
            r#"{"b": 2, "a": 1}"#,
            r#"{"a":1,"b":2}"#,
            r#"{"a":1,"b":2}"#,
            r#"{"a":1,"b":2}"#,
        ]
        .iter()
        .map(|arguments| {
            guard.next_turn();
            guard.judge(&call(arguments))
        })
        .collect();
        assert_eq!(
            verdicts,
            [
                Verdict::Run,
                Verdict::Run,
                Verdict::Tell { times: 3 },
                Verdict::Tell { times: 4 },
                Verdict::Stop { times: 5 }
            ]
        );
    }

    #[test]
    fn another_turn_between_breaks_the_row() {
        let mut guard = Guard::default();
        for turn in 0..10 {
            guard.next_turn();
            assert_eq!(guard.judge(&call(&format!("{{\"n\":{}}}", turn % 2))), Verdict::Run, "turn {turn}");
        }
    }

    #[test]
    fn calls_side_by_side_are_counted_each() {
        let mut guard = Guard::default();
        for turn in 0..3 {
            guard.next_turn();
            let verdicts = [guard.judge(&call("{\"n\":1}")), guard.judge(&call("{\"n\":2}"))];
            let expected = if turn == 2 { Verdict::Tell { times: 3 } } else { Verdict::Run };
            assert_eq!(verdicts, [expected; 2], "turn {turn}");
        }
    }

    #[test]
    fn the_user_resets_it() {
        let mut guard = Guard::default();
        for _ in 0..4 {
            guard.judge(&call("{}"));
        }
        guard.reset();
        assert_eq!(guard.judge(&call("{}")), Verdict::Run);
    }
}
