//! What a line of the conversation means: a word of Del's own, or a question.

/// A line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Word<'a> {
    Nothing,
    Exit,
    Help,
    Safe,
    Unsafe,
    Debug,
    Tools,
    Clear,
    /// Shows the models, or takes one.
    Model(Option<&'a str>),
    /// Shows the conversations that were kept here, or goes on with one.
    Sessions(Option<&'a str>),
    /// Takes the last change back, or does what the words behind it say.
    Undo(&'a str),
    /// `!command`.
    Shell(&'a str),
    /// A `/command` that there is none of.
    Unknown(&'a str),
    Question(&'a str),
}

/// Words that are commands with a slash before them; the first five also alone on their line.
pub(super) const WORDS: [&str; 14] = [
    "safe", "unsafe", "help", "exit", "quit", "bye", "debug", "tools", "model", "clear", "new", "sessions",
    "resume", "undo",
];

pub(super) const HELP: &str = "\
safe, unsafe     ask before writing and running (as at the start), or do not ask
help             this list
exit, quit       end; so does Ctrl-D
/debug           show the model's raw text and which dialect matched where, or stop doing so
/tools           the tools that the model has
/model [NAME]    the models there are, or take another
/clear           begin anew
/sessions        the conversations that were kept here; `/resume ID` goes on with one
/undo [ID|N]     take back the last change of files, the one with this id, or the last N; `/undo list` shows them
!COMMAND         run a shell command yourself
@PATH            in a question: attach the file
Ctrl-C stops an answer; a line that ends with \\ goes on in the next one.";

impl<'a> Word<'a> {
    pub(super) fn read(line: &'a str) -> Self {
        let line = line.trim();
        if let Some(command) = line.strip_prefix('!').map(str::trim).filter(|command| !command.is_empty()) {
            return Self::Shell(command);
        }
        let Some(slashed) = line.strip_prefix('/') else {
            return match line {
                "" => Self::Nothing,
                "safe" => Self::Safe,
                "unsafe" => Self::Unsafe,
                "help" => Self::Help,
                "exit" | "quit" => Self::Exit,
                _ => Self::Question(line),
            };
        };
        let (word, rest) = slashed.split_once(char::is_whitespace).unwrap_or((slashed, ""));
        let rest = rest.trim();
        match word {
            "undo" if !rest.contains(char::is_whitespace) => Self::Undo(rest),
            "resume" if !rest.contains(char::is_whitespace) => {
                Self::Sessions((!rest.is_empty()).then_some(rest))
            }
            "model" => Self::Model((!rest.is_empty()).then_some(rest)),
            // A path at the start of a question is no command.
            _ if word.contains('/')
                || !rest.is_empty() && (matches!(word, "undo" | "resume") || !WORDS.contains(&word)) =>
            {
                Self::Question(line)
            }
            "safe" => Self::Safe,
            "unsafe" => Self::Unsafe,
            "help" => Self::Help,
            "exit" | "quit" | "bye" => Self::Exit,
            "debug" => Self::Debug,
            "tools" => Self::Tools,
            "clear" | "new" => Self::Clear,
            "sessions" => Self::Sessions(None),
            _ => Self::Unknown(line),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_alone_on_their_line_are_commands_and_all_else_is_asked() {
        assert_eq!(Word::read(" unsafe "), Word::Unsafe);
        assert_eq!(Word::read("/quit"), Word::Exit);
        assert_eq!(Word::read("/model qwen3:8b"), Word::Model(Some("qwen3:8b")));
        assert_eq!(Word::read("/undo"), Word::Undo(""));
        assert_eq!(Word::read("/undo 1f2e3d4c"), Word::Undo("1f2e3d4c"));
        assert_eq!(Word::read("/resume 1f2e"), Word::Sessions(Some("1f2e")));
        assert_eq!(Word::read("/resume"), Word::Sessions(None));
        assert_eq!(Word::read("/resume the work"), Word::Question("/resume the work"));
        assert_eq!(Word::read("/undo the last edit"), Word::Question("/undo the last edit"));
        assert_eq!(Word::read("!ls -l"), Word::Shell("ls -l"));
        assert_eq!(Word::read("/nosuch"), Word::Unknown("/nosuch"));
        for question in ["is this safe?", "help me", "/etc/hosts is what?", "debug", "!"] {
            assert_eq!(Word::read(question), Word::Question(question));
        }
        for word in WORDS {
            let line = format!("/{word}");
            assert!(!matches!(Word::read(&line), Word::Unknown(_) | Word::Question(_)), "{word}");
        }
    }
}
