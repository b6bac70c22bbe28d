//! Any bytes, in any dialect or in all: nothing panics, the events keep the laws, and work is linear: bytes are looked at
//! some times each, and not more often in a longer text.
#![no_main]

use del_fuzz::Way;
use del_fuzz::reading::{chunks, cost};
use libfuzzer_sys::fuzz_target;

/// Looks at each byte, in thousandths, that no flood may cost more than: in one dialect, where two forms may read what
/// stands behind a mark, and both once more in quotes, and in all, where those that share a mark do. Calls and prose cost
/// 1,000 to 1,500.
const MOST: [u64; 2] = [16_000, 32_000];
/// What costs as much is read once more, eight times as long.
const DEAR: u64 = 3_000;

fuzz_target!(|data: &[u8]| {
    let Some((way, text)) = Way::of(data) else { return };
    way.read(&text, chunks(&text, way.size));
    if text.is_empty() {
        return;
    }
    // What is said once may cost more at its edges; what is said again and again may not.
    let looks = |bytes: usize| {
        let flood = text.repeat(bytes / text.len() + 1);
        1000 * cost(way.parser(), chunks(&flood, way.size)).0 / flood.len() as u64
    };
    let short = looks(8192);
    assert!(
        short <= MOST[usize::from(way.dialect.is_none())],
        "{short} thousandths of a look at each byte of {text:?}"
    );
    if short > DEAR {
        let long = looks(65_536);
        assert!(
            long <= short + short / 2 + 1000,
            "{short} thousandths of a look at each byte grow to {long}: {text:?}"
        );
    }
});
