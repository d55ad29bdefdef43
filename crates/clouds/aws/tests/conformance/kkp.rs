//! A whole KKP cluster, by the real engine and driver: made, at rest, repaired, ended. The Steps must
//! be the same on both clouds, and so must the calls that they come to.

use std::collections::{BTreeMap, BTreeSet};

use blueprints::kkp::{Cluster, IpFamily};
use cloud_aws::Place;
use cloud_port::aws::AwsPlace as _;
use cloud_port::aws::role::ROLE;
use cloud_port::driver::{Driver, Glance, InMemory, PassEnd, Report, Term};
use cloud_port::inventory::LIFE;
use cloud_port::{Cloud, Deadline, Inventory, Journal, Survey, aws};
use cloud_sim::VirtualClock;
use ownership::decide::{Case, Evidence, Phase};
use ownership::{
    Blueprint, Claim, CloudError, Freehold, Holder, Identity, KindAt, Ledger, Query, Reason,
    Sightings, Step,
};

use crate::clouds::{self, Moto};
use crate::raw::Raw;
use crate::steps::{TRUST, create, mark, part, props, target, text};

const NAME: &str = "prod";

/// A cluster on one of the clouds.
struct Run<'a, C> {
    cloud: &'a C,
    clock: VirtualClock,
    identity: Identity,
    blueprint: Blueprint,
    evidence: Evidence,
    ledger: InMemory,
    sightings: Sightings,
    steps: Steps,
}

impl<'a, C: Cloud> Run<'a, C> {
    fn new(cloud: &'a C, clock: VirtualClock, cluster: &Cluster) -> Self {
        let uuid = "6f1c2a34-9b5d-4e07-8a61-2d3c4b5a6f70";
        let ids = cluster.ids().expect("legal ids");
        Self {
            cloud,
            clock,
            identity: Identity {
                claim: Claim::new("Cluster.kubermatic.k8c.io", "", NAME, uuid).expect("legal"),
                holder: Holder::of_cluster("management"),
                taken_over: BTreeMap::new(),
                dialect: cluster.dialect(),
            },
            blueprint: cluster.blueprint().expect("a legal cluster"),
            evidence: Evidence::default(),
            ledger: InMemory(Ledger {
                ids,
                ..Ledger::default()
            }),
            sightings: Sightings::new(),
            steps: Steps::default(),
        }
    }

    /// Passes until there is nothing more to do. Returns the Steps.
    async fn converge(&mut self, phase: Phase) -> (Vec<String>, Report) {
        for _ in 0..100 {
            match self.pass(phase).await {
                PassEnd::Rest(report, _) => return (self.steps.take(), report),
                PassEnd::Done(_) => return (self.steps.take(), Report::default()),
                PassEnd::Wait(until, ..) => self.clock.advance(until - self.clock.now()),
                other => panic!("{other:?}\nafter {:#?}", self.steps.0),
            }
        }
        panic!("no rest after {:#?}", self.steps.0);
    }

    async fn pass(&mut self, phase: Phase) -> PassEnd {
        let case = Case {
            identity: &self.identity,
            blueprint: &self.blueprint,
            evidence: &self.evidence,
            kinds: &KindAt::home(&aws::KINDS),
            phase,
        };
        let driver = Driver {
            rules: &Freehold,
            cloud: self.cloud,
            clock: &self.clock,
            term: Term::alone(),
        };
        let pass = driver.pass(
            &case,
            &mut self.ledger,
            &mut self.sightings,
            &mut self.steps,
        );
        pass.await
    }
}

impl<C: Survey> Run<'_, Inventory<C>> {
    /// What the inventory shows of the cluster, if it is at rest.
    async fn glance(&self) -> Option<Report> {
        let case = Case {
            identity: &self.identity,
            blueprint: &self.blueprint,
            evidence: &self.evidence,
            kinds: &KindAt::home(&aws::KINDS),
            phase: Phase::Live,
        };
        let driver = Driver {
            rules: &Freehold,
            cloud: self.cloud,
            clock: &self.clock,
            term: Term::alone(),
        };
        let mut sightings = self.sightings.clone();
        let now = self.clock.now();
        let glance = driver.glance(&case, &self.ledger.0, &mut sightings, now);
        match glance.await.expect("the account is not asked too much") {
            Glance::Rest(report, _) => Some(report),
            Glance::Close(_) | Glance::Differs => None,
        }
    }
}

/// The Steps, in words without ids.
#[derive(Default)]
struct Steps(Vec<String>);

impl Steps {
    fn take(&mut self) -> Vec<String> {
        std::mem::take(&mut self.0)
    }
}

fn keys(parts: &[ownership::part::InnerPart]) -> String {
    let keys: Vec<_> = parts.iter().map(|part| &*part.key).collect();
    keys.join(", ")
}

impl Journal for Steps {
    fn step(&mut self, step: &Step, _: &Reason, outcome: Result<(), &CloudError>) {
        let detail = match step {
            Step::Create(create) => create.name.to_string(),
            Step::Mark { tags, .. } | Step::Unmark { tags, .. } => {
                let tags = tags.iter().map(|(k, v)| format!("{k}={v}"));
                tags.collect::<Vec<_>>().join(", ")
            }
            Step::AddInner { parts, .. } => keys(parts),
            Step::RemoveInner(removal) => keys(removal.parts()),
            Step::MarkInner(tags) | Step::UnmarkInner(tags) => keys(&tags.parts),
            Step::Update(update) => format!("{:?}", update.props()),
            Step::Delete(_) => String::new(),
        };
        let outcome = outcome.err().map(|error| format!(": {}", error.code));
        let (verb, kind, on) = (step.verb(), step.kind(), step.targets().len());
        let kind = kind.map_or("nothing", |kind| kind.name);
        self.0.push(format!(
            "{verb} {kind} ×{on} {detail}{}",
            outcome.unwrap_or_default()
        ));
    }
}

/// Runs a cluster through its life on both clouds. `visit` looks at moto past the adapter when the
/// cluster is at rest; at the end nothing of it may be left.
async fn live_and_end(cluster: Cluster, moto: &Moto, rest: impl AsyncFn(&Raw)) {
    let clock = VirtualClock::new();
    let account = clouds::simulated_on(clock.clone());
    let before = moto.set.calls().by_operation();
    let mut simulated = Run::new(&account, clock, &cluster);
    let mut real = Run::new(&*moto.set, VirtualClock::new(), &cluster);

    let (expected, report) = simulated.converge(Phase::Live).await;
    let (made, real_report) = real.converge(Phase::Live).await;
    assert_eq!(made, expected);
    assert!(!made.is_empty());
    assert_eq!(report.findings, []);
    assert_eq!(real_report.findings, []);
    assert_eq!(real_report.filled.len(), report.filled.len());
    rest(&moto.raw).await;

    let (again, _) = real.converge(Phase::Live).await;
    assert_eq!(again, Vec::<String>::new(), "law 8: rest is silent");
    simulated.converge(Phase::Live).await;

    let (expected, _) = simulated.converge(Phase::Ending).await;
    let (ended, _) = real.converge(Phase::Ending).await;
    assert_eq!(ended, expected);
    assert_gone(&moto.raw).await;

    let sim_calls: BTreeMap<String, u64> = account
        .lock()
        .counters()
        .iter()
        .map(|(op, n)| (op.name().to_owned(), n))
        .collect();
    assert_eq!(calls_since(moto, before), sim_calls, "the same calls");
}

fn calls_since(moto: &Moto, before: BTreeMap<String, u64>) -> BTreeMap<String, u64> {
    let mut calls = moto.set.calls().by_operation();
    for (operation, n) in before {
        let left = calls.get(&operation).copied().unwrap_or_default() - n;
        calls.insert(operation, left);
    }
    calls.retain(|_, n| *n > 0);
    calls
}

/// Nothing of the cluster is left, and no tag of it.
async fn assert_gone(raw: &Raw) {
    for beginning in ["freehold.dev/", "kubernetes.io/cluster/", "owned-by."] {
        assert_eq!(raw.tagged(beginning).await, BTreeSet::new());
    }
    let ours = format!("kubernetes-{NAME}");
    let named = |names: BTreeSet<String>| names.into_iter().filter(|n| n.starts_with(&ours));
    assert_eq!(named(raw.groups().await).count(), 0);
    assert_eq!(named(raw.roles().await).count(), 0);
    assert_eq!(named(raw.profiles().await).count(), 0);
}

fn set(texts: &[&str]) -> BTreeSet<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

async fn group_id(raw: &Raw, name: &str) -> String {
    let found = raw.ec2.describe_security_groups().send().await;
    let found = found.expect("DescribeSecurityGroups");
    let group = found
        .security_groups()
        .iter()
        .find(|g| g.group_name() == Some(name));
    group
        .and_then(|group| group.group_id())
        .expect(name)
        .to_owned()
}

#[tokio::test]
async fn a_cluster_that_leaves_everything_to_us() {
    let Some(moto) = clouds::moto().await else {
        return;
    };
    live_and_end(Cluster::new(NAME), &moto, async |raw| {
        assert_eq!(raw.groups().await, set(&["kubernetes-prod"]));
        let group = group_id(raw, "kubernetes-prod").await;
        let rules = raw.rules(&group).await;
        let expected = [
            &format!("-1 -1 -1 {group}"),
            "icmp -1 -1 0.0.0.0/0",
            "tcp 22 22 0.0.0.0/0",
            "tcp 30000 32767 0.0.0.0/0",
            "udp 30000 32767 0.0.0.0/0",
        ];
        assert_eq!(rules, set(&expected));
        let tags = raw.tags(&group).await;
        for tag in [
            "kubernetes.io/cluster/prod=",
            "owned-by.kubermatic.k8c.io/prod=",
        ] {
            assert!(tags.contains(tag), "{tags:?}");
        }
        assert!(
            tags.iter().any(|tag| tag.starts_with("freehold.dev/")),
            "{tags:?}"
        );
        assert_eq!(
            raw.roles().await,
            set(&["kubernetes-prod-control-plane", "kubernetes-prod-worker"])
        );
        for role in raw.roles().await {
            assert_eq!(raw.policies(&role).await, [role.as_str()]);
        }
        assert_eq!(
            raw.profiles().await,
            set(&["kubernetes-prod kubernetes-prod-worker"])
        );
        // The group, the main route table and three subnets.
        assert_eq!(raw.tagged("kubernetes.io/cluster/prod").await.len(), 5);
    })
    .await;
}

#[tokio::test]
async fn a_cluster_of_both_ip_families() {
    let Some(moto) = clouds::moto().await else {
        return;
    };
    let cluster = Cluster {
        ip_family: IpFamily::Dual,
        node_port_range: Some("31000-31999".to_owned()),
        node_ports_allowed: vec!["10.1.2.3/8".to_owned(), "2001:db8::1/32".to_owned()],
        ..Cluster::new(NAME)
    };
    live_and_end(cluster, &moto, async |raw| {
        let group = group_id(raw, "kubernetes-prod").await;
        let rules = raw.rules(&group).await;
        let expected = [
            &format!("-1 -1 -1 {group}"),
            "icmp -1 -1 0.0.0.0/0",
            "icmpv6 -1 -1 ::/0",
            "tcp 22 22 0.0.0.0/0",
            "tcp 22 22 ::/0",
            "tcp 31000 31999 10.0.0.0/8",
            "tcp 31000 31999 2001:db8::/32",
            "udp 31000 31999 10.0.0.0/8",
            "udp 31000 31999 2001:db8::/32",
        ];
        assert_eq!(rules, set(&expected));
    })
    .await;
}

#[tokio::test]
async fn a_cluster_without_iam() {
    let Some(moto) = clouds::moto().await else {
        return;
    };
    let cluster = Cluster {
        disable_iam: true,
        ..Cluster::new(NAME)
    };
    live_and_end(cluster, &moto, async |raw| {
        assert_eq!(raw.roles().await, BTreeSet::new());
        assert_eq!(raw.profiles().await, BTreeSet::new());
    })
    .await;
}

/// Somebody else's group, role and profile, which the cluster is told to use, and their own rules,
/// tags and policies.
async fn move_in(cloud: &impl Cloud, vpc: &str) -> String {
    let with = [("vpc", vpc), ("description", "theirs")];
    let group = create(
        &aws::security_group::SECURITY_GROUP,
        "shared",
        &with,
        &[("team", "a")],
    );
    let born = cloud
        .perform(&Step::Create(group), Deadline::never())
        .await
        .expect("created")
        .born;
    let id = born.expect("born").id.as_str().to_owned();
    let on = target(&aws::security_group::SECURITY_GROUP, &id);
    let ssh = part("ingress tcp 22-22 0.0.0.0/0", "", &[]);
    let web = part("ingress tcp 443-443 0.0.0.0/0", "", &[]);
    let rules = Step::AddInner {
        target: on.clone(),
        inner: aws::security_group::RULE,
        parts: vec![ssh, web],
    };
    cloud
        .perform(&rules, Deadline::never())
        .await
        .expect("added");
    cloud
        .perform(
            &mark(&[&on], &[("kubernetes.io/cluster/other", "")]),
            Deadline::never(),
        )
        .await
        .expect("marked");
    let role = create(
        &aws::role::ROLE,
        "theirs",
        &[("trust", TRUST)],
        &[("team", "a")],
    );
    cloud
        .perform(&Step::Create(role), Deadline::never())
        .await
        .expect("created");
    let profile = create(&aws::instance_profile::INSTANCE_PROFILE, "theirs", &[], &[]);
    cloud
        .perform(&Step::Create(profile), Deadline::never())
        .await
        .expect("created");
    id
}

async fn default_vpc(cloud: &impl Cloud) -> String {
    let query = ownership::Query::Match {
        place: ownership::Place::HOME,
        kind: &aws::vpc::VPC,
        name: text(""),
        props: props(&[("default", "true")]),
    };
    let answer = cloud.read(&query).await.expect("an answer");
    answer.resources[0].id.as_str().to_owned()
}

#[tokio::test]
async fn what_is_only_used_keeps_what_was_there() {
    let Some(moto) = clouds::moto().await else {
        return;
    };
    let clock = VirtualClock::new();
    let account = clouds::simulated_on(clock.clone());
    let (sim_vpc, vpc) = (default_vpc(&account).await, default_vpc(&*moto.set).await);
    let (sim_group, group) = (
        move_in(&account, &sim_vpc).await,
        move_in(&*moto.set, &vpc).await,
    );
    let before = (
        moto.raw.rules(&group).await,
        moto.raw.tags(&group).await,
        moto.raw.role_tags("theirs").await,
    );
    let cluster = |group: &str| Cluster {
        security_group_id: Some(group.to_owned()),
        role: Some("theirs".to_owned()),
        instance_profile: Some("theirs".to_owned()),
        ..Cluster::new(NAME)
    };
    let mut simulated = Run::new(&account, clock, &cluster(&sim_group));
    let mut real = Run::new(&*moto.set, VirtualClock::new(), &cluster(&group));
    let (expected, _) = simulated.converge(Phase::Live).await;
    let (made, report) = real.converge(Phase::Live).await;
    assert_eq!(made, expected);
    assert_eq!(report.findings, []);
    assert_eq!(
        moto.raw.rules(&group).await.len(),
        6,
        "four of ours beside two of theirs"
    );
    assert!(
        moto.raw
            .tags(&group)
            .await
            .contains("kubernetes.io/cluster/prod=")
    );
    assert_eq!(
        moto.raw.policies("theirs").await,
        ["kubernetes-prod-control-plane"]
    );
    assert_eq!(moto.raw.groups().await, set(&["shared"]));
    let (again, _) = real.converge(Phase::Live).await;
    assert_eq!(again, Vec::<String>::new(), "law 8: rest is silent");

    simulated.converge(Phase::Live).await;
    let (expected, _) = simulated.converge(Phase::Ending).await;
    let (ended, _) = real.converge(Phase::Ending).await;
    assert_eq!(ended, expected);
    let after = (
        moto.raw.rules(&group).await,
        moto.raw.tags(&group).await,
        moto.raw.role_tags("theirs").await,
    );
    assert_eq!(after, before, "law 7: leave no trace");
    assert_eq!(moto.raw.policies("theirs").await, Vec::<String>::new());
    assert_eq!(moto.raw.roles().await, set(&["theirs"]));
}

#[tokio::test]
async fn rules_edited_by_hand_are_repaired() {
    let Some(moto) = clouds::moto().await else {
        return;
    };
    let mut real = Run::new(&*moto.set, VirtualClock::new(), &Cluster::new(NAME));
    real.converge(Phase::Live).await;
    let group = group_id(&moto.raw, "kubernetes-prod").await;
    let before = moto.raw.rules(&group).await;
    let permission = |from, to| {
        let range = aws_sdk_ec2::types::IpRange::builder()
            .cidr_ip("0.0.0.0/0")
            .build();
        let permission = aws_sdk_ec2::types::IpPermission::builder().ip_protocol("tcp");
        permission
            .from_port(from)
            .to_port(to)
            .ip_ranges(range)
            .build()
    };
    let revoke = moto
        .raw
        .ec2
        .revoke_security_group_ingress()
        .group_id(&group);
    revoke
        .ip_permissions(permission(22, 22))
        .send()
        .await
        .expect("revoked");
    let authorize = moto
        .raw
        .ec2
        .authorize_security_group_ingress()
        .group_id(&group);
    authorize
        .ip_permissions(permission(8080, 8080))
        .send()
        .await
        .expect("authorized");
    assert_ne!(moto.raw.rules(&group).await, before);
    let (steps, _) = real.converge(Phase::Live).await;
    assert_eq!(steps.len(), 1, "{steps:#?}");
    // What somebody added is theirs.
    let mut after = moto.raw.rules(&group).await;
    after.retain(|rule| !rule.contains("8080"));
    assert_eq!(after, before);
}

#[tokio::test]
async fn a_cluster_at_rest_costs_a_glance() {
    let Some(moto) = clouds::moto().await else {
        return;
    };
    let inventory = Inventory::new(moto.set.clone(), &aws::KINDS);
    let mut real = Run::new(&inventory, VirtualClock::new(), &Cluster::new(NAME));
    real.converge(Phase::Live).await;
    let (again, report) = real.converge(Phase::Live).await;
    assert_eq!(again, Vec::<String>::new());

    let before = moto.set.calls().by_operation();
    for _ in 0..3 {
        let glance = real.glance().await.expect("at rest");
        assert!(glance.agrees_with(&report), "{glance:?}\n{report:?}");
    }
    let survey = [
        "DescribeVpcs",
        "DescribeRouteTables",
        "DescribeSubnets",
        "DescribeSecurityGroups",
        "DescribeSecurityGroupRules",
        "GetAccountAuthorizationDetails",
        "ListInstanceProfiles",
        // The marks of one profile, in turn.
        "GetInstanceProfile",
    ];
    let survey = survey.map(|operation| (operation.to_owned(), 1));
    assert_eq!(calls_since(&moto, before), survey.into());

    let worker = "kubernetes-prod-worker";
    let policies = moto.raw.iam.delete_role_policy();
    let policies = policies.role_name(worker).policy_name(worker).send();
    policies.await.expect("deleted");
    assert!(real.glance().await.is_some(), "the inventory is still good");
    real.clock.advance(LIFE);
    assert!(real.glance().await.is_none());
    let (steps, _) = real.converge(Phase::Live).await;
    assert_eq!(steps.len(), 1, "{steps:#?}");
    // What the inventory saw before that is past.
    real.clock.advance(LIFE);
    assert!(real.glance().await.is_some());
}

/// A path is part of a role's ARN: who names the role finds it, and its ARN is the true one.
#[tokio::test]
async fn a_role_under_a_path_keeps_it_in_its_arn() {
    let Some(moto) = clouds::moto().await else {
        return;
    };
    let place = Place::open(moto.set.clone()).await.expect("signed in");
    for (name, path, listed) in [
        ("plain", "/", false),
        ("below", "/team/blue/", false),
        ("listed", "/team/red/", true),
    ] {
        let role = moto.raw.iam.create_role().role_name(name).path(path);
        let made = role.assume_role_policy_document(TRUST).send().await;
        let made = made.expect("created").role.expect("a role");
        if listed {
            place.survey(&ROLE).await.expect("a survey");
        } else {
            let query = Query::Id(target(&ROLE, name));
            place.read(&query).await.expect("an answer");
        }
        assert_eq!(place.role_arn(name), made.arn());
    }
}
