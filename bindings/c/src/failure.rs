//! Failures: a code for programs, and words for people.

use std::cell::RefCell;
use std::ffi::CString;
use std::fmt::Display;

/// How a function ended. The values are part of the interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub enum Code {
    /// As it should.
    DelOk = 0,
    /// NULL came where something is needed.
    DelNull = 1,
    /// Text is not UTF-8.
    DelUtf8 = 2,
    /// There is no dialect of this name.
    DelUnknownDialect = 3,
    /// A description of a dialect is none.
    DelBadDescription = 4,
    /// Tool definitions cannot be read.
    DelBadTools = 5,
    /// Another argument is not what it should be.
    DelBadArgument = 6,
    /// The dialect cannot carry this.
    DelCannotRender = 7,
    /// There is no grammar of this kind.
    DelNoGrammar = 8,
    /// The answer is over already.
    DelFinished = 9,
    /// The object is in use: a callback has called a function on its own parser.
    DelBusy = 10,
    /// An error in Del itself. The object should not be used any more.
    DelInternal = 11,
}

/// Why something cannot be done.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) code: Code,
    message: String,
}

impl Failure {
    pub(crate) fn new(code: Code, message: impl Display) -> Self {
        Self { code, message: message.to_string() }
    }
}

thread_local! {
    static LAST: RefCell<CString> = RefCell::default();
}

/// Keeps a failure for [`last`].
pub(crate) fn keep(failure: &Failure) -> Code {
    let message = CString::new(failure.message.replace('\0', "\u{fffd}")).unwrap_or_default();
    LAST.with(|last| last.replace(message));
    failure.code
}

/// Runs with the words for the last failure of this thread.
pub(crate) fn last<T>(work: impl FnOnce(&CString) -> T) -> T {
    LAST.with(|last| work(&last.borrow()))
}
