//! Tools that were read before: the records of a file mostly share theirs.

use std::sync::Arc;

use del_dialects::Tool;

use super::{ToolsError, read_text};

/// Tool definitions by their JSON text: what was read lately is not read again.
#[derive(Debug, Clone, Default)]
pub struct KnownTools {
    /// The last that were asked for stand first.
    list: Vec<(Box<str>, Arc<[Tool]>)>,
}

/// So many sets of tools are kept.
const MOST: usize = 16;

/// Longer texts are read each time, so that what is kept has a limit, in bytes.
const MAX_TEXT: usize = 256 << 10;

impl KnownTools {
    /// The tools that `json` defines, as [`read_text`] reads them.
    pub fn read(&mut self, json: &str) -> Result<Arc<[Tool]>, ToolsError> {
        if let Some(place) = self.list.iter().position(|(known, _)| **known == *json) {
            self.list[..=place].rotate_right(1);
            return Ok(Arc::clone(&self.list[0].1));
        }
        let tools: Arc<[Tool]> = read_text(json)?.into();
        if json.len() <= MAX_TEXT {
            self.list.truncate(MOST - 1);
            self.list.insert(0, (json.into(), Arc::clone(&tools)));
        }
        Ok(tools)
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
        let mut known = KnownTools::default();
        let (kept, lost) = (known.read(&json("kept")).unwrap(), known.read(&json("lost")).unwrap());
        for number in 0..MOST {
            known.read(&json(&number.to_string())).unwrap();
            known.read(&json("kept")).unwrap();
        }
        assert_eq!(known.list.len(), MOST);
        assert!(Arc::ptr_eq(&kept, &known.read(&json("kept")).unwrap()));
        assert!(!Arc::ptr_eq(&lost, &known.read(&json("lost")).unwrap()));
        known.read(&json(&"x".repeat(MAX_TEXT))).unwrap();
        assert!(known.list.iter().all(|(json, _)| json.len() < MAX_TEXT));
    }
}
