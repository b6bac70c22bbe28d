//! `del`.
#![forbid(unsafe_code)]

use std::process::ExitCode;

/// The proxy and all that is done over records free on one thread what another took.
#[cfg(target_os = "linux")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    del_cli::main()
}
