//! What git throws away.

use super::{Danger, flag};

pub(super) fn danger(words: &[String]) -> Option<Danger> {
    let mut rest = words;
    // Options before the subcommand, two of them with a value in the next word.
    while let Some((word, behind)) = rest.split_first().filter(|(word, _)| word.starts_with('-')) {
        rest =
            if matches!(word.as_str(), "-C" | "-c") { behind.get(1..).unwrap_or_default() } else { behind };
    }
    let (command, words) = rest.split_first()?;
    // Git reads the beginning of a long option as the whole.
    let is = |word: &str, flag: &&str| word == *flag || word.len() > 4 && flag.starts_with(word);
    let has = |flags: &[&str]| words.iter().any(|word| flags.iter().any(|flag| is(word, flag)));
    match command.as_str() {
        // What is only shown destroys nothing.
        "push" if is_dry(words, 'o', &["--push-option", "--receive-pack", "--exec", "--repo"]) => None,
        "clean" if is_dry(words, 'e', &["--exclude"]) => None,
        "push" => {
            let forced = has(&["--force", "--mirror", "--delete", "--prune"])
                || words.iter().any(|word| word.starts_with("--force-") || word.starts_with('+'))
                // Nothing, pushed to a branch.
                || words.iter().any(|word| word.len() > 1 && word.starts_with(':'));
            (forced || flag(words, 'f') || flag(words, 'd')).then_some(Danger::Push)
        }
        "reset" if has(&["--hard"]) => Some(Danger::Discard),
        "clean" if flag(words, 'f') || has(&["--force"]) => Some(Danger::Discard),
        "checkout" | "switch" if flag(words, 'f') || has(&["--force", "--discard-changes"]) => {
            Some(Danger::Discard)
        }
        _ => None,
    }
}

/// Whether a command only says what it would do: surely so, since no word can be the value of an option.
fn is_dry(words: &[String], valued: char, long: &[&str]) -> bool {
    let options: Vec<&String> = words.iter().take_while(|word| *word != "--").collect();
    let short = |word: &&&String| word.starts_with('-') && !word.starts_with("--");
    let value = options.iter().filter(short).any(|word| word.contains(valued))
        || options.iter().any(|word| {
            let name = word.split('=').next().unwrap_or_default();
            name.len() > 2 && long.iter().any(|long| long.starts_with(name)) || name.starts_with("--no-d")
        });
    let dry = options.iter().any(|word| *word == "--dry-run")
        || options.iter().filter(short).any(|word| word.contains('n'));
    dry && !value
}
