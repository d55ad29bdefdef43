//! Following what a message says cures what it is about.

use cloud_port::aws::security_group::RULE;
use ownership::part::InnerPart;

use super::*;

#[tokio::test(start_paused = true)]
async fn a_copy_that_was_freed_as_its_condition_says_starts_with_none_of_the_originals_ids() {
    let world = World::with_kinds().await;
    world.create_cluster().await;
    let replica = world.replica("a");
    let ready = async || world.ready().await.as_deref() == Some("True");
    eventually("ready", ready).await;
    let original = world.clusters().get(DEMO).await.unwrap();
    let mut copy = original.clone();
    copy.metadata.name = Some("copy".to_owned());
    copy.metadata.uid = None;
    copy.metadata.resource_version = None;
    copy.metadata.creation_timestamp = None;
    copy.status = None;
    let clusters = world.clusters();
    clusters
        .create(&PostParams::default(), &copy)
        .await
        .unwrap();
    let said = async |kind: &str| {
        let status = clusters.get("copy").await.unwrap().status?;
        let condition = status.conditions.get(kind)?;
        Some((condition.status == "True", condition.message.clone()?))
    };
    let conflict = async || said("Conflict").await.is_some_and(|(holds, _)| holds);
    eventually("conflict", conflict).await;
    let (_, message) = said("Conflict").await.unwrap();
    for cure in [
        "annotations and finalizers off it",
        "clear the ids in spec.cloud.aws",
    ] {
        assert!(message.contains(cure), "{message}");
    }
    let mine = |key: &&String| key.starts_with("freehold.dev/");
    let copy = clusters.get("copy").await.unwrap();
    let ours = copy.annotations().keys().filter(mine);
    let annotations: BTreeMap<_, _> = ours.map(|key| (key.clone(), Value::Null)).collect();
    let ids = json!({
        "vpcID": "", "routeTableID": "", "securityGroupID": "", "roleARN": "",
        "instanceProfileName": "",
    });
    let freed = Patch::Merge(json!({
        "metadata": {"finalizers": null, "annotations": annotations},
        "spec": {"cloud": {"aws": ids}},
    }));
    clusters
        .patch("copy", &PatchParams::default(), &freed)
        .await
        .unwrap();
    let ready = async || said("Ready").await.is_some_and(|(holds, _)| holds);
    eventually("the copy is ready", ready).await;
    let group = |object: Object| object.spec.cloud.aws.unwrap().security_group_id;
    let of_copy = group(clusters.get("copy").await.unwrap());
    assert!(of_copy.starts_with("sg-"), "{of_copy}");
    assert_ne!(of_copy, group(original));
    replica.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_deletion_that_is_blocked_names_whose_the_blocker_is_and_goes_on_when_it_goes() {
    let world = World::with_kinds().await;
    world.create_cluster().await;
    let replica = world.replica("a");
    let ready = async || world.ready().await.as_deref() == Some("True");
    eventually("ready", ready).await;
    let group = world.group().await;
    let owned = [(
        Text::from("owned-by.kubermatic.k8c.io/other"),
        Text::from(""),
    )];
    let theirs = world.plant("theirs", &owned);
    let rule = format!("ingress tcp 80-80 {}", group.id);
    {
        let mut account = world.accounts.account().lock();
        let rule = InnerPart::new(rule.as_str(), "", Tags::new());
        let added = account.add_parts(Actor::Stranger, &theirs, RULE, &[rule]);
        added.unwrap();
    }
    let clusters = world.clusters();
    let deleted = clusters.delete(DEMO, &DeleteParams::default()).await;
    deleted.unwrap();
    let blocked = async || {
        let status = clusters.get(DEMO).await.unwrap().status.unwrap();
        status.conditions.get("Blocked")?.message.clone()
    };
    eventually("blocked", async || blocked().await.is_some()).await;
    let message = blocked().await.unwrap();
    let named = format!(
        "before the KKP cluster other's security group {}",
        theirs.id
    );
    assert!(message.contains(&named), "{message}");
    let gone = world
        .accounts
        .account()
        .lock()
        .delete(Actor::Stranger, &theirs);
    gone.unwrap();
    let ended = async || clusters.get_opt(DEMO).await.unwrap().is_none();
    eventually("gone", ended).await;
    replica.stop().await;
}
