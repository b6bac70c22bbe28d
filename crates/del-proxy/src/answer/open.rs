//! Calls on their way out.

use del_dialects::Dialects;

use super::input::Input;

/// A call that has begun.
#[derive(Debug)]
pub(super) struct Open {
    pub(super) id: Option<String>,
    /// It came over the API, with this id where it had one.
    pub(super) native: bool,
    pub(super) told: Option<String>,
    pub(super) name: String,
    pub(super) json: String,
    /// Where closing brackets and white space at the end of `json` begin.
    pub(super) solid: usize,
    /// So many bytes of `json` are not changed by restoring it, whatever follows.
    pub(super) sure: usize,
    /// Bytes of `json` that went out.
    pub(super) sent: usize,
    /// Its number for the client, once something went out.
    pub(super) index: Option<u32>,
    /// It may not go out.
    pub(super) surplus: bool,
    /// It asks for definitions.
    pub(super) asks: bool,
    /// What goes out of it in place of its arguments, where its tool takes a text.
    pub(super) input: Option<Input>,
}

impl Open {
    pub(super) fn new(name: &str, id: Option<&str>) -> Self {
        Self {
            id: id.map(str::to_owned),
            native: false,
            told: id.map(str::to_owned),
            name: name.to_owned(),
            json: String::new(),
            solid: 0,
            sure: 0,
            sent: 0,
            index: None,
            surplus: false,
            asks: false,
            input: None,
        }
    }

    /// True once its arguments begin as an object. Clients read what they have of them as JSON, and some fail over what is none.
    pub(super) fn is_object(&self) -> bool {
        self.json.trim_start().starts_with('{')
    }

    pub(super) fn add(&mut self, more: &str, restore: bool) {
        if self.asks {
            self.json.push_str(more);
        }
        if self.surplus {
            return;
        }
        let before = self.json.len();
        let solid = more.trim_end_matches(['}', ' ', '\t', '\r', '\n']).len();
        if solid > 0 {
            self.solid = before + solid;
        }
        self.json.push_str(more);
        let unsure = if restore { Dialects::unsure(&self.json[self.sure..]) } else { None };
        self.sure = unsure.map_or(self.json.len(), |at| self.sure + at);
    }
}
