//! Reads: queries, staleness, lag, pages, throttling.

use cloud_port::aws::role::INLINE_POLICY;
use cloud_port::aws::security_group::SECURITY_GROUP;
use cloud_port::aws::{instance_profile, role, route_table, subnet, vpc};
use ownership::{Answer, Class, Place, Query};

use super::*;
use crate::{Lag, Staleness, Throttle};

fn ids(answer: &Answer) -> Vec<&str> {
    answer.resources.iter().map(|r| r.id.as_str()).collect()
}

fn settled(account: &mut Account, query: &Query) -> Answer {
    account.read(query, Staleness::Settled).unwrap()
}

fn by_id(target: &Target) -> Query {
    Query::Id(target.clone())
}

fn by_match(kind: &'static Kind, pairs: &[(&'static str, &str)]) -> Query {
    Query::Match {
        place: Place::HOME,
        kind,
        name: text(""),
        props: props(pairs),
    }
}

fn by_name(kind: &'static Kind, name: &str, within: Option<&str>) -> Query {
    Query::Name {
        place: Place::HOME,
        kind,
        name: text(name),
        within: within.map(|vpc| ("vpc", text(vpc))),
    }
}

static UNKNOWN: Kind = PLAIN;

#[test]
fn queries_find_what_they_ask_for() {
    let mut account = account();
    let default = account.default_vpc().unwrap().id.clone();
    let mut group = create(&SECURITY_GROUP, "g", &in_default_vpc(&account));
    group.tags = tags(&[("mine", "1")]);
    let group = Target::new(GROUP, perform(&mut account, &group).unwrap().id.clone());
    let id = group.id.as_str();
    assert_eq!(ids(&settled(&mut account, &by_id(&group))), [id]);
    assert_eq!(
        ids(&settled(
            &mut account,
            &by_name(GROUP, "g", Some(default.as_str()))
        )),
        [id]
    );
    assert!(ids(&settled(&mut account, &by_name(GROUP, "g", Some("vpc-0")))).is_empty());
    assert_eq!(
        ids(&settled(&mut account, &by_name(GROUP, "g", None))),
        [id]
    );
    let marks = |key| Query::Marks {
        place: Place::HOME,
        kind: GROUP,
        keys: vec![text(key)],
    };
    assert_eq!(ids(&settled(&mut account, &marks("mine"))), [id]);
    assert!(ids(&settled(&mut account, &marks("min"))).is_empty());
    let absent = target(GROUP, "sg-00000000000000000");
    assert!(settled(&mut account, &by_id(&absent)).resources.is_empty());
    let unknown = Query::Id(target(&UNKNOWN, "x"));
    assert_eq!(
        account
            .read(&unknown, Staleness::Settled)
            .unwrap_err()
            .class,
        Class::Fatal
    );
}

#[test]
fn finders_find_the_default_network() {
    let mut account = account();
    let vpc = account.default_vpc().unwrap().id.clone();
    let answer = settled(&mut account, &by_match(&vpc::VPC, &[("default", "true")]));
    assert_eq!(ids(&answer), [vpc.as_str()]);
    let main = [("vpc", vpc.as_str()), ("main", "true")];
    assert_eq!(
        settled(&mut account, &by_match(&route_table::ROUTE_TABLE, &main))
            .resources
            .len(),
        1
    );
    let all = settled(
        &mut account,
        &by_match(&subnet::SUBNET, &[("vpc", vpc.as_str())]),
    );
    assert_eq!(all.resources.len(), 3);
}

#[test]
fn an_old_read_shows_each_resource_before_its_last_writes() {
    let mut account = account();
    let group = new_group(&mut account, "g");
    let query = by_id(&group);
    let seen = |account: &mut Account, writes| {
        let answer = account.read(&query, Staleness::Before(writes)).unwrap();
        answer.resources.first().map(|r| r.tags.clone())
    };
    assert_eq!(seen(&mut account, 1), None, "it did not exist yet");
    account
        .tag(ENGINE, std::slice::from_ref(&group), &pairs(&[("a", "1")]))
        .unwrap();
    assert_eq!(seen(&mut account, 0), Some(tags(&[("a", "1")])));
    assert_eq!(seen(&mut account, 1), Some(Tags::new()));
    assert_eq!(seen(&mut account, 2), None);
    account
        .tag(ENGINE, std::slice::from_ref(&group), &pairs(&[("a", "1")]))
        .unwrap();
    assert_eq!(
        seen(&mut account, 1),
        Some(Tags::new()),
        "a write that changed nothing is none"
    );
    account.delete(ENGINE, &group).unwrap();
    assert_eq!(seen(&mut account, 0), None);
    assert_eq!(
        seen(&mut account, 1),
        Some(tags(&[("a", "1")])),
        "it still exists"
    );
    assert_eq!(seen(&mut account, 2), Some(Tags::new()));
}

#[test]
fn no_read_is_older_than_the_settling_time() {
    let mut account = account();
    let group = new_group(&mut account, "g");
    account.clock().advance(Millis(1));
    account
        .tag(ENGINE, std::slice::from_ref(&group), &pairs(&[("a", "1")]))
        .unwrap();
    let query = by_id(&group);
    let seen = |account: &mut Account| {
        let answer = account.read(&query, Staleness::Before(2)).unwrap();
        answer.resources.first().map(|r| r.tags.clone())
    };
    account
        .clock()
        .advance(Millis(SECURITY_GROUP.settling.0 - 2));
    assert_eq!(seen(&mut account), None);
    account.clock().advance(Millis(1));
    assert_eq!(
        seen(&mut account),
        Some(Tags::new()),
        "it was made long ago"
    );
    account.clock().advance(Millis(1));
    assert_eq!(seen(&mut account), Some(tags(&[("a", "1")])));
}

#[test]
fn one_among_many_is_found_like_one_among_few() {
    let mut account = account();
    let roles: Vec<_> = (0..100)
        .map(|n| new_role(&mut account, &format!("Role-{n}")))
        .collect();
    let old = &roles[7];
    let on = std::slice::from_ref(old);
    account.tag(ENGINE, on, &pairs(&[("k", "v")])).unwrap();
    let marks = Query::Marks {
        place: Place::HOME,
        kind: &role::ROLE,
        keys: vec![text("k")],
    };
    assert_eq!(ids(&settled(&mut account, &marks)), ["Role-7"]);
    account.untag(ENGINE, on, &pairs(&[("k", "v")])).unwrap();
    assert!(ids(&settled(&mut account, &marks)).is_empty());
    let before = account.read(&marks, Staleness::Before(1)).unwrap();
    assert_eq!(ids(&before), ["Role-7"]);

    account.delete(ENGINE, old).unwrap();
    let name = by_name(&role::ROLE, "Role-7", None);
    assert!(ids(&settled(&mut account, &name)).is_empty());
    let mut again = create(&role::ROLE, "Role-7", &props(&[("trust", TRUST)]));
    again.tags = tags(&[("again", "")]);
    perform(&mut account, &again).unwrap();
    assert_eq!(ids(&settled(&mut account, &name)), ["Role-7"]);
    let marks = Query::Marks {
        place: Place::HOME,
        kind: &role::ROLE,
        keys: vec![text("again")],
    };
    assert_eq!(ids(&settled(&mut account, &marks)), ["Role-7"]);
    again.name = text("role-7");
    assert_eq!(code(perform(&mut account, &again)), "EntityAlreadyExists");
    assert!(
        ids(&settled(
            &mut account,
            &by_name(&role::ROLE, "role-7", None)
        ))
        .is_empty()
    );
}

#[test]
fn an_old_read_follows_a_name_through_its_lives() {
    let mut account = account();
    let role = new_role(&mut account, "r");
    account.delete(ENGINE, &role).unwrap();
    new_role(&mut account, "r");
    let query = by_id(&role);
    let count = |account: &mut Account, writes| {
        account
            .read(&query, Staleness::Before(writes))
            .unwrap()
            .resources
            .len()
    };
    assert_eq!(
        (
            count(&mut account, 0),
            count(&mut account, 1),
            count(&mut account, 2)
        ),
        (1, 0, 1)
    );
}

#[test]
fn reads_lag_on_the_virtual_clock_by_id_and_by_filter() {
    let mut account = account_with(|settings| {
        settings.lag = Lag {
            by_id: Millis(200),
            by_filter: Millis(1000),
        };
    });
    let group = new_group(&mut account, "g");
    let (by_id, by_name) = (by_id(&group), by_name(GROUP, "g", None));
    let seen = |account: &mut Account, query: &Query| {
        account
            .read(query, Staleness::Lagging)
            .unwrap()
            .resources
            .len()
    };
    assert_eq!(
        (seen(&mut account, &by_id), seen(&mut account, &by_name)),
        (0, 0)
    );
    account.clock().advance(Millis(200));
    assert_eq!(
        (seen(&mut account, &by_id), seen(&mut account, &by_name)),
        (1, 0)
    );
    account.clock().advance(Millis(800));
    assert_eq!(
        (seen(&mut account, &by_id), seen(&mut account, &by_name)),
        (1, 1)
    );
    for n in 0..5 {
        account
            .tag(
                ENGINE,
                std::slice::from_ref(&group),
                &pairs(&[("n", &n.to_string())]),
            )
            .unwrap();
        account.clock().advance(Millis(100));
    }
    let tag = |account: &mut Account, query: &Query| {
        let answer = account.read(query, Staleness::Lagging).unwrap();
        answer.resources[0].tags.get("n").map(ToString::to_string)
    };
    assert_eq!(tag(&mut account, &by_id).as_deref(), Some("3"));
    assert_eq!(tag(&mut account, &by_name), None);
    account.delete(ENGINE, &group).unwrap();
    account.clock().advance(Millis(999));
    assert_eq!(
        (seen(&mut account, &by_id), seen(&mut account, &by_name)),
        (0, 1)
    );
    account.clock().advance(Millis(1));
    assert_eq!(seen(&mut account, &by_name), 0);
}

#[test]
fn inner_parts_are_told_when_asked_for_and_a_profiles_role_always() {
    let mut account = account();
    let (role, profile) = (new_role(&mut account, "r"), new_profile(&mut account, "p"));
    account
        .add_parts(ENGINE, &profile, "role", &[part("r", "")])
        .unwrap();
    account
        .add_parts(ENGINE, &role, INLINE_POLICY, &[part("policy", "{}")])
        .unwrap();
    let answer = settled(
        &mut account,
        &by_name(&instance_profile::INSTANCE_PROFILE, "p", None),
    );
    assert_eq!(answer.inner.len(), 1);
    assert_eq!(
        (&answer.inner[0].of, &answer.inner[0].parts[..]),
        (&profile, &[part("r", "")][..])
    );
    assert!(settled(&mut account, &by_id(&role)).inner.is_empty());
    let inner = |of: &Target, inner| Query::Inner {
        of: of.clone(),
        inner,
    };
    let answer = settled(&mut account, &inner(&role, INLINE_POLICY));
    assert_eq!(answer.inner[0].parts, [part("policy", "{}")]);
    assert!(answer.resources.is_empty());
    let absent = settled(
        &mut account,
        &inner(&target(&role::ROLE, "none"), INLINE_POLICY),
    );
    assert!(absent.inner[0].parts.is_empty());
    let old = account
        .read(&inner(&role, INLINE_POLICY), Staleness::Before(1))
        .unwrap();
    assert!(old.inner[0].parts.is_empty());
}

#[test]
fn a_listing_costs_a_call_a_page() {
    let mut account = account_with(|settings| settings.page_size = Some(10));
    let vpc = account.default_vpc().unwrap().id.clone();
    let before = account.counters().clone();
    let in_vpc = by_match(GROUP, &[("vpc", vpc.as_str())]);
    settled(&mut account, &in_vpc);
    assert_eq!(account.counters().calls("DescribeSecurityGroups"), 1);
    for n in 0..20 {
        new_group(&mut account, &format!("g{n}"));
    }
    settled(&mut account, &in_vpc);
    assert_eq!(
        account.counters().calls("DescribeSecurityGroups"),
        1 + 3,
        "21 in pages of 10"
    );
    settled(&mut account, &by_name(GROUP, "none", None));
    assert_eq!(
        account.counters().calls("DescribeSecurityGroups"),
        5,
        "filtered before paged"
    );
    assert_eq!(account.counters().reads() - before.reads(), 5);
    assert_eq!(account.counters().writes() - before.writes(), 20);
}

#[test]
fn iam_lists_everything_and_gets_by_name() {
    let mut account = account_with(|settings| settings.page_size = Some(100));
    for n in 0..150 {
        new_role(&mut account, &format!("r{n}"));
    }
    settled(&mut account, &by_name(&role::ROLE, "r7", None));
    assert_eq!(account.counters().reads(), 1);
    assert_eq!(account.counters().calls("GetRole"), 1);
    let marks = Query::Marks {
        place: Place::HOME,
        kind: &role::ROLE,
        keys: vec![text("k")],
    };
    settled(&mut account, &marks);
    let details = "GetAccountAuthorizationDetails";
    assert_eq!(account.counters().calls(details), 2);
    assert_eq!(account.counters().reads(), 3);
}

#[test]
fn a_listing_of_profiles_shows_no_tags() {
    let mut account = account_with(|settings| settings.page_size = Some(100));
    for n in 0..150 {
        new_profile(&mut account, &format!("p{n}"));
    }
    let marks = Query::Marks {
        place: Place::HOME,
        kind: &instance_profile::INSTANCE_PROFILE,
        keys: vec![text("k")],
    };
    settled(&mut account, &marks);
    assert_eq!(account.counters().calls("ListInstanceProfiles"), 2);
    assert_eq!(account.counters().calls("GetInstanceProfile"), 150);
}

#[test]
fn a_listing_of_roles_tells_their_policies() {
    let mut account = account();
    let target = new_role(&mut account, "r");
    let policy = part("p", r#"{"Statement":[{"Effect":"Allow"}]}"#);
    account
        .add_parts(
            ENGINE,
            &target,
            role::INLINE_POLICY,
            std::slice::from_ref(&policy),
        )
        .unwrap();
    account
        .tag(ENGINE, std::slice::from_ref(&target), &pairs(&[("k", "v")]))
        .unwrap();
    let marks = Query::Marks {
        place: Place::HOME,
        kind: &role::ROLE,
        keys: vec![text("k")],
    };
    let told = settled(&mut account, &marks).inner;
    assert_eq!(told.len(), 2);
    assert_eq!(
        (told[0].inner, &told[0].parts),
        (role::INLINE_POLICY, &vec![policy])
    );
    assert_eq!(
        (told[1].inner, told[1].parts.len()),
        (role::ATTACHED_POLICY, 0)
    );
    let alone = settled(&mut account, &by_name(&role::ROLE, "r", None));
    assert_eq!(alone.inner, [], "GetRole does not");
}

#[test]
fn an_account_that_is_asked_too_much_throttles_each_service() {
    let mut account = account_with(|settings| {
        settings.throttle = Some(Throttle {
            burst: 3,
            per_second: 2,
        });
    });
    let group = by_name(GROUP, "g", None);
    for _ in 0..3 {
        settled(&mut account, &group);
    }
    let error = account.read(&group, Staleness::Settled).unwrap_err();
    assert_eq!(
        (&*error.code, error.class),
        ("RequestLimitExceeded", Class::Throttled)
    );
    let wanted = create(&SECURITY_GROUP, "g", &in_default_vpc(&account));
    assert_eq!(code(perform(&mut account, &wanted)), "RequestLimitExceeded");
    assert_eq!(account.alive(GROUP).count(), 1, "nothing was created");
    for n in 0..3 {
        new_role(&mut account, &format!("r{n}"));
    }
    let role = create(&role::ROLE, "r", &props(&[("trust", TRUST)]));
    assert_eq!(code(perform(&mut account, &role)), "Throttling");
    assert_eq!(account.counters().throttled(), 3);
    account
        .plant(
            Actor::Stranger,
            GROUP,
            "s",
            &in_default_vpc(&account),
            &Tags::new(),
        )
        .unwrap();

    account.clock().advance(Millis(499));
    assert_eq!(
        code(account.read(&group, Staleness::Settled)),
        "RequestLimitExceeded"
    );
    account.clock().advance(Millis(1));
    settled(&mut account, &group);
    assert_eq!(
        code(account.read(&group, Staleness::Settled)),
        "RequestLimitExceeded"
    );
    account.clock().advance(Millis::seconds(3600));
    for _ in 0..3 {
        settled(&mut account, &group);
    }
    assert_eq!(
        code(account.read(&group, Staleness::Settled)),
        "RequestLimitExceeded",
        "no more than the burst"
    );
}

#[test]
fn answers_tell_the_clouds_own_time() {
    let mut account = account();
    let query = by_name(GROUP, "g", None);
    let first = settled(&mut account, &query).date;
    account.clock().advance(Millis::seconds(7));
    assert_eq!(settled(&mut account, &query).date.0, first.0 + 7000);
}
