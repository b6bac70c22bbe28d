//! What the proxy costs, beside a pass-through that does nothing but hand bytes on, in the same run on loopback.
//!
//! `cargo bench -p del-proxy --bench forward [-- PART ...]`, with these parts:
//!
//! - `speed`: requests in a second and CPU for each, of plain answers and of streams of 63 events;
//! - `delay`: how much later the first word of a stream comes, and each word after it;
//! - `memory`: 2,000 streams at once with 20 tools;
//! - `instructions`: instructions for each request, counted by valgrind. Only when asked for.
//! - `beside 'COMMAND'`: another proxy in the same run, started by a command in which `{upstream}` stands for the address of the
//!   model server and `{port}` for the port to listen on. Only when asked for; `scripts/beside-litellm.sh` does.
//! - `leaks [REQUESTS]`: what stays behind after many requests over all APIs, with servers that fail. Only when asked for.
//!
//! Model server, pass-through and proxy are processes of their own, so each has its own CPU time and memory. They take turns
//! of a second, since other programs run as well: what counts are the ratios.
#![expect(clippy::print_stdout, reason = "a benchmark prints")]

mod beside;
mod client;
mod contestant;
mod delay;
mod instructions;
mod leaks;
mod memory;
mod pass;
mod requests;
mod speed;
mod upstream;

use std::io::{Read as _, Write as _};
use std::net::SocketAddr;
use std::process::ExitCode;

use tokio::net::TcpListener;

use self::contestant::{Contestant, Role};

/// What may go wrong, which ends the run.
type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// As `del serve` has it.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The three processes.
struct Stand {
    upstream: Contestant,
    pass: Contestant,
    del: Contestant,
}

impl Stand {
    fn new() -> Result<Self> {
        let upstream = Contestant::start(Role::Upstream, None)?;
        let pass = Contestant::start(Role::Pass, Some(upstream.address))?;
        let del = Contestant::start(Role::Del, Some(upstream.address))?;
        Ok(Self { upstream, pass, del })
    }
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let done = match words.first().and_then(|word| Role::named(word)) {
        Some(role) => take_part(role, words.get(1).and_then(|address| address.parse().ok())),
        None => run(&words),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run(words: &[String]) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let wants = |part: &str| words.is_empty() || words.iter().any(|word| word == part);
    if wants("speed") {
        runtime.block_on(speed::run(&Stand::new()?))?;
    }
    if wants("delay") {
        runtime.block_on(delay::run(&Stand::new()?))?;
    }
    if wants("memory") {
        runtime.block_on(memory::run(&Stand::new()?))?;
    }
    if words.iter().any(|word| word == "instructions") {
        runtime.block_on(async { instructions::run(&Stand::new()?).await })?;
    }
    if let [part, line] = words
        && part == "beside"
    {
        runtime.block_on(async { beside::run(&Stand::new()?, line).await })?;
    }
    if words.iter().any(|word| word == "leaks") {
        let count = words.iter().find_map(|word| word.parse().ok()).unwrap_or(20_000);
        runtime.block_on(leaks::run(&Stand::new()?, count))?;
    }
    Ok(())
}

/// Serves until the parent is gone.
fn take_part(role: Role, upstream: Option<SocketAddr>) -> Result<()> {
    let runtime = match role {
        Role::Upstream => tokio::runtime::Builder::new_current_thread().enable_all().build()?,
        Role::Pass | Role::Del => tokio::runtime::Builder::new_multi_thread().enable_all().build()?,
    };
    std::thread::spawn(|| {
        let _ = std::io::stdin().read(&mut [0]);
        std::process::exit(0);
    });
    runtime.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        println!("{}", listener.local_addr()?);
        std::io::stdout().flush()?;
        match (role, upstream) {
            (Role::Upstream, _) => upstream::serve(listener).await,
            (Role::Pass, Some(upstream)) => pass::serve(listener, upstream).await,
            (Role::Del, Some(upstream)) => contestant::proxy(listener, upstream).await,
            (_, None) => Err("expected the address of a model server".into()),
        }
    })
}
