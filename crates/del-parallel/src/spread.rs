//! Work that finds more work.

use std::ops::ControlFlow;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

/// Does `first` and all the work that is found on the way, on so many threads, of which this one is the first. What was
/// found last is done first, so that little waits. The first work that breaks ends it all: nothing more is begun.
pub fn spread<T: Send>(
    threads: usize,
    first: impl IntoIterator<Item = T>,
    work: impl Fn(T, &mut Vec<T>) -> ControlFlow<()> + Sync,
) {
    let queue = Queue { waiting: first.into_iter().collect(), busy: 0, stopped: false };
    let pool = Pool { queue: Mutex::new(queue), changed: Condvar::new() };
    thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(|| pool.run(&work));
        }
        pool.run(&work);
    });
}

struct Pool<T> {
    queue: Mutex<Queue<T>>,
    changed: Condvar,
}

struct Queue<T> {
    waiting: Vec<T>,
    /// Threads that may still find work.
    busy: usize,
    stopped: bool,
}

/// One piece of work. However it ends, the other threads learn of it.
struct Turn<'p, T> {
    pool: &'p Pool<T>,
    found: Vec<T>,
    flow: ControlFlow<()>,
}

impl<T> Pool<T> {
    fn run(&self, work: &impl Fn(T, &mut Vec<T>) -> ControlFlow<()>) {
        while let Some(item) = self.next() {
            // Broken off unless the work comes to its end.
            let mut turn = Turn { pool: self, found: Vec::new(), flow: ControlFlow::Break(()) };
            turn.flow = work(item, &mut turn.found);
        }
    }

    /// The next work; none once nobody can find more.
    fn next(&self) -> Option<T> {
        let idle = |queue: &mut Queue<T>| queue.waiting.is_empty() && queue.busy > 0 && !queue.stopped;
        let waited = self.changed.wait_while(self.lock(), idle);
        let mut queue = waited.unwrap_or_else(PoisonError::into_inner);
        let item = if queue.stopped { None } else { queue.waiting.pop() };
        queue.busy += usize::from(item.is_some());
        item
    }

    fn lock(&self) -> MutexGuard<'_, Queue<T>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> Drop for Turn<'_, T> {
    fn drop(&mut self) {
        let mut queue = self.pool.lock();
        queue.busy -= 1;
        queue.stopped |= self.flow.is_break();
        queue.waiting.append(&mut self.found);
        drop(queue);
        self.pool.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::spread;

    #[test]
    fn all_that_is_found_is_done_once() {
        for threads in 0..5 {
            let seen = Mutex::new(Vec::new());
            spread(threads, [1_usize], |number, found| {
                seen.lock().unwrap().push(number);
                found.extend([number * 2, number * 2 + 1].into_iter().filter(|next| *next < 1000));
                ControlFlow::Continue(())
            });
            let mut seen = seen.into_inner().unwrap();
            seen.sort_unstable();
            assert_eq!(seen, (1..1000).collect::<Vec<_>>(), "{threads}");
        }
    }

    #[test]
    fn what_was_found_last_is_done_first() {
        let seen = Mutex::new(Vec::new());
        spread(1, [0], |number, found| {
            seen.lock().unwrap().push(number);
            found.extend((1..4).map(|next| number * 10 + next).filter(|next| *next < 40));
            ControlFlow::Continue(())
        });
        assert_eq!(seen.into_inner().unwrap(), [0, 3, 33, 32, 31, 2, 23, 22, 21, 1, 13, 12, 11]);
    }

    #[test]
    fn a_break_ends_it() {
        let done = AtomicUsize::new(0);
        spread(3, [()], |(), found| {
            found.extend([(), ()]);
            if done.fetch_add(1, Ordering::SeqCst) == 50 {
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(())
        });
        assert!((51..60).contains(&done.into_inner()));
    }

    #[test]
    fn nothing_to_do_is_no_work() {
        spread(3, [], |(): (), _| ControlFlow::Continue(()));
    }

    #[test]
    fn a_panic_hangs_nobody() {
        let caught = std::panic::catch_unwind(|| {
            spread(3, [0], |number, found| {
                assert!(number < 5, "a worker's own panic");
                found.extend([number + 1, number + 1]);
                ControlFlow::Continue(())
            });
        });
        assert!(caught.is_err());
    }
}
