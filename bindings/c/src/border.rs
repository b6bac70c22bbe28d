//! What crosses the border to C: pointers become references, or failures. Together with [`abi`](crate::abi), which calls it,
//! this is all that is `unsafe`.
//!
//! What the blocks rely on is the same everywhere, and is promised by the caller in the words of the header:
//!
//! - *handles*: a pointer to an object is NULL, or one that a function here handed out and that is not freed;
//! - *texts*: a pointer to a text is NULL, or one to `len` bytes, or to bytes up to a NUL, that do not change meanwhile;
//! - *outs*: a pointer to where a result goes is NULL, or one to room for it.
#![allow(unsafe_code)]

use std::ffi::{CStr, CString, c_char, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use del_dialects::{Event as Read, Sink, Span, Tool};

use crate::failure::{Code, Failure, keep};
use crate::types::{Callback, Event, Tools, told};

/// Runs what a function does. A panic would be an error of Del's; C is told of it as a code.
pub(crate) fn bordered(work: impl FnOnce() -> Result<(), Failure>) -> Code {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(())) => Code::DelOk,
        Ok(Err(failure)) => keep(&failure),
        Err(_) => keep(&Failure::new(Code::DelInternal, "an error in Del: please report it")),
    }
}

pub(crate) fn null(what: &str) -> Failure {
    Failure::new(Code::DelNull, format_args!("{what}: expected a pointer, got NULL"))
}

/// An object by its handle.
///
/// # Safety
/// *handles*
pub(crate) unsafe fn object<'a, T>(what: &str, handle: *const T) -> Result<&'a T, Failure> {
    // SAFETY: *handles*; objects are only used by shared reference, so a callback may hold one as well.
    unsafe { handle.as_ref() }.ok_or_else(|| null(what))
}

/// Bytes by their place and number; no bytes may be at NULL.
///
/// # Safety
/// *texts*
pub(crate) unsafe fn bytes<'a>(what: &str, data: *const c_char, len: usize) -> Result<&'a [u8], Failure> {
    if data.is_null() {
        return if len == 0 { Ok(&[]) } else { Err(null(what)) };
    }
    if len > isize::MAX.unsigned_abs() {
        return Err(Failure::new(Code::DelBadArgument, format_args!("{what}: expected a length, got {len}")));
    }
    // SAFETY: *texts*; the pointer is not NULL, and the length is one that memory can have.
    Ok(unsafe { std::slice::from_raw_parts(data.cast(), len) })
}

/// Text up to a NUL.
///
/// # Safety
/// *texts*
pub(crate) unsafe fn text<'a>(what: &str, data: *const c_char) -> Result<&'a str, Failure> {
    if data.is_null() {
        return Err(null(what));
    }
    // SAFETY: *texts*; the pointer is not NULL.
    let text = unsafe { CStr::from_ptr(data) };
    text.to_str().map_err(|_| Failure::new(Code::DelUtf8, format_args!("{what}: expected UTF-8")))
}

/// Puts a result where the caller wants it, once it is there.
///
/// # Safety
/// *outs*
pub(crate) unsafe fn hand<T>(out: *mut *mut T, make: impl FnOnce() -> Result<*mut T, Failure>) -> Code {
    bordered(|| {
        if out.is_null() {
            return Err(null("the last argument"));
        }
        // SAFETY: *outs*; the pointer is not NULL. NULL is there in any case, so a caller who frees it does no harm.
        unsafe { out.write(std::ptr::null_mut()) };
        let made = make()?;
        // SAFETY: as before.
        unsafe { out.write(made) };
        Ok(())
    })
}

pub(crate) fn boxed<T>(object: T) -> *mut T {
    Box::into_raw(Box::new(object))
}

pub(crate) fn string(text: String) -> Result<*mut c_char, Failure> {
    let text = CString::new(text)
        .map_err(|_| Failure::new(Code::DelBadArgument, "expected text without NUL to hand out, got some"))?;
    Ok(text.into_raw())
}

/// Ends an object.
///
/// # Safety
/// *handles*
pub(crate) unsafe fn free<T>(handle: *mut T) {
    if !handle.is_null() {
        // SAFETY: *handles*; every object is made by `boxed`, and is freed once, by the function of its type.
        drop(unsafe { Box::from_raw(handle) });
    }
}

/// The tools of a handle; none where it is NULL.
///
/// # Safety
/// *handles*
pub(crate) unsafe fn known(tools: *const Tools) -> Arc<[Tool]> {
    // SAFETY: *handles*.
    unsafe { tools.as_ref() }.map_or_else(Arc::default, |tools| Arc::clone(&tools.0))
}

/// Hands events to a callback.
pub(crate) struct Teller {
    callback: unsafe extern "C" fn(event: *const Event, data: *mut c_void),
    data: *mut c_void,
}

impl Teller {
    /// Without a callback, events would be lost.
    pub(crate) fn new(callback: Callback, data: *mut c_void) -> Result<Self, Failure> {
        Ok(Self { callback: callback.ok_or_else(|| null("callback"))?, data })
    }
}

impl Sink for Teller {
    fn event(&mut self, event: Read<'_>, span: Span) {
        let event = told(&event, &span);
        // SAFETY: the caller gave a function of this type; the event and its texts live until it returns.
        unsafe { (self.callback)(&raw const event, self.data) };
    }
}

/// One of the values of an enumeration, which C hands over as a number of any value.
pub(crate) fn one_of<T: Copy>(what: &str, got: i32, values: &[T]) -> Result<T, Failure> {
    let value = usize::try_from(got).ok().and_then(|place| values.get(place));
    let last = values.len().saturating_sub(1);
    value.copied().ok_or_else(|| {
        Failure::new(
            Code::DelBadArgument,
            format_args!("{what}: expected a value from 0 to {last}, got {got}"),
        )
    })
}
