//! Content codings: how bodies may be packed.

/// Those that are known.
pub(crate) const KINDS: &str = "gzip, deflate, zstd";
/// A body is not packed.
pub(crate) const PLAIN: &str = "identity";

/// What a word for it means, in its usual spelling. `None` for one that is not known.
pub(crate) fn known(word: &str) -> Option<&'static str> {
    Some(match word.trim().to_ascii_lowercase().as_str() {
        "" | PLAIN => PLAIN,
        "gzip" | "x-gzip" => "gzip",
        "deflate" => "deflate",
        "zstd" => "zstd",
        _ => return None,
    })
}
