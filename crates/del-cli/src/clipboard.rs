//! The clipboard: by a program of the desktop, or by the terminal itself, also over ssh.

use std::io::Write;
use std::process::{Command, Stdio};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// Programs that take the text from their input, and the variable without which they have no desktop.
const PROGRAMS: [(&str, &[&str], &str); 4] = [
    ("wl-copy", &[], "WAYLAND_DISPLAY"),
    ("xclip", &["-selection", "clipboard"], "DISPLAY"),
    ("xsel", &["--clipboard", "--input"], "DISPLAY"),
    ("pbcopy", &[], "HOME"),
];
/// Terminals take no more than this.
const LONGEST: usize = 74_000;

/// Puts a text there. How, or why not.
pub(crate) fn copy(text: &str, terminal: bool) -> Result<&'static str, String> {
    let remote = std::env::var_os("SSH_CONNECTION").is_some();
    for (program, arguments, variable) in PROGRAMS {
        if !remote && std::env::var_os(variable).is_some() && run(program, arguments, text) {
            return Ok(program);
        }
    }
    if !terminal {
        return Err(
            "there is no program that reaches the clipboard, and no terminal to ask for it".to_owned()
        );
    }
    if text.len() > LONGEST {
        return Err(format!(
            "the answer has {} bytes, more than terminals take; /export writes it to a file",
            text.len()
        ));
    }
    // The letters of Base64 are all that a terminal gets of the text.
    let escape = format!("\u{1b}]52;c;{}\u{7}", STANDARD.encode(text));
    let mut stderr = std::io::stderr().lock();
    stderr.write_all(escape.as_bytes()).and_then(|()| stderr.flush()).map_err(|error| error.to_string())?;
    Ok("by the terminal, if it allows that")
}

fn run(program: &str, arguments: &[&str], text: &str) -> bool {
    let child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let Ok(mut child) = child else { return false };
    let written = child.stdin.take().is_some_and(|mut input| input.write_all(text.as_bytes()).is_ok());
    written && child.wait().is_ok_and(|status| status.success())
}
