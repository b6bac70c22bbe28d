//! What a template says for one turn of the model's: what the model itself would have written.

use del_dialects::Call;

use super::{ANSWER, Message, Probe, Switch, THOUGHT, Thinking};
use crate::template::RenderError;
use crate::text;

/// A turn of the model's that calls tools.
#[derive(Debug, Clone)]
pub(crate) struct Turn {
    /// What it shows.
    pub(crate) about: String,
    /// The calls, with the ids that they were given.
    pub(crate) calls: Vec<Call>,
    /// Text before the calls.
    pub(crate) said: Option<String>,
    /// Thinking before the calls.
    pub(crate) thought: Option<String>,
    /// What the model would have written.
    pub(crate) text: String,
}

/// What stands around a turn of the model's.
#[derive(Debug, Default)]
pub(crate) struct Frame {
    /// All up to the model's turn, without what opens it.
    before: String,
    /// All up to the words of a plain answer.
    answered: String,
    /// What opens a plain answer where the template shows it, without thinking.
    shown: String,
    /// What opens it, without thinking.
    pub(crate) header: String,
    /// What closes it.
    pub(crate) end: String,
    /// What stands around the words of a plain answer beside that.
    pub(crate) around: [String; 2],
    pub(crate) thinking: Option<Thinking>,
}

impl Frame {
    /// Learns from plain answers what stands around a turn.
    pub(super) fn of(probe: &mut Probe<'_>) -> Result<Self, RenderError> {
        let asked = [Message::user()];
        let mut before = probe.text(&asked, false)?;
        let prompt = probe.text(&asked, true)?;
        let answer = probe.text(&[Message::user(), Message::answer(ANSWER)], false).unwrap_or_default();
        let opened = &prompt[text::common_prefix(&before, &prompt)..];
        let own = thinking(probe, &prompt, opened);
        let thinking = switched(probe, own);
        let mut header = opened.to_owned();
        if let Some(thinking) = &thinking {
            let (begin, end) = (thinking.begin.trim(), thinking.end.trim());
            // A prompt may end inside the thinking, or behind one that is empty.
            if let Some(at) = header.rfind(begin) {
                let rest = header[at + begin.len()..].trim_start();
                if rest.is_empty() || rest.strip_prefix(end).is_some_and(|rest| rest.trim().is_empty()) {
                    header.truncate(at);
                }
            }
        }
        // Where the turn is opened whether it is asked for or not, a thought that is empty may stand behind that.
        if let Some(thinking) = &thinking {
            let len = without_end_of_empty_thought(&before, thinking).len();
            before.truncate(len);
        }
        let (answered, end) = answer.rsplit_once(ANSWER).unwrap_or_default();
        let (answered, end) = (answered.to_owned(), end.to_owned());
        let mut frame = Self { before, answered, header, end, thinking, ..Self::default() };
        frame.shown = frame.shown_header().to_owned();
        // Where the prompt opens nothing, it is a mark of text alone if calls do not have it.
        if opened.trim().is_empty() && !frame.shown.trim().is_empty() {
            let calls = Message::calls(&super::calls(super::CALLS[0].1));
            let whole = probe.text(&[Message::user(), calls], false).unwrap_or_default();
            let start = text::common_prefix(&whole, &frame.before);
            if !whole[start..].trim_start().starts_with(frame.shown.trim()) {
                frame.shown.clear();
            }
        }
        frame.look_around();
        Ok(frame)
    }

    /// Learns what stands right around the words of a plain answer. What closes there is no end of the turn.
    fn look_around(&mut self) {
        let mut opening = self.body(&self.answered).to_owned();
        if let Some(thinking) = &self.thinking {
            without_empty_thought(&mut opening, thinking);
        }
        let marks = opening.trim();
        // A word may stand there instead: it is all that there is.
        if (1..=MAX_WORD).contains(&marks.len()) && text::first_mark(marks).is_none() && !marks.contains('\n')
        {
            self.around[0] = opening;
            return;
        }
        let Some(mark) = text::first_mark(marks).filter(|mark| marks.starts_with(mark)) else { return };
        if marks.len() > MAX_MARKS || !text::last_mark(marks).is_some_and(|mark| marks.ends_with(mark)) {
            return;
        }
        let closer = closing(mark);
        let closed = self.end.trim_start().starts_with(&closer);
        let closing = if closed { self.end.find(&closer).map_or(0, |at| at + closer.len()) } else { 0 };
        let end = self.end.split_off(closing);
        self.around = [opening, std::mem::replace(&mut self.end, end)];
    }

    fn shown_header(&self) -> &str {
        let header = &self.answered[text::common_prefix(&self.before, &self.answered)..];
        let thought = self.thinking.as_ref().and_then(|thinking| header.find(thinking.begin.trim()));
        thought.map_or(header, |at| &header[..at])
    }

    /// The model's own part of a conversation that ends with its turn.
    fn body<'t>(&self, whole: &'t str) -> &'t str {
        let mut shared = text::common_prefix(whole, &self.before);
        // Some templates put the conversation before otherwise once it is answered.
        if shared < self.before.len() && !self.answered.is_empty() && whole.starts_with(&self.answered) {
            shared = shared.max(self.answered.len());
        }
        let rest = &whole[shared..];
        // The conversation before may hold the first part of what opens the turn already.
        let starts = self.header.char_indices().map(|(at, _)| at);
        let header = starts
            .filter(|at| *at == 0 || self.header[*at..].starts_with(text::opens))
            .map(|at| &self.header[at..])
            .find(|header| rest.starts_with(header));
        let rest = match header {
            Some(header) => &rest[header.len()..],
            None => {
                let known = text::common_prefix(rest, &self.header);
                // The prompt may open the turn otherwise than the template shows it later.
                let known = if known == 0 { text::common_prefix(rest, &self.shown) } else { known };
                &rest[known..]
            }
        };
        let end = text::common_suffix(rest, &self.end);
        &rest[..rest.len() - end]
    }
}

impl Turn {
    /// Renders a turn; `None` where the template leaves part of it out.
    pub(super) fn of(
        probe: &mut Probe<'_>,
        frame: &Frame,
        about: &str,
        mut calls: Vec<Call>,
        said: Option<&str>,
        thought: Option<&str>,
    ) -> Result<Option<Self>, RenderError> {
        let message = Message::Answer {
            said: said.map(str::to_owned),
            thought: thought.map(str::to_owned),
            calls: calls.clone(),
        };
        // Some templates show thinking only where it is switched on.
        probe.style.thinking =
            frame.thinking.as_ref().and_then(|thinking| thinking.only).filter(|_| thought.is_some());
        let whole = probe.text(&[Message::user(), message], false);
        probe.style.thinking = None;
        let whole = whole?;
        let mut text = frame.body(&whole).trim_end().to_owned();
        if let Some(thinking) = frame.thinking.as_ref().filter(|_| thought.is_none()) {
            without_empty_thought(&mut text, thinking);
        }
        let whole = calls.iter().all(|call| holds(&text, call));
        if !whole
            || said.is_some_and(|said| !text.contains(said))
            || thought.is_some_and(|said| !text.contains(said))
        {
            return Ok(None);
        }
        for (place, call) in calls.iter_mut().enumerate() {
            let id = super::conversation::id(probe.style.ids, call, place);
            call.id = text.contains(&id).then_some(id);
        }
        let (said, thought) = (said.map(str::to_owned), thought.map(str::to_owned));
        Ok(Some(Self { about: about.to_owned(), calls, said, thought, text }))
    }
}

/// Takes away a thought that holds nothing, or only its end, at the start of a turn.
fn without_empty_thought(text: &mut String, thinking: &Thinking) {
    let (begin, end) = (thinking.begin.trim(), thinking.end.trim());
    if end.is_empty() {
        return;
    }
    let start = text.trim_start();
    let inside = start.strip_prefix(begin).map_or(start, str::trim_start);
    if let Some(rest) = inside.strip_prefix(end) {
        *text = rest.trim_start().to_owned();
    }
}

/// A text without a thought that holds nothing at its end.
fn without_end_of_empty_thought<'t>(text: &'t str, thinking: &Thinking) -> &'t str {
    let (begin, end) = (thinking.begin.trim(), thinking.end.trim());
    let inside = text.trim_end().strip_suffix(end).filter(|_| !end.is_empty()).map(str::trim_end);
    inside.and_then(|inside| inside.strip_suffix(begin)).unwrap_or(text)
}

/// True when a text shows the name of a call, and every word of its arguments.
fn holds(text: &str, call: &Call) -> bool {
    let words = |text: &str| -> Vec<String> {
        text.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() > 2).map(str::to_owned).collect()
    };
    let plain = call.arguments.replace("\\n", " ");
    let known = ["true", "false", "null"];
    text.contains(&call.name)
        && words(&plain).iter().all(|word| known.contains(&word.as_str()) || text.contains(word.as_str()))
}

/// What thinking is with the switches of templates on and off as well; `own` is what it is without them.
fn switched(probe: &mut Probe<'_>, own: Option<Thinking>) -> Option<Thinking> {
    let mut known = own;
    for on in [true, false] {
        for switch in Switch::ways(on) {
            probe.style.thinking = Some(switch);
            let Some(found) = asked(probe) else { continue };
            let thinking = known.get_or_insert_with(|| Thinking {
                prefilled: false,
                only: Some(switch).filter(|_| on),
                ..found.clone()
            });
            if found.prefilled && found.begin.trim() == thinking.begin.trim() {
                let switched = if on { &mut thinking.prefilled_on } else { &mut thinking.prefilled_off };
                *switched = true;
                break;
            }
        }
    }
    probe.style.thinking = None;
    known
}

/// The thinking of a conversation as the style has it now.
fn asked(probe: &mut Probe<'_>) -> Option<Thinking> {
    let asked = [Message::user()];
    let before = probe.text(&asked, false).ok()?;
    let prompt = probe.text(&asked, true).ok()?;
    let opened = prompt[text::common_prefix(&before, &prompt)..].to_owned();
    thinking(probe, &prompt, &opened)
}

/// Finds the marks of thinking by what a template makes of it; `opened` is what the prompt opens an answer with.
fn thinking(probe: &mut Probe<'_>, prompt: &str, opened: &str) -> Option<Thinking> {
    let message = |said: Option<&str>, calls| Message::Answer {
        said: said.map(str::to_owned),
        thought: Some(THOUGHT.to_owned()),
        calls,
    };
    let calls = super::calls(super::CALLS[0].1);
    let mut endless = None;
    for message in [message(Some(ANSWER), Vec::new()), message(None, calls)] {
        let Ok(whole) = probe.text(&[Message::user(), message], false) else { continue };
        let Some(at) = whole.find(THOUGHT) else { continue };
        let (before, behind) = (&whole[..at], &whole[at + THOUGHT.len()..]);
        let opened = before.strip_prefix(prompt);
        let begin = match opened {
            Some(region) if !region.trim().is_empty() => Some(region),
            // The prompt ends inside the thinking.
            Some(_) => marks_before(before).or_else(|| last_line(prompt)),
            // It may go on with what closes a thought that is empty.
            None => prompt
                .strip_prefix(before)
                .filter(|rest| !rest.is_empty() && !behind.trim_start().starts_with(rest.trim()))
                .or_else(|| marks_before(before)),
        };
        let begin = begin.filter(|begin| begin.len() <= MAX_MARKS)?.to_owned();
        let end = behind.find(ANSWER).map_or(behind, |at| &behind[..at]);
        let end = text::first_mark(end).map_or(end, |mark| up_to_text(end, mark)).to_owned();
        let prefilled = prompt.trim_end().ends_with(begin.trim());
        // Without a mark of its own it ends where the call begins.
        let holds_call = end.contains(super::CALLS[0].1[0].0);
        if end.trim().is_empty() || end.len() > MAX_MARKS || holds_call {
            let words = holds_call && !begin.trim().is_empty();
            endless = words.then(|| Thinking { begin, prefilled, ..Thinking::default() }).or(endless);
            continue;
        }
        return Some(Thinking { begin, end, prefilled, ..Thinking::default() });
    }
    endless.or_else(|| opened_by_prompt(prompt, opened))
}

/// A template that drops thinking may still begin one in its prompt, or close one that is empty.
fn opened_by_prompt(prompt: &str, opened: &str) -> Option<Thinking> {
    let prompt = prompt.trim_end();
    let mark = text::last_mark(prompt).filter(|mark| prompt.ends_with(mark))?;
    let about = ["think", "reason", "thought"].iter().any(|word| mark.to_ascii_lowercase().contains(word));
    let opener = mark.replacen('/', "", 1);
    if closing(&opener) != mark {
        return about.then(|| Thinking {
            begin: mark.to_owned(),
            end: closing(mark),
            prefilled: true,
            ..Thinking::default()
        });
    }
    // Nothing else is closed at the beginning of an answer.
    (about || opened.contains(mark)).then(|| Thinking {
        begin: opener,
        end: mark.to_owned(),
        ..Thinking::default()
    })
}

/// The mark that closes what a tag or a token opens.
fn closing(mark: &str) -> String {
    let name = mark.find(|c: char| c.is_alphanumeric()).filter(|at| mark[..*at].ends_with('|'));
    let (bracket, name) =
        mark.split_at(name.unwrap_or_else(|| mark.chars().next().map_or(0, char::len_utf8)));
    format!("{bracket}/{name}")
}

/// The mark that a text ends with and the white space behind it; with it a word between it and a mark before.
fn marks_before(text: &str) -> Option<&str> {
    let mark = text::last_mark(text)?;
    let at = text.rfind(mark)?;
    let behind = text[at + mark.len()..].trim();
    if behind.len() > MAX_WORD || behind.contains(char::is_whitespace) {
        return None;
    }
    let word = text[..at].len() - text[..at].trim_end_matches(char::is_alphanumeric).len();
    let start = at - word;
    match text::last_mark(&text[..start]).filter(|before| text[..start].ends_with(before)) {
        Some(before) if word > 0 => Some(&text[start - before.len()..]),
        _ => Some(&text[at..]),
    }
}

fn last_line(text: &str) -> Option<&str> {
    let at = text.trim_end().rfind('\n')? + 1;
    Some(&text[at..])
}

/// What a text begins with, up to the next text behind its first mark; with it a word between that and another mark.
fn up_to_text<'t>(text: &'t str, mark: &str) -> &'t str {
    let mut at = text.find(mark).map_or(0, |at| at + mark.len());
    let word = text[at..].len() - text[at..].trim_start_matches(char::is_alphanumeric).len();
    if let Some(second) = text::first_mark(&text[at + word..])
        && word > 0
        && text[at + word..].starts_with(second)
    {
        at += word + second.len();
    }
    let space = text[at..].len() - text[at..].trim_start().len();
    &text[..at + space]
}

const MAX_WORD: usize = 16;
const MAX_MARKS: usize = 128;
