//! Where a request stands in a trace, as W3C's `traceparent` says it.

use axum::http::{HeaderMap, HeaderName, HeaderValue};

use super::text_of;
use crate::stamp::unique;

const PARENT: &str = "traceparent";

/// The ids of a request in a trace.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Trace {
    /// That of the trace: 32 digits.
    pub id: String,
    /// That of the client's span: 16 digits.
    pub parent: Option<String>,
    /// That of this request's span.
    pub span: String,
    /// That of the span in which model servers are asked.
    pub asking: String,
    /// Whether whoever began the trace wants to see it.
    pub sampled: bool,
}

impl Trace {
    /// The trace that a client goes on with, or a new one.
    pub(super) fn of(headers: &HeaderMap) -> Self {
        let (span, asking) = (unique(), unique());
        match text_of(headers, PARENT).and_then(parse) {
            Some((id, parent, sampled)) => {
                Self { id: id.to_owned(), parent: Some(parent.to_owned()), span, asking, sampled }
            }
            None => Self { id: unique() + &unique(), parent: None, span, asking, sampled: true },
        }
    }

    /// Tells the model server where it stands.
    pub(super) fn pass_on(&self, headers: &mut HeaderMap) {
        let value = format!("00-{}-{}-{:02x}", self.id, self.asking, u8::from(self.sampled));
        if let Ok(value) = HeaderValue::from_str(&value) {
            headers.insert(HeaderName::from_static(PARENT), value);
        }
    }
}

/// The trace, the span, and whether it is sampled.
fn parse(value: &str) -> Option<(&str, &str, bool)> {
    let mut parts = value.split('-');
    let (version, id, span, flags) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
    let is_hex = |text: &str, length: usize| {
        text.len() == length && text.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'))
    };
    let names = |text: &str| text.bytes().any(|digit| digit != b'0');
    // Later versions may say more behind the flags.
    let ends = version != "00" || parts.next().is_none();
    let right = is_hex(version, 2) && version != "ff" && ends && is_hex(flags, 2);
    let right = right && is_hex(id, 32) && names(id) && is_hex(span, 16) && names(span);
    let flags = u8::from_str_radix(flags, 16).ok()?;
    right.then_some((id, span, flags & 1 == 1))
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderMap;

    use super::{PARENT, Trace, parse};

    const ID: &str = "0af7651916cd43dd8448eb211c80319c";

    #[test]
    fn a_trace_goes_on() {
        let mut headers = HeaderMap::new();
        headers.insert(PARENT, format!("00-{ID}-b7ad6b7169203331-00").parse().unwrap());
        let trace = Trace::of(&headers);
        assert_eq!((trace.id.as_str(), trace.parent.as_deref()), (ID, Some("b7ad6b7169203331")));
        assert!(!trace.sampled);
        trace.pass_on(&mut headers);
        assert_eq!(headers[PARENT], format!("00-{ID}-{}-00", trace.asking));
    }

    #[test]
    fn what_is_no_trace_begins_a_new_one() {
        for value in [
            "",
            "00-x-y-01",
            "00-00000000000000000000000000000000-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
            "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more",
        ] {
            assert_eq!(parse(value), None, "{value}");
        }
        assert!(parse("01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more").is_some());
        let (one, other) = (Trace::of(&HeaderMap::new()), Trace::of(&HeaderMap::new()));
        assert!(one.sampled && one.id.len() == 32 && one.id != other.id && one.span != one.asking);
    }
}
