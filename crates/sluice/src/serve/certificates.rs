//! The certificate that the API is served with, renewed while the server runs.
//!
//! Connections keep what they were made with; a new handshake takes the certificate as it is then.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use arc_swap::ArcSwap;
use rustls::crypto::ring::default_provider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use tokio_rustls::TlsAcceptor;

use super::ServeError;
use crate::config::environment::{FileRead, hash_of};
use crate::config::sections::ServerSettings;

/// A certificate and its key, from two files.
pub(crate) struct Certificates {
    certificate_file: PathBuf,
    key_file: PathBuf,
    held: ArcSwap<Held>,
}

struct Held {
    key: Arc<CertifiedKey>,
    read: [FileRead; 2],
}

impl Certificates {
    /// The certificate that is configured, if any.
    pub(crate) fn load(settings: &ServerSettings) -> Result<Option<Arc<Self>>, ServeError> {
        let (Some(certificate), Some(key)) =
            (&settings.tls_certificate_file, &settings.tls_key_file)
        else {
            return Ok(None);
        };
        let (certificate_file, key_file) = (certificate.0.clone(), key.0.clone());
        let held = read(&certificate_file, &key_file).map_err(ServeError::Tls)?;
        let held = ArcSwap::from_pointee(held);
        Ok(Some(Arc::new(Self { certificate_file, key_file, held })))
    }

    /// What ends TLS with it.
    pub(crate) fn acceptor(self: &Arc<Self>) -> TlsAcceptor {
        let mut config =
            rustls::ServerConfig::builder().with_no_client_auth().with_cert_resolver(self.clone());
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        TlsAcceptor::from(Arc::new(config))
    }

    /// The files, and what they held when they were read.
    pub(super) fn files(&self) -> [FileRead; 2] {
        self.held.load().read.clone()
    }

    /// Reads the files again. What is wrong with them is logged, and the certificate stays.
    pub(super) fn renew(&self) {
        match read(&self.certificate_file, &self.key_file) {
            Ok(held) => {
                self.held.store(Arc::new(held));
                tracing::info!("the renewed certificate is in use");
            }
            Err(problem) => tracing::error!("the certificate stays as it was: {problem}"),
        }
    }
}

impl fmt::Debug for Certificates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Certificates").field("file", &self.certificate_file).finish()
    }
}

impl ResolvesServerCert for Certificates {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(self.held.load().key.clone())
    }
}

/// The certificate in these files; or what is wrong, with the setting that names the file.
fn read(certificate_file: &PathBuf, key_file: &PathBuf) -> Result<Held, String> {
    let wrong = |setting: &str, path: &PathBuf, error: &dyn fmt::Display| {
        format!("`{setting}` ({}): {error}", path.display())
    };
    let of_certificate =
        |error: &dyn fmt::Display| wrong("server.tls_certificate_file", certificate_file, error);
    let of_key = |error: &dyn fmt::Display| wrong("server.tls_key_file", key_file, error);
    let chain_text = std::fs::read_to_string(certificate_file).map_err(|it| of_certificate(&it))?;
    let key_text = std::fs::read_to_string(key_file).map_err(|it| of_key(&it))?;
    let chain: Vec<CertificateDer<'static>> = CertificateDer::pem_slice_iter(chain_text.as_bytes())
        .collect::<Result<_, _>>()
        .map_err(|it| of_certificate(&it))?;
    if chain.is_empty() {
        return Err(of_certificate(&"holds no certificate in PEM format"));
    }
    let key = PrivateKeyDer::from_pem_slice(key_text.as_bytes()).map_err(|it| of_key(&it))?;
    // Also checks that the two belong together.
    let key = CertifiedKey::from_der(chain, key, &default_provider())
        .map_err(|error| of_certificate(&error))?;
    let read =
        [(certificate_file.clone(), hash_of(&chain_text)), (key_file.clone(), hash_of(&key_text))];
    Ok(Held { key: Arc::new(key), read })
}
