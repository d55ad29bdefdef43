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

/// Whether something that gates need is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Is {
    There,
    /// Somebody has deleted it, and it waits for its guests; or it is gone by now.
    Ending,
    Gone,
}

/// What people have brought about in one namespace.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub(crate) namespace: &'static str,
    /// From where people come, whether or not the yard is there to say it.
    pub(crate) from: &'static str,
    yard: Is,
    is_paused: bool,
    secret: Is,
    /// How many keys there have been; the last one is good.
    keys: u32,
}

impl Place {
    /// There is nothing in the namespace yet.
    pub(crate) fn new(namespace: &'static str) -> Self {
        Self {
            namespace,
            from: FROM[0],
            yard: Is::Gone,
            is_paused: false,
            secret: Is::Gone,
            keys: 0,
        }
    }

    /// The yard comes, or goes: with or without its finalizers.
    pub(crate) async fn toggle_yard(&mut self, client: &Client, random: &Random) {
        if self.yard != Is::There {
            self.bring_yard(client).await;
        } else if random.chance(50) {
            self.end_yard(client).await;
        } else {
            self.yard = Is::Gone;
            lose(&self.yards(client), "yard").await;
        }
    }

    async fn bring_yard(&mut self, client: &Client) {
        self.is_paused = false;
        lose(&self.yards(client), "yard").await;
        apply(&self.yards(client), "yard", yard(self.from)).await;
        self.yard = Is::There;
    }

    /// Somebody deletes the yard: it waits for its guests.
    pub(crate) async fn end_yard(&mut self, client: &Client) {
        self.yard = Is::Ending;
        remove(&self.yards(client), "yard").await;
    }

    /// Whether nobody has deleted the yard.
    pub(crate) fn has_yard(&self) -> bool {
        self.yard == Is::There
    }

    /// The yard is paused, or goes on.
    pub(crate) async fn toggle_pause(&mut self, client: &Client) {
        if self.has_yard() {
            self.is_paused ^= true;
            self.write_yard(client).await;
        }
    }

    /// People come from elsewhere.
    pub(crate) async fn change_from(&mut self, client: &Client, random: &Random) {
        self.from = random.pick(&FROM).unwrap();
        if self.has_yard() {
            self.write_yard(client).await;
        }
    }

    async fn write_yard(&self, client: &Client) {
        let mut object = yard(self.from);
        object["spec"]["paused"] = json!(self.is_paused);
        apply(&self.yards(client), "yard", object).await;
    }

    /// The key is replaced: before the old one is revoked, after that, or some time after the Secret
    /// was deleted.
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
                self.secret = Is::Ending;
                remove(&self.secrets(client), "key").await;
            }
        }
    }

    /// A new key comes, in a new Secret if the old one ends.
    async fn bring_key(&mut self, client: &Client) {
        self.keys += 1;
        if self.secret != Is::There {
            lose(&self.secrets(client), "key").await;
        }
        self.secret = Is::There;
        apply(&self.secrets(client), "key", key(&self.key())).await;
    }

    /// Everything that gates need is there.
    pub(crate) async fn put_right(&mut self, client: &Client) {
        if !self.has_yard() {
            self.bring_yard(client).await;
        }
        if self.is_paused {
            self.toggle_pause(client).await;
        }
        if self.secret != Is::There {
            self.bring_key(client).await;
        }
    }

    /// Whether the yard is still there, if that can be seen.
    pub(crate) async fn sees_yard(&self, client: &Client) -> Option<bool> {
        let yard = self.yards(client).get_opt("yard").await.ok()?;
        Some(yard.is_some())
    }

    /// Law 7: nothing holds the yard and the Secret any more.
    pub(crate) async fn assert_let_go(&self, client: &Client) {
        remove(&self.yards(client), "yard").await;
        remove(&self.secrets(client), "key").await;
        let yard = self.yards(client).get_opt("yard").await.unwrap();
        let yard = yard.map(|yard| yard.metadata);
        let key = self.secrets(client).get_opt("key").await.unwrap();
        let key = key.map(|key| key.metadata);
        assert_eq!((yard, key), (None, None), "law 7: a finalizer is left");
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
    loop {
        match api.delete(name, &DeleteParams::default()).await {
            Ok(_) => return,
            Err(kube::Error::Api(status)) if status.code == 404 => return,
            Err(_) => sleep(Duration::from_secs(1)).await,
        }
    }
}

/// Removes an object with its finalizers: whoever needs it must do without.
async fn lose<K>(api: &Api<K>, name: &str)
where
    K: DeserializeOwned + Clone + std::fmt::Debug,
{
    let none = Patch::Merge(json!({"metadata": {"finalizers": null}}));
    while !matches!(api.get_opt(name).await, Ok(None)) {
        remove(api, name).await;
        let _ = api.patch(name, &PatchParams::default(), &none).await;
    }
}
