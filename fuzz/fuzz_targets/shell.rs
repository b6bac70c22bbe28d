//! What the judge reads exactly, bash reads the same way, and nothing makes it fall.
#![no_main]

#[path = "../../crates/del-judge/tests/bash/mod.rs"]
mod bash;

use std::path::Path;

use del_judge::{Ground, Judge};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    // A directory without files: what is compared is the reading of words.
    let directory = Path::new("/var/empty");
    let directory = if directory.is_dir() { directory } else { Path::new("/") };
    let _ = Judge::default().judge(text, &Ground::new(directory));
    bash::hold(text, directory);
});
