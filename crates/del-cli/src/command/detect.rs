//! `del detect`: which dialect a template, a checkpoint or an answer is in.

mod confined;

use std::io::Write;
use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use del_detect::{Material, Report, Ways};
use del_tools::visible;

use crate::arguments::Common;
use crate::catalog::Catalog;
use crate::exit::Exit;
use crate::input::Input;
use crate::terminal::shown;

/// Find out which dialect a chat template, a checkpoint or an answer is in
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// A chat template, `tokenizer_config.json`, a GGUF file, a checkpoint's folder, or what a model wrote
    /// [default: standard input]
    file: Option<PathBuf>,
    /// Go by what a template writes alone, not by its text
    #[arg(long)]
    rendering_only: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Look at what stands on standard input, with little time and memory
    #[arg(long, hide = true)]
    confined: bool,
}

pub(crate) fn run(options: &Options, common: &Common) -> Result<Exit> {
    if options.confined {
        return confined::answer(Catalog::load(common.dialect_dir.as_deref())?);
    }
    let material = material(options)?;
    let ways = if options.rendering_only { Ways::Rendering } else { Ways::All };
    let report = confined::ask(&confined::Question { material, ways }, common)?;
    let mut out = std::io::stdout().lock();
    if options.json {
        writeln!(out, "{}", shown(&format!("{:#}", serde_json::to_value(&report)?)))?;
    } else {
        out.write_all(visible(&text(&report)).as_bytes())?;
    }
    Ok(Exit::Done)
}

fn material(options: &Options) -> Result<Material> {
    let bad = |error: del_detect::SourceError| Exit::BadInput.because(error.to_string());
    match options.file.as_deref().filter(|path| *path != std::path::Path::new("-")) {
        Some(path) => Material::read(path).map_err(bad),
        None => {
            let text = Input::open(None)?.text()?;
            Material::of_text(&text, std::path::Path::new("-")).map_err(bad)
        }
    }
}

/// The report for a person.
fn text(report: &Report) -> String {
    let sure = |confidence: f64| format!("{:.0} % sure", confidence * 100.0);
    let first = match (&report.dialect, report.tool_calls) {
        (Some(dialect), _) => format!("{dialect} ({})", sure(report.confidence)),
        (None, true) => format!("tool calls in no known dialect ({})", sure(report.confidence)),
        (None, false) => format!("no tool calls ({})", sure(report.confidence)),
    };
    let mut lines = vec![first];
    lines.extend(report.evidence.iter().map(|line| format!("  - {line}")));
    if let Some(thinking) = &report.reasoning {
        let where_ = if thinking.prefilled { ", begun by the prompt" } else { "" };
        lines.push(format!("  - thinking between {:?} and {:?}{where_}", thinking.begin, thinking.end));
    }
    lines.extend(report.warnings.iter().map(|line| format!("  ! {line}")));
    if let Some(instead) = &report.instead {
        lines.push(format!(
            "  > to call tools all the same: --tools-mode {} --dialect {}",
            instead.tools_mode, instead.dialect
        ));
    }
    lines.join("\n") + "\n"
}
