//! What goes wrong, told in words that name the field or the cloud's reason; and what recovers.

use cloud_port::aws::instance::INSTANCE;
use cloud_port::aws::instance_profile::INSTANCE_PROFILE;
use cloud_sim::{Actor, Quotas, Settings};
use ownership::mark::Tags;
use ownership::part::Props;
use serde_json::json;

use crate::lab::{Lab, create, edit_owner, ever, instances, lab, with};
use crate::world;

/// Nothing was made, and it is told why.
async fn refused(lab: &Lab, words: &[&str]) {
    lab.settle().await;
    let ready = lab.condition("Ready").await.unwrap();
    assert!(!ready.holds, "{ready:?}");
    for word in words {
        assert!(ready.message.contains(word), "{word:?} is not in {ready:?}");
    }
    assert_eq!(ever(lab), 0);
}

/// Once it is put right, one machine is made.
async fn recovers(lab: &Lab) {
    lab.wait(laboratory::RESYNC);
    lab.converge().await;
    assert_eq!(ever(lab), 1);
    crate::lab::end(lab).await;
}

#[tokio::test]
async fn a_full_subnet() {
    let lab = lab("full").await.unwrap();
    // A /28 has eleven addresses.
    let subnet = {
        let account = lab.account();
        let mut subnets = account.alive(&cloud_port::aws::subnet::SUBNET);
        let small = subnets.find(|it| {
            it.props
                .get("cidr")
                .is_some_and(|cidr| **cidr == *"172.31.128.0/28")
        });
        small.unwrap().id.text()
    };
    let props: Props = [
        ("image", "ami-0123456789abcdef0".into()),
        ("type", "t3.large".into()),
        ("subnet", subnet),
    ]
    .into_iter()
    .collect();
    let mut others = Vec::new();
    for _ in 0..11 {
        let planted = lab
            .account()
            .plant(Actor::Stranger, &INSTANCE, "", &props, &Tags::new());
        others.push(planted.unwrap());
    }
    lab.create_sample().await;
    lab.settle().await;
    let ready = lab.condition("Ready").await.unwrap();
    assert!(
        ready.message.contains("InsufficientFreeAddressesInSubnet"),
        "{ready:?}"
    );
    assert!(ready.message.contains("free an address"), "{ready:?}");
    assert_eq!(ever(&lab), 11);
    lab.account().delete(Actor::Stranger, &others[0]).unwrap();
    lab.wait(laboratory::RESYNC);
    lab.converge().await;
    assert_eq!(ever(&lab), 12);
}

#[tokio::test]
async fn a_type_that_the_zone_does_not_offer() {
    let lab = lab("type").await.unwrap();
    lab.account().lack_type("t3.large", "zone-a");
    lab.create_sample().await;
    refused(&lab, &["Unsupported", "zone-a", "another zone"]).await;
    lab.patch(json!({"spec": {"instanceType": "m7i.large"}}))
        .await;
    recovers(&lab).await;
}

#[tokio::test]
async fn an_image_of_another_region() {
    let lab = lab("image").await.unwrap();
    create(&lab, json!({"ami": {"id": "ami-0fedcba9876543210"}})).await;
    refused(&lab, &["InvalidAMIID.NotFound", "an image of this region"]).await;
    lab.patch(json!({"spec": {"ami": {"id": "ami-0123456789abcdef0"}}}))
        .await;
    recovers(&lab).await;
}

#[tokio::test]
async fn no_image_is_found() {
    let lab = lab("none").await.unwrap();
    lab.account().withdraw_image("ami-0123456789abcdef0");
    lab.create_sample().await;
    let words = [
        "capa-ami-ubuntu-24.04-?1.34.2-*",
        "819546954734",
        "eu-central-1",
    ];
    refused(&lab, &words).await;
    lab.account().publish_image(
        "ami-0123456789abcdeff",
        "819546954734",
        "capa-ami-ubuntu-24.04-v1.34.2-1799999999",
        false,
    );
    lab.wait(laboratory::RESYNC);
    lab.converge().await;
    assert_eq!(
        crate::lab::object(&lab).await["spec"]["ami"]["id"],
        "ami-0123456789abcdeff"
    );
}

/// Images are for the architecture of the machine's type.
#[tokio::test]
async fn an_image_for_another_architecture() {
    let lab = lab("arm").await.unwrap();
    create(&lab, json!({"instanceType": "m7g.large"})).await;
    lab.converge().await;
    assert_eq!(
        crate::lab::object(&lab).await["spec"]["ami"]["id"],
        "ami-0123456789abcdefa"
    );
}

#[tokio::test]
async fn a_role_that_may_not_be_passed_on() {
    let lab = lab("role").await.unwrap();
    let planted = lab.account().plant(
        Actor::Stranger,
        &INSTANCE_PROFILE,
        "nodes",
        &Props::new(),
        &Tags::new(),
    );
    planted.unwrap();
    lab.account().let_pass("nodes", false);
    create(&lab, json!({"iamInstanceProfile": "nodes"})).await;
    refused(&lab, &["UnauthorizedOperation", "iam:PassRole"]).await;
    lab.account().let_pass("nodes", true);
    recovers(&lab).await;
}

#[tokio::test]
async fn user_data_that_are_too_large() {
    let lab = lab("large").await.unwrap();
    world::secret(&lab.client, "large", "much", &"x".repeat(20_000)).await;
    edit_owner(
        &lab,
        json!({"spec": {"bootstrap": {"dataSecretName": "much"}}}),
    )
    .await;
    create(&lab, json!({"uncompressedUserData": true})).await;
    refused(
        &lab,
        &["bootstrap data", "20000 bytes", "at most 16384 bytes"],
    )
    .await;
    lab.patch(json!({"spec": {"uncompressedUserData": false}}))
        .await;
    recovers(&lab).await;
}

#[tokio::test]
async fn a_quota_that_is_used_up() {
    let settings = Settings {
        quotas: Quotas::default().resources(&INSTANCE, 0),
        ..Settings::default()
    };
    let lab = with("quota", "classic", settings).await;
    lab.create_sample().await;
    refused(
        &lab,
        &["InstanceLimitExceeded", "Running On-Demand instances"],
    )
    .await;
    assert!(instances(&lab).is_empty());
}

#[tokio::test]
async fn fields_that_are_not_served_are_named_and_make_nothing() {
    let lab = lab("unserved").await.unwrap();
    let spec = json!({
        "spotMarketOptions": {"maxPrice": "1"},
        "cloudInit": {"secureSecretsBackend": "ssm-parameter-store"},
        "instanceMetadataOptions": {"httpPutResponseHopLimit": 1, "httpTokens": "required"},
    });
    create(&lab, spec).await;
    let words = [
        "spec.spotMarketOptions",
        "spec.cloudInit.secureSecretsBackend",
        "spec.instanceMetadataOptions.httpTokens",
    ];
    refused(&lab, &words).await;
    let ready = lab.condition("Ready").await.unwrap();
    assert!(!ready.message.contains("HopLimit"), "{ready:?}");
    lab.patch(json!({"spec": {
        "spotMarketOptions": null, "cloudInit": null, "instanceMetadataOptions": null,
    }}))
    .await;
    recovers(&lab).await;
}

#[tokio::test]
async fn a_pause_stops_creation_and_deletion() {
    let lab = lab("paused").await.unwrap();
    let paused = |is_paused: bool| json!({"spec": {"paused": is_paused}});
    let edit = async |patch| {
        world::edit::<api::capa::OwnerCluster>(&lab.client, "paused", "prod", patch).await;
    };
    edit(paused(true)).await;
    lab.create_sample().await;
    lab.settle().await;
    lab.assert_condition("Paused", &["spec.paused of the Cluster prod"])
        .await;
    assert_eq!(ever(&lab), 0);
    edit(paused(false)).await;
    lab.converge().await;
    lab.patch(json!({"metadata": {"annotations": {"cluster.x-k8s.io/paused": ""}}}))
        .await;
    lab.delete().await;
    lab.settle().await;
    assert_eq!(instances(&lab).len(), 1);
    lab.patch(json!({"metadata": {"annotations": {"cluster.x-k8s.io/paused": null}}}))
        .await;
    lab.settle().await;
    assert!(lab.is_gone().await);
    assert!(instances(&lab).is_empty());
}
