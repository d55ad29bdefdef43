//! What changes the cluster: each call is for the very version of an object that was read for it.

use cloud_port::kube::{NAMESPACE, ObjectId, ObjectKind};
use cloud_port::{Deadline, Effect};
use kube::api::{Api, DeleteParams, DynamicObject, Patch, PatchParams, PostParams, Preconditions};
use ownership::mark::Carrier;
use ownership::part::Props;
use ownership::step::Create;
use ownership::{Class, CloudError, Owned, Target, Text};
use serde_json::Value;

use crate::failure::{self, Doing};
use crate::objects::{Objects, json, unreadable};
use crate::{MANAGER, apply, body, marks, read};

/// An object as it was read, with what it takes to change this very version of it.
struct Found {
    object: Value,
    api: Api<DynamicObject>,
    kind: &'static ObjectKind,
}

impl Objects {
    /// Makes an object, if its name is free.
    pub(crate) async fn create(
        &self,
        create: &Create,
        by: Deadline<'_>,
    ) -> Result<Effect, CloudError> {
        let kind = self.kind(create.kind)?;
        let object = serde_json::from_value(body::object(kind, create)?);
        let object: DynamicObject = object.map_err(|error| unreadable(&error))?;
        let namespace = create.props.get(NAMESPACE).map(|namespace| &**namespace);
        let api = self.api(kind, namespace);
        let params = PostParams {
            field_manager: Some(MANAGER.to_owned()),
            ..PostParams::default()
        };
        by.check()?;
        let made = self
            .ask(Doing::Create, api.create(&params, &object))
            .await?;
        let made = json(made)?;
        let born = self.resources(kind, [&made]).pop();
        let unnamed = || failure::no_answer("it made an object without a name", Doing::Create);
        Ok(Effect {
            born: Some(born.ok_or_else(unnamed)?),
            ..Effect::default()
        })
    }

    /// The object of a Step as it is now, if the Step's proof holds of it.
    async fn find(&self, target: &Target, proof: Option<&Owned>) -> Result<Found, CloudError> {
        let kind = self.kind(target.kind)?;
        let id = ObjectId::parse(&target.id);
        let gone = || {
            let message = format!("{target} is not there");
            CloudError::new(Class::NotFound, "NotFound", message)
        };
        let id = id.ok_or_else(gone)?;
        let api = self.api(kind, id.namespace);
        let object = self.get(&api, id.name).await?.ok_or_else(gone)?;
        if read::id(&object) != Some(id) {
            return Err(gone());
        }
        if let Some(mark) = proof.and_then(Owned::mark) {
            let (key, value) = mark
                .encode(Carrier::KubeMetadata)
                .map_err(|error| CloudError::new(Class::Fatal, "InvalidMark", error.to_string()))?;
            if !marks::read(&object).has(&key, &value) {
                let message = format!("the mark on {target} has changed since it was read");
                return Err(CloudError::new(Class::Retryable, "MarkChanged", message));
            }
        }
        Ok(Found { object, api, kind })
    }

    /// Adds tags, or takes these very ones off.
    pub(crate) async fn tag(
        &self,
        target: &Target,
        tags: &[(Text, Text)],
        proof: Option<&Owned>,
        adds: bool,
        by: Deadline<'_>,
    ) -> Result<(), CloudError> {
        let found = self.find(target, proof).await?;
        let patch = body::tagged(&found.object, tags, adds);
        self.merge(&found, patch, by).await
    }

    /// Takes off these tags, and what would take an object along that is not ours any more.
    pub(crate) async fn give_back(
        &self,
        owned: &Owned,
        tags: &[(Text, Text)],
        by: Deadline<'_>,
    ) -> Result<(), CloudError> {
        let found = self.find(owned.target(), Some(owned)).await?;
        let patch = body::given_back(found.kind, &found.object, tags);
        self.merge(&found, patch, by).await
    }

    async fn merge(&self, found: &Found, patch: Value, by: Deadline<'_>) -> Result<(), CloudError> {
        let patch = Patch::Merge(patch);
        let params = PatchParams {
            field_manager: Some(MANAGER.to_owned()),
            ..PatchParams::default()
        };
        by.check()?;
        let call = found.api.patch(found.name(), &params, &patch);
        self.ask(Doing::Write, call).await.map(drop)
    }

    /// Applies a change of properties.
    pub(crate) async fn update(
        &self,
        owned: &Owned,
        change: &Props,
        by: Deadline<'_>,
    ) -> Result<(), CloudError> {
        let found = self.find(owned.target(), Some(owned)).await?;
        let patch = Patch::Apply(apply::configuration(found.kind, &found.object, change)?);
        let params = PatchParams::apply(MANAGER).validation_strict();
        by.check()?;
        let call = found.api.patch(found.name(), &params, &patch);
        match self.answer(Doing::Write, call).await? {
            Err(error) if failure::is_own_conflict(&error) => {
                let forced = params.force();
                by.check()?;
                let call = found.api.patch(found.name(), &forced, &patch);
                self.ask(Doing::Write, call).await.map(drop)
            }
            answer => answer
                .map(drop)
                .map_err(|error| failure::of(error, Doing::Write)),
        }
    }

    /// Deletes an object.
    pub(crate) async fn delete(&self, owned: &Owned, by: Deadline<'_>) -> Result<(), CloudError> {
        let found = self.find(owned.target(), Some(owned)).await?;
        let text = |field: &str| {
            found.object["metadata"][field]
                .as_str()
                .map(ToOwned::to_owned)
        };
        // Whatever else it owns goes when it has gone.
        let params = DeleteParams::background().preconditions(Preconditions {
            uid: text("uid"),
            resource_version: text("resourceVersion"),
        });
        by.check()?;
        let call = found.api.delete(found.name(), &params);
        self.ask(Doing::Write, call).await.map(drop)
    }
}

impl Found {
    fn name(&self) -> &str {
        self.object["metadata"]["name"].as_str().unwrap_or_default()
    }
}
