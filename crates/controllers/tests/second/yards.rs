//! What gates depend on besides themselves: in each namespace a yard and a key, which people bring,
//! change and take away. They insist until it is done.

use std::time::Duration;

use k8s_openapi::api::core::v1::Secret;
use kube::Client;
use kube::api::{Api, DeleteParams, Patch, PatchParams};
use laboratory::seeded::{Random, Weather};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::object::{Yard, key, yard};

/// From where people come.
const FROM: [&str; 3] = ["10.0.0.0/8", "10.1.0.0/16", "192.0.2.0/24"];

/// What people have brought about in one namespace.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub(crate) namespace: &'static str,
    /// From where people come, whether or not the yard is there to say it.
    pub(crate) from: &'static str,
    has_yard: bool,
    is_paused: bool,
    has_key: bool,
    /// How many keys there have been; the last one is good.
    keys: u32,
}

impl Place {
    /// There is nothing in the namespace yet.
    pub(crate) fn new(namespace: &'static str) -> Self {
        Self {
            namespace,
            from: FROM[0],
            has_yard: false,
            is_paused: false,
            has_key: false,
            keys: 0,
        }
    }

    /// The yard comes, or goes.
    pub(crate) async fn toggle_yard(&mut self, client: &Client) {
        self.has_yard ^= true;
        self.is_paused &= self.has_yard;
        if self.has_yard {
            force(&self.yards(client), "yard").await;
            apply(&self.yards(client), "yard", yard(self.from)).await;
        } else {
            remove(&self.yards(client), "yard").await;
        }
    }

    /// The yard is paused, or goes on.
    pub(crate) async fn toggle_pause(&mut self, client: &Client) {
        if self.has_yard {
            self.is_paused ^= true;
            self.edit(client, json!({"paused": self.is_paused})).await;
        }
    }

    /// People come from elsewhere.
    pub(crate) async fn change_from(&mut self, client: &Client, random: &Random) {
        self.from = random.pick(&FROM).unwrap();
        if self.has_yard {
            self.edit(client, json!({"from": self.from})).await;
        }
    }

    async fn edit(&self, client: &Client, spec: Value) {
        let mut object = yard(self.from);
        laboratory::merge(&mut object["spec"], spec);
        apply(&self.yards(client), "yard", object).await;
    }

    /// The key is replaced: before the old one is revoked, after that, or with no key in between.
    pub(crate) async fn rotate(&mut self, client: &Client, weather: &Weather, random: &Random) {
        let old = self.key();
        let pause = random.span(Duration::from_mins(10));
        match random.below(3) {
            0 => {
                self.bring_key(client).await;
                sleep(pause).await;
                weather.revoke(&old);
            }
            1 => {
                weather.revoke(&old);
                sleep(pause).await;
                self.bring_key(client).await;
            }
            _ => {
                weather.revoke(&old);
                self.has_key = false;
                remove(&self.secrets(client), "key").await;
            }
        }
    }

    /// A new key comes.
    pub(crate) async fn bring_key(&mut self, client: &Client) {
        self.keys += 1;
        self.has_key = true;
        force(&self.secrets(client), "key").await;
        apply(&self.secrets(client), "key", key(&self.key())).await;
    }

    /// Everything that gates need is there.
    pub(crate) async fn put_right(&mut self, client: &Client) {
        if !self.has_yard {
            self.toggle_yard(client).await;
        }
        if self.is_paused {
            self.toggle_pause(client).await;
        }
        if !self.has_key {
            self.bring_key(client).await;
        }
    }

    fn key(&self) -> String {
        format!("AKIA{}{}", self.namespace, self.keys)
    }

    fn yards(&self, client: &Client) -> Api<Yard> {
        Api::namespaced(client.clone(), self.namespace)
    }

    fn secrets(&self, client: &Client) -> Api<Secret> {
        Api::namespaced(client.clone(), self.namespace)
    }
}

/// Brings an object about, whether or not it is there.
async fn apply<K>(api: &Api<K>, name: &str, object: Value)
where
    K: DeserializeOwned + Serialize + Clone + std::fmt::Debug,
{
    let (parameters, patch) = (PatchParams::apply("people").force(), Patch::Apply(object));
    while api.patch(name, &parameters, &patch).await.is_err() {
        sleep(Duration::from_secs(1)).await;
    }
}

/// Removes an object, if it is there.
async fn remove<K>(api: &Api<K>, name: &str)
where
    K: DeserializeOwned + Clone + std::fmt::Debug,
{
    until_done(async || api.delete(name, &DeleteParams::default()).await.map(drop)).await;
}

/// An object whose deletion waits for its guests is made to go by force, and made again: people have no
/// patience.
async fn force<K>(api: &Api<K>, name: &str)
where
    K: kube::Resource + DeserializeOwned + Clone + std::fmt::Debug,
{
    let none = Patch::Merge(json!({"metadata": {"finalizers": null}}));
    until_done(async || {
        let object = api.get(name).await?;
        if object.meta().deletion_timestamp.is_none() {
            return Ok(());
        }
        let parameters = PatchParams::default();
        api.patch_metadata(name, &parameters, &none).await.map(drop)
    })
    .await;
}

/// Tries until it is done, or there is nothing to do it to.
async fn until_done(mut deed: impl AsyncFnMut() -> Result<(), kube::Error>) {
    loop {
        match deed().await {
            Ok(()) => return,
            Err(kube::Error::Api(status)) if status.code == 404 => return,
            Err(_) => sleep(Duration::from_secs(1)).await,
        }
    }
}
