//! The nodes of an automaton, made from its spellings.

use std::collections::VecDeque;

use super::{ANEW, Node, SUFFIX, is_word};

/// The spellings while they are gathered.
pub(super) struct Trie {
    pub(super) nodes: Vec<Node>,
    pub(super) children: Vec<Vec<(u8, u32)>>,
}

impl Trie {
    pub(super) fn add(&mut self, number: u16, pattern: &[u8]) {
        let mut at = 0;
        for &byte in pattern {
            at = if byte == SUFFIX as u8 { self.suffix(at) } else { self.child(at, byte) };
        }
        let node = &mut self.nodes[at];
        if at != 0 && node.found.is_none() {
            node.found = Some((number, node.depth));
        }
    }

    fn child(&mut self, at: usize, byte: u8) -> usize {
        match self.children[at].iter().find(|(edge, _)| *edge == byte) {
            Some(&(_, child)) => child as usize,
            None => {
                let child = self.nodes.len();
                let Node { depth, fail, .. } = self.nodes[at];
                // Behind a suffix, as in it, only its own text is known.
                let fail = if fail == ANEW { ANEW } else { 0 };
                self.nodes.push(Node { depth: depth + 1, fail, ..Node::default() });
                self.children.push(Vec::new());
                self.children[at].push((byte, index(child)));
                child
            }
        }
    }

    /// The node behind the first byte of a suffix's word; every further byte of it leads back there.
    fn suffix(&mut self, at: usize) -> usize {
        let colon = self.child(at, b':');
        self.nodes[colon].fail = ANEW;
        let any = (0..=u8::MAX).find(|byte| is_word(*byte)).unwrap_or_default();
        let word = self.child(colon, any);
        for byte in (0..=u8::MAX).filter(|byte| is_word(*byte)) {
            for from in [colon, word] {
                let edges = &mut self.children[from];
                edges.retain(|(edge, _)| *edge != byte);
                edges.push((byte, index(word)));
            }
        }
        word
    }
}

/// Breadth first: where each node falls back to, and the patterns that end inside it.
pub(super) fn link(nodes: &mut [Node], children: &[Vec<(u8, u32)>]) {
    let mut queue: VecDeque<u32> = children[0].iter().map(|&(_, child)| child).collect();
    while let Some(at) = queue.pop_front() {
        for &(byte, child) in &children[at as usize] {
            // A suffix is as long as it is, so nodes do not tell what ends inside it.
            if nodes[child as usize].fail == ANEW {
                continue;
            }
            if nodes[at as usize].fail == ANEW {
                nodes[child as usize].fail = ANEW;
                queue.push_back(child);
                continue;
            }
            let mut fail = nodes[at as usize].fail;
            let target = loop {
                if let Some(&(_, next)) = children[fail as usize].iter().find(|(edge, _)| *edge == byte) {
                    break next;
                }
                if fail == 0 {
                    break 0;
                }
                fail = nodes[fail as usize].fail;
            };
            if nodes[target as usize].fail == ANEW {
                nodes[child as usize].fail = ANEW;
                queue.push_back(child);
                continue;
            }
            nodes[child as usize].fail = target;
            if nodes[child as usize].found.is_none() {
                nodes[child as usize].found = nodes[target as usize].found;
            }
            queue.push_back(child);
        }
    }
}

/// Nodes are counted in 32 bits: an automaton is far smaller than that.
pub(super) fn index(place: usize) -> u32 {
    u32::try_from(place).unwrap_or(u32::MAX)
}
