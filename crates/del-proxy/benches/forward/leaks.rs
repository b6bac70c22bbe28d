//! What stays behind after many requests, over all APIs, with a model server that fails now and then.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use super::client::{Client, is_whole};
use super::requests::{Api, request};
use super::{Result, Stand};

const CLIENTS: usize = 16;
/// How often it is looked at.
const LOOKS: usize = 5;
/// How the server answers, in turn.
const MODELS: [&str; 8] = ["plain", "plain", "plain", "cut", "garbage", "error", "away", "hang-up"];

pub(crate) async fn run(stand: &Stand, count: usize) -> Result<()> {
    println!(
        "\n{count} requests over {} APIs, streamed and not; of eight, four meet a fault, and one client hangs up",
        Api::ALL.len()
    );
    println!("{:<12} {:>12} {:>14} {:>10} {:>10}", "requests", "sockets", "of upstream", "threads", "MB");
    let mut done = 0;
    for look in 0..=LOOKS {
        if look > 0 {
            drive(stand, count / LOOKS, done).await?;
            done += count / LOOKS;
        }
        tokio::time::sleep(Duration::from_secs(6)).await;
        println!(
            "{done:<12} {:>12} {:>14} {:>10} {:>10.1}",
            stand.del.files()?,
            stand.upstream.files()?,
            stand.del.threads()?,
            stand.del.memory()?
        );
    }
    Ok(())
}

async fn drive(stand: &Stand, count: usize, from: usize) -> Result<()> {
    let address = stand.del.address;
    let next = Arc::new(AtomicUsize::new(from));
    let mut clients = Vec::new();
    for _ in 0..CLIENTS {
        let next = Arc::clone(&next);
        clients.push(tokio::spawn(async move {
            let mut client = Client::connect(address).await?;
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= from + count {
                    return Result::Ok(());
                }
                let model = MODELS[number % MODELS.len()];
                let api = Api::ALL[number / MODELS.len() % Api::ALL.len()];
                let stream = (number / MODELS.len() / Api::ALL.len()).is_multiple_of(2);
                client.send(&request(address, api, model, stream, 1)).await?;
                let hangs_up = model == "hang-up";
                while !(is_whole(client.answer()) || hangs_up && !client.answer().is_empty()) {
                    if !client.more().await? {
                        break;
                    }
                }
                if hangs_up || !is_whole(client.answer()) {
                    client = Client::connect(address).await?;
                }
            }
        }));
    }
    for client in clients {
        client.await??;
    }
    Ok(())
}
