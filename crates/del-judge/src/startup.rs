//! Files that run later: what shells read when they start, and what other programs take orders from.

use std::path::Path;

/// Whether shells run a file of this name when they start.
pub fn is_startup(path: &Path) -> bool {
    SHELL.contains(&plain(path).rsplit('/').next().unwrap_or_default())
}

/// Whether some program runs, or does, what a file at this path says.
pub fn is_obeyed(path: &Path) -> bool {
    let path = plain(path);
    let name = path.rsplit('/').next().unwrap_or_default();
    let below =
        |folder: &&str| path.starts_with(&format!("{folder}/")) || path.contains(&format!("/{folder}/"));
    let at = |file: &&str| path == **file || path.ends_with(&format!("/{file}"));
    SHELL.contains(&name)
        || NAMES.contains(&name)
        || [".code-workspace", ".sublime-project"].iter().any(|end| name.ends_with(end))
        || FOLDERS.iter().any(below)
        || FILES.iter().any(at)
}

/// Whether a path lies in what belongs to a git repository itself, as any file system may spell it.
pub fn is_repository(path: &Path) -> bool {
    plain(path).split('/').any(|part| matches!(part, ".git" | "git~1"))
}

/// A path as file systems that do not tell all spellings apart see it: without case, without characters that cannot be
/// seen, and without the dots and blanks that some of them drop at the end of a name.
fn plain(path: &Path) -> String {
    let unseen = |c: &char| matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{ad}');
    let text = path.to_string_lossy().replace('\\', "/");
    let part = |part: &str| -> String {
        if matches!(part, "." | "..") {
            return part.to_owned();
        }
        let seen: String = part.chars().filter(|c| !unseen(c)).flat_map(char::to_lowercase).collect();
        seen.split(':').next().unwrap_or_default().trim_end_matches(['.', ' ']).to_owned()
    };
    text.split('/').map(part).collect::<Vec<_>>().join("/")
}

const SHELL: [&str; 22] = [
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".bash_aliases",
    "bash.bashrc",
    ".profile",
    ".zshrc",
    ".zprofile",
    ".zshenv",
    ".zlogin",
    ".zlogout",
    ".kshrc",
    ".mkshrc",
    ".cshrc",
    ".tcshrc",
    ".login",
    ".inputrc",
    ".xprofile",
    ".xinitrc",
    ".xsession",
    "config.fish",
];
const NAMES: [&str; 86] = [
    ".gitconfig",
    ".gitmodules",
    ".gitattributes",
    ".envrc",
    ".npmrc",
    ".yarnrc",
    ".yarnrc.yml",
    ".pnpmfile.cjs",
    ".pre-commit-config.yaml",
    ".mcp.json",
    ".ripgreprc",
    ".vimrc",
    ".exrc",
    ".nvimrc",
    ".nvim.lua",
    ".gdbinit",
    ".lldbinit",
    ".curlrc",
    "rust-toolchain",
    "rust-toolchain.toml",
    "mise.toml",
    ".mise.toml",
    ".direnvrc",
    ".autoenv",
    ".autoenv.zsh",
    ".pnp.cjs",
    ".pnp.loader.mjs",
    "lefthook.yml",
    ".lefthook.yml",
    "lefthook.yaml",
    ".gitlab-ci.yml",
    "sitecustomize.py",
    "usercustomize.py",
    ".pythonrc",
    ".rprofile",
    ".irbrc",
    ".pryrc",
    ".psqlrc",
    ".sqliterc",
    ".dir-locals.el",
    ".emacs",
    ".tmux.conf",
    ".screenrc",
    ".mailcap",
    ".lesskey",
    ".lessfilter",
    ".hgrc",
    ".lvimrc",
    ".local.vimrc",
    ".bazelrc",
    ".pam_environment",
    "pip.conf",
    ".travis.yml",
    "jenkinsfile",
    "azure-pipelines.yml",
    "azure-pipelines.yaml",
    "bitbucket-pipelines.yml",
    ".drone.yml",
    ".woodpecker.yml",
    ".woodpecker.yaml",
    "mise.local.toml",
    ".mise.local.toml",
    ".tool-versions",
    ".envrc.local",
    ".devcontainer.json",
    "lefthook.toml",
    ".lefthook.toml",
    ".lefthook.yaml",
    "lefthook-local.yml",
    ".cursorrules",
    ".windsurfrules",
    "opencode.json",
    "opencode.jsonc",
    ".aider.conf.yml",
    ".clinerules",
    "flake.nix",
    "shell.nix",
    "devenv.nix",
    "devbox.json",
    ".gitpod.yml",
    ".replit",
    ".lfsconfig",
    ".pdbrc",
    ".renviron",
    ".overcommit.yml",
    ".muttrc",
];
const FOLDERS: [&str; 43] = [
    ".vscode",
    ".idea",
    ".husky",
    ".githooks",
    ".github/workflows",
    ".devcontainer",
    ".direnv",
    ".claude",
    ".codex",
    ".gemini",
    ".cursor",
    ".del",
    ".config",
    ".local/state/del",
    ".yarn/releases",
    ".yarn/plugins",
    ".circleci",
    ".hg",
    ".jj",
    ".mvn",
    ".gradle",
    ".emacs.d",
    ".zed",
    ".helix",
    ".local/bin",
    ".buildkite",
    ".woodpecker",
    ".github/actions",
    ".mise",
    ".roo",
    ".amazonq",
    ".qwen",
    ".opencode",
    ".windsurf",
    ".kiro",
    ".continue",
    ".fleet",
    ".vs",
    ".vim",
    ".idx",
    "site-packages",
    ".ipython",
    ".local/share/applications",
];
const FILES: [&str; 2] = [".cargo/config.toml", ".cargo/config"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_runs_later_is_known_in_every_spelling() {
        for path in [
            ".bashrc",
            "a/.PROFILE",
            ".envrc",
            ".vscode/tasks.json",
            "x/.cargo/config.toml",
            ".DEL/config.toml",
            "/home/me/.config/del/config.toml",
            ".gitattributes",
            ".bashrc.",
            ".bash\u{200b}rc",
            ".envrc::$DATA",
            "rust-toolchain.toml ",
            ".github/workflows/ci.yml",
            "lib/sitecustomize.py",
            ".pnp.cjs",
            ".Mvn/extensions.xml",
            ".yarn/releases/yarn.cjs",
            ".travis.yml",
            "Jenkinsfile",
            ".buildkite/pipeline.yml",
            ".github/actions/x/action.yml",
            "x.code-workspace",
            ".roo/mcp.json",
            ".qwen/settings.json",
            "opencode.json",
            ".windsurf/hooks.json",
            ".kiro/hooks/x.json",
            "venv/lib/python3.12/site-packages/x.pth",
            "flake.nix",
            ".config/nvim/init.lua",
            ".config/nextest.toml",
            ".idx/dev.nix",
            "x.sublime-project",
        ] {
            assert!(is_obeyed(Path::new(path)), "{path:?}");
        }
        for path in [
            "src/main.rs",
            "config.toml",
            ".gitignore",
            "README.md",
            "cargo/config.toml",
            "vscode/x",
            ".github/x",
            "gradle/libs.toml",
            "mise.rs",
            "config/x",
            "venv/x.py",
            "default.nix",
            "model.pth",
            ".venv/bin/python",
        ] {
            assert!(!is_obeyed(Path::new(path)), "{path:?}");
        }
        assert!(is_startup(Path::new("/root/.bashrc")) && !is_startup(Path::new(".envrc")));
    }

    #[test]
    fn a_repository_is_known_in_every_spelling() {
        for path in [
            ".git",
            "a/.GIT/config",
            ".git./x",
            ".git /x",
            ".g\u{200c}it/x",
            "GIT~1/x",
            ".git:x/y",
            "a\\.git\\b",
        ] {
            assert!(is_repository(Path::new(path)), "{path:?}");
        }
        for path in [".gitignore", "git", ".github/x", "a.git/x", ""] {
            assert!(!is_repository(Path::new(path)), "{path:?}");
        }
    }
}
