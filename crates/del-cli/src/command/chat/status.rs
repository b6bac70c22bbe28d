//! The line above the prompt: what the next question meets.

use std::path::Path;

use del_agent::Mode;
use del_tools::{Approval, visible};
use unicode_width::UnicodeWidthStr;

use super::Chat;
use crate::screen::look::in_ascii;
use crate::table::cut;
use crate::terminal;

/// Columns of a model's name.
const MODEL: usize = 28;

impl Chat {
    /// Model, way of calling tools, what asks, how full the context is, and the branch; as much of it as fits.
    pub(super) fn status(&self) -> String {
        let width = terminal::width().saturating_sub(1);
        let mut parts = self.parts();
        while parts.len() > 2 && wide(&parts) > width {
            parts.pop();
        }
        let texts: Vec<String> = parts
            .iter()
            .map(|(text, alarm)| if *alarm { self.paint.red(text) } else { self.paint.dim(text) })
            .collect();
        let line = texts.join(&self.paint.dim(" · "));
        if self.look.unicode { line } else { in_ascii(&line) }
    }

    /// The most important first, and whether it is one to look out for.
    fn parts(&self) -> Vec<(String, bool)> {
        let session = &self.session;
        let model = match session.settings.model.as_str() {
            "" => "the server's model",
            name => name,
        };
        let approval = session.hands.gate.approval();
        let mut parts = vec![
            (cut(&visible(model), MODEL), false),
            (name(approval).to_owned(), approval == Approval::Yolo),
        ];
        let context = session.context();
        parts.push((context.short(), context.is_nearly_full()));
        let mode = match session.mode() {
            Mode::Native => "native".to_owned(),
            Mode::Prompt => format!("prompt, {}", session.dialect()),
        };
        parts.push((mode, false));
        if let Some(branch) = branch(session.hands.toolbox.directory()) {
            parts.push((cut(&visible(&branch), MODEL), false));
        }
        parts
    }
}

/// What a mode is called.
pub(super) fn name(approval: Approval) -> &'static str {
    match approval {
        Approval::Ask => "safe",
        Approval::AutoEdit => "auto-edit",
        Approval::Plan => "plan",
        Approval::Yolo => "UNSAFE",
    }
}

fn wide(parts: &[(String, bool)]) -> usize {
    parts.iter().map(|(text, _)| text.width()).sum::<usize>() + parts.len().saturating_sub(1) * 3
}

/// The branch of the repository that a directory is in, or the beginning of the commit.
fn branch(directory: &Path) -> Option<String> {
    let git = directory.ancestors().map(|ancestor| ancestor.join(".git")).find(|git| git.exists())?;
    let git = if git.is_file() {
        // A worktree: the file says where the rest of it is.
        let link = std::fs::read_to_string(&git).ok()?;
        git.parent()?.join(link.strip_prefix("gitdir:")?.trim())
    } else {
        git
    };
    let head = std::fs::read_to_string(git.join("HEAD")).ok()?;
    let head = head.trim();
    Some(match head.strip_prefix("ref: refs/heads/") {
        Some(branch) => branch.to_owned(),
        None => head.chars().take(8).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_branch_is_found_from_below_and_in_worktrees() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("a/b");
        std::fs::create_dir_all(&inner).unwrap();
        assert_eq!(branch(&inner), None);
        std::fs::create_dir(folder.path().join(".git")).unwrap();
        std::fs::write(folder.path().join(".git/HEAD"), "ref: refs/heads/feature/x\n").unwrap();
        assert_eq!(branch(&inner).as_deref(), Some("feature/x"));
        std::fs::write(inner.join(".git"), "gitdir: ../real\n").unwrap();
        std::fs::create_dir(folder.path().join("a/real")).unwrap();
        std::fs::write(folder.path().join("a/real/HEAD"), "0123456789abcdef\n").unwrap();
        assert_eq!(branch(&inner).as_deref(), Some("01234567"));
    }
}
