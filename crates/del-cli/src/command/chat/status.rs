//! The line above the prompt: what the next question meets.

use std::path::Path;

use del_agent::{Entry, Mode, tokens};
use del_tools::{Approval, visible};
use unicode_width::UnicodeWidthStr;

use super::{Chat, say};
use crate::screen::look::in_ascii;
use crate::session::thousands;
use crate::table::cut;
use crate::terminal;

/// Columns of a model's name.
const MODEL: usize = 28;
/// Modes that Shift-Tab takes in turn.
const MODES: usize = 3;

/// The modes in turn, without the one in which nothing asks.
pub(super) const fn next(mode: Approval) -> Approval {
    match mode {
        Approval::Ask => Approval::AutoEdit,
        Approval::AutoEdit => Approval::Plan,
        Approval::Plan | Approval::Yolo => Approval::Ask,
    }
}

/// A part of the status, and whether it is one to look out for. The most important stand first.
type Part = (String, bool);

impl Chat {
    /// The status now, and as it would be after each Shift-Tab, until the modes come round.
    pub(super) fn statuses(&self) -> Vec<String> {
        let now = self.session.hands.gate.approval();
        let (before, behind) = self.parts();
        let status = |mode| {
            let mode = (name(mode).to_owned(), mode == Approval::Yolo);
            self.line(before.iter().cloned().chain([mode]).chain(behind.iter().cloned()).collect())
        };
        std::iter::successors(Some(now), |mode| Some(next(*mode))).take(1 + MODES).map(status).collect()
    }

    /// As many of the parts as fit.
    fn line(&self, mut parts: Vec<Part>) -> String {
        let width = terminal::width().saturating_sub(1);
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

    /// What stands before the mode, and behind it: how full the context is, the way of calling tools, and the branch.
    fn parts(&self) -> ([Part; 1], Vec<Part>) {
        let session = &self.session;
        let model = match session.settings.model.as_str() {
            "" => "the server's model",
            name => name,
        };
        let context = session.context();
        let mut parts = vec![(context.short(), context.is_nearly_full())];
        let mode = match session.mode() {
            Mode::Native => "native".to_owned(),
            Mode::Prompt => format!("prompt, {}", session.dialect()),
        };
        parts.push((mode, false));
        if let Some(branch) = branch(session.hands.toolbox.directory()) {
            parts.push((cut(&visible(&branch), MODEL), false));
        }
        ([(cut(&visible(model), MODEL), false)], parts)
    }

    pub(super) fn tell_status(&self) {
        let session = &self.session;
        let usage = session.usage();
        let approval = session.hands.gate.approval();
        let kept = if session.record.is_wanted() { session.record.id() } else { "not kept" };
        let counted = if usage.prompt > 0 { "" } else { " (the server does not say)" };
        for (what, said) in [
            ("model", session.settings.model.clone()),
            ("server", format!("{} ({})", session.server.base, session.server.api.name())),
            ("calls", format!("{:?}, {}", session.mode(), session.dialect()).to_lowercase()),
            ("mode", name(approval).to_owned()),
            ("sandbox", session.hands.toolbox.sandbox().to_string()),
            ("tools", session.hands.tools().len().to_string()),
            ("directory", session.hands.toolbox.directory().display().to_string()),
            ("context", session.context().short()),
            ("tokens", format!("{} read, {} written{counted}", usage.prompt, usage.completion)),
            ("session", kept.to_owned()),
        ] {
            say(&format!("{what:<11}{}", visible(&said)));
        }
    }

    /// What a report should say: nothing of what was asked, and no key.
    pub(super) fn tell_bug(&self) {
        let session = &self.session;
        say("a report of a fault should say what you asked, what you expected and what came, and this:");
        for (what, said) in [
            ("del", env!("CARGO_PKG_VERSION").to_owned()),
            ("system", format!("{} {}", std::env::consts::OS, std::env::consts::ARCH)),
            ("terminal", std::env::var("TERM").unwrap_or_default()),
            ("model", session.settings.model.clone()),
            ("calls", format!("{:?}, {}", session.mode(), session.dialect()).to_lowercase()),
            ("sandbox", session.hands.toolbox.sandbox().to_string()),
        ] {
            say(&format!("{what:<11}{}", visible(&said)));
        }
        say("`/debug` shows what the model wrote, and which dialect matched where");
    }

    /// What the context is filled with, by kind: estimates, scaled to what the server counted.
    pub(super) fn tell_context(&self) {
        let session = &self.session;
        let context = session.context();
        let instructions = tokens::of(&session.settings.system);
        let tools: u64 = session.hands.tools().iter().map(tokens::tool).sum();
        let (mut questions, mut answers, mut results) = (0, 0, 0);
        for entry in session.entries() {
            *match entry {
                Entry::Assistant { .. } => &mut answers,
                Entry::Results { .. } | Entry::Ran { .. } => &mut results,
                _ => &mut questions,
            } += tokens::entry(entry);
        }
        let kinds = [
            ("instructions", instructions),
            ("tools", tools),
            ("questions", questions),
            ("answers and calls", answers),
            ("results", results),
        ];
        let all: u64 = kinds.iter().map(|(_, tokens)| tokens).sum::<u64>().max(1);
        for (kind, tokens) in kinds {
            let share = if self.look.spoken { 0 } else { tokens * 30 / all };
            let bar = "─".repeat(usize::try_from(share).unwrap_or_default());
            say(&format!("{kind:<19}{:>7}  {}", tokens * context.used / all, self.paint.cyan(bar)));
        }
        let counted = if context.counted { "as the server counts" } else { "an estimate" };
        let limit = match context.limit {
            Some(limit) => format!(" of {} ({} %)", thousands(limit), context.used * 100 / limit.max(1)),
            None => ", and the server does not say of how many".to_owned(),
        };
        say(&format!("{:<19}{:>7}{limit}, {counted}", "all", context.used));
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
