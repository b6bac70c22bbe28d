//! Arguments as keys and values between marks.

use super::check::DialectError;
use super::form::{Slot, parts};
use super::record::{record, variants};
use super::table::Table;

record! {
    /// One argument between marks, such as `<parameter={key}>\n{value}\n</parameter>\n`.
    pub struct FieldForm {
        /// Text and slots, in order.
        pub parts: Vec<Slot>,
        /// Opens the header that holds the key, without the quote before the key: the written spelling first.
        pub open: Vec<String>,
        /// What opens the header may be missing, which is fine: the key tells.
        pub free: bool,
        /// Closes the header.
        pub header_close: Vec<String>,
        /// Opens the value, where that is a mark of its own.
        pub value_open: Vec<String>,
        /// Marks around the type of the value, which may stand before the value's own mark: read, and not written.
        pub typed: Option<[Vec<String>; 2]>,
        /// May stand between two marks, and means nothing.
        pub noise: Vec<String>,
        /// Closes the value, the written spelling first; holds `{key}` when the key is repeated there.
        pub value_close: Vec<String>,
        /// What ends a value that nothing closes: the opener of the next field, and the mark behind the arguments.
        pub borders: Vec<String>,
        /// How the key stands in the header.
        pub key: KeyKind,
        /// One newline after the header and one before the closer belong to the markup.
        pub framed: bool,
        /// Values carry XML entities or stand in CDATA sections.
        pub xml: bool,
        /// Values are JSON, so that texts stand in quotes.
        pub json: bool,
        /// Texts stand as they are, or in the ways in which YAML writes them.
        pub yaml: bool,
        /// Non-strings are written as Python does.
        pub python: bool,
        /// So are objects and arrays.
        pub containers: bool,
        /// The words of `{type}` for text, an object, a list and anything else; JSON's own where there are none.
        pub types: Option<[String; 4]>,
        /// Values may be elements of the same form.
        pub nest: Option<Nest>,
    }
}

record! {
    /// Objects and lists as elements inside an element.
    pub struct Nest {
        /// An item of a list: text and slots, in order.
        pub item: Vec<Slot>,
        /// The key that an item carries, where it carries one.
        pub key: Option<String>,
        /// Objects and lists are written as elements; otherwise they are only read so, and written as JSON.
        pub written: bool,
    }
}

/// How the key stands in the header of a field.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum KeyKind {
    /// Bare or quoted, perhaps with attributes behind it.
    #[default]
    First,
    /// Alone: the header is nothing else.
    Whole,
    /// As the attribute of this name.
    Attribute(String),
}

variants!(KeyKind { First, Whole, Attribute(name) });

/// What opens a field has at least so many bytes where nothing closes its value.
const MIN_OPENER: usize = 3;

impl FieldForm {
    /// True when the value's closer holds the key.
    pub fn repeats_key(&self) -> bool {
        self.value_close.iter().any(|mark| mark.contains("{key}"))
    }

    /// The tag that holds the value in an attribute, where it stands in one.
    pub fn tag(&self) -> Option<&str> {
        let tag = self.open.first()?.strip_prefix('<')?.split(' ').next()?;
        self.value_close.iter().any(|close| close == "\"/>").then_some(tag)
    }

    /// True where values are attributes of XML: each ends at the quote that it began with.
    pub fn is_quoted(&self) -> bool {
        let ends = |marks: &[String]| marks.first().is_some_and(|mark| mark.contains('"'));
        self.xml && ends(&self.header_close) && ends(&self.value_close)
    }

    /// What stands for characters that mean something around a value: those of XML, and the quotes of an attribute.
    pub fn entities(&self) -> &'static [(char, &'static str)] {
        const ALL: &[(char, &str)] = &[('<', "&lt;"), ('>', "&gt;"), ('&', "&amp;"), ('"', "&quot;")];
        match self.xml {
            true if self.is_quoted() => ALL,
            true => &ALL[..3],
            false => &[],
        }
    }

    /// True for an attribute of that tag in every field.
    pub fn has_attribute(&self, name: &[u8]) -> bool {
        let marks = self.open.iter().chain(&self.header_close);
        let names = |mark: &str| {
            mark.split(' ').any(|part| part.strip_suffix("=\"").map(str::as_bytes) == Some(name))
        };
        marks.into_iter().any(|mark| names(mark))
    }

    /// The form of a value that has no markup of its own.
    pub fn raw() -> Self {
        Self { parts: vec![Slot::Value], ..Self::default() }
    }

    /// Keys and values between marks; in `elements` objects and lists are written as fields, too.
    pub(super) fn fields(table: &mut Table<'_>, elements: bool) -> Result<Self, DialectError> {
        let field = table.need("form")?;
        let item = if elements { Some(table.need("item")?) } else { table.take("item") };
        let mut form = field.form(|text| Self::new(text, item.is_some()))?;
        let source = table.source;
        for marks in [&mut form.open, &mut form.header_close, &mut form.value_open, &mut form.value_close] {
            *marks = source.cores(marks);
        }
        form.values(table)?;
        form.xml = !form.json && table.get("xml")?;
        if form.is_quoted() {
            // Either quote may stand around an attribute.
            for marks in [&mut form.header_close, &mut form.value_close] {
                marks.extend(marks.clone().iter().map(|mark| mark.replace('"', "'")));
            }
        }
        // What may stand in a tag may also stand behind it, up to its closing one.
        if let Some(closing) = form.tag().map(|tag| format!("</{tag}>")) {
            form.header_close.push(">".to_owned());
            form.value_close.push(closing);
        }
        form.noise = table.get("noise")?;
        form.free |= table.get::<bool>("free")?;
        if !form.value_open.is_empty() {
            let typed = table.get::<Option<[String; 2]>>("typed")?;
            form.typed = typed.map(|marks| marks.map(|mark| source.cores(&[mark])));
        }
        if form.parts.contains(&Slot::Type) {
            form.types = table.get("types")?;
        }
        if let Some(item) = item {
            form.nest = Some(item.form(|item| form.nest(item, elements))?);
        }
        Ok(form)
    }

    /// Keys and values on lines of their own.
    pub(super) fn lines(table: &mut Table<'_>) -> Result<Self, DialectError> {
        let mut form = table.need("form")?.form(Self::line)?;
        form.values(table)?;
        Ok(form)
    }

    /// How values are written.
    fn values(&mut self, table: &mut Table<'_>) -> Result<(), DialectError> {
        // All as JSON, texts as YAML writes them, all but texts as Python does, or of these only the words for true, false
        // and null.
        let kinds = [
            ("json", [true, false, false, false]),
            ("yaml", [false, true, false, false]),
            ("python", [false, false, true, true]),
            ("words", [false, false, true, false]),
        ];
        let values = table.take("values").map(|values| values.choice(&kinds)).transpose()?;
        [self.json, self.yaml, self.python, self.containers] = values.unwrap_or_default();
        Ok(())
    }

    /// `text` as the form of a line; `Err` holds what was expected.
    fn line(text: &str) -> Result<Self, &'static str> {
        let wrong = "a line such as \"{key}: {value}\\n\", with a line feed at one of its ends";
        let parts = parts(text);
        let slots: Vec<&Slot> = parts.iter().filter(|part| !matches!(part, Slot::Text(_))).collect();
        let (before, rest) = text.split_once("{key}").ok_or(wrong)?;
        let (pair, after) = rest.split_once("{value}").ok_or(wrong)?;
        let sound = slots == [&Slot::Key, &Slot::Value] && !pair.trim().is_empty() && !pair.contains('\n');
        let fed = |text: &str| text.matches('\n').count();
        if !sound || !after.trim().is_empty() || fed(before) + fed(after) != 1 {
            return Err(wrong);
        }
        Ok(Self { parts, value_close: vec!["\n".to_owned()], ..Self::default() })
    }

    /// `item` as an item of a list in this form; `Err` holds what was expected.
    fn nest(&self, item: &str, written: bool) -> Result<Nest, &'static str> {
        let (before, _) = item.split_once("{value}").unwrap_or_default();
        let header = before.strip_prefix(self.open[0].as_str());
        let header = header.and_then(|header| header.strip_suffix(self.header_close[0].as_str()));
        let bare = header.ok_or("an item with the markup of the form and {value}")?.trim();
        let key = (self.key == KeyKind::First).then(|| bare.trim_matches(['"', '\'']).to_owned());
        Ok(Nest { item: parts(item), key, written })
    }

    /// `text` as a form; `Err` holds what was expected.
    fn new(text: &str, elements: bool) -> Result<Self, &'static str> {
        let parts = parts(text);
        let place = |slot: &Slot| parts.iter().position(|part| part == slot);
        let key = place(&Slot::Key).ok_or("a field with {key}")?;
        let value = place(&Slot::Value).filter(|value| *value > key);
        let value = value.ok_or("a field with {value} after {key}")?;
        let before = |at: usize| match at.checked_sub(1).map(|at| &parts[at]) {
            Some(Slot::Text(text)) => Ok(text.as_str()),
            _ => Err("a field with markup before {key} and before {value}"),
        };
        let (before_key, before_value) = (before(key)?, before(value)?);
        let opener = before_key.trim_start().trim_end_matches(['"', '\'']);
        let attribute = opener.rsplit_once(' ').and_then(|(open, name)| {
            let whole = !open.contains('=') && (elements || open.starts_with("<|"));
            Some((open, name.strip_suffix('=').filter(|_| whole)?))
        });
        let header_and_value = before_value.trim_start_matches(['"', '\'']).trim();
        let two = header_and_value.find("><").or_else(|| header_and_value.find(">\n<"));
        let (header_close, value_open) =
            header_and_value.split_at(two.map_or(header_and_value.len(), |at| at + 1));
        let value_open = value_open.trim_start();
        let key = match attribute {
            _ if !value_open.is_empty() => KeyKind::Whole,
            Some((_, name)) => KeyKind::Attribute(name.trim_end_matches('=').to_owned()),
            None => KeyKind::First,
        };
        let open = attribute.map_or(opener, |(open, _)| open);
        let closer: String = parts[value + 1..]
            .iter()
            .map(|part| if let Slot::Text(text) = part { text.as_str() } else { "{key}" })
            .collect();
        let value_close = closer.trim();
        // Without a mark of its own, a value ends where the next field opens or the call closes.
        let unclosed = value_close.is_empty() && !elements;
        let framed = before_value.ends_with('\n') && closer.starts_with('\n');
        // The end of its line may be all that ends a header.
        let header_close = if header_close.is_empty() && framed { "\n" } else { header_close };
        // Attributes have nothing but white space before their names.
        let attributes = open.is_empty() && header_close == "=\"" && value_close == "\"";
        if (open.is_empty() && !attributes)
            || header_close.is_empty()
            || (value_close.is_empty() && !unclosed)
        {
            return Err("a field with markup before {key}, between {key} and {value}, and after {value}");
        }
        if unclosed && open.len() < MIN_OPENER {
            return Err("markup after {value}, or a longer mark before {key}");
        }
        let some = |mark: &str| if mark.is_empty() { Vec::new() } else { vec![mark.to_owned()] };
        Ok(Self {
            open: if attributes { Vec::new() } else { loosened(open) },
            free: attributes,
            header_close: some(header_close),
            value_open: some(value_open),
            value_close: some(value_close),
            key,
            framed,
            parts,
            ..Self::default()
        })
    }
}

/// The spellings of a tag such as `<key=`, and beside them those with a space, as models write them.
fn loosened(tag: &str) -> Vec<String> {
    let name = tag.strip_prefix('<').and_then(|rest| rest.strip_suffix('='));
    let name = name.filter(|name| name.bytes().all(|byte| byte.is_ascii_alphanumeric()));
    let loose = name.map(|name| [format!("<{name} ="), format!("< {name}="), format!("< {name} =")]);
    std::iter::once(tag.to_owned()).chain(loose.into_iter().flatten()).collect()
}
