//! The nodes of an automaton, made from its spellings.

use std::collections::VecDeque;

use super::{MAX_WORD, SUFFIX, Scan, is_word};

/// A trie with links to fall back by. Node 0 is its root.
#[derive(Debug, Clone)]
pub(super) struct Nodes {
    all: Vec<Node>,
    /// The byte that leads to each node: the text of a run stands in one piece.
    bytes: Vec<u8>,
    /// The children of all nodes: the bytes that lead to them, and which they are.
    keys: Vec<u8>,
    children: Vec<u32>,
    /// The children of the root, by byte; 0 where there is none.
    root: Box<[u32; 256]>,
}

#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Node {
    /// This node's children: a range of `Nodes::keys`.
    from: u32,
    to: u32,
    /// The longest proper suffix of this node's text that is a node, or [`ANEW`].
    pub(super) fail: u32,
    /// How long this node's text is; a suffix counts with a word of one byte.
    pub(super) depth: u32,
    /// So many of the nodes that follow in order are each the only child of the one before, and nothing ends at them.
    run: u32,
    /// The pattern that ends here, as a whole or as a suffix of this node's text, and how long it is.
    pub(super) found: Option<(u16, u32)>,
}

/// In place of a node to fall back to: begin again behind the first byte.
pub(super) const ANEW: u32 = u32::MAX;

impl Node {
    /// True when no spelling goes on here.
    pub(super) fn is_leaf(&self) -> bool {
        self.from == self.to
    }
}

impl Nodes {
    pub(super) fn new<'p>(patterns: impl Iterator<Item = &'p str>) -> Self {
        let patterns: Vec<(u16, &str)> = (0..=u16::MAX).zip(patterns).collect();
        let mut trie = Trie::for_bytes(patterns.iter().map(|(_, pattern)| pattern.len()).sum());
        trie.grow(0, Node::default());
        // What a suffix stands for takes the place of the same word spelled out.
        let (any, plain): (Vec<_>, Vec<_>) =
            patterns.into_iter().partition(|(_, pattern)| pattern.contains(SUFFIX));
        for (number, pattern) in any.into_iter().chain(plain) {
            trie.add(number, pattern.as_bytes());
        }
        trie.link();
        trie.finish()
    }

    pub(super) fn at(&self, node: u32) -> &Node {
        &self.all[node as usize]
    }

    /// How much of the text at hand is still that of a node where this one is fallen back from, in bytes.
    pub(super) fn left(&self, scan: &Scan) -> u32 {
        let node = self.at(scan.node);
        if node.fail == ANEW { node.depth + scan.extra - 1 } else { self.at(node.fail).depth }
    }

    /// Follows the run behind the node at hand as far as `rest` does. Returns how far.
    pub(super) fn stride(&self, scan: &mut Scan, rest: &[u8]) -> usize {
        let at = scan.node as usize;
        let run = self.all[at].run as usize;
        if run == 0 {
            return 0;
        }
        let text = &self.bytes[at + 1..=at + run];
        if rest.first() != text.first() {
            return 0;
        }
        let len = if rest.starts_with(text) {
            run
        } else {
            text.iter().zip(rest).take_while(|(one, other)| one == other).count()
        };
        scan.node += index(len);
        if let Some(candidate) = &mut scan.candidate {
            candidate.since += index(len);
        }
        len
    }

    /// The node behind the next byte.
    pub(super) fn advance(&self, scan: &mut Scan, byte: u8) -> Option<&Node> {
        let child = self.child(scan.node, byte)?;
        // Only the word of a suffix leads back to itself.
        if child == scan.node {
            if scan.extra as usize + 1 == MAX_WORD {
                return None;
            }
            scan.extra += 1;
        }
        scan.node = child;
        self.all.get(child as usize)
    }

    fn child(&self, node: u32, byte: u8) -> Option<u32> {
        if node == 0 {
            return Some(self.root[byte as usize]).filter(|child| *child != 0);
        }
        let Node { from, to, .. } = self.all[node as usize];
        let place = self.keys[from as usize..to as usize].iter().position(|key| *key == byte)?;
        Some(self.children[from as usize + place])
    }
}

/// The nodes while they are gathered.
struct Trie {
    nodes: Vec<Node>,
    bytes: Vec<u8>,
    /// The last edge of each node, or [`NONE`].
    last: Vec<u32>,
    edges: Vec<Edge>,
}

/// From a node to a child of it.
#[derive(Clone, Copy)]
struct Edge {
    key: u8,
    child: u32,
    /// The edge of the same node before this one, or [`NONE`].
    before: u32,
}

const NONE: u32 = u32::MAX;

impl Trie {
    fn for_bytes(bytes: usize) -> Self {
        let nodes = bytes + 1;
        Self {
            nodes: Vec::with_capacity(nodes),
            bytes: Vec::with_capacity(nodes),
            last: Vec::with_capacity(nodes),
            edges: Vec::with_capacity(bytes),
        }
    }

    fn grow(&mut self, byte: u8, node: Node) -> u32 {
        self.nodes.push(node);
        self.bytes.push(byte);
        self.last.push(NONE);
        index(self.nodes.len() - 1)
    }

    fn add(&mut self, number: u16, pattern: &[u8]) {
        let mut at = 0;
        for &byte in pattern {
            at = if byte == SUFFIX as u8 { self.suffix(at) } else { self.child(at, byte) };
        }
        let node = &mut self.nodes[at as usize];
        if at != 0 && node.found.is_none() {
            node.found = Some((number, node.depth));
        }
    }

    fn edges(&self, at: u32) -> impl Iterator<Item = Edge> {
        let edge = |place: u32| self.edges.get(place as usize).copied();
        std::iter::successors(edge(self.last[at as usize]), move |last| edge(last.before))
    }

    fn edge_of(&self, at: u32, key: u8) -> Option<u32> {
        self.edges(at).find(|edge| edge.key == key).map(|edge| edge.child)
    }

    fn join(&mut self, at: u32, key: u8, child: u32) {
        self.edges.push(Edge { key, child, before: self.last[at as usize] });
        self.last[at as usize] = index(self.edges.len() - 1);
    }

    fn child(&mut self, at: u32, byte: u8) -> u32 {
        if let Some(child) = self.edge_of(at, byte) {
            return child;
        }
        let Node { depth, fail, .. } = self.nodes[at as usize];
        // Behind a suffix, as in it, only its own text is known.
        let fail = if fail == ANEW { ANEW } else { 0 };
        let child = self.grow(byte, Node { depth: depth + 1, fail, ..Node::default() });
        self.join(at, byte, child);
        child
    }

    /// The node behind the first byte of a suffix's word; every further byte of it leads back there.
    fn suffix(&mut self, at: u32) -> u32 {
        let colon = self.child(at, b':');
        self.nodes[colon as usize].fail = ANEW;
        let words = || (0..=u8::MAX).filter(|byte| is_word(*byte));
        if let Some(word) = words().next().and_then(|byte| self.edge_of(colon, byte)) {
            return word;
        }
        let depth = self.nodes[colon as usize].depth + 1;
        let word = self.grow(0, Node { depth, fail: ANEW, ..Node::default() });
        for byte in words() {
            self.join(colon, byte, word);
            self.join(word, byte, word);
        }
        word
    }

    /// Breadth first: where each node falls back to, and the patterns that end inside it.
    fn link(&mut self) {
        let mut queue: VecDeque<u32> = self.edges(0).map(|edge| edge.child).collect();
        while let Some(at) = queue.pop_front() {
            let mut place = self.last[at as usize];
            while let Some(&Edge { key, child, before }) = self.edges.get(place as usize) {
                place = before;
                // A suffix is as long as it is, so nodes do not tell what ends inside it.
                if self.nodes[child as usize].fail == ANEW {
                    continue;
                }
                queue.push_back(child);
                let target = match self.nodes[at as usize].fail {
                    ANEW => None,
                    fail => Some(self.fall(fail, key)).filter(|to| self.nodes[*to as usize].fail != ANEW),
                };
                let Some(target) = target else {
                    self.nodes[child as usize].fail = ANEW;
                    continue;
                };
                let found = self.nodes[target as usize].found;
                let node = &mut self.nodes[child as usize];
                node.fail = target;
                node.found = node.found.or(found);
            }
        }
    }

    /// Where `key` leads from the node `at`, or from the first that it falls back to from which it leads anywhere.
    fn fall(&self, mut at: u32, key: u8) -> u32 {
        loop {
            match self.edge_of(at, key) {
                Some(child) => return child,
                None if at == 0 => return 0,
                None => at = self.nodes[at as usize].fail,
            }
        }
    }

    fn finish(mut self) -> Nodes {
        let edges = self.edges.len();
        let (mut keys, mut children) = (Vec::with_capacity(edges), Vec::with_capacity(edges));
        let mut root = Box::new([0; 256]);
        for edge in self.edges(0) {
            root[edge.key as usize] = edge.child;
        }
        for at in (0..self.nodes.len()).rev() {
            let from = keys.len();
            for edge in self.edges(index(at)) {
                keys.push(edge.key);
                children.push(edge.child);
            }
            let only = matches!(children[from..], [child] if child as usize == at + 1);
            let next = self.nodes.get(at + 1).filter(|next| only && next.found.is_none());
            let run = next.map_or(0, |next| next.run + 1);
            let node = &mut self.nodes[at];
            (node.from, node.to) = (index(from), index(keys.len()));
            // The root is where nothing is known of what comes.
            node.run = if at == 0 { 0 } else { run };
        }
        // Where many spellings begin alike, far fewer nodes are kept than bytes were given.
        self.nodes.shrink_to_fit();
        self.bytes.shrink_to_fit();
        Nodes { all: self.nodes, bytes: self.bytes, keys, children, root }
    }
}

/// Nodes are counted in 32 bits: an automaton is far smaller than that.
fn index(place: usize) -> u32 {
    u32::try_from(place).unwrap_or(u32::MAX)
}
