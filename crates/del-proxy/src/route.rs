//! Which model servers a request goes to, by its model.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use del_agent::{Constrain, Mode};
use del_dialects::Dialect;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::modes::Modes;
use crate::pool::Pool;
use crate::refusal::Refusal;
use crate::settings::{RouteSettings, SettingsError};
use crate::upstream::Engine;
use del_wire::ServerApi;

/// All routes, in the order in which they are looked at.
#[derive(Debug)]
pub(crate) struct Routes {
    list: Vec<Arc<Route>>,
}

/// The way of requests for some models.
#[derive(Debug)]
pub(crate) struct Route {
    /// Without the servers, which are in the pool.
    pub(crate) settings: RouteSettings,
    pub(crate) pool: Arc<Pool>,
    pub(crate) api: ServerApi,
    pub(crate) modes: Modes,
    dialects: &'static del_dialects::Dialects,
    /// Calls of a model of which nothing is known are written in it.
    fallback: Arc<Dialect>,
    /// The dialects that calls are written in, by the names of models: finding one means looking at all of them.
    written: Mutex<HashMap<String, Arc<Dialect>>>,
    room: Option<Arc<Semaphore>>,
    /// How every server takes a grammar.
    pub(crate) engine: Option<Engine>,
    /// The tokens that the model reads and writes at most, where every server said so that would go on beyond them.
    pub(crate) context: Option<u64>,
}

impl Routes {
    pub(crate) fn new(
        routes: Vec<RouteSettings>,
        dialects: &'static del_dialects::Dialects,
    ) -> Result<Self, SettingsError> {
        let name = del_agent::Settings::default().fallback;
        let fallback = dialects.get(&name).cloned();
        let fallback = fallback.ok_or(SettingsError::NoDialect { got: name })?;
        let routes = routes.into_iter().map(|route| Route::new(route, dialects, &fallback).map(Arc::new));
        Ok(Self { list: routes.collect::<Result<_, _>>()? })
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Arc<Route>> {
        self.list.iter()
    }

    /// The only route, where it is for every model and asks for them by their names.
    pub(crate) fn only(&self) -> Option<&Arc<Route>> {
        match self.list.as_slice() {
            [only] if only.settings.models.is_empty() && only.settings.model.is_none() => Some(only),
            _ => None,
        }
    }

    /// The route for a model: the one that has its name, else the first with a pattern that fits, else the first for
    /// every model.
    pub(crate) fn find(&self, model: &str) -> Option<&Arc<Route>> {
        let named = |route: &&Arc<Route>| route.settings.models.iter().any(|name| name == model);
        let fits = |route: &&Arc<Route>| route.settings.models.iter().any(|name| matches(name, model));
        let all = |route: &&Arc<Route>| route.settings.models.is_empty();
        let mut routes = self.list.iter();
        routes.clone().find(named).or_else(|| routes.clone().find(fits)).or_else(|| routes.find(all))
    }

    /// The same for a request, which is refused where there is none.
    pub(crate) fn of(&self, model: &str) -> Result<Arc<Route>, Refusal> {
        self.find(model).cloned().ok_or_else(|| {
            let known: Vec<&str> = self
                .list
                .iter()
                .flat_map(|route| &route.settings.models)
                .map(String::as_str)
                .take(MOST_SHOWN)
                .collect();
            Refusal::not_found(format!("there is no route for the model `{model}`"))
                .code("model_not_found")
                .hint(format!("the routes are for {}", known.join(", ")))
        })
    }
}

/// So many models are named where none of them was meant.
const MOST_SHOWN: usize = 20;

impl Route {
    fn new(
        mut settings: RouteSettings,
        dialects: &'static del_dialects::Dialects,
        fallback: &Arc<Dialect>,
    ) -> Result<Self, SettingsError> {
        let upstreams = std::mem::take(&mut settings.upstreams);
        let Some(first) = upstreams.first() else {
            return Err(SettingsError::NoUpstream { models: settings.models.join(", ") });
        };
        let api = first.api;
        // Only chats have members for a grammar.
        let alike =
            api == ServerApi::OpenAi && upstreams.iter().all(|upstream| upstream.engine == first.engine);
        let engine = first.engine.filter(|_| alike);
        let contexts: Option<Vec<u64>> = upstreams.iter().map(|upstream| upstream.context).collect();
        let takes_tools = upstreams.iter().all(|upstream| upstream.takes_tools != Some(false));
        Ok(Self {
            modes: Modes::new(&settings, takes_tools, engine.is_some()),
            pool: Arc::new(Pool::new(upstreams)),
            api,
            dialects,
            fallback: Arc::clone(fallback),
            written: Mutex::default(),
            room: settings.max_concurrent.map(|most| Arc::new(Semaphore::new(most))),
            engine,
            context: contexts
                .filter(|_| engine == Some(Engine::LlamaCpp))
                .and_then(|all| all.into_iter().max()),
            settings,
        })
    }

    /// The name under which the servers know this model.
    pub(crate) fn target<'a>(&'a self, model: &'a str) -> &'a str {
        self.settings.model.as_deref().unwrap_or(model)
    }

    /// True when the servers speak OpenAI's chat.
    pub(crate) fn chats(&self) -> bool {
        self.api == ServerApi::OpenAi
    }

    /// The mode for a model.
    pub(crate) fn mode(&self, model: &str) -> Mode {
        self.modes.of(model)
    }

    /// A server refused tools for this model. True when it is asked without them from now on.
    pub(crate) fn refused_tools(&self, model: &str) -> bool {
        self.modes.refused(model)
    }

    pub(crate) fn constrain(&self) -> Constrain {
        if self.engine.is_some() { self.settings.constrain } else { Constrain::Off }
    }

    /// A place among the requests under way, until it is dropped.
    pub(crate) fn enter(&self) -> Result<Option<OwnedSemaphorePermit>, Refusal> {
        let Some(room) = &self.room else { return Ok(None) };
        let full = |_| {
            let most = self.settings.max_concurrent.unwrap_or_default();
            Refusal::busy(format!("expected at most {most} requests at once for this model, got one more"))
        };
        Arc::clone(room).try_acquire_owned().map(Some).map_err(full)
    }

    /// The dialect that calls of this model are written in.
    pub(crate) fn dialect(&self, model: &str) -> Arc<Dialect> {
        /// Names come from clients.
        const MOST_MODELS: usize = 1024;
        let settings = &self.settings;
        let told = settings.words.as_ref().map(|words| &words.dialect);
        if let Some(dialect) = settings.dialect.as_ref().or(told) {
            return Arc::clone(dialect);
        }
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = written.get(model) {
            return Arc::clone(known);
        }
        let dialect = Arc::clone(self.dialects.for_model(model).unwrap_or(&self.fallback));
        if written.len() < MOST_MODELS {
            written.insert(model.to_owned(), Arc::clone(&dialect));
        }
        dialect
    }
}

/// True when a name, in which `*` stands for anything, means this model.
pub(crate) fn matches(pattern: &str, model: &str) -> bool {
    let Some((begin, rest)) = pattern.split_once('*') else { return pattern == model };
    let Some(mut model) = model.strip_prefix(begin) else { return false };
    let mut pieces = rest.split('*');
    let end = pieces.next_back().unwrap_or_default();
    for piece in pieces {
        let Some(at) = model.find(piece) else { return false };
        model = &model[at + piece.len()..];
    }
    model.ends_with(end)
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn stars_stand_for_anything() {
        for (pattern, model) in [
            ("qwen3:8b", "qwen3:8b"),
            ("*", ""),
            ("*", "a/b"),
            ("qwen*", "qwen"),
            ("qwen*", "qwen3:8b"),
            ("*:8b", "qwen3:8b"),
            ("q*3*b", "qwen3:8b"),
            ("a*b*b", "abb"),
            ("**", "x"),
        ] {
            assert!(matches(pattern, model), "{pattern} {model}");
        }
        for (pattern, model) in [
            ("qwen3", "qwen3:8b"),
            ("qwen*", "Qwen3"),
            ("a*a", "a"),
            ("a*b*b", "ab"),
            ("", "x"),
            ("*x", "xy"),
        ] {
            assert!(!matches(pattern, model), "{pattern} {model}");
        }
    }
}
