//! `freehold orphans --apply` while others do something, too.

use api::names::CLAIM_UUID;
use cloud_port::aws::KINDS;
use cloud_port::aws::security_group::RULE;
use ownership::part::InnerPart;

use super::super::handover::{ANSWERED, LOST, Meanwhile, Process};
use super::super::taking_over::without_uid;
use super::*;

impl World {
    /// An object whose account can be entered, and for which nothing is done.
    async fn paused(&self, name: &str) {
        let region = json!({"kubermatic.io/aws-region": "eu-central-1"});
        let ids = json!({
            "vpcID": "", "routeTableID": "", "securityGroupID": "", "roleARN": "",
            "instanceProfileName": "",
        });
        let cluster = json!({
            "metadata": {"name": name, "annotations": region},
            "spec": {"pause": true, "cloud": {"dc": "d", "aws": ids}},
        });
        self.create(self.clusters(), cluster).await;
    }

    /// Removes the cluster by force, and leaves all that it had. Returns a backup, and its claim.
    async fn removed_by_force(&self) -> (Object, Claim) {
        let object = self.clusters().get(DEMO).await.unwrap();
        let uid = object.uid().unwrap();
        let claim = Claim::new("Cluster.kubermatic.k8c.io", "", DEMO, &uid).unwrap();
        self.patch(json!({"metadata": {"finalizers": null}})).await;
        let clusters = self.clusters();
        let deleted = clusters.delete(DEMO, &DeleteParams::default()).await;
        deleted.unwrap();
        (without_uid(object), claim)
    }

    fn lives(&self, target: &Target) -> bool {
        let account = self.accounts.account().lock();
        account.life(target).unwrap().is_alive()
    }

    fn put_in(&self, group: &Target, part: InnerPart) {
        let mut account = self.accounts.account().lock();
        let added = account.add_parts(Actor::Stranger, group, RULE, &[part]);
        added.unwrap();
    }

    fn tag(&self, group: &Target, tags: &[(Text, Text)]) {
        let mut account = self.accounts.account().lock();
        let group = std::slice::from_ref(group);
        account.tag(Actor::Stranger, group, tags).unwrap();
    }
}

/// The mark of a claim on a part.
fn part_mark(claim: &Claim, holder: &Holder, generation: u32) -> (Text, Text) {
    let mark = OwnershipMark {
        claim: claim.hash().clone(),
        slot: SlotName::new("security-group").unwrap(),
        attempt: 0,
        holder: holder.clone(),
        generation,
    };
    mark.encode(Carrier::AwsTags).unwrap()
}

/// A rule with these marks.
fn rule(port: u16, marks: &[(Text, Text)]) -> InnerPart {
    let key = format!("ingress tcp {port}-{port} 10.0.0.0/8");
    InnerPart::new(key, "", marks.iter().cloned().collect())
}

#[tokio::test(start_paused = true)]
async fn what_was_restored_before_somebody_says_yes_is_not_ended() {
    for damaged in [false, true] {
        let world = World::with_kinds().await;
        world.until_ready().await;
        let (mut backup, claim) = world.removed_by_force().await;
        world.paused("another").await;
        let made = world.made();
        if damaged {
            let other = "11111111-1111-4111-8111-111111111111".to_owned();
            backup
                .annotations_mut()
                .insert(CLAIM_UUID.to_owned(), other);
        }
        let (here, restored) = (world.whose().await, world.restore(&backup));
        let left = world.ended_after(claim.hash(), &here, restored).await;
        let left = left.join("; ");
        assert!(left.starts_with("Cluster demo is "), "{damaged}: {left}");
        assert_eq!(world.made(), made, "{damaged}");
    }
}

/// To list everything takes minutes in a large account.
#[tokio::test(start_paused = true)]
async fn whoever_comes_while_everything_is_listed_is_no_orphan() {
    let world = World::with_kinds().await;
    world.until_ready().await;
    let (backup, _) = world.removed_by_force().await;
    world.paused("another").await;
    let (clusters, whose) = (world.clusters(), world.whose().await);
    let restored = Meanwhile::new(move |nth| {
        let (clusters, backup) = (clusters.clone(), backup.clone());
        Box::pin(async move {
            if nth == 0 {
                let restored = clusters.create(&PostParams::default(), &backup).await;
                restored.unwrap();
            }
            ANSWERED
        })
    });
    let process = Process::listing(&world, restored);
    let text = orphans_text(&process, &world.client, world.clock, whose, &[]).await;
    let text = text.unwrap();
    assert!(text.starts_with("no orphans among"), "{text}");
}

#[tokio::test(start_paused = true)]
async fn what_is_restored_while_its_end_waits_is_not_ended() {
    let world = World::with_kinds().await;
    world.paused("another").await;
    world.create_cluster().await;
    let replica = world.replica("a");
    let ready = async || world.ready().await.as_deref() == Some("True");
    eventually("ready", ready).await;
    let (made, group) = (world.made(), world.group().await);
    world.patch(json!({"spec": {"pause": true}})).await;
    let (mut backup, claim) = world.removed_by_force().await;
    backup.spec.pause = Some(false);
    // What somebody deletes by hand is looked for until it cannot come back.
    let by_hand = async {
        let mut account = world.accounts.account().lock();
        account.delete(Actor::Stranger, &group).unwrap();
    };
    let here = world.whose().await;
    let restored = async {
        eventually("the rest is gone", async || world.made() == 0).await;
        world.restore(&backup).await;
        eventually("ready", ready).await;
        world.group().await
    };
    let end = world.ended_after(claim.hash(), &here, by_hand);
    let (left, group) = tokio::join!(end, restored);
    let left = left.join("; ");
    assert!(world.lives(&group), "{left}");
    assert_eq!(world.made(), made, "{left}");
    assert!(left.contains("restored meanwhile"), "{left}");
    replica.stop().await;
}

/// One that begins to take a claim over marks a part of it first.
#[tokio::test(start_paused = true)]
async fn nothing_is_ended_of_a_claim_of_which_another_management_cluster_holds_a_part() {
    let (old, gone) = (claim("old", 8), Holder::of_cluster("gone"));
    for (holder, by, generation) in [(None, "elsewhere", 1), (Some(&gone), "gone", 2)] {
        let world = World::with_kinds().await;
        world.paused("another").await;
        let mut whose = world.whose().await;
        whose.taken_over.insert(gone.clone(), 1);
        let ours = world.plant("ours", &marks(&old, holder.unwrap_or(&whose.holder)));
        let used = world.plant("used", &[]);
        for port in [0, 1] {
            // The highest one counts.
            let generation = generation - 1 + u32::from(port);
            let mark = part_mark(&old, &Holder::of_cluster(by), generation);
            world.put_in(&used, rule(port, &[mark]));
        }
        let left = world.ended_after(old.hash(), &whose, async {}).await;
        assert_ne!(left, Vec::<String>::new(), "{by}");
        assert!(world.lives(&ours), "{by}");
        assert!(
            world
                .orphans()
                .await
                .contains("nothing of it is touched here")
        );
    }
}

#[tokio::test(start_paused = true)]
async fn what_has_changed_since_it_was_shown_is_not_ended() {
    let (old, living) = (claim("old", 9), claim("living", 10));
    for change in ["disputed", "unmarked", "taken over", "used", "more"] {
        let world = World::with_kinds().await;
        world.paused("another").await;
        let here = world.whose().await;
        let group = world.plant("old", &marks(&old, &here.holder));
        let elsewhere = Holder::of_cluster("elsewhere");
        let meanwhile = async {
            match change {
                "disputed" => world.tag(&group, &marks(&living, &here.holder)),
                "unmarked" => {
                    let mark = marks(&old, &here.holder);
                    let mut account = world.accounts.account().lock();
                    let group = std::slice::from_ref(&group);
                    account.untag(Actor::Stranger, group, &mark).unwrap();
                }
                "taken over" => world.tag(&group, &marks(&old, &elsewhere)),
                "used" => {
                    let mark = part_mark(&living, &here.holder, 0);
                    world.put_in(&group, rule(443, &[mark]));
                }
                _ => drop(world.plant("more", &marks(&old, &here.holder))),
            }
        };
        let left = world.ended_after(old.hash(), &here, meanwhile).await;
        assert!(world.lives(&group), "{change}");
        // What has lost its mark is nobody's, and nothing of the claim.
        assert_eq!(left.is_empty(), change == "unmarked", "{change}: {left:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_orphan_leaves_what_the_living_need_too() {
    let (old, living) = (claim("old", 12), claim("living", 13));
    let world = World::with_kinds().await;
    world.paused("another").await;
    let here = world.whose().await.holder;
    world.plant("old", &marks(&old, &here));
    let mark = [(Text::from("kubernetes.io/cluster/another"), Text::from(""))];
    let used = world.plant("used", &mark);
    let (ours, theirs) = (part_mark(&old, &here, 0), part_mark(&living, &here, 0));
    world.put_in(&used, rule(1, std::slice::from_ref(&ours)));
    world.put_in(&used, rule(2, &[ours, theirs.clone()]));
    world.put_in(&used, rule(3, std::slice::from_ref(&theirs)));
    assert_eq!(world.ended(old.hash()).await, Vec::<String>::new());
    let account = world.accounts.account().lock();
    let parts = account.parts(&used, RULE).iter();
    let left: Vec<_> = parts
        .map(|part| (part.key.clone(), part.tags.clone()))
        .collect();
    let theirs = [2, 3].map(|port| rule(port, std::slice::from_ref(&theirs)));
    assert_eq!(left, theirs.map(|part| (part.key, part.tags)));
    let tags: Tags = mark.into_iter().collect();
    assert_eq!(account.resource(&used).unwrap().tags, tags);
}

#[tokio::test(start_paused = true)]
async fn two_people_end_the_same_orphan_at_once() {
    let world = World::with_kinds().await;
    world.until_ready().await;
    let (_, claim) = world.removed_by_force().await;
    world.paused("another").await;
    let (hash, here) = (claim.hash(), world.whose().await);
    let both = tokio::join!(
        world.ended_after(hash, &here, async {}),
        world.ended_after(hash, &here, async {})
    );
    assert_eq!(both, (Vec::new(), Vec::new()));
    assert_eq!(world.made(), 0);
}

/// A manifest that names what another object's claim had made, which is gone.
#[tokio::test(start_paused = true)]
async fn nothing_is_ended_that_a_living_object_names() {
    let world = World::with_kinds().await;
    world.until_ready().await;
    let (_, claim) = world.removed_by_force().await;
    world.paused("another").await;
    let names = json!({"spec": {"cloud": {"aws": {"instanceProfileName": "kubernetes-demo"}}}});
    let (parameters, patch) = (PatchParams::default(), Patch::Merge(names));
    let clusters = world.clusters();
    clusters
        .patch("another", &parameters, &patch)
        .await
        .unwrap();
    let made = world.made();
    let text = world.orphans().await;
    let words = "Cluster another uses instance profile kubernetes-demo";
    assert!(text.contains(words), "{text}");
    assert_ne!(world.ended(claim.hash()).await, Vec::<String>::new());
    assert_eq!(world.made(), made);
}

/// Whoever else has a part of it may be among what could not be listed.
#[tokio::test(start_paused = true)]
async fn nothing_is_ended_where_not_everything_can_be_looked_at() {
    let world = World::with_kinds().await;
    world.until_ready().await;
    let (_, claim) = world.removed_by_force().await;
    world.paused("another").await;
    let made = world.made();
    // The list was whole; after the answer one Kind is missing.
    let one_is_missing = Meanwhile::new(|nth| {
        let fate = if nth == KINDS.len() { LOST } else { ANSWERED };
        Box::pin(async move { fate })
    });
    let process = Process::listing(&world, one_is_missing);
    let (client, whose, claim) = (&world.client, world.whose().await, claim.hash().as_str());
    let left = end_orphan(&process, client, world.clock, whose, &[], claim, async {});
    let left = left.await.unwrap().join("; ");
    assert!(left.contains("could not be looked at: "), "{left}");
    assert_eq!(world.made(), made);
}

/// Where its kind is not served, nobody can say that an object is gone.
#[tokio::test(start_paused = true)]
async fn nothing_is_ended_whose_kind_is_not_served_any_more() {
    let world = World::with_kinds().await;
    world.paused("another").await;
    let here = world.whose().await;
    let old = claim("old", 11);
    let group = world.plant("old", &marks(&old, &here.holder));
    let unserved = async {
        let definitions: Api<CustomResourceDefinition> = Api::all(world.client.clone());
        let (name, parameters) = ("clusters.kubermatic.k8c.io", DeleteParams::default());
        definitions.delete(name, &parameters).await.unwrap();
        eventually("not served", async || {
            let (client, clock) = (&world.client, world.clock);
            orphans_text(&world.accounts, client, clock, here.clone(), &[])
                .await
                .is_err()
        })
        .await;
    };
    let region = ["eu-central-1".to_owned()];
    let (client, hash) = (&world.client, old.hash().as_str());
    let whose = here.clone();
    let left = end_orphan(
        &world.accounts,
        client,
        world.clock,
        whose,
        &region,
        hash,
        unserved,
    );
    assert_ne!(left.await.unwrap(), Vec::<String>::new());
    assert!(world.lives(&group));
}
