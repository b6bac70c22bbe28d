//! What reading costs, beside what it costs at least.
//!
//! Each line names a frame and codec, an input and how it is cut. `floor` is the least work that anybody has to do with
//! the same bytes, measured in the same run: for prose a `memchr` and a copy; for calls `serde_json` into `IgnoredAny`
//! over the arguments; for pieces a push into a buffer and a `memchr` of it.
//!
//! `cargo bench -p del-dialects --bench parse [FILTER]`

use std::alloc::{GlobalAlloc, Layout, System};
use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use del_dialects::{Call, Dialect, Dialects, End, Event, Sink, Span, Tool, Turn};
use serde::de::IgnoredAny;

struct Counting;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

#[expect(
    unsafe_code,
    reason = "counting allocations takes an allocator of one's own; every call goes to the system's"
)]
// SAFETY: every method hands its arguments to `System` unchanged, which keeps the contract.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise is passed on.
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.realloc(at, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Takes every piece of text into a buffer, as a server would.
#[derive(Default)]
struct Taken {
    bytes: Vec<u8>,
    events: u64,
}

impl Sink for Taken {
    fn event(&mut self, event: Event<'_>, _: Span) {
        self.events += 1;
        match event {
            Event::Text(text) | Event::Reasoning(text) | Event::Args { json: text, .. } => {
                self.bytes.extend_from_slice(text.as_bytes());
            }
            _ => {}
        }
    }
}

struct Case {
    name: String,
    text: String,
    /// The JSON of the arguments, where there are any.
    arguments: Vec<String>,
}

fn main() {
    let filter = std::env::args().skip(1).find(|word| !word.starts_with('-')).unwrap_or_default();
    let tools: Arc<[Tool]> = tools().into();
    println!(
        "{:<34} {:>9} {:>12} {:>9} {:>9} {:>8} {:>8}",
        "case", "bytes", "ns", "MB/s", "ns/chunk", "allocs", "× floor"
    );
    for name in ["hermes-json", "llama-function", "qwen3-coder", "pythonic", "llama3-json", "harmony"] {
        let Some(dialect) = Dialects::builtin().get(name) else { continue };
        let cases = cases(dialect, &tools);
        for case in cases.iter().filter(|case| format!("{name} {}", case.name).contains(&filter)) {
            whole(name, dialect, case, &tools);
            pieces(name, dialect, case, &tools);
        }
        growth(name, dialect, &tools, &filter);
    }
}

fn tools() -> Vec<Tool> {
    let schema = serde_json::json!({
        "type": "object", "properties": {"path": {"type": "string"}, "content": {"type": "string"}}
    });
    vec![Tool { name: "write_file".into(), description: "Write a file.".into(), parameters: schema.into() }]
}

fn cases(dialect: &Arc<Dialect>, tools: &[Tool]) -> Vec<Case> {
    let prose = |name: &str, sentence: &str| Case {
        name: name.into(),
        text: sentence.chars().cycle().take(64 << 10).collect(),
        arguments: Vec::new(),
    };
    let mut cases = vec![
        prose(
            "prose 64 kB",
            "The quick brown fox jumps over the lazy dog, 12 times a day; nothing here is a call.\n",
        ),
        prose(
            "prose with < 64 kB",
            "The quick brown fox jumps, and 1 < 2 holds in [every] land; {no} `call`.\n",
        ),
    ];
    let mut calls = |name: &str, count: usize, size: usize| {
        let call = call(size);
        let calls = vec![call; count];
        if let Ok(text) = dialect.render_calls(&calls, tools) {
            let arguments = calls.into_iter().map(|call| call.arguments).collect();
            cases.push(Case { name: name.into(), text, arguments });
        }
    };
    calls("1 short call", 1, 20);
    calls("16 calls", 16, 20);
    for (name, size) in [("argument 1 kB", 1 << 10), ("argument 32 kB", 32 << 10), ("argument 1 MB", 1 << 20)]
    {
        calls(name, 1, size);
    }
    cases
}

/// A call with some text of `size` bytes as an argument: code, with a newline and quotes now and then.
fn call(size: usize) -> Call {
    let line = "    let answer = compute(&input, 42); // see section 7 of the \"manual\"\n";
    let content: String = line.chars().cycle().take(size).collect();
    let arguments = serde_json::json!({"path": "src/main.rs", "content": content}).to_string();
    Call { id: None, name: "write_file".into(), arguments }
}

fn read(dialect: &Arc<Dialect>, tools: &Arc<[Tool]>, pieces: &[&str], taken: &mut Taken) {
    taken.bytes.clear();
    let mut parser = dialect.parser(Turn::new(Arc::clone(tools)));
    for piece in pieces {
        parser.push(piece, taken);
    }
    parser.finish(End::End, taken);
}

fn whole(name: &str, dialect: &Arc<Dialect>, case: &Case, tools: &Arc<[Tool]>) {
    let mut taken = Taken::default();
    let (time, allocations) = measure(|| read(dialect, tools, &[&case.text], &mut taken));
    let floor = if case.arguments.is_empty() {
        let mut copy = Vec::new();
        measure(|| {
            copy.clear();
            black_box(memchr::memchr(0, case.text.as_bytes()));
            copy.extend_from_slice(case.text.as_bytes());
        })
    } else {
        measure(|| {
            for arguments in &case.arguments {
                let _ = black_box(serde_json::from_str::<IgnoredAny>(arguments));
            }
        })
    };
    print(&format!("{name} {} whole", case.name), case.text.len(), time, None, allocations, floor.0);
}

fn pieces(name: &str, dialect: &Arc<Dialect>, case: &Case, tools: &Arc<[Tool]>) {
    let pieces = cut(&case.text, 4);
    let mut taken = Taken::default();
    let (time, allocations) = measure(|| read(dialect, tools, &pieces, &mut taken));
    let mut buffer = Vec::new();
    let (floor, _) = measure(|| {
        buffer.clear();
        for piece in &pieces {
            buffer.extend_from_slice(piece.as_bytes());
            black_box(memchr::memchr(b'<', piece.as_bytes()));
        }
    });
    let count = pieces.len();
    print(&format!("{name} {} by 4", case.name), case.text.len(), time, Some(count), allocations, floor);
}

/// The exponent with which the time grows from 64 kB to 1 MB, in pieces of four bytes: 1 is linear.
fn growth(name: &str, dialect: &Arc<Dialect>, tools: &Arc<[Tool]>, filter: &str) {
    if !format!("{name} growth").contains(filter) {
        return;
    }
    let mut taken = Taken::default();
    let mut time = |size: usize| {
        let text = dialect.render_calls(&[call(size)], tools).unwrap_or_default();
        let pieces = cut(&text, 4);
        measure(|| read(dialect, tools, &pieces, &mut taken)).0.as_secs_f64()
    };
    let (small, large) = (time(64 << 10), time(1 << 20));
    println!("{:<34} {:>9.2}", format!("{name} growth exponent"), (large / small).log2() / 4.0);
}

fn cut(text: &str, len: usize) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let end =
            (len.min(rest.len())..=rest.len()).find(|&end| rest.is_char_boundary(end)).unwrap_or(rest.len());
        let (piece, behind) = rest.split_at(end);
        pieces.push(piece);
        rest = behind;
    }
    pieces
}

/// The best of many runs, and the allocations of one.
fn measure(mut run: impl FnMut()) -> (Duration, u64) {
    run();
    let before = ALLOCATIONS.load(Ordering::Relaxed);
    run();
    let allocations = ALLOCATIONS.load(Ordering::Relaxed) - before;
    let (mut best, start) = (Duration::MAX, Instant::now());
    let mut runs = 0;
    while runs < 5 || (start.elapsed() < Duration::from_millis(150) && runs < 20_000) {
        let from = Instant::now();
        run();
        best = best.min(from.elapsed());
        runs += 1;
    }
    (best, allocations)
}

#[expect(clippy::cast_precision_loss, reason = "figures for people")]
fn print(name: &str, bytes: usize, time: Duration, chunks: Option<usize>, allocations: u64, floor: Duration) {
    let ns = time.as_secs_f64() * 1e9;
    let speed = bytes as f64 / ns * 1e3;
    let chunk = chunks.map_or(String::from("-"), |chunks| format!("{:.1}", ns / chunks as f64));
    let ratio = time.as_secs_f64() / floor.as_secs_f64().max(1e-9);
    println!("{name:<34} {bytes:>9} {ns:>12.0} {speed:>9.0} {chunk:>9} {allocations:>8} {ratio:>8.2}");
}
