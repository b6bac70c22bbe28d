//! Instructions for each request, as valgrind counts them: the same on a busy machine as on an idle one. What the kernel does
//! is not among them.

use std::net::SocketAddr;
use std::path::PathBuf;

use super::client::{Client, shown};
use super::contestant::{Contestant, Role};
use super::requests::{ASKED, Api, request};
use super::{Result, Stand};

/// Requests of the shorter run, of which the first cost more, and of the longer one.
const COUNTS: [u32; 2] = [100, 600];

pub(crate) async fn run(stand: &Stand) -> Result<()> {
    println!("\nthousands of instructions for each request (callgrind), without the kernel's");
    println!("{:<42} {:>14} {:>14} {:>8}", "", "pass-through", "del", "ratio");
    for stream in [false, true] {
        for (api, tools) in ASKED {
            let pass = each(stand, Role::Pass, (Api::Chat, stream, tools)).await?;
            let del = each(stand, Role::Del, (api, stream, tools)).await?;
            let kind = if stream { "stream of 63 events" } else { "plain" };
            let name = format!("{}, {kind}, {tools} tools", api.name());
            println!("{name:<42} {:>14.1} {:>14.1} {:>8.2}", pass / 1e3, del / 1e3, del / pass);
        }
    }
    Ok(())
}

/// What a request costs beside those that came before it.
async fn each(stand: &Stand, role: Role, question: (Api, bool, usize)) -> Result<f64> {
    let mut counted = [0.0; 2];
    for (counted, count) in counted.iter_mut().zip(COUNTS) {
        *counted = total(stand.upstream.address, role, question, count).await?;
    }
    Ok((counted[1] - counted[0]) / f64::from(COUNTS[1] - COUNTS[0]))
}

async fn total(
    upstream: SocketAddr,
    role: Role,
    (api, stream, tools): (Api, bool, usize),
    count: u32,
) -> Result<f64> {
    let kind = if stream { "stream" } else { "plain" };
    let profile: PathBuf =
        std::env::temp_dir().join(format!("del-forward-{role:?}-{}-{kind}-{tools}.callgrind", api.name()));
    let contestant = Contestant::counted(role, upstream, &profile)?;
    let mut client = Client::connect(contestant.address).await?;
    let request = request(contestant.address, api, "plain", stream, tools);
    for _ in 0..count {
        let answer = client.ask(&request).await?;
        if !answer.starts_with(b"HTTP/1.1 200") {
            return Err(format!("expected status 200, got {}", shown(answer)).into());
        }
    }
    contestant.end()?;
    let text = std::fs::read_to_string(&profile)?;
    let totals = text.lines().rev().find_map(|line| line.strip_prefix("totals: "));
    Ok(totals.ok_or("expected the totals of callgrind, got none")?.trim().parse()?)
}
