//! Work that takes long: the thread that does it serves nobody else meanwhile.

use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::task::block_in_place;

/// Reading and writing so many bytes takes less time than finding another thread for everybody else is worth.
const SHORT: usize = 256 << 10;

/// Does work on about so many bytes. While it takes long, whoever waits for this thread gets another one.
pub(crate) fn on<T>(bytes: usize, work: impl FnOnce() -> T) -> T {
    let others =
        || Handle::try_current().is_ok_and(|here| here.runtime_flavor() == RuntimeFlavor::MultiThread);
    if bytes > SHORT && others() { block_in_place(work) } else { work() }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;
    use std::time::Duration;

    use super::{SHORT, on};

    #[test]
    fn others_go_on_meanwhile() {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
        let (tell, told) = channel();
        let long = runtime.spawn(async move {
            tokio::spawn(async move { tell.send(()).unwrap() });
            // The other task needs the only thread.
            on(SHORT + 1, || told.recv_timeout(Duration::from_secs(60)))
        });
        assert_eq!(runtime.block_on(long).unwrap(), Ok(()));
        let alone = tokio::runtime::Builder::new_current_thread().build().unwrap();
        assert_eq!(alone.block_on(async { on(SHORT + 1, || 1) }), 1);
    }
}
