//! An object that is being deleted, and one whose mark was taken off.

use k8s_openapi::api::events::v1::Event;
use kube::api::ListParams;

use super::*;

impl World {
    /// Another cluster that names the group of the first one.
    pub(super) async fn create_user_of(&self, group: &Target) {
        let cluster = json!({
            "metadata": {"name": "two", "annotations": {"kubermatic.io/aws-region": "eu-central-1"}},
            "spec": {"cloud": {"dc": "d", "aws": {
                "vpcID": "", "routeTableID": "", "securityGroupID": group.id.as_str(), "roleARN": "",
                "instanceProfileName": "",
            }}},
        });
        self.create(self.clusters(), cluster).await;
    }

    pub(super) async fn said(&self, name: &str, kind: &str) -> Option<(bool, String)> {
        let status = self.clusters().get_opt(name).await.unwrap()?.status?;
        let condition = status.conditions.get(kind)?;
        Some((condition.status == "True", condition.message.clone()?))
    }

    /// What events say that begins like this.
    async fn notes_of(&self, beginning: &str) -> Vec<String> {
        let events: Api<Event> = Api::namespaced(self.client.clone(), "default");
        let events = events.list(&ListParams::default()).await.unwrap().items;
        let notes = events.into_iter().filter_map(|event| event.note);
        notes.filter(|note| note.starts_with(beginning)).collect()
    }

    pub(super) async fn is(&self, name: &str, kind: &str) -> bool {
        self.said(name, kind).await.is_some_and(|(holds, _)| holds)
    }
}

#[tokio::test(start_paused = true)]
async fn an_object_whose_deletion_waits_shows_what_is_still_there_and_what_it_waits_for() {
    let world = World::with_kinds().await;
    world.create_cluster().await;
    let replica = world.replica("a");
    eventually("ready", async || world.is(DEMO, "Ready").await).await;
    let group = world.group().await;
    world.create_user_of(&group).await;
    eventually("two is ready", async || world.is("two", "Ready").await).await;
    // The owner is told of it at the next look, before anybody deletes it.
    let uses = async || world.notes_of("Cluster two uses").await.len() == 1;
    eventually("told", uses).await;
    let told = world.notes_of("Cluster two uses").await.remove(0);
    assert!(
        told.contains(&format!("security group {}", group.id)),
        "{told}"
    );
    assert!(told.contains("waits until Cluster two lets go"), "{told}");

    let clusters = world.clusters();
    clusters
        .delete(DEMO, &DeleteParams::default())
        .await
        .unwrap();
    eventually("blocked", async || world.is(DEMO, "Blocked").await).await;
    sleep(Duration::from_mins(2)).await;
    let (explained, tree) = world.seen().await;
    let (_, message) = world.said(DEMO, "Blocked").await.unwrap();
    let waits = format!("{} cannot be deleted before Cluster two's rule ", group.id);
    for text in [&message, &explained, &flat(&tree)] {
        assert!(text.contains(&waits), "{waits}\n{text}");
    }
    let there = format!("security group {} kubernetes-demo", group.id);
    let owned = format!("{there}: Owned, by its mark");
    assert!(explained.contains(&owned), "{owned}\n{explained}");
    for words in [
        "next: it is deleted when that is gone",
        "nothing fills it any more",
    ] {
        assert!(explained.contains(words), "{words}\n{explained}");
    }
    let owned = format!("{there} Owned by its mark");
    assert!(flat(&tree).contains(&owned), "{owned}\n{tree}");
    assert!(
        tree.contains("needed by Cluster two, too") || tree.contains("put there by Cluster two"),
        "{tree}"
    );
    let whose = world.whose_is(&[group.id.as_str()]).await;
    assert!(
        whose.contains(": Owned\n") && whose.contains("Cluster demo"),
        "{whose}"
    );

    let two = clusters.delete("two", &DeleteParams::default()).await;
    two.unwrap();
    let ended = async || clusters.get_opt(DEMO).await.unwrap().is_none();
    eventually("gone", ended).await;
    replica.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_lost_mark_shows_the_resource_and_both_ways_out() {
    let world = World::with_kinds().await;
    world.create_cluster().await;
    let replica = world.replica("a");
    eventually("ready", async || world.is(DEMO, "Ready").await).await;
    let group = world.group().await;
    {
        let mut account = world.accounts.account().lock();
        let tags = account
            .resource(&group)
            .unwrap()
            .tags
            .iter()
            .cloned()
            .collect::<Vec<_>>();
        account
            .untag(Actor::Stranger, std::slice::from_ref(&group), &tags)
            .unwrap();
    }
    eventually("lost", async || world.is(DEMO, "MarkLost").await).await;
    let (explained, tree) = world.seen().await;
    let there = format!("security group {} kubernetes-demo", group.id);
    let was = "Unmarked, it was ours, and somebody removed our mark: adopt it, or delete it";
    for words in [
        &*format!("{there}: {was}"),
        "freehold.dev/adopt to security-group",
    ] {
        assert!(explained.contains(words), "{words}\n{explained}");
    }
    assert!(!explained.contains("is gone"), "{explained}");
    let words = format!("{there} Unmarked it was ours");
    assert!(flat(&tree).contains(&words), "{words}\n{tree}");
    assert!(
        flat(&tree).contains("freehold.dev/adopt to security-group"),
        "{tree}"
    );
    let whose = world.whose_is(&[group.id.as_str()]).await;
    let words = "Cluster demo made it for its slot security-group";
    assert!(
        whose.contains(words) && whose.contains("freehold.dev/adopt"),
        "{whose}"
    );
    replica.stop().await;
}
