//! The objects of one cluster, behind the port.

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use cloud_port::kube::{NAMESPACE, ObjectId, ObjectKind, Seen};
use cloud_port::{Cloud, Deadline, Effect, Survey};
use kube::api::{Api, DynamicObject, ListParams};
use kube::core::ApiResource;
use kube::{Client, ResourceExt};
use ownership::mark::Carrier;
use ownership::part::Resource;
use ownership::step::{MarkRight, UnmarkRight};
use ownership::time::REQUEST_TIMEOUT;
use ownership::{Answer, Class, CloudError, Kind, Query, Step};
use serde_json::Value;

use crate::failure::{self, Doing};
use crate::read;

/// How many objects one page of a listing has.
const PAGE: u32 = 500;

/// The objects of one cluster: of these Kinds, as whom the client is.
///
/// # Expected flow
/// A claim with objects has a place for their cluster, whose inventory is one of these:
/// `Places::from(home).and(place, "cluster NAME", Arc::new(Inventory::new(objects, &kinds)))`.
#[derive(Clone)]
pub struct Objects {
    client: Client,
    kinds: Vec<&'static ObjectKind>,
    namespace: Option<String>,
    timeout: Duration,
}

impl Objects {
    /// All objects of these Kinds.
    pub fn new(client: Client, kinds: &[&'static ObjectKind]) -> Self {
        Self {
            client,
            kinds: kinds.to_vec(),
            namespace: None,
            timeout: Duration::from_millis(REQUEST_TIMEOUT.0),
        }
    }

    /// Those in one namespace: nothing is asked about others, so a role there is enough.
    #[must_use]
    pub fn in_namespace(self, namespace: impl Into<String>) -> Self {
        let namespace = Some(namespace.into());
        Self { namespace, ..self }
    }

    /// The same, where a call is given up after this time: T of assumption A3.
    #[must_use]
    pub fn giving_up_after(self, timeout: Duration) -> Self {
        Self { timeout, ..self }
    }

    /// The Kinds.
    pub fn kinds(&self) -> Vec<&'static Kind> {
        self.kinds.iter().map(|kind| kind.kind).collect()
    }

    pub(crate) fn kind(&self, kind: &Kind) -> Result<&'static ObjectKind, CloudError> {
        let known = self.kinds.iter().find(|known| known.kind == kind);
        known.copied().ok_or_else(|| {
            let message = format!("this cluster has no objects of the kind {}", kind.name);
            CloudError::new(Class::Fatal, "UnknownKind", message)
        })
    }

    pub(crate) fn api(&self, kind: &ObjectKind, namespace: Option<&str>) -> Api<DynamicObject> {
        let resource = api_resource(kind);
        match namespace.filter(|_| kind.is_namespaced()) {
            Some(namespace) => Api::namespaced_with(self.client.clone(), namespace, &resource),
            None => Api::all_with(self.client.clone(), &resource),
        }
    }

    /// Waits for an answer, but not for ever.
    pub(crate) async fn ask<T>(
        &self,
        doing: Doing,
        call: impl Future<Output = Result<T, kube::Error>>,
    ) -> Result<T, CloudError> {
        let answer = self.answer(doing, call).await?;
        answer.map_err(|error| failure::of(error, doing))
    }

    pub(crate) async fn answer<T>(
        &self,
        doing: Doing,
        call: impl Future<Output = Result<T, kube::Error>>,
    ) -> Result<Result<T, kube::Error>, CloudError> {
        let answer = tokio::time::timeout(self.timeout, call).await;
        answer.map_err(|_| failure::no_answer("it took too long", doing))
    }

    /// One object by its name, with everything; `None` if there is none.
    pub(crate) async fn get(
        &self,
        api: &Api<DynamicObject>,
        name: &str,
    ) -> Result<Option<Value>, CloudError> {
        match self.answer(Doing::Read, api.get(name)).await? {
            Ok(object) => json(object).map(Some),
            Err(error) if failure::is_absent(&error) => Ok(None),
            Err(error) => Err(failure::of(error, Doing::Read)),
        }
    }

    /// All objects of a Kind that a selector asks for, page by page.
    async fn list(
        &self,
        kind: &ObjectKind,
        namespace: Option<&str>,
        selector: Option<&str>,
    ) -> Result<Vec<Value>, CloudError> {
        let api = self.api(kind, namespace.or(self.namespace.as_deref()));
        let mut asked = ListParams::default().limit(PAGE);
        asked.label_selector = selector.map(ToOwned::to_owned);
        let mut all = Vec::new();
        loop {
            let page = self.ask(Doing::Read, api.list(&asked)).await?;
            let next = page.metadata.continue_.filter(|next| !next.is_empty());
            for mut object in page.items {
                object.managed_fields_mut().clear();
                all.push(json(object)?);
            }
            match next {
                Some(next) => asked = asked.continue_token(&next),
                None => return Ok(all),
            }
        }
    }

    async fn look(&self, query: &Query) -> Result<Vec<Value>, CloudError> {
        let kind = self.kind(query.kind())?;
        match query {
            Query::Id(target) => {
                let Some(id) = ObjectId::parse(&target.id) else {
                    return Ok(Vec::new());
                };
                let api = self.api(kind, id.namespace);
                let found = self.get(&api, id.name).await?;
                let same = |object: &Value| read::id(object) == Some(id);
                Ok(found.filter(same).into_iter().collect())
            }
            Query::Name { name, within, .. } => {
                let namespace = within.as_ref().map(|(_, namespace)| &**namespace);
                let api = self.api(kind, namespace);
                Ok(self.get(&api, name).await?.into_iter().collect())
            }
            Query::Marks { keys, .. } => {
                // A selector with several keys asks for all of them at once.
                let mut by_uid = BTreeMap::new();
                for key in keys {
                    for object in self.list(kind, None, Some(key)).await? {
                        let uid = read::id(&object).map(|id| id.uid.to_owned());
                        by_uid.insert(uid, object);
                    }
                }
                Ok(by_uid.into_values().collect())
            }
            Query::Match { props, .. } => {
                let namespace = props.get(NAMESPACE).map(|namespace| &**namespace);
                self.list(kind, namespace, None).await
            }
            // Objects have no parts, and what is coming shows.
            Query::Inner { .. } | Query::Operation { .. } => Ok(Vec::new()),
        }
    }

    pub(crate) fn resources<'o>(
        &self,
        kind: &'static ObjectKind,
        objects: impl IntoIterator<Item = &'o Value>,
    ) -> Vec<Arc<Resource>> {
        let read = |object| read::resource(&self.kinds, kind, object).map(Arc::new);
        objects.into_iter().filter_map(read).collect()
    }
}

impl Cloud for Objects {
    async fn read(&self, query: &Query) -> Result<Answer, CloudError> {
        let kind = self.kind(query.kind())?;
        let found = self.look(query).await?;
        let mut resources = self.resources(kind, &found);
        resources.retain(|resource| query.means(resource));
        Ok(Answer {
            resources,
            ..Answer::default()
        })
    }

    async fn perform(&self, step: &Step, by: Deadline<'_>) -> Result<Effect, CloudError> {
        match step {
            Step::Create(create) => return self.create(create, by).await,
            Step::Update(update) => self.update(update.owned(), update.props(), by).await?,
            Step::Delete(deletion) => self.delete(deletion.owned(), by).await?,
            Step::Mark {
                targets,
                tags,
                right,
            } => {
                let proof = match right {
                    MarkRight::Repair(owned) => Some(owned),
                    MarkRight::Birth | MarkRight::Trace => None,
                };
                for target in targets {
                    self.tag(target, tags, proof, true, by).await?;
                }
            }
            Step::Unmark {
                targets,
                tags,
                right,
            } => {
                if let UnmarkRight::Retain(owned) = right {
                    self.give_back(owned, tags, by).await?;
                    return Ok(Effect::default());
                }
                for target in targets {
                    self.tag(target, tags, None, false, by).await?;
                }
            }
            Step::AddInner { .. }
            | Step::MarkInner(_)
            | Step::UnmarkInner(_)
            | Step::RemoveInner(_) => {
                let message = "objects have no parts inside";
                return Err(CloudError::new(Class::Fatal, "UnknownPart", message));
            }
        }
        Ok(Effect::default())
    }
}

impl Survey for Objects {
    async fn survey(&self, kind: &'static Kind) -> Result<Answer, CloudError> {
        let kind = self.kind(kind)?;
        let badge = Carrier::KubeMetadata.badge();
        let badge = badge.map(|(key, value)| format!("{key}={value}"));
        let selector = badge.filter(|_| kind.seen == Seen::Managed);
        let found = self.list(kind, None, selector.as_deref()).await?;
        Ok(Answer {
            resources: self.resources(kind, &found),
            ..Answer::default()
        })
    }
}

impl std::fmt::Debug for Objects {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Objects")
            .field("kinds", &self.kinds())
            .field("namespace", &self.namespace)
            .finish_non_exhaustive()
    }
}

fn api_resource(kind: &ObjectKind) -> ApiResource {
    let (group, version) = kind
        .api_version
        .split_once('/')
        .unwrap_or(("", kind.api_version));
    ApiResource {
        group: group.to_owned(),
        version: version.to_owned(),
        api_version: kind.api_version.to_owned(),
        kind: kind.object.to_owned(),
        plural: kind.plural.to_owned(),
    }
}

/// An object as JSON: properties are found by where they are.
pub(crate) fn json(object: DynamicObject) -> Result<Value, CloudError> {
    serde_json::to_value(object).map_err(|error| unreadable(&error))
}

pub(crate) fn unreadable(error: &serde_json::Error) -> CloudError {
    let message = format!("an object cannot be read or written: {error}");
    CloudError::new(Class::Fatal, "InvalidObject", message)
}
