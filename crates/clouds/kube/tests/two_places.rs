//! An example: one claim in two places, a cloud account and a Kubernetes cluster, from its plan to its end.
//!
//! An object wants machines. For them there must be a network in AWS, and in a cluster the order for a
//! pool of machines, which a controller there works off. To the engine the order is a resource like the
//! network: it is planned, made, found by its mark, changed, given up and ended by the same rules.
//!
//! Read it from `blueprint` on; the tests below tell the story.
#![allow(
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test stops at the first surprise, in its helpers too"
)]

use std::collections::BTreeMap;
use std::sync::Arc;

use cloud_kube::Objects;
use cloud_port::aws::network::Network;
use cloud_port::aws::{
    self, instance_profile, internet_gateway, role, security_group, subnet, vpc,
};
use cloud_port::driver::{Driver, InMemory, NoJournal, PassEnd, Plan, Report, Rested, Term};
use cloud_port::kube::{self as words, Field, ObjectKind, Ready, Seen, Shape};
use cloud_port::{Inventory, Places};
use cloud_sim::{Account, Actor, Settings, SharedAccount, VirtualClock};
use embedded_kube::{Cluster, TokioClock};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Api, DynamicObject, Patch, PatchParams, PostParams};
use kube::core::ApiResource;
use ownership::blueprint::{Asked, Expr, Family};
use ownership::decide::{Case, Evidence, Phase};
use ownership::kind::{Change, PropRule};
use ownership::mark::Dialect;
use ownership::{
    Blueprint, Claim, Freehold, Holder, Identity, Kind, KindAt, Place, Sightings, Slot, SlotName,
};
use serde_json::{Value, json};

// What sorts of objects there are: tables, and no code.

static SPACE_KIND: Kind = Kind {
    name: "kube/namespace",
    noun: "namespace",
    ..words::CLUSTER_WIDE
};

static SPACE: ObjectKind = ObjectKind {
    kind: &SPACE_KIND,
    api_version: "v1",
    object: "Namespace",
    plural: "namespaces",
    fields: &[],
    ready: Ready::AtOnce,
    seen: Seen::Managed,
};

static SETTINGS_KIND: Kind = Kind {
    name: "kube/config-map",
    noun: "config map",
    props: &[
        words::IN_NAMESPACE,
        in_place("network"),
        in_place("subnets"),
    ],
    ..words::NAMESPACED
};

static SETTINGS: ObjectKind = ObjectKind {
    kind: &SETTINGS_KIND,
    api_version: "v1",
    object: "ConfigMap",
    plural: "configmaps",
    fields: &[
        text("network", "/data/network"),
        text("subnets", "/data/subnets"),
    ],
    ready: Ready::AtOnce,
    seen: Seen::Managed,
};

static POOL_KIND: Kind = Kind {
    name: "kube/machine-pool",
    noun: "machine pool",
    props: &[
        words::IN_NAMESPACE,
        words::OWNED,
        in_place("machines"),
        in_place("subnet"),
        in_place("profile"),
        PropRule {
            name: "endpoint",
            change: Change::Given,
        },
    ],
    ..words::NAMESPACED
};

static POOL: ObjectKind = ObjectKind {
    kind: &POOL_KIND,
    api_version: "machines.example.org/v1",
    object: "MachinePool",
    plural: "machinepools",
    fields: &[
        Field {
            prop: "machines",
            at: "/spec/machines",
            shape: Shape::Integer,
        },
        text("subnet", "/spec/subnet"),
        text("profile", "/spec/profile"),
        text("endpoint", "/status/endpoint"),
    ],
    ready: Ready::Condition {
        is: "Ready",
        fails: &[],
    },
    seen: Seen::Managed,
};

const OBJECTS: [&ObjectKind; 3] = [&SPACE, &SETTINGS, &POOL];

const fn in_place(name: &'static str) -> PropRule {
    let change = Change::InPlace;
    PropRule { name, change }
}

const fn text(prop: &'static str, at: &'static str) -> Field {
    let shape = Shape::Text;
    Field { prop, at, shape }
}

/// What the author of the object writes.
struct Spec {
    zones: &'static [&'static str],
    machines: u8,
    pool: bool,
}

/// What the object wants: with two zones and a pool ten slots, seven in the account and three in the
/// cluster.
fn blueprint(spec: &Spec) -> Blueprint {
    let id = |slot: &str| Expr::Slot(name(slot));
    let mut slots = vec![
        vpc::Vpc {
            cidr: network("10.0.0.0/16"),
            dns_support: true,
            dns_hostnames: false,
        }
        .slot(name("network"))
        .unwrap(),
        internet_gateway::InternetGateway { vpc: id("network") }.slot(name("gateway")),
        security_group::SecurityGroup {
            name: "shop-machines".into(),
            description: "machines of the shop".into(),
            vpc: id("network"),
            rules: Vec::new(),
            groups: Vec::new(),
        }
        .slot(name("firewall"))
        .unwrap(),
        role::Role {
            name: "shop-machines".into(),
            trust: TRUST.into(),
            inline: Vec::new(),
            attached: Vec::new(),
        }
        .slot(name("role"))
        .unwrap(),
        instance_profile::InstanceProfile {
            name: "shop-machines".into(),
            role: id("role"),
        }
        .slot(name("profile"))
        .unwrap(),
    ];
    for (at, zone) in spec.zones.iter().enumerate() {
        let mut zoned = Slot::own(name(&format!("subnet-{zone}")), &subnet::SUBNET, "");
        zoned.props = vec![
            ("vpc", id("network")),
            ("cidr", Expr::Text(format!("10.0.{at}.0/24").into())),
            ("zone", Expr::Text(format!("zone-{zone}").into())),
        ];
        slots.push(zoned);
    }

    // What is in the cluster refers to what is in the account like anything else.
    let in_cluster = |slot: Slot| slot.at(&cluster());
    slots.push(in_cluster(Slot::own(name("space"), &SPACE_KIND, "shop")));
    let subnets = spec.zones.iter().map(|zone| id(&format!("subnet-{zone}")));
    let joined = subnets.flat_map(|subnet| [" ".into(), subnet]).skip(1);
    let mut settings = Slot::own(name("settings"), &SETTINGS_KIND, "machines");
    settings.props = vec![
        (words::NAMESPACE, "shop".into()),
        ("network", id("network")),
        ("subnets", Expr::join(joined)),
    ];
    settings.after.push(name("space"));
    slots.push(in_cluster(settings));
    let mut pool = Slot::own(name("pool"), &POOL_KIND, "machines");
    pool.props = vec![
        (words::NAMESPACE, "shop".into()),
        (words::OWNER, words::owner(&SETTINGS, id("settings"))),
        ("machines", Expr::Text(spec.machines.to_string().into())),
        ("subnet", id("subnet-a")),
        ("profile", id("profile")),
    ];
    if spec.pool {
        slots.push(in_cluster(pool));
    }
    Blueprint::new(slots).unwrap().within(FAMILIES, 1)
}

/// What may be given up while the object lives: what its author asked for and does not any more.
const FAMILIES: &[Family] = &[
    Family {
        name: "subnet-",
        asked: Asked::BySpec,
    },
    Family {
        name: "pool",
        asked: Asked::BySpec,
    },
];

const TRUST: &str = r#"{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"sts:AssumeRole","Principal":{"Service":"ec2.amazonaws.com"}}]}"#;

const WHOLE: Spec = Spec {
    zones: &["a", "b"],
    machines: 3,
    pool: true,
};

#[tokio::test]
async fn ten_slots_in_two_places_are_planned_made_changed_shrunk_and_ended() {
    let mut shop = Shop::new().await;

    // Planned: what would be done, and nothing is.
    let plan = shop.plan(&WHOLE).await;
    let creates: Vec<String> = plan
        .steps()
        .filter(|planned| planned.step.verb() == "create")
        .map(|planned| planned.step.place().to_string())
        .collect();
    assert_eq!(creates.len(), 10);
    let there = creates.iter().filter(|place| *place == " in machines");
    assert_eq!(there.count(), 3);
    assert_eq!((shop.in_account(), shop.in_cluster().await), (0, 0));

    // Made: all but the machines, which their controller has to start. Nothing else waits for it.
    assert!(matches!(shop.visit(&WHOLE).await, PassEnd::Wait(..)));
    assert_eq!((shop.in_account(), shop.in_cluster().await), (7, 3));
    shop.start_machines("10.0.0.7").await;
    let report = shop.rest(&WHOLE).await;
    assert_eq!((report.filled.len(), report.findings.len()), (10, 0));

    // What is in the cluster names what is in the account, and who it belongs to.
    let pool = shop.pool().await.unwrap();
    let subnets = shop.subnets();
    assert_eq!(pool["spec"]["subnet"], subnets[0]);
    assert_eq!(pool["metadata"]["ownerReferences"][0]["name"], "machines");
    let settings = shop.object(&SETTINGS, "machines").await.unwrap();
    assert_eq!(settings["data"]["subnets"], subnets.join(" "));
    // What the controller tells of the machines can be read like any property.
    let endpoint = report
        .filled
        .iter()
        .find(|filled| filled.slot == name("pool"));
    let endpoint = endpoint.unwrap().props.get("endpoint").unwrap();
    assert_eq!(&**endpoint, "10.0.0.7");

    // Of objects nothing is recorded: however many there are, name and mark tell all.
    let recorded = shop.ledger.0.known.keys();
    assert!(recorded.clone().count() > 0);
    assert!(recorded.clone().all(|target| target.place == Place::HOME));
    assert!(
        shop.ledger
            .0
            .attempts
            .keys()
            .all(|slot| slot.as_str() != "pool")
    );

    // At rest nothing is written, in either place.
    let (version, writes) = (shop.version().await, shop.writes());
    shop.rest(&WHOLE).await;
    assert_eq!((shop.version().await, shop.writes()), (version, writes));

    // Changed: in place, and only what is wished for. What others wrote beside it stays.
    shop.annotate("note", "do not touch").await;
    let more = Spec {
        machines: 5,
        ..WHOLE
    };
    shop.visit(&more).await;
    let pool = shop.pool().await.unwrap();
    assert_eq!(pool["spec"]["machines"], 5);
    assert_eq!(pool["metadata"]["annotations"]["note"], "do not touch");

    // Shrunk: a zone less, and no machines; first what refers to them has changed.
    let less = Spec {
        zones: &["a"],
        machines: 5,
        pool: false,
    };
    shop.rest(&less).await;
    assert_eq!(shop.pool().await, None);
    assert_eq!((shop.in_account(), shop.in_cluster().await), (6, 2));
    let settings = shop.object(&SETTINGS, "machines").await.unwrap();
    assert_eq!(settings["data"]["subnets"], shop.subnets()[0]);

    // Ended: in both places nothing of it is left.
    shop.end(&less).await;
    assert_eq!((shop.in_account(), shop.in_cluster().await), (0, 0));
}

#[tokio::test]
async fn what_somebody_else_has_in_the_cluster_is_told_and_left() {
    let mut shop = Shop::new().await;
    let theirs = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}});
    shop.by_hand(&SPACE, theirs).await;
    let report = shop.rest(&WHOLE).await;
    let told: Vec<String> = report.findings.iter().map(ToString::to_string).collect();
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(
        told[0].contains("shop") && told[0].contains("in machines"),
        "{told:?}"
    );
    // What does not need it is there.
    assert_eq!((shop.in_account(), shop.in_cluster().await), (7, 0));
    shop.end(&WHOLE).await;
    assert!(shop.object(&SPACE, "shop").await.is_some());
    assert_eq!(shop.in_account(), 0);
}

#[tokio::test]
async fn the_ledger_does_not_grow_with_the_number_of_objects() {
    let mut shop = Shop::new().await;
    let settings = |number: usize| {
        let mut slot = Slot::own(
            name(&format!("settings-{number}")),
            &SETTINGS_KIND,
            format!("settings-{number}"),
        );
        slot.props = vec![
            (words::NAMESPACE, "default".into()),
            ("network", "none".into()),
        ];
        slot.at(&cluster())
    };
    let family = Family {
        name: "settings-",
        asked: Asked::BySpec,
    };
    let wanted = |count| {
        let slots = (0..count).map(settings).collect();
        let families = Box::leak(Box::new([family]));
        Blueprint::new(slots).unwrap().within(families, 1)
    };
    let mut ledgers = Vec::new();
    for count in [1, 40] {
        let report = shop.settle(&wanted(count)).await;
        assert_eq!(
            (report.filled.len(), shop.in_cluster().await),
            (count, count)
        );
        ledgers.push(shop.ledger.0.clone());
    }
    let (one, many) = (&ledgers[0], &ledgers[1]);
    assert_eq!((one.known.len(), many.known.len()), (0, 0));
    assert_eq!((one.calls.len(), many.calls.len()), (0, 0));
    assert_eq!((&one.ids, &one.attempts), (&many.ids, &many.attempts));
    // And yet those that are not wanted any more are found.
    shop.settle(&wanted(2)).await;
    assert_eq!(shop.in_cluster().await, 2);
}

/// The object of the example, its two places, and what remembers between two visits.
struct Shop {
    account: SharedAccount,
    client: kube::Client,
    places: Places<SharedAccount>,
    clock: VirtualClock,
    identity: Identity,
    kinds: Vec<KindAt>,
    ledger: InMemory,
    sightings: Sightings,
    rested: Rested,
}

impl Shop {
    async fn new() -> Self {
        let clock = VirtualClock::new();
        let account = Account::new(Settings::default(), clock.clone());
        let account = SharedAccount::new(account, Actor::Engine(0));
        let start = "2026-11-19T04:00:00Z".parse().unwrap();
        let client = Cluster::new(Arc::new(TokioClock::starting_at(start))).client();
        let definitions: Api<CustomResourceDefinition> = Api::all(client.clone());
        let params = PostParams::default();
        definitions.create(&params, &definition()).await.unwrap();

        // Each place has an inventory, which all claims there share.
        let home = Arc::new(Inventory::new(account.clone(), &aws::KINDS));
        let objects = Objects::new(client.clone(), &OBJECTS);
        let object_kinds = objects.kinds();
        let there = Arc::new(Inventory::new(objects, &object_kinds));
        let places = Places::from(home).and(cluster(), "cluster machines", there);

        // What may be the claim's, and where: its end looks for all of it.
        let mut kinds = KindAt::home(&aws::KINDS);
        kinds.extend(KindAt::all(&cluster(), &object_kinds));
        let uuid = "2f0c9a3e-6f4b-4d6e-9c1a-8b7d5e3f1a20";
        Self {
            account,
            client,
            places,
            clock,
            identity: Identity {
                claim: Claim::new("Shop.example.org", "default", "shop", uuid).unwrap(),
                holder: Holder::of_cluster("management"),
                taken_over: BTreeMap::new(),
                dialect: Dialect::Plain,
            },
            kinds,
            ledger: InMemory::default(),
            sightings: Sightings::new(),
            rested: Rested::default(),
        }
    }

    async fn plan(&self, spec: &Spec) -> Plan {
        let (evidence, blueprint) = (Evidence::default(), blueprint(spec));
        let case = self.case(&blueprint, &evidence, Phase::Live);
        self.driver().plan(&case, &self.ledger.0).await.unwrap()
    }

    /// One visit, as the operator makes it.
    async fn visit(&mut self, spec: &Spec) -> PassEnd {
        self.pass(&blueprint(spec), Phase::Live).await
    }

    /// Visits until nothing is left to do.
    async fn rest(&mut self, spec: &Spec) -> Report {
        self.settle(&blueprint(spec)).await
    }

    async fn settle(&mut self, blueprint: &Blueprint) -> Report {
        for _ in 0..50 {
            match self.pass(blueprint, Phase::Live).await {
                PassEnd::Rest(report, None) => return report,
                PassEnd::Rest(_, Some(until)) | PassEnd::Wait(until, ..) => self.wait(until),
                other => panic!("{other:?}"),
            }
        }
        panic!("it does not come to rest");
    }

    async fn end(&mut self, spec: &Spec) {
        for _ in 0..50 {
            match self.pass(&blueprint(spec), Phase::Ending).await {
                PassEnd::Done(_) => return,
                PassEnd::Wait(until, ..) => self.wait(until),
                other => panic!("{other:?}"),
            }
        }
        panic!("it does not end");
    }

    async fn pass(&mut self, blueprint: &Blueprint, phase: Phase) -> PassEnd {
        let evidence = Evidence::default();
        let case = Case {
            identity: &self.identity,
            blueprint,
            evidence: &evidence,
            kinds: &self.kinds,
            phase,
        };
        let driver = Driver {
            rules: &Freehold,
            cloud: &self.places,
            clock: &self.clock,
            term: Term::alone(),
        };
        let (ledger, sightings) = (&mut self.ledger, &mut self.sightings);
        let rested = &mut self.rested;
        driver
            .visit(&case, ledger, sightings, rested, &mut NoJournal)
            .await
    }

    fn case<'a>(
        &'a self,
        blueprint: &'a Blueprint,
        evidence: &'a Evidence,
        phase: Phase,
    ) -> Case<'a> {
        Case {
            identity: &self.identity,
            blueprint,
            evidence,
            kinds: &self.kinds,
            phase,
        }
    }

    fn driver(&self) -> Driver<'_, Places<SharedAccount>, VirtualClock> {
        Driver {
            rules: &Freehold,
            cloud: &self.places,
            clock: &self.clock,
            term: Term::alone(),
        }
    }

    fn wait(&self, until: ownership::time::Tick) {
        self.clock.advance(until - self.clock.now());
    }

    /// How many resources of ours there are in the account.
    fn in_account(&self) -> usize {
        let account = self.account.lock();
        let ours = |life: &&cloud_sim::Life| life.is_alive() && life.by == Actor::Engine(0);
        account.lives().filter(ours).count()
    }

    fn writes(&self) -> u64 {
        self.account.lock().counters().writes()
    }

    /// The ids of our subnets, by zone.
    fn subnets(&self) -> Vec<String> {
        let account = self.account.lock();
        let ours = account.lives().filter(|life| {
            life.is_alive() && life.by == Actor::Engine(0) && life.target.kind == &subnet::SUBNET
        });
        let mut ids: Vec<_> = ours
            .map(|life| (life.slot.clone(), life.target.id.to_string()))
            .collect();
        ids.sort();
        ids.into_iter().map(|(_, id)| id).collect()
    }

    /// How many objects of ours there are in the cluster.
    async fn in_cluster(&self) -> usize {
        let key = self.identity.key(&SPACE_KIND);
        let asked = kube::api::ListParams::default().labels(&key);
        let mut count = 0;
        for kind in OBJECTS {
            count += self.api(kind, None).list(&asked).await.unwrap().items.len();
        }
        count
    }

    async fn object(&self, kind: &ObjectKind, name: &str) -> Option<Value> {
        let api = self.api(kind, Some("shop"));
        let found = api.get_opt(name).await.unwrap();
        found.map(|object| serde_json::to_value(object).unwrap())
    }

    async fn pool(&self) -> Option<Value> {
        self.object(&POOL, "machines").await
    }

    /// What changes with every write to the order for machines.
    async fn version(&self) -> String {
        let pool = self.pool().await.unwrap();
        pool["metadata"]["resourceVersion"].to_string()
    }

    /// The controller in the cluster has started the machines.
    async fn start_machines(&self, endpoint: &str) {
        let status = json!({"status": {"endpoint": endpoint, "conditions": [
            {"type": "Ready", "status": "True", "reason": "Started", "message": "",
             "lastTransitionTime": "2026-11-19T04:00:00Z"}]}});
        let (params, patch) = (PatchParams::default(), Patch::Merge(status));
        let api = self.api(&POOL, Some("shop"));
        let written = api.patch_status("machines", &params, &patch);
        written.await.unwrap();
    }

    /// Somebody writes a note on the order for machines.
    async fn annotate(&self, key: &str, note: &str) {
        let patch = Patch::Merge(json!({"metadata": {"annotations": {key: note}}}));
        let api = self.api(&POOL, Some("shop"));
        api.patch("machines", &PatchParams::default(), &patch)
            .await
            .unwrap();
    }

    async fn by_hand(&self, kind: &ObjectKind, object: Value) {
        let object = serde_json::from_value(object).unwrap();
        let params = PostParams::default();
        self.api(kind, None).create(&params, &object).await.unwrap();
    }

    fn api(&self, kind: &ObjectKind, namespace: Option<&str>) -> Api<DynamicObject> {
        let (group, version) = kind
            .api_version
            .split_once('/')
            .unwrap_or(("", kind.api_version));
        let resource = ApiResource {
            group: group.to_owned(),
            version: version.to_owned(),
            api_version: kind.api_version.to_owned(),
            kind: kind.object.to_owned(),
            plural: kind.plural.to_owned(),
        };
        match namespace.filter(|_| kind.is_namespaced()) {
            Some(namespace) => Api::namespaced_with(self.client.clone(), namespace, &resource),
            None => Api::all_with(self.client.clone(), &resource),
        }
    }
}

/// What the claim calls the cluster.
fn cluster() -> Place {
    Place::named("machines").unwrap()
}

fn name(slot: &str) -> SlotName {
    SlotName::new(slot).unwrap()
}

fn network(range: &str) -> Network {
    Network::parse("range", range).unwrap()
}

/// The order for machines, as its controller defines it.
fn definition() -> CustomResourceDefinition {
    let text = json!({"type": "string"});
    let spec = json!({"machines": {"type": "integer"}, "subnet": text, "profile": text});
    let schema = json!({"type": "object", "properties": {
        "spec": {"type": "object", "properties": spec},
        "status": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
    }});
    let definition = json!({
        "metadata": {"name": "machinepools.machines.example.org"},
        "spec": {
            "group": "machines.example.org",
            "names": {"plural": "machinepools", "singular": "machinepool", "kind": "MachinePool",
                      "listKind": "MachinePoolList"},
            "scope": "Namespaced",
            "versions": [{"name": "v1", "served": true, "storage": true,
                          "schema": {"openAPIV3Schema": schema}, "subresources": {"status": {}}}],
        },
    });
    serde_json::from_value(definition).unwrap()
}

// Where two things meet.

/// The settings, and whose they are; and a second slot that depends on nothing.
fn settings_of(owner: Option<Expr>, name_of: &str) -> Blueprint {
    let mut slot = Slot::own(name("settings"), &POOL_KIND, name_of);
    slot.props = vec![
        (words::NAMESPACE, "default".into()),
        ("machines", "1".into()),
        ("subnet", "none".into()),
        ("profile", "none".into()),
    ];
    slot.props.extend(owner.map(|owner| (words::OWNER, owner)));
    Blueprint::new(vec![slot.at(&cluster())])
        .unwrap()
        .within(FAMILIES, 1)
}

/// Law 1, law 2: a person copies an object of ours, labels and all, under a name that comes before it. A
/// create of ours has the name that we give: the original is kept, and what has another name is no twin.
#[tokio::test]
async fn law_2_a_copy_with_our_labels_does_not_replace_the_original() {
    let mut shop = Shop::new().await;
    let settings = |label: &str| {
        let mut slot = Slot::own(name("settings"), &SETTINGS_KIND, label);
        slot.props = vec![
            (words::NAMESPACE, "default".into()),
            ("network", "none".into()),
        ];
        slot.at(&cluster())
    };
    let wanted = Blueprint::new(vec![settings("web")])
        .unwrap()
        .within(FAMILIES, 1);
    shop.settle(&wanted).await;
    let api = shop.api(&SETTINGS, Some("default"));
    let original = api.get("web").await.unwrap();
    let mut copy = serde_json::to_value(&original).unwrap();
    copy["metadata"] = json!({"name": "a-web", "namespace": "default",
        "labels": copy["metadata"]["labels"], "annotations": copy["metadata"]["annotations"]});
    let copy = serde_json::from_value(copy).unwrap();
    api.create(&PostParams::default(), &copy).await.unwrap();
    shop.clock.advance(ownership::time::Millis::seconds(3600));
    shop.settle(&wanted).await;
    shop.rested = Rested::default();
    shop.settle(&wanted).await;
    let left = api.get_opt("web").await.unwrap();
    let uid = left.and_then(|left| left.metadata.uid);
    assert_eq!(
        uid, original.metadata.uid,
        "law 2: the copy is kept, the original gone"
    );
    assert!(api.get_opt("a-web").await.unwrap().is_some(), "law 1");
}

/// Law 3 (`honours_retain`): what is given back must outlive the object. A controlling reference to the
/// object is a trace of ours with which the cluster's garbage collection takes it along.
#[tokio::test]
async fn law_3_what_is_retained_has_no_reference_to_its_object() {
    let mut shop = Shop::new().await;
    // The claim's own object.
    let object = json!({"apiVersion": "v1", "kind": "ConfigMap",
                        "metadata": {"name": "object", "namespace": "default"}});
    let api = shop.api(&SETTINGS, Some("default"));
    let object = serde_json::from_value(object).unwrap();
    let object = api.create(&PostParams::default(), &object).await.unwrap();
    let id = format!("default/object/{}", object.metadata.uid.unwrap());
    let owner = words::owner(&SETTINGS, Expr::Text(id.into()));
    let wanted = settings_of(Some(owner), "machines");
    shop.pass(&wanted, Phase::Live).await;
    let pools = shop.api(&POOL, Some("default"));
    let made = pools.get("machines").await.unwrap();
    assert!(made.metadata.owner_references.is_some());
    for _ in 0..50 {
        match shop.pass(&wanted, Phase::Retaining).await {
            PassEnd::Done(report) => {
                println!("{:?}", report.findings);
                break;
            }
            PassEnd::Wait(until, ..) => shop.wait(until),
            other => panic!("{other:?}"),
        }
    }
    let left = pools.get("machines").await.unwrap();
    let owners = left.metadata.owner_references.unwrap_or_default();
    assert!(owners.is_empty(), "law 3: {owners:?}");
}

/// Law 1: at the end, too, what a person copied, labels and all, is his.
#[tokio::test]
async fn law_1_a_copy_with_our_labels_outlives_the_claim() {
    let mut shop = Shop::new().await;
    let wanted = settings_of(None, "machines");
    shop.pass(&wanted, Phase::Live).await;
    let api = shop.api(&POOL, Some("default"));
    let original = api.get("machines").await.unwrap();
    let mut copy = serde_json::to_value(&original).unwrap();
    copy["metadata"] = json!({"name": "his", "namespace": "default",
        "labels": copy["metadata"]["labels"], "annotations": copy["metadata"]["annotations"]});
    let copy = serde_json::from_value(copy).unwrap();
    api.create(&PostParams::default(), &copy).await.unwrap();
    for _ in 0..50 {
        match shop.pass(&wanted, Phase::Ending).await {
            PassEnd::Done(_) => break,
            PassEnd::Wait(until, ..) => shop.wait(until),
            other => panic!("{other:?}"),
        }
    }
    assert!(api.get_opt("his").await.unwrap().is_some(), "law 1");
}
