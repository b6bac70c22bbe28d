//! Asking for consent on the terminal.

pub(crate) mod editing;
mod talk;
mod tty;
mod word;

use std::fmt;
use std::fs::File;
use std::io;

use del_tools::{Answer, Cancel, Consent, Editable, Failure, Question, Rule, Subject, visible};

use crate::colour::{Paint, When};
use crate::layout;
use crate::screen::{bell, stage};
use crate::terminal;
use crate::wrap;
use editing::Edited;
use tty::{Asking, Pressed};
pub(crate) use word::unsaid;
use word::{Given, Word, choices, fits, refusal, understand, why};

/// Asks the person at the terminal, whatever standard input and output are.
#[derive(Debug)]
pub(crate) struct Terminal {
    tty: File,
    paint: Paint,
    cancel: Cancel,
}

/// Whoever says yes or no.
#[derive(Debug)]
pub(crate) enum Asked {
    /// Nobody: what needs asking is denied.
    Nobody,
    /// Consent was given beforehand.
    Yes(Yes),
    Terminal(Terminal),
    Host(Host),
}

/// Another program, which asks its user.
pub(crate) struct Host(Box<dyn Consent + Send>);

/// Consent given beforehand.
#[derive(Debug)]
pub(crate) struct Yes;

/// What becomes of the pages that are left.
enum More {
    Next,
    Back,
    Stop,
}

/// How often an answer may be unclear before it counts as a no.
const TRIES: usize = 5;

/// A line that the person at the terminal types behind `prompt`; nothing when they want to stop, or nobody is there.
pub(crate) fn line(prompt: &str) -> io::Result<Option<String>> {
    let Some(terminal) = Terminal::open(When::Auto, &Cancel::new()) else { return Ok(None) };
    let _held = stage::hold();
    terminal.prompt(prompt)
}

impl Asked {
    /// The option's yes, or else the person at the terminal.
    pub(crate) fn find(yes: bool, when: When, cancel: &Cancel) -> Self {
        if yes { Self::Yes(Yes) } else { Terminal::open(when, cancel).map_or(Self::Nobody, Self::Terminal) }
    }

    /// Another program.
    pub(crate) fn host(consent: impl Consent + Send + 'static) -> Self {
        Self::Host(Host(Box::new(consent)))
    }

    /// Whether somebody sees the questions.
    pub(crate) fn sees(&self) -> bool {
        matches!(self, Self::Terminal(_) | Self::Host(_))
    }

    /// For one question.
    pub(crate) fn consent(&mut self) -> Option<&mut dyn Consent> {
        match self {
            Self::Nobody => None,
            Self::Yes(yes) => Some(yes),
            Self::Terminal(terminal) => Some(terminal),
            Self::Host(host) => Some(&mut *host.0),
        }
    }
}

impl fmt::Debug for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Host")
    }
}

impl Consent for Yes {
    fn ask(&mut self, _: &Question) -> Answer {
        Answer::Yes
    }
}

impl Consent for Terminal {
    fn ask(&mut self, question: &Question) -> Answer {
        let held = stage::hold();
        let asked = self.question(question, held.amid_typing());
        asked.unwrap_or_else(|_| Answer::No { reason: Some("the terminal cannot be read".to_owned()) })
    }

    fn object(&mut self, why: &Failure) {
        // Whoever cannot be told sees the question again.
        let _ = self.warn(&why.to_string());
    }
}

impl Terminal {
    fn open(when: When, cancel: &Cancel) -> Option<Self> {
        let paint = Paint::for_terminal(when, true);
        Some(Self { tty: terminal::open()?, paint, cancel: cancel.clone() })
    }

    /// Shows `text` and asks for a plain yes; `whole` is shown on demand, where it says more.
    pub(crate) fn agrees(&mut self, text: &str, whole: &str, question: &str) -> bool {
        let _held = stage::hold();
        self.confirm(text, whole, question).unwrap_or(false)
    }

    fn confirm(&mut self, text: &str, whole: &str, question: &str) -> io::Result<bool> {
        let lines = |text: &str| layout::told(text, terminal::size(&self.tty).0, self.paint);
        self.say(&format!("\n{}", lines(text).join("\n")))?;
        let view = if text == whole { "" } else { " [v]iew all" };
        let mut unclear = 0;
        while unclear < TRIES {
            unclear += 1;
            match self.answer(&format!("{question} [y]es [n]o{view}:"), false)? {
                Given::Stop => {
                    self.stop()?;
                    return Ok(false);
                }
                Given::Word(Word::Answer(Answer::Yes)) => return Ok(true),
                Given::Word(Word::Answer(Answer::No { .. })) => return Ok(false),
                Given::Word(Word::View) => {
                    if self.view(&lines(whole))?.is_some() {
                        return Ok(false);
                    }
                    unclear = 0;
                }
                _ => {}
            }
        }
        Ok(false)
    }

    /// Reads an answer that is given after the prompt is seen: a key, or a line that comes at once. After a no, the reason
    /// can be written behind it.
    fn answer(&self, prompt: &str, reasons: bool) -> io::Result<Given> {
        let (asking, pressed) = loop {
            let asking = Asking::for_a_key(&self.tty)?;
            self.write(&format!("{} ", self.paint.bold(prompt)))?;
            match tty::pressed(&self.tty)? {
                // As at the line; the question stands when the shell lets the program go on.
                Pressed::Suspend => {
                    drop(asking);
                    self.write("\n")?;
                    terminal::suspend();
                }
                pressed => break (asking, pressed),
            }
        };
        bell::touched();
        if pressed == Pressed::Key('n') && reasons {
            drop(asking);
            // Before the prompt, so that the terminal shows all that is typed behind it.
            let _asking = Asking::go_on(&self.tty)?;
            self.write("no, because (Enter: no reason) ")?;
            return Ok(self.line()?.map_or(Given::Stop, |line| Given::Word(refusal(&line))));
        }
        let given = match &pressed {
            Pressed::Stop => Given::Stop,
            Pressed::Escape => Given::Word(Word::Answer(Answer::No { reason: None })),
            Pressed::Key(key) => understand(&key.to_string()).map_or(Given::Unclear, Given::Word),
            Pressed::Line(line) => understand(line).map_or(Given::Unclear, Given::Word),
            Pressed::Enter | Pressed::Suspend | Pressed::Unclear => Given::Unclear,
        };
        self.write(&format!("{}\n", given.shown()))?;
        if matches!(pressed, Pressed::Key(_)) && !matches!(given, Given::Unclear) {
            tty::settle(&self.tty, tty::WORD)?;
        }
        Ok(given)
    }

    /// Asks. Who was in the middle of `typing` something else has to see the question first.
    fn question(&mut self, question: &Question, typing: bool) -> io::Result<Answer> {
        bell::wait("a question waits for you");
        self.show(&question.text())?;
        let why = why(question).unwrap_or_default();
        for row in wrap::rows(&why, terminal::size(&self.tty).0, 0).lines() {
            self.say(&self.paint.dim(row))?;
        }
        let choices = choices(question);
        let choices: Vec<&str> = choices.iter().map(String::as_str).collect();
        if typing {
            tty::settle(&self.tty, tty::ELSEWHERE)?;
        }
        let mut unclear = 0;
        while unclear < TRIES {
            for row in layout::words(&choices, terminal::size(&self.tty).0) {
                self.say(&self.paint.dim(row))?;
            }
            let answer = match self.answer("Do this?", true)? {
                Given::Stop => {
                    self.stop()?;
                    break;
                }
                Given::Word(word) if !fits(question, &word) => {
                    self.warn("this question has no such answer")?;
                    unclear += 1;
                    None
                }
                Given::Word(Word::Answer(answer)) => Some(answer),
                Given::Word(Word::View) => {
                    let columns = terminal::size(&self.tty).0;
                    self.view(&layout::lines(&question.whole(), columns, self.paint))?
                }
                Given::Word(Word::Pattern) => self.pattern(question)?,
                Given::Word(Word::Edit) => self.edit(question)?,
                Given::Unclear => {
                    unclear += 1;
                    None
                }
            };
            if let Some(answer) = answer {
                return Ok(answer);
            }
        }
        Ok(Answer::No { reason: None })
    }

    /// All of a text, a page at a time; an answer only when the user wants to stop.
    fn view(&self, lines: &[String]) -> io::Result<Option<Answer>> {
        let page = terminal::size(&self.tty).1.saturating_sub(2).max(5);
        let mut pages = lines.chunks(page).peekable();
        while let Some(lines) = pages.next() {
            self.say(&lines.join("\n"))?;
            if pages.peek().is_none() {
                break;
            }
            match self.more()? {
                More::Next => {}
                More::Back => break,
                More::Stop => {
                    self.stop()?;
                    return Ok(Some(Answer::No { reason: None }));
                }
            }
        }
        Ok(None)
    }

    /// What the next key says of the pages that are left. One that says nothing is no answer, to the question either.
    fn more(&self) -> io::Result<More> {
        let _asking = Asking::for_a_key(&self.tty)?;
        loop {
            self.write(&format!("{} ", self.paint.bold("More: Enter goes on, q goes back to the question")))?;
            let pressed = tty::pressed(&self.tty)?;
            self.say("")?;
            match pressed {
                Pressed::Enter | Pressed::Key(' ') => return Ok(More::Next),
                Pressed::Escape | Pressed::Key('q' | 'Q') => return Ok(More::Back),
                Pressed::Line(line) if line.trim().eq_ignore_ascii_case("q") => return Ok(More::Back),
                Pressed::Stop => return Ok(More::Stop),
                Pressed::Key(_) | Pressed::Line(_) | Pressed::Suspend | Pressed::Unclear => {}
            }
        }
    }

    /// Rules for this session, as the user has them after seeing what they cover.
    fn pattern(&mut self, question: &Question) -> io::Result<Option<Answer>> {
        let mut rules = Vec::new();
        for offered in question.rules() {
            self.say("A rule for this session; Enter takes it as it stands, Esc goes back.")?;
            let mut text = offered;
            let rule = loop {
                tty::drain(&self.tty)?;
                match editing::line("rule: ", &text) {
                    Ok(Edited::Text(new)) => text = new,
                    Ok(Edited::Nothing) => {}
                    Ok(Edited::Left) => return Ok(None),
                    Ok(Edited::Stopped) => {
                        self.stop()?;
                        return Ok(Some(Answer::No { reason: None }));
                    }
                    Err(error) => {
                        self.warn(&error.to_string())?;
                        return Ok(None);
                    }
                }
                match Rule::parse(&text) {
                    Ok(rule) => break rule,
                    Err(error) => self.warn(&error.to_string())?,
                }
            };
            rules.push(rule);
        }
        if rules.is_empty() {
            self.warn("no rule can cover this; `a` allows exactly this")?;
            return Ok(None);
        }
        let covered: Vec<String> =
            rules.iter().map(|rule| format!("It covers {}.", rule.meaning())).collect();
        let covered = visible(&covered.join("\n")).into_owned();
        let taken = self.confirm(&covered, &covered, "Take it, for this session?")?;
        Ok(taken.then_some(Answer::Allow(rules)))
    }

    /// The call as the user wants it.
    fn edit(&mut self, question: &Question) -> io::Result<Option<Answer>> {
        let Some(editable) = &question.editable else {
            self.warn("nothing of this call can be changed; say no, and why")?;
            return Ok(None);
        };
        let in_place = editing::named().is_none() && editing::is_line(&editable.text);
        let edited = match editing::editor().filter(|_| !in_place) {
            Some(editor) => editing::text(&self.tty, &editor, &file_name(question, editable), &editable.text),
            None => {
                tty::drain(&self.tty)?;
                editing::line("> ", &editable.text)
            }
        };
        match edited {
            Ok(Edited::Text(mut text)) => {
                // Editors end the last line, also where there was none before.
                let added = text.ends_with('\n') && !editable.text.ends_with('\n');
                if added {
                    text.pop();
                }
                Ok((text != editable.text).then_some(Answer::Edit(text)))
            }
            Ok(Edited::Nothing | Edited::Left) => {
                self.say("nothing was changed")?;
                Ok(None)
            }
            Ok(Edited::Stopped) => {
                self.stop()?;
                Ok(Some(Answer::No { reason: None }))
            }
            Err(error) => {
                self.warn(&error.to_string())?;
                Ok(None)
            }
        }
    }
}

/// What the text is called while it is edited: with the ending of its kind, for the editor's colours.
fn file_name(question: &Question, editable: &Editable) -> String {
    if let Subject::Write { path, .. } = &question.subject {
        let name = path.rsplit('/').next().unwrap_or_default();
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
        if name.starts_with(|c: char| c.is_ascii_alphanumeric())
            && name.len() < 100
            && name.chars().all(plain)
        {
            return name.to_owned();
        }
    }
    if editable.argument == "command" { "command.sh".to_owned() } else { "text".to_owned() }
}
