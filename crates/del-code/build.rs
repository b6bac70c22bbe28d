//! A new file in `languages/` is a language that is read.

fn main() -> std::io::Result<()> {
    del_embed::descriptions("languages")
}
