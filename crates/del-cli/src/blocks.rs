//! Lines through many workers at once, in order, in memory that does not grow with the input.

use std::io::{self, Read};
use std::thread;

use anyhow::Result;
use del_parallel::ordered;
use memchr::{memchr, memchr_iter, memrchr};

use crate::input::{Input, unreadable};

/// Whole lines.
#[derive(Debug)]
pub(crate) struct Block {
    /// The number of the first one, from 1.
    line: u64,
    /// The lines, with their ends.
    bytes: Vec<u8>,
    /// So many bytes of one line stood here, too many to hold.
    skipped: Option<u64>,
}

/// Why not all of the input went through.
#[derive(Debug)]
enum Failed<E> {
    Reading(io::Error),
    Taking(E),
}

/// The longest line, in bytes.
const MAX_LINE: usize = 256 << 20;

/// Bytes that one worker takes at a time.
const BLOCK: usize = 256 << 10;
/// Bytes that are asked for at a time.
const PIECE: usize = 256 << 10;
/// Blocks that are under way for each worker.
const AHEAD: usize = 4;

/// Reads all of `input`, gives its blocks to `workers`, and what they make of them to `take`, in order. Lines that come
/// slowly go through at once. When `take` fails, nothing more is read.
pub(crate) fn run<T, W>(input: Input, workers: Vec<W>, take: impl FnMut(T) -> Result<()>) -> Result<()>
where
    T: Send + 'static,
    W: FnMut(Block) -> T + Send,
{
    let name = input.name().to_owned();
    through(input.into_reader(), workers, take).map_err(|failed| match failed {
        Failed::Taking(error) => error,
        Failed::Reading(error) => unreadable(&name, &error),
    })
}

fn through<T, W, E>(
    input: impl Read + Send + 'static,
    workers: Vec<W>,
    take: impl FnMut(T) -> Result<(), E>,
) -> Result<(), Failed<E>>
where
    T: Send + 'static,
    W: FnMut(Block) -> T + Send,
{
    thread::scope(|scope| {
        let ahead = workers.len() * AHEAD;
        let (mut feed, mut results) = ordered(scope, workers, ahead);
        // No thread of the scope: it may wait for input when nobody wants the rest.
        let reader = thread::spawn(move || read(input, &mut |block| feed.give(block)));
        results.try_for_each(take).map_err(Failed::Taking)?;
        let read = reader.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        read.map_err(Failed::Reading)
    })
}

impl Block {
    /// How many bytes of the input it stands for.
    pub(crate) fn size(&self) -> u64 {
        self.skipped.unwrap_or(self.bytes.len() as u64)
    }

    /// The number of the line in its place that is too long to hold, and what to say of it.
    pub(crate) fn too_long(&self) -> Option<(u64, String)> {
        let say = |length| format!("expected a record of at most {MAX_LINE} bytes, got one of {length}");
        self.skipped.map(|length| (self.line, say(length)))
    }

    /// The lines without their line feeds, each with its number.
    pub(crate) fn lines(&self) -> impl Iterator<Item = (u64, &[u8])> {
        let whole = self.bytes.strip_suffix(b"\n").unwrap_or(&self.bytes);
        let lines = (!self.bytes.is_empty()).then(|| whole.split(|byte| *byte == b'\n'));
        (self.line..).zip(lines.into_iter().flatten())
    }
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

    use super::{BLOCK, Block, Failed, MAX_LINE, PIECE, through};

    /// Gives out bytes in pieces of a size of its own.
    struct Slow(std::io::Cursor<Vec<u8>>, usize);

    impl Read for Slow {
        fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
            let count = self.1.min(out.len());
            self.0.read(&mut out[..count])
        }
    }

    fn blocks(input: impl Read + Send + 'static, workers: usize) -> Vec<(u64, Vec<u8>, Option<u64>)> {
        let mut all = Vec::new();
        let workers = (0..workers).map(|_| |block: Block| (block.line, block.bytes, block.skipped)).collect();
        through(input, workers, |done| {
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
                for (line, bytes, skipped) in
                    blocks(Slow(std::io::Cursor::new(text.clone().into_bytes()), size), workers)
                {
                    assert_eq!((line, skipped), (next, None));
                    next += memchr::memchr_iter(b'\n', &bytes).count() as u64;
                    joined.extend(bytes);
                }
                assert_eq!(joined, text.as_bytes());
            }
        }
        assert_eq!(blocks(&b""[..], 2), []);
    }

    #[test]
    fn a_line_too_long_to_hold_is_counted_and_left_out() {
        let long = std::io::repeat(b'x').take(MAX_LINE as u64 + 10 * PIECE as u64);
        let all = blocks(Read::chain(Read::chain(&b"a\n"[..], long), &b"\nb\n"[..]), 2);
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
    fn lines_have_numbers_and_no_ends() {
        let lines = |bytes: &[u8]| {
            let block = Block { line: 7, bytes: bytes.to_vec(), skipped: None };
            block.lines().map(|(number, line)| (number, line.to_vec())).collect::<Vec<_>>()
        };
        assert_eq!(lines(b""), []);
        assert_eq!(lines(b"\n"), [(7, b"".to_vec())]);
        assert_eq!(lines(b"a\n\nb\r\n"), [(7, b"a".to_vec()), (8, b"".to_vec()), (9, b"b\r".to_vec())]);
        assert_eq!(lines(b"a\nb"), [(7, b"a".to_vec()), (8, b"b".to_vec())]);
    }

    #[test]
    fn nobody_waits_for_input_when_nothing_more_is_wanted() {
        let (mut tell, input) = std::os::unix::net::UnixStream::pair().unwrap();
        std::io::Write::write_all(&mut tell, b"a\n").unwrap();
        // The stream stays open, and gives no more.
        let failed = through(input, vec![|block: Block| block.line], |_| Err("enough"));
        assert!(matches!(failed, Err(Failed::Taking("enough"))));
    }

    #[test]
    fn the_first_failure_ends_the_run() {
        let endless = std::io::repeat(b'\n');
        let mut taken = 0;
        let work = |block: Block| block.line;
        let failed = through(endless, vec![work, work], |_| {
            taken += 1;
            if taken < 5 { Ok(()) } else { Err("enough") }
        });
        assert!(matches!(failed, Err(Failed::Taking("enough"))));
    }
}
