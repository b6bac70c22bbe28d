//! How long a push takes in Rust alone, in nanoseconds: what `engines/speed.py` compares Python's with. The answer is on
//! standard input, and is pushed in pieces of four characters; what comes of it is thrown away.

use std::io::Read;
use std::time::Instant;

use del_dialects::{Dialects, End, Event, Span, Turn};

fn main() -> std::io::Result<()> {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text)?;
    let pieces: Vec<String> =
        text.chars().collect::<Vec<_>>().chunks(4).map(|piece| piece.iter().collect()).collect();
    let mut best = f64::MAX;
    let mut events = 0_u64;
    for _ in 0..200 {
        let mut count = |_: Event<'_>, _: Span| events += 1;
        let begun = Instant::now();
        let Some(dialect) = Dialects::builtin().get("hermes") else { continue };
        let mut parser = dialect.parser(Turn::default());
        for piece in &pieces {
            parser.push(piece, &mut count);
        }
        parser.finish(End::End, &mut count);
        #[expect(clippy::cast_precision_loss, reason = "thousands of pieces")]
        let push = begun.elapsed().as_secs_f64() * 1e9 / pieces.len() as f64;
        best = best.min(push);
    }
    println!("{best:.0}");
    Ok(())
}
