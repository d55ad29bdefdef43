//! `freehold take-over`, before, while and after operators work.

use freehold::take_over::text;

use super::handover::{ANSWERED, Meanwhile, Process};
use super::*;

impl World {
    async fn take_over(&self, from: &str, namespace: &str, apply: bool) -> Result<String, String> {
        let said = text(
            &self.accounts,
            &self.client,
            self.clock,
            from,
            namespace,
            apply,
        )
        .await;
        said.map_err(|error| error.to_string())
    }

    async fn confirmed(&self) -> Option<ConfigMap> {
        let maps: Api<ConfigMap> = Api::namespaced(self.client.clone(), "freehold-system");
        maps.get_opt(take_over::CONFIG_MAP).await.unwrap()
    }

    async fn end(&self) {
        let clusters = self.clusters();
        let deleted = clusters.delete("demo", &DeleteParams::default()).await;
        deleted.unwrap();
        eventually("gone", async || {
            // The account's time goes on with the process's.
            self.made() == 0 && clusters.get_opt("demo").await.unwrap().is_none()
        })
        .await;
    }
}

/// A management cluster that is lost, the backup of its cluster, and what marks call it.
pub(super) async fn lost() -> (World, Object, Holder) {
    let old = World::with_kinds().await;
    old.create_cluster().await;
    let replica = old.replica("a");
    eventually("ready", async || {
        old.ready().await.as_deref() == Some("True")
    })
    .await;
    replica.stop().await;
    let backup = without_uid(old.clusters().get("demo").await.unwrap());
    let holder = old.holder().await;
    (old, backup, holder)
}

/// What of an object a backup keeps.
pub(super) fn without_uid(mut object: Object) -> Object {
    object.metadata.uid = None;
    object.metadata.resource_version = None;
    object.metadata.creation_timestamp = None;
    object.status = None;
    object
}

/// A new management cluster, on the same account.
pub(super) async fn successor(old: &World) -> World {
    let options = embedded_kube::Options {
        seed: 7,
        ..embedded_kube::Options::new(Arc::new(old.clock))
    };
    let world = World {
        client: Cluster::with_options("new", &options).client(),
        clock: old.clock,
        accounts: old.accounts.clone(),
    };
    world
        .create::<Namespace>(
            Api::all(world.client.clone()),
            json!({"metadata": {"name": "freehold-system"}}),
        )
        .await;
    api::manifests::install(world.client.clone()).await.unwrap();
    world
}

#[tokio::test(start_paused = true)]
async fn a_holder_that_was_taken_over_is_obeyed_from_the_start() {
    let (old, backup, old_holder) = lost().await;
    let world = successor(&old).await;
    world.restore(&backup).await;
    let replica = world.replica("a");
    eventually("told", async || {
        world.ready().await.as_deref() == Some("False")
    })
    .await;
    let held = world.clusters().get("demo").await.unwrap().status.unwrap();
    let message = held.conditions["Ready"].message.clone().unwrap();
    assert!(message.contains(old_holder.as_str()), "{message}");

    // The operator notices by itself.
    let maps: Api<ConfigMap> = Api::namespaced(world.client.clone(), "freehold-system");
    let data = json!({old_holder.as_str(): "confirmed", "not-a-holder": ""});
    world
        .create(
            maps,
            json!({"metadata": {"name": take_over::CONFIG_MAP}, "data": data}),
        )
        .await;
    eventually("ready", async || {
        world.ready().await.as_deref() == Some("True")
    })
    .await;
    replica.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_take_over_lists_what_it_would_take_and_does_it_only_when_told() {
    let (old, backup, holder) = lost().await;
    let world = successor(&old).await;
    world.restore(&backup).await;
    let said = async |apply| {
        world
            .take_over(holder.as_str(), "freehold-system", apply)
            .await
    };
    let would = said(false).await.unwrap();
    for words in [
        "Cluster demo: 4 resources with its marks\n",
        &format!("every claim that {holder}, generation 0, holds becomes"),
        "nothing was done: ",
    ] {
        assert!(would.contains(words), "{words}\n{would}");
    }
    assert_eq!(world.confirmed().await, None);
    let done = said(true).await.unwrap();
    assert!(done.contains("confirmed in the ConfigMap"), "{done}");
    assert!(world.confirmed().await.is_some());
}

#[tokio::test(start_paused = true)]
async fn a_take_over_from_nobody_or_into_nowhere_is_refused() {
    let (old, backup, holder) = lost().await;
    let world = successor(&old).await;
    world.restore(&backup).await;
    let own = world.holder().await;
    for (from, namespace, words) in [
        (
            "0123456789",
            "freehold-system",
            "nothing here is held by 0123456789",
        ),
        (
            holder.as_str(),
            "nowhere",
            "there is no namespace nowhere: --namespace",
        ),
        (
            own.as_str(),
            "freehold-system",
            "is this management cluster itself",
        ),
    ] {
        for apply in [false, true] {
            let said = world.take_over(from, namespace, apply).await.unwrap_err();
            assert!(said.contains(words), "{words}: {said}");
        }
    }
    assert_eq!(world.confirmed().await, None);
}

/// What a claim that owns nothing has put into somebody's resource says who holds it, too.
#[tokio::test(start_paused = true)]
async fn a_take_over_lists_what_only_uses() {
    use cloud_port::aws::security_group::{RULE, SECURITY_GROUP};
    use ownership::mark::{Carrier, OwnershipMark, Tags};
    use ownership::part::{InnerPart, Props};
    use ownership::{Claim, SlotName, Text};

    let world = World::with_kinds().await;
    world.create_cluster().await;
    let gone = Holder::of_cluster("gone");
    let uuid = "00000000-0000-4000-8000-000000000001";
    let claim = Claim::new("Cluster.kubermatic.k8c.io", "", "user", uuid).unwrap();
    let mark = OwnershipMark {
        claim: claim.hash().clone(),
        slot: SlotName::new("security-group").unwrap(),
        attempt: 0,
        holder: gone.clone(),
        generation: 0,
    };
    {
        let mut account = world.accounts.account().lock();
        let vpc = account.default_vpc().unwrap().id.text();
        let props: Props = [("vpc", vpc), ("description", Text::from("used"))]
            .into_iter()
            .collect();
        let group = account.plant(
            Actor::Stranger,
            &SECURITY_GROUP,
            "used",
            &props,
            &Tags::new(),
        );
        let tags: Tags = mark.encode(Carrier::AwsTags).into_iter().collect();
        let rule = InnerPart::new("ingress tcp 443-443 10.0.0.0/8", "", tags);
        let added = account.add_parts(Actor::Stranger, &group.unwrap(), RULE, &[rule]);
        added.unwrap();
    }
    let said = world
        .take_over(gone.as_str(), "freehold-system", false)
        .await;
    let said = said.unwrap();
    let line = format!("the claim {}: 1 resource with its marks", claim.hash());
    assert!(said.starts_with(&line), "{said}");
}

/// Marks of a higher generation than the one that is confirmed stay another's.
#[tokio::test(start_paused = true)]
async fn a_take_over_says_which_generation_it_does_not_reach() {
    let (old, backup, holder) = lost().await;
    let second = successor(&old).await;
    second.restore(&backup).await;
    second
        .take_over(holder.as_str(), "freehold-system", true)
        .await
        .unwrap();
    let replica = second.replica("b");
    eventually("ready", async || {
        second.ready().await.as_deref() == Some("True")
    })
    .await;
    replica.stop().await;
    let from = second.holder().await;
    let said = async |from: &str| old.take_over(from, "freehold-system", false).await;
    let low = said(from.as_str()).await.unwrap_err();
    let cure = format!("--from {from}@1");
    assert!(low.contains(&cure), "{low}");
    let said = said(&format!("{from}@1")).await.unwrap();
    assert!(said.contains("Cluster demo: 4 resources"), "{said}");
}

#[tokio::test(start_paused = true)]
async fn whoever_was_taken_over_from_while_he_works_stops_and_makes_nothing_again() {
    let old = World::with_kinds().await;
    old.create_cluster().await;
    let first = old.replica("a");
    let is = async |world: &World, value: &str| {
        // The account's time goes on with the process's.
        world.made();
        world.ready().await.as_deref() == Some(value)
    };
    eventually("ready", async || is(&old, "True").await).await;
    let made = old.made();
    let world = successor(&old).await;
    let backup = without_uid(old.clusters().get("demo").await.unwrap());
    world.restore(&backup).await;
    let second = world.replica("b");
    eventually("held", async || is(&world, "False").await).await;
    let holder = old.holder().await;
    world
        .take_over(holder.as_str(), "freehold-system", true)
        .await
        .unwrap();
    eventually("taken over", async || is(&world, "True").await).await;
    eventually("told", async || is(&old, "False").await).await;
    sleep(Duration::from_mins(10)).await;
    assert!(is(&world, "True").await);
    let writes = old.writes();
    sleep(Duration::from_mins(10)).await;
    assert_eq!((old.made(), old.writes()), (made, writes), "they rest");
    world.end().await;
    sleep(Duration::from_mins(10)).await;
    assert_eq!(old.made(), 0, "the first one makes nothing of it again");
    first.stop().await;
    second.stop().await;
}

/// At whichever Step: what he had under way is found, taken over, and nobody's twin.
#[tokio::test(start_paused = true)]
async fn whoever_is_taken_over_from_in_mid_pass_leaves_no_twin_and_no_orphan() {
    let mut nth = 0;
    loop {
        let old = World::with_kinds().await;
        old.create_cluster().await;
        let world = successor(&old).await;
        let (from, to, holder) = (old.clusters(), world.clusters(), old.holder().await);
        let maps: Api<ConfigMap> = Api::namespaced(world.client.clone(), "freehold-system");
        let data = json!({holder.as_str(): "0"});
        let map = json!({"metadata": {"name": take_over::CONFIG_MAP}, "data": data});
        world.create(maps, map).await;
        let second = world.replica("b");
        eventually("it leads", async || second.is("leading").await).await;
        let restored = Meanwhile::new(move |step| {
            let (from, to) = (from.clone(), to.clone());
            Box::pin(async move {
                if step == nth {
                    let backup = without_uid(from.get("demo").await.unwrap());
                    to.create(&PostParams::default(), &backup).await.unwrap();
                    // The new one looks at it, and begins.
                    sleep(Duration::from_secs(2)).await;
                }
                ANSWERED
            })
        });
        let process = Process::disturbed(&old, restored);
        let first = old.replica_of(process.clone(), Settings::of("a"));
        let is = async |world: &World, value: &str| {
            world.made();
            let there = world.clusters().get_opt("demo").await.unwrap();
            there.is_some() && world.ready().await.as_deref() == Some(value)
        };
        eventually("the first Steps", async || {
            is(&old, "True").await || is(&world, "True").await
        })
        .await;
        sleep(Duration::from_mins(10)).await;
        if process.steps() <= nth {
            first.stop().await;
            second.stop().await;
            break;
        }
        assert!(is(&world, "True").await && is(&old, "False").await, "{nth}");
        assert_eq!(world.made(), 4, "{nth}");
        world.end().await;
        sleep(Duration::from_mins(10)).await;
        assert_eq!(world.made(), 0, "{nth}");
        first.stop().await;
        second.stop().await;
        nth += 1;
    }
    assert!(nth >= 8, "{nth} Steps");
}
