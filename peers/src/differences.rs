//! The cases in which Del and a peer are meant to differ: `differences.toml`.

use serde::Deserialize;

use crate::Fail;

/// Differences with one reason.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Difference {
    /// Names of cases, with `*` for any text.
    cases: Vec<String>,
    peers: Vec<String>,
    why: String,
    /// What was seen to differ: a pattern and a peer, by their places.
    #[serde(skip)]
    seen: Vec<(usize, usize)>,
}

#[derive(Deserialize)]
struct File {
    difference: Vec<Difference>,
}

/// The list as it stands in the repository.
pub(crate) fn load() -> Result<Vec<Difference>, Fail> {
    let text = include_str!("../differences.toml");
    let file: File = toml::from_str(text).map_err(|error| format!("differences.toml: {error}"))?;
    Ok(file.difference)
}

/// True when some entry covers a case that this peer reads differently. All that do are then known to hold still.
pub(crate) fn covered(list: &mut [Difference], case: &str, peer: &str) -> bool {
    list.iter_mut().fold(false, |covered, entry| entry.covers(case, peer) || covered)
}

impl Difference {
    fn covers(&mut self, case: &str, peer: &str) -> bool {
        let Some(peer) = self.peers.iter().position(|name| name == peer) else { return false };
        let mut covered = false;
        for (place, pattern) in self.cases.iter().enumerate() {
            if matches(pattern, case) {
                covered = true;
                self.seen.push((place, peer));
            }
        }
        covered
    }

    /// The patterns that cover no difference any more, for the peers that were asked.
    pub(crate) fn stale(&self, asked: &[&str]) -> Vec<String> {
        let mut stale = Vec::new();
        for (peer, name) in self.peers.iter().enumerate().filter(|(_, name)| asked.contains(&name.as_str())) {
            for (place, pattern) in self.cases.iter().enumerate() {
                if !self.seen.contains(&(place, peer)) {
                    stale.push(format!("{name} {pattern} ({})", self.why));
                }
            }
        }
        stale
    }
}

/// True when `text` fits a pattern in which `*` stands for any text.
fn matches(pattern: &str, text: &str) -> bool {
    let Some((head, rest)) = pattern.split_once('*') else { return pattern == text };
    let Some(text) = text.strip_prefix(head) else { return false };
    (0..=text.len()).any(|at| text.get(at..).is_some_and(|text| matches(rest, text)))
}
