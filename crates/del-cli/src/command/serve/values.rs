//! Values of options that are more than words.

use std::net::{SocketAddr, ToSocketAddrs};
use std::time::Duration;

/// A size in bytes, which is not 0.
pub(super) fn size(text: &str) -> Result<usize, String> {
    let (digits, factor) = match text.char_indices().next_back() {
        Some((at, 'k' | 'K')) => (&text[..at], 1 << 10),
        Some((at, 'm' | 'M')) => (&text[..at], 1 << 20),
        Some((at, 'g' | 'G')) => (&text[..at], 1 << 30),
        _ => (text, 1),
    };
    let bytes = digits.parse::<usize>().ok().and_then(|number| number.checked_mul(factor));
    bytes
        .filter(|bytes| *bytes > 0)
        .ok_or_else(|| format!("expected a size such as 500000, 512K or 32M, got `{text}`"))
}

/// The same, or 0.
pub(super) fn size_or_none(text: &str) -> Result<usize, String> {
    if text == "0" { Ok(0) } else { size(text) }
}

/// A span of time, which is not 0.
pub(super) fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.trim_end_matches('s').parse().ok().filter(|seconds| *seconds > 0.0);
    let span = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    span.ok_or_else(|| format!("expected a number of seconds above 0, such as 30 or 0.5, got `{text}`"))
}

/// A number that is not 0.
pub(super) fn count(text: &str) -> Result<u32, String> {
    let number = text.parse().ok().filter(|number| *number > 0);
    number.ok_or_else(|| format!("expected a number above 0, got `{text}`"))
}

/// An address to listen on.
pub(super) fn address(text: &str) -> Result<SocketAddr, String> {
    let found = text.to_socket_addrs().ok().and_then(|mut found| found.next());
    found.ok_or_else(|| format!("expected an address such as 127.0.0.1:8787, got `{text}`"))
}

/// A site, as browsers name it in `Origin`.
pub(super) fn origin(text: &str) -> Result<String, String> {
    let plain =
        |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'*');
    let parts =
        text.split_once("://").filter(|(scheme, host)| plain(scheme) && plain(host) && !host.contains('/'));
    let origin = parts.map(|(scheme, host)| format!("{scheme}://{host}").to_ascii_lowercase());
    origin.ok_or_else(|| {
        format!("expected the origin of a site, such as https://app.example:8443, got `{text}`")
    })
}

/// The value of a variable of the environment that holds a key.
pub(super) fn key(variable: &str) -> Result<String, String> {
    let key = std::env::var(variable).ok().filter(|key| !key.trim().is_empty());
    key.ok_or_else(|| format!("expected a variable that holds a key, got {variable}, which is not set"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read() {
        assert_eq!(
            [size("7"), size("2k"), size("3M"), size("1G")],
            [Ok(7), Ok(2048), Ok(3 << 20), Ok(1 << 30)]
        );
        for wrong in ["", "0", "M", "-1", "1.5M", "99999999999999G"] {
            assert!(size(wrong).is_err(), "{wrong}");
        }
        assert_eq!((size_or_none("0"), size_or_none("1K")), (Ok(0), Ok(1024)));
        assert_eq!((count("3"), count("0").is_err()), (Ok(3), true));
    }

    #[test]
    fn origins_are_read() {
        for (text, read) in [
            ("https://app.example:8443", "https://app.example:8443"),
            ("HTTP://Localhost:3000", "http://localhost:3000"),
            ("app://notes", "app://notes"),
        ] {
            assert_eq!(origin(text).as_deref(), Ok(read));
        }
        for wrong in [
            "",
            "*",
            "null",
            "app.example",
            "https://",
            "https://app.example/",
            "https://*.example",
            "a b://c",
        ] {
            assert!(origin(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn spans_of_time_are_read() {
        assert_eq!(seconds("0.5"), Ok(Duration::from_millis(500)));
        assert_eq!(seconds("30s"), Ok(Duration::from_secs(30)));
        for wrong in ["", "0", "-1", "nan", "inf", "1m", "1e30"] {
            assert!(seconds(wrong).is_err(), "{wrong}");
        }
    }
}
