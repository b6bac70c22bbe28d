//! `del doctor`: looks at the model server, and tries each way of calling tools.

mod ways;

use std::fmt::Write as _;
use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use clap::Args;
use del_agent::ToolsMode;
use del_detect::Report;
use del_dialects::Dialect;
use del_tools::visible;
use serde_json::{Value, json};
use ways::{Bench, Outcome, Way, Wrong};

use crate::catalog::Catalog;
use crate::colour::Paint;
use crate::command::detect;
use crate::common::Common;
use crate::confined;
use crate::exit::Exit;
use crate::interrupt::Interrupt;
use crate::screen::look::Look;
use crate::screen::stage;
use crate::server::about::About;
use crate::server::taught;
use crate::server::{ModelOptions, Server, ServerOptions};
use crate::table::Table;
use crate::terminal::{self, shown};
use crate::wrap;

/// Find out how the model server's model calls tools best
///
/// Looks at the server, the model, its chat template and its context, and asks the model five questions in each way of
/// calling: over the API, in the prompt, and under a grammar where the server takes one. Nothing is run. Ends with 0 where a
/// way got all five right.
#[derive(Debug, Args)]
pub(crate) struct Options {
    #[command(flatten)]
    server: ServerOptions,
    #[command(flatten)]
    asking: ModelOptions,
    /// How many seconds one answer may take
    #[arg(long, value_name = "SECONDS", default_value = "180", value_parser = clap::value_parser!(u64).range(1..=3600))]
    timeout: u64,
    /// Asks with dozens of tools rather than three, and tries hybrid mode as well
    #[arg(long)]
    many_tools: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// All that was found.
struct Findings {
    server: Server,
    model: String,
    about: About,
    template: Result<Report, String>,
    outcomes: Vec<Outcome>,
    /// The way to use, as its place among the outcomes.
    best: Option<usize>,
}

/// Below this, tools and a file do not fit beside each other.
const SMALL_CONTEXT: u64 = 8192;
/// What calls are written in for a model of which nothing is known.
const FALLBACK: &str = "hermes-json";

pub(crate) fn run(options: &Options, common: &Common) -> Result<Exit> {
    let catalog = Catalog::load(common.dialect_dir.as_deref())?;
    let interrupt = Interrupt::listen(stage::CURTAIN)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    interrupt.begin();
    let stage = stage::open(Look::find(common.color));
    let busy = stage.busy("asking the model server");
    let server = runtime.block_on(async {
        tokio::select! {
            found = Server::find(&options.server) => found,
            () = interrupt.pressed() => Err(Exit::Interrupted.because("interrupted")),
        }
    })?;
    let model = server.choose(options.server.model.as_deref());
    let template = match runtime.block_on(server.template(&model)) {
        Some(material) => confined::of_template(material, common).map_err(|error| error.to_string()),
        None => Err("the server does not tell it".to_owned()),
    };
    let bench = Bench {
        catalog,
        server: &server,
        model: &model,
        runtime: &runtime,
        interrupt: &interrupt,
        words: template.as_ref().ok().and_then(|report| taught::words(report, catalog)),
        extra: options.asking.members(&server),
        patience: Duration::from_secs(options.timeout),
        tools: ways::tools(options.many_tools),
    };
    let mut outcomes = Vec::new();
    let mut tried = ways(&server, &model, template.as_ref().ok(), catalog);
    if options.many_tools {
        tried.push(Way { tools_mode: ToolsMode::Hybrid, dialect: None, constrained: false });
    }
    for way in tried {
        let name = way.name(catalog, &model);
        let outcome = bench.try_way(way, &|call| stage.doing(&format!("trying {name}: {call}")))?;
        outcomes.push(outcome);
    }
    // Some servers know it only now that the model is loaded.
    let about = runtime.block_on(server.about(&model));
    drop(busy);
    let best = best(&outcomes);
    let findings = Findings { server, model, about, template, outcomes, best };
    let text = if options.json {
        shown(&format!("{:#}\n", findings.json(catalog))).into_owned()
    } else {
        findings.text(catalog, Paint::stdout(common.color))
    };
    std::io::stdout().lock().write_all(text.as_bytes())?;
    match findings.best.map(|place| &findings.outcomes[place]) {
        Some(outcome) if outcome.works() => Ok(Exit::Done),
        Some(outcome) => Err(Exit::Failed.because(format!(
            "no way gets all answers right; the best gets {} of {}. Take a larger model",
            outcome.right(),
            Outcome::of()
        ))),
        None => Err(Exit::Failed.because(findings.none())),
    }
}

/// What is worth trying, the plainest first.
fn ways(server: &Server, model: &str, template: Option<&Report>, catalog: Catalog) -> Vec<Way> {
    let found = template.and_then(|report| {
        let instead = report.instead.as_ref().map(|instead| &instead.dialect);
        report.dialect.as_ref().or(instead)
    });
    let detected = found.and_then(|name| catalog.all().get(name));
    let written = detected.or_else(|| catalog.all().for_model(model)).or_else(|| catalog.all().get(FALLBACK));
    let written = |constrained| Way { tools_mode: ToolsMode::Prompt, dialect: written.cloned(), constrained };
    let mut ways =
        vec![Way { tools_mode: ToolsMode::Native, dialect: None, constrained: false }, written(false)];
    if server.llama_cpp() {
        ways.push(written(true));
    }
    ways
}

/// The way that got most answers right, of several the plainest.
fn best(outcomes: &[Outcome]) -> Option<usize> {
    let of_use = || outcomes.iter().filter(|outcome| outcome.calls());
    let right = of_use().map(Outcome::right).max()?;
    outcomes.iter().position(|outcome| outcome.calls() && outcome.right() == right)
}

impl Way {
    /// What it is called in a table.
    fn name(&self, catalog: Catalog, model: &str) -> String {
        match (self.tools_mode, self.constrained) {
            (ToolsMode::Prompt, false) => format!("prompt, in {}", self.written(catalog, model)),
            (ToolsMode::Prompt, true) => format!("grammar, in {}", self.written(catalog, model)),
            (ToolsMode::Hybrid, _) => "hybrid".to_owned(),
            _ => "native".to_owned(),
        }
    }

    fn written(&self, catalog: Catalog, model: &str) -> String {
        let known = self.dialect.as_ref().or_else(|| catalog.all().for_model(model));
        known.map_or_else(|| FALLBACK.to_owned(), |dialect: &Arc<Dialect>| dialect.name().to_owned())
    }

    /// The options that choose it.
    fn options(&self) -> Vec<String> {
        let mut options = vec!["--tools-mode".to_owned(), self.mode().to_owned()];
        if let Some(dialect) = &self.dialect {
            options.extend(["--dialect".to_owned(), dialect.name().to_owned()]);
        }
        if self.constrained {
            options.extend(["--constrain".to_owned(), "on".to_owned()]);
        }
        options
    }

    fn mode(&self) -> &'static str {
        match self.tools_mode {
            ToolsMode::Prompt => "prompt",
            ToolsMode::Hybrid => "hybrid",
            ToolsMode::Auto | ToolsMode::Native => "native",
        }
    }

    fn json(&self) -> Value {
        let dialect = self.dialect.as_ref().map(|dialect| dialect.name());
        let constrain = if self.constrained { "on" } else { "auto" };
        json!({"tools_mode": self.mode(), "dialect": dialect, "constrain": constrain})
    }
}

impl Findings {
    fn text(&self, catalog: Catalog, paint: Paint) -> String {
        let width = terminal::stdout_width();
        let in_rows = |line: &str, indent| {
            width.map_or_else(|| line.to_owned(), |width| wrap::rows(line, width, indent))
        };
        let mut text = String::new();
        let mut fact = |name: &str, value: &str| {
            // Writing to a string cannot fail.
            let line = format!("{} {}", paint.bold(format!("{name:<9}")), visible(value));
            let _ = writeln!(text, "{}", in_rows(&line, 10));
        };
        fact(
            "server",
            &format!("{} ({})", self.server.base, self.about.program.unwrap_or("unknown program")),
        );
        fact("model", if self.model.is_empty() { "the server's only one" } else { &self.model });
        let context = self.about.context.map(|tokens| format!("{tokens} tokens"));
        fact("context", context.as_deref().unwrap_or("the server does not tell it"));
        fact("template", &self.template.as_ref().map_or_else(Clone::clone, told));
        for warning in self.warnings() {
            let line = paint.yellow(format!("! {}", visible(&warning)));
            let _ = writeln!(text, "{}", in_rows(&line, 2));
        }
        text.push('\n');
        let mut table = Table::new(&["WAY", "RIGHT", "WHAT CAME"]);
        for outcome in &self.outcomes {
            let right = format!("{} of {}", outcome.right(), Outcome::of());
            let mut notes = outcome.notes().into_iter();
            let name = outcome.way.name(catalog, &self.model);
            let first = notes.next().unwrap_or_default();
            table.row(vec![name, right, visible(&first).into_owned()]);
            notes.for_each(|note| table.row(vec![String::new(), String::new(), visible(&note).into_owned()]));
        }
        text.push_str(&table.wrapped(paint, width));
        if let Some(best) = self.best {
            let options = self.outcomes[best].way.options().join(" ");
            let _ = writeln!(text, "\n{} {}", paint.bold("use      "), paint.green(options));
        }
        text
    }

    /// Why no way is of use: the model, unless it was never heard.
    fn none(&self) -> String {
        let trials = || self.outcomes.iter().flat_map(|outcome| &outcome.trials);
        let mut failures = trials().map(|trial| match &trial.wrong {
            Some(Wrong::Failed(failure)) => Some(failure),
            _ => None,
        });
        match failures.next().flatten() {
            Some(first) if failures.all(|failure| failure == Some(first)) => first.to_string(),
            _ => "no way of calling tools works with this model; take another one".to_owned(),
        }
    }

    fn json(&self, catalog: Catalog) -> Value {
        let ways: Value = self
            .outcomes
            .iter()
            .map(|outcome| {
                let mut way = outcome.way.json();
                let trials: Value = outcome
                    .trials
                    .iter()
                    .map(|trial| json!({"name": trial.name, "ok": trial.wrong.is_none(), "wrong": trial.wrong.as_ref().map(ToString::to_string)}))
                    .collect();
                way["name"] = json!(outcome.way.name(catalog, &self.model));
                way["works"] = json!(outcome.works());
                way["right"] = json!(outcome.right());
                way["of"] = json!(Outcome::of());
                way["read_in"] = json!(outcome.read_in);
                way["calls"] = trials;
                way
            })
            .collect();
        let chosen = self.best.map(|place| {
            let way = &self.outcomes[place].way;
            let mut value = way.json();
            value["options"] = json!(way.options());
            value
        });
        json!({
            "server": {"base_url": self.server.base, "program": self.about.program, "models": self.server.models},
            "model": self.model, "context": self.about.context, "template": self.template.as_ref().ok(),
            "warnings": self.warnings(), "ways": ways, "use": chosen,
        })
    }

    fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        if let Some(tokens) = self.about.context.filter(|tokens| *tokens < SMALL_CONTEXT) {
            let how = match self.about.program {
                Some("llama.cpp") => "--ctx-size",
                Some("Ollama") => "OLLAMA_CONTEXT_LENGTH",
                Some("vLLM") => "--max-model-len",
                _ => "its own setting for it",
            };
            warnings.push(format!(
                "{tokens} tokens of context are few for tools and files: start the server with more ({how})"
            ));
        }
        if let Ok(report) = &self.template {
            warnings.extend(report.warnings.iter().cloned());
        }
        warnings
    }
}

impl Outcome {
    /// What there is to say of it, a line each.
    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if !self.read_in.is_empty() && self.way.tools_mode == ToolsMode::Native {
            notes.push(format!("calls come as text, in {}; Del reads them", self.read_in.join(", ")));
        }
        let wrong = self.trials.iter().filter_map(|trial| Some((trial.name, trial.wrong.as_ref()?)));
        let wrong: Vec<(&str, &Wrong)> = wrong.collect();
        match wrong.as_slice() {
            [(_, first), rest @ ..]
                if rest.len() + 1 == Self::of() && rest.iter().all(|(_, why)| why == first) =>
            {
                notes.push(first.to_string());
            }
            several => notes.extend(several.iter().map(|(name, why)| format!("{name}: {why}"))),
        }
        notes
    }
}

/// A template in a line.
fn told(report: &Report) -> String {
    let mut text = detect::verdict(report);
    if let Some(thinking) = &report.reasoning {
        // Writing to a string cannot fail.
        let _ = write!(text, "; thinks between {:?} and {:?}", thinking.begin, thinking.end);
        if !thinking.begun().is_empty() {
            let _ = write!(text, ", {}", thinking.begun());
        }
    }
    text
}
