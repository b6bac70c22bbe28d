//! What counts, where several files say something: the user's file, a profile in it, and the project's file.

use super::key::{Key, Project};
use super::{Config, OF_A_SERVER, Origin, Setting};

/// What all files together set.
#[derive(Debug, Clone, Default)]
pub(crate) struct Layers {
    /// Of keys whose values add up there may be several.
    pub(super) settings: Vec<Setting>,
    /// The profile was asked for, so that it counts more than the environment and the project.
    pub(super) chosen: bool,
}

/// A setting of a project's file that does not count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refused {
    pub(crate) key: &'static str,
    pub(crate) line: usize,
    pub(crate) why: String,
}

impl Layers {
    pub(super) fn new(settings: Vec<Setting>) -> Self {
        Self { settings, chosen: false }
    }

    /// Puts a profile over what is there. The server, its model and its key belong together.
    pub(super) fn take_profile(&mut self, settings: Vec<Setting>, chosen: bool) {
        self.chosen = chosen;
        if settings.iter().any(|setting| setting.key.name == "base_url") {
            self.settings.retain(|setting| !OF_A_SERVER.contains(&setting.key.name));
        }
        for setting in settings {
            self.put(setting);
        }
    }

    /// Puts what a project says over what is there, as far as it may.
    pub(crate) fn take_project(&mut self, settings: Vec<Setting>) {
        for setting in settings {
            let chosen = |own: &Setting| self.is_chosen(own);
            let above = !setting.key.adds_up() && self.get(setting.key).is_some_and(chosen);
            if !above && self.weigh(&setting).is_ok() {
                self.put(setting);
            }
        }
    }

    /// What of a project's file does not count, and why.
    pub(crate) fn refused(&self, Config { settings, refused: others, .. }: &Config) -> Vec<Refused> {
        let refused = |setting: &Setting| {
            let why = self.weigh(setting).err()?;
            Some(Refused { key: setting.key.name, line: setting.line, why })
        };
        others.iter().cloned().chain(settings.iter().filter_map(refused)).collect()
    }

    /// Whether a project may say this.
    fn weigh(&self, setting: &Setting) -> Result<(), String> {
        let own = self.get(setting.key).map(|own| own.values.join(", "));
        match setting.key.project {
            Project::Free => Ok(()),
            Project::Never(why) => Err(why.to_owned()),
            Project::Unset => match own {
                Some(own) => Err(format!("you have set it yourself, to {own}")),
                None => Ok(()),
            },
            Project::Stricter(order) => {
                let own = own.or_else(|| setting.key.default()).unwrap_or_default();
                let rank = |value: &str| order.iter().position(|known| *known == value);
                if rank(&setting.values.join(", ")) >= rank(&own) {
                    Ok(())
                } else {
                    Err(format!("you have it at {own}, which is stricter"))
                }
            }
        }
    }

    fn put(&mut self, setting: Setting) {
        if !setting.key.adds_up() {
            self.settings.retain(|other| other.key.name != setting.key.name);
        }
        self.settings.push(setting);
    }

    /// What is set of a key; of one whose values add up, the first.
    fn get(&self, key: &Key) -> Option<&Setting> {
        self.all(key).next()
    }

    /// All that is set of a key.
    pub(crate) fn all<'s>(&'s self, key: &Key) -> impl Iterator<Item = &'s Setting> {
        let name = key.name;
        self.settings.iter().filter(move |setting| setting.key.name == name)
    }

    /// Whether this is of the profile that was asked for.
    pub(super) fn is_chosen(&self, setting: &Setting) -> bool {
        self.chosen && matches!(setting.origin, Origin::Profile(_))
    }

    /// Whether the profile that was asked for names a server.
    pub(super) fn names_a_server(&self) -> bool {
        self.settings.iter().any(|setting| setting.key.name == "base_url" && self.is_chosen(setting))
    }
}
