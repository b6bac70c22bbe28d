//! Texts that come again, as short answers often do: they are worked on once.

use std::collections::HashMap;

/// What was made of texts lately, by the text. It has a limit, and is given up where texts hardly ever come again.
#[derive(Debug, Clone)]
pub(crate) struct Memo<T> {
    made: HashMap<Box<str>, T>,
    /// Bytes that may still be kept: none once it is given up.
    room: usize,
    asked: usize,
    found: usize,
}

/// So many bytes are kept for each worker, about.
const ROOM: usize = 8 << 20;
/// The longest text that is kept: longer ones come again too seldom.
const LONGEST: usize = 1 << 10;
/// What is kept beside a text, in bytes: what was made of it has a name or two, and as many bytes as the text.
const BESIDE: usize = 256;
/// It is given up where fewer than one text of so many came before.
const SELDOM: usize = 8;

impl<T> Memo<T> {
    /// What was made of this text.
    pub(crate) fn get(&mut self, text: &str) -> Option<&T> {
        if self.room == 0 || text.len() > LONGEST {
            return None;
        }
        self.asked += 1;
        let made = self.made.get(text)?;
        self.found += 1;
        Some(made)
    }

    /// Keeps what was made of a text that was asked for in vain.
    pub(crate) fn keep(&mut self, text: &str, made: impl FnOnce() -> T) {
        if self.room == 0 || text.len() > LONGEST {
            return;
        }
        let size = 2 * text.len() + BESIDE;
        // What is left is never nothing, for that means that it is given up.
        if size >= self.room {
            let seldom = self.found < self.asked / SELDOM;
            *self = Self { room: if seldom { 0 } else { ROOM }, ..Self::default() };
            if seldom {
                return;
            }
        }
        self.room -= size;
        self.made.insert(text.into(), made());
    }
}

impl<T> Default for Memo<T> {
    fn default() -> Self {
        Self { made: HashMap::new(), room: ROOM, asked: 0, found: 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(memo: &mut Memo<usize>, text: &str) -> bool {
        match memo.get(text) {
            Some(made) => {
                assert_eq!(*made, text.len());
                true
            }
            None => {
                memo.keep(text, || text.len());
                false
            }
        }
    }

    #[test]
    fn a_text_that_comes_again_is_known() {
        let mut memo = Memo::default();
        assert!(!ask(&mut memo, "one") && !ask(&mut memo, "two") && !ask(&mut memo, ""));
        assert!(ask(&mut memo, "one") && ask(&mut memo, "two") && ask(&mut memo, ""));
        let long = "x".repeat(LONGEST + 1);
        assert!(!ask(&mut memo, &long) && !ask(&mut memo, &long));
    }

    #[test]
    fn it_has_a_limit_and_goes_on_where_texts_come_again() {
        let mut memo = Memo::default();
        for number in 0..2 * ROOM / BESIDE {
            ask(&mut memo, "again");
            ask(&mut memo, &number.to_string());
            assert!(memo.made.len() <= ROOM / BESIDE);
        }
        assert!(ask(&mut memo, "again") && memo.room > 0);
    }

    #[test]
    fn it_is_given_up_where_they_do_not() {
        let mut memo = Memo::default();
        for number in 0..2 * ROOM / BESIDE {
            ask(&mut memo, &number.to_string());
        }
        assert!(memo.made.is_empty() && memo.room == 0);
        assert!(!ask(&mut memo, "again") && !ask(&mut memo, "again"));
    }
}
