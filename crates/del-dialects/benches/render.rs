//! What writing costs: answers with calls, results, and text that is neutralised, beside a plain copy.
//!
//! `cargo bench -p del-dialects --bench render [FILTER]`

use std::hint::black_box;
use std::time::{Duration, Instant};

use del_dialects::{Call, CallResult, Dialects, Message, Tool};

fn main() {
    let filter = std::env::args().skip(1).find(|word| !word.starts_with('-')).unwrap_or_default();
    println!("{:<44} {:>9} {:>12} {:>9}", "case", "bytes", "ns", "MB/s");
    let schema = serde_json::json!({
        "type": "object", "properties": {"path": {"type": "string"}, "content": {"type": "string"}}
    });
    let tools =
        [Tool { name: "write_file".into(), description: "Write a file.".into(), parameters: schema.into() }];
    for size in [20, 1 << 10, 32 << 10] {
        let text = code(size);
        let arguments = serde_json::json!({"path": "src/main.rs", "content": text}).to_string();
        let call = Call { id: None, name: "write_file".into(), arguments };
        let answer =
            Message { content: "I write it.".into(), calls: vec![call.clone(), call], ..Message::default() };
        let result = CallResult { id: None, name: "read_file".into(), text: text.clone(), ok: true };
        for name in ["hermes-json", "mistral-args", "qwen3-coder", "pythonic", "harmony"] {
            let Some(dialect) = Dialects::builtin().get(name) else { continue };
            measure(&format!("{name} answer {size}"), &filter, || {
                dialect.render_answer(&answer, &tools).map_or(0, |text| text.len())
            });
            measure(&format!("{name} result {size}"), &filter, || {
                dialect.render_results(std::slice::from_ref(&result)).len()
            });
        }
        measure(&format!("neutralise {size}"), &filter, || Dialects::builtin().neutralise(&text).len());
        let marks: String = "<|".chars().cycle().take(size).collect();
        measure(&format!("neutralise marks {size}"), &filter, || {
            Dialects::builtin().neutralise(&marks).len()
        });
        measure(&format!("copy {size}"), &filter, || black_box(&text).clone().len());
    }
}

/// Some code of `size` bytes, with quotes and signs now and then.
fn code(size: usize) -> String {
    let line = "    let answer = compute(&input[0], 42); // see <b>section</b> 7 of the \"manual\"\n";
    line.chars().cycle().take(size).collect()
}

/// The best of many runs.
#[expect(clippy::cast_precision_loss, reason = "figures for people")]
fn measure(name: &str, filter: &str, run: impl Fn() -> usize) {
    if !name.contains(filter) {
        return;
    }
    let (mut best, mut bytes, start) = (Duration::MAX, 0, Instant::now());
    while start.elapsed() < Duration::from_millis(150) {
        let from = Instant::now();
        bytes = black_box(run());
        best = best.min(from.elapsed());
    }
    let ns = best.as_secs_f64() * 1e9;
    println!("{name:<44} {bytes:>9} {ns:>12.0} {:>9.0}", bytes as f64 / ns * 1e3);
}
