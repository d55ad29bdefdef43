//! A whole network: an `AWSCluster` as people are shown it, and what controllers left behind in it.

use api::capa::{AwsCluster, OwnerCluster};
use cloud_port::aws::security_group::RULE;
use controllers::capa;
use ownership::part::InnerPart;

use super::*;

const NAMESPACE: &str = "default";

impl World {
    fn networks(&self) -> Api<AwsCluster> {
        Api::namespaced(self.client.clone(), NAMESPACE)
    }

    async fn network(&self) -> Value {
        let network = self.networks().get_opt(DEMO).await.unwrap();
        serde_json::to_value(network).unwrap()
    }

    /// An owner, and the network that it owns.
    async fn create_network(&self) {
        let definitions = &api::manifests::CAPA_DEFINITIONS;
        api::manifests::install_all(self.client.clone(), definitions)
            .await
            .unwrap();
        let owners: Api<OwnerCluster> = Api::namespaced(self.client.clone(), NAMESPACE);
        let owner = serde_json::from_value(json!({"metadata": {"name": DEMO}})).unwrap();
        let owner = owners.create(&PostParams::default(), &owner).await.unwrap();
        let owner = json!([{
            "apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Cluster", "name": DEMO,
            "uid": owner.uid().unwrap(),
        }]);
        let network = json!({
            "apiVersion": "infrastructure.cluster.x-k8s.io/v1beta2", "kind": "AWSCluster",
            "metadata": {"name": DEMO, "ownerReferences": owner},
            "spec": {
                "region": "eu-central-1",
                "network": {"vpc": {"availabilityZoneUsageLimit": 2}},
            },
        });
        self.create(self.networks(), network).await;
    }

    /// What `explain` and `tree` say of it.
    async fn network_seen(&self) -> (String, String) {
        let which = Which {
            name: Some(DEMO),
            namespace: Some(NAMESPACE),
        };
        let (client, whose) = (self.client.clone(), self.whose().await);
        let seen = look::texts(
            &capa::ENTRY,
            &self.accounts,
            client,
            self.clock,
            whose,
            which,
        );
        seen.await.unwrap()
    }

    /// Groups of a cloud controller's in the network, which admit each other.
    async fn leave_behind(&self) -> [Target; 2] {
        let vpc = self.network().await["spec"]["network"]["vpc"]["id"].take();
        let vpc = vpc.as_str().unwrap();
        let key = format!("kubernetes.io/cluster/{DEMO}");
        let tags: Tags = [(key.into(), "owned".into())].into_iter().collect();
        let mut account = self.accounts.account().lock();
        let groups = ["k8s-elb-one", "k8s-elb-two"].map(|name| {
            let props = [("vpc", vpc.into()), ("description", name.into())];
            let props: Props = props.into_iter().collect();
            let group = account.plant(Actor::Stranger, &SECURITY_GROUP, name, &props, &tags);
            group.unwrap()
        });
        let [one, two] = &groups;
        for (to, from) in [(one, two), (two, one)] {
            let rule = format!("ingress tcp 80-80 {}", from.id);
            let rule = InnerPart::new(rule, "", Tags::new());
            let added = account.add_parts(Actor::Stranger, to, RULE, &[rule]);
            added.unwrap();
        }
        groups
    }

    async fn annotate_network(&self, annotations: Value) {
        let patch = Patch::Merge(json!({"metadata": {"annotations": annotations}}));
        let patched = self
            .networks()
            .patch(DEMO, &PatchParams::default(), &patch)
            .await;
        patched.unwrap();
    }

    async fn network_says(&self, kind: &str) -> Option<String> {
        let network = self.network().await;
        let conditions = network["status"]["conditions"].as_array()?.clone();
        let mut its = conditions.iter().filter(|it| it["type"] == kind);
        let condition = its.find(|it| it["status"] == "True")?;
        Some(condition["message"].as_str()?.to_owned())
    }
}

#[tokio::test(start_paused = true)]
async fn what_was_left_behind_is_shown_before_it_goes() {
    let world = World::with_kinds().await;
    world.create_network().await;
    let settings = Settings {
        systems: vec![&capa::ENTRY],
        ..Settings::of("a")
    };
    let replica = world.replica_of(world.accounts.clone(), settings);
    eventually("ready", async || {
        world.network().await["status"]["ready"] == true
    })
    .await;
    let (explained, tree) = world.network_seen().await;
    for words in [
        "AWSCluster default/demo",
        "slot vpc (VPC)\n  VPC vpc-",
        "slot nat-",
        "slot api-lb (classic load balancer)",
    ] {
        assert!(explained.contains(words), "{words}\n{explained}");
    }
    for words in [
        "AWSCluster default/demo",
        "classic load balancer default-demo-apiserver Owned by its mark: slot api-lb, attempt 1",
        "listener tcp 6443 tcp 6443 Owned inside what we own",
    ] {
        assert!(flat(&tree).contains(words), "{words}\n{tree}");
    }

    let groups = world.leave_behind().await;
    let networks = world.networks();
    let deleted = networks.delete(DEMO, &DeleteParams::default()).await;
    deleted.unwrap();
    eventually("blocked", async || {
        world.network_says("Blocked").await.is_some()
    })
    .await;
    sleep(Duration::from_mins(5)).await;
    let told = world.network_says("Blocked").await.unwrap();
    let (explained, _) = world.network_seen().await;
    for group in &groups {
        for text in [&told, &explained] {
            assert!(text.contains(group.id.as_str()), "{text}");
        }
    }
    let way_out = "set the annotation freehold.dev/left-behind to delete";
    assert!(told.contains(way_out), "{told}");
    assert!(explained.contains(way_out), "{explained}");

    // The plan, before anything is done.
    world
        .annotate_network(json!({
            "freehold.dev/management": "observe", "freehold.dev/left-behind": "delete",
        }))
        .await;
    let (explained, _) = world.network_seen().await;
    for group in &groups {
        let would = format!("would: delete security group {}", group.id);
        assert!(explained.contains(&would), "{would}\n{explained}");
    }
    let because = "because controllers inside the cluster left it behind in vpc-";
    assert!(explained.contains(because), "{explained}");
    {
        let account = world.accounts.account().lock();
        let there = groups.iter().all(|group| account.resource(group).is_some());
        assert!(there, "it is only looked at");
    }

    world
        .annotate_network(json!({"freehold.dev/management": null}))
        .await;
    eventually("gone", async || world.network().await.is_null()).await;
    {
        let account = world.accounts.account().lock();
        let gone = groups.iter().all(|group| account.resource(group).is_none());
        assert!(gone, "a person has asked for it");
    }
    replica.stop().await;
}
