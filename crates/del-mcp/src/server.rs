//! Del's tools for other hosts, on standard input and output.

use std::borrow::Cow;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use del_tools::{
    Answer, Cancel, Class, Code, Control, Failure, Gate, Plan, Progress, Toolbox, Verdict, visible,
};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, CustomRequest, CustomResult,
    ElicitRequestParams, ElicitationAction, ErrorCode, ErrorData, Implementation, InitializeRequestParams,
    ListToolsResult, PaginatedRequestParams, ProgressNotificationParam, ProgressToken, ProtocolVersion,
    ServerCapabilities, ServerConfig, Tool, ToolAnnotations,
};
use rmcp::service::{Peer, RequestContext, RoleServer, ServerInitializeError};
use rmcp::{ServerHandler, ServiceExt};
use serde_json::{Map, Value, json};
use tokio::sync::{Mutex as Turn, Semaphore, mpsc};
use tokio_util::sync::CancellationToken;

use crate::lines::Lines;

/// How serving ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Served {
    /// The host closed the input.
    Ended,
    /// It was told to stop.
    Stopped,
}

/// Reading calls that run at the same time.
const PARALLEL: usize = 8;
/// How long running calls have to end when the host is gone.
const END: Duration = Duration::from_secs(3);
/// Between two notifications of progress.
const PACE: Duration = Duration::from_millis(100);
/// Bytes of a question that are sent whole.
const QUESTION: usize = 32 * 1024;

/// Serves the tools until the host closes standard input, or `stop` is done. Standard output carries the protocol
/// alone. A call that needs consent asks the host's user where the host can ask, and is denied where it cannot.
pub fn serve(toolbox: Toolbox, gate: Gate, stop: impl Future<Output = ()>) -> io::Result<Served> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let over = CancellationToken::new();
    let host = Host {
        desk: Arc::new(Desk { toolbox, gate: Mutex::new(gate) }),
        reading: Arc::new(Semaphore::new(PARALLEL)),
        doing: Arc::new(Turn::new(())),
        over: over.clone(),
    };
    let served = runtime.block_on(async {
        let transport = Lines::standard()?;
        let work = async {
            match host.serve(transport).await {
                Ok(running) => running.waiting().await.map(|_| ()).map_err(io::Error::other),
                // The host left before it said anything.
                Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
                Err(error) => Err(io::Error::other(visible(&error.to_string()).into_owned())),
            }
        };
        tokio::select! {
            ended = work => ended.map(|()| Served::Ended),
            () = stop => Ok(Served::Stopped),
        }
    });
    over.cancel();
    runtime.shutdown_timeout(END);
    served
}

#[derive(Clone)]
struct Host {
    desk: Arc<Desk>,
    reading: Arc<Semaphore>,
    /// Held by the one call that may write or run something.
    doing: Arc<Turn<()>>,
    over: CancellationToken,
}

struct Desk {
    toolbox: Toolbox,
    gate: Mutex<Gate>,
}

impl Desk {
    fn gate(&self) -> MutexGuard<'_, Gate> {
        self.gate.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ServerHandler for Host {
    fn get_info(&self) -> ServerConfig {
        let me = Implementation::new("del", env!("CARGO_PKG_VERSION")).with_title("Del");
        let directory = self.desk.toolbox.directory().display();
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(me)
            .with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE)
            .with_instructions(format!(
                "Tools on the files in {directory}. Paths are relative to it. Calls that write or run something may need \
                 the user's consent; one that is denied should not be tried again."
            ))
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        // Consent is asked for in the middle of a call, which later versions do in another way.
        ProtocolVersion::KNOWN_VERSIONS.iter().filter(|version| version.has_initialize()).cloned().collect()
    }

    async fn list_tools(
        &self,
        page: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        if page.and_then(|page| page.cursor).is_some_and(|cursor| !cursor.is_empty()) {
            return Err(ErrorData::invalid_params(
                "Invalid params: expected no cursor: there is one page",
                None,
            ));
        }
        let definitions = self.desk.toolbox.definitions().iter();
        Ok(ListToolsResult::with_all_items(definitions.map(described).collect()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = Value::Object(request.arguments.unwrap_or_default()).to_string();
        let outcome = self.call(request.name.into_owned(), arguments, &context).await;
        Ok(match outcome {
            Ok(text) => CallToolResult::success(vec![ContentBlock::text(text)]),
            Err(text) => CallToolResult::error(vec![ContentBlock::text(text)]),
        }
        .into())
    }

    /// What is none of the protocol's requests: its method is unknown, or what goes with it cannot be read.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let CustomRequest { method, params, .. } = request;
        let params = params.unwrap_or_else(|| json!({}));
        let wrong = match method.as_str() {
            "initialize" => serde_json::from_value::<InitializeRequestParams>(params).err(),
            "tools/call" => serde_json::from_value::<CallToolRequestParams>(params).err(),
            "tools/list" => serde_json::from_value::<PaginatedRequestParams>(params).err(),
            _ => None,
        };
        Err(match wrong {
            Some(error) => ErrorData::invalid_params(format!("Invalid params: {error}"), None),
            None => {
                let name: String = method.chars().take(60).collect();
                ErrorData::new(ErrorCode::METHOD_NOT_FOUND, format!("Method not found: {name}"), None)
            }
        })
    }
}

impl Host {
    /// What the call gives: text, or the text of an error.
    async fn call(
        &self,
        name: String,
        arguments: String,
        context: &RequestContext<RoleServer>,
    ) -> Result<String, String> {
        let said = |failure: Failure| failure.to_string();
        let gone = || said(Failure::new(Code::Cancelled, "cancelled."));
        let reads = self.desk.toolbox.class(&name) == Some(Class::Read);
        let turn = async {
            if reads {
                Arc::clone(&self.reading).acquire_owned().await.ok().map(Place::Reading)
            } else {
                Some(Place::Doing(Arc::clone(&self.doing).lock_owned().await))
            }
        };
        let place = tokio::select! {
            place = turn => place.ok_or_else(gone)?,
            () = context.ct.cancelled() => return Err(gone()),
        };
        let desk = Arc::clone(&self.desk);
        let plan = move || {
            desk.gate().admit(&desk.toolbox, &name, &arguments)?;
            desk.toolbox.plan(&name, &arguments)
        };
        let plan = blocking(plan).await?.map_err(said)?;
        let verdict = self.desk.gate().verdict(&plan);
        match verdict {
            Verdict::Run => {}
            Verdict::Deny(failure) => return Err(said(failure)),
            Verdict::Ask => {
                let modes = self.desk.gate().modes_for(&plan);
                let answer = tokio::select! {
                    answer = ask(&plan, &modes, context) => answer.map_err(said)?,
                    () = context.ct.cancelled() => return Err(gone()),
                };
                self.desk.gate().take(&plan, answer).map_err(said)?;
            }
        }
        self.run(plan, context, place).await
    }

    async fn run(
        &self,
        plan: Plan,
        context: &RequestContext<RoleServer>,
        place: Place,
    ) -> Result<String, String> {
        let cancel = Cancel::new();
        let (desk, flag) = (Arc::clone(&self.desk), cancel.clone());
        let report = context.meta.get_progress_token().map(|token| reporter(token, context.peer.clone()));
        let running = blocking(move || {
            // Its place is free when it has ended, not when somebody stopped waiting for it.
            let _place = place;
            let mut control = Control::new(flag);
            if let Some(report) = report {
                control = control.with_progress(report);
            }
            desk.toolbox.run(plan, &control)
        });
        tokio::pin!(running);
        let result = tokio::select! {
            result = &mut running => result?,
            () = async { tokio::select! { () = context.ct.cancelled() => {}, () = self.over.cancelled() => {} } } => {
                cancel.cancel();
                running.await?
            }
        };
        if result.ok { Ok(result.text) } else { Err(result.text) }
    }
}

/// What a call holds while it works; its end makes room for the next one.
#[expect(dead_code, reason = "they are held, not looked at")]
enum Place {
    Reading(tokio::sync::OwnedSemaphorePermit),
    Doing(tokio::sync::OwnedMutexGuard<()>),
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, String> {
    let broken = |_| Failure::new(Code::System, "the tool broke down; this is a fault of Del.").to_string();
    tokio::task::spawn_blocking(work).await.map_err(broken)
}

/// A tool as hosts are told of it. What only reads is said to; everything else may destroy.
fn described(definition: &del_tools::Definition) -> Tool {
    let tool = definition.tool();
    let schema = match tool.parameters.into() {
        Value::Object(schema) => schema,
        _ => Map::new(),
    };
    let reads = definition.class == Class::Read;
    let open = matches!(definition.class, Class::Execute | Class::Network);
    let annotations = ToolAnnotations::new().read_only(reads).destructive(!reads).open_world(open);
    Tool::new(tool.name, tool.description, schema).with_annotations(annotations)
}

/// Asks the host's user. Fails where the host cannot ask.
async fn ask(plan: &Plan, modes: &[&str], context: &RequestContext<RoleServer>) -> Result<Answer, Failure> {
    let capability = context.client_capabilities().and_then(|capabilities| capabilities.elicitation);
    if !capability.is_some_and(|capability| capability.form.is_some() || capability.url.is_none()) {
        let rules = if plan.is_doubtful() { Vec::new() } else { plan.question().rules() };
        let rules: Vec<String> = rules.iter().map(|rule| format!("--allow-tool '{rule}'")).collect();
        let rules = Some(rules.join(" ")).filter(|rules| !rules.is_empty());
        let modes = (!modes.is_empty()).then(|| format!("--approval-mode {}", modes.join("|")));
        let ways: Vec<String> = [rules, modes].into_iter().flatten().collect();
        let way = if ways.is_empty() {
            "No option lets it run unasked".to_owned()
        } else {
            format!("Start `del mcp serve` with {}", ways.join(", or with "))
        };
        let why = plan.question().needs_approval();
        let cause = format!("{why}; this host cannot ask its user. {way}.");
        return Err(Failure::new(Code::Denied, cause));
    }
    let unasked =
        |why: &str| Failure::new(Code::Denied, format!("needs approval, and the host did not ask: {why}."));
    let whole = plan.question().whole();
    let message = if whole.len() > QUESTION { plan.question().text() } else { whole };
    let schema = json!({
        "type": "object",
        "properties": {
            "answer": {
                "type": "string", "title": "Do this?", "enum": ["no", "yes", "always"],
                "description": "always: this call with these arguments is not asked about again",
            },
            "reason": {"type": "string", "title": "Why not", "description": "for the model"},
        },
        "required": ["answer"],
    });
    let requested_schema = serde_json::from_value(schema).map_err(|error| unasked(&error.to_string()))?;
    let params = ElicitRequestParams::FormElicitationParams { meta: None, message, requested_schema };
    let result = context
        .peer
        .create_elicitation(params)
        .await
        .map_err(|error| unasked(&visible(&error.to_string())))?;
    let content = result.content.unwrap_or_default();
    let reason = content["reason"].as_str().map(|reason| visible(reason).into_owned());
    Ok(match (result.action, content["answer"].as_str()) {
        (ElicitationAction::Accept, Some("yes")) => Answer::Yes,
        (ElicitationAction::Accept, Some("always")) => Answer::Always,
        _ => Answer::No { reason },
    })
}

/// Tells the host what a call says while it runs, not too often.
fn reporter(token: ProgressToken, peer: Peer<RoleServer>) -> impl Fn(Progress<'_>) + Send + Sync {
    let (send, mut receive) = mpsc::channel::<(u64, String)>(16);
    tokio::spawn(async move {
        while let Some((bytes, line)) = receive.recv().await {
            #[expect(clippy::cast_precision_loss, reason = "it only has to grow")]
            let mut params = ProgressNotificationParam::new(token.clone(), bytes as f64);
            params.message = Some(line);
            // A host that is gone needs no progress.
            let _ = peer.notify_progress(params).await;
        }
    });
    let state = Mutex::new((0_u64, None::<Instant>));
    move |progress| {
        let Progress::Output(text) = progress else { return };
        let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
        state.0 += text.len() as u64;
        if state.1.is_some_and(|last| last.elapsed() < PACE) {
            return;
        }
        if let Some(line) = text.lines().rev().find(|line| !line.trim().is_empty()) {
            let line = visible(line).chars().take(200).collect();
            state.1 = Some(Instant::now());
            // One that finds no room is left out.
            let _ = send.try_send((state.0, line));
        }
    }
}
