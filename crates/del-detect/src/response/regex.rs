//! The regular expressions of a response template, in the notation of Python's `regex`, which `transformers` reads them
//! with: `(?1)` is what group 1 is once more, `\K` lets a match begin where it stands.

use del_dialects::description::{HeadForm, Mark, Need, Slot};

/// What a name consists of.
const NAME: &str = r#"[^\s"'<>{}()\[\]]"#;

/// Text as it stands.
pub(super) fn literal(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if !c.is_alphanumeric()
            && c.is_ascii()
            && !matches!(c, '\n' | ' ' | '_' | '<' | '>' | '/' | ':' | '"' | '\'' | ',')
        {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

/// One of these; the longest first, for the first that fits counts. Nothing where there are none.
pub(super) fn either<'t>(texts: impl IntoIterator<Item = &'t str>) -> String {
    let mut texts: Vec<&str> = texts.into_iter().filter(|text| !text.is_empty()).collect();
    texts.sort_by(|a, b| b.len().cmp(&a.len()).then(a.cmp(b)));
    texts.dedup();
    let spelled: Vec<String> = texts.iter().map(|text| spelling(text)).collect();
    match &spelled[..] {
        [] => String::new(),
        [one] => one.clone(),
        _ => format!("(?:{})", spelled.join("|")),
    }
}

/// One spelling of a mark. A NUL in it is any colon and word.
fn spelling(text: &str) -> String {
    literal(text).replace("\\\0", r":\w+")
}

/// A mark in all its spellings, with free white space around.
pub(super) fn mark(mark: &Mark) -> String {
    let texts = mark.read.iter().map(String::as_str);
    // A mark of white space alone has no spelling without it.
    let spelled = if texts.clone().all(str::is_empty) { String::new() } else { either(texts) };
    let line = if mark.line_start { r"(?:\A|(?<=\n))" } else { "" };
    format!(r"\s*{line}{spelled}\s*")
}

/// The same where it may be missing.
pub(super) fn maybe(one: &Mark) -> String {
    match mark(one) {
        free if free == r"\s*\s*" => r"\s*".to_owned(),
        one => format!("(?:{one})?"),
    }
}

/// True when a call without this mark is one all the same.
pub(super) fn may_be_missing(mark: &Mark) -> bool {
    mark.need != Need::Must
}

/// A head; its name is the group `name`, its id the group `id`.
pub(super) fn head(form: &HeadForm) -> String {
    let parts: String = form
        .parts
        .iter()
        .map(|part| match part {
            Slot::Text(text) => literal(text),
            Slot::Name => format!("(?P<name>{NAME}+)"),
            Slot::Id => format!("(?P<id>{NAME}*)"),
            Slot::Number => r"(?P<id>\d+)".to_owned(),
            Slot::Index => r"\d+".to_owned(),
            _ => String::new(),
        })
        .collect();
    if form.is_id { format!("(?P<id>{parts})") } else { parts }
}

/// A head that says nothing that is needed.
pub(super) fn passed_over(form: &HeadForm) -> String {
    head(form).replace("(?P<id>", "(?:").replace("(?P<name>", "(?:")
}
