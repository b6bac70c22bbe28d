//! The symbols of a text, and what its functions cost to read.

use tree_sitter::{Node, TreeCursor};

use crate::grammar::{Grammar, Shape, Sort, role};
use crate::source::Source;

/// More symbols of one text are not listed.
const MAX_SYMBOLS: usize = 20_000;
/// Characters of a qualified name.
const MAX_NAME: usize = 200;
/// Characters of a signature.
const MAX_SIGNATURE: usize = 200;

/// Bytes before a node that may hold its modifiers.
const MAX_HEADER: usize = 100;

/// What is defined in a text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outline {
    /// In the order of the text.
    pub symbols: Vec<Symbol>,
    /// Statements that import something.
    pub imports: usize,
    /// Comments that say TODO or FIXME.
    pub todos: usize,
    /// The deepest nesting in any function.
    pub nesting: usize,
}

/// Something that has a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Symbol {
    /// The word for what it is: `fn`, `method`, `class`.
    pub kind: String,
    /// With the names of what it is in: `Parser::push`.
    pub name: String,
    /// What follows the name up to the body: `(&mut self, text: &str) -> bool`.
    pub signature: String,
    /// The first line, from 1.
    pub first: usize,
    /// The last line.
    pub last: usize,
    /// Whether it is private by the convention of the language.
    pub private: bool,
    /// For functions with a body.
    pub cost: Option<Cost>,
    /// Where the name begins.
    pub(crate) at: usize,
}

/// What a function costs to read. Functions inside it count for themselves.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Cost {
    /// One more than the branches in it: about the cyclomatic complexity.
    pub complexity: usize,
    /// How deep its statements are nested.
    pub nesting: usize,
}

impl Symbol {
    /// Lines from first to last.
    pub fn lines(&self) -> usize {
        self.last + 1 - self.first
    }
}

impl Source<'_> {
    /// Reads the outline.
    pub fn outline(&self) -> Outline {
        let mut reader = Reader {
            text: self.text,
            grammar: self.grammar,
            outline: Outline::default(),
            scopes: Vec::new(),
            above: Vec::new(),
            nests: Vec::new(),
        };
        self.walk(|cursor, depth| reader.enter(cursor, depth));
        reader.outline
    }
}

struct Reader<'a> {
    text: &'a str,
    grammar: &'a Grammar,
    outline: Outline,
    scopes: Vec<Scope>,
    /// The kinds of the nodes above.
    above: Vec<u16>,
    /// The depths of the nesting nodes above.
    nests: Vec<usize>,
}

/// A node that qualifies what is in it.
struct Scope {
    depth: usize,
    path: String,
    /// The innermost function that it is or is in.
    function: Option<usize>,
    is_type: bool,
    /// Nothing in it is private.
    open: bool,
    /// The section that begins to be read is private.
    hidden: bool,
    /// Nesting nodes around that function.
    nests: usize,
}

impl Reader<'_> {
    fn enter(&mut self, cursor: &TreeCursor<'_>, depth: usize) -> bool {
        let node = cursor.node();
        let kind = node.kind_id();
        self.above.truncate(depth);
        self.above.push(kind);
        while self.scopes.last().is_some_and(|scope| scope.depth >= depth) {
            self.scopes.pop();
        }
        while self.nests.last().is_some_and(|at| *at >= depth) {
            self.nests.pop();
        }
        let Some(meaning) = self.grammar.meaning(kind) else { return true };
        if self.grammar.is(kind, role::COMMENT) {
            let text = &self.text[node.byte_range()];
            self.outline.todos += usize::from(is_todo(text));
            return false;
        }
        self.outline.imports += usize::from(self.grammar.is(kind, role::IMPORT));
        if let Some(shape) = &meaning.symbol {
            self.symbol(node, shape, depth);
        } else if let Some(field) = meaning.scope {
            self.scope(node, field, depth);
        }
        if self.grammar.is(kind, role::SECTION) {
            self.section(node, depth);
        }
        self.count(cursor, kind, depth);
        true
    }

    fn count(&mut self, cursor: &TreeCursor<'_>, kind: u16, depth: usize) {
        let branch = self.grammar.is(kind, role::BRANCH);
        let itself = self.grammar.is(kind, role::VALUE)
            && self.scopes.last().is_some_and(|scope| scope.depth + 1 == depth);
        let nest = self.grammar.is(kind, role::NEST) && !itself && !self.is_alternative(cursor, depth);
        if nest {
            self.nests.push(depth);
        }
        if !branch && !nest {
            return;
        }
        let Some(scope) = self.scopes.last() else { return };
        let nesting = self.nests.len() - scope.nests;
        let cost = scope.function.and_then(|at| self.outline.symbols.get_mut(at)?.cost.as_mut());
        if let Some(cost) = cost {
            cost.complexity += usize::from(branch);
            cost.nesting = cost.nesting.max(nesting);
            self.outline.nesting = self.outline.nesting.max(nesting);
        }
    }

    /// The second part of an `else if` is not one level deeper.
    fn is_alternative(&self, cursor: &TreeCursor<'_>, depth: usize) -> bool {
        let above = depth.checked_sub(1).and_then(|at| self.above.get(at));
        let behind_else =
            above.and_then(|kind| self.grammar.parser.node_kind_for_id(*kind)) == Some("else_clause");
        behind_else || cursor.field_name() == Some("alternative")
    }

    fn scope(&mut self, node: Node<'_>, field: u16, depth: usize) {
        let name = node.child_by_field_id(field).map_or("", |name| &self.text[name.byte_range()]);
        let path = self.qualified(plain(name), &self.grammar.joint);
        let open = self.is_open(node);
        let (function, nests) = self.around();
        self.push(Scope { depth, path, function, is_type: true, open, hidden: false, nests });
    }

    fn symbol(&mut self, node: Node<'_>, shape: &Shape, depth: usize) {
        let Some(found) = self.find(node, shape) else { return };
        let inside = self.scopes.last();
        let in_type = inside.is_some_and(|scope| scope.is_type);
        if shape.form.outside && inside.is_some_and(|scope| scope.function.is_some()) {
            return;
        }
        let function = shape.sort == Sort::Function;
        let mut name = on_one_line(&self.text[found.name.byte_range()], MAX_NAME);
        if let Some(owner) = found.owner {
            name = format!("{}{}{name}", receiver(&self.text[owner.byte_range()]), self.grammar.joint);
        }
        let own_joint = Some(shape.form.joint.as_str()).filter(|joint| !joint.is_empty());
        let joint = own_joint.unwrap_or(if function { &self.grammar.member } else { &self.grammar.joint });
        let kind = match &self.grammar.method {
            Some(word) if function && in_type => word.clone(),
            _ => shape.form.kind.clone(),
        };
        let path = self.qualified(&name, joint);
        let symbol = Symbol {
            kind,
            name: path.clone(),
            signature: self.signature(&found),
            first: node.start_position().row + 1,
            last: last_line(node),
            private: self.is_private(node, found.name),
            cost: (function && found.body.is_some()).then_some(Cost { complexity: 1, nesting: 0 }),
            at: found.name.start_byte(),
        };
        // Some nodes wrap another that says the same.
        let again = self.outline.symbols.last().is_some_and(|last| last.at == symbol.at);
        if again || self.outline.symbols.len() == MAX_SYMBOLS {
            return;
        }
        let at = self.outline.symbols.len();
        self.outline.symbols.push(symbol);
        if shape.form.flat {
            return;
        }
        let kind = node.kind_id();
        let around = self.around();
        self.push(Scope {
            depth,
            path,
            function: if function { Some(at) } else { around.0 },
            is_type: shape.sort == Sort::Type,
            open: self.is_open(node),
            hidden: self.grammar.is(kind, role::CLOSED),
            nests: if function { self.nests.len() } else { around.1 },
        });
    }

    /// The innermost function, and the nesting nodes around it.
    fn around(&self) -> (Option<usize>, usize) {
        self.scopes.last().map_or((None, 0), |scope| (scope.function, scope.nests))
    }

    fn find<'t>(&self, node: Node<'t>, shape: &Shape) -> Option<Found<'t>> {
        let field = |node: Node<'t>, name| node.child_by_field_name(name);
        let holder = match shape.value {
            Some(value) => {
                let value = node.child_by_field_id(value)?;
                if !self.grammar.is(value.kind_id(), role::VALUE) {
                    return None;
                }
                value
            }
            None => node,
        };
        if let Some(needed) = shape.needs {
            node.child_by_field_id(needed)?;
        }
        let (name, passed) = self.innermost(node.child_by_field_id(shape.name)?, &shape.form.through);
        if !passed || name.start_byte() == name.end_byte() {
            return None;
        }
        let body = field(holder, "body");
        let parameters = field(holder, "parameters").or_else(|| field(holder, "parameter"));
        let owner = shape.owner.and_then(|owner| node.child_by_field_id(owner));
        let signature = match shape.value {
            Some(_) => parameters.map_or(name.end_byte(), |found| found.start_byte()),
            None => name.end_byte(),
        };
        if shape.sort == Sort::Other {
            let end = parameters.map_or(signature, |found| found.end_byte());
            return Some(Found { name, body, owner, signature: signature..end });
        }
        let body_start = body.map_or(usize::MAX, |body| body.start_byte());
        let end = self.last_before(holder, body_start).max(signature);
        Some(Found { name, body, owner, signature: signature..end })
    }

    /// Where the last part of a node before its body ends; comments are no part.
    fn last_before(&self, node: Node<'_>, body: usize) -> usize {
        let mut cursor = node.walk();
        let parts = node.named_children(&mut cursor).take_while(|part| part.start_byte() < body);
        let said = parts.filter(|part| !self.grammar.is(part.kind_id(), role::COMMENT));
        said.last().map_or(0, |part| part.end_byte())
    }

    /// The name inside of declarators, and whether a node of the kind `through` was among them.
    fn innermost<'t>(&self, node: Node<'t>, through: &str) -> (Node<'t>, bool) {
        let (mut at, mut passed) = (node, through.is_empty());
        loop {
            passed |= at.kind() == through;
            let kind = at.kind_id();
            let wraps = |field: u16| self.grammar.stands(kind, field, role::WITHIN);
            let declarator = self.grammar.parser.field_id_for_name("declarator").map_or(0, u16::from);
            let inner = if declarator != 0 && wraps(declarator) {
                at.child_by_field_id(declarator)
            } else if wraps(0) && declarator != 0 {
                at.named_child(0)
            } else {
                None
            };
            match inner {
                Some(inner) => at = inner,
                None => return (at, passed),
            }
        }
    }

    fn push(&mut self, scope: Scope) {
        self.scopes.push(scope);
    }

    fn qualified(&self, name: &str, joint: &str) -> String {
        let outer = self.scopes.last().map_or("", |scope| &scope.path);
        if outer.is_empty() {
            return name.to_owned();
        }
        let path = format!("{outer}{joint}{name}");
        // Of names that are nested without end, the last parts say most.
        match path.char_indices().rev().nth(MAX_NAME - 1) {
            Some((cut, _)) => format!("…{}", &path[cut..]),
            None => path,
        }
    }

    fn signature(&self, found: &Found<'_>) -> String {
        let written = &self.text[found.signature.clone()];
        let text = on_one_line(written, MAX_SIGNATURE);
        let space = if written.starts_with(char::is_whitespace) && !text.is_empty() { " " } else { "" };
        format!("{space}{text}")
    }

    fn is_open(&self, node: Node<'_>) -> bool {
        let kind = node.kind_id();
        let open = |field: u16| self.grammar.stands(kind, field, role::OPEN);
        let written = self.grammar.private.open.iter().filter_map(|place| place.split_once('.'));
        let by_field = written.filter_map(|(_, field)| self.grammar.parser.field_id_for_name(field));
        open(0) || by_field.map(u16::from).any(|field| open(field) && node.child_by_field_id(field).is_some())
    }

    fn is_private(&self, node: Node<'_>, name: Node<'_>) -> bool {
        let rules = &self.grammar.private;
        let inside = self.scopes.last();
        if inside.is_some_and(|scope| scope.open) {
            return false;
        }
        let text = &self.text[name.byte_range()];
        let dunder = text.len() > 4 && text.starts_with("__") && text.ends_with("__");
        if rules.prefixes.iter().any(|prefix| text.starts_with(prefix)) && !dunder {
            return true;
        }
        if rules.lower && !text.starts_with(char::is_uppercase) {
            return true;
        }
        if inside.is_some_and(|scope| scope.hidden) {
            return true;
        }
        let header = self.header(node, name);
        let words = || header.split(|c: char| !c.is_alphanumeric());
        if words().any(|word| rules.words.has(word)) {
            return true;
        }
        if inside.is_some() && !rules.unless.is_empty() && !words().any(|word| rules.unless.has(word)) {
            return true;
        }
        !rules.without.is_empty() && !has_child(node, name, &rules.without)
    }

    /// What stands before a name, from the beginning of the line on if that is near.
    fn header(&self, node: Node<'_>, name: Node<'_>) -> &str {
        let start = node.start_byte();
        let near = (start.saturating_sub(MAX_HEADER)..=start).find(|at| self.text.is_char_boundary(*at));
        let near = near.unwrap_or(start);
        let line = self.text[near..start].rfind(['\n', ';', '}', '{']).map_or(near, |at| near + at + 1);
        &self.text[line..name.start_byte().max(line)]
    }

    /// `private` alone, or `private:`, in the body of a scope.
    fn section(&mut self, node: Node<'_>, depth: usize) {
        let word = self.text[node.byte_range()].trim_end_matches(':').trim_end();
        let rules = &self.grammar.private;
        let (hidden, shown) = (rules.hidden.has(word), rules.shown.has(word));
        if let Some(scope) = self.scopes.last_mut().filter(|scope| depth == scope.depth + 2)
            && (hidden || shown)
        {
            scope.hidden = hidden;
        }
    }
}

struct Found<'t> {
    name: Node<'t>,
    body: Option<Node<'t>>,
    owner: Option<Node<'t>>,
    signature: std::ops::Range<usize>,
}

/// Whether a comment, or a line, says that something is to be done.
pub(crate) fn is_todo(text: &str) -> bool {
    text.contains("TODO") || text.contains("FIXME")
}

fn has_child(node: Node<'_>, before: Node<'_>, kind: &str) -> bool {
    let mut cursor = node.walk();
    node.children(&mut cursor).take_while(|child| child.id() != before.id()).any(|child| child.kind() == kind)
}

/// The last line with something of the node on it: some nodes end behind their newline.
fn last_line(node: Node<'_>) -> usize {
    let end = node.end_position();
    let behind = end.column == 0 && end.row > node.start_position().row;
    if behind { end.row } else { end.row + 1 }
}

/// A type without its parameters.
fn plain(name: &str) -> &str {
    name.split(['<', '(', '[']).next().unwrap_or(name).trim_start_matches(['&', '*']).trim()
}

/// The type of a receiver: `Parser` in `(p *Parser[T])`.
fn receiver(text: &str) -> &str {
    let text = text.trim_start_matches('(').trim_end_matches(')').split('[').next().unwrap_or_default();
    text.split_whitespace().last().unwrap_or_default().trim_start_matches('*')
}

/// `text` with every run of white space as one blank, and not longer than `most` characters.
fn on_one_line(text: &str, most: usize) -> String {
    let mut line = String::new();
    for word in text.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
        if let Some((cut, _)) = line.char_indices().nth(most) {
            line.truncate(cut);
            line.push('…');
            break;
        }
    }
    line
}
