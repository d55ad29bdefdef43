//! The generated policy: claim, record and finalizer of any kind of objects, in a namespace or in none.

use api::manifests::Served;
use api::names::{self, CLAIM_PINNED_FOR, CLAIM_UUID, LEDGER};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{
    Api, ApiResource, DeleteParams, DynamicObject, GroupVersionKind, ListParams, Patch,
    PatchParams, PostParams,
};
use kube::{Client, ResourceExt as _};
use serde_json::{Value, json};

use crate::policies::{self, attempt};
use crate::{cluster, eventually};

/// A second kind, which only tests serve: it lives in namespaces.
pub(crate) const GATES: Served = Served {
    plural: "gates",
    singular: "gate",
    group: "second.freehold.dev",
    version: "v1",
};

const UUID: &str = crate::UUID;
const OTHER: &str = "00000000-0000-0000-0000-000000000000";
const THEIRS: &str = "example.com/theirs";

/// Installs the second kind.
pub(crate) async fn install_gates(client: &Client) {
    let api: Api<CustomResourceDefinition> = Api::all(client.clone());
    let text = include_str!("../../../controllers/tests/second/definitions.yaml");
    let (gates, _) = text.split_once("---\n").unwrap();
    let definition: CustomResourceDefinition = serde_saphyr::from_str(gates).unwrap();
    let created = api.create(&PostParams::default(), &definition).await;
    created.unwrap();
    let gates = gate_api(client);
    eventually("gates are served", || async {
        gates.list(&ListParams::default()).await.ok()
    })
    .await;
}

fn gate_api(client: &Client) -> Api<DynamicObject> {
    let kind = GroupVersionKind::gvk(GATES.group, GATES.version, "Gate");
    let kind = ApiResource::from_gvk_with_plural(&kind, GATES.plural);
    Api::namespaced_with(client.clone(), "default", &kind)
}

pub(crate) fn cluster_api(client: &Client) -> Api<DynamicObject> {
    let kind = GroupVersionKind::gvk("kubermatic.k8c.io", "v1", "Cluster");
    Api::all_with(
        client.clone(),
        &ApiResource::from_gvk_with_plural(&kind, "clusters"),
    )
}

/// Objects of one kind, as people and as the operator reach them.
struct Objects {
    people: Api<DynamicObject>,
    operator: Api<DynamicObject>,
    sample: Value,
}

impl Objects {
    /// Whoever creates an object is not judged: it is made from a backup, or is a copy.
    async fn create(&self, name: &str, annotations: Value, finalizers: &[&str]) -> String {
        let mut object = self.sample.clone();
        object["metadata"] =
            json!({"name": name, "annotations": annotations, "finalizers": finalizers});
        let object: DynamicObject = serde_json::from_value(object).unwrap();
        let created = self.people.create(&PostParams::default(), &object).await;
        created.unwrap().uid().unwrap()
    }

    /// An object that is pinned for itself, with a record.
    async fn create_pinned(&self, name: &str) -> String {
        let finalizer = names::claim_finalizer(UUID);
        let claim = json!({CLAIM_UUID: UUID, LEDGER: "{}"});
        let uid = self.create(name, claim, &[THEIRS, &finalizer]).await;
        let pin = annotations(json!({CLAIM_PINNED_FOR: uid}));
        attempt(&self.operator, name, pin).await.unwrap();
        uid
    }

    async fn refuse(&self, name: &str, patch: Value, word: &str) {
        let said = format!("{patch}");
        let refusal = attempt(&self.people, name, patch).await;
        let refusal = refusal.expect_err(&said);
        assert!(refusal.contains(word), "{said}: {refusal}");
    }

    async fn allow(&self, name: &str, patch: Value) {
        let said = format!("{patch}");
        let allowed = attempt(&self.people, name, patch).await;
        assert_eq!(allowed, Ok(()), "{said}");
    }
}

fn annotations(values: Value) -> Value {
    json!({"metadata": {"annotations": values}})
}

fn finalizers(names: &[&str]) -> Value {
    json!({"metadata": {"finalizers": names}})
}

/// Everything that makes an object a claim is taken off it.
fn freed() -> Value {
    let none = json!({CLAIM_UUID: null, CLAIM_PINNED_FOR: null, LEDGER: null});
    json!({"metadata": {"annotations": none, "finalizers": [THEIRS]}})
}

pub(crate) async fn the_policy_holds(people: &Client, operator: &Client) {
    let gate = json!({"apiVersion": "second.freehold.dev/v1", "kind": "Gate", "spec": {}});
    let clusters = Objects {
        people: cluster_api(people),
        operator: cluster_api(operator),
        sample: serde_json::to_value(cluster("claims")).unwrap(),
    };
    let gates = Objects {
        people: gate_api(people),
        operator: gate_api(operator),
        sample: gate,
    };
    for objects in [clusters, gates] {
        is_in_force(&objects).await;
        a_claim_is_set_once(&objects).await;
        what_is_the_operators_own_stays(&objects).await;
        a_finalizer_holds(&objects).await;
        a_finalizer_holds_an_object_that_ends(&objects).await;
        a_copy_can_be_freed(&objects).await;
        an_annotation_can_be_put_back(&objects).await;
    }
}

/// A server takes a policy up a moment later: then a probe's claim cannot go there and back any more.
async fn is_in_force(objects: &Objects) {
    let claim = |uuid: &str| annotations(json!({CLAIM_UUID: uuid}));
    objects.create("probe", json!({}), &[]).await;
    eventually("the policy is in force", || async {
        let there = attempt(&objects.people, "probe", claim(OTHER)).await;
        let back = attempt(&objects.people, "probe", claim(UUID)).await;
        (there.is_err() || back.is_err()).then_some(())
    })
    .await;
}

/// Who an object is, nobody changes, the operator neither.
async fn a_claim_is_set_once(objects: &Objects) {
    let claim = |value: Value| annotations(json!({CLAIM_UUID: value}));
    objects.create("once", json!({}), &[]).await;
    objects.allow("once", claim(json!(UUID))).await;
    for change in [json!("another"), json!(OTHER), json!(""), Value::Null] {
        objects
            .refuse("once", claim(change.clone()), CLAIM_UUID)
            .await;
        let refusal = attempt(&objects.operator, "once", claim(change)).await;
        assert!(refusal.unwrap_err().contains(UUID));
    }
    objects.refuse("once", annotations(Value::Null), UUID).await;
    objects.allow("once", claim(json!(UUID))).await;
    objects
        .allow("once", annotations(json!({"theirs": "1"})))
        .await;
}

/// The record, and for whom the claim was pinned, are the operator's to change.
async fn what_is_the_operators_own_stays(objects: &Objects) {
    let uid = objects.create_pinned("own").await;
    for (key, value) in [(LEDGER, "{}"), (CLAIM_PINNED_FOR, uid.as_str())] {
        objects.allow("own", annotations(json!({key: value}))).await;
        for change in [json!("{\"traces\":[]}"), json!(""), Value::Null] {
            objects
                .refuse("own", annotations(json!({key: change})), key)
                .await;
        }
    }
    for change in [
        json!({LEDGER: "{\"ids\":{}}"}),
        json!({LEDGER: null}),
        json!({CLAIM_PINNED_FOR: OTHER}),
    ] {
        let changed = attempt(&objects.operator, "own", annotations(change)).await;
        changed.unwrap();
    }
}

/// Only the operator removes our finalizer; everybody else's are theirs.
async fn a_finalizer_holds(objects: &Objects) {
    objects.create_pinned("held").await;
    let (ours, others) = (names::claim_finalizer(UUID), names::claim_finalizer(OTHER));
    for left in [&[][..], &[THEIRS], &[THEIRS, &others]] {
        objects.refuse("held", finalizers(left), &ours).await;
    }
    objects.refuse("held", freed(), "freehold.dev").await;
    // One that keeps another UUID is a mistake that somebody made, and can correct.
    objects
        .allow("held", finalizers(&[THEIRS, &ours, &others]))
        .await;
    objects.allow("held", finalizers(&[&ours])).await;
    let removed = attempt(&objects.operator, "held", finalizers(&[THEIRS])).await;
    removed.unwrap();
    objects.allow("held", finalizers(&[])).await;
}

/// The same for an object that was deleted; and whoever writes its status reaches no metadata.
async fn a_finalizer_holds_an_object_that_ends(objects: &Objects) {
    objects.create_pinned("ends").await;
    let foreground = DeleteParams::foreground();
    objects.people.delete("ends", &foreground).await.unwrap();
    let ours = names::claim_finalizer(UUID);
    objects.refuse("ends", finalizers(&[]), &ours).await;
    let mut status = freed();
    status["status"] = json!({});
    let (parameters, patch) = (PatchParams::default(), Patch::Merge(status));
    let patched = objects.people.patch_status("ends", &parameters, &patch);
    let after = patched.await.unwrap();
    assert!(after.finalizers().contains(&ours), "{:?}", after.metadata);
    assert_eq!(after.annotations()[CLAIM_UUID], UUID);
    objects.allow("ends", finalizers(&[&ours])).await;
    let removed = attempt(&objects.operator, "ends", finalizers(&[])).await;
    removed.unwrap();
    let gone = objects.people.get_opt("ends").await.unwrap();
    assert_eq!(gone.map(|object| object.metadata.finalizers), None);
}

/// A copy has another object's claim, and can become one of its own: at once, or its annotations
/// first.
async fn a_copy_can_be_freed(objects: &Objects) {
    let claim = json!({CLAIM_UUID: UUID, CLAIM_PINNED_FOR: UUID, LEDGER: "{}"});
    let ours = names::claim_finalizer(UUID);
    for name in ["copy", "slow-copy"] {
        objects.create(name, claim.clone(), &[THEIRS, &ours]).await;
        // Its finalizer alone, or another claim, is not what makes it free.
        objects.refuse(name, finalizers(&[THEIRS]), &ours).await;
        let other = annotations(json!({CLAIM_UUID: OTHER, CLAIM_PINNED_FOR: null}));
        objects.refuse(name, other, CLAIM_UUID).await;
    }
    objects.allow("copy", freed()).await;
    let without = freed()["metadata"]["annotations"].clone();
    objects.allow("slow-copy", annotations(without)).await;
    objects.allow("slow-copy", finalizers(&[])).await;
}

/// The cure for an annotation that is not what the finalizer keeps.
async fn an_annotation_can_be_put_back(objects: &Objects) {
    let ours = names::claim_finalizer(UUID);
    let claim = |uuid: &str| annotations(json!({CLAIM_UUID: uuid}));
    objects
        .create("wrong", json!({CLAIM_UUID: OTHER}), &[&ours])
        .await;
    objects.refuse("wrong", claim("another"), CLAIM_UUID).await;
    objects.allow("wrong", claim(UUID)).await;
    objects.refuse("wrong", claim(OTHER), CLAIM_UUID).await;
}

/// The checks above are for something: without a rule, or for a kind that is not named, they fail.
#[tokio::test(start_paused = true)]
async fn a_missing_rule_is_noticed() {
    let whole = policies::generated();
    let rules = (0..whole.rules()).map(|rule| policies::generated().without_rule(rule));
    let kinds = ["clusters", GATES.plural].map(|kind| policies::generated().without_kind(kind));
    for (number, broken) in rules.chain(kinds).enumerate() {
        assert!(
            !broken
                .passes(|people, operator| Box::pin(the_policy_holds(people, operator)))
                .await,
            "without {number}"
        );
    }
    assert!(
        whole
            .passes(|people, operator| Box::pin(the_policy_holds(people, operator)))
            .await
    );
}
