//! Findings of linters, all in one form.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::tables::{Form, Linter};
use crate::text::on_one_line;

/// Something that a linter found.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Finding {
    pub(crate) severity: Severity,
    /// As the linter wrote it, until it is found below the root.
    pub(crate) path: String,
    pub(crate) line: u64,
    pub(crate) column: u64,
    pub(crate) rule: Option<String>,
    pub(crate) message: String,
}

/// How bad it is; the worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Severity {
    Error,
    Warning,
    Note,
}

impl Severity {
    fn parse(word: &str) -> Self {
        match word.trim_matches(['[', ']']).to_ascii_lowercase().as_str() {
            "error" | "fatal" | "e" | "f" | "critical" => Self::Error,
            "note" | "info" | "notice" | "style" | "help" | "hint" | "convention" | "c" | "refactor"
            | "r" => Self::Note,
            _ => Self::Warning,
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Note => "note",
        }
    }
}

impl Finding {
    /// `path:line:column severity [rule] message`, on one line.
    pub(crate) fn shown(&self) -> String {
        let rule = self.rule.as_ref().map(|rule| format!("[{rule}] ")).unwrap_or_default();
        let text = format!(
            "{}:{}:{} {} {rule}{}",
            self.path,
            self.line,
            self.column,
            self.severity.word(),
            self.message
        );
        on_one_line(&text)
    }

    /// Names the file from `root`, where `directory` is where the linter ran; programs name files from there or from a
    /// directory above.
    pub(crate) fn rooted(mut self, directory: &Path, root: &Path) -> Self {
        let given = PathBuf::from(&self.path);
        let bases = directory.ancestors().take_while(|base| base.starts_with(root));
        let found = bases.map(|base| base.join(&given)).find(|path| path.exists());
        let path = found.unwrap_or_else(|| directory.join(&given));
        let path = path.strip_prefix(root).map(Path::to_owned).unwrap_or(path);
        let plain: PathBuf = path.components().filter(|part| *part != std::path::Component::CurDir).collect();
        self.path = plain.to_string_lossy().into_owned();
        self
    }
}

/// What `linter` found, by what it wrote.
pub(crate) fn read(linter: &Linter, output: &str) -> Vec<Finding> {
    match linter.form {
        Some(Form::Cargo) => output.lines().filter_map(cargo).collect(),
        Some(Form::Eslint) => eslint(output),
        None => output.lines().filter_map(|line| plain(linter, line)).collect(),
    }
}

fn plain(linter: &Linter, line: &str) -> Option<Finding> {
    let read = linter.lines.iter().find_map(|template| template.read(line.trim()))?;
    let rule = read.get("rule").map(str::to_owned);
    let message = read.get("message").unwrap_or_default().trim().to_owned();
    let is_error = |text: &str| linter.errors.iter().any(|start| text.starts_with(start.as_str()));
    let severity = match read.get("severity") {
        Some(word) => Severity::parse(word),
        None if rule.as_deref().is_some_and(is_error) || is_error(&message) => Severity::Error,
        None => Severity::Warning,
    };
    Some(Finding {
        severity,
        path: read.get("path")?.to_owned(),
        line: read.number("line")?,
        column: read.number("column").unwrap_or(1),
        rule,
        message,
    })
}

/// A line of cargo's messages.
fn cargo(line: &str) -> Option<Finding> {
    let value: Value = serde_json::from_str(line).ok().filter(|value: &Value| value.is_object())?;
    let message = value.get("message").filter(|_| value["reason"] == "compiler-message")?;
    let spans = message["spans"].as_array()?;
    let span = spans.iter().find(|span| span["is_primary"] == true)?;
    Some(Finding {
        severity: Severity::parse(message["level"].as_str()?),
        path: span["file_name"].as_str()?.to_owned(),
        line: span["line_start"].as_u64()?,
        column: span["column_start"].as_u64()?,
        rule: message["code"]["code"].as_str().map(str::to_owned),
        message: message["message"].as_str()?.to_owned(),
    })
}

fn eslint(output: &str) -> Vec<Finding> {
    let list = output.find('[').and_then(|at| serde_json::from_str::<Value>(output[at..].trim()).ok());
    let files = list.as_ref().and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let mut findings = Vec::new();
    for file in files {
        let path = file["filePath"].as_str().unwrap_or_default();
        for message in file["messages"].as_array().map(Vec::as_slice).unwrap_or_default() {
            findings.push(Finding {
                severity: if message["severity"] == 2 { Severity::Error } else { Severity::Warning },
                path: path.to_owned(),
                line: message["line"].as_u64().unwrap_or(1),
                column: message["column"].as_u64().unwrap_or(1),
                rule: message["ruleId"].as_str().map(str::to_owned),
                message: message["message"].as_str().unwrap_or_default().to_owned(),
            });
        }
    }
    findings
}

#[cfg(test)]
#[path = "findings_tests.rs"]
mod tests;
