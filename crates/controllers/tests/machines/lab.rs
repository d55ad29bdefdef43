//! The laboratory of machines.

use std::sync::Arc;

use api::capa::OwnerMachine;
use cloud_port::aws::instance::INSTANCE;
use cloud_sim::{Settings, SharedAccount};
use controllers::capa::machine::CapaMachines;
use embedded_kube::{Cluster, TokioClock};
use kube::Client;
use laboratory::{During, One, Sample, merge};
use ownership::Target;
use serde_json::{Value, json};

use crate::world;

pub(crate) type Lab = laboratory::Lab<CapaMachines<One<During<SharedAccount>>>, SharedAccount>;

/// A machine of the control plane, behind a classic load balancer.
pub(crate) async fn lab(case: &str) -> Option<Lab> {
    Some(behind(case, "classic").await)
}

/// The same behind a load balancer of this type.
pub(crate) async fn behind(case: &str, balancer: &str) -> Lab {
    with(case, balancer, Settings::default()).await
}

/// The same in another account.
pub(crate) async fn with(case: &str, balancer: &str, settings: Settings) -> Lab {
    let began = "2026-01-01T00:00:00Z".parse().unwrap();
    let cluster = Cluster::new(Arc::new(TokioClock::starting_at(began)));
    let client = cluster.client();
    world::install(&client).await;
    around(client, case, balancer, settings).await
}

async fn around(client: Client, case: &str, balancer: &str, settings: Settings) -> Lab {
    let namespace = case.replace('_', "-");
    world::namespace(&client, &namespace).await;
    let owner = world::owner_cluster(&client, &namespace).await;
    let machine = world::owner_machine(&client, &namespace, "cp", true).await;
    let sample = Sample {
        manifest: world::manifest(&namespace, &machine),
        owns: 1,
        lacks: &[],
        edit: json!({"spec": {"additionalTags": {"team": "blue"}}}),
    };
    let make = |during| CapaMachines {
        accounts: One::new(during),
    };
    let lab = laboratory::Lab::simulated(client.clone(), settings, case, sample, make);
    let mut account = lab.account().clone();
    world::furnish(&client, &mut account, &owner, balancer).await;
    *lab.account() = account;
    lab
}

/// The namespace of a laboratory.
pub(crate) fn namespace(lab: &Lab) -> &str {
    lab.namespace.as_deref().unwrap()
}

/// Creates the sample with these fields in its spec.
pub(crate) async fn create(lab: &Lab, spec: Value) {
    let mut object = lab.sample.manifest.clone();
    merge(&mut object["spec"], spec);
    lab.create_object(&object).await;
}

/// The object, as JSON.
pub(crate) async fn object(lab: &Lab) -> Value {
    serde_json::to_value(lab.object().await).unwrap()
}

/// Changes the `Machine` by a merge patch.
pub(crate) async fn edit_owner(lab: &Lab, patch: Value) {
    world::edit::<OwnerMachine>(&lab.client, namespace(lab), "cp", patch).await;
}

/// The instances that are there.
pub(crate) fn instances(lab: &Lab) -> Vec<Target> {
    let account = lab.account();
    account.alive(&INSTANCE).map(|it| it.target()).collect()
}

/// How many instances there have ever been.
pub(crate) fn ever(lab: &Lab) -> usize {
    let account = lab.account();
    let lives = account.lives();
    lives.filter(|life| life.target.kind == &INSTANCE).count()
}

/// The object is deleted, and nothing of it is left in the account.
pub(crate) async fn end(lab: &Lab) {
    lab.delete().await;
    lab.settle().await;
    assert!(lab.is_gone().await, "{:?}", lab.condition("Ready").await);
    let left = lab.marked().await;
    assert!(left.is_empty(), "law 3: {left:#?}");
}

laboratory::cases! { crate::lab::lab:
    everything_is_made_and_rests
    an_edit_is_followed
    everything_goes
    a_host_waits_for_its_guests
    a_crash_in_every_create
    a_restored_object_finds_its_resources
    a_status_that_was_lost_is_told_again
    another_management_cluster_waits_for_the_take_over
    after_the_take_over_it_works_on
    a_copy_is_told_and_makes_nothing
    an_observed_object_makes_nothing
    a_restored_object_that_is_observed_is_pinned_anew
    retained_resources_stay
}
