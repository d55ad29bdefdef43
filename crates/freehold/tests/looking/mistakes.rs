//! What people mistype or forget, and what they are told.

use k8s_openapi::api::core::v1::Secret;

use super::*;

impl World {
    async fn says(&self, kind: &str, words: &str) -> bool {
        let said = self.said(DEMO, kind).await;
        said.is_some_and(|(holds, message)| holds && message.contains(words))
    }

    async fn create_secret(&self) {
        let secret = json!({
            "metadata": {"name": "aws"},
            "data": {"accessKeyId": "QUtJQUVYQU1QTEU=", "secretAccessKey": "ZXhhbXBsZQ=="},
        });
        self.create::<Secret>(self.secrets(), secret).await;
    }

    fn secrets(&self) -> Api<Secret> {
        Api::namespaced(self.client.clone(), "default")
    }

    async fn delete_cluster(&self) {
        let clusters = self.clusters();
        let deleted = clusters.delete(DEMO, &DeleteParams::default()).await;
        deleted.unwrap();
    }

    async fn is_gone(&self) -> bool {
        self.clusters().get_opt(DEMO).await.unwrap().is_none()
    }
}

#[tokio::test(start_paused = true)]
async fn a_secret_that_comes_later_is_noticed_soon_and_one_that_went_first_blocks_the_end() {
    let world = World::with_kinds().await;
    let aws = json!({
        "vpcID": "", "routeTableID": "", "securityGroupID": "", "roleARN": "",
        "instanceProfileName": "",
        "credentialsReference": {"namespace": "default", "name": "aws"},
    });
    let cluster = json!({
        "metadata": {"name": DEMO, "annotations": {"kubermatic.io/aws-region": "eu-central-1"}},
        "spec": {"cloud": {"dc": "d", "aws": aws}},
    });
    world.create(world.clusters(), cluster).await;
    let replica = world.replica("a");
    let missing = "credentialsReference: \"default/aws\" must name a Secret that exists";
    eventually("invalid", async || world.says("Invalid", missing).await).await;
    let soon = "the Secret is looked at again within 30 s";
    assert!(world.says("Invalid", soon).await);
    world.create_secret().await;
    let began = Instant::now();
    eventually("ready", async || world.is(DEMO, "Ready").await).await;
    assert!(
        began.elapsed() < Duration::from_secs(45),
        "{:?}",
        began.elapsed()
    );

    let deleted = world
        .secrets()
        .delete("aws", &DeleteParams::default())
        .await;
    deleted.unwrap();
    world.delete_cluster().await;
    eventually("blocked", async || world.says("Blocked", missing).await).await;
    assert!(!world.is(DEMO, "Invalid").await);
    let (explained, tree) = world.seen().await;
    for text in [explained, flat(&tree)] {
        assert!(
            text.contains("Blocked: its deletion waits: ") && text.contains(missing),
            "{text}"
        );
    }
    world.create_secret().await;
    let began = Instant::now();
    eventually("gone", async || world.is_gone().await).await;
    assert!(
        began.elapsed() < Duration::from_mins(2),
        "{:?}",
        began.elapsed()
    );
    assert_eq!(world.made(), 0);
    replica.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_misspelt_annotation_of_ours_is_told_and_deletes_nothing() {
    for key in [
        "freehold.dev/deletions",
        "freehold.dev/delete",
        "Freehold.dev/Deletion",
    ] {
        let world = World::with_kinds().await;
        world.create_cluster().await;
        let replica = world.replica("a");
        eventually("ready", async || world.is(DEMO, "Ready").await).await;
        let made = world.made();
        world
            .patch(json!({"metadata": {"annotations": {key: "retain"}}}))
            .await;
        let meant = "did you mean freehold.dev/deletion?";
        eventually("invalid", async || world.says("Invalid", meant).await).await;
        assert!(
            world
                .says("Invalid", "nothing is done for this object")
                .await
        );
        world.delete_cluster().await;
        let kept = "nothing is deleted";
        eventually("told", async || world.says("Invalid", kept).await).await;
        sleep(Duration::from_mins(10)).await;
        assert_eq!(world.made(), made, "{key}");
        let right = json!({key: null, "freehold.dev/deletion": "retain"});
        world
            .patch(json!({"metadata": {"annotations": right}}))
            .await;
        eventually("gone", async || world.is_gone().await).await;
        assert_eq!(world.made(), made, "it was retained");
        replica.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_cluster_that_almost_names_the_served_cloud_is_told() {
    let world = World::with_kinds().await;
    let cluster = json!({
        "metadata": {"name": DEMO},
        "spec": {"cloud": {"dc": "d", "providerName": "awss"}},
    });
    world.create(world.clusters(), cluster).await;
    let other = json!({
        "metadata": {"name": "other"},
        "spec": {"cloud": {"dc": "d", "providerName": "gcp"}},
    });
    world.create(world.clusters(), other).await;
    let replica = world.replica("a");
    let words = "spec.cloud.providerName: \"awss\" is not a cloud: did you mean aws?";
    eventually("invalid", async || world.says("Invalid", words).await).await;
    let (explained, _) = world.seen().await;
    assert!(explained.contains(words), "{explained}");
    assert!(!world.is(DEMO, "Ready").await);
    world
        .patch(json!({"spec": {"cloud": {"providerName": "gcp"}}}))
        .await;
    eventually("told", async || !world.is(DEMO, "Invalid").await).await;
    let other = world.clusters().get("other").await.unwrap();
    assert!(other.status.is_none(), "somebody else's is not touched");
    assert!(other.finalizers().is_empty());
    replica.stop().await;
}

#[tokio::test(start_paused = true)]
async fn what_was_retained_and_is_used_now_is_not_called_marked() {
    let world = World::with_kinds().await;
    world.create_cluster().await;
    let replica = world.replica("a");
    eventually("ready", async || world.is(DEMO, "Ready").await).await;
    let retain = json!({"freehold.dev/deletion": "retain"});
    world
        .patch(json!({"metadata": {"annotations": retain}}))
        .await;
    world.delete_cluster().await;
    eventually("gone", async || world.is_gone().await).await;
    world.create_cluster().await;
    eventually("ready", async || world.is(DEMO, "Ready").await).await;
    let (_, ready) = world.said(DEMO, "Ready").await.unwrap();
    assert!(ready.contains("some are used and not ours"), "{ready}");
    let (_, shared) = world.said(DEMO, "Shared").await.unwrap();
    assert!(
        shared.contains("were there with this cluster's name"),
        "{shared}"
    );
    let (explained, tree) = world.seen().await;
    let words = "none of ours is needed: what instance profile kubernetes-demo has is used with it";
    for text in [&explained, &flat(&tree)] {
        assert!(text.contains(words), "{text}");
    }
    replica.stop().await;
}

#[tokio::test(start_paused = true)]
async fn what_the_spec_names_is_not_said_to_have_the_clusters_name() {
    let world = World::with_kinds().await;
    world.create_cluster().await;
    let replica = world.replica("a");
    eventually("ready", async || world.is(DEMO, "Ready").await).await;
    let group = world.group().await;
    world.create_user_of(&group).await;
    eventually("shared", async || world.is("two", "Shared").await).await;
    let (_, message) = world.said("two", "Shared").await.unwrap();
    let words = format!(
        "security group {} (security-group), which is Cluster demo's, is used because this object \
         names it",
        group.id
    );
    assert!(message.starts_with(&words), "{message}");
    assert!(!message.contains("without an owner's mark"), "{message}");
    replica.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_conflict_with_what_another_management_cluster_holds_names_it_and_the_take_over() {
    let world = World::with_kinds().await;
    let elsewhere = Holder::of_cluster("elsewhere");
    let other = claim("other", 9);
    world.plant("kubernetes-demo", &marks(&other, &elsewhere));
    world.create_cluster().await;
    let (explained, _) = world.seen().await;
    for words in [
        format!("held by the management cluster {elsewhere}"),
        format!("freehold take-over --from {elsewhere}"),
    ] {
        assert!(explained.contains(&words), "{words}\n{explained}");
    }
    assert!(!explained.contains("freehold orphans"), "{explained}");
}
