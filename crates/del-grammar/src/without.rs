//! Text that does not hold certain words, as an automaton: for targets that have no word for it.

use std::collections::{BTreeMap, VecDeque};

use del_dialects::spelling;

/// A deterministic automaton in which every state accepts. The first state is where it starts.
#[derive(Debug)]
pub(crate) struct Automaton {
    pub(crate) states: Vec<State>,
}

/// Where these words stand among those that have an automaton; they are added where they are new.
pub(crate) fn place_of(words: &[String], known: &mut Vec<Vec<String>>) -> usize {
    known.iter().position(|known| known == words).unwrap_or_else(|| {
        known.push(words.to_vec());
        known.len() - 1
    })
}

/// What may follow in a state.
#[derive(Debug, Default)]
pub(crate) struct State {
    /// Characters that lead to another state than the first.
    pub(crate) steps: BTreeMap<char, usize>,
    /// Characters that would end a word.
    pub(crate) refused: Vec<char>,
}

impl Automaton {
    /// Text that holds none of `words`. Empty words are left out.
    pub(crate) fn without(words: &[String]) -> Self {
        let mut trie = Trie::default();
        for word in words.iter().filter(|word| !word.is_empty()) {
            trie.insert(word);
        }
        trie.into_automaton()
    }
}

/// The beginnings of words.
#[derive(Debug)]
struct Trie {
    nodes: Vec<Node>,
}

#[derive(Debug, Default)]
struct Node {
    next: BTreeMap<char, usize>,
    ends: bool,
}

impl Default for Trie {
    fn default() -> Self {
        Self { nodes: vec![Node::default()] }
    }
}

impl Trie {
    fn insert(&mut self, word: &str) {
        let mut at = 0;
        for c in word.chars() {
            let new = self.nodes.len();
            // A mark with any suffix is refused where the suffix begins.
            at = *self.nodes[at].next.entry(if c == spelling::SUFFIX { ':' } else { c }).or_insert(new);
            if at == new {
                self.nodes.push(Node::default());
            }
            if c == spelling::SUFFIX {
                break;
            }
        }
        self.nodes[at].ends = true;
    }

    fn into_automaton(mut self) -> Automaton {
        // All steps of a node, those of its longest ending that is also a beginning included; shorter ones first.
        let mut steps: Vec<BTreeMap<char, usize>> = vec![BTreeMap::new(); self.nodes.len()];
        let mut queue: VecDeque<(usize, usize)> = VecDeque::from([(0, 0)]);
        while let Some((at, ending)) = queue.pop_front() {
            self.nodes[at].ends |= self.nodes[ending].ends;
            let mut all = if at == 0 { BTreeMap::new() } else { steps[ending].clone() };
            for (&c, &next) in &self.nodes[at].next {
                let ending = all.insert(c, next).unwrap_or(0);
                queue.push_back((next, ending));
            }
            steps[at] = all;
        }
        // Beginnings that hold a whole word are never reached.
        let mut places: BTreeMap<usize, usize> = BTreeMap::new();
        for at in (0..steps.len()).filter(|at| !self.nodes[*at].ends) {
            places.insert(at, places.len());
        }
        let states = places.keys().map(|&at| {
            let mut state = State::default();
            for (&c, next) in &steps[at] {
                match places.get(next) {
                    Some(0) => {}
                    Some(place) => {
                        state.steps.insert(c, *place);
                    }
                    None => state.refused.push(c),
                }
            }
            state
        });
        Automaton { states: states.collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn takes(automaton: &Automaton, text: &str) -> bool {
        let mut at = 0;
        for c in text.chars() {
            let state = &automaton.states[at];
            if state.refused.contains(&c) {
                return false;
            }
            at = state.steps.get(&c).copied().unwrap_or(0);
        }
        true
    }

    /// Every text of up to eight letters, against a plain search.
    #[test]
    fn refuses_just_what_holds_a_word() {
        let lists: [&[&str]; 8] = [
            &["a"],
            &["aab"],
            &["abab", "bb"],
            &["abc", "bca", "cab"],
            &["aaa", "aa"],
            &["abcab", "bc"],
            &["ab", "abc", "c"],
            &["", "ba"],
        ];
        for words in lists {
            let owned: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            let automaton = Automaton::without(&owned);
            let mut texts = vec![String::new()];
            for len in 0..8 {
                for text in texts.iter().filter(|text| text.len() == len).cloned().collect::<Vec<_>>() {
                    texts.extend(["a", "b", "c"].map(|letter| format!("{text}{letter}")));
                }
            }
            for text in &texts {
                let holds = words.iter().any(|word| !word.is_empty() && text.contains(word));
                assert_eq!(takes(&automaton, text), !holds, "{text} without {words:?}");
            }
        }
    }
}
