//! What a value looks like: a secret, or a word that stands where one will be.

/// Words that stand where a secret will be, or that documents give for one.
pub(super) fn is_placeholder(value: &str) -> bool {
    let lower = value.to_lowercase();
    let words =
        ["example", "changeme", "change_me", "placeholder", "your", "xxxx", "dummy", "<", "todo", "redacted"];
    let whole = [
        "pass",
        "password",
        "passwd",
        "passw0rd",
        "pwd",
        "pw",
        "secret",
        "secretpass",
        "xxx",
        "***",
        "...",
        "tiger",
        "guest",
        "user",
        "username",
        "mypassword",
        "mypass",
        "token",
    ];
    words.iter().any(|word| lower.contains(word)) || whole.contains(&lower.as_str())
}

/// Whether a value looks like a word rather than like a secret.
pub(super) fn is_plain(value: &str) -> bool {
    let has = |kind: fn(&u8) -> bool| value.as_bytes().iter().any(kind);
    value.len() < 8 || !has(u8::is_ascii_digit) || !has(u8::is_ascii_alphabetic)
}

/// The first four characters and no more.
pub(super) fn masked(value: &str) -> String {
    let start: String = value.chars().take(4).filter(|c| !c.is_control()).collect();
    format!("{start}…")
}

/// Bits for each character, by how often each is there.
pub(super) fn entropy(value: &str) -> f64 {
    let mut counts = [0_u32; 256];
    value.bytes().for_each(|byte| counts[usize::from(byte)] += 1);
    let total: f64 = counts.iter().map(|count| f64::from(*count)).sum();
    let bits = counts.iter().filter(|count| **count > 0).map(|count| {
        let share = f64::from(*count) / total;
        -share * share.log2()
    });
    bits.sum()
}
