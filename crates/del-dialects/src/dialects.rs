//! All dialects that are known: the built-in ones, and a user's own.

use std::borrow::Cow;
use std::fmt;
use std::sync::{Arc, LazyLock, OnceLock};

use crate::dialect::{Dialect, DialectError, Memo, Stored, plain};
use crate::neutral::Marks;
use crate::order::sort;

/// Every built-in dialect, by the names of their folders: how many files of cases it has, its description, and what the
/// build made of that.
static BUILTIN: &[(&str, usize, &str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/builtin.rs"));

/// A set of dialects with their names.
#[derive(Debug)]
pub struct Dialects {
    /// In the order in which `auto` prefers them.
    pub(crate) list: Vec<Arc<Dialect>>,
    /// Own names, what any engine says, and what one says with its name before, each with its place in the list, in order.
    names: OnceLock<Vec<(String, usize)>>,
    /// The parser's plan of them all.
    pub(crate) plan: Memo,
    marks: OnceLock<Arc<Marks>>,
}

/// Why a dialect of one's own cannot be added.
#[derive(Debug)]
#[non_exhaustive]
pub enum AddError {
    /// The description is not one.
    Description {
        /// The dialect's name.
        name: String,
        /// What is wrong with it.
        error: DialectError,
    },
    /// The name is taken.
    Taken {
        /// The dialect's name.
        name: String,
    },
}

impl fmt::Display for AddError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Description { name, error } => write!(f, "{name}: {error}"),
            Self::Taken { name } => {
                write!(f, "{name}: expected a name of its own, got that of a built-in dialect")
            }
        }
    }
}

impl std::error::Error for AddError {}

/// There is no dialect of a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownDialect {
    name: String,
    similar: Vec<String>,
}

impl fmt::Display for UnknownDialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expected the name of a dialect, got {:?}", self.name)?;
        if self.similar.is_empty() {
            Ok(())
        } else {
            write!(f, "; did you mean {}?", self.similar.join(" or "))
        }
    }
}

impl std::error::Error for UnknownDialect {}

impl Dialects {
    /// The built-in dialects.
    pub fn builtin() -> &'static Self {
        static ALL: LazyLock<Dialects> = LazyLock::new(|| {
            Dialects::of(BUILTIN.iter().filter_map(|(name, ..)| Dialects::alone(name)).cloned().collect())
        });
        &ALL
    }

    /// A built-in dialect by its own name. Only this one is loaded, where [`builtin`](Self::builtin) loads all: for
    /// programs whose first answer must not wait for that.
    ///
    /// ```
    /// use del_dialects::{Dialects, Turn};
    ///
    /// let dialect = Dialects::alone("mistral-args").expect("a built-in dialect");
    /// assert_eq!(dialect.parse("[TOOL_CALLS]list_dir[ARGS]{}", Turn::default()).calls.len(), 1);
    /// ```
    pub fn alone(name: &str) -> Option<&'static Arc<Dialect>> {
        static LOADED: [OnceLock<Option<Arc<Dialect>>>; BUILTIN.len()] =
            [const { OnceLock::new() }; BUILTIN.len()];
        let place = BUILTIN.binary_search_by(|(known, ..)| (*known).cmp(name)).ok()?;
        let load = || {
            let (_, _, text, mut bytes) = BUILTIN[place];
            let mut dialect = Dialect::load(&mut bytes)?;
            dialect.once.text = Cow::Borrowed(text);
            Some(Arc::new(dialect))
        };
        LOADED[place].get_or_init(load).as_ref()
    }

    /// The built-in dialects and these, each with its name and TOML text.
    ///
    /// # Errors
    /// For the first description that is not one, or has the name of another.
    pub fn with<'d>(own: impl IntoIterator<Item = (&'d str, &'d str)>) -> Result<Self, AddError> {
        let mut list = Self::builtin().list.clone();
        for (name, text) in own {
            let dialect = Dialect::from_toml(name, text)
                .map_err(|error| AddError::Description { name: name.to_owned(), error })?;
            if list.iter().any(|known| known.name == name) {
                return Err(AddError::Taken { name: name.to_owned() });
            }
            list.push(Arc::new(dialect));
        }
        Ok(Self::of(list))
    }

    fn of(mut list: Vec<Arc<Dialect>>) -> Self {
        sort(&mut list, |a, b| a.rank.cmp(&b.rank).then_with(|| a.name.cmp(&b.name)));
        Self { list, names: OnceLock::new(), plan: Memo::default(), marks: OnceLock::new() }
    }

    /// With how many case files a built-in dialect is tested; 0 for any other name.
    pub fn cases(name: &str) -> usize {
        BUILTIN.iter().find(|(known, ..)| *known == name).map_or(0, |(_, cases, ..)| *cases)
    }

    /// All dialects, in the order in which `auto` prefers them.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Dialect>> {
        self.list.iter()
    }

    /// A dialect by its name, or by a name that another engine has for it; `vllm:mistral` asks for one engine's. Case
    /// and the difference of `-` and `_` do not matter.
    pub fn get(&self, name: &str) -> Option<&Arc<Dialect>> {
        let names = self.names.get_or_init(|| self.names());
        let name = plain(name);
        let at = names.binary_search_by(|(known, _)| known.cmp(&name)).ok()?;
        self.list.get(names[at].1)
    }

    /// A dialect's own name wins over what another engine calls a dialect, and an earlier one over a later one.
    fn names(&self) -> Vec<(String, usize)> {
        let own = self.list.iter().enumerate().map(|(place, dialect)| (plain(&dialect.name), place));
        let mut names: Vec<(String, usize)> = own.collect();
        for (place, dialect) in self.list.iter().enumerate() {
            for (engine, aliases) in &dialect.aliases {
                for alias in aliases {
                    names.push((plain(alias), place));
                    names.push((plain(&format!("{engine}:{alias}")), place));
                }
            }
        }
        sort(&mut names, |one, other| one.0.cmp(&other.0));
        names.dedup_by(|later, first| later.0 == first.0);
        names
    }

    /// The dialect of a model by its id, as an API knows it: `mlx-community/Qwen3-8B-4bit`, `qwen3-coder:30b`. Of
    /// several patterns that fit, the longest wins.
    pub fn for_model(&self, model: &str) -> Option<&Arc<Dialect>> {
        let model = model.to_ascii_lowercase();
        let fits = |dialect: &Dialect| {
            dialect
                .models
                .iter()
                .filter(|glob| matches(&glob.to_ascii_lowercase(), &model))
                .map(String::len)
                .max()
        };
        let mut best: Option<(usize, &Arc<Dialect>)> = None;
        for dialect in &self.list {
            if let Some(len) = fits(dialect)
                && best.is_none_or(|(known, _)| len > known)
            {
                best = Some((len, dialect));
            }
        }
        best.map(|(_, dialect)| dialect)
    }

    /// Text of others (results, names, descriptions, what a user pasted) for a prompt: every mark of every dialect in it
    /// is broken by an invisible character behind its first one, so that nothing in it reads as a call, a result or
    /// the end of a turn.
    pub fn neutralise<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.marks().neutralise(text)
    }

    /// What [`neutralise`](Self::neutralise) was given, from what it made of it or from any part of that: for text that
    /// a model copied. Breaks that the model left out or doubled do not matter.
    pub fn restore<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.marks().restore(text)
    }

    /// JSON in which every string is [restored](Self::restore): for the arguments of a call. All other bytes stay, and
    /// so do those before [`unsure`](Self::unsure), also while more of the JSON is to come.
    pub fn restore_json<'t>(&self, json: &'t str) -> Cow<'t, str> {
        self.marks().restore_json(json)
    }

    /// From which byte on [`restore_json`](Self::restore_json) may change a JSON text that is still being written.
    pub fn unsure(json: &str) -> Option<usize> {
        crate::neutral::unsure(json)
    }

    fn marks(&self) -> &Arc<Marks> {
        self.marks.get_or_init(|| Arc::new(Marks::of(self.list.iter().map(Arc::as_ref))))
    }

    /// The dialect that [`get`](Self::get) finds, or an error that says which names are alike.
    ///
    /// # Errors
    /// When there is no dialect of this name.
    pub fn named(&self, name: &str) -> Result<&Arc<Dialect>, UnknownDialect> {
        let similar = || self.similar(name).into_iter().map(str::to_owned).collect();
        self.get(name).ok_or_else(|| UnknownDialect { name: name.to_owned(), similar: similar() })
    }

    /// Up to three dialects that `name` may be a misspelling or the beginning of, for an error message.
    pub fn similar(&self, name: &str) -> Vec<&str> {
        let name = plain(name);
        let limit = (name.len() / 4).max(1);
        let far = |known: &str| {
            let known = plain(known);
            let begun = name.len() > 2 && known.starts_with(&name);
            if begun { 0 } else { distance(&name, &known) }
        };
        let nearest = |dialect: &Dialect| {
            let names = std::iter::once(&dialect.name).chain(dialect.aliases.values().flatten());
            names.map(|known| far(known)).min().unwrap_or(usize::MAX)
        };
        let mut near: Vec<(usize, &str)> =
            self.list.iter().map(|dialect| (nearest(dialect), dialect.name.as_str())).collect();
        near.retain(|(distance, _)| *distance <= limit);
        sort(&mut near, Ord::cmp);
        near.into_iter().map(|(_, name)| name).take(3).collect()
    }
}

impl Dialect {
    /// Reads and checks a description.
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use del_dialects::{Dialect, Turn};
    ///
    /// let text = r#"
    /// title = "My Model"
    /// source = "chat template of example/My-Model-7B"
    /// call.pieces = [{ mark = "<call:" }, { head = "{name}" }, { mark = ">" }, { args = "object" }, { mark = "</call>" }]
    /// "#;
    /// let dialect = Arc::new(Dialect::from_toml("my-model", text).expect("a description"));
    /// let message = dialect.parse("<call:list_dir>{}</call>", Turn::default());
    /// assert_eq!(message.calls[0].name, "list_dir");
    /// ```
    ///
    /// # Errors
    /// Says what was expected, what was found and in which line.
    pub fn from_toml(name: &str, text: &str) -> Result<Self, DialectError> {
        let mut dialect = Self::read(name, text, &|name| BUILTIN.iter().any(|(known, ..)| *known == name))?;
        dialect.once.text = Cow::Owned(text.to_owned());
        Ok(dialect)
    }

    /// The marks that must not survive in text of others, beside this dialect's own text.
    pub(crate) fn foreign_marks(&self) -> Arc<Marks> {
        let all = Dialects::builtin();
        if all.iter().any(|known| known.name == self.name && known.text() == self.text()) {
            return Arc::clone(all.marks());
        }
        self.once.marks.get(|| Marks::of(all.iter().map(Arc::as_ref).chain([self])))
    }
}

/// True when `text` fits a pattern in which `*` stands for anything. Linear in the product of both lengths at worst.
fn matches(glob: &str, text: &str) -> bool {
    let mut parts = glob.split('*');
    let Some(mut rest) = parts.next().and_then(|first| text.strip_prefix(first)) else { return false };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else { return rest.is_empty() };
    for part in middle {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

/// Edits between two short words.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, to) in b.iter().enumerate() {
            let next = (diagonal + usize::from(from != *to)).min(row[j] + 1).min(row[j + 1] + 1);
            diagonal = std::mem::replace(&mut row[j + 1], next);
        }
    }
    row[b.len()]
}
