//! Anthropic's messages.

mod call_id;
pub mod from_client;
pub mod from_server;
pub mod plain;
pub mod to_client;
pub(crate) mod to_server;

/// Where the arguments of calls stand in a request.
pub(crate) const ARGUMENTS: [&str; 3] = ["messages", "content", "input"];

/// What the API calls an error with this status.
pub fn error_kind(status: u16) -> &'static str {
    match status {
        401 => "authentication_error",
        402 => "billing_error",
        403 => "permission_error",
        404 => "not_found_error",
        413 => "request_too_large",
        429 => "rate_limit_error",
        504 => "timeout_error",
        529 => "overloaded_error",
        500.. => "api_error",
        _ => "invalid_request_error",
    }
}
