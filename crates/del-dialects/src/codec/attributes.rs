//! What stands in an attribute inside a mark, as it is read and written.

use std::borrow::Cow;

/// A value as it is meant.
pub(crate) fn read(value: &str) -> Cow<'_, str> {
    if value.contains('&') {
        return Cow::Owned(value.replace("&quot;", "\"").replace("&amp;", "&"));
    }
    Cow::Borrowed(value)
}

/// A value as it is written.
pub(crate) fn written(value: &str) -> Cow<'_, str> {
    if value.contains(['&', '"']) {
        return Cow::Owned(value.replace('&', "&amp;").replace('"', "&quot;"));
    }
    Cow::Borrowed(value)
}
