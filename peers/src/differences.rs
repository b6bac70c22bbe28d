//! The cases in which Del and a peer are meant to differ: `differences.toml`.

use std::collections::BTreeSet;

use serde::Deserialize;

use crate::Fail;

/// Every peer that can be asked, in the order of the table.
const PEERS: [&str; 5] = ["smg", "dynamo", "dynamo-v2", "vllm", "sglang"];

/// Differences with one reason.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Difference {
    /// Names of cases, with `*` for any text.
    cases: Vec<String>,
    /// All peers when it names none.
    #[serde(default)]
    peers: Vec<String>,
    why: String,
    /// Patterns and peers that were seen to differ.
    #[serde(skip)]
    seen: BTreeSet<String>,
}

#[derive(Deserialize)]
struct File {
    difference: Vec<Difference>,
}

/// The list as it stands in the repository.
pub(crate) fn load() -> Result<Vec<Difference>, Fail> {
    let file: File = toml::from_str(include_str!("../differences.toml"))
        .map_err(|error| format!("differences.toml: {error}"))?;
    Ok(file.difference)
}

/// True when some entry covers a case that this peer reads differently. All that do are then known to hold still.
pub(crate) fn covered(list: &mut [Difference], case: &str, peer: &str) -> bool {
    list.iter_mut().map(|entry| entry.covers(case, peer)).filter(|covered| *covered).count() > 0
}

impl Difference {
    fn covers(&mut self, case: &str, peer: &str) -> bool {
        if !self.peers.is_empty() && !self.peers.iter().any(|name| name == peer) {
            return false;
        }
        let fitting: Vec<&String> = self.cases.iter().filter(|pattern| matches(pattern, case)).collect();
        if fitting.is_empty() {
            return false;
        }
        self.seen.extend(fitting.into_iter().cloned().chain([peer.to_owned()]));
        true
    }

    /// The patterns and peers of this entry that no difference needs, once all peers that it is about were asked.
    pub(crate) fn stale(&self, asked: &[&str]) -> Vec<String> {
        let about: Vec<&str> = match self.peers.is_empty() {
            true => PEERS.to_vec(),
            false => self.peers.iter().map(String::as_str).collect(),
        };
        if !about.iter().all(|peer| asked.contains(peer)) {
            return Vec::new();
        }
        let needless = self.cases.iter().chain(&self.peers).filter(|part| !self.seen.contains(*part));
        needless.map(|part| format!("{part}: {}", self.why)).collect()
    }
}

/// True when `text` fits a pattern in which `*` stands for any text.
fn matches(pattern: &str, text: &str) -> bool {
    let Some((head, rest)) = pattern.split_once('*') else { return pattern == text };
    let Some(text) = text.strip_prefix(head) else { return false };
    (0..=text.len()).any(|at| text.get(at..).is_some_and(|text| matches(rest, text)))
}
