//! One answer on its way into columns.

use std::ops::Range;

use del_dialects::{Event, FaultKind, Sink, Span};

/// An answer, while it is read: what a [`Message`](del_dialects::Message) has of it that stands in columns. Its texts lie
/// in buffers, which the next answer uses again after [`clear`](Self::clear).
#[derive(Debug, Clone, Default)]
pub struct Answer {
    dialect: String,
    pub(crate) content: String,
    pub(crate) reasoning: String,
    calls: Vec<Call>,
    open: Option<Call>,
    /// Ids, names and arguments, one behind another.
    texts: String,
    pub(crate) faults: Vec<FaultKind>,
}

/// Where the parts of a call lie.
#[derive(Debug, Clone)]
struct Call {
    id: Option<Range<usize>>,
    name: Range<usize>,
    arguments: Range<usize>,
}

impl Answer {
    /// Another answer may come.
    pub fn clear(&mut self) {
        self.dialect.clear();
        self.content.clear();
        self.reasoning.clear();
        self.calls.clear();
        self.open = None;
        self.texts.clear();
        self.faults.clear();
    }

    /// The dialect of the first call.
    pub(crate) fn dialect(&self) -> Option<&str> {
        Some(self.dialect.as_str()).filter(|name| !name.is_empty())
    }

    /// Id, name and arguments of the calls that are complete.
    pub(crate) fn calls(&self) -> impl ExactSizeIterator<Item = (Option<&str>, &str, &str)> {
        let text = |range: &Range<usize>| &self.texts[range.clone()];
        self.calls
            .iter()
            .map(move |call| (call.id.as_ref().map(text), text(&call.name), text(&call.arguments)))
    }

    fn keep(&mut self, text: &str) -> Range<usize> {
        let start = self.texts.len();
        self.texts.push_str(text);
        start..self.texts.len()
    }
}

impl Sink for Answer {
    fn event(&mut self, event: Event<'_>, _: Span) {
        match event {
            Event::Text(text) => self.content.push_str(text),
            Event::Reasoning(text) => self.reasoning.push_str(text),
            Event::CallStart { name, id, dialect, .. } => {
                if self.dialect.is_empty() {
                    self.dialect.push_str(dialect);
                }
                let (id, name) = (id.map(|id| self.keep(id)), self.keep(name));
                self.open = Some(Call { id, name, arguments: self.texts.len()..self.texts.len() });
            }
            Event::Args { json, .. } => {
                if let Some(call) = &mut self.open {
                    self.texts.push_str(json);
                    call.arguments.end = self.texts.len();
                }
            }
            Event::CallEnd { id, .. } => {
                if let Some(mut call) = self.open.take() {
                    if let (None, Some(id)) = (&call.id, id) {
                        call.id = Some(self.keep(id));
                    }
                    self.calls.push(call);
                }
            }
            Event::Fault(fault) => {
                if fault.kind.ends_call() {
                    self.open = None;
                }
                self.faults.push(fault.kind);
            }
        }
    }
}
