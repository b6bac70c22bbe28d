//! Encryption for the connections of this process.

/// Makes encrypted addresses possible.
pub(crate) fn prepare() {
    // Only the first call in a process sets the provider; a later one changes nothing.
    let _ = rustls::crypto::ring::default_provider().install_default();
}
