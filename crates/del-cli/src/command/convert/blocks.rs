//! Lines through many workers at once, in order, in memory that does not grow with the input.

use std::io::{self, Read};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use memchr::{memchr, memchr_iter, memrchr};

/// Whole lines.
#[derive(Debug)]
pub(super) struct Block {
    /// The number of the first one, from 1.
    pub(super) line: u64,
    /// The lines, with their ends.
    pub(super) bytes: Vec<u8>,
    /// So many bytes of one line stood here, too many to hold.
    pub(super) skipped: Option<u64>,
}

/// Why not all of the input went through.
#[derive(Debug)]
pub(super) enum Failed<E> {
    Reading(io::Error),
    Taking(E),
}

/// The longest line, in bytes.
pub(super) const MAX_LINE: usize = 256 << 20;

/// Bytes that one worker takes at a time.
const BLOCK: usize = 1 << 20;
/// Bytes that are asked for at a time.
const PIECE: usize = 256 << 10;
/// Blocks that may wait before and behind each worker.
const AHEAD: usize = 2;

/// Reads all of `input` on a thread of its own, gives its blocks to `workers` in turn, and what they make of them to
/// `take`, in order.
pub(super) fn run<T, W, E>(
    input: impl Read + Send,
    workers: Vec<W>,
    mut take: impl FnMut(T) -> Result<(), E>,
) -> Result<(), Failed<E>>
where
    T: Send,
    W: FnMut(Block) -> T + Send,
{
    thread::scope(|scope| {
        let mut doors: Vec<SyncSender<Block>> = Vec::new();
        let mut exits: Vec<Receiver<T>> = Vec::new();
        for mut work in workers {
            let (door, blocks) = sync_channel::<Block>(AHEAD);
            let (done, exit) = sync_channel(AHEAD);
            scope.spawn(move || {
                for block in blocks {
                    if done.send(work(block)).is_err() {
                        return;
                    }
                }
            });
            doors.push(door);
            exits.push(exit);
        }
        let reader = scope.spawn(move || {
            let mut turn = doors.iter().cycle();
            // Nobody behind the door means that nobody wants the rest.
            read(input, &mut |block| turn.next().is_some_and(|door| door.send(block).is_ok()))
        });
        let mut taken = Ok(());
        for exit in exits.iter().cycle() {
            let Ok(done) = exit.recv() else { break };
            taken = take(done).map_err(Failed::Taking);
            if taken.is_err() {
                break;
            }
        }
        drop(exits);
        let read = reader.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        taken.and(read.map_err(Failed::Reading))
    })
}

/// Cuts the input into blocks. What comes slowly goes on at once, as far as its lines are whole.
fn read(mut input: impl Read, each: &mut dyn FnMut(Block) -> bool) -> io::Result<()> {
    let mut piece = vec![0; PIECE];
    let mut held: Vec<u8> = Vec::new();
    // The end of the last whole line that is held.
    let mut whole = 0;
    let mut line = 1;
    let mut skipped: Option<u64> = None;
    loop {
        let count = match input.read(&mut piece) {
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        let mut fresh = &piece[..count];
        if let Some(lost) = &mut skipped {
            let end = memchr(b'\n', fresh);
            *lost += end.unwrap_or(fresh.len()) as u64;
            if end.is_none() && count > 0 {
                continue;
            }
            if !each(Block { line, bytes: Vec::new(), skipped: skipped.take() }) {
                return Ok(());
            }
            line += 1;
            fresh = end.map_or(&[], |end| &fresh[end + 1..]);
        }
        if let Some(end) = memrchr(b'\n', fresh) {
            whole = held.len() + end + 1;
        }
        held.extend_from_slice(fresh);
        if count == 0 {
            if !held.is_empty() {
                each(Block { line, bytes: held, skipped: None });
            }
            return Ok(());
        }
        if whole > 0 && (held.len() >= BLOCK || count < PIECE) {
            let rest = held.split_off(whole);
            let lines = memchr_iter(b'\n', &held).count() as u64;
            if !each(Block { line, bytes: std::mem::replace(&mut held, rest), skipped: None }) {
                return Ok(());
            }
            line += lines;
            whole = 0;
        } else if whole == 0 && held.len() > MAX_LINE {
            skipped = Some(held.len() as u64);
            held = Vec::new();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::{BLOCK, Block, Failed, MAX_LINE, PIECE, run};

    /// Gives out bytes in pieces of a size of its own.
    struct Slow<'a>(&'a [u8], usize);

    impl Read for Slow<'_> {
        fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
            let count = self.1.min(self.0.len()).min(out.len());
            out[..count].copy_from_slice(&self.0[..count]);
            self.0 = &self.0[count..];
            Ok(count)
        }
    }

    fn through(input: impl Read + Send, workers: usize) -> Vec<(u64, Vec<u8>, Option<u64>)> {
        let mut all = Vec::new();
        let workers = (0..workers).map(|_| |block: Block| (block.line, block.bytes, block.skipped)).collect();
        run(input, workers, |done| {
            all.push(done);
            Ok::<(), ()>(())
        })
        .unwrap();
        all
    }

    #[test]
    fn every_line_comes_out_in_order_with_its_number() {
        let lines: Vec<String> =
            (1..=60_000).map(|number| format!("{number} {}", "x".repeat(number % 97))).collect();
        for end in ["", "\n"] {
            let text = lines.join("\n") + end;
            assert!(text.len() > 2 * BLOCK);
            for (size, workers) in [(7001, 1), (PIECE, 3), (usize::MAX, 2)] {
                let mut next = 1;
                let mut joined = Vec::new();
                for (line, bytes, skipped) in through(Slow(text.as_bytes(), size), workers) {
                    assert_eq!((line, skipped), (next, None));
                    next += memchr::memchr_iter(b'\n', &bytes).count() as u64;
                    joined.extend(bytes);
                }
                assert_eq!(joined, text.as_bytes());
            }
        }
        assert_eq!(through(&b""[..], 2), []);
    }

    #[test]
    fn a_line_too_long_to_hold_is_counted_and_left_out() {
        let long = std::io::repeat(b'x').take(MAX_LINE as u64 + 10 * PIECE as u64);
        let all = through(Read::chain(Read::chain(&b"a\n"[..], long), &b"\nb\n"[..]), 2);
        let lost: Vec<(u64, u64)> =
            all.iter().filter_map(|(line, _, skipped)| Some((*line, (*skipped)?))).collect();
        assert_eq!(lost, [(2, MAX_LINE as u64 + 10 * PIECE as u64)]);
        let kept: Vec<(u64, &[u8])> = all
            .iter()
            .filter(|(_, bytes, _)| !bytes.is_empty())
            .map(|(line, bytes, _)| (*line, bytes.as_slice()))
            .collect();
        assert_eq!(kept, [(1, &b"a\n"[..]), (3, b"b\n")]);
    }

    #[test]
    fn the_first_failure_ends_the_run() {
        let endless = std::io::repeat(b'\n');
        let mut taken = 0;
        let work = |block: Block| block.line;
        let failed = run(endless, vec![work, work], |_| {
            taken += 1;
            if taken < 5 { Ok(()) } else { Err("enough") }
        });
        assert!(matches!(failed, Err(Failed::Taking("enough"))));
    }
}
