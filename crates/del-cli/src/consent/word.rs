//! The words of a question: what may be answered, and what an answer means.

use del_tools::{Answer, Loan, Question, Subject, visible};

use crate::table::cut;

/// What a line that was typed asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Word {
    Answer(Answer),
    Pattern,
    Edit,
    View,
}

/// What came of asking.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Given {
    Word(Word),
    Unclear,
    /// The user wants to stop.
    Stop,
}

impl Given {
    /// What stands behind the prompt.
    pub(super) fn shown(&self) -> &'static str {
        match self {
            Self::Word(Word::Answer(Answer::Yes)) => "yes",
            Self::Word(Word::Answer(Answer::Always)) => "always",
            Self::Word(Word::Answer(Answer::Network)) => "with the network",
            Self::Word(Word::Answer(_)) => "no",
            Self::Word(Word::Pattern) => "a rule",
            Self::Word(Word::Edit) => "edit",
            Self::Word(Word::View) => "view",
            Self::Unclear => "that is no answer: press one of the keys in [ ]",
            Self::Stop => "",
        }
    }
}

/// Columns of a rule that is offered.
const RULE: usize = 40;
/// The answers that this question has.
pub(super) fn choices(question: &Question) -> Vec<String> {
    let mut choices = vec!["[y]es".to_owned(), "[n]o, and why".to_owned()];
    // What is given for this once is given for no other time.
    if question.loan != Loan::Given {
        choices.push("[a]lways, exactly this".to_owned());
        let rules = question.rules();
        if !rules.is_empty() {
            choices.push(format!("[p]attern: {}", cut(&visible(&rules.join(", ")), RULE)));
        }
    }
    if matches!(question.loan, Loan::Possible(_)) {
        choices.push("[w]ith the network, once".to_owned());
    }
    if question.editable.is_some() {
        choices.push("[e]dit".to_owned());
    }
    choices.push("[v]iew all".to_owned());
    choices
}

/// Why this is asked, as far as its text does not say so already.
pub(super) fn why(question: &Question) -> Option<String> {
    if !question.reasons().is_empty() {
        return unsaid(question);
    }
    Some(match question.subject {
        Subject::Write { .. } | Subject::Rewrite { .. } | Subject::Arrange { .. } => {
            "asks before every change of a file; in `auto-edit` mode it does not".to_owned()
        }
        _ => "asks before whatever does more than read; a rule can allow it".to_owned(),
    })
}

/// The reasons for a question that its text does not give.
pub(crate) fn unsaid(question: &Question) -> Option<String> {
    let text = question.text();
    let unsaid: Vec<String> = question
        .reasons()
        .iter()
        .map(|reason| visible(reason).into_owned())
        .filter(|reason| !text.contains(reason))
        .collect();
    (!unsaid.is_empty()).then(|| format!("asks because: {}", unsaid.join("; ")))
}

/// A no, with what is written behind it: also where that begins as the whole word does.
pub(super) fn refusal(rest: &str) -> Word {
    if rest.contains('\u{1b}') {
        return Word::Answer(Answer::No { reason: None });
    }
    understand(&format!("n{rest}"))
        .filter(|word| matches!(word, Word::Answer(Answer::No { .. })))
        .unwrap_or_else(|| {
            Word::Answer(Answer::No {
                reason: Some(rest.trim().to_owned()).filter(|reason| !reason.is_empty()),
            })
        })
}

/// Whether a question has this answer.
pub(super) fn fits(question: &Question, word: &Word) -> bool {
    match word {
        Word::Answer(Answer::Network) => matches!(question.loan, Loan::Possible(_)),
        Word::Answer(Answer::Always) | Word::Pattern => question.loan != Loan::Given,
        _ => true,
    }
}

/// What a line asks for; `None` when it is not clear, and then it is no yes.
pub(super) fn understand(line: &str) -> Option<Word> {
    let line = line.trim();
    let (word, rest) = line.split_once(|c: char| c.is_whitespace() || c == ',').unwrap_or((line, ""));
    match word.to_lowercase().as_str() {
        "n" | "no" => {
            let reason = rest.trim();
            Some(Word::Answer(Answer::No { reason: (!reason.is_empty()).then(|| reason.to_owned()) }))
        }
        _ if !rest.is_empty() => None,
        "y" | "yes" => Some(Word::Answer(Answer::Yes)),
        "a" | "always" => Some(Word::Answer(Answer::Always)),
        "w" | "with" => Some(Word::Answer(Answer::Network)),
        "p" | "pattern" => Some(Word::Pattern),
        "e" | "edit" => Some(Word::Edit),
        "v" | "view" => Some(Word::View),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_what_stands_behind_the_no() {
        let no = |reason: &str| {
            Word::Answer(Answer::No { reason: (!reason.is_empty()).then(|| reason.to_owned()) })
        };
        for (rest, reason) in [
            ("", ""),
            ("o", ""),
            ("o, use cargo", "use cargo"),
            ("use cargo", "use cargo"),
            (" not that", "not that"),
            ("\u{1b}", ""),
        ] {
            assert_eq!(refusal(rest), no(reason), "{rest:?}");
        }
    }

    #[test]
    fn only_a_clear_yes_is_one() {
        for yes in ["y", " Y ", "yes"] {
            assert_eq!(understand(yes), Some(Word::Answer(Answer::Yes)), "{yes}");
        }
        assert_eq!(understand("always"), Some(Word::Answer(Answer::Always)));
        for unclear in ["", "yy", "yes but", "ok", "\u{1b}[Ay", "y\0", "view that"] {
            assert_eq!(understand(unclear), None, "{unclear:?}");
        }
        assert_eq!(understand("no"), Some(Word::Answer(Answer::No { reason: None })));
        let reason = Some("use cargo".to_owned());
        assert_eq!(understand("n, use cargo"), Some(Word::Answer(Answer::No { reason })));
        assert_eq!((understand("p"), understand("E")), (Some(Word::Pattern), Some(Word::Edit)));
    }
}
