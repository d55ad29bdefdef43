//! Trust: whose certificates are accepted as those of AWS.
//!
//! Other tools of AWS take further authorities from the file that `AWS_CA_BUNDLE` names. The SDK for
//! Rust does not know the variable, and panics on a file that holds anything but certificates. So the
//! file is read here, and what is no certificate is left out.

use std::path::Path;

use aws_smithy_http_client::tls::{TlsContext, TrustStore};
use base64::Engine as _;
use rustls::RootCertStore;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;

/// The authorities to trust, beside those of the system.
#[derive(Debug, Default)]
pub(crate) struct Trust {
    certificates: Vec<CertificateDer<'static>>,
    /// Why the file was of no use: said where a connection fails, because then it matters.
    pub(crate) complaint: Option<String>,
}

impl Trust {
    /// What the file holds; without one, nothing.
    pub(crate) fn load(bundle: Option<&Path>) -> Self {
        let Some(path) = bundle else {
            return Self::default();
        };
        let text = match std::fs::read(path) {
            Ok(text) => text,
            Err(error) => {
                let words = format!("AWS_CA_BUNDLE: cannot read {}: {error}", path.display());
                return Self {
                    certificates: Vec::new(),
                    complaint: Some(words),
                };
            }
        };
        let certificates: Vec<_> = CertificateDer::pem_slice_iter(&text)
            .filter_map(Result::ok)
            .filter(is_authority)
            .collect();
        let complaint = certificates
            .is_empty()
            .then(|| format!("AWS_CA_BUNDLE: {} holds no certificate", path.display()));
        Self {
            certificates,
            complaint,
        }
    }

    /// For the SDK's connector.
    pub(crate) fn context(&self) -> TlsContext {
        let mut store = TrustStore::empty().with_native_roots(true);
        for certificate in &self.certificates {
            store = store.with_pem_certificate(pem(certificate));
        }
        TlsContext::builder()
            .with_trust_store(store)
            .build()
            .expect("a context is only put together here; nothing is checked before it is used")
    }
}

/// Whether the connector can use it.
fn is_authority(certificate: &CertificateDer<'static>) -> bool {
    RootCertStore::empty().add(certificate.clone()).is_ok()
}

fn pem(certificate: &CertificateDer<'_>) -> Vec<u8> {
    let body = base64::engine::general_purpose::STANDARD.encode(certificate);
    format!("-----BEGIN CERTIFICATE-----\n{body}\n-----END CERTIFICATE-----\n").into_bytes()
}
