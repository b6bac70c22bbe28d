//! What marks carry that differs from checkpoint to checkpoint.

/// In a spelling: a colon and a word of up to [`MAX_WORD`] letters, digits, `_`, `.` and `-`.
pub(crate) const SUFFIX: char = '\0';

/// The longest word of a suffix, in bytes.
pub(crate) const MAX_WORD: usize = 32;

/// True for a byte that a suffix may be made of.
pub(crate) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-')
}
