//! What an option means, as documents have it: for the tests that compare them with the program.

use clap::Arg;

/// Text as Markdown shows it, in a cell of a table or outside of one.
pub(crate) fn plain(text: &str) -> String {
    // Code stays as it is.
    let shown = |(at, part): (usize, &str)| {
        if at % 2 == 0 { part.replace('<', "\\<").replace('*', "\\*") } else { format!("`{part}`") }
    };
    text.split('`').enumerate().map(shown).collect::<String>().replace('|', "\\|")
}

/// What an option is for, and what holds without it.
pub(crate) fn meaning(arg: &Arg) -> (String, String) {
    let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
    let (about, said) = match help.split_once(" [default: ") {
        Some((about, said)) => (about, said.trim_end_matches(']')),
        None => (help.as_str(), ""),
    };
    if !arg.get_action().takes_values() {
        return (plain(about), plain(said));
    }
    let code =
        |texts: Vec<String>| texts.iter().map(|text| format!("`{text}`")).collect::<Vec<_>>().join(", ");
    let values = code(arg.get_possible_values().iter().map(|value| value.get_name().to_owned()).collect());
    let values = if values.is_empty() { values } else { format!(": {values}") };
    let default =
        code(arg.get_default_values().iter().map(|value| value.to_string_lossy().into_owned()).collect());
    (format!("{}{values}", plain(about)), if default.is_empty() { plain(said) } else { default })
}
