//! Requests in a second, and CPU time for each.
//!
//! Where other programs take their share of the machine, the rates say little. Who has all of it to himself answers as many
//! requests as the CPU time of all three processes allows, client and model server included: the last column is the ratio of
//! those.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::client::{Client, shown};
use super::contestant::cpu;
use super::requests::{ASKED, Api, request};
use super::{Result, Stand};

/// Connections at once.
pub(crate) const CLIENTS: usize = 16;
/// A turn of one contestant.
const TURN: Duration = Duration::from_millis(600);
const ROUNDS: usize = 5;

/// What a turn came to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Figures {
    /// Requests in a second.
    pub(crate) rate: f64,
    /// Microseconds of CPU for each.
    pub(crate) cpu: f64,
    /// The same of all processes together.
    pub(crate) all: f64,
}

impl Figures {
    pub(crate) fn medians(turns: &[Self]) -> Self {
        Self {
            rate: median(turns.iter().map(|turn| turn.rate)),
            cpu: median(turns.iter().map(|turn| turn.cpu)),
            all: median(turns.iter().map(|turn| turn.all)),
        }
    }
}

pub(crate) async fn run(stand: &Stand) -> Result<()> {
    println!(
        "{CLIENTS} connections; medians of {ROUNDS} turns each; goals in brackets are parts of the pass-through's rate"
    );
    println!("{:<42} {:>19} {:>19} {:>6} {:>6}", "", "pass-through", "del", "rate", "by CPU");
    for (stream, goals) in [(false, [0.7, 0.5]), (true, [0.85, 0.7])] {
        let kind = if stream { "stream of 63 events" } else { "plain" };
        for (api, tools) in ASKED {
            let goal = match (api, tools) {
                (Api::Chat, 0) => format!("({})", goals[0]),
                (Api::Chat, 1) => format!("({})", goals[1]),
                _ => String::new(),
            };
            let (mut pass, mut del) = (Vec::new(), Vec::new());
            for _ in 0..ROUNDS {
                // A pass-through knows nothing of APIs: what it is asked is a chat.
                let question = (Api::Chat, stream, tools);
                pass.push(turn(stand, stand.pass.address, &|| stand.pass.cpu(), TURN, question).await?);
                let question = (api, stream, tools);
                del.push(turn(stand, stand.del.address, &|| stand.del.cpu(), TURN, question).await?);
            }
            let rates = median(pass.iter().zip(&del).map(|(pass, del)| del.rate / pass.rate));
            let [pass, del] = [&pass, &del].map(|turns| Figures::medians(turns));
            println!(
                "{:<42} {:>7.0}/s {:>6.1} us {:>7.0}/s {:>6.1} us {rates:>6.2} {:>6.2} {goal}",
                format!("{}, {kind}, {tools} tools", api.name()),
                pass.rate,
                pass.cpu,
                del.rate,
                del.cpu,
                pass.all / del.all
            );
        }
    }
    Ok(())
}

pub(crate) fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}

/// Asks whoever listens there without end, for a time. `cpu_of` says how much CPU it has used.
pub(crate) async fn turn(
    stand: &Stand,
    address: SocketAddr,
    cpu_of: &dyn Fn() -> Result<Duration>,
    time: Duration,
    (api, stream, tools): (Api, bool, usize),
) -> Result<Figures> {
    let request: Arc<[u8]> = request(address, api, "plain", stream, tools).into();
    let mut first = Client::connect(address).await?;
    let answer = first.ask(&request).await?;
    if !answer.starts_with(b"HTTP/1.1 200") || !answer.windows(5).any(|word| word == b"Paris") {
        return Err(format!("expected an answer with `Paris`, got {}", shown(answer)).into());
    }
    let done = Arc::new(AtomicU64::new(0));
    let end = Instant::now() + time;
    let used = || Result::Ok((cpu_of()?, cpu_of()? + stand.upstream.cpu()? + cpu("self")?));
    let ((own, all), begun) = (used()?, Instant::now());
    let clients: Vec<_> = (0..CLIENTS)
        .map(|_| tokio::spawn(ask_until(end, address, Arc::clone(&request), Arc::clone(&done))))
        .collect();
    for client in clients {
        client.await??;
    }
    let (elapsed, used) = (begun.elapsed(), used()?);
    let count = f64::from(u32::try_from(done.load(Ordering::Relaxed))?);
    let each = |from: Duration, to: Duration| to.saturating_sub(from).as_secs_f64() * 1e6 / count;
    Ok(Figures { rate: count / elapsed.as_secs_f64(), cpu: each(own, used.0), all: each(all, used.1) })
}

async fn ask_until(
    end: Instant,
    address: SocketAddr,
    request: Arc<[u8]>,
    done: Arc<AtomicU64>,
) -> Result<()> {
    let mut client = Client::connect(address).await?;
    while Instant::now() < end {
        let answer = client.ask(&request).await?;
        if !answer.starts_with(b"HTTP/1.1 200") {
            return Err(format!("expected status 200, got {}", shown(answer)).into());
        }
        done.fetch_add(1, Ordering::Relaxed);
    }
    Ok(())
}
