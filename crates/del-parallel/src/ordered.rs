//! A map over items that come one after another: many threads, results in the order of the items.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::Scope;
use std::time::Instant;

/// Where items go in. Dropped, it [ends](Self::end).
#[derive(Debug)]
pub struct Feed<T, R>(Arc<Shared<T, R>>);

/// Where results come out, in the order of the items. Dropped, it says that nobody wants the rest: what is under way is
/// finished, and nothing more is begun.
#[derive(Debug)]
pub struct Results<T, R>(Arc<Shared<T, R>>);

/// What a worker holds.
struct Seat<T, R>(Arc<Shared<T, R>>);

#[derive(Debug)]
struct Shared<T, R> {
    state: Mutex<State<T, R>>,
    /// There is an item for a worker, or none will come.
    work: Condvar,
    /// There is a result to take, or none will come.
    done: Condvar,
    /// There is room for an item, or nobody wants one.
    room: Condvar,
}

#[derive(Debug)]
struct State<T, R> {
    /// Items that no worker has taken, each with its number.
    waiting: VecDeque<(usize, T)>,
    /// What was not told of, by its numbers from `told` on.
    results: VecDeque<Place<R>>,
    /// The number of the result that is next.
    told: usize,
    /// How many of `results` are those of items.
    items: usize,
    /// So many items may be without a result that was taken.
    ahead: usize,
    /// No more items will come.
    ended: bool,
    /// Nobody wants more results, or a worker is gone.
    stopped: bool,
}

#[derive(Debug)]
struct Place<R> {
    /// None where a worker is at it.
    result: Option<R>,
    /// It is that of an item: nobody worked for it else.
    item: bool,
}

/// So many results that nobody works for may wait at most.
const PASSED: usize = 256;

/// Each of `workers` runs on a thread of its own in `scope`. At most `ahead` items, and one at least, are between their
/// way in and their way out.
pub fn ordered<'scope, T, R, W>(
    scope: &'scope Scope<'scope, '_>,
    workers: impl IntoIterator<Item = W>,
    ahead: usize,
) -> (Feed<T, R>, Results<T, R>)
where
    T: Send + 'scope,
    R: Send + 'scope,
    W: FnMut(T) -> R + Send + 'scope,
{
    let state = State {
        waiting: VecDeque::new(),
        results: VecDeque::new(),
        told: 0,
        items: 0,
        ahead: ahead.max(1),
        ended: false,
        stopped: false,
    };
    let (work, done, room) = (Condvar::new(), Condvar::new(), Condvar::new());
    let shared = Arc::new(Shared { state: Mutex::new(state), work, done, room });
    for mut worker in workers {
        let seat = Seat(Arc::clone(&shared));
        scope.spawn(move || {
            while let Some((number, item)) = seat.next() {
                let result = worker(item);
                seat.hand_in(number, result);
            }
        });
    }
    (Feed(Arc::clone(&shared)), Results(shared))
}

impl<T, R> Feed<T, R> {
    /// Takes an item, as soon as there is room for it. False when nobody wants its result.
    pub fn give(&mut self, item: T) -> bool {
        let Some(mut state) = self.wait(State::has_room) else { return false };
        let number = state.told + state.results.len();
        state.waiting.push_back((number, item));
        state.results.push_back(Place { result: None, item: true });
        state.items += 1;
        drop(state);
        self.0.work.notify_one();
        true
    }

    /// Takes what stands in the place of a result, between those of the items: nobody works for it, and it takes no room.
    /// False when nobody wants it.
    pub fn pass(&mut self, result: R) -> bool {
        let few = |state: &State<T, R>| state.results.len() - state.items < PASSED;
        let Some(mut state) = self.wait(few) else { return false };
        state.results.push_back(Place { result: Some(result), item: false });
        drop(state);
        self.0.done.notify_all();
        true
    }

    /// The state as soon as it is so; none when nobody wants more.
    fn wait(&self, so: impl Fn(&State<T, R>) -> bool) -> Option<MutexGuard<'_, State<T, R>>> {
        let wait = |state: &mut State<T, R>| !so(state) && !state.stopped;
        let state = self.0.room.wait_while(self.0.lock(), wait).unwrap_or_else(PoisonError::into_inner);
        (!state.stopped && !state.ended).then_some(state)
    }

    /// True when [`give`](Self::give) does not wait.
    pub fn has_room(&self) -> bool {
        let state = self.0.lock();
        state.has_room() || state.stopped
    }

    /// No more items will come.
    pub fn end(&mut self) {
        self.0.tell_all(|state| state.ended = true);
    }
}

impl<T, R> Results<T, R> {
    /// The next result if it is there already.
    pub fn ready(&mut self) -> Option<R> {
        let mut state = self.0.lock();
        self.0.take(&mut state)
    }

    /// The next result if it is there by `deadline`; none either when there are no more.
    pub fn by(&mut self, deadline: Instant) -> Option<R> {
        let time = deadline.saturating_duration_since(Instant::now());
        let waited = self.0.done.wait_timeout_while(self.0.lock(), time, |state| state.is_awaited());
        let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        self.0.take(&mut state)
    }
}

/// Waits for the next result; none when there are no more.
impl<T, R> Iterator for Results<T, R> {
    type Item = R;

    fn next(&mut self) -> Option<R> {
        let waited = self.0.done.wait_while(self.0.lock(), |state| state.is_awaited());
        self.0.take(&mut waited.unwrap_or_else(PoisonError::into_inner))
    }
}

impl<T, R> Seat<T, R> {
    /// The next item; none when there is nothing left to do.
    fn next(&self) -> Option<(usize, T)> {
        let idle = |state: &mut State<T, R>| state.waiting.is_empty() && !state.ended && !state.stopped;
        let waited = self.0.work.wait_while(self.0.lock(), idle);
        let mut state = waited.unwrap_or_else(PoisonError::into_inner);
        if state.stopped { None } else { state.waiting.pop_front() }
    }

    fn hand_in(&self, number: usize, result: R) {
        let mut state = self.0.lock();
        let at = number - state.told;
        if let Some(place) = state.results.get_mut(at) {
            place.result = Some(result);
        }
        if at == 0 {
            self.0.done.notify_all();
        }
    }
}

impl<T, R> Shared<T, R> {
    /// A worker that panics holds no lock.
    fn lock(&self) -> MutexGuard<'_, State<T, R>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self, state: &mut State<T, R>) -> Option<R> {
        let place = state.results.front_mut()?;
        let (result, item) = (place.result.take()?, place.item);
        state.results.pop_front();
        state.told += 1;
        state.items -= usize::from(item);
        self.room.notify_one();
        Some(result)
    }

    /// Changes what everybody waits for.
    fn tell_all(&self, change: impl FnOnce(&mut State<T, R>)) {
        change(&mut self.lock());
        self.work.notify_all();
        self.done.notify_all();
        self.room.notify_all();
    }
}

impl<T, R> State<T, R> {
    fn has_room(&self) -> bool {
        self.items < self.ahead
    }

    /// True while the next result is not there and will be.
    fn is_awaited(&self) -> bool {
        match self.results.front() {
            Some(place) => place.result.is_none() && !self.stopped,
            None => !self.ended && !self.stopped,
        }
    }
}

impl<T, R> Drop for Feed<T, R> {
    fn drop(&mut self) {
        self.end();
    }
}

impl<T, R> Drop for Results<T, R> {
    fn drop(&mut self) {
        self.0.tell_all(|state| state.stopped = true);
    }
}

/// A worker leaves when all is done, or when it panics: then what it was at has no result, and nobody may wait for it.
impl<T, R> Drop for Seat<T, R> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.tell_all(|state| state.stopped = true);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::mpsc::channel;
    use std::thread;
    use std::time::{Duration, Instant};

    use super::ordered;

    #[test]
    fn results_come_in_the_order_of_the_items() {
        for threads in 1..5 {
            for ahead in [0, 1, 3, 100] {
                thread::scope(|scope| {
                    let work = |item: u64| {
                        // The first of several is the last to be done.
                        thread::sleep(Duration::from_micros(300 * (3 - item % 4)));
                        item * 10
                    };
                    let (mut feed, results) = ordered(scope, vec![work; threads], ahead);
                    scope.spawn(move || assert!((0..200).all(|item| feed.give(item))));
                    let all: Vec<u64> = results.collect();
                    assert_eq!(all, (0..2000).step_by(10).collect::<Vec<_>>(), "{threads} {ahead}");
                });
            }
        }
    }

    #[test]
    fn what_is_passed_comes_in_its_place_and_takes_no_room() {
        for ahead in [1, 2, 5] {
            thread::scope(|scope| {
                let work = |item: usize| {
                    thread::sleep(Duration::from_micros(200));
                    item
                };
                let (mut feed, results) = ordered(scope, [work; 2], ahead);
                // Nobody takes anything, and there is room for the items all the same.
                for item in 0..ahead {
                    assert!(feed.pass(100) && feed.give(item) && feed.pass(200));
                }
                assert!(!feed.has_room());
                let all = scope.spawn(move || results.collect::<Vec<_>>());
                assert!((0..2 * super::PASSED).all(|passed| feed.pass(1000 + passed)));
                drop(feed);
                let expected = (0..ahead).flat_map(|item| [100, item, 200]);
                let expected: Vec<_> = expected.chain(1000..1000 + 2 * super::PASSED).collect();
                assert_eq!(all.join().unwrap(), expected, "{ahead}");
            });
        }
    }

    #[test]
    fn one_thread_may_feed_and_take() {
        thread::scope(|scope| {
            let (mut feed, mut results) = ordered(scope, [|item: u64| item, |item| item], 3);
            let mut taken = Vec::new();
            for item in 0..100 {
                while !feed.has_room() {
                    taken.extend(results.next());
                }
                assert!(feed.give(item));
                taken.extend(results.ready());
            }
            drop(feed);
            taken.extend(results);
            assert_eq!(taken, (0..100).collect::<Vec<_>>());
        });
    }

    #[test]
    fn no_more_items_are_under_way_than_allowed() {
        let (begun, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        thread::scope(|scope| {
            let work = |()| ();
            let (mut feed, mut results) = ordered(scope, vec![work; 4], 5);
            let begun = &begun;
            scope.spawn(move || {
                while begun.load(Ordering::SeqCst) < 100 && feed.give(()) {
                    begun.fetch_add(1, Ordering::SeqCst);
                }
            });
            for taken in 0..100 {
                results.next().unwrap();
                most.fetch_max(begun.load(Ordering::SeqCst) - taken, Ordering::SeqCst);
            }
        });
        // One more may have been given when the result was taken, and not yet counted as taken here.
        assert!(most.into_inner() <= 6);
    }

    #[test]
    fn who_wants_no_more_ends_the_work_while_the_source_waits() {
        let (tell, source) = channel::<u64>();
        let done = AtomicUsize::new(0);
        let feeding = thread::scope(|scope| {
            let work = |item: u64| {
                done.fetch_add(1, Ordering::SeqCst);
                item
            };
            let (mut feed, mut results) = ordered(scope, vec![work; 2], 4);
            let feeding =
                thread::spawn(move || source.into_iter().take_while(|item| feed.give(*item)).count());
            tell.send(1).unwrap();
            assert_eq!(results.next(), Some(1));
            drop(results);
            feeding
            // The scope ends though nobody gave more, and nobody said that nothing will come.
        });
        tell.send(2).unwrap();
        assert_eq!(feeding.join().unwrap(), 1);
        assert_eq!(done.into_inner(), 1);
    }

    #[test]
    fn a_deadline_ends_the_waiting_alone() {
        let (open, gate) = channel::<()>();
        thread::scope(|scope| {
            let (mut feed, mut results) = ordered(scope, [move |item: u64| gate.recv().map(|()| item)], 2);
            assert!(feed.give(7));
            assert_eq!(results.by(Instant::now() + Duration::from_millis(5)), None);
            assert_eq!(results.ready(), None);
            open.send(()).unwrap();
            assert_eq!(results.by(Instant::now() + Duration::from_secs(60)), Some(Ok(7)));
            drop(feed);
            assert_eq!(results.by(Instant::now() + Duration::from_secs(60)), None);
        });
    }

    #[test]
    fn a_panic_hangs_nobody() {
        let caught = std::panic::catch_unwind(|| {
            thread::scope(|scope| {
                let work = |item: u64| assert!(item != 3, "a worker's own panic");
                let (mut feed, results) = ordered(scope, vec![work; 2], 2);
                scope.spawn(move || while feed.give(3) {});
                results.count()
            })
        });
        assert!(caught.is_err());
    }
}
