//! A new file in `programs/` is a formatter, a linter, a runner of tests or a form of their summaries.

fn main() -> std::io::Result<()> {
    del_embed::descriptions("programs")
}
