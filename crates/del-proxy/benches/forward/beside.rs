//! Another proxy in the same run: requests in a second and CPU for each, with one tool.

use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::contestant::{Contestant, cpu};
use super::requests::Api;
use super::speed::{CLIENTS, Figures, turn};
use super::{Result, Stand};

/// Programs of this kind may take a while to start.
const PATIENCE: Duration = Duration::from_secs(120);
/// A turn, of which slow ones need longer.
const TURN: Duration = Duration::from_secs(4);
const ROUNDS: usize = 3;

/// Another proxy, with the processes that it started.
struct Other {
    child: Child,
    address: SocketAddr,
}

impl Other {
    /// Starts a command line, in which `{upstream}` and `{port}` are filled in.
    async fn start(line: &str, upstream: SocketAddr) -> Result<Self> {
        let port = std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let line = line.replace("{upstream}", &upstream.to_string()).replace("{port}", &port.to_string());
        let mut command = Command::new("sh");
        command.args(["-c", &format!("exec {line}")]).stdin(Stdio::null()).stdout(Stdio::null());
        let mut other = Self { child: command.spawn()?, address: SocketAddr::from(([127, 0, 0, 1], port)) };
        let begun = Instant::now();
        while tokio::net::TcpStream::connect(other.address).await.is_err() {
            if let Some(status) = other.child.try_wait()? {
                return Err(format!("expected a proxy, got {status} of `{line}`").into());
            }
            if begun.elapsed() > PATIENCE {
                return Err(format!("expected a proxy on port {port}, got none from `{line}`").into());
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        Ok(other)
    }
}

impl Drop for Other {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) async fn run(stand: &Stand, line: &str) -> Result<()> {
    let other = Other::start(line, stand.upstream.address).await?;
    let process = other.child.id().to_string();
    println!("chat with one tool, {CLIENTS} connections, medians of {ROUNDS} turns of {} s", TURN.as_secs());
    println!("{:<24} {:>22} {:>22} {:>22} {:>7} {:>7}", "", "pass-through", "del", "other", "rate", "by CPU");
    for stream in [false, true] {
        let mut turns = [Vec::new(), Vec::new(), Vec::new()];
        for _ in 0..ROUNDS {
            for (turns, contestant) in turns.iter_mut().zip([Some(&stand.pass), Some(&stand.del), None]) {
                let address = contestant.map_or(other.address, |contestant| contestant.address);
                let used = || contestant.map_or_else(|| cpu(&process), Contestant::cpu);
                turns.push(turn(stand, address, &used, TURN, (Api::Chat, stream, 1)).await?);
            }
        }
        let [pass, del, other] = turns.map(|turns| Figures::medians(&turns));
        let shown = |figures: Figures| format!("{:.0}/s {:.0} us", figures.rate, figures.cpu);
        println!(
            "{:<24} {:>22} {:>22} {:>22} {:>7.0} {:>7.0}",
            if stream { "stream of 63 events" } else { "plain" },
            shown(pass),
            shown(del),
            shown(other),
            del.rate / other.rate,
            other.cpu / del.cpu,
        );
    }
    Ok(())
}
