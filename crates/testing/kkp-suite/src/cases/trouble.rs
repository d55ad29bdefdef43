//! What people write wrongly: a condition that names the field and the cure, and no hot loop.

use std::time::Duration;

use cloud_port::aws::AwsPlace;
use controllers::reconcile::Next;
use serde_json::{Value, json};

use crate::Lab;

/// An allowed range that is no range.
pub async fn a_range_that_is_none<C: AwsPlace + Clone + 'static>(lab: &mut Lab<C>) {
    let aws = json!({"nodePortsAllowedIPRanges": {"cidrBlocks": ["10.0.0.0/33"]}});
    refused(
        lab,
        aws,
        json!({}),
        "Invalid",
        &["spec.cloud.aws.nodePortsAllowedIPRanges", "10.0.0.0/33"],
    )
    .await;
    lab.patch(json!({"spec": {"cloud": {"aws": {"nodePortsAllowedIPRanges": null}}}}))
        .await;
    lab.converge().await;
}

/// A VPC that does not exist.
pub async fn a_vpc_that_is_not_there<C: AwsPlace + Clone + 'static>(lab: &mut Lab<C>) {
    let aws = json!({"vpcID": "vpc-0123456789abcdef0"});
    refused(lab, aws, json!({}), "Invalid", &["vpc-0123456789abcdef0"]).await;
}

/// An id that can be none.
pub async fn an_id_that_is_none<C: AwsPlace + Clone + 'static>(lab: &mut Lab<C>) {
    let aws = json!({"securityGroupID": "sg-nope"});
    let words = ["spec.cloud.aws.securityGroupID", "sg-nope"];
    refused(lab, aws, json!({}), "Invalid", &words).await;
}

/// Credentials in a Secret that does not exist.
pub async fn a_secret_that_is_not_there<C: AwsPlace + Clone + 'static>(lab: &mut Lab<C>) {
    let aws = json!({"credentialsReference": {"namespace": "kubermatic", "name": "missing"}});
    let words = ["spec.cloud.aws.credentialsReference", "missing"];
    refused(lab, aws, json!({}), "Invalid", &words).await;
}

/// A datacenter that no Seed has.
pub async fn a_datacenter_that_is_not_there<C: AwsPlace + Clone + 'static>(lab: &mut Lab<C>) {
    let name = lab.name.clone();
    let metadata = json!({"annotations": {"kubermatic.io/aws-region": ""}});
    let spec = json!({"cloud": {"dc": "atlantis"}});
    lab.create_as(&name, json!({}), spec, metadata).await;
    told(lab, "Invalid", &["spec.cloud.dc", "atlantis", "Seed"]).await;
}

async fn refused<C: AwsPlace + Clone + 'static>(
    lab: &Lab<C>,
    aws: Value,
    spec: Value,
    condition: &str,
    words: &[&str],
) {
    lab.create(aws, spec).await;
    told(lab, condition, words).await;
}

async fn told<C: AwsPlace + Clone + 'static>(lab: &Lab<C>, condition: &str, words: &[&str]) {
    let (groups, ..) = lab.hands.census().await;
    lab.settle().await;
    lab.assert_condition(condition, words).await;
    let ready = lab.condition("Ready").await.unwrap();
    assert_eq!(ready.status, "False");
    assert_eq!(lab.hands.census().await.0, groups);
    // Nothing is written again, and the next look is far away.
    let version = lab.metadata().await.resource_version;
    let next = lab.pass().await;
    assert!(
        matches!(next, Next::After(wait) if wait >= Duration::from_mins(1)),
        "{next:?}"
    );
    assert_eq!(lab.metadata().await.resource_version, version);
}
