//! A pass-through: what any proxy costs that is built on the same libraries.

use std::net::SocketAddr;

use hyper::body::Incoming;
use hyper::http::uri::{Parts, Scheme};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Uri};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::TcpListener;

use super::Result;

pub(crate) async fn serve(listener: TcpListener, upstream: SocketAddr) -> Result<()> {
    let mut connector = HttpConnector::new();
    connector.set_nodelay(true);
    let client = Client::builder(TokioExecutor::new()).build::<_, Incoming>(connector);
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let client = client.clone();
        tokio::spawn(async move {
            let service = service_fn(|mut request: Request<Incoming>| {
                let mut parts = Parts::default();
                parts.scheme = Some(Scheme::HTTP);
                parts.authority = upstream.to_string().parse().ok();
                parts.path_and_query = request.uri().path_and_query().cloned();
                *request.uri_mut() = Uri::from_parts(parts).unwrap_or_default();
                client.request(request)
            });
            let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
        });
    }
}
