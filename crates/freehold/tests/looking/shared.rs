//! Somebody else's resource of a cluster's name.

use super::*;
use cloud_port::aws::security_group::RULE;
use k8s_openapi::api::events::v1::Event;
use kube::api::ListParams;
use ownership::mark::Unmarked;

impl World {
    async fn condition(&self, kind: &str) -> Option<(String, String)> {
        let status = self.clusters().get(DEMO).await.unwrap().status?;
        let condition = status.conditions.get(kind)?;
        let message = condition.message.clone().unwrap_or_default();
        Some((condition.status.clone(), message))
    }

    async fn holds(&self, kind: &str) -> bool {
        self.condition(kind)
            .await
            .is_some_and(|(status, _)| status == "True")
    }

    fn rules(&self, group: &Target) -> usize {
        self.accounts.account().lock().parts(group, RULE).len()
    }
}

#[tokio::test(start_paused = true)]
async fn somebodys_group_of_our_name_is_used_and_that_is_told() {
    let world = World::with_kinds().await;
    let group = world.plant("kubernetes-demo", &[]);
    world.create_cluster().await;
    let replica = world.replica("a");
    eventually("ready", async || world.holds("Ready").await).await;
    let (status, message) = world.condition("Shared").await.unwrap();
    assert_eq!(status, "True");
    let named = format!("security group {} (security-group)", group.id);
    assert!(message.contains(&named), "{message}");
    let events: Api<Event> = Api::namespaced(world.client.clone(), "default");
    let events = events.list(&ListParams::default()).await.unwrap().items;
    let warns = |event: &&Event| {
        event.reason.as_deref() == Some("Shared") && event.type_.as_deref() == Some("Warning")
    };
    assert_eq!(events.iter().filter(warns).count(), 1);
    let (_, tree) = world.seen().await;
    let shared = "shared: we add and remove only our own rules and tags";
    assert!(flat(&tree).contains(shared), "{tree}");
    assert!(world.rules(&group) > 0);
    replica.stop().await;
}

#[tokio::test(start_paused = true)]
async fn somebodys_group_of_our_name_is_refused_where_people_want_none_of_it() {
    for told_by_operator in [false, true] {
        let world = World::with_kinds().await;
        let group = world.plant("kubernetes-demo", &[]);
        world.create_cluster().await;
        let mut settings = Settings::of("a");
        if told_by_operator {
            settings.unmarked = Some(Unmarked::Conflict);
        } else {
            let told = json!({"freehold.dev/unmarked": "conflict"});
            world
                .patch(json!({"metadata": {"annotations": told}}))
                .await;
        }
        let replica = world.replica_of(world.accounts.clone(), settings);
        eventually("conflict", async || world.holds("Conflict").await).await;
        let (_, message) = world.condition("Conflict").await.unwrap();
        assert!(message.contains(group.id.as_str()), "{message}");
        sleep(Duration::from_mins(5)).await;
        assert_eq!(world.rules(&group), 0);
        assert!(world.condition("Shared").await.is_none());
        replica.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_used_is_let_go_when_people_want_none_of_it_any_more() {
    let world = World::with_kinds().await;
    let group = world.plant("kubernetes-demo", &[]);
    world.create_cluster().await;
    let replica = world.replica("a");
    eventually("ready", async || world.holds("Ready").await).await;
    let told = json!({"freehold.dev/unmarked": "conflict"});
    world
        .patch(json!({"metadata": {"annotations": told}}))
        .await;
    eventually("conflict", async || world.holds("Conflict").await).await;
    let deleted = world
        .clusters()
        .delete(DEMO, &DeleteParams::default())
        .await;
    deleted.unwrap();
    eventually("gone", async || {
        world.clusters().get_opt(DEMO).await.unwrap().is_none()
    })
    .await;
    assert_eq!(world.rules(&group), 0, "what we added goes with us");
    assert!(
        world
            .accounts
            .account()
            .lock()
            .life(&group)
            .unwrap()
            .is_alive()
    );
    replica.stop().await;
}
