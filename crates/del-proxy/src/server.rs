//! Connections, from the first to the last.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::sync::watch;

use crate::gate::Gate;
use crate::proxy::Proxy;
use crate::routes::router;
use crate::settings::{Settings, SettingsError};

/// A client has this long for the head of a request.
const HEAD: Duration = Duration::from_secs(30);
/// Answers under way have this long to end once the server stops.
const DRAIN: Duration = Duration::from_secs(60);
/// When no connection can be taken, such as when there are too many, this long passes before the next try.
const PAUSE: Duration = Duration::from_millis(100);

/// Serves until `stop`, and then until the answers under way have gone out, a minute at most.
///
/// # Errors
/// When the socket or the settings cannot serve. Nothing that a client or the model server does is an error.
pub async fn serve(
    listener: TcpListener,
    settings: Settings,
    stop: impl Future<Output = ()>,
) -> Result<(), SettingsError> {
    let address = listener.local_addr()?;
    if !address.ip().is_loopback() && settings.key.is_none() {
        return Err(SettingsError::NoKey { address });
    }
    let gate = Gate::new(address, settings.key.clone());
    let (stops, stopping) = watch::channel(false);
    let router = router(Arc::new(Proxy::new(settings, gate, stopping)?));
    let open = GracefulShutdown::new();
    let mut stop = pin!(stop);
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = &mut stop => break,
        };
        let Ok((stream, _)) = accepted else {
            tokio::time::sleep(PAUSE).await;
            continue;
        };
        // A piece of an answer goes out when it comes, not when more has come.
        let _ = stream.set_nodelay(true);
        let service = TowerToHyperService::new(router.clone());
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEAD)
            .serve_connection(TokioIo::new(stream), service);
        tokio::spawn(open.watch(connection));
    }
    drop(listener);
    let _ = stops.send(true);
    let _ = tokio::time::timeout(DRAIN, open.shutdown()).await;
    Ok(())
}
