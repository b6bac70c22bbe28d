//! The processes of a run, and what they use.

use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use del_dialects::{End, Message};
use del_proxy::{Lens, Proxy, RouteSettings, Settings, Upstream};
use reqwest::Client;
use serde_json::Value;
use tokio::net::TcpListener;

use super::Result;

/// What a process does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Upstream,
    Pass,
    Del,
}

impl Role {
    const ALL: [(&'static str, Self); 3] =
        [("as-upstream", Self::Upstream), ("as-pass", Self::Pass), ("as-del", Self::Del)];

    pub(crate) fn named(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find_map(|(name, role)| (name == word).then_some(role))
    }

    fn word(self) -> &'static str {
        Self::ALL.into_iter().find_map(|(name, role)| (self == role).then_some(name)).unwrap_or_default()
    }
}

/// A process that serves.
pub(crate) struct Contestant {
    child: Child,
    pub(crate) address: SocketAddr,
}

impl Contestant {
    pub(crate) fn start(role: Role, upstream: Option<SocketAddr>) -> Result<Self> {
        Self::run(Command::new(std::env::current_exe()?), role, upstream)
    }

    /// The same under valgrind, which leaves behind what it counted.
    pub(crate) fn counted(role: Role, upstream: SocketAddr, profile: &Path) -> Result<Self> {
        let mut command = Command::new("valgrind");
        command.arg("--tool=callgrind").arg(format!("--callgrind-out-file={}", profile.display()));
        command.arg(std::env::current_exe()?).stderr(Stdio::null());
        Self::run(command, role, Some(upstream))
    }

    fn run(mut command: Command, role: Role, upstream: Option<SocketAddr>) -> Result<Self> {
        command.arg(role.word()).args(upstream.map(|address| address.to_string()));
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let mut line = String::new();
        let out = child.stdout.take().ok_or("expected the output of a process, got none")?;
        BufReader::new(out).read_line(&mut line)?;
        let address = line.trim().parse().map_err(|_| format!("expected an address, got `{line}`"))?;
        Ok(Self { child, address })
    }

    /// Lets it end by itself.
    pub(crate) fn end(mut self) -> Result<()> {
        drop(self.child.stdin.take());
        self.child.wait()?;
        Ok(())
    }

    /// CPU time so far.
    pub(crate) fn cpu(&self) -> Result<Duration> {
        cpu(&self.child.id().to_string())
    }

    /// Memory that it holds, in megabytes.
    pub(crate) fn memory(&self) -> Result<f64> {
        Ok(said_as("VmRSS:", &self.status()?)?.trim_end_matches("kB").trim().parse::<f64>()? / 1024.0)
    }

    pub(crate) fn threads(&self) -> Result<usize> {
        Ok(said_as("Threads:", &self.status()?)?.parse()?)
    }

    fn status(&self) -> Result<String> {
        Ok(std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))?)
    }

    /// Its open files and sockets.
    pub(crate) fn files(&self) -> Result<usize> {
        Ok(std::fs::read_dir(format!("/proc/{}/fd", self.child.id()))?.count())
    }
}

/// CPU time of all threads of a process.
pub(crate) fn cpu(process: &str) -> Result<Duration> {
    let mut nanoseconds = 0;
    for task in std::fs::read_dir(format!("/proc/{process}/task"))? {
        let said = std::fs::read_to_string(task?.path().join("schedstat"))?;
        nanoseconds += said.split(' ').next().map_or(Ok(0), str::parse)?;
    }
    Ok(Duration::from_nanos(nanoseconds))
}

/// A line of a process's status.
fn said_as<'s>(name: &str, status: &'s str) -> Result<&'s str> {
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    Ok(line.ok_or_else(|| format!("expected a line `{name}`, got none"))?.trim())
}

impl Drop for Contestant {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Nobody looks through it.
#[derive(Debug)]
struct Unused;

impl Lens for Unused {
    fn template(&self, _: &str) -> std::result::Result<Value, String> {
        Err("this is a benchmark".to_owned())
    }

    fn case(&self, _: &str, _: &str, _: End, _: &Message) -> String {
        String::new()
    }
}

/// The proxy as `del serve` has it, inspector included.
pub(crate) async fn proxy(listener: TcpListener, upstream: SocketAddr) -> Result<()> {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = || Client::builder().no_proxy().connect_timeout(Duration::from_secs(5));
    let pooled = client().pool_max_idle_per_host(64).pool_idle_timeout(Duration::from_secs(4)).build()?;
    let fresh = client().pool_max_idle_per_host(0).build()?;
    let upstream = Upstream::new(pooled, format!("http://{upstream}/v1"), None)
        .retrying_on(fresh)
        .direct(Duration::from_secs(5));
    let mut settings = Settings::new(vec![RouteSettings::new(vec![upstream])]);
    settings.inspector = std::env::var_os("NO_INSPECTOR").is_none().then(|| Arc::new(Unused) as _);
    let proxy = Proxy::new(settings, listener.local_addr()?)?;
    Ok(del_proxy::serve(listener, proxy, std::future::pending()).await?)
}
