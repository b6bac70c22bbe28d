//! The bar of long runs.

use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A bar where somebody watches, and nothing of the output is in its way.
pub(crate) fn bar(size: Option<u64>) -> ProgressBar {
    let watched = std::io::stderr().is_terminal() && !std::io::stdout().is_terminal();
    let target = if watched { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
    let bar = ProgressBar::with_draw_target(size, target);
    let form = if size.is_some() {
        "{bar:30} {percent}% · {binary_bytes_per_sec} · {msg} · {eta} left"
    } else {
        "{spinner} {binary_bytes} · {binary_bytes_per_sec} · {msg}"
    };
    if let Ok(style) = ProgressStyle::with_template(form) {
        bar.set_style(style);
    }
    if watched {
        bar.enable_steady_tick(Duration::from_millis(200));
    }
    bar
}
