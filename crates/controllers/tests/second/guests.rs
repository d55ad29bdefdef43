//! A gate is a guest of its yard, and of the Secret with its key: both wait for it.

use api::names::guest_finalizer;
use k8s_openapi::api::core::v1::Secret;
use k8s_openapi::api::events::v1::Event;
use kube::ResourceExt as _;
use kube::api::{Api, DeleteParams, ListParams, Patch, PatchParams};
use serde_json::json;
use tokio::time::sleep;

use crate::activation::{SOON, operate, ready};
use crate::lab::{Lab, edit_yard, lab, remove_yard, yards};
use crate::object::{Gate, create};

const GATE: &str = "Gate.second.freehold.dev";

fn secrets(lab: &Lab) -> Api<Secret> {
    Api::namespaced(lab.client.clone(), lab.namespace.as_deref().unwrap())
}

/// Whether the yard and the key are there, each held by gates or not.
async fn held(lab: &Lab) -> (Option<bool>, Option<bool>) {
    let finalizer = guest_finalizer(GATE);
    let holds = |finalizers: &[String]| finalizers.contains(&finalizer);
    let yard = yards(lab).get_opt("yard").await.unwrap();
    let key = secrets(lab).get_opt("key").await.unwrap();
    (
        yard.map(|yard| holds(yard.finalizers())),
        key.map(|key| holds(key.finalizers())),
    )
}

async fn remove_key(lab: &Lab) {
    let deleted = secrets(lab).delete("key", &DeleteParams::default()).await;
    deleted.unwrap();
}

/// Another gate of the same yard.
async fn create_gate(lab: &Lab, name: &str) {
    let mut gate = lab.sample.manifest.clone();
    gate["metadata"]["name"] = json!(name);
    create::<Gate>(&lab.api(), gate).await;
}

async fn said(lab: &Lab, name: &str) -> String {
    let gate = lab.api().get(name).await.unwrap();
    let status = gate.status.unwrap_or_default();
    let conditions = status["conditions"].as_array().unwrap().iter();
    let mut ready = conditions.filter(|one| one["type"] == "Ready");
    ready.next().unwrap()["message"]
        .as_str()
        .unwrap()
        .to_owned()
}

/// On any API server, pass by pass.
pub(crate) async fn what_a_gate_needs_stays(lab: &Lab) {
    lab.create_sample().await;
    lab.converge().await;
    assert_eq!(held(lab).await, (Some(true), Some(true)));
    lab.assert_silent().await;
    remove_yard(lab).await;
    remove_key(lab).await;
    lab.settle().await;
    assert!(ready(lab).await, "it lives on");
    assert_eq!(held(lab).await, (Some(true), Some(true)));
    lab.delete().await;
    lab.settle().await;
    assert!(lab.is_gone().await, "{:?}", lab.condition("Ready").await);
    assert!(lab.marked().await.is_empty());
    assert_eq!(held(lab).await, (None, None), "nothing holds them any more");
}

#[tokio::test]
async fn what_a_gate_needs_stays_until_it_has_ended() {
    what_a_gate_needs_stays(&lab("needs").await.unwrap()).await;
}

#[tokio::test(start_paused = true)]
async fn a_deletion_that_waits_names_whom_it_waits_for() {
    let lab = lab("names").await.unwrap();
    operate(&lab);
    lab.create_sample().await;
    create_gate(&lab, "other").await;
    sleep(SOON).await;
    assert!(ready(&lab).await);
    remove_yard(&lab).await;
    sleep(SOON).await;
    let both = format!("names/{}, names/other", lab.name);
    let yard = yards(&lab).get("yard").await.unwrap();
    assert_eq!(yard.annotations()[&guest_finalizer(GATE)], both);
    let events: Api<Event> = Api::namespaced(lab.client.clone(), "names");
    let events = events.list(&ListParams::default()).await.unwrap();
    let mut notes = events
        .items
        .iter()
        .filter_map(|event| event.note.as_deref());
    let words = format!("its deletion waits for what needs it: Gate {both}");
    assert!(notes.any(|note| note == words), "{words}");

    // Both at once: the later of them sees that nobody is left.
    lab.delete().await;
    lab.api()
        .delete("other", &DeleteParams::default())
        .await
        .unwrap();
    sleep(SOON).await;
    assert_eq!(held(&lab).await, (None, Some(false)));
}

#[tokio::test(start_paused = true)]
async fn nobody_moves_in_with_a_host_that_ends() {
    let lab = lab("ending").await.unwrap();
    operate(&lab);
    lab.create_sample().await;
    sleep(SOON).await;
    remove_yard(&lab).await;
    create_gate(&lab, "late").await;
    sleep(SOON).await;
    let waits = "waits for another Yard ending/yard: this one is being deleted";
    assert_eq!(said(&lab, "late").await, waits);
    lab.delete().await;
    sleep(SOON).await;
    assert_eq!(
        held(&lab).await.0,
        None,
        "it does not wait for who waits for it"
    );
    assert_eq!(said(&lab, "late").await, "waits for the yard yard");
}

#[tokio::test(start_paused = true)]
async fn an_operator_that_starts_lets_go_of_what_the_last_one_held() {
    let lab = lab("left").await.unwrap();
    let finalizers = json!({"metadata": {"finalizers": [guest_finalizer(GATE)]}});
    edit_yard(&lab, finalizers).await;
    assert_eq!(held(&lab).await.0, Some(true));
    operate(&lab);
    sleep(SOON).await;
    assert_eq!(held(&lab).await.0, Some(false));
    let yard = yards(&lab).get("yard").await.unwrap();
    assert!(yard.annotations().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_key_that_is_not_needed_any_more_is_let_go() {
    let lab = lab("keys").await.unwrap();
    operate(&lab);
    lab.create_sample().await;
    let secret =
        json!({"metadata": {"name": "next"}, "stringData": {"id": "AKIA", "secret": "hush"}});
    create(&secrets(&lab), secret).await;
    sleep(SOON).await;
    lab.patch(json!({"spec": {"key": {"name": "next"}}})).await;
    sleep(SOON).await;
    assert!(ready(&lab).await);
    assert_eq!(held(&lab).await, (Some(true), Some(false)));
}

/// Somebody takes the finalizer away: the next pass puts it back.
#[tokio::test(start_paused = true)]
async fn a_finalizer_that_somebody_took_away_comes_back() {
    let lab = lab("taken").await.unwrap();
    operate(&lab);
    lab.create_sample().await;
    sleep(SOON).await;
    let none = Patch::Merge(json!({"metadata": {"finalizers": null}}));
    let patched = secrets(&lab)
        .patch("key", &PatchParams::default(), &none)
        .await;
    patched.unwrap();
    sleep(SOON).await;
    assert_eq!(held(&lab).await.1, Some(true));
}
