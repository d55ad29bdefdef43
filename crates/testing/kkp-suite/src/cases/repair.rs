//! What somebody did to a cluster's resources is put right.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use api::kkp::Cluster;
use cloud_port::aws::AwsPlace;
use cloud_port::aws::role::ROLE;
use cloud_port::aws::security_group::SECURITY_GROUP;
use kube::api::{Api, Patch, PatchParams};
use serde_json::json;

use super::{plain_rules, set};
use crate::lab::manifest;
use crate::{Lab, RESYNC};

/// The ids in the spec are lost: the same resources are found by their marks, and recorded again.
pub async fn lost_ids_are_found_again<C: AwsPlace + Clone + 'static>(lab: &mut Lab<C>) {
    lab.create(json!({}), json!({})).await;
    lab.converge().await;
    let before = lab.cluster().await.spec.cloud.aws.unwrap();
    let census = lab.hands.census().await;
    let none = json!({
        "vpcID": "", "routeTableID": "", "securityGroupID": "", "roleARN": "",
        "instanceProfileName": "",
    });
    lab.patch(json!({"spec": {"cloud": {"aws": none}}})).await;
    lab.restart();
    lab.converge().await;
    assert_eq!(lab.cluster().await.spec.cloud.aws.unwrap(), before);
    assert_eq!(lab.hands.census().await, census);
}

/// Somebody else's tool applies the manifest again and again, and each time clears the ids that KKP's
/// definition requires: the same ones are recorded again, nothing is made, and nobody is told otherwise.
pub async fn the_same_manifest_again_and_again<C: AwsPlace + Clone + 'static>(lab: &mut Lab<C>) {
    let people = lab.api();
    apply_again_and_again(lab, &people).await;
}

/// The same, as people with an API of their own do it.
pub async fn apply_again_and_again<C: AwsPlace + Clone + 'static>(
    lab: &mut Lab<C>,
    people: &Api<Cluster>,
) {
    let manifest = manifest(&lab.name, json!({}), json!({}), json!({}));
    let apply = async || {
        // As Argo CD and Flux do: what others wrote to their fields is overwritten.
        let (parameters, patch) = (
            PatchParams::apply("gitops").force(),
            Patch::Apply(&manifest),
        );
        let applied = people.patch(&lab.name, &parameters, &patch);
        applied.await.unwrap().spec.cloud.aws.unwrap()
    };
    apply().await;
    lab.converge().await;
    let (before, ready) = (lab.cluster().await, lab.condition("Ready").await);
    // That an id is recorded again is no news, and nothing else happens.
    let (census, told) = (lab.hands.census().await, lab.events().await);
    for _ in 0..3 {
        assert_eq!(apply().await.vpc_id, "", "the tool has its way");
        assert_eq!(lab.condition("Ready").await, ready);
        lab.converge().await;
        let after = lab.cluster().await;
        assert_eq!(after.spec, before.spec);
        // When the provider was last reconciled is KKP's to know; nothing else flaps.
        let conditions = |it: &Cluster| it.status.clone().unwrap().conditions;
        assert_eq!(conditions(&after), conditions(&before));
        assert_eq!(after.metadata.annotations, before.metadata.annotations);
        assert_eq!(after.metadata.finalizers, before.metadata.finalizers);
        assert_eq!(lab.hands.census().await, census);
        assert_eq!(lab.events().await, told);
        lab.assert_silent().await;
    }
}

/// A group, a role and a profile that were deleted by hand are made again, and recorded.
pub async fn what_is_gone_is_made_again<C: AwsPlace + Clone + 'static>(lab: &mut Lab<C>) {
    lab.create(json!({}), json!({})).await;
    lab.converge().await;
    let name = format!("kubernetes-{}", lab.name);
    let old = lab.hands.group(&name).await.unwrap();
    lab.hands.delete_group(&old.id).await;
    lab.hands.delete_profile(&name).await;
    lab.hands.delete_role(&format!("{name}-worker")).await;
    lab.hands
        .delete_role(&format!("{name}-control-plane"))
        .await;
    lab.converge().await;
    let new = lab.hands.group(&name).await.unwrap();
    assert_ne!(new.id, old.id);
    assert_eq!(new.rules, old.rules);
    assert_eq!(
        lab.cluster()
            .await
            .spec
            .cloud
            .aws
            .unwrap()
            .security_group_id,
        new.id
    );
    let profile = lab.hands.profile(&name).await.unwrap();
    assert_eq!(profile.roles, set(&[&format!("{name}-worker")]));
    let role = lab
        .hands
        .role(&format!("{name}-control-plane"))
        .await
        .unwrap();
    assert_eq!(role.policies.len(), 1);
    lab.assert_silent().await;
}

/// On a group of ours, what we wrote comes back; what somebody else wrote is theirs, and told once.
pub async fn rules_edited_by_hand_are_put_right<C: AwsPlace + Clone + 'static>(lab: &mut Lab<C>) {
    lab.create(json!({}), json!({})).await;
    lab.converge().await;
    let name = format!("kubernetes-{}", lab.name);
    let group = lab.hands.group(&name).await.unwrap();
    lab.hands
        .remove_rule(&group.id, "ingress tcp 22-22 0.0.0.0/0")
        .await;
    lab.hands
        .add_rule(&group.id, "ingress tcp 3306-3306 0.0.0.0/0")
        .await;
    lab.converge().await;
    let mut with_theirs = plain_rules();
    with_theirs.insert("ingress tcp 3306-3306 0.0.0.0/0".to_owned());
    assert_eq!(lab.hands.group(&name).await.unwrap().rules, with_theirs);
    let told = |events: Vec<String>| {
        events
            .into_iter()
            .filter(|event| event.starts_with("Guest"))
    };
    let told: Vec<String> = told(lab.events().await).collect();
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].contains("tcp 3306-3306"), "{told:?}");
    lab.assert_silent().await;
}

/// With the switch, nothing is in a group of ours that we did not put there.
pub async fn exclusive_rules_converge_both_ways<C: AwsPlace + Clone + 'static>(lab: &mut Lab<C>) {
    lab.create(json!({}), json!({})).await;
    lab.converge().await;
    let name = format!("kubernetes-{}", lab.name);
    let group = lab.hands.group(&name).await.unwrap();
    let theirs = "ingress tcp 3306-3306 0.0.0.0/0";
    lab.hands.add_rule(&group.id, theirs).await;
    lab.converge().await;
    assert!(lab.hands.group(&name).await.unwrap().rules.contains(theirs));
    lab.patch(json!({"metadata": {"annotations": {"freehold.dev/rules": "exclusive"}}}))
        .await;
    lab.converge().await;
    assert_eq!(lab.hands.group(&name).await.unwrap().rules, plain_rules());
}

/// A rule that we wrote and that is not wanted any more goes; one that somebody else wrote stays, also
/// where it says what we once wanted.
pub async fn a_range_that_is_taken_back<C: AwsPlace + Clone + 'static>(lab: &mut Lab<C>) {
    let ranges = |ranges: &[&str]| json!({"nodePortsAllowedIPRanges": {"cidrBlocks": ranges}});
    lab.create(ranges(&["10.1.0.0/16"]), json!({})).await;
    lab.converge().await;
    let name = format!("kubernetes-{}", lab.name);
    let group = lab.hands.group(&name).await.unwrap();
    let (ours, next) = (
        "ingress tcp 30000-32767 10.1.0.0/16",
        "ingress tcp 30000-32767 10.2.0.0/16",
    );
    assert!(group.rules.contains(ours));
    lab.hands.add_rule(&group.id, next).await;
    let spec = |ranges| json!({"spec": {"cloud": {"aws": ranges}}});
    lab.patch(spec(ranges(&["10.2.0.0/16"]))).await;
    lab.converge().await;
    let rules = lab.hands.group(&name).await.unwrap().rules;
    assert!(!rules.contains(ours) && rules.contains(next), "{rules:?}");
    lab.patch(spec(ranges(&["10.3.0.0/16"]))).await;
    lab.converge().await;
    let rules = lab.hands.group(&name).await.unwrap().rules;
    assert!(rules.contains(next), "it is somebody else's: {rules:?}");
    assert!(!rules.contains(ours), "{rules:?}");
}

/// On a role of ours what we wrote comes back, and in the profile; a policy of somebody else's stays,
/// and at the end is named as what is in the way.
pub async fn policies_edited_by_hand_are_put_right<C: AwsPlace + Clone + 'static>(
    lab: &mut Lab<C>,
) {
    lab.create(json!({}), json!({})).await;
    lab.converge().await;
    let name = format!("kubernetes-{}", lab.name);
    let (role, worker) = (format!("{name}-control-plane"), format!("{name}-worker"));
    let mut wanted = lab.hands.role(&role).await.unwrap();
    lab.hands.put_policy(&role, &role).await;
    lab.hands.put_policy(&role, "theirs").await;
    lab.hands.delete_policy(&worker, &worker).await;
    lab.hands.take_role(&name, &worker).await;
    lab.converge().await;
    let after = lab.hands.role(&role).await.unwrap();
    let theirs = after.policies.get("theirs").cloned();
    wanted.policies.insert("theirs".to_owned(), theirs.unwrap());
    assert_eq!(after, wanted);
    assert_eq!(lab.hands.role(&worker).await.unwrap().policies.len(), 1);
    assert_eq!(
        lab.hands.profile(&name).await.unwrap().roles,
        set(&[&worker])
    );

    lab.delete().await;
    lab.settle().await;
    assert!(!lab.is_gone().await);
    lab.assert_condition("Blocked", &[&role, "theirs"]).await;
    lab.hands.delete_policy(&role, "theirs").await;
    lab.settle().await;
    assert!(lab.is_gone().await);
    assert_eq!(lab.hands.traces_of(&lab.name).await, set(&[]));
}

/// Older clusters recorded a role's name only.
pub async fn a_plain_role_name_becomes_an_arn<C: AwsPlace + Clone + 'static>(lab: &mut Lab<C>) {
    lab.create(json!({}), json!({})).await;
    lab.converge().await;
    let arn = lab.cluster().await.spec.cloud.aws.unwrap().role_arn;
    let name = arn.rsplit('/').next().unwrap();
    lab.patch(json!({"spec": {"cloud": {"aws": {"roleARN": name}}}}))
        .await;
    lab.converge().await;
    assert_eq!(lab.cluster().await.spec.cloud.aws.unwrap().role_arn, arn);
}

/// Somebody takes every tag off the group: it is left alone, until a person says that it is ours.
pub async fn a_lost_mark_is_told_and_taken_back<C: AwsPlace + Clone + 'static>(lab: &mut Lab<C>) {
    lab.create(json!({}), json!({})).await;
    lab.converge().await;
    let name = format!("kubernetes-{}", lab.name);
    let group = lab.hands.group(&name).await.unwrap();
    lab.hands
        .untag(&SECURITY_GROUP, &group.id, &group.tags)
        .await;
    lab.hands
        .remove_rule(&group.id, "ingress tcp 22-22 0.0.0.0/0")
        .await;
    lab.settle().await;
    lab.assert_condition(
        "MarkLost",
        &[&group.id, "freehold.dev/adopt", "security-group"],
    )
    .await;
    assert_eq!(lab.hands.group(&name).await.unwrap().tags, BTreeMap::new());

    let adopt = |slot: &str| json!({"metadata": {"annotations": {"freehold.dev/adopt": slot}}});
    lab.patch(adopt("vpc")).await;
    lab.settle().await;
    lab.assert_condition("Invalid", &["freehold.dev/adopt", "security-group"])
        .await;
    lab.patch(adopt("security-group")).await;
    lab.converge().await;
    let back = lab.hands.group(&name).await.unwrap();
    assert_eq!((&back.id, &back.rules), (&group.id, &plain_rules()));
    let annotations = lab.metadata().await.annotations.unwrap();
    assert!(!annotations.contains_key("freehold.dev/adopt"));
    lab.assert_silent().await;
    lab.delete().await;
    lab.settle().await;
    assert!(lab.is_gone().await);
    assert_eq!(lab.hands.traces_of(&lab.name).await, set(&[]));
}

/// At the end a resource without our mark stays, and an event says so.
pub async fn what_lost_its_mark_stays_at_the_end<C: AwsPlace + Clone + 'static>(lab: &mut Lab<C>) {
    lab.create(json!({}), json!({})).await;
    lab.converge().await;
    let name = format!("kubernetes-{}", lab.name);
    let group = lab.hands.group(&name).await.unwrap();
    lab.hands
        .untag(&SECURITY_GROUP, &group.id, &group.tags)
        .await;
    lab.delete().await;
    lab.settle().await;
    assert!(lab.is_gone().await);
    assert!(lab.hands.group(&name).await.is_some());
    let events = lab.events().await;
    let told = |event: &String| event.starts_with("MarkLost") && event.contains(&group.id);
    assert!(events.iter().any(told), "{events:?}");
}

/// A role that the object names is deleted by hand: it is made again under that name.
pub async fn a_named_role_that_is_gone_is_made_again<C: AwsPlace + Clone + 'static>(
    lab: &mut Lab<C>,
) {
    let census = lab.hands.census().await;
    let role = format!("control-{}", lab.name);
    lab.create(json!({"roleARN": role}), json!({})).await;
    lab.converge().await;
    let whole = lab.hands.census().await;
    lab.hands.delete_role(&role).await;
    lab.converge().await;
    assert!(lab.hands.role(&role).await.is_some());
    assert_eq!(lab.hands.census().await, whole);
    // The record of the lost one goes with the announcement: a crash right then changes nothing.
    lab.hands.delete_role(&role).await;
    lab.wait(RESYNC);
    lab.pass().await;
    lab.wait(RESYNC);
    lab.crash_in_create(&ROLE).await;
    lab.converge().await;
    assert_eq!(lab.hands.census().await, whole);
    assert!(lab.hands.role(&role).await.is_some());
    lab.delete().await;
    lab.settle().await;
    assert!(lab.is_gone().await);
    assert_eq!(lab.hands.census().await, census);
}

/// Somebody puts the record back to what it was when a create was under way: for all that it says,
/// one is. What the operator remembers of the first one is not taken for the second.
pub async fn a_record_that_was_set_back_is_waited_for_again<C: AwsPlace + Clone + 'static>(
    lab: &mut Lab<C>,
) {
    lab.create(json!({}), json!({})).await;
    let (api, object) = (lab.api(), lab.name.clone());
    let old = Arc::new(Mutex::new(None));
    let kept = old.clone();
    lab.during_create(&SECURITY_GROUP, async move {
        let mut cluster = api.get(&object).await.unwrap();
        let annotations = cluster.metadata.annotations.get_or_insert_default();
        *kept.lock().unwrap() = annotations.remove("freehold.dev/ledger");
    });
    lab.converge().await;
    let name = format!("kubernetes-{}", lab.name);
    let group = lab.hands.group(&name).await.unwrap();
    lab.hands.delete_group(&group.id).await;
    let old = old.lock().unwrap().take().unwrap();
    assert!(old.contains("intents"), "{old}");
    lab.patch(json!({
        "metadata": {"annotations": {"freehold.dev/ledger": old}},
        "spec": {"cloud": {"aws": {"securityGroupID": ""}}},
    }))
    .await;
    lab.wait(RESYNC);
    lab.pass().await;
    assert_eq!(lab.hands.group(&name).await, None, "it may be under way");
    lab.converge().await;
    assert!(lab.hands.group(&name).await.is_some());
    lab.delete().await;
    lab.settle().await;
    assert!(lab.is_gone().await);
    assert_eq!(lab.hands.traces_of(&lab.name).await, set(&[]));
}
