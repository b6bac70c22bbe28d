//! A model elsewhere, in the middle of a conversation.

use anyhow::Result;
use clap::Parser;
use del_agent::Settings;

use super::{Session, chosen, words};
use crate::config::Config;
use crate::exit::Exit;
use crate::server::{ModelOptions, Server, ServerOptions};

/// A server and a model, as a profile names them.
#[derive(Debug, Parser)]
#[command(no_binary_name = true)]
struct Destination {
    #[command(flatten)]
    server: ServerOptions,
    #[command(flatten)]
    model: ModelOptions,
    #[arg(long)]
    dialect: Option<String>,
}

/// What of a profile counts.
const KEYS: [&str; 8] =
    ["base_url", "api", "model", "api_key_env", "think", "num_ctx", "keep_alive", "dialect"];

impl Session {
    /// Goes on with the server, the API, the model and the dialect of a profile, whose key is its own. Without a server in
    /// it, the present one has the model.
    pub(crate) fn take_profile(&mut self, name: &str) -> Result<()> {
        let given = Config::load()?.words_of_profile(name, &KEYS)?;
        let there = Destination::try_parse_from(given)
            .map_err(|error| Exit::Configuration.because(error.to_string()))?;
        let dialect =
            chosen(there.dialect.as_deref().or(self.options.dialect.as_deref()), None, self.catalog)?;
        if there.server.base_url.is_some() || there.server.api.is_some() {
            self.interrupt.begin();
            let Self { runtime, interrupt, .. } = self;
            let found = runtime.block_on(async {
                tokio::select! {
                    found = Server::find(&there.server) => found,
                    () = interrupt.pressed() => Err(Exit::Interrupted.because("interrupted")),
                }
            });
            self.interrupt.rest();
            self.server = found?;
            self.options.server = there.server.clone();
        }
        self.options.model = there.model;
        self.server.first_byte = self.options.model.first_byte();
        self.asked_context = false;
        let model = match &there.server.model {
            None if there.server.base_url.is_none() => self.settings.model.clone(),
            named => self.server.choose(named.as_deref()),
        };
        let context = self.options.model.context(&self.server, &model);
        if let Some(tokens) = context {
            self.hands.fit_context(tokens);
        }
        let mut settings = Settings {
            model,
            api: self.server.api,
            extra: self.options.model.members(&self.server),
            server: self.server.for_agent(),
            context,
            dialect,
            ..self.settings.clone()
        };
        settings.words =
            words(&self.options, &settings, &self.server, self.catalog, &self.common, &self.runtime)?;
        self.configure(settings)
    }
}
