//! A task that wakes itself goes on at once.
//!
//! Where one task is both ends of a channel, such as a connection and what reads its body, each end wakes the other, and so
//! the task that is just running. A scheduler then puts it behind all others, and wakes a thread to take it over. Here it is
//! polled again instead, on the thread that it is on.

use std::pin::Pin;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

/// A future that is polled again at once when it is woken while it is polled.
#[derive(Debug)]
pub(crate) struct AtOnce<F> {
    future: Pin<Box<F>>,
    bell: Arc<Bell>,
    /// Rings the bell.
    waker: Waker,
}

/// What wakes the future: the task, or the poll that is under way.
#[derive(Debug)]
struct Bell {
    state: AtomicU8,
    task: Mutex<Waker>,
}

/// It waits, and the task has to be woken.
const WAITING: u8 = 0;
/// It is being polled.
const POLLED: u8 = 1;
/// It was woken since that poll began.
const WOKEN: u8 = 2;

/// So often it goes on before other tasks have their turn.
const MOST: usize = 8;

impl<F: Future> AtOnce<F> {
    pub(crate) fn new(future: F) -> Self {
        let bell = Arc::new(Bell { state: AtomicU8::new(WAITING), task: Mutex::new(Waker::noop().clone()) });
        let waker = Waker::from(Arc::clone(&bell));
        Self { future: Box::pin(future), bell, waker }
    }
}

impl<F: Future> Future for AtOnce<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let this = &mut *self;
        this.bell.task().clone_from(context.waker());
        for _ in 0..MOST {
            this.bell.state.store(POLLED, Ordering::Release);
            if let Poll::Ready(output) = this.future.as_mut().poll(&mut Context::from_waker(&this.waker)) {
                return Poll::Ready(output);
            }
            if this.bell.state.compare_exchange(POLLED, WAITING, Ordering::AcqRel, Ordering::Acquire).is_ok()
            {
                return Poll::Pending;
            }
        }
        this.bell.state.store(WAITING, Ordering::Release);
        context.waker().wake_by_ref();
        Poll::Pending
    }
}

impl Bell {
    fn task(&self) -> MutexGuard<'_, Waker> {
        self.task.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        let woken = |state| (state != WAITING).then_some(WOKEN);
        if self.state.fetch_update(Ordering::AcqRel, Ordering::Acquire, woken).is_err() {
            self.task().wake_by_ref();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::sync::atomic::AtomicUsize;
    use std::thread;

    use super::*;

    /// Counts how often a task is woken.
    #[derive(Default)]
    struct Task(AtomicUsize);

    impl Wake for Task {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }

    fn task() -> (Arc<Task>, Waker) {
        let task = Arc::<Task>::default();
        (Arc::clone(&task), Waker::from(task))
    }

    #[test]
    fn one_that_wakes_itself_goes_on_without_its_task() {
        let (task, waker) = task();
        let mut left = 3;
        let mut future = AtOnce::new(poll_fn(|context| {
            left -= 1;
            context.waker().wake_by_ref();
            if left == 0 { Poll::Ready(()) } else { Poll::Pending }
        }));
        assert!(Pin::new(&mut future).poll(&mut Context::from_waker(&waker)).is_ready());
        assert_eq!(task.0.load(Ordering::SeqCst), 0);
    }

    #[test]
    fn one_that_never_rests_lets_other_tasks_go_on() {
        let (task, waker) = task();
        let mut polls = 0;
        let mut future = AtOnce::new(poll_fn(|context| {
            polls += 1;
            context.waker().wake_by_ref();
            Poll::<()>::Pending
        }));
        assert!(Pin::new(&mut future).poll(&mut Context::from_waker(&waker)).is_pending());
        assert_eq!(task.0.load(Ordering::SeqCst), 1);
        drop(future);
        assert_eq!(polls, MOST);
    }

    #[test]
    fn one_that_waits_is_woken_from_anywhere() {
        let (task, waker) = task();
        let inner = Mutex::new(None);
        let mut future = AtOnce::new(poll_fn(|context| {
            *inner.lock().unwrap() = Some(context.waker().clone());
            Poll::<()>::Pending
        }));
        assert!(Pin::new(&mut future).poll(&mut Context::from_waker(&waker)).is_pending());
        let inner = inner.lock().unwrap().take().unwrap();
        thread::spawn(move || inner.wake()).join().unwrap();
        assert_eq!(task.0.load(Ordering::SeqCst), 1);
    }

    #[test]
    fn nothing_is_lost_between_two_threads() {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
        let (sender, mut receiver) = tokio::sync::mpsc::channel(1);
        let sends = runtime.spawn(AtOnce::new(async move {
            for number in 0..20_000 {
                sender.send(number).await.unwrap();
            }
        }));
        let counts = runtime.spawn(AtOnce::new(async move {
            let mut count = 0;
            while receiver.recv().await.is_some() {
                count += 1;
            }
            count
        }));
        assert_eq!(runtime.block_on(counts).unwrap(), 20_000);
        runtime.block_on(sends).unwrap();
    }
}
