//! Connections, from the first to the last.

use std::convert::Infallible;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

use crate::at_once::AtOnce;
use crate::half_open::HalfOpen;
use crate::heads::{Heads, Limits};
use crate::held::Held;
use crate::paths::Paths;
use crate::proxy::Proxy;
use crate::settings::SettingsError;
use crate::taking::Taking;
use crate::under_way::{Arriving, UnderWay};

/// A connection may be silent for this long between two requests, and before the first.
const IDLE: Duration = Duration::from_secs(30);
/// A client has this long for the head of a request, from its first byte on.
const HEAD: Duration = Duration::from_secs(10);
/// One of so many bytes is taken; one of twice as many is not.
const HEAD_SIZE: usize = 64 << 10;
/// Answers under way have this long to end once the server stops.
const DRAIN: Duration = Duration::from_secs(60);
/// What was written of an answer has this long to reach the client then.
const FLUSH: Duration = Duration::from_secs(1);
/// Of an answer under way, a client has to take something within this time, once what lies between is full.
const TAKE: Duration = Duration::from_secs(60);
/// When no connection can be taken, such as when too many files are open, this long passes before the next try.
const PAUSE: Duration = Duration::from_millis(100);
/// So many connections beyond the most are taken all the same, to be told so. More wait in the system's queue.
const TURNED_AWAY: usize = 64;

/// Serves until `stop`, and then until the answers under way have gone out, a minute at most. Requests that have not
/// come whole by then get none.
///
/// # Errors
/// Never once it serves: nothing that a client or the model server does is an error.
pub async fn serve(
    listener: TcpListener,
    proxy: Arc<Proxy>,
    stop: impl Future<Output = ()>,
) -> Result<(), SettingsError> {
    let paths = Paths::new(Arc::clone(&proxy));
    let observers = Arc::clone(&proxy.observers);
    let most = proxy.setup().settings.max_connections.min(Semaphore::MAX_PERMITS - TURNED_AWAY);
    let places = Arc::new(Semaphore::new(most + TURNED_AWAY));
    let mut stop = pin!(stop);
    loop {
        let accepted = tokio::select! {
            accepted = accept(&listener, &places) => accepted,
            () = &mut stop => break,
        };
        let Some(client) = accepted else {
            tokio::time::sleep(PAUSE).await;
            continue;
        };
        connect(client, &paths, proxy.stopping());
    }
    drop(listener);
    proxy.stop();
    // Every connection has a place until it ends.
    let all = u32::try_from(most + TURNED_AWAY).unwrap_or(u32::MAX);
    let _ = tokio::time::timeout(DRAIN, places.acquire_many(all)).await;
    let _ = tokio::task::spawn_blocking(move || observers.close()).await;
    Ok(())
}

/// A client that has come.
struct Client {
    stream: TcpStream,
    /// Its place among those that are open.
    place: OwnedSemaphorePermit,
    /// There are as many as there may be without it.
    crowded: bool,
}

/// Waits for a client, and for a place where there is none.
async fn accept(listener: &TcpListener, places: &Arc<Semaphore>) -> Option<Client> {
    let place = Arc::clone(places).acquire_owned().await.ok()?;
    let (stream, _) = listener.accept().await.ok()?;
    Some(Client { stream, place, crowded: places.available_permits() < TURNED_AWAY })
}

/// Answers the requests of one client.
fn connect(
    Client { stream, place, crowded }: Client,
    paths: &Arc<Paths>,
    mut stopping: watch::Receiver<bool>,
) {
    // A piece of an answer goes out when it comes, not when more has come.
    let _ = stream.set_nodelay(true);
    let (paths, under_way) = (Arc::clone(paths), Arc::<UnderWay>::default());
    let on_its_way = Arc::clone(&under_way);
    let service = service_fn(move |request: Request<Incoming>| {
        let (begun, unsure) = on_its_way.begin(&request);
        let (paths, on_its_way) = (Arc::clone(&paths), Arc::clone(&on_its_way));
        let mut request = request.map(|body| Arriving::of(&on_its_way, body));
        if let Some(unsure) = unsure {
            request.extensions_mut().insert(unsure);
        }
        // A connection keeps room for what answers, as long as it is open: not for more than a box.
        Box::pin(async move {
            let response = paths.answer(request, crowded, on_its_way).await;
            Ok::<_, Infallible>(response.map(|body| Held::new(body, begun)))
        })
    });
    let stream = Taking::new(HalfOpen::new(stream, Arc::clone(&under_way)), TAKE);
    let stream = Heads::new(stream, Arc::clone(&under_way), Limits { head: HEAD, silence: IDLE });
    let connection = http1::Builder::new()
        .header_read_timeout(None)
        .max_buf_size(HEAD_SIZE)
        .serve_connection(TokioIo::new(stream), service);
    tokio::spawn(AtOnce::new(async move {
        let _place = place;
        let mut connection = pin!(connection);
        tokio::select! {
            _ = &mut connection => return,
            _ = stopping.wait_for(|stops| *stops) => under_way.stop(),
        }
        connection.as_mut().graceful_shutdown();
        // Half the head of a request would keep it open.
        if under_way.is_idle() {
            let _ = tokio::time::timeout(FLUSH, connection).await;
        } else {
            let _ = connection.await;
        }
    }));
}
