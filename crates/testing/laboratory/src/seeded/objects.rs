//! What people do to objects, through the API server: they insist until it is done.

use std::time::Duration;

use controllers::reconcile::{Sources, api_of};
use kube::ResourceExt as _;
use kube::api::{Api, DeleteParams, Patch, PatchParams, PostParams};
use serde_json::{Value, json};
use tokio::time::sleep;

use super::people::Person;
use crate::lab::kept;

/// An object as it was once.
#[derive(Clone, Debug)]
pub(super) struct Snapshot {
    pub(super) name: &'static str,
    uid: String,
    pub(super) object: Value,
}

/// The namespace and the name of an object that is named `namespace/name`, or only by its name.
fn split(object: &str) -> (Option<&str>, &str) {
    match object.split_once('/') {
        Some((namespace, name)) => (Some(namespace), name),
        None => (None, object),
    }
}

/// The name of what is called so and stands beside an object.
pub(super) fn beside(object: &str, name: &str) -> String {
    match split(object) {
        (Some(namespace), _) => format!("{namespace}/{name}"),
        (None, _) => name.to_owned(),
    }
}

impl<S: Sources> Person<S> {
    /// The API of the objects beside this one, and its name there.
    fn at<'a>(&self, object: &'a str) -> (Api<S::Object>, &'a str) {
        let (namespace, name) = split(object);
        (api_of(&self.client, namespace), name)
    }

    /// All objects, wherever they are.
    pub(super) fn all(&self) -> Api<S::Object> {
        api_of(&self.client, None)
    }

    /// The object, if it is there.
    ///
    /// # Errors
    /// What the API server says.
    pub async fn get(&self, object: &str) -> Result<Option<S::Object>, kube::Error> {
        let (api, name) = self.at(object);
        api.get_opt(name).await
    }

    /// Creates an object, as it is told or as a backup has it.
    pub async fn create(&self, object: Value) {
        let object: S::Object = serde_json::from_value(object).unwrap();
        let api: Api<S::Object> = api_of(&self.client, object.namespace().as_deref());
        loop {
            match api.create(&PostParams::default(), &object).await {
                Ok(_) => return,
                Err(kube::Error::Api(status)) if status.is_already_exists() => return,
                Err(_) => sleep(Duration::from_secs(1)).await,
            }
        }
    }

    /// An object as a backup keeps it, without its status.
    pub(super) async fn backup(&self, object: &str) -> Value {
        let (api, name) = self.at(object);
        let found = loop {
            match api.get(name).await {
                Ok(found) => break found,
                Err(_) => sleep(Duration::from_secs(1)).await,
            }
        };
        let mut object = kept(&found);
        object.as_object_mut().unwrap().remove("status");
        object
    }

    /// The object goes as with a lost management cluster: nobody cleans up.
    pub(super) async fn lose(&self, object: &str) {
        let patch = Patch::Merge(json!({"metadata": {"finalizers": null}}));
        let parameters = PatchParams::default();
        let (api, name) = self.at(object);
        while let Ok(Some(_)) | Err(_) = api.get_opt(name).await {
            let _ = api.patch(name, &parameters, &patch).await;
            self.delete(object).await;
        }
    }

    /// Asks for an object's deletion.
    pub async fn delete(&self, object: &str) {
        let (api, name) = self.at(object);
        while let Err(error) = api.delete(name, &DeleteParams::default()).await {
            if matches!(&error, kube::Error::Api(status) if status.code == 404) {
                return;
            }
            sleep(Duration::from_secs(1)).await;
        }
    }

    /// Changes an object, if it is there.
    pub async fn insist(&self, object: &str, patch: &Value) {
        let parameters = PatchParams::default();
        let patch = Patch::Merge(patch);
        let (api, name) = self.at(object);
        loop {
            match api.patch(name, &parameters, &patch).await {
                Ok(_) => return,
                Err(kube::Error::Api(status)) if status.code == 404 => return,
                Err(_) => sleep(Duration::from_secs(1)).await,
            }
        }
    }

    /// Tries once: what does not arrive, a person would try again, or not.
    pub async fn patch(&self, object: &str, patch: Value) {
        let patch = Patch::Merge(patch);
        let parameters = PatchParams::default();
        let (api, name) = self.at(object);
        let _ = api.patch(name, &parameters, &patch).await;
    }

    /// Changes an object's status, if it can be.
    pub async fn patch_status(&self, object: &str, patch: Value) {
        let patch = Patch::Merge(patch);
        let parameters = PatchParams::default();
        let (api, name) = self.at(object);
        let _ = api.patch_status(name, &parameters, &patch).await;
    }

    /// Removes what says whose claim an object is; a copy of it is elsewhere.
    pub async fn forget_claim(&self, object: &str) {
        let none = json!({
            "freehold.dev/claim-uuid": null, "freehold.dev/claim-pinned-for": null,
        });
        let patch = json!({"metadata": {"annotations": none}});
        self.patch(object, patch).await;
    }

    /// The object as it is now, if that can be seen.
    pub(super) async fn snapshot(&self, name: &'static str) -> Option<Snapshot> {
        let object = self.get(name).await.ok()??;
        Some(Snapshot {
            name,
            uid: object.uid()?,
            object: serde_json::to_value(object).unwrap(),
        })
    }

    /// Puts an object back to what it was once, status aside; says whether it is still that object.
    pub(super) async fn set_back(&self, to: &Snapshot) -> bool {
        let (api, name) = self.at(to.name);
        loop {
            let Ok(Some(now)) = api.get_opt(name).await else {
                return false;
            };
            if now.uid().as_ref() != Some(&to.uid) {
                return false;
            }
            let mut object = serde_json::to_value(now).unwrap();
            object["spec"] = to.object["spec"].clone();
            for field in ["annotations", "finalizers"] {
                object["metadata"][field] = to.object["metadata"][field].clone();
            }
            let object: S::Object = serde_json::from_value(object).unwrap();
            match api.replace(name, &PostParams::default(), &object).await {
                Ok(_) => return true,
                Err(_) => sleep(Duration::from_secs(1)).await,
            }
        }
    }

    /// Whether the object has been claimed: nothing of it can be lost with it any more.
    pub(super) async fn is_pinned(&self, object: &str) -> bool {
        let (api, name) = self.at(object);
        let object = api.get(name).await;
        object.is_ok_and(|object| object.finalizers().len() > 1)
    }

    /// Whether it says that it is ready.
    ///
    /// # Errors
    /// What its conditions say instead.
    pub async fn ready(&self, object: &str) -> Result<(), String> {
        let (api, name) = self.at(object);
        let object = api.get(name).await.unwrap();
        match S::STATUS.said(&object, "Ready") {
            Some(ready) if ready.holds => Ok(()),
            _ => Err(conditions::<S>(&object)),
        }
    }
}

/// What an object's conditions say.
pub(super) fn conditions<S: Sources>(object: &S::Object) -> String {
    let said = serde_json::to_value(object).unwrap();
    let place = S::STATUS.conditions.iter();
    let said = place.fold(&said, |value, field| &value[field]);
    format!("{said:#}")
}
