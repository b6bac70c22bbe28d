//! Memory of many streams at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use super::client::{Client, is_whole, shown};
use super::contestant::Contestant;
use super::requests::{Api, request};
use super::{Result, Stand};

const STREAMS: usize = 2_000;
const TOOLS: usize = 20;
/// What is free by now is given back by then.
const REST: Duration = Duration::from_secs(3);

pub(crate) async fn run(stand: &Stand) -> Result<()> {
    println!(
        "\n{STREAMS} streams at once with {TOOLS} tools, a word a second: megabytes (goal: 120, given back afterwards)"
    );
    println!("{:<32} {:>10} {:>10} {:>10}", "", "before", "all open", "after");
    for (name, contestant) in [("pass-through", &stand.pass), ("del", &stand.del)] {
        // What the first request costs once.
        let request = request(contestant.address, Api::Chat, "plain", true, TOOLS);
        Client::connect(contestant.address).await?.ask(&request).await?;
        let before = contestant.memory()?;
        let open = streams(contestant).await?;
        tokio::time::sleep(REST).await;
        println!("{name:<32} {before:>10.0} {open:>10.0} {:>10.0}", contestant.memory()?);
    }
    Ok(())
}

/// The most that it holds while all streams are open.
async fn streams(contestant: &Contestant) -> Result<f64> {
    let request: Arc<[u8]> = request(contestant.address, Api::Chat, "slow", true, TOOLS).into();
    let (address, open) = (contestant.address, Arc::new(AtomicUsize::new(0)));
    let streams: Vec<_> = (0..STREAMS)
        .map(|_| {
            let (request, open) = (Arc::clone(&request), Arc::clone(&open));
            tokio::spawn(async move {
                let mut client = Client::connect(address).await?;
                client.send(&request).await?;
                client.more().await?;
                open.fetch_add(1, Ordering::Relaxed);
                while !is_whole(client.answer()) {
                    if !client.more().await? {
                        return Err(format!("expected a whole stream, got {}", shown(client.answer())).into());
                    }
                }
                open.fetch_sub(1, Ordering::Relaxed);
                Result::Ok(())
            })
        })
        .collect();
    let (mut most, mut most_open) = (0.0_f64, 0);
    while streams.iter().any(|stream| !stream.is_finished()) {
        most = most.max(contestant.memory()?);
        most_open = most_open.max(open.load(Ordering::Relaxed));
        tokio::time::sleep(Duration::from_millis(250)).await;
    }
    for stream in streams {
        stream.await??;
    }
    if most_open < STREAMS {
        return Err(format!("expected {STREAMS} streams open at once, got {most_open}").into());
    }
    Ok(most)
}
