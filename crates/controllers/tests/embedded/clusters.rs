//! How clusters are made, and what others have in the account.

use std::time::Duration;

use cloud_port::aws::security_group::{RULE, SECURITY_GROUP};
use cloud_port::aws::subnet::SUBNET;
use cloud_port::aws::vpc::VPC;
use cloud_sim::{Account, Actor};
use laboratory::seeded::{World, part};
use ownership::mark::Tags;
use ownership::part::Props;
use ownership::{Target, Text};
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::kkp::Clusters;
use crate::people::GUEST;
use crate::switches::CORRECTIONS;
use crate::wish::Wish;

/// The cluster of this name is made; its maker may have been mistaken.
pub(crate) async fn create(world: &mut World<Clusters>, name: &'static str) -> Wish {
    let own = &world.own;
    let (shared, second) = (own.shared.id.as_str(), own.second_vpc.id.as_str());
    let by_name = |family: &str| Wish {
        shares_group: matches!(name, "two" | "four"),
        iam: name != "three",
        ..Wish::new(family)
    };
    let mut wish = by_name(if name == "two" { "IPv4+IPv6" } else { "IPv4" });
    let (mut first, mut then) = (json!({}), None);
    if !wish.iam {
        first["disableIAMReconciling"] = json!(true);
    }
    if wish.shares_group {
        if CORRECTIONS && world.random.chance(20) {
            then = Some(json!({"securityGroupID": shared}));
        } else {
            first["securityGroupID"] = json!(shared);
        }
    }
    if name == "five" && CORRECTIONS {
        first["vpcID"] = json!(second);
        // Whoever corrects the VPC corrects what was recorded of the wrong one.
        then = Some(json!({"vpcID": "", "routeTableID": "", "securityGroupID": ""}));
    }
    let object = manifest(name, &first, &wish.family);
    world.person.create(object).await;
    if let Some(aws) = then {
        wish.corrected = true;
        world.seen.insert("an edit");
        sleep(world.random.span(Duration::from_secs(20))).await;
        let patch = json!({"spec": {"cloud": {"aws": aws}}});
        world.person.insist(name, &patch).await;
    }
    if wish.shares_group && world.live.iter().any(|live| live.wish.shares_group) {
        world.seen.insert("two claims on one group");
    }
    wish
}

fn manifest(name: &str, aws: &Value, network: &str) -> Value {
    let mut object = json!({
        "metadata": {"name": name, "annotations": {"kubermatic.io/aws-region": "eu-central-1"}},
        "spec": {
            "clusterNetwork": {"ipFamily": network},
            "cloud": {"dc": "frankfurt", "aws": {
                "vpcID": "", "routeTableID": "", "securityGroupID": "", "roleARN": "",
                "instanceProfileName": "",
            }},
        },
    });
    let fields = object["spec"]["cloud"]["aws"].as_object_mut().unwrap();
    fields.extend(aws.as_object().unwrap().clone());
    object
}

pub(crate) fn somebodys_group(account: &mut Account) -> Target {
    let vpc = account.default_vpc().unwrap().id.text();
    let props = [("vpc", vpc), ("description", Text::from("theirs"))];
    let tags = [(Text::from("team"), Text::from("network"))];
    let (props, tags): (Props, Tags) = (props.into_iter().collect(), tags.into_iter().collect());
    let kind = &SECURITY_GROUP;
    let group = account.plant(Actor::Stranger, kind, "shared", &props, &tags);
    let group = group.unwrap();
    account
        .add_parts(Actor::Stranger, &group, RULE, &[part(GUEST)])
        .unwrap();
    group
}

pub(crate) fn second_vpc(account: &mut Account) -> Target {
    let mut plant = |kind, props: &[(&'static str, &str)]| {
        let props = props.iter().map(|(key, value)| (*key, Text::from(*value)));
        let props: Props = props.collect();
        account.plant(Actor::Stranger, kind, "", &props, &Tags::new())
    };
    let vpc = plant(&VPC, &[("cidr", "10.0.0.0/16")]).unwrap();
    let place = [
        ("vpc", vpc.id.as_str()),
        ("cidr", "10.0.0.0/24"),
        ("zone", "zone-a"),
    ];
    plant(&SUBNET, &place).unwrap();
    vpc
}
