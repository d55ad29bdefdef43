//! What strangers do to clusters, and whether a glance notices what a pass would.

use cloud_port::aws::security_group::RULE;
use cloud_port::aws::{self, instance_profile, role};
use cloud_port::driver::{Glance, InMemory, PassEnd};
use cloud_sim::{Account, Actor, SharedAccount, VirtualClock};
use futures_util::FutureExt as _;
use ownership::decide::Phase;
use ownership::mark::Tags;
use ownership::part::{InnerPart, Props};
use ownership::{Kind, Target, Text};
use proptest::prelude::*;
use proptest::sample::{select, subsequence};

use crate::place::{Place, RESYNC, Steps, driver};

/// One thing that a stranger does to a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Drift {
    RemoveRule,
    AddRule,
    UnmarkGroup,
    TagGroup,
    DeleteGroup,
    UnmarkRouteTable,
    UnmarkSubnet,
    RetagSubnet,
    NewSubnet,
    EditPolicy,
    RemovePolicy,
    AttachPolicy,
    EditTrust,
    UnmarkRole,
    EmptyProfile,
    DeleteProfile,
    ReplaceProfile,
    UnmarkProfile,
    NewGroup,
    NewRole,
}

use Drift::*;

/// All that a survey shows: not the marks of a profile.
const SHOWN: [Drift; 19] = [
    RemoveRule,
    AddRule,
    UnmarkGroup,
    TagGroup,
    DeleteGroup,
    UnmarkRouteTable,
    UnmarkSubnet,
    RetagSubnet,
    NewSubnet,
    EditPolicy,
    RemovePolicy,
    AttachPolicy,
    EditTrust,
    UnmarkRole,
    EmptyProfile,
    DeleteProfile,
    ReplaceProfile,
    NewGroup,
    NewRole,
];

const BY: Actor = Actor::Stranger;

fn text(text: &str) -> Text {
    text.into()
}

fn part(key: &str, value: &str) -> InnerPart {
    InnerPart::new(text(key), text(value), Tags::new())
}

/// The first resource of a Kind that has this name; any, if it is empty.
fn named(account: &Account, kind: &'static Kind, name: &str) -> Option<Target> {
    let mut alive = account.alive(kind);
    let found = alive.find(|resource| name.is_empty() || &*resource.name == name)?;
    Some(Target::new(kind, found.id.clone()))
}

/// Takes away the tags whose keys begin so.
fn untag(account: &mut Account, target: &Target, beginning: &str) -> bool {
    let Some(resource) = account.resource(target) else {
        return false;
    };
    let tags: Vec<_> = resource.tags.with_prefix(beginning).cloned().collect();
    !tags.is_empty()
        && account
            .untag(BY, std::slice::from_ref(target), &tags)
            .is_ok()
}

impl Drift {
    /// It happens to the cluster of this number. Says whether it could.
    pub(crate) fn befall(self, account: &mut Account, cluster: usize) -> bool {
        self.happen(account, &format!("c{cluster:04}")).is_some()
    }

    fn happen(self, account: &mut Account, cluster: &str) -> Option<()> {
        let done = |done: bool| done.then_some(());
        let name = format!("kubernetes-{cluster}");
        let worker = format!("{name}-worker");
        let mark = format!("kubernetes.io/cluster/{cluster}");
        let group = named(account, &aws::security_group::SECURITY_GROUP, &name);
        let role = named(account, &role::ROLE, &worker);
        let profile = named(account, &instance_profile::INSTANCE_PROFILE, &name);
        let table = named(account, &aws::route_table::ROUTE_TABLE, "");
        let subnet = named(account, &aws::subnet::SUBNET, "");
        let vpc = account.default_vpc()?.id.text();
        match self {
            RemoveRule => {
                let group = group?;
                let rule = account.parts(&group, RULE).first()?.key.clone();
                account.remove_parts(BY, &group, RULE, &[rule]).ok()
            }
            AddRule => {
                let rule = part("ingress tcp 443-443 10.0.0.0/8", "");
                account.add_parts(BY, &group?, RULE, &[rule]).ok()
            }
            UnmarkGroup => done(untag(account, &group?, "freehold.dev/")),
            TagGroup => {
                let tag = (text("cost-centre"), text("42"));
                account.tag(BY, &[group?], &[tag]).ok()
            }
            DeleteGroup => account.delete(BY, &group?).ok(),
            UnmarkRouteTable => done(untag(account, &table?, &mark)),
            UnmarkSubnet => done(untag(account, &subnet?, &mark)),
            RetagSubnet => {
                let tag = (text(&mark), text("shared"));
                account.tag(BY, &[subnet?], &[tag]).ok()
            }
            NewSubnet => {
                let props = [
                    ("vpc", &*vpc),
                    ("cidr", "172.31.96.0/20"),
                    ("zone", "zone-a"),
                ];
                let props: Props = props.iter().map(|(k, v)| (*k, text(v))).collect();
                let kind = &aws::subnet::SUBNET;
                account
                    .plant(BY, kind, "", &props, &Tags::new())
                    .ok()
                    .map(drop)
            }
            EditPolicy => {
                let policy = part(&worker, r#"{"Statement":[{"Effect":"Deny"}]}"#);
                account
                    .add_parts(BY, &role?, role::INLINE_POLICY, &[policy])
                    .ok()
            }
            RemovePolicy => {
                let policy = [text(&worker)];
                account
                    .remove_parts(BY, &role?, role::INLINE_POLICY, &policy)
                    .ok()
            }
            AttachPolicy => {
                let policy = part("arn:aws:iam::aws:policy/ReadOnlyAccess", "");
                account
                    .add_parts(BY, &role?, role::ATTACHED_POLICY, &[policy])
                    .ok()
            }
            EditTrust => {
                let trust = text(r#"{"Statement":[{"Effect":"Deny"}]}"#);
                account
                    .update(BY, &role?, &Props::from_iter([("trust", trust)]))
                    .ok()
            }
            UnmarkRole => done(untag(account, &role?, "freehold.dev/")),
            EmptyProfile => {
                let role = [text(&worker)];
                let inner = instance_profile::PROFILE_ROLE;
                account.remove_parts(BY, &profile?, inner, &role).ok()
            }
            DeleteProfile => {
                EmptyProfile.happen(account, cluster);
                let profile = named(account, &instance_profile::INSTANCE_PROFILE, &name)?;
                account.delete(BY, &profile).ok()
            }
            ReplaceProfile => {
                DeleteProfile.happen(account, cluster)?;
                let kind = &instance_profile::INSTANCE_PROFILE;
                let planted = account.plant(BY, kind, &name, &Props::new(), &Tags::new());
                planted.ok().map(drop)
            }
            UnmarkProfile => done(untag(account, &profile?, "freehold.dev/")),
            NewGroup => {
                let props = [("vpc", vpc), ("description", text("a web shop"))];
                let kind = &aws::security_group::SECURITY_GROUP;
                let planted =
                    account.plant(BY, kind, "shop", &props.into_iter().collect(), &Tags::new());
                planted.ok().map(drop)
            }
            NewRole => {
                let props = Props::from_iter([("trust", text(r#"{"Statement":[]}"#))]);
                let kind = &role::ROLE;
                account
                    .plant(BY, kind, "shop", &props, &Tags::new())
                    .ok()
                    .map(drop)
            }
        }
    }
}

/// Whether the cluster rests by the inventory, and whether a pass finds it as it left it.
fn opinions(place: &Place<SharedAccount>) -> (bool, bool) {
    let tenant = &place.tenants[0];
    let case = tenant.wants.case(Phase::Live);
    let clock = place.account.lock().clock().clone();
    let glance = driver(&place.inventory, &clock)
        .glance(
            &case,
            &tenant.ledger.0,
            &mut tenant.sightings.clone(),
            clock.now(),
        )
        .now_or_never()
        .unwrap()
        .unwrap();
    let glance = match glance {
        Glance::Rest(report, _) => Some(report),
        Glance::Close(_) | Glance::Differs => None,
    };

    // In a world of its own.
    let clock = VirtualClock::at(clock.now());
    let account = SharedAccount::new(place.account.lock().fork(clock.clone()), Actor::Engine(0));
    let (mut steps, mut sightings) = (Steps::default(), tenant.sightings.clone());
    let mut ledger: InMemory = tenant.ledger.clone();
    let fresh = driver(&account, &clock);
    let end = fresh.pass(&case, &mut ledger, &mut sightings, &mut steps);
    let report = match end.now_or_never().unwrap() {
        PassEnd::Rest(report, _) if steps.0 == 0 && ledger.0 == tenant.ledger.0 => Some(report),
        _ => None,
    };
    let agree = match (&glance, &report) {
        (Some(glance), Some(report)) => glance.agrees_with(report),
        (glance, report) => glance.is_none() == report.is_none(),
    };
    (agree, report.is_some())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn a_glance_rests_exactly_where_a_pass_would(
        drifts in subsequence(SHOWN.to_vec(), 0..4).prop_shuffle(),
        waits in select(vec![1_u64, 2, 3]),
    ) {
        let mut place = Place::new(2, |account| account);
        for tenant in 0..2 {
            place.converge(tenant, Phase::Live);
        }
        // The inventory is filled, and gets old.
        let (_, busy) = place.resync();
        prop_assert!(busy.is_empty());
        let happened: Vec<_> = {
            let mut account = place.account.lock();
            let happened = drifts.iter().filter(|drift| drift.befall(&mut account, 0));
            happened.collect()
        };
        for _ in 0..waits {
            place.account.lock().clock().advance(RESYNC);
        }
        let (agree, rests) = opinions(&place);
        prop_assert!(agree, "after {happened:?} the pass rests: {rests}");
    }
}

#[test]
fn each_drift_happens_and_most_of_them_matter() {
    // A key that has another value by now is not ours any more (law 7); what others put into what is
    // ours is theirs (law 1).
    let harmless = [TagGroup, RetagSubnet, NewGroup, NewRole, AttachPolicy];
    for drift in SHOWN {
        let mut place = Place::new(1, |account| account);
        place.converge(0, Phase::Live);
        place.resync();
        assert!(drift.befall(&mut place.account.lock(), 0), "{drift:?}");
        place.account.lock().clock().advance(RESYNC);
        let (agree, rests) = opinions(&place);
        assert!(agree, "{drift:?}");
        // A rule of somebody else's is told, and changes nothing.
        let told = drift == AddRule;
        assert_eq!(rests, told || harmless.contains(&drift), "{drift:?}");
    }
}
