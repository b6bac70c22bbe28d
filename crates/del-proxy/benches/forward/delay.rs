//! How much later words of a stream come, where the model server takes its time between them.

use super::client::{Client, is_whole};
use super::contestant::Contestant;
use super::requests::{Api, request};
use super::speed::median;
use super::upstream::now;
use super::{Result, Stand};

const STREAMS: usize = 200;

/// Microseconds on the way.
struct Delay {
    /// Of a request to the server, and of the first word back.
    first: f64,
    /// Of each word after it.
    later: Vec<f64>,
}

pub(crate) async fn run(stand: &Stand) -> Result<()> {
    println!(
        "\nmicroseconds on the way, medians of {STREAMS} streams with 2 ms between words (goal: 100 more to the first word)"
    );
    println!("{:<32} {:>14} {:>14} {:>14}", "", "pass-through", "del", "more");
    for tools in [0, 1, 20] {
        let (mut pass, mut del) = (Vec::new(), Vec::new());
        let mut clients =
            [Client::connect(stand.pass.address).await?, Client::connect(stand.del.address).await?];
        for _ in 0..STREAMS {
            let [passed, proxied] = &mut clients;
            pass.push(stream(passed, &stand.pass, tools).await?);
            del.push(stream(proxied, &stand.del, tools).await?);
        }
        let first = |delays: &[Delay]| median(delays.iter().map(|delay| delay.first));
        let later = |delays: &[Delay]| median(delays.iter().flat_map(|delay| &delay.later).copied());
        let rows = [("first word", first(&pass), first(&del)), ("later words", later(&pass), later(&del))];
        for (what, pass, del) in rows {
            println!(
                "{:<32} {pass:>14.0} {del:>14.0} {:>14.0}",
                format!("{what}, {tools} tools"),
                del - pass
            );
        }
    }
    Ok(())
}

/// What stands in an event as a member of this name.
fn member(text: &str, name: &str) -> Option<u128> {
    let (_, rest) = text.split_once(&format!("\"{name}\":\""))?;
    rest.split('"').next()?.parse().ok()
}

fn micros(from: u128, to: u128) -> f64 {
    f64::from(u32::try_from(to.saturating_sub(from)).unwrap_or(u32::MAX)) / 1e3
}

async fn stream(client: &mut Client, contestant: &Contestant, tools: usize) -> Result<Delay> {
    let sent = now();
    client.send(&request(contestant.address, Api::Chat, "paced", true, tools)).await?;
    let (mut seen, mut first, mut later) = (0, None, Vec::new());
    while !is_whole(client.answer()) {
        if !client.more().await? {
            return Err("expected a whole stream, got half of one".into());
        }
        let came = now();
        let text = String::from_utf8_lossy(&client.answer()[seen..]).into_owned();
        // Whole events only.
        let upto = text.rfind("\n\n").map_or(0, |at| at + 2);
        seen += upto;
        for event in text[..upto].split("\n\n") {
            let Some(written) = member(event, "written") else { continue };
            let delay = micros(written, came);
            match first {
                None => first = Some(delay + micros(sent, member(event, "came").unwrap_or(sent))),
                Some(_) => later.push(delay),
            }
        }
    }
    Ok(Delay { first: first.ok_or("expected a word, got none")?, later })
}
