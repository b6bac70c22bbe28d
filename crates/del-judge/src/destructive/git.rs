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
    let has = |flags: &[&str]| words.iter().any(|word| flags.contains(&word.as_str()));
    match command.as_str() {
        "push" => {
            let forced = has(&["--force", "--mirror", "--delete", "--prune"])
                || words.iter().any(|word| word.starts_with("--force-") || word.starts_with('+'));
            (forced || flag(words, 'f') || flag(words, 'd')).then_some(Danger::Push)
        }
        "reset" if has(&["--hard"]) => Some(Danger::Discard),
        "clean" if flag(words, 'f') || has(&["--force"]) => Some(Danger::Discard),
        _ => None,
    }
}
