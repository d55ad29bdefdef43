//! Following what a message says cures what it is about.

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
