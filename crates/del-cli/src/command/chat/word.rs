//! What a line of the conversation means: a word of Del's own, or a question.

/// A line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Word<'a> {
    Nothing,
    /// A command, and what stands behind it.
    Command(Name, &'a str),
    /// `!command`; empty where only the `!` is there.
    Shell(&'a str),
    /// A `/command` that there is none of.
    Unknown(&'a str),
    /// A command with more behind it than it takes.
    Unfit(&'static Command),
    Question(&'a str),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Name {
    Help,
    Exit,
    Safe,
    Unsafe,
    Mode,
    Permissions,
    Status,
    Context,
    Compact,
    Clear,
    Model,
    Dialect,
    System,
    Tools,
    Mcp,
    Hooks,
    Skills,
    Plan,
    Jobs,
    Show,
    Thinking,
    Diff,
    Undo,
    Redo,
    Sessions,
    Resume,
    Export,
    Fork,
    Rename,
    Editor,
    Bug,
    Copy,
    Init,
    Debug,
}

/// A command as it is typed and explained.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Command {
    /// The first is the one that is shown; the others are what people know from elsewhere.
    pub(super) names: &'static [&'static str],
    takes: Takes,
    /// What stands behind it.
    pub(super) behind: &'static str,
    pub(super) about: &'static str,
    pub(super) name: Name,
}

/// What may stand behind a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Takes {
    Nothing,
    /// One word, or nothing.
    Word,
    Text,
}

const fn command(
    name: Name,
    names: &'static [&'static str],
    takes: Takes,
    behind: &'static str,
    about: &'static str,
) -> Command {
    Command { names, takes, behind, about, name }
}

pub(super) const COMMANDS: [Command; 34] = [
    command(Name::Help, &["help"], Takes::Word, "[NAME]", "what there is to say; `all`, or one command"),
    command(Name::Exit, &["exit", "quit", "bye"], Takes::Nothing, "", "end; so does Ctrl-D"),
    command(Name::Safe, &["safe"], Takes::Nothing, "", "ask before writing and running, as at the start"),
    command(Name::Unsafe, &["unsafe"], Takes::Nothing, "", "ask nothing"),
    command(
        Name::Mode,
        &["mode"],
        Takes::Word,
        "[MODE]",
        "what is done without asking: ask, auto-edit, plan, yolo; Shift-Tab takes the next",
    ),
    command(
        Name::Permissions,
        &["permissions", "approvals"],
        Takes::Text,
        "[RULE]",
        "what you allowed for this session; `/permissions N` takes number N back, a rule is added",
    ),
    command(
        Name::Status,
        &["status", "stats", "cost"],
        Takes::Nothing,
        "",
        "server, model, tools, tokens and session",
    ),
    command(Name::Context, &["context"], Takes::Nothing, "", "what the model's context is filled with"),
    command(
        Name::Compact,
        &["compact", "compress"],
        Takes::Text,
        "[KEEP]",
        "sum the conversation up, to make room",
    ),
    command(Name::Clear, &["clear", "new"], Takes::Nothing, "", "begin anew"),
    command(
        Name::Model,
        &["model", "models"],
        Takes::Word,
        "[NAME]",
        "the models there are, or take another; `/model @PROFILE` one of another server",
    ),
    command(
        Name::Dialect,
        &["dialect"],
        Takes::Word,
        "[NAME]",
        "the dialect of calls, or take another; `auto` reads all",
    ),
    command(
        Name::System,
        &["system"],
        Takes::Text,
        "[TEXT]",
        "show the instructions, or add to them; `-` takes that back",
    ),
    command(Name::Tools, &["tools"], Takes::Nothing, "", "the tools that the model has"),
    command(
        Name::Mcp,
        &["mcp"],
        Takes::Word,
        "[NAME]",
        "the MCP servers, and what became of them; a name starts that one anew",
    ),
    command(Name::Hooks, &["hooks"], Takes::Nothing, "", "the commands that are told what happens"),
    command(
        Name::Skills,
        &["skills", "prompts"],
        Takes::Nothing,
        "",
        "the skills and commands that stand in files, and where",
    ),
    command(
        Name::Plan,
        &["plan", "todo"],
        Takes::Nothing,
        "",
        "what the model wants to do, and what is done",
    ),
    command(
        Name::Jobs,
        &["jobs", "ps", "shells"],
        Takes::Text,
        "[N]",
        "commands in the background (`&`), what number N wrote; `/jobs end N` ends it",
    ),
    command(
        Name::Show,
        &["show"],
        Takes::Word,
        "[N]",
        "all of the last call and its result, or of the Nth from the end",
    ),
    command(
        Name::Thinking,
        &["thinking", "think"],
        Takes::Word,
        "[HOW]",
        "what the model thought last, or how much it is to think: off, on, low, medium, high",
    ),
    command(
        Name::Diff,
        &["diff"],
        Takes::Word,
        "[all]",
        "what this session has changed; of much the beginning, `all` shows the rest",
    ),
    command(
        Name::Undo,
        &["undo"],
        Takes::Word,
        "[WHICH]",
        "take back the last change of files, the one with this id, the last N, or `all` since Del began; `/undo list` shows them, `/undo show` all of what was taken back last",
    ),
    command(Name::Redo, &["redo"], Takes::Nothing, "", "have again what was taken back last"),
    command(Name::Sessions, &["sessions"], Takes::Nothing, "", "the conversations that were kept here"),
    command(Name::Resume, &["resume"], Takes::Text, "[ID]", "go on with one of them, by its id or its title"),
    command(
        Name::Fork,
        &["fork", "branch"],
        Takes::Nothing,
        "",
        "go on as another conversation; this one stays",
    ),
    command(Name::Rename, &["rename"], Takes::Text, "TITLE", "give the conversation a title"),
    command(
        Name::Export,
        &["export", "save"],
        Takes::Word,
        "[FILE]",
        "write the conversation to a Markdown file",
    ),
    command(Name::Copy, &["copy"], Takes::Nothing, "", "copy the last answer to the clipboard"),
    command(Name::Editor, &["editor", "edit"], Takes::Text, "[TEXT]", "write the question in your editor"),
    command(Name::Bug, &["bug"], Takes::Nothing, "", "what a report of a fault should say of this program"),
    command(Name::Init, &["init"], Takes::Nothing, "", "have AGENTS.md written, by looking at the project"),
    command(
        Name::Debug,
        &["debug"],
        Takes::Nothing,
        "",
        "show the model's raw text and which dialect matched where, or stop",
    ),
];

impl<'a> Word<'a> {
    pub(super) fn read(line: &'a str) -> Self {
        let line = line.trim();
        if let Some(command) = line.strip_prefix('!') {
            return Self::Shell(command.trim());
        }
        let Some(slashed) = line.strip_prefix('/') else {
            return match line {
                "" => Self::Nothing,
                "safe" => Self::Command(Name::Safe, ""),
                "unsafe" => Self::Command(Name::Unsafe, ""),
                "help" => Self::Command(Name::Help, ""),
                "exit" | "quit" => Self::Command(Name::Exit, ""),
                _ => Self::Question(line),
            };
        };
        let (word, rest) = slashed.split_once(char::is_whitespace).unwrap_or((slashed, ""));
        let rest = rest.trim();
        let Some(command) = COMMANDS.iter().find(|command| command.names.contains(&word)) else {
            // A path at the start of a question is no command.
            return if word.contains('/') {
                Self::Question(line)
            } else {
                Self::Unknown(&line[..=word.len()])
            };
        };
        let fits = match command.takes {
            Takes::Nothing => rest.is_empty(),
            Takes::Word => !rest.contains(char::is_whitespace),
            Takes::Text => true,
        };
        if fits { Self::Command(command.name, rest) } else { Self::Unfit(command) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_alone_on_their_line_are_commands_and_all_else_is_asked() {
        for (line, word) in [
            (" unsafe ", Word::Command(Name::Unsafe, "")),
            ("/quit", Word::Command(Name::Exit, "")),
            ("/model qwen3:8b", Word::Command(Name::Model, "qwen3:8b")),
            ("/undo", Word::Command(Name::Undo, "")),
            ("/undo 1f2e3d4c", Word::Command(Name::Undo, "1f2e3d4c")),
            ("/resume 1f2e", Word::Command(Name::Resume, "1f2e")),
            ("/resume", Word::Command(Name::Resume, "")),
            ("/resume the work", Word::Command(Name::Resume, "the work")),
            ("/cost", Word::Command(Name::Status, "")),
            ("/compact the plan", Word::Command(Name::Compact, "the plan")),
            ("/compress", Word::Command(Name::Compact, "")),
            ("!ls -l", Word::Shell("ls -l")),
            ("! ", Word::Shell("")),
            ("/nosuch", Word::Unknown("/nosuch")),
            ("/modle qwen3:8b", Word::Unknown("/modle")),
        ] {
            assert_eq!(Word::read(line), word);
        }
        for (line, name) in [("/undo the last edit", Name::Undo), ("/clear now", Name::Clear)] {
            assert!(matches!(Word::read(line), Word::Unfit(command) if command.name == name), "{line}");
        }
        for question in ["is this safe?", "help me", "/etc/hosts is what?", "debug"] {
            assert_eq!(Word::read(question), Word::Question(question));
        }
    }

    #[test]
    fn every_command_is_reached_by_all_of_its_names() {
        for command in &COMMANDS {
            for name in command.names {
                assert_eq!(Word::read(&format!("/{name}")), Word::Command(command.name, ""), "{name}");
            }
        }
    }
}
