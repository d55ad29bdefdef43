//! What people do to a cluster and its resources by hand, and what the controller must put right.

use std::time::Duration;

use cloud_port::aws::instance_profile::{INSTANCE_PROFILE, PROFILE_ROLE};
use cloud_port::aws::role::{INLINE_POLICY, ROLE};
use cloud_port::aws::route_table::ROUTE_TABLE;
use cloud_port::aws::security_group::{RULE, SECURITY_GROUP};
use cloud_sim::Actor;
use controllers::kkp::Kkp;
use laboratory::seeded::{Person, SignedIn, part};
use ownership::{ResourceId, Target, Text};
use serde_json::json;
use tokio::time::sleep;

/// The guest's rule in the group that some clusters share.
pub(crate) const GUEST: &str = "ingress tcp 443-443 192.0.2.0/24";

/// Something that a person does to a live cluster or to its resources, and that the controller
/// must put right.
pub(crate) async fn meddle(person: &Person<Kkp<SignedIn>>, name: &str, shares_group: bool) {
    let ours = format!("kubernetes-{name}");
    let rule = part(if person.random.chance(50) {
        GUEST
    } else {
        "ingress tcp 22-22 0.0.0.0/0"
    });
    match person.random.below(10) {
        0 => person.remove(&SECURITY_GROUP, &ours, RULE, "ingress tcp 22-22 0.0.0.0/0"),
        1 => person.add(&SECURITY_GROUP, &ours, RULE, rule),
        2 => person.delete_resource(&SECURITY_GROUP, &ours),
        3 => person.remove(
            &INSTANCE_PROFILE,
            &ours,
            PROFILE_ROLE,
            &format!("{ours}-worker"),
        ),
        4 => person.delete_resource(&INSTANCE_PROFILE, &ours),
        5 => {
            let role = format!("{ours}-control-plane");
            person.remove(&ROLE, &role, INLINE_POLICY, &role);
        }
        6 => unmark_route_table(person, name),
        8 => person.forget_claim(name).await,
        7 => {
            let mut none = json!({"roleARN": "", "instanceProfileName": ""});
            // The id of somebody's group is a wish, which nobody could guess again.
            if !shares_group {
                none["securityGroupID"] = json!("");
            }
            person
                .patch(name, json!({"spec": {"cloud": {"aws": none}}}))
                .await;
        }
        _ => {
            person.patch(name, json!({"spec": {"pause": true}})).await;
            sleep(person.random.span(Duration::from_mins(2))).await;
            person
                .insist(name, &json!({"spec": {"pause": false}}))
                .await;
        }
    }
}

fn unmark_route_table(person: &Person<Kkp<SignedIn>>, name: &str) {
    let mut account = person.weather.account().lock();
    let tables: Vec<ResourceId> = account
        .alive(&ROUTE_TABLE)
        .map(|table| table.id.clone())
        .collect();
    for id in tables {
        let target = Target::new(&ROUTE_TABLE, id);
        let tag = (
            Text::from(format!("kubernetes.io/cluster/{name}")),
            Text::from(""),
        );
        let _ = account.untag(Actor::Stranger, &[target], &[tag]);
    }
}
