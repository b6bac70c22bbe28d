//! What a header says, and where its body goes.

use crate::dialect::{Channels, Route};
use crate::parse::character::first_char;
use crate::parse::plan::{Plan, Walk};

/// Where a body goes.
pub(super) enum Way<'h> {
    Text,
    Thought,
    Call(&'h str),
    Dropped,
    /// Somebody else's message, which the model made up.
    Invented,
}

/// What a header says.
pub(in crate::parse) struct Said<'h> {
    author: Option<&'h str>,
    pub(in crate::parse) recipient: Option<&'h str>,
    channel: Option<&'h str>,
    pub(in crate::parse) content: Option<&'h str>,
    message: &'h str,
}

impl<'h> Said<'h> {
    /// A header that names nothing but its channel.
    pub(in crate::parse) fn of_channel(channel: &'h str) -> Self {
        Self { author: None, recipient: None, channel: Some(channel), content: None, message: "" }
    }

    /// Reads a header such as `<|start|>assistant<|channel|>commentary to=functions.f <|constrain|>json`.
    pub(super) fn read(header: &'h str, channels: &Channels, message: &'h str) -> Self {
        let mut said = Self { author: None, recipient: None, channel: None, content: None, message };
        let (mut author, mut channel) = (false, false);
        let mut rest = header;
        let behind =
            |marks: &[String], rest: &'h str| marks.iter().find_map(|mark| rest.strip_prefix(mark.trim()));
        loop {
            rest = rest.trim_start();
            if rest.is_empty() {
                return said;
            }
            if let Some(behind) = behind(&channels.start, rest) {
                (author, channel, rest) = (!channels.author.is_empty(), false, behind);
                continue;
            }
            if let Some(behind) = behind(&channels.constrain, rest) {
                (author, channel, rest) = (false, false, behind);
                continue;
            }
            if let Some(behind) = behind(&channels.channel, rest) {
                // A channel behind a channel takes the place of a recipient that is no tool.
                let again = said.channel.is_some();
                said.recipient = said.recipient.filter(|to| !again || !channels.routes.contains_key(*to));
                // What stands before the channel may be a recipient alone: no author follows any more.
                (author, channel, rest) = (false, true, behind);
                continue;
            }
            let first = first_char(rest, 0);
            let end = rest[first..].find(|c: char| c.is_whitespace() || c == '<');
            let (word, behind) = rest.split_at(end.map_or(rest.len(), |at| first + at));
            rest = behind;
            match word.strip_prefix(channels.recipient.as_str()) {
                Some(to) if !channels.recipient.is_empty() || !author => said.recipient = Some(to),
                _ if author && channels.joined(word).is_some() => {
                    author = false;
                    said.recipient = channels.joined(word);
                }
                _ if std::mem::take(&mut author) => said.author = Some(word),
                _ if std::mem::take(&mut channel) => {
                    said.channel = word.split(['?', '!', '.', ',', ';']).next();
                }
                _ => said.content = Some(word),
            }
        }
    }

    /// Where the body goes; `names` says that the body of a call names its tool.
    pub(super) fn way(&self, channels: &Channels, names: bool) -> Way<'h> {
        if self.author.is_some_and(|author| author != channels.author) {
            return Way::Invented;
        }
        let route = |name: &str| channels.routes.get(name).copied();
        let tool = self.recipient.filter(|to| !to.is_empty());
        let of_channel = self.channel.and_then(route);
        let way = match (route(self.message), tool) {
            (Some(way), _) => way,
            (None, Some(tool)) => route(tool).unwrap_or(Route::Call),
            // A body in the form of calls, on no channel that has another meaning, is a call without a name, or in none
            // an answer.
            (None, None) if of_channel.is_none() && self.is_typed(channels) => {
                if names || self.channel.is_some() { Route::Call } else { Route::Text }
            }
            (None, None) => of_channel.unwrap_or(Route::Text),
        };
        match way {
            Route::Text => Way::Text,
            Route::Reasoning => Way::Thought,
            Route::Dropped => Way::Dropped,
            Route::Call => {
                let tool = tool.unwrap_or_default();
                Way::Call(tool.strip_prefix(channels.prefix.as_str()).unwrap_or(tool))
            }
        }
    }

    fn is_typed(&self, channels: &Channels) -> bool {
        !channels.content.is_empty() && self.content == Some(channels.content.as_str())
    }

    /// How well the header fits a dialect; more is better, and of equals the later number in order, which is the
    /// earlier dialect.
    pub(super) fn fits(&self, walk: usize, plan: &Plan) -> (u8, std::cmp::Reverse<usize>) {
        let order = std::cmp::Reverse(walk);
        let walk: &Walk = &plan.walks[walk];
        let Some(channels) = walk.channels() else { return (0, order) };
        let own = match (&walk.dialect.tool, self.recipient) {
            (Some(tool), recipient) if recipient != Some(tool.as_str()) => return (0, order),
            (Some(_), _) => 8,
            (None, _) => 0,
        };
        let prefix = !channels.prefix.is_empty()
            && self.recipient.is_some_and(|to| to.starts_with(channels.prefix.as_str()));
        let same = self.channel.is_none() == channels.channel.is_empty();
        let score = own + 4 * u8::from(self.is_typed(channels)) + 2 * u8::from(prefix) + u8::from(same);
        (score + 1, order)
    }
}

impl Channels {
    /// The recipient in a word that is author and recipient at once.
    pub(super) fn joined<'h>(&self, word: &'h str) -> Option<&'h str> {
        let to = word.strip_prefix(self.author.as_str()).filter(|_| !self.recipient.is_empty())?;
        to.strip_prefix(self.recipient.as_str())
    }
}
