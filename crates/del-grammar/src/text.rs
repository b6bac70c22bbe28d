//! Text that holds no call, with or without calls behind it.

use std::sync::Arc;

use del_dialects::description::{Channels, Frame, Mark, Need, Piece, Route, Slot};
use del_dialects::{Dialect, Tool};

use crate::rules::{Class, Expr, Rules};

/// Marks of fewer bytes begin a call only at the start of a line, if at all.
const MIN_DISTINCT: usize = 5;

/// `calls`, or text, or both.
pub(crate) fn around(dialect: &Dialect, tools: &[Tool], calls: Expr, rules: &mut Rules) -> Expr {
    let text = match dialect.frame() {
        Frame::Tags => {
            let marks = openers(dialect).filter_map(distinct);
            Expr::Without(minimal(&marks.chain(named(dialect, tools)).collect::<Vec<_>>()))
        }
        Frame::Bare => bare(dialect),
        Frame::Channels(channels) => Expr::Without(in_channels(dialect, channels)),
    };
    let lines = *dialect.frame() == Frame::Bare || openers_of(dialect).any(|(mark, _)| mark.line_start);
    let lead = if lines && !dialect.lead().ends_with('\n') {
        format!("{}\n", dialect.lead())
    } else {
        dialect.lead().to_owned()
    };
    let text = rules.add("text", text);
    let calls = rules.add("calls", calls);
    let behind = Expr::sequence([Expr::Literal(lead), calls.clone()]).optional();
    Expr::choice([calls, Expr::sequence([text, behind])])
}

/// A thought before calls, if models think in this dialect. `started` says that calls bring the mark that opens their
/// message.
pub(crate) fn thought(dialect: &Dialect, started: bool) -> Option<Expr> {
    if let Frame::Channels(channels) = dialect.frame() {
        let (name, _) = channels.routes.iter().find(|(_, route)| **route == Route::Reasoning)?;
        let message = channels.message.first()?;
        let header = if channels.message.contains(name) {
            name.clone()
        } else if let Some(channel) = channels.channel.first() {
            format!("{channel}{name}{message}")
        } else {
            format!(" {}{name}{message}", channels.recipient)
        };
        let next = format!("{}{}", channels.start.first()?, channels.author);
        let end = format!("{}{}", channels.ends.first()?, if started { "" } else { next.as_str() });
        let marks: Vec<String> = channels.marks().cloned().collect();
        return Some(Expr::sequence([
            Expr::Literal(header),
            Expr::Without(minimal(&marks)),
            Expr::Literal(end),
        ]));
    }
    let reasoning = dialect.reasoning()?;
    let begin = Expr::text(reasoning.begin.first()?.trim());
    let begin = if reasoning.prefilled { begin.optional() } else { begin };
    let end = Expr::text(reasoning.end.first()?.trim());
    let ends = reasoning.end.iter().map(|end| end.trim().to_owned());
    let never: Vec<String> = ends.chain(openers(dialect).filter_map(distinct)).collect();
    let lines = Expr::text("\n").repeat(0, Some(4));
    Some(Expr::sequence([begin, Expr::Without(minimal(&never)), end, lines]))
}

/// What no text and no thinking has in a format of channels: the mark that begins the body of a call, or the header's
/// mark that is only for calls, or the beginning of a tool's name.
fn in_channels(dialect: &Dialect, channels: &Channels) -> Vec<String> {
    let first = dialect.body().iter().find_map(|piece| match piece {
        Piece::Mark(mark, _) => mark.read.first().cloned(),
        _ => None,
    });
    let calls =
        channels.routes.iter().find(|(_, route)| **route == Route::Call).map(|(mark, _)| mark.clone());
    let to = if channels.recipient.is_empty() {
        channels.start.first().cloned().unwrap_or_default()
    } else {
        format!(" {}{}", channels.recipient, channels.prefix)
    };
    let own = !matches!(dialect.body().first(), Some(Piece::Args(_)));
    vec![first.filter(|_| own).or(calls).unwrap_or(to)]
}

/// Text in which no line begins as a call does, nor with white space before that at its very beginning.
fn bare(dialect: &Dialect) -> Expr {
    let mut words: Vec<String> = openers(dialect).filter_map(distinct).collect();
    let mut firsts: Vec<char> = openers(dialect)
        .filter(|(_, spelling)| spelling.len() < MIN_DISTINCT && !spelling.starts_with('`'))
        .filter_map(|(_, spelling)| spelling.chars().next())
        .collect();
    if let Some(Piece::Args(_)) = dialect.call().first() {
        firsts.push('{');
    }
    firsts.sort_unstable();
    firsts.dedup();
    words.extend(firsts.iter().map(|first| format!("\n{first}")));
    let starts = words.iter().filter_map(|word| word.chars().next()).chain(firsts.iter().copied());
    let mut never: Vec<char> = starts.chain([' ', '\t', '\r', '\n']).collect();
    never.sort_unstable();
    never.dedup();
    let never: Vec<(char, char)> = never.into_iter().map(|c| (c, c)).collect();
    Expr::sequence([Expr::Class(Class::not(&never)), Expr::Without(minimal(&words))]).optional()
}

/// The marks that a group of calls may begin with, in all their spellings: those up to the first that has to be there.
fn openers(dialect: &Dialect) -> impl Iterator<Item = (&Mark, &str)> {
    std::iter::once(dialect).chain(dialect.variants().iter().map(Arc::as_ref)).flat_map(openers_of)
}

fn openers_of(dialect: &Dialect) -> impl Iterator<Item = (&Mark, &str)> {
    let call = dialect.call().iter().map_while(|piece| match piece {
        Piece::Mark(mark, _) => Some(mark),
        _ => None,
    });
    let mut found = false;
    let marks = dialect
        .block()
        .open
        .iter()
        .chain(call)
        .take_while(move |mark| !std::mem::replace(&mut found, mark.need == Need::Must));
    marks.flat_map(|mark| mark.read.iter().map(move |spelling| (mark, spelling.as_str())))
}

/// A mark that no text holds. A fence is one where a call begins with it, and not only may.
fn distinct((mark, spelling): (&Mark, &str)) -> Option<String> {
    let fence = spelling.starts_with('`') && mark.need != Need::Must;
    (spelling.len() >= MIN_DISTINCT && !fence).then(|| spelling.to_owned())
}

/// The marks that the name of a tool makes ones: `<get_weather`.
fn named(dialect: &Dialect, tools: &[Tool]) -> Vec<String> {
    match dialect.call() {
        [Piece::Mark(mark, None), Piece::Head(form), ..]
            if mark.write.len() < MIN_DISTINCT && form.parts == [Slot::Name] =>
        {
            tools.iter().map(|tool| format!("{}{}", mark.write, tool.name)).collect()
        }
        _ => Vec::new(),
    }
}

/// The words that hold no other of them: where those are not, the others are not either.
fn minimal(words: &[String]) -> Vec<String> {
    let mut kept: Vec<String> = Vec::new();
    for word in words {
        let longer = words.iter().any(|other| other != word && word.contains(other.as_str()));
        if !longer && !kept.contains(word) {
            kept.push(word.clone());
        }
    }
    kept
}
