//! What the user is shown of what a directory brings along.

use std::borrow::Cow;
use std::fmt::Write;

use del_tools::{counted, visible};

use super::{Kind, Part, Project};
use crate::config::{Config, Layers, Setting};
use crate::hooks::{self, Hook};
use crate::layout::QUOTED;
use crate::prompts::{self, Prompt};

/// How much of the words for a model is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Length {
    /// How each file begins
    Short,
    Whole,
}

/// Lines of a file, and characters of one, that are shown before all of it is asked for.
const LINES: usize = 12;
const CHARACTERS: usize = 400;

impl Project {
    /// What these parts would change, where `layers` is what the user's own files set.
    pub(crate) fn question(&self, layers: &Layers, length: Length, which: impl Fn(&Part) -> bool) -> String {
        let root = one_line(&self.root.display().to_string());
        let mut text = format!("{root} brings along what would be followed here:");
        for part in self.parts.iter().filter(|part| which(part)) {
            // Writing to a string cannot fail.
            let _ = write!(text, "\n  {}", one_line(&self.name(part)));
            match &part.kind {
                Kind::Settings(config) => {
                    tell_settings(&mut text, config, layers);
                    tell_hooks(&mut text, &config.hooks);
                }
                Kind::Servers(config) => tell_servers(&mut text, config),
                Kind::Prompt(prompt) => tell_prompt(&mut text, prompt, &part.content, length),
            }
        }
        visible(&text).into_owned()
    }
}

fn tell_settings(text: &mut String, config: &Config, layers: &Layers) {
    let refused = layers.refused(config);
    let counts = |setting: &&Setting| refused.iter().all(|refused| refused.line != setting.line);
    for setting in config.settings.iter().filter(counts) {
        let _ = write!(text, "\n    {} = {}", setting.key.name, one_line(&setting.values.join(", ")));
    }
    for refused in &refused {
        let _ =
            write!(text, "\n    without {} (line {}): {}", refused.key, refused.line, one_line(&refused.why));
    }
}

fn tell_hooks(text: &mut String, hooks: &[Hook]) {
    if !hooks.is_empty() {
        text.push_str("\n    hooks: commands that would run, with your rights and outside of the sandbox");
        for line in hooks::lines(hooks).lines() {
            let _ = write!(text, "\n      {line}");
        }
    }
}

fn tell_prompt(text: &mut String, prompt: &Prompt, content: &[u8], length: Length) {
    let what = match prompt.kind {
        prompts::Kind::Command => format!("words for the model behind /{}", prompt.name),
        prompts::Kind::Skill => format!("a skill, which the model may read by itself: {}", prompt.name),
    };
    let _ = write!(text, ": {what}");
    let content = String::from_utf8_lossy(content);
    let lines: Vec<&str> = content.trim_end().lines().collect();
    let most = match length {
        Length::Short if lines.len() > LINES => LINES - 1,
        _ => lines.len(),
    };
    for line in &lines[..most] {
        let _ = write!(text, "\n    {QUOTED}{}", begun(line, length));
    }
    if most < lines.len() {
        let _ = write!(text, "\n    … {}", counted(lines.len() - most, "more line"));
    }
}

fn begun(line: &str, length: Length) -> Cow<'_, str> {
    match line.char_indices().nth(CHARACTERS) {
        Some((end, _)) if length == Length::Short => format!("{}…", &line[..end]).into(),
        _ => line.into(),
    }
}

fn tell_servers(text: &mut String, config: &del_mcp::Config) {
    text.push_str(": programs that would be started, with your rights and outside of the sandbox");
    for server in &config.servers {
        let _ = write!(text, "\n    {}", server.name);
        for line in server.launch.lines() {
            let _ = write!(text, "\n      {}", one_line(&line));
        }
    }
}

fn one_line(text: &str) -> String {
    text.replace('\n', "\u{2424}")
}
