//! The body of a model server's answer, whichever way it comes.

use std::fmt;
use std::future::ready;
use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::Bytes;
use axum::http::{HeaderValue, Request, Response, header};
use http_body::{Body, Frame, SizeHint};
use tower::{Service as _, service_fn};
use tower_http::decompression::Decompression;

use crate::coding;
use crate::line::Answer;

pub(crate) type Cause = Box<dyn std::error::Error + Send + Sync>;
type Frames = dyn Body<Data = Bytes, Error = Cause> + Send;

/// What comes of an answer.
pub(crate) enum Coming {
    /// As it is on the connection.
    Line(Answer),
    /// It was packed.
    Unpacked(Pin<Box<Frames>>),
    /// By way of the client for everything that is not plain.
    Client(reqwest::Body),
}

impl Coming {
    /// The answer on a connection, unpacked where it is packed.
    pub(crate) async fn of(response: Response<Answer>) -> Result<Response<Self>, Cause> {
        Self::unpacked(response, Self::Line).await
    }

    /// The answer that the client has, which unpacks what is spelt as it knows it.
    pub(crate) async fn of_client(response: Response<reqwest::Body>) -> Result<Response<Self>, Cause> {
        Self::unpacked(response, Self::Client).await
    }

    async fn unpacked<B>(
        response: Response<B>,
        plain: impl FnOnce(B) -> Self,
    ) -> Result<Response<Self>, Cause>
    where
        B: Body<Data = Bytes, Error: Into<Cause> + Send> + Send + 'static,
    {
        let Some(word) = response.headers().get(header::CONTENT_ENCODING) else {
            return Ok(response.map(plain));
        };
        // What unpacks it knows one spelling of each.
        let kind = word.to_str().ok().and_then(coding::known).map(HeaderValue::from_static);
        let mut response = response;
        if let Some(kind) = kind {
            response.headers_mut().insert(header::CONTENT_ENCODING, kind);
        }
        let mut packed = Some(response);
        let given = service_fn(move |_: Request<()>| {
            ready(packed.take().ok_or_else(|| Cause::from("expected one question for an answer, got two")))
        });
        let response = Decompression::new(given).call(Request::new(())).await?;
        Ok(response.map(|body| Self::Unpacked(Box::pin(body))))
    }
}

impl Body for Coming {
    type Data = Bytes;
    type Error = Cause;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Cause>>> {
        match &mut *self {
            Self::Line(body) => Pin::new(body).poll_frame(context).map_err(Into::into),
            Self::Unpacked(body) => body.as_mut().poll_frame(context),
            Self::Client(body) => Pin::new(body).poll_frame(context).map_err(Into::into),
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Line(body) => body.is_end_stream(),
            Self::Unpacked(body) => body.is_end_stream(),
            Self::Client(body) => body.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Line(body) => body.size_hint(),
            Self::Unpacked(body) => body.size_hint(),
            Self::Client(body) => body.size_hint(),
        }
    }
}

impl fmt::Debug for Coming {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Coming")
    }
}
