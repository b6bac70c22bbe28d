//! What is to be served: the command line and the configuration file, checked as a whole.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use anyhow::Result;
use clap::Args;
use del_detect::Material;
use del_dialects::Dialect;
use del_proxy::{ClientKey, RouteSettings, Settings};

use super::file::{File, Table, Wrong, Wrongs};
use super::observers::LogOption;
use super::words::Words;
use super::{KeyOptions, Listening, Options, RouteOptions, RouteTable, values};
use crate::catalog::{Catalog, Choice};
use crate::common::Common;
use crate::exit::Exit;
use crate::server::{Server, ServerOptions};
use crate::session::ToolsModeOption;

/// A proxy that can be started.
#[derive(Debug)]
pub(super) struct Plan {
    listening: Listening,
    pub(super) address: SocketAddr,
    keys: Vec<(KeyOptions, String)>,
    pub(super) routes: Vec<Route>,
    /// It has a file, whose servers may come later.
    patient: bool,
}

/// Where the requests for some models go.
#[derive(Debug)]
pub(super) struct Route {
    models: Vec<String>,
    options: RouteOptions,
    dialect: Option<Arc<Dialect>>,
}

/// Settings, and why some servers could not be asked for what they are.
#[derive(Debug)]
pub(super) struct Asked {
    pub(super) settings: Settings,
    pub(super) away: Vec<String>,
    /// The address of the first server.
    pub(super) first: String,
}

/// The options that belong to one server: those at the top of a file are not for its routes.
const OF_A_SERVER: [&str; 5] = ["upstream", "upstream-api", "upstream-key-env", "engine", "model"];

/// Collects what is wrong.
struct Check {
    wrongs: Vec<Wrong>,
    catalog: Catalog,
}

impl Plan {
    /// Puts the command line and its file together: what was typed counts most, then a route's own words, then those at
    /// the top of the file.
    ///
    /// # Errors
    /// When anything is wrong. All that is wrong in the file is said.
    pub(super) fn new(options: &Options, catalog: Catalog) -> Result<Self> {
        let (file, wrongs) = match &options.config {
            Some(path) => File::read(path)?,
            None => (File::default(), Vec::new()),
        };
        let mut check = Check { wrongs, catalog };
        let top = file.top.clone().under(&options.listening.words).under(&options.route.words);
        let plan = check.plan(&file, &top, &options.route.words);
        let path = options.config.as_deref().unwrap_or(Path::new(""));
        match (Wrongs::of(path, check.wrongs), plan) {
            (Some(wrongs), _) => Err(wrongs.into_error()),
            (None, plan) => Ok(Self { patient: options.config.is_some(), ..plan? }),
        }
    }

    /// The settings of the proxy, with what the servers say of themselves.
    ///
    /// # Errors
    /// When no server is named and none is found, the only one wants another key, or a chat template cannot be used.
    pub(super) async fn ask(&self, catalog: Catalog, common: &Common) -> Result<Asked> {
        let (mut routes, mut away, mut first) = (Vec::new(), Vec::new(), None);
        for route in &self.routes {
            let options = &route.options;
            let servers = self.servers(options, &mut away).await?;
            let mut words = None;
            for server in servers.iter().filter(|server| server.is_met()) {
                words = route.words(server, catalog, common).await?;
                if words.is_some() {
                    break;
                }
            }
            let mut upstreams = Vec::new();
            for server in servers {
                first.get_or_insert_with(|| server.base.clone());
                let mut upstream = server.into_upstream(options.connect_timeout)?;
                upstream.api = options.upstream_api.0;
                upstream.engine = options.engine.of(upstream.engine);
                upstream.first_byte = options.first_byte_timeout;
                upstream.between_bytes = options.idle_timeout;
                upstreams.push(upstream);
            }
            routes.push(RouteSettings {
                models: route.models.clone(),
                dialect: route.dialect.clone(),
                words,
                detail: options.template.detail(),
                tools_mode: options.tools_mode.into(),
                constrain: options.constrain.into(),
                prefill: options.prefill,
                model: options.model.clone(),
                max_concurrent: options.max_concurrent.map(|most| most as usize),
                ..RouteSettings::new(upstreams)
            });
        }
        let listening = &self.listening;
        if listening.log_content && listening.log == LogOption::Off {
            return Err(Exit::Usage
                .because("--log-content: expected --log beside it, whose lines it adds to; got none"));
        }
        let settings = Settings {
            dialects: catalog.all(),
            max_body: listening.max_body,
            max_connections: listening
                .max_connections
                .map_or_else(super::most_connections, |most| most as usize),
            memory: listening.response_memory,
            keep_alive: listening.keep_alive,
            health_interval: listening.health_interval,
            metrics: listening.metrics,
            origins: listening.allow_origin.clone(),
            tells_content: listening.log_content,
            keys: self.keys.iter().map(|(key, secret)| client_key(key, secret)).collect(),
            ..Settings::new(routes)
        };
        Ok(Asked { settings, away, first: first.unwrap_or_default() })
    }

    /// What is written of requests.
    pub(super) fn log(&self) -> LogOption {
        self.listening.log
    }

    /// The servers of a route. Those that are named may come later.
    async fn servers(&self, options: &RouteOptions, away: &mut Vec<String>) -> Result<Vec<Server>> {
        let names = ["--upstream", "--upstream-key-env"];
        let asked = |base_url: Option<&String>| ServerOptions {
            base_url: base_url.cloned(),
            model: options.model.clone(),
            api_key_env: options.upstream_key_env.clone(),
            names,
            api: Some(options.upstream_api),
        };
        if options.upstream.len() < 2 && !(self.patient && options.upstream.len() == 1) {
            let only = asked(options.upstream.first());
            if !only.names_a_server() {
                return Ok(vec![Server::find(&only).await?]);
            }
            let mut server = Server::named(&only, true)?;
            match server.meet(names).await {
                Err(error) if Exit::of(&error) != Exit::Failed => return Err(error),
                Err(error) => away.push(error.to_string()),
                Ok(()) => {}
            }
            return Ok(vec![server]);
        }
        let mut servers = Vec::new();
        for base in &options.upstream {
            let mut server = Server::named(&asked(Some(base)), !self.patient)?;
            if let Err(error) = server.meet(names).await {
                away.push(error.to_string());
            }
            servers.push(server);
        }
        Ok(servers)
    }
}

impl Route {
    /// What the template of the model says, where all requests are for one model.
    async fn words(
        &self,
        server: &Server,
        catalog: Catalog,
        common: &Common,
    ) -> Result<Option<del_wire::Words>> {
        let only = |names: &[String]| match names {
            [name] if !name.contains('*') => Some(name.clone()),
            _ => None,
        };
        let model =
            self.options.model.clone().or_else(|| only(&self.models)).or_else(|| only(&server.models));
        match (model, self.options.tools_mode) {
            (None, _) | (_, ToolsModeOption::Native) => Ok(None),
            (Some(model), _) => self.options.template.words(server, &model, catalog, common).await,
        }
    }
}

impl Check {
    fn plan(&mut self, file: &File, top: &Words, typed: &Words) -> Result<Plan> {
        let listening: Listening = top.read()?;
        let address = self.take(top, "listen", 1, Exit::Usage, values::address(&listening.listen))?;
        let mut keys = Vec::new();
        if let Some(variable) = &listening.api_key_env {
            let key = self.take(top, "api-key-env", 1, Exit::Configuration, values::key(variable))?;
            let options = KeyOptions {
                name: "default".to_owned(),
                env: variable.clone(),
                per_minute: None,
                max_concurrent: None,
            };
            keys.extend(key.map(|key| (options, key)));
        }
        for table in &file.keys {
            if let Some(key) = self.key(table, &keys) {
                keys.push(key);
            }
        }
        let named = listening.api_key_env.is_some() || !file.keys.is_empty();
        if let Some(address) = address.filter(|address| !address.ip().is_loopback() && !named) {
            let message = format!(
                "{address} is not for this machine alone: name the variable that holds a key for clients with \
                 --api-key-env"
            );
            self.take(top, "listen", 1, Exit::Usage, Err::<(), _>(message))?;
        }
        let mut routes = Vec::new();
        let mut known = BTreeMap::new();
        for table in &file.routes {
            let words = file.top.only(|name| !OF_A_SERVER.contains(&name)).under(&table.words);
            let words = words.under(&typed.only(|name| !OF_A_SERVER.contains(&name)));
            routes.extend(self.table(table, &words, &mut known)?);
        }
        if file.routes.is_empty() || top.get("upstream").is_some() {
            routes.push(self.route(Vec::new(), top, 1)?);
        }
        let address = address.unwrap_or_else(|| SocketAddr::from(([127, 0, 0, 1], 0)));
        Ok(Plan { listening, address, keys, routes, patient: false })
    }

    /// A value that may be wrong: in the file, which is collected, or on the command line, which ends the check.
    fn take<T>(
        &mut self,
        words: &Words,
        name: &str,
        line: usize,
        exit: Exit,
        value: Result<T, String>,
    ) -> Result<Option<T>> {
        match value {
            Ok(value) => Ok(Some(value)),
            Err(message) if words.get(name).is_none_or(|value| value.line.is_some()) => {
                let message = format!("{}: {message}", name.replace('-', "_"));
                self.wrongs.push(Wrong { line: words.line(name, line), message });
                Ok(None)
            }
            Err(message) => Err(exit.because(format!("--{name}: {message}"))),
        }
    }

    /// One of the keys of a file.
    fn key(&mut self, table: &Table, known: &[(KeyOptions, String)]) -> Option<(KeyOptions, String)> {
        let key: KeyOptions = self.read(table, &["name", "env"])?;
        if known.iter().any(|(other, _)| other.name == key.name) {
            let message = format!("name: expected one that no other key has, got `{}`", key.name);
            self.wrongs.push(Wrong { line: table.words.line("name", table.line), message });
        }
        match values::key(&key.env) {
            Ok(secret) if known.iter().any(|(_, other)| *other == secret) => {
                let message = format!(
                    "env: expected a key that no other client has, got that of another in {}",
                    key.env
                );
                self.wrongs.push(Wrong { line: table.words.line("env", table.line), message });
                None
            }
            Ok(secret) => Some((key, secret)),
            Err(message) => {
                let line = table.words.line("env", table.line);
                self.wrongs.push(Wrong { line, message: format!("env: {message}") });
                None
            }
        }
    }

    /// One of the routes of a file. `known` has the names of those before it.
    fn table(
        &mut self,
        table: &Table,
        words: &Words,
        known: &mut BTreeMap<String, usize>,
    ) -> Result<Option<Route>> {
        let Some(found) = self.read::<RouteTable>(table, &["models", "upstream"]) else { return Ok(None) };
        let line = table.words.line("models", table.line);
        for name in &found.models {
            if let Some(other) = known.insert(name.clone(), table.line) {
                let message = format!(
                    "models: expected names that no other route has, got `{name}` as in line {other}"
                );
                self.wrongs.push(Wrong { line, message });
            }
        }
        self.route(found.models, words, table.line).map(Some)
    }

    fn route(&mut self, models: Vec<String>, words: &Words, line: usize) -> Result<Route> {
        let options: RouteOptions = words.read()?;
        let dialect = self.catalog.choose(&options.dialect).map_err(|error| error.to_string());
        let dialect = self.take(words, "dialect", line, Exit::Usage, dialect)?;
        if let Some(variable) = &options.upstream_key_env {
            self.take(words, "upstream-key-env", line, Exit::Configuration, values::key(variable))?;
        }
        for address in &options.upstream {
            let url = Server::check(address).map_err(|error| error.to_string());
            self.take(words, "upstream", line, Exit::Usage, url)?;
        }
        if let Some(file) = options.template.file() {
            let material = Material::read(file).map(drop).map_err(|error| error.to_string());
            self.take(words, "chat-template", line, Exit::BadInput, material)?;
        }
        let dialect = match dialect {
            Some(Choice::One(dialect)) => Some(dialect),
            _ => None,
        };
        Ok(Route { models, options, dialect })
    }

    /// The options of a table, which has to have these.
    fn read<T: Args>(&mut self, table: &Table, needed: &[&str]) -> Option<T> {
        let missing: Vec<&str> =
            needed.iter().copied().filter(|name| table.words.get(name).is_none()).collect();
        // What is wrong with a value that is there was told already.
        let absent = missing.iter().filter(|name| !table.keys.iter().any(|key| key == *name));
        for name in absent {
            let expected = match *name {
                "models" => "names of models",
                "upstream" => "the address of a model server",
                "env" => "the name of a variable",
                _ => "a text",
            };
            let message = format!("{name}: expected {expected}, got none");
            self.wrongs.push(Wrong { line: table.line, message });
        }
        if missing.is_empty() { table.words.read().ok() } else { None }
    }
}

fn client_key(options: &KeyOptions, secret: &str) -> ClientKey {
    ClientKey {
        per_minute: options.per_minute,
        max_concurrent: options.max_concurrent.map(|most| most as usize),
        ..ClientKey::new(&options.name, secret)
    }
}
