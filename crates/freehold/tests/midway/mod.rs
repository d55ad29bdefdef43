//! Something that people do in mid-pass: before each Step of a cluster's first pass, in turn.

use std::collections::BTreeMap;

use cloud_port::aws::role::{INLINE_POLICY, ROLE};
use cloud_port::aws::security_group::{RULE, SECURITY_GROUP};
use kube::api::ListParams;
use ownership::mark::{Tags, Unmarked};
use ownership::part::{InnerPart, Props};
use ownership::{Kind, Target, Text};

use super::handover::{ANSWERED, HANGS, LOST, Meanwhile, Process};
use super::taking_over::{lost, successor};
use super::*;

impl World {
    /// Everything in the account that is alive, with its tags and parts.
    fn everything(&self) -> BTreeMap<String, String> {
        let account = self.accounts.account().lock();
        let kinds = cloud_port::aws::KINDS.into_iter();
        let all = kinds.flat_map(|kind| {
            let account = &account;
            account.alive(kind).map(move |resource| {
                let target = Target::new(kind, resource.id.clone());
                let parts = kind.inner.iter().flat_map(|inner| {
                    let parts = account.parts(&target, inner.name).iter();
                    parts.map(|part| format!("{} {} {:?}", part.key, part.value, part.tags))
                });
                let mut parts: Vec<_> = parts.collect();
                parts.sort();
                let mut tags: Vec<_> = resource.tags.iter().cloned().collect();
                tags.sort();
                (target.to_string(), format!("{tags:?} {parts:?}"))
            })
        });
        all.collect()
    }

    /// Somebody's own resource of the cluster's name.
    fn somebodys(&self, kind: &'static Kind, name: &str, props: &Props) -> Target {
        let mut account = self.accounts.account().lock();
        let tags: Tags = [(Text::from("team"), Text::from("web"))]
            .into_iter()
            .collect();
        let planted = account.plant(Actor::Stranger, kind, name, props, &tags);
        planted.unwrap()
    }

    fn put_into(&self, target: &Target, inner: &str, key: &str, value: &str) {
        let mut account = self.accounts.account().lock();
        let part = InnerPart::new(key, value, Tags::new());
        let added = account.add_parts(Actor::Stranger, target, inner, &[part]);
        added.unwrap();
    }

    /// Somebody's group, roles and profile, which the cluster is to use, with something in them.
    fn all_somebodys(&self) -> Target {
        let vpc = {
            let account = self.accounts.account().lock();
            account.default_vpc().unwrap().id.text()
        };
        let props: Props = [("vpc", vpc), ("description", Text::from("theirs"))]
            .into_iter()
            .collect();
        let group = self.somebodys(&SECURITY_GROUP, "kubernetes-demo", &props);
        self.put_into(&group, RULE, "ingress tcp 443-443 10.0.0.0/8", "");
        let props: Props = [("trust", Text::from(TRUST))].into_iter().collect();
        for name in ["kubernetes-demo-control-plane", "kubernetes-demo-worker"] {
            let role = self.somebodys(&ROLE, name, &props);
            self.put_into(&role, INLINE_POLICY, "theirs", POLICY);
        }
        group
    }

    async fn now_holds(&self, kind: &str) -> bool {
        let status = self.clusters().get("demo").await.unwrap().status;
        let holds = status.and_then(|status| Some(status.conditions.get(kind)?.status.clone()));
        self.made();
        holds.as_deref() == Some("True")
    }

    /// Deletes the cluster, and waits until it is gone.
    async fn end_demo(&self) {
        let clusters = self.clusters();
        let deleted = clusters.delete("demo", &DeleteParams::default()).await;
        deleted.unwrap();
        eventually("gone", async || {
            self.made();
            clusters.get_opt("demo").await.unwrap().is_none()
        })
        .await;
    }
}

const TRUST: &str = r#"{"Statement":[{"Action":["sts:AssumeRole"],"Effect":"Allow","Principal":{"Service":["ec2.amazonaws.com"]}}],"Version":"2012-10-17"}"#;
const POLICY: &str = r#"{"Statement":[{"Action":["s3:*"],"Effect":"Allow","Resource":["*"]}],"Version":"2012-10-17"}"#;

async fn unmarked(client: Client, says: &str) {
    let clusters: Api<Object> = Api::all(client);
    let told = json!({"metadata": {"annotations": {"freehold.dev/unmarked": says}}});
    let (parameters, patch) = (PatchParams::default(), Patch::Merge(told));
    clusters.patch("demo", &parameters, &patch).await.unwrap();
}

/// Law 7: whatever is switched when, nothing of ours stays, and nothing of theirs goes.
#[tokio::test(start_paused = true)]
async fn nothing_stays_where_unmarked_is_switched_in_mid_pass() {
    let (mut nth, mut touched) = (0, 0);
    loop {
        let world = World::with_kinds().await;
        let group = world.all_somebodys();
        let before = world.everything();
        world.create_cluster().await;
        let client = world.client.clone();
        let switch = Meanwhile::new(move |step| {
            let client = client.clone();
            Box::pin(async move {
                if step == nth {
                    unmarked(client, "conflict").await;
                }
                ANSWERED
            })
        });
        let process = Process::disturbed(&world, switch);
        let replica = world.replica_of(process.clone(), Settings::of("a"));
        let ends = async || world.now_holds("Conflict").await || world.now_holds("Ready").await;
        eventually("all or nothing", ends).await;
        let over = process.steps() <= nth;
        if nth % 2 == 0 && !over {
            unmarked(world.client.clone(), "use").await;
            eventually("ready", async || world.now_holds("Ready").await).await;
            // What somebody adds meanwhile is his.
            world.put_into(&group, RULE, "ingress tcp 8443-8443 10.0.0.0/8", "");
            unmarked(world.client.clone(), "conflict").await;
            eventually("conflict", async || world.now_holds("Conflict").await).await;
        }
        replica.stop().await;
        touched += usize::from(world.everything() != before);
        let mut settings = Settings::of("b");
        settings.unmarked = (nth % 3 == 0).then_some(Unmarked::Conflict);
        let replica = world.replica_of(world.accounts.clone(), settings);
        world.end_demo().await;
        replica.stop().await;
        let mut after = world.everything();
        if nth % 2 == 0 && !over {
            let theirs = after.get_mut(&group.to_string()).unwrap();
            let added = "ingress tcp 8443-8443 10.0.0.0/8";
            assert!(theirs.contains(added), "{nth}: {theirs}");
            after.insert(group.to_string(), before[&group.to_string()].clone());
        }
        assert_eq!(after, before, "{nth}");
        if over {
            break;
        }
        nth += 1;
    }
    assert!(
        nth >= 5 && touched == nth + 1,
        "{nth} Steps, {touched} times"
    );
}

/// Laws 2 and 3 beside somebody who clears every id again and again, over a bad line.
#[tokio::test(start_paused = true)]
async fn ids_that_are_cleared_while_creates_are_open_make_no_twin_and_no_orphan() {
    let mut nth = 0;
    loop {
        let world = World::with_kinds().await;
        world.create_cluster().await;
        let client = world.client.clone();
        let clears = Meanwhile::new(move |step| {
            let client = client.clone();
            Box::pin(async move {
                let clusters: Api<Object> = Api::all(client);
                let manifest = json!({
                    "apiVersion": "kubermatic.k8c.io/v1", "kind": "Cluster",
                    "metadata": {
                        "name": "demo", "annotations": {"kubermatic.io/aws-region": "eu-central-1"},
                    },
                    "spec": {"cloud": {"dc": "d", "aws": {
                        "vpcID": "", "routeTableID": "", "securityGroupID": "", "roleARN": "",
                        "instanceProfileName": "",
                    }}},
                });
                let (parameters, patch) =
                    (PatchParams::apply("gitops").force(), Patch::Apply(manifest));
                clusters.patch("demo", &parameters, &patch).await.unwrap();
                if step == nth { LOST } else { ANSWERED }
            })
        });
        let process = Process::disturbed(&world, clears);
        let replica = world.replica_of(process.clone(), Settings::of("a"));
        eventually("ready", async || world.now_holds("Ready").await).await;
        assert_eq!(world.made(), 4, "{nth}");
        let over = process.steps() <= nth;
        world.end_demo().await;
        assert_eq!(world.made(), 0, "{nth}");
        replica.stop().await;
        if over {
            break;
        }
        nth += 1;
    }
    assert!(nth >= 8, "{nth} Steps");
}

/// A take-over ends the passes that are under way, and all begin again.
#[tokio::test(start_paused = true)]
async fn a_take_over_that_is_confirmed_in_mid_pass_loses_and_doubles_nothing() {
    let mut nth = 0;
    loop {
        let (old, backup, holder) = lost().await;
        let world = successor(&old).await;
        let made = world.made();
        let clusters = world.clusters();
        world.restore(&backup).await;
        world.create_cluster_named("fresh").await;
        let (client, from) = (world.client.clone(), holder.clone());
        let confirms = Meanwhile::new(move |step| {
            let (client, from) = (client.clone(), from.clone());
            Box::pin(async move {
                if step != nth {
                    return ANSWERED;
                }
                let maps: Api<ConfigMap> = Api::namespaced(client, "freehold-system");
                let map = json!({
                    "metadata": {"name": take_over::CONFIG_MAP}, "data": {from.as_str(): "0"},
                });
                let map = serde_json::from_value(map).unwrap();
                maps.create(&PostParams::default(), &map).await.unwrap();
                HANGS
            })
        });
        let process = Process::disturbed(&world, confirms);
        let replica = world.replica_of(process.clone(), Settings::of("b"));
        let ready = async |name: &str| {
            world.made();
            let status = clusters.get(name).await.unwrap().status;
            let ready = status.and_then(|status| status.conditions.get("Ready").cloned());
            ready.is_some_and(|ready| ready.status == "True")
        };
        eventually("the new one is ready", async || ready("fresh").await).await;
        if process.steps() <= nth {
            replica.stop().await;
            break;
        }
        eventually("the restored one is ready", async || ready("demo").await).await;
        assert_eq!(world.made(), 2 * made, "{nth}");
        for name in ["demo", "fresh"] {
            let deleted = clusters.delete(name, &DeleteParams::default()).await;
            deleted.unwrap();
        }
        eventually("gone", async || {
            let left = clusters.list(&ListParams::default()).await.unwrap();
            world.made() == 0 && left.items.is_empty()
        })
        .await;
        replica.stop().await;
        nth += 1;
    }
    assert!(nth >= 8, "{nth} Steps");
}
