//! How commands go on: `set` and `exit`.

use crate::plan::Action;
use crate::syntax::{Simple, Word};

/// `set` with the options that end commands early.
pub(super) fn strict(simple: &Simple) -> Option<Action> {
    let words = plain(simple)?;
    let (mut ends, mut whole) = (false, false);
    let mut words = words.iter().skip(1);
    while let Some(word) = words.next() {
        let letters = word.strip_prefix('-').filter(|letters| !letters.is_empty())?;
        for letter in letters.chars() {
            match letter {
                'e' => ends = true,
                // Variables that are not set ask anyway.
                'u' => {}
                'o' => match *words.next()? {
                    "pipefail" => whole = true,
                    "errexit" => ends = true,
                    "nounset" => {}
                    _ => return None,
                },
                _ => return None,
            }
        }
    }
    (simple.words.len() > 1).then_some(Action::Strict { ends, whole })
}

/// `exit`, perhaps with a status.
pub(super) fn exit(simple: &Simple) -> Option<Action> {
    match plain(simple)?.as_slice() {
        [_] => Some(Action::Exit(None)),
        [_, status] => status.parse().ok().map(Some).map(Action::Exit),
        _ => None,
    }
}

/// The words of a command that has nothing else.
fn plain(simple: &Simple) -> Option<Vec<&str>> {
    let bare = simple.assignments.is_empty() && simple.redirections.is_empty();
    simple.words.iter().map(Word::literal).collect::<Option<_>>().filter(|_| bare)
}
