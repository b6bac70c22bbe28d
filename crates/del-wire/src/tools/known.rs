//! Tools that were read before: the records of a file mostly share theirs, and so do the requests of a conversation.

use std::sync::Arc;

use del_dialects::Tool;

use super::{ToolsError, read_text};

/// What was made of JSON texts lately, so that none is read again.
#[derive(Debug, Clone)]
pub struct Lately<T> {
    /// The last that were asked for stand first.
    list: Vec<(Box<str>, T)>,
    /// So many are kept.
    most: usize,
    /// Longer texts are read each time, so that what is kept has a limit, in bytes.
    longest: usize,
}

/// Tool definitions by their JSON text: what was read lately is not read again.
#[derive(Debug, Clone)]
pub struct KnownTools(Lately<Arc<[Tool]>>);

impl<T: Clone> Lately<T> {
    /// Nothing yet. So many are kept, of texts of at most so many bytes.
    pub fn new(most: usize, longest: usize) -> Self {
        Self { list: Vec::new(), most, longest }
    }

    /// What `read` makes of this text, or made of it before.
    pub fn of<E>(&mut self, json: &str, read: impl FnOnce(&str) -> Result<T, E>) -> Result<T, E> {
        if let Some(place) = self.list.iter().position(|(known, _)| **known == *json) {
            self.list[..=place].rotate_right(1);
            return Ok(self.list[0].1.clone());
        }
        let made = read(json)?;
        if json.len() <= self.longest {
            self.list.truncate(self.most.saturating_sub(1));
            self.list.insert(0, (json.into(), made.clone()));
        }
        Ok(made)
    }
}

impl Default for KnownTools {
    fn default() -> Self {
        Self(Lately::new(16, 256 << 10))
    }
}

impl KnownTools {
    /// The tools that `json` defines, as [`read_text`] reads them.
    pub fn read(&mut self, json: &str) -> Result<Arc<[Tool]>, ToolsError> {
        self.0.of(json, |json| read_text(json).map(Into::into))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(name: &str) -> String {
        format!(r#"[{{"name": "{name}"}}]"#)
    }

    #[test]
    fn the_same_text_is_read_once() {
        let mut known = KnownTools::default();
        let first = known.read(&json("a")).unwrap();
        assert_eq!(known.read(&json("b")).unwrap()[0].name, "b");
        assert!(Arc::ptr_eq(&first, &known.read(&json("a")).unwrap()));
        assert!(known.read("[{}]").is_err() && known.read("[{}]").is_err());
    }

    #[test]
    fn what_was_not_asked_for_lately_is_forgotten() {
        const MOST: usize = 16;
        const LONGEST: usize = 256 << 10;
        let mut known = KnownTools::default();
        let (kept, lost) = (known.read(&json("kept")).unwrap(), known.read(&json("lost")).unwrap());
        for number in 0..MOST {
            known.read(&json(&number.to_string())).unwrap();
            known.read(&json("kept")).unwrap();
        }
        assert_eq!(known.0.list.len(), MOST);
        assert!(Arc::ptr_eq(&kept, &known.read(&json("kept")).unwrap()));
        assert!(!Arc::ptr_eq(&lost, &known.read(&json("lost")).unwrap()));
        known.read(&json(&"x".repeat(LONGEST))).unwrap();
        assert!(known.0.list.iter().all(|(json, _)| json.len() < LONGEST));
    }
}
