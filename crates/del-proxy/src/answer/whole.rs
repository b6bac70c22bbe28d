//! An answer that comes at once.

use std::collections::BTreeSet;

use del_dialects::{End, FaultKind, Report};
use del_wire::chat::to_client::Chat;
use del_wire::{
    ApiError, Blocks, Chunk, Delta, Finish, FromServer, Ids, Paragraphs, Piece, Raw, ToClient, Told,
    ToldChoice, WireError, read_finite,
};

use super::choice::Choice;
use super::together::together;
use super::{Asking, Reader, Summary, leave_out, note_unread};

/// An answer for the client.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Answer {
    /// Its JSON.
    pub body: String,
    /// The dialect of its first call.
    pub dialect: Option<String>,
    /// The ids of the calls whose arguments recovery may have changed.
    pub changed: Vec<String>,
    /// The same, and what was guessed first.
    pub guesses: Vec<(String, FaultKind)>,
    /// The calls that do not count.
    pub broken: Vec<Report>,
    /// The first choice ended at a limit of tokens.
    pub cut: bool,
    /// The tools that were called although they may not be, and whose calls are left out.
    pub refused: Vec<String>,
    /// The kinds of what is left out, as the client's API has no place for it.
    pub left_out: BTreeSet<String>,
    /// How many calls are in it.
    pub calls: usize,
    /// The same, and all else that can be told without a word of what it says.
    pub summary: Summary,
    /// What the model is asked again with, where the first choice wants that and has no call.
    pub asking: Option<Asking>,
    /// What the first choice amounts to.
    pub blocks: Blocks,
    /// The same of the first that has no call, though no limit of tokens ended it.
    pub lacking: Option<Blocks>,
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Trouble {
    /// It is not one of a model server.
    #[error("expected a chat completion: {0}")]
    Garbage(String),
    /// The server gave up: why, and all that it said.
    #[error("{0}")]
    Refused(ApiError, String),
}

/// Turns a completion into that for the client. Members that are not known here stay what they are.
pub fn translate(reader: &Reader, ids: Ids, body: &str) -> Result<Answer, Trouble> {
    translate_between(reader, ids, body, FromServer::chat(), &mut Chat::new(0, false))
}

/// Turns the answer of a server of one API into that for a client of another.
pub fn translate_between(
    reader: &Reader,
    mut ids: Ids,
    body: &str,
    mut server: FromServer,
    client: &mut dyn ToClient,
) -> Result<Answer, Trouble> {
    let is_chat = server.is_chat();
    let read = |body: &str| Ok(translated(reader, &mut ids, body, server.whole(body)?, is_chat, client));
    match read_finite(body, read) {
        Ok(answer) => answer,
        Err(error) => match together(&mut server, body) {
            // What comes in pieces is written anew.
            Some(Ok(chunk)) => translated(reader, &mut ids, body, chunk, false, client),
            Some(Err(reason)) => Err(Trouble::Garbage(reason)),
            None => Err(Trouble::Garbage(WireError::to_string(&error))),
        },
    }
}

/// The same of an answer that was read: `body` is what it was read from.
fn translated(
    reader: &Reader,
    ids: &mut Ids,
    body: &str,
    chunk: Chunk,
    is_chat: bool,
    client: &mut dyn ToClient,
) -> Result<Answer, Trouble> {
    if let Some(error) = chunk.error {
        return Err(Trouble::Refused(*error, body.to_owned()));
    }
    let as_reasoning = chunk.choices.iter().any(|delta| delta.as_reasoning);
    let summary = Summary { usage: chunk.usage, as_reasoning, ..Summary::default() };
    let mut answer = Answer { summary, ..Answer::default() };
    note_unread(&chunk, is_chat, client, &mut answer.left_out);
    let mut choices: Vec<(Choice, ToldChoice, &Delta)> = Vec::with_capacity(chunk.choices.len());
    for (place, delta) in chunk.choices.iter().enumerate() {
        // Chats say all of a choice in one place, and may leave out its number.
        let same = |(_, told, _): &(Choice, ToldChoice, &Delta)| !is_chat && told.index == delta.choice;
        let at = choices.iter().position(same).unwrap_or(choices.len());
        if at == choices.len() {
            let told =
                ToldChoice { index: delta.choice, place: Some(place), first: true, ..ToldChoice::default() };
            choices.push((Choice::at_once(reader), told, delta));
        }
        let (choice, _, last) = &mut choices[at];
        choice.push(delta, reader, ids);
        if delta.finish.is_some() || last.finish.is_none() {
            *last = delta;
        }
    }
    let mut lacking = None;
    let choices = choices.into_iter().enumerate().map(|(place, (mut choice, mut told, last))| {
        let end = if last.finish == Some(Finish::Length) { End::Cut } else { End::End };
        choice.finish(end, reader, ids);
        let asking = choice.asking(reader).filter(|_| place == 0);
        answer.asking = answer.asking.take().or(asking);
        answer.cut |= place == 0 && end == End::Cut;
        told.reason = Some(choice.reason(last.finish, last.reason.as_deref()));
        told.pieces = choice.pieces();
        if place == 0 && !reader.before.is_empty() {
            told.pieces.insert(0, Piece::Text(reader.before.clone()));
        }
        for (kind, count) in choice.faults() {
            *answer.summary.faults.entry(kind).or_default() += count;
        }
        answer.changed.extend(choice.changed().map(str::to_owned));
        answer.guesses.extend(choice.guesses().map(|(id, kind)| (id.to_owned(), kind)));
        answer.broken.extend_from_slice(choice.broken());
        answer.refused.extend(choice.refused().iter().cloned());
        answer.calls += choice.calls();
        let lacks = choice.calls() == 0 && end == End::End;
        lacking = lacking.or(lacks.then_some(place));
        answer.dialect = answer.dialect.take().or_else(|| choice.dialect().map(str::to_owned));
        told
    });
    let mut choices: Vec<ToldChoice> = choices.collect();
    leave_out(&mut choices, client, &mut answer.left_out);
    for choice in &mut choices {
        Paragraphs::default().write(&mut choice.pieces, client.in_one());
    }
    if let Some(first) = choices.first() {
        answer.summary.reason.clone_from(&first.reason);
        answer.blocks = Blocks::of(&first.pieces);
    }
    let lacking = if choices.is_empty() { Some(&[][..]) } else { lacking.map(|at| &*choices[at].pieces) };
    answer.lacking = lacking.map(Blocks::of);
    answer.summary += Summary {
        dialect: answer.dialect.clone(),
        calls: answer.calls,
        changed: answer.changed.len(),
        refused: answer.refused.len(),
        ..Summary::default()
    };
    let raw = is_chat.then_some(Raw { json: body, text: None });
    answer.body = client.whole(&Told { raw, chunk: &chunk, choices });
    Ok(answer)
}
