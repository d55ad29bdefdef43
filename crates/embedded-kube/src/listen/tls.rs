//! A certificate that is made at the start, and connections under it.

use std::io;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rustls::ServerConfig;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

/// A certificate of this process's own, for the names of this machine. Its key is never written down.
#[derive(Clone)]
pub struct Certificate {
    acceptor: TlsAcceptor,
    der: Vec<u8>,
}

impl Certificate {
    /// Makes one for these names and addresses. Keys are random: it differs each time.
    pub fn generate(names: &[&str]) -> io::Result<Self> {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let made = rcgen::generate_simple_self_signed(names).map_err(io::Error::other)?;
        let der = made.cert.der().clone();
        let key = PrivatePkcs8KeyDer::from(made.signing_key.serialize_der());
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(io::Error::other)?
            .with_no_client_auth()
            .with_single_cert(vec![der.clone()], PrivateKeyDer::Pkcs8(key))
            .map_err(io::Error::other)?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Self {
            acceptor: TlsAcceptor::from(Arc::new(config)),
            der: der.to_vec(),
        })
    }

    /// The certificate as a kubeconfig's `certificate-authority-data` holds it.
    pub fn authority_data(&self) -> String {
        let body = STANDARD.encode(&self.der);
        let lines: Vec<&str> = body
            .as_bytes()
            .chunks(64)
            .map(|line| std::str::from_utf8(line).unwrap_or_default())
            .collect();
        let pem = format!(
            "-----BEGIN CERTIFICATE-----\n{}\n-----END CERTIFICATE-----\n",
            lines.join("\n")
        );
        STANDARD.encode(pem)
    }

    pub(super) async fn accept(&self, stream: TcpStream) -> io::Result<TlsStream<TcpStream>> {
        self.acceptor.accept(stream).await
    }
}
