//! Surveys, and the inventory on them: it must show what a read would.

use cloud_port::aws::{
    self, classic_load_balancer, elastic_ip, instance_profile, internet_gateway, nat_gateway,
    network_load_balancer, role, route_table, subnet, target_group, vpc,
};
use cloud_port::inventory::LIFE;
use cloud_port::{Cloud as _, Inventory, Show as _};
use futures_util::FutureExt as _;
use ownership::{Answer, Place, Query};

use super::*;
use crate::{Counters, SharedAccount, Staleness, Throttle};

/// An account with something of everything.
fn furnished(account: &mut Account) {
    let ours = tags(&[("freehold.dev/a", "x"), ("shared", "1")]);
    for name in ["kubernetes-a", "kubernetes-b"] {
        let group = new_group(account, name);
        account
            .tag(
                ENGINE,
                std::slice::from_ref(&group),
                &pairs(&[("freehold.dev/a", name)]),
            )
            .unwrap();
        let rules =
            ["ingress tcp 22-22 0.0.0.0/0", "ingress all all self"].map(|key| part(key, ""));
        account.add_parts(ENGINE, &group, "rule", &rules).unwrap();
        let role = new_role(account, name);
        account
            .tag(
                ENGINE,
                std::slice::from_ref(&role),
                &pairs(&[("shared", "2")]),
            )
            .unwrap();
        let policy = part(name, r#"{"Statement":[{"Effect":"Deny"}]}"#);
        account
            .add_parts(ENGINE, &role, role::INLINE_POLICY, &[policy])
            .unwrap();
        let profile = new_profile(account, name);
        let tags: Vec<_> = ours.iter().cloned().collect();
        account
            .tag(ENGINE, std::slice::from_ref(&profile), &tags)
            .unwrap();
        let role = part(name, "");
        account
            .add_parts(ENGINE, &profile, instance_profile::PROFILE_ROLE, &[role])
            .unwrap();
    }
    let vpc = part(account.default_vpc().unwrap().id.as_str(), "");
    let gateway = new_gateway(account);
    account
        .add_parts(ENGINE, &gateway, internet_gateway::ATTACHMENT, &[vpc])
        .unwrap();
    new_gateway(account);
    network::Network::new(account);
    new_group(account, "bare");
    new_role(account, "bare");
    new_profile(account, "bare");
}

/// Every sort of question about every resource of a Kind, and about some that are not there.
fn queries(account: &Account, kind: &'static Kind) -> Vec<Query> {
    let mut queries = vec![
        Query::Id(target(kind, "gone")),
        Query::Match {
            place: Place::HOME,
            kind,
            name: text(""),
            props: Props::new(),
        },
    ];
    for key in ["freehold.dev/a", "shared", "nobody's"] {
        queries.push(Query::Marks {
            place: Place::HOME,
            kind,
            keys: vec![text(key)],
        });
    }
    for resource in account.alive(kind) {
        queries.extend(about(kind, resource));
    }
    for inner in kind.inner {
        queries.push(Query::Inner {
            of: target(kind, "gone"),
            inner: inner.name,
        });
    }
    queries
}

fn about(kind: &'static Kind, resource: &Resource) -> Vec<Query> {
    let of = Target::new(kind, resource.id.clone());
    let mut queries = vec![Query::Id(of.clone())];
    let name = |within| Query::Name {
        place: Place::HOME,
        kind,
        name: resource.name.clone(),
        within,
    };
    let matching = |name: &str, props| Query::Match {
        place: Place::HOME,
        kind,
        name: text(name),
        props,
    };
    if !resource.name.is_empty() {
        queries.push(name(None));
        queries.push(matching(&resource.name, resource.props.clone()));
    }
    queries.push(matching("", resource.props.clone()));
    queries.push(matching("nobody", resource.props.clone()));
    for (prop, value) in resource.props.iter() {
        queries.push(name(Some((*prop, value.clone()))));
        queries.push(name(Some((*prop, text("elsewhere")))));
        queries.push(matching("", Props::from_iter([(*prop, value.clone())])));
    }
    let inside = kind.inner.iter().map(|inner| Query::Inner {
        of: of.clone(),
        inner: inner.name,
    });
    queries.extend(inside);
    queries
}

/// Asks both, everything.
fn assert_shows_what_reads_show(cloud: &SharedAccount, inventory: &Inventory<SharedAccount>) {
    for kind in aws::KINDS {
        if !kind.lists_marks {
            // Whoever glances has read the marks before.
            let all = Query::Match {
                place: Place::HOME,
                kind,
                name: text(""),
                props: Props::new(),
            };
            inventory.read(&all).now_or_never().unwrap().unwrap();
        }
        for inner in kind.inner.iter().filter(|inner| !inner.is_listed) {
            // And what is inside, where no listing tells it.
            let all: Vec<_> = cloud.lock().alive(kind).map(|r| r.target()).collect();
            for of in all {
                let inner = inner.name;
                let query = Query::Inner { of, inner };
                inventory.read(&query).now_or_never().unwrap().unwrap();
            }
        }
        let queries = queries(&cloud.lock(), kind);
        assert!(queries.len() > 5);
        for query in queries {
            let read = cloud.read(&query).now_or_never().unwrap().unwrap();
            let now = cloud.lock().clock().now();
            let shown = inventory
                .show(&query, now, None)
                .now_or_never()
                .unwrap()
                .unwrap();
            assert_eq!(shown.answer.resources, read.resources, "{query:?}");
            assert_eq!(shown.answer.date, read.date);
            if matches!(query, Query::Inner { .. }) {
                assert_eq!(shown.answer.inner, read.inner, "{query:?}");
            }
        }
    }
}

#[test]
fn the_inventory_shows_what_reads_show() {
    let mut account = account();
    furnished(&mut account);
    let cloud = SharedAccount::new(account, ENGINE);
    let inventory = Inventory::new(cloud.clone(), &aws::KINDS);
    assert_shows_what_reads_show(&cloud, &inventory);

    // Then somebody was here.
    {
        let mut account = cloud.lock();
        account.clock().advance(LIFE);
        let group = account
            .alive(GROUP)
            .find(|r| &*r.name == "kubernetes-a")
            .unwrap();
        let group = Target::new(GROUP, group.id.clone());
        let ssh = [text("ingress tcp 22-22 0.0.0.0/0")];
        account
            .remove_parts(Actor::Stranger, &group, "rule", &ssh)
            .unwrap();
        let mark = pairs(&[("freehold.dev/a", "kubernetes-a")]);
        account.untag(Actor::Stranger, &[group], &mark).unwrap();
        let bare = target(&role::ROLE, "bare");
        account.delete(Actor::Stranger, &bare).unwrap();
        let bare = target(&instance_profile::INSTANCE_PROFILE, "bare");
        account
            .tag(Actor::Stranger, &[bare], &pairs(&[("shared", "")]))
            .unwrap();
    }
    assert_shows_what_reads_show(&cloud, &inventory);
}

fn calls(account: &mut Account, kind: &'static Kind) -> (Answer, Vec<(&'static str, u64)>) {
    let before = account.counters().clone();
    let answer = account.survey(kind, Staleness::Settled).unwrap();
    (answer, since(&before, account.counters()))
}

fn since(before: &Counters, now: &Counters) -> Vec<(&'static str, u64)> {
    let called = now.iter().map(|(op, n)| (op.name(), n));
    let more = called.map(|(op, n)| (op, n - before.calls(op)));
    more.filter(|(_, n)| *n > 0).collect()
}

#[test]
fn a_survey_costs_the_operations_that_list() {
    let mut account = account();
    furnished(&mut account);
    for (kind, ops) in [
        (&vpc::VPC, &["DescribeVpcs"][..]),
        (&subnet::SUBNET, &["DescribeSubnets"]),
        (&route_table::ROUTE_TABLE, &["DescribeRouteTables"]),
        (
            &internet_gateway::INTERNET_GATEWAY,
            &["DescribeInternetGateways"],
        ),
        (
            &SECURITY_GROUP,
            &["DescribeSecurityGroupRules", "DescribeSecurityGroups"],
        ),
        (&role::ROLE, &["GetAccountAuthorizationDetails"]),
        (
            &instance_profile::INSTANCE_PROFILE,
            &["ListInstanceProfiles"],
        ),
        (&elastic_ip::ELASTIC_IP, &["DescribeAddresses"]),
        (&nat_gateway::NAT_GATEWAY, &["DescribeNatGateways"]),
        (
            &classic_load_balancer::CLASSIC_LOAD_BALANCER,
            &["DescribeLoadBalancers", "DescribeTags"],
        ),
        (
            &target_group::TARGET_GROUP,
            &["DescribeTags", "DescribeTargetGroups"],
        ),
        (
            &network_load_balancer::NETWORK_LOAD_BALANCER,
            &["DescribeLoadBalancers", "DescribeTags"],
        ),
    ] {
        let (answer, called) = calls(&mut account, kind);
        let expected: Vec<_> = ops.iter().map(|op| (*op, 1)).collect();
        assert_eq!(called, expected);
        assert_eq!(answer.resources.len(), account.alive(kind).count());
        let listed = kind.inner.iter().filter(|inner| inner.is_listed).count();
        assert_eq!(answer.inner.len(), answer.resources.len() * listed);
    }
}

#[test]
fn a_survey_costs_a_call_a_page() {
    let mut account = account_with(|settings| settings.page_size = Some(2));
    furnished(&mut account);
    // Five groups with six rules, one of each default group's own.
    let (_, called) = calls(&mut account, &SECURITY_GROUP);
    let expected = [
        ("DescribeSecurityGroupRules", 3),
        ("DescribeSecurityGroups", 3),
    ];
    assert_eq!(called, expected);
}

#[test]
fn a_listing_of_profiles_shows_their_roles_and_no_marks() {
    let mut account = account();
    furnished(&mut account);
    let (answer, _) = calls(&mut account, &instance_profile::INSTANCE_PROFILE);
    assert!(
        answer
            .resources
            .iter()
            .all(|profile| profile.tags.iter().count() == 0)
    );
    let roles = answer.inner.iter().flat_map(|told| &told.parts);
    assert_eq!(roles.count(), 2);
}

#[test]
fn a_throttled_survey_is_refused() {
    let limit = Throttle {
        burst: 1,
        per_second: 1,
    };
    let mut account = account_with(|settings| settings.throttle = Some(limit));
    account.survey(&vpc::VPC, Staleness::Settled).unwrap();
    let refused: Result<_, CloudError> = account.survey(&vpc::VPC, Staleness::Settled);
    assert_eq!(code(refused), "RequestLimitExceeded");
}
