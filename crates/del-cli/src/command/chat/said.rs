//! What commands say: lines on the screen, unless somebody wants to have them.

use std::cell::RefCell;
use std::io::Write;

use del_tools::visible;

use crate::colour::Paint;
use crate::screen::stage;
use crate::wrap;

thread_local! {
    /// Where what is said goes, where somebody wants to have it.
    static COLLECTED: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// What `told` says, which is not shown.
pub(super) fn collected(told: impl FnOnce()) -> String {
    COLLECTED.set(Some(String::new()));
    told();
    COLLECTED.take().unwrap_or_default()
}

/// Something has failed.
pub(super) fn fail(paint: Paint, why: &str) {
    say(&format!("{} {}", paint.red("error:"), visible(why)));
}

/// What the user typed while something else was done comes to its turn.
pub(super) fn echo(paint: Paint, line: &str) {
    say(&format!("> {}", paint.dim(visible(line))));
}

pub(super) fn say(text: &str) {
    let text = wrap::for_stderr(text, wrap::second_column);
    let taken = COLLECTED.with_borrow_mut(|collected| {
        collected.as_mut().map(|collected| collected.extend([text.as_str(), "\n"])).is_some()
    });
    if taken {
        return;
    }
    match stage::current() {
        Some(stage) => stage.line(&text),
        None => drop(writeln!(std::io::stderr(), "{text}")),
    }
}
