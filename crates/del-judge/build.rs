//! A new file in `programs/` is a program that the judge knows.

fn main() -> std::io::Result<()> {
    del_embed::descriptions("programs")
}
