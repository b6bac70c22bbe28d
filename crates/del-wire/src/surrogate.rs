//! Halves of surrogate pairs in the escapes of JSON.

use memchr::{memchr_iter, memmem};

/// The length of an escape, in bytes.
pub(crate) const ESCAPE: usize = 6;

/// Where halves of surrogate pairs are in JSON that have no other half beside them, each an escape of six bytes.
pub fn lone_halves(json: &[u8]) -> Vec<usize> {
    let mut halves = Vec::new();
    if memmem::find(json, b"\\u").is_none() {
        return halves;
    }
    let mut read = 0;
    for at in memchr_iter(b'\\', json) {
        if at < read {
            continue;
        }
        read = at + 2;
        match unit(json, at) {
            Some(0xd800..=0xdbff) if matches!(unit(json, at + ESCAPE), Some(0xdc00..=0xdfff)) => {
                read = at + 2 * ESCAPE;
            }
            Some(0xd800..=0xdfff) => halves.push(at),
            _ => {}
        }
    }
    halves
}

/// The unit of UTF-16 whose escape is there.
pub(crate) fn unit(json: &[u8], at: usize) -> Option<u16> {
    let digits = json.get(at..at + ESCAPE)?.strip_prefix(b"\\u")?;
    let digits = str::from_utf8(digits).ok().filter(|digits| !digits.starts_with('+'))?;
    u16::from_str_radix(digits, 16).ok()
}
