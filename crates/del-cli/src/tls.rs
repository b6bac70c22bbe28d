//! Encryption for the connections of this process.

/// Makes encrypted addresses possible.
pub(crate) fn prepare() {
    // Only the first call in a process sets the provider; a later one changes nothing.
    let _ = rustls::crypto::ring::default_provider().install_default();
}

/// What is wrong with the encryption of a connection, and what helps; nothing where something else is wrong.
pub(crate) fn words(error: &reqwest::Error) -> Option<String> {
    let mut cause: &dyn std::error::Error = error;
    loop {
        if let Some(told) = cause.downcast_ref::<rustls::Error>() {
            return Some(in_words(told));
        }
        // An error of reading holds what it was made of, and says so in its own way.
        let inner = cause.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
        cause = match inner {
            Some(inner) => inner,
            None => cause.source()?,
        };
    }
}

fn in_words(error: &rustls::Error) -> String {
    use rustls::{CertificateError, Error, InvalidMessage};
    const TRUST: &str = "the variable SSL_CERT_FILE names a file of certificates to trust";
    let own = |other: &CertificateError| format!("{other:?}").contains("CaUsedAsEndEntity");
    match error {
        Error::InvalidMessage(InvalidMessage::InvalidContentType) => {
            "it does not answer encrypted: perhaps its address begins with http://".to_owned()
        }
        Error::InvalidCertificate(CertificateError::UnknownIssuer) => {
            format!("nobody whom this machine trusts has signed its certificate; {TRUST}")
        }
        Error::InvalidCertificate(other) if own(other) => format!(
            "its certificate is one for signing others, not for a server: make one with CA:FALSE; {TRUST}"
        ),
        Error::InvalidCertificate(
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
        ) => "its certificate is for another name than the address has".to_owned(),
        Error::InvalidCertificate(CertificateError::Expired | CertificateError::ExpiredContext { .. }) => {
            "its certificate has expired, or the clock here is wrong".to_owned()
        }
        other => format!("the encrypted connection failed: {other}"),
    }
}

#[cfg(test)]
mod tests {
    use rustls::{CertificateError, Error, InvalidMessage};

    use super::in_words;

    #[test]
    fn what_is_wrong_is_told_with_what_helps() {
        let told = in_words(&Error::InvalidMessage(InvalidMessage::InvalidContentType));
        assert!(told.contains("http://"), "{told}");
        let told = in_words(&Error::InvalidCertificate(CertificateError::UnknownIssuer));
        assert!(told.contains("SSL_CERT_FILE"), "{told}");
        let told = in_words(&Error::HandshakeNotComplete);
        assert!(told.starts_with("the encrypted connection failed: "), "{told}");
    }
}
