//! Any text, cut in any way: the merged events are those of the whole.
#![no_main]

use del_fuzz::Way;
use del_fuzz::reading::{borders, chunks};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some((&[first, second], data)) = data.split_first_chunk() else { return };
    let Some((way, text)) = Way::of(data) else { return };
    let whole = way.read(&text, [text.as_str()]);
    let borders = borders(&text);
    let place = |byte: u8| borders[usize::from(byte) % borders.len()];
    let mut cuts = [0, place(first), place(second), text.len()];
    cuts.sort_unstable();
    let cut: Vec<&str> = cuts.windows(2).map(|pair| &text[pair[0]..pair[1]]).collect();
    for pieces in [cut, chunks(&text, 1), chunks(&text, way.size)] {
        let split = way.read(&text, pieces.iter().copied());
        assert_eq!(split, whole, "{:?} in {pieces:?}", way.dialect.map(|dialect| dialect.name()));
    }
});
