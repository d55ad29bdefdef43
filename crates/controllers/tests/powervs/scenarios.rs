//! The scenarios of the original's proposal.

use cloud_port::ibm::transit_gateway::{CONNECTION, GLOBAL, LOCATION, TRANSIT_GATEWAY};
use cloud_port::ibm::vpc::VPC;
use cloud_port::ibm::{KINDS, RESOURCE_GROUP};
use cloud_sim::Actor;
use ownership::mark::Tags;
use ownership::part::{InnerPart, Props};
use ownership::{Kind, Target};
use serde_json::json;

use crate::lab::{Lab, WHOLE, create, end, lab, made, object};

fn plant(lab: &Lab, kind: &'static Kind, name: &str, props: &[(&'static str, &str)]) -> Target {
    let props: Props = props
        .iter()
        .map(|(key, value)| (*key, (*value).into()))
        .collect();
    let mut account = lab.account();
    let planted = account.plant(Actor::Stranger, kind, name, &props, &Tags::new());
    planted.unwrap()
}

fn plant_vpc(lab: &Lab, name: &str) -> Target {
    plant(lab, &VPC, name, &[(RESOURCE_GROUP, "x")])
}

fn plant_gateway(lab: &Lab, name: &str) -> Target {
    let props = [
        (LOCATION, "us-south"),
        (GLOBAL, "false"),
        (RESOURCE_GROUP, "x"),
    ];
    let gateway = plant(lab, &TRANSIT_GATEWAY, name, &props);
    let theirs = "vpc crn:v1:bluemix:public:is:us-south:a/1::vpc:theirs";
    let part = InnerPart::new(theirs, "", Tags::new());
    let mut account = lab.account();
    account
        .add_parts(Actor::Stranger, &gateway, CONNECTION, &[part])
        .unwrap();
    // What takes its time to come can be used by now.
    account
        .clock()
        .advance(ownership::time::Millis::seconds(3600));
    drop(account);
    gateway
}

fn tags(lab: &Lab, of: &Target) -> Vec<String> {
    let account = lab.account();
    let tags = account.resource(of).unwrap().tags.clone();
    tags.iter()
        .map(|(key, value)| format!("{key}:{value}"))
        .collect()
}

#[tokio::test]
async fn a_new_cluster_gets_everything_and_every_mark() {
    let lab = lab("new").await;
    lab.create_sample().await;
    lab.converge().await;
    let made_now = made(&lab);
    assert_eq!(made_now.len(), WHOLE, "{made_now:#?}");
    for name in [
        "ibm/workspace new-serviceInstance",
        "ibm/power-network DHCPSERVERnew_Private",
        "ibm/vpc new-vpc",
        "ibm/vpc-subnet new-vpcsubnet-us-south-1",
        "ibm/vpc-load-balancer new-loadbalancer",
        "ibm/transit-gateway new-transitgateway",
    ] {
        assert!(made_now.contains(name), "{name} is not in {made_now:#?}");
    }
    let object = object(&lab).await;
    let uid = object["metadata"]["uid"].as_str().unwrap();
    for kind in KINDS {
        let targets: Vec<Target> = lab.account().alive(kind).map(|it| it.target()).collect();
        for target in targets {
            let tags = tags(&lab, &target);
            let owner = "powervs.cluster.x-k8s.io_owner:new".to_owned();
            let uuid = format!("powervs.cluster.x-k8s.io_cluster-uuid:{uid}");
            assert!(
                tags.contains(&owner) && tags.contains(&uuid),
                "{target}: {tags:?}"
            );
            assert!(tags.iter().any(|tag| tag.starts_with("freehold.dev_")));
        }
    }
    let host = object["spec"]["controlPlaneEndpoint"]["host"]
        .as_str()
        .unwrap();
    assert!(host.ends_with("-us-south.lb.appdomain.cloud"), "{host}");
    assert_eq!(object["spec"]["controlPlaneEndpoint"]["port"], 6443);
    assert_eq!(object["status"]["ready"], true);
    assert_eq!(object["status"]["vpc"]["controllerCreated"], true);
    lab.assert_silent().await;
    end(&lab).await;
}

/// What was there before and is given by its id is used: no controller's tags, never deleted.
#[tokio::test]
#[ignore = "what is used and marked by its parts does not come to rest while reads lag: EndlessPass"]
async fn pre_created_resources_are_used_and_stay() {
    let lab = lab("reuse").await;
    let (vpc, gateway) = (plant_vpc(&lab, "shared"), plant_gateway(&lab, "hub"));
    let id = gateway.id.to_string();
    reuse(&lab, &vpc, &gateway, json!({"id": id})).await;
}

/// So is what is given by its name.
#[tokio::test]
#[ignore = "what is used and marked by its parts does not come to rest while reads lag: EndlessPass"]
async fn pre_created_resources_are_used_by_their_names() {
    let lab = lab("byname").await;
    let (vpc, gateway) = (plant_vpc(&lab, "shared"), plant_gateway(&lab, "hub"));
    reuse(&lab, &vpc, &gateway, json!({"name": "hub"})).await;
}

async fn reuse(lab: &Lab, vpc: &Target, gateway: &Target, given: serde_json::Value) {
    create(
        lab,
        json!({
            "vpc": {"id": vpc.id.as_str()},
            "transitGateway": given,
        }),
    )
    .await;
    lab.converge().await;
    assert_eq!(made(lab).len(), WHOLE - 2);
    assert_eq!(tags(lab, vpc), Vec::<String>::new());
    let of_gateway = tags(lab, gateway);
    assert!(
        of_gateway.iter().all(|tag| !tag.contains("cluster-uuid")),
        "{of_gateway:?}"
    );
    let connections = lab.account().parts(gateway, CONNECTION).len();
    assert_eq!(connections, 1 + 2);
    let object = object(lab).await;
    assert_eq!(object["status"]["vpc"]["controllerCreated"], false);
    end(lab).await;
    // Exactly our two connections went, and after them what marked them.
    let account = lab.account();
    let left = account.parts(gateway, CONNECTION).to_vec();
    assert_eq!(left.len(), 1, "{left:?}");
    assert!(left[0].key.ends_with(":theirs"));
    assert!(account.resource(vpc).is_some());
    drop(account);
    assert_eq!(tags(lab, gateway), Vec::<String>::new());
}

/// Another cluster's resources have the names that this one's would have: the user is told which, and nothing is
/// touched.
#[tokio::test]
async fn the_name_of_an_old_cluster_is_a_conflict() {
    let lab = lab("old").await;
    let vpc = plant_vpc(&lab, "old-vpc");
    let marks = [
        ("powervs.cluster.x-k8s.io_owner", "old"),
        (
            "powervs.cluster.x-k8s.io_cluster-uuid",
            "11111111-2222-4333-8444-555555555555",
        ),
    ];
    let marks = marks.map(|(key, value)| (key.into(), value.into()));
    lab.account()
        .tag(Actor::Stranger, std::slice::from_ref(&vpc), &marks)
        .unwrap();
    let before = tags(&lab, &vpc);
    lab.create_sample().await;
    lab.settle().await;
    let ready = lab.condition("Ready").await.unwrap();
    assert!(!ready.holds, "{ready:?}");
    assert!(ready.message.contains(vpc.id.as_str()), "{ready:?}");
    assert_eq!(tags(&lab, &vpc), before);
    assert!(
        made(&lab).iter().all(|it| !it.starts_with("ibm/vpc")),
        "{:?}",
        made(&lab)
    );
    end(&lab).await;
    assert_eq!(tags(&lab, &vpc), before);
}

/// Under a name that nobody chose, what has no mark at all is somebody's.
#[tokio::test]
async fn an_unmarked_resource_with_our_name_is_a_conflict() {
    let lab = lab("unmarked").await;
    let vpc = plant_vpc(&lab, "unmarked-vpc");
    lab.create_sample().await;
    lab.settle().await;
    let ready = lab.condition("Ready").await.unwrap();
    assert!(
        !ready.holds && ready.message.contains(vpc.id.as_str()),
        "{ready:?}"
    );
    end(&lab).await;
    assert!(lab.account().resource(&vpc).is_some());
    assert_eq!(tags(&lab, &vpc), Vec::<String>::new());
}

/// A backup without its status, in a fresh management cluster: everything is found by its marks, shown, and
/// after the take-over kept and deleted.
#[tokio::test]
#[ignore = "after a take-over the end is held by the network that it should end first"]
async fn a_restored_cluster_finds_everything() {
    let mut lab = lab("restored").await;
    lab.create_sample().await;
    lab.converge().await;
    let before = made(&lab);
    let mut backup = lab.backup().await;
    backup["status"] = json!(null);
    lab.lose().await;
    lab.move_to("there", &[]);
    lab.restore(&backup).await;
    lab.settle().await;
    assert_eq!(made(&lab), before, "nothing is made twice");
    lab.move_to("there", &["here"]);
    lab.converge().await;
    assert_eq!(made(&lab), before);
    let object = object(&lab).await;
    assert_eq!(object["status"]["vpc"]["controllerCreated"], true);
    end(&lab).await;
}

/// Attached to what is made and to what is used, followed, and at the end taken off what is used: those that we
/// attached, and no others.
#[tokio::test]
async fn user_tags_are_followed_and_leave_no_trace() {
    let lab = lab("tagged").await;
    let vpc = plant_vpc(&lab, "shared");
    let theirs = [("cost".into(), "42".into())];
    lab.account()
        .tag(Actor::Stranger, std::slice::from_ref(&vpc), &theirs)
        .unwrap();
    create(
        &lab,
        json!({
            "vpc": {"id": vpc.id.as_str()},
            "tags": [{"key": "Team", "value": "Blue"}, {"key": "cost", "value": "42"}],
        }),
    )
    .await;
    lab.converge().await;
    assert_eq!(tags(&lab, &vpc), ["cost:42", "team:blue"]);
    lab.patch(json!({"spec": {"tags": [{"key": "team", "value": "red"}]}}))
        .await;
    lab.converge().await;
    assert_eq!(tags(&lab, &vpc), ["cost:42", "team:red"]);
    let gateway: Vec<Target> = lab
        .account()
        .alive(&TRANSIT_GATEWAY)
        .map(|it| it.target())
        .collect();
    let of_gateway = tags(&lab, &gateway[0]);
    assert!(
        of_gateway.contains(&"team:red".to_owned()),
        "{of_gateway:?}"
    );
    assert!(
        !of_gateway.contains(&"team:blue".to_owned()),
        "{of_gateway:?}"
    );
    end(&lab).await;
    assert_eq!(tags(&lab, &vpc), ["cost:42"]);
}
