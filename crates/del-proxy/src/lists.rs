//! Lists of names and ids that others gave, in headers and in comments of streams.

use std::borrow::Cow;

use axum::http::{HeaderMap, HeaderName, HeaderValue};

/// What a list takes of a header, in bytes. There are six of them, and whoever stands in front may refuse an answer whose
/// headers take more than 8 KiB.
const MOST: usize = 1024;
/// What it takes to say how many more there are.
const REST: usize = 12;

/// Adds a header that lists these names, where there are some. Those that it has no room for are counted at its end: `+3`.
pub(crate) fn insert<N: AsRef<str>>(headers: &mut HeaderMap, header: &'static str, names: &[N]) {
    let mut list = String::new();
    let mut left = names.len();
    for name in names {
        let name = spelt(name.as_ref());
        if list.len() + name.len() + 1 > MOST - REST {
            break;
        }
        add(&mut list, &name);
        left -= 1;
    }
    if left > 0 {
        add(&mut list, &format!("+{left}"));
    }
    if let Ok(value) = HeaderValue::from_str(&list)
        && !names.is_empty()
    {
        headers.insert(HeaderName::from_static(header), value);
    }
}

/// All of these names in one line.
pub(crate) fn line<N: AsRef<str>>(names: impl IntoIterator<Item = N>) -> String {
    let mut list = String::new();
    for name in names {
        add(&mut list, &spelt(name.as_ref()));
    }
    list
}

fn add(list: &mut String, name: &str) {
    if !list.is_empty() {
        list.push(',');
    }
    list.push_str(name);
}

/// Commas, and what is no visible ASCII, as addresses write it.
fn spelt(name: &str) -> Cow<'_, str> {
    percent_encoded(name, |byte| byte.is_ascii_graphic() && !matches!(byte, b',' | b'%'))
}

/// A name with all but plain bytes as addresses write them.
pub(crate) fn percent_encoded(name: &str, is_plain: impl Fn(u8) -> bool) -> Cow<'_, str> {
    if name.bytes().all(&is_plain) {
        return Cow::Borrowed(name);
    }
    let spell = |byte: u8| if is_plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    Cow::Owned(name.bytes().map(spell).collect())
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderMap;

    use super::{MOST, insert, line};

    fn header(names: &[String]) -> String {
        let mut headers = HeaderMap::new();
        insert(&mut headers, "x-test", names);
        headers.get("x-test").map(|value| value.to_str().unwrap().to_owned()).unwrap_or_default()
    }

    #[test]
    fn a_header_says_how_much_it_has_no_room_for() {
        assert_eq!(header(&[]), "");
        assert_eq!(header(&["a,b".to_owned(), "é".to_owned()]), "a%2Cb,%C3%A9");
        assert_eq!(header(&["a".to_owned(), "x".repeat(9000), "b".to_owned()]), "a,+2");
        let many: Vec<String> = (0..100_000).map(|number| format!("name{number}")).collect();
        let told = header(&many);
        let (names, rest) = told.rsplit_once(",+").unwrap();
        assert!(told.len() <= MOST, "{}", told.len());
        assert_eq!(names.split(',').count() + rest.parse::<usize>().unwrap(), many.len());
        assert_eq!(line(&many).split(',').count(), many.len());
    }
}
