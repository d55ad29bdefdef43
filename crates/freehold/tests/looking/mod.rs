//! `explain`, `tree`, `whose` and `orphans` in the states in which people need them.

use cloud_port::aws::security_group::SECURITY_GROUP;
use cloud_sim::Quotas;
use freehold::look::everywhere::{end_orphan, orphans_text, whose_text};
use ownership::mark::{Carrier, OwnershipMark, Tags};
use ownership::part::Props;
use ownership::{Claim, ClaimHash, ResourceId, SlotName, Target, Text};

mod cures;
mod ending;
mod mistakes;
mod orphans;
mod shared;

use super::*;

const DEMO: &str = "demo";

impl World {
    async fn whose(&self) -> Whose {
        Whose {
            holder: self.holder().await,
            taken_over: BTreeMap::new(),
        }
    }

    /// What `explain` and `tree` say of the cluster.
    async fn seen(&self) -> (String, String) {
        look::texts(
            &controllers::kkp::ENTRY,
            &self.accounts,
            self.client.clone(),
            self.clock,
            self.whose().await,
            DEMO,
        )
        .await
        .unwrap()
    }

    async fn whose_is(&self, ids: &[&str]) -> String {
        let ids: Vec<String> = ids.iter().map(|&id| id.to_owned()).collect();
        let (accounts, whose) = (&self.accounts, self.whose().await);
        let told = whose_text(accounts, &self.client, self.clock, whose, &ids);
        told.await.unwrap()
    }

    async fn orphans(&self) -> String {
        let whose = self.whose().await;
        let region = ["eu-central-1".to_owned()];
        let found = orphans_text(&self.accounts, &self.client, self.clock, whose, &region);
        found.await.unwrap()
    }

    async fn ended(&self, claim: &ClaimHash) -> Vec<String> {
        self.ended_after(claim, &self.whose().await, async {}).await
    }

    /// What is left of a claim for which somebody says yes when `answer` is over.
    async fn ended_after(
        &self,
        claim: &ClaimHash,
        whose: &Whose,
        answer: impl Future<Output = ()>,
    ) -> Vec<String> {
        let (accounts, client, claim) = (&self.accounts, &self.client, claim.as_str());
        let whose = whose.clone();
        let left = end_orphan(accounts, client, self.clock, whose, &[], claim, answer);
        left.await.unwrap()
    }

    async fn patch(&self, patch: Value) {
        let patch = Patch::Merge(patch);
        let parameters = PatchParams::default();
        let patched = self.clusters().patch(DEMO, &parameters, &patch).await;
        patched.unwrap();
    }

    async fn until_ready(&self) {
        self.create_cluster().await;
        let replica = self.replica("a");
        let ready = async || self.ready().await.as_deref() == Some("True");
        eventually("ready", ready).await;
        replica.stop().await;
    }

    async fn group(&self) -> Target {
        let object = self.clusters().get(DEMO).await.unwrap();
        let aws = object.spec.cloud.aws.unwrap();
        Target::new(&SECURITY_GROUP, ResourceId::new(aws.security_group_id))
    }

    /// A group of somebody's, with these tags.
    fn plant(&self, name: &str, tags: &[(Text, Text)]) -> Target {
        let mut account = self.accounts.account().lock();
        let vpc = account.default_vpc().unwrap().id.text();
        let props: Props = [("vpc", vpc), ("description", Text::from(name))]
            .into_iter()
            .collect();
        let tags: Tags = tags.iter().cloned().collect();
        let group = account.plant(Actor::Stranger, &SECURITY_GROUP, name, &props, &tags);
        group.unwrap()
    }
}

/// A tree without its lines.
fn flat(tree: &str) -> String {
    let words = tree.split_whitespace().filter(|word| *word != "│");
    words.collect::<Vec<_>>().join(" ")
}

/// Another claim of that name.
fn claim(name: &str, uuid: u128) -> Claim {
    let uuid = format!("00000000-0000-4000-8000-{uuid:012x}");
    Claim::new("Cluster.kubermatic.k8c.io", "", name, &uuid).unwrap()
}

/// The marks of another claim, held by `holder`.
fn marks(claim: &Claim, holder: &Holder) -> Vec<(Text, Text)> {
    let mark = OwnershipMark {
        claim: claim.hash().clone(),
        slot: SlotName::new("security-group").unwrap(),
        attempt: 1,
        holder: holder.clone(),
        generation: 0,
    };
    let named = format!("owned-by.kubermatic.k8c.io/{}", claim.name());
    vec![
        mark.encode(Carrier::AwsTags).unwrap(),
        (named.into(), "".into()),
    ]
}

#[tokio::test(start_paused = true)]
async fn explain_tells_of_a_group_that_is_gone_what_is_done_and_when() {
    let world = World::with_kinds().await;
    world.until_ready().await;
    let group = world.group().await;
    let deleted = world
        .accounts
        .account()
        .lock()
        .delete(Actor::Stranger, &group);
    deleted.unwrap();
    let (explained, tree) = world.seen().await;
    for words in [
        "condition Ready=True (Converged): all resources are in place",
        &format!(
            "nothing fills it: security group {}, which did, is gone",
            group.id
        ),
        "next: after 15 s, create security group kubernetes-demo\n",
        "next: after 15 s, add rule ingress all all self",
    ] {
        assert!(explained.contains(words), "{words}\n{explained}");
    }
    assert!(tree.contains("to be created after 15 s"), "{tree}");
}

#[tokio::test(start_paused = true)]
async fn explain_tells_of_a_conflict_whose_mark_it_is_and_the_way_out() {
    let world = World::with_kinds().await;
    world.until_ready().await;
    let group = world.group().await;
    let other = claim("other", 1);
    let holder = world.whose().await.holder;
    let tagged = {
        let mut account = world.accounts.account().lock();
        account.tag(
            Actor::Stranger,
            std::slice::from_ref(&group),
            &marks(&other, &holder),
        )
    };
    tagged.unwrap();
    let (explained, tree) = world.seen().await;
    let both = format!(
        "belongs to this claim and the claim {} (KKP cluster other) at once",
        other.hash()
    );
    for text in [&explained, &flat(&tree)] {
        assert!(text.contains(&both), "{both}\n{text}");
    }
    assert!(explained.contains("freehold orphans"), "{explained}");
    assert!(explained.contains("nothing fills it, because of what was found"));

    // Another claim's mark alone.
    let world = World::with_kinds().await;
    world.plant("kubernetes-demo", &marks(&other, &holder));
    world.create_cluster().await;
    let (explained, _) = world.seen().await;
    let theirs = format!("belongs to the claim {} (KKP cluster other);", other.hash());
    assert!(explained.contains(&theirs), "{theirs}\n{explained}");
}

#[tokio::test(start_paused = true)]
async fn explain_tells_of_an_object_that_is_invalid_paused_or_observed() {
    let world = World::with_kinds().await;
    world.create_cluster().await;
    world
        .patch(json!({"spec": {"cloud": {"aws": {"nodePortsAllowedIPRange": "nonsense"}}}}))
        .await;
    let (explained, tree) = world.seen().await;
    for text in [&explained, &tree] {
        let field = "spec.cloud.aws.nodePortsAllowedIPRange";
        assert!(text.contains("Invalid: ") && text.contains(field), "{text}");
    }
    assert!(
        explained.starts_with("Cluster demo\nnothing is done: Invalid"),
        "{explained}"
    );

    world
        .patch(
            json!({"spec": {"cloud": {"aws": {"nodePortsAllowedIPRange": null}}, "pause": true}}),
        )
        .await;
    let (explained, _) = world.seen().await;
    assert!(
        explained.contains("nothing is done: spec.pause is set"),
        "{explained}"
    );
    let would = "would: create security group kubernetes-demo";
    assert!(
        explained.contains(would) && !explained.contains("next: create"),
        "{explained}"
    );

    let observe = json!({"freehold.dev/management": "observe"});
    world
        .patch(json!({"spec": {"pause": false}, "metadata": {"annotations": observe}}))
        .await;
    let (explained, tree) = world.seen().await;
    let words = "freehold.dev/management is observe";
    assert!(
        explained.contains(words) && explained.contains(would),
        "{explained}"
    );
    assert!(tree.contains(words), "{tree}");
    assert_eq!(world.made(), 0, "nothing was done");
}

#[tokio::test(start_paused = true)]
async fn whose_tells_six_resources_apart() {
    let world = World::with_kinds().await;
    world.until_ready().await;
    let ours = world.group().await;
    let here = world.whose().await.holder;
    let gone = claim("old", 2);
    let theirs = world.plant("theirs", &marks(&gone, &here));
    let elsewhere = Holder::of_cluster("elsewhere");
    world.plant("held", &marks(&claim("far", 3), &elsewhere));
    world.plant("web-shop", &[]);
    let used = world
        .accounts
        .account()
        .lock()
        .default_vpc()
        .unwrap()
        .id
        .clone();

    let said = async |id: &str| world.whose_is(&[id]).await;
    let text = said(ours.id.as_str()).await;
    assert!(
        text.contains("kubernetes-demo in ") && text.contains(": Owned\n"),
        "{text}"
    );
    assert!(
        text.contains("belongs to Cluster demo, held by this management cluster"),
        "{text}"
    );
    let text = said(theirs.id.as_str()).await;
    assert!(
        text.contains(&format!("the claim {}, which is no object's", gone.hash())),
        "{text}"
    );
    assert!(
        text.contains("its marks name the KKP cluster old; freehold orphans"),
        "{text}"
    );
    let text = said("held").await;
    let ask = format!("freehold take-over --from {elsewhere}");
    assert!(
        text.contains(": Foreign\n") && text.contains(&ask),
        "{text}"
    );
    let text = said("web-shop").await;
    assert!(
        text.contains(": Unmarked\n") && text.contains("nobody of ours knows it"),
        "{text}"
    );
    let text = said(used.as_str()).await;
    assert!(text.contains(": Used\n"), "{text}");
    assert!(
        text.contains("Cluster demo uses it for its slot vpc"),
        "{text}"
    );
    let text = said("sg-nothing").await;
    assert!(text.contains("sg-nothing: Absent\n"), "{text}");

    // A role has a name and an ARN, and no list shows its marks.
    let arn = "arn:aws:iam::123456789012:role/kubernetes-demo-worker";
    for word in ["kubernetes-demo-worker", arn] {
        let text = said(word).await;
        assert!(text.contains("says slot worker-role, attempt 1"), "{text}");
    }
}

#[tokio::test(start_paused = true)]
async fn orphans_are_found_among_ten_thousand_and_nothing_else_is() {
    let mut world = World::with_kinds().await;
    let settings = cloud_sim::Settings {
        quotas: Quotas::default().resources(&SECURITY_GROUP, 20_000),
        ..cloud_sim::Settings::default()
    };
    world.accounts = Simulated::with(world.clock, settings);
    world.until_ready().await;
    let here = world.whose().await.holder;
    let elsewhere = Holder::of_cluster("elsewhere");
    let (old, far) = (claim("old", 4), claim("far", 5));
    let planted: Vec<Target> = (0..7)
        .map(|at| world.plant(&format!("old-{at}"), &marks(&old, &here)))
        .collect();
    let held = world.plant("far", &marks(&far, &elsewhere));
    let legacy = [(
        Text::from("owned-by.kubermatic.k8c.io/lost"),
        Text::from(""),
    )];
    let unproven = world.plant("lost", &legacy);
    for at in 0..9_990 {
        world.plant(&format!("web-shop-{at}"), &[]);
    }
    let living = world.made();

    let text = world.orphans().await;
    assert!(
        text.ends_with(" resources in 123456789012/eu-central-1\n")
            && text.contains("3 claims among 10"),
        "{text}"
    );
    let shown = |target: &Target| text.matches(target.id.as_str()).count();
    for target in planted.iter().chain([&held, &unproven]) {
        assert_eq!(shown(target), 1, "{target}\n{text}");
    }
    assert_eq!(text.matches("security group ").count(), 9, "{text}");
    assert!(
        !text.contains("web-shop") && !text.contains("kubernetes-demo"),
        "{text}"
    );
    assert!(
        text.contains(&format!("KKP cluster old: the claim {}", old.hash())),
        "{text}"
    );

    assert_eq!(world.ended(old.hash()).await, Vec::<String>::new());
    assert_ne!(world.ended(far.hash()).await, Vec::<String>::new());
    let text = world.orphans().await;
    assert!(text.contains("2 claims among"), "{text}");
    let account = world.accounts.account().lock();
    for target in &planted {
        assert!(!account.life(target).unwrap().is_alive(), "{target}");
    }
    for target in [&held, &unproven] {
        assert!(account.life(target).unwrap().is_alive(), "{target}");
    }
    drop(account);
    assert_eq!(world.made(), living, "what lives is left alone");
}

/// A newer build may serve objects that this one does not know.
#[tokio::test(start_paused = true)]
async fn what_no_known_system_has_marked_is_nobodys_to_end_here() {
    let world = World::with_kinds().await;
    world.create_cluster().await;
    let here = world.whose().await.holder;
    let other = claim("other", 6);
    let mut tags = marks(&other, &here);
    let capa = "sigs.k8s.io/cluster-api-provider-aws/cluster/other";
    tags[1] = (capa.into(), "owned".into());
    let theirs = world.plant("theirs", &tags);
    let bare = world.plant("bare", &marks(&claim("bare", 7), &here)[..1]);
    let text = world.orphans().await;
    assert!(text.contains("2 claims among"), "{text}");
    for name in ["other", "bare"] {
        let uuid = if name == "other" { 6 } else { 7 };
        assert_ne!(
            world.ended(claim(name, uuid).hash()).await,
            Vec::<String>::new()
        );
    }
    let account = world.accounts.account().lock();
    for target in [&theirs, &bare] {
        assert!(account.life(target).unwrap().is_alive(), "{target}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_a_forced_deletion_left_goes_with_all_its_parts() {
    let world = World::with_kinds().await;
    world.until_ready().await;
    let object = world.clusters().get(DEMO).await.unwrap();
    let uid = object.uid().unwrap();
    let claim = Claim::new("Cluster.kubermatic.k8c.io", "", DEMO, &uid).unwrap();
    let none = world.orphans().await;
    assert!(none.starts_with("no orphans among"), "{none}");
    world.patch(json!({"metadata": {"finalizers": null}})).await;
    let deleted = world
        .clusters()
        .delete(DEMO, &DeleteParams::default())
        .await;
    deleted.unwrap();
    let text = world.orphans().await;
    assert!(text.contains("1 claim among"), "{text}");
    for part in [
        "security group",
        "instance profile",
        "IAM role kubernetes-demo-worker",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    // Nobody is left whose account could be entered: a region must be named.
    let left = {
        let whose = world.whose().await;
        let (accounts, client, claim) = (&world.accounts, &world.client, claim.hash().as_str());
        end_orphan(accounts, client, world.clock, whose, &[], claim, async {}).await
    };
    assert!(left.unwrap_err().to_string().contains("--region"));
    world.create_cluster_named("another").await;
    assert_eq!(world.ended(claim.hash()).await, Vec::<String>::new());
    assert_eq!(world.made(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_pause_that_is_over_is_not_told_any_more_although_something_else_is_wrong() {
    let world = World::with_kinds().await;
    world.create_cluster().await;
    world.patch(json!({"spec": {"pause": true}})).await;
    let replica = world.replica("a");
    let said = async |kind: &str| {
        let status = world.clusters().get(DEMO).await.unwrap().status?;
        Some(status.conditions.get(kind)?.status.clone())
    };
    eventually("paused", async || {
        said("Paused").await.as_deref() == Some("True")
    })
    .await;
    let range = json!({"nodePortsAllowedIPRange": "nonsense"});
    world
        .patch(json!({"spec": {"pause": false, "cloud": {"aws": range}}}))
        .await;
    eventually("invalid", async || {
        said("Invalid").await.as_deref() == Some("True")
    })
    .await;
    assert_eq!(said("Paused").await.as_deref(), Some("False"));
    replica.stop().await;
}
