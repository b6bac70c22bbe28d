//! Formats in which headers route bodies.

use std::collections::BTreeMap;

use super::record::{record, variants};

record! {
    /// How the headers of a channel format are read. How they are written, the pieces of a call say.
    pub struct Channels keys(table) {
        /// Opens a message, before its header: `<|start|>`, in all spellings.
        pub start: Vec<String> as some_marks,
        /// The author that follows [`start`](Self::start) in the model's own messages: `assistant`. Empty where headers
        /// name none.
        pub author: String = String::new(),
        /// Stands before the recipient: `to=`. Where it is empty, the recipient is all there is between the marks.
        pub recipient: String = String::new(),
        /// What else a header may begin with, where the opening mark was left out.
        pub also: Vec<String> where (false) =
            if recipient.is_empty() { Vec::new() } else { vec![format!(" {recipient}")] },
        /// Names the channel inside the header: `<|channel|>`.
        pub channel: Vec<String> as marks = Vec::new(),
        /// Channels whose names are known for headers where a server took the marks out.
        pub bare: Vec<String> where (!channel.is_empty()) = Vec::new(),
        /// Stands before the content type: `<|constrain|>`.
        pub constrain: Vec<String> as marks = Vec::new(),
        /// Ends the header: `<|message|>`.
        pub message: Vec<String> as some_marks,
        /// True where only a recipient that has a route or is a declared tool, or an object behind it, makes a header:
        /// one that only white space ends looks like any line.
        pub known: bool where (false) = message.iter().any(|mark| mark.trim().is_empty()),
        /// End a body: `<|end|>`, `<|return|>`, `<|call|>`.
        pub ends: Vec<String> as marks = Vec::new(),
        /// Where bodies go, by the mark that ends the header, by the recipient, or by the channel. Any other recipient is
        /// a tool, and anything else without a recipient is for the user.
        pub routes: BTreeMap<String, Route>,
        /// Stands before a tool's name in a recipient: `functions.`.
        pub prefix: String = String::new(),
        /// The content type that calls are written with.
        pub content: String = String::new(),
        /// How messages that are no calls are written.
        pub written: Written = Written::default(),
    }
}

record! {
    /// Headers as they are written. The first message of an answer has no more than that; before any other stand the end
    /// of the one before, the opening mark and the author.
    pub struct Written keys(table) {
        /// Before thinking.
        pub reasoning: String = String::new(),
        /// Before text.
        pub text: String = String::new(),
        /// Before text that calls follow, where it is another.
        pub preamble: String = String::new(),
        /// Behind thinking or text that something follows.
        pub end: String = String::new(),
    }
}

/// Where a body goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Route {
    /// To the user.
    Text,
    /// It is thinking.
    Reasoning,
    /// It is a call.
    Call,
    /// It is for nobody.
    Dropped,
}

variants!(Route { Text = "text", Reasoning = "reasoning", Call = "call", Dropped = "dropped" });

impl Channels {
    /// The marks that open a header wherever they stand.
    pub fn openers(&self) -> impl Iterator<Item = &String> {
        let routed = self.message.iter().filter(|mark| self.routes.contains_key(mark.trim()));
        self.start.iter().chain(&self.channel).chain(&self.also).chain(routed)
    }

    /// What headers without their marks begin with, inside an answer: the author, and behind it a channel.
    pub(crate) fn residues(&self) -> impl Iterator<Item = String> {
        self.bare.iter().map(|channel| format!("{}{channel}", self.author))
    }

    /// All marks of headers and bodies.
    pub fn marks(&self) -> impl Iterator<Item = &String> {
        let header = self.start.iter().chain(&self.also).chain(&self.channel).chain(&self.constrain);
        header.chain(&self.message).chain(&self.ends)
    }
}
