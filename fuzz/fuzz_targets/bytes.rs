//! Any bytes, in any dialect or in all: nothing panics, the events keep the laws, and no byte is looked at more often
//! than the rules allow.
#![no_main]

use del_fuzz::Way;
use del_fuzz::reading::{chunks, cost};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some((way, text)) = Way::of(data) else { return };
    way.read(&text, chunks(&text, way.size));
    if text.is_empty() {
        return;
    }
    // What is said once may cost more at its edges; what is said again and again may not.
    let long = text.repeat(8192 / text.len() + 1);
    let (examined, _) = cost(way.parser(), chunks(&long, way.size));
    let bound = 4 * long.len() as u64;
    assert!(examined <= bound, "{examined} looks at {} bytes of {text:?}", long.len());
});
