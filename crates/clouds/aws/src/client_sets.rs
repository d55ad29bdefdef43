//! Client sets: one for each access, shared by all who have it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use aws_config::retry::RetryConfig;
use aws_config::sts::AssumeRoleProvider;
use aws_config::timeout::TimeoutConfig;
use aws_config::{BehaviorVersion, Region, SdkConfig};
use aws_credential_types::provider::SharedCredentialsProvider;
use aws_sdk_ec2::config::{IdentityCache, SharedHttpClient};
use aws_smithy_http_client::Builder;
use aws_smithy_http_client::tls::Provider;
use aws_smithy_http_client::tls::rustls_provider::CryptoMode;
use ownership::CloudError;
use ownership::time::REQUEST_TIMEOUT;
use tokio::sync::OnceCell;

use crate::client_set::ClientSet;
use crate::observe::Ended;
use crate::trust::Trust;
use cloud_port::aws::{Access, Credentials};

/// What is the same for all client sets.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Where AWS is; `None` leaves it to the SDK, which knows the regions and `AWS_ENDPOINT_URL`.
    pub endpoint: Option<String>,
    /// A file with certificates of authorities to trust, beside those of the system.
    pub ca_bundle: Option<PathBuf>,
    /// After which time a call is given up: T of assumption A3.
    pub request_timeout: Duration,
}

impl Default for Settings {
    /// As the engine needs it, without anything from the environment.
    fn default() -> Self {
        Self {
            endpoint: None,
            ca_bundle: None,
            request_timeout: Duration::from_millis(REQUEST_TIMEOUT.0),
        }
    }
}

impl Settings {
    /// As the environment says: `AWS_CA_BUNDLE`, and whatever the SDK itself reads.
    pub fn from_env() -> Self {
        let bundle = std::env::var_os("AWS_CA_BUNDLE").filter(|path| !path.is_empty());
        Self {
            ca_bundle: bundle.map(PathBuf::from),
            ..Self::default()
        }
    }
}

/// The client sets of a process.
///
/// # Guarantees
/// - Two who ask with an equal [`Access`] get the same set, also at the same time: one pool of
///   connections, one set of credentials, one question for the account's id.
/// - A set whose key is replaced is another set: an [`Access`] holds the secret too.
#[derive(Debug)]
pub struct ClientSets {
    settings: Settings,
    trust: Arc<Trust>,
    http: SharedHttpClient,
    sets: Mutex<BTreeMap<Access, Arc<OnceCell<Arc<ClientSet>>>>>,
}

impl ClientSets {
    /// None yet.
    pub fn new(settings: Settings) -> Self {
        let trust = Trust::load(settings.ca_bundle.as_deref());
        let http = Builder::new()
            .tls_provider(Provider::Rustls(CryptoMode::Ring))
            .tls_context(trust.context())
            .build_https();
        Self {
            settings,
            trust: Arc::new(trust),
            http,
            sets: Mutex::default(),
        }
    }

    /// The set for this access. Nothing is asked of AWS yet.
    ///
    /// # Errors
    /// A region, key or role that cannot exist.
    pub async fn get(&self, access: &Access) -> Result<Arc<ClientSet>, CloudError> {
        access.check()?;
        let cell = {
            // Whatever panicked while it held the lock has not changed a set.
            let mut sets = self.sets.lock().unwrap_or_else(PoisonError::into_inner);
            sets.entry(access.clone()).or_default().clone()
        };
        let set = cell.get_or_init(|| async { Arc::new(self.make(access).await) });
        Ok(set.await.clone())
    }

    /// How the calls of all sets ended.
    pub fn calls(&self) -> BTreeMap<Ended, u64> {
        let mut all = BTreeMap::new();
        let sets = self.sets.lock().unwrap_or_else(PoisonError::into_inner);
        for set in sets.values().filter_map(|cell| cell.get()) {
            for (ended, calls) in set.calls().by_outcome() {
                *all.entry(ended).or_default() += calls;
            }
        }
        all
    }

    async fn make(&self, access: &Access) -> ClientSet {
        let base = self.base(access).await;
        let config = match &access.assume {
            None => base,
            Some(role) => {
                let mut provider = AssumeRoleProvider::builder(&role.arn)
                    .session_name("freehold")
                    .configure(&base);
                if let Some(id) = &role.external_id {
                    provider = provider.external_id(id);
                }
                let provider = SharedCredentialsProvider::new(provider.build().await);
                let builder = base.to_builder().credentials_provider(provider);
                // Not the one that has the credentials which the role is taken on with.
                builder
                    .identity_cache(IdentityCache::lazy().build())
                    .build()
            }
        };
        ClientSet::new(access.clone(), &config, self.trust.clone())
    }

    async fn base(&self, access: &Access) -> SdkConfig {
        let timeout = self.settings.request_timeout;
        let timeouts = TimeoutConfig::builder()
            .connect_timeout(timeout / 6)
            .operation_timeout(timeout)
            .build();
        let mut loader = aws_config::defaults(BehaviorVersion::v2026_01_12())
            .http_client(self.http.clone())
            .region(Region::new(access.region.clone()))
            // The engine alone repeats a call: it knows when that is safe.
            .retry_config(RetryConfig::disabled())
            .timeout_config(timeouts)
            .identity_cache(IdentityCache::lazy().build());
        if let Some(endpoint) = &self.settings.endpoint {
            loader = loader.endpoint_url(endpoint);
        }
        if let Credentials::Keys { id, secret } = &access.credentials {
            let keys =
                aws_credential_types::Credentials::new(id, secret.reveal(), None, None, "freehold");
            loader = loader.credentials_provider(keys);
        }
        loader.load().await
    }
}
