//! What people write wrongly: a condition that names the field and the cure, and no hot loop.

use std::time::Duration;

use cloud_port::aws::AwsPlace;
use controllers::reconcile::Next;
use serde_json::{Value, json};

use crate::{Lab, WRONG_KEY};

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

/// The older field, which has one range.
pub async fn the_one_range_that_is_none<C: AwsPlace + Clone + 'static>(lab: &mut Lab<C>) {
    let aws = json!({"nodePortsAllowedIPRange": "10.0.0.0/33"});
    let words = ["spec.cloud.aws.nodePortsAllowedIPRange:", "10.0.0.0/33"];
    refused(lab, aws, json!({}), "Invalid", &words).await;
}

/// A VPC that does not exist.
pub async fn a_vpc_that_is_not_there<C: AwsPlace + Clone + 'static>(lab: &mut Lab<C>) {
    let aws = json!({"vpcID": "vpc-0123456789abcdef0"});
    let words = ["spec.cloud.aws.vpcID", "vpc-0123456789abcdef0"];
    refused(lab, aws, json!({}), "Invalid", &words).await;
}

/// An id that can be none.
pub async fn an_id_that_is_none<C: AwsPlace + Clone + 'static>(lab: &mut Lab<C>) {
    let aws = json!({"securityGroupID": "sg-nope"});
    let words = ["spec.cloud.aws.securityGroupID", "sg-nope"];
    refused(lab, aws, json!({}), "Invalid", &words).await;
}

/// Neither the name nor the ARN of a role.
pub async fn a_role_that_is_none<C: AwsPlace + Clone + 'static>(lab: &mut Lab<C>) {
    let aws = json!({"roleARN": "foo bar"});
    let words = ["spec.cloud.aws.roleARN: \"foo bar\" must be the ARN of a role"];
    refused(lab, aws, json!({}), "Invalid", &words).await;
    lab.patch(
        json!({"spec": {"cloud": {"aws": {"roleARN": "arn:aws:iam::123456789012:user/foo"}}}}),
    )
    .await;
    told(lab, "Invalid", &["spec.cloud.aws.roleARN", "user/foo"]).await;
    lab.patch(json!({"spec": {"cloud": {"aws": {"roleARN": ""}}}}))
        .await;
    lab.converge().await;
}

/// A cluster on AWS, by its provider's name, that says nothing of AWS.
pub async fn a_provider_without_its_settings<C: AwsPlace + Clone + 'static>(lab: &mut Lab<C>) {
    let spec = json!({"cloud": {"providerName": "aws", "aws": null}});
    lab.create(json!({}), spec).await;
    told(
        lab,
        "Invalid",
        &["spec.cloud.aws:", "spec.cloud.providerName"],
    )
    .await;
    // It has nothing, and can go.
    lab.delete().await;
    lab.settle().await;
    assert!(lab.is_gone().await);
}

/// A field that is almost one; the original's own definition drops it.
pub async fn a_field_that_is_misspelt<C: AwsPlace + Clone + 'static>(lab: &mut Lab<C>) {
    lab.create(json!({"vpcId": "vpc-0123456789abcdef0"}), json!({}))
        .await;
    let aws = lab.cluster().await.spec.cloud.aws.unwrap();
    if aws.rest.contains_key("vpcId") {
        let words = ["spec.cloud.aws.vpcId:", "did you mean vpcID?"];
        told(lab, "Invalid", &words).await;
        lab.patch(json!({"spec": {"cloud": {"aws": {"vpcId": null}}}}))
            .await;
    }
    lab.converge().await;
}

/// Credentials in a Secret that does not exist.
pub async fn a_secret_that_is_not_there<C: AwsPlace + Clone + 'static>(lab: &mut Lab<C>) {
    let aws = json!({"credentialsReference": {"namespace": "kubermatic", "name": "missing"}});
    let words = ["spec.cloud.aws.credentialsReference", "missing"];
    lab.create(aws, json!({})).await;
    // Nobody watches Secrets, so it is looked for soon.
    let next = said(lab, "Invalid", &words).await;
    assert_eq!(next, Next::After(Duration::from_secs(30)));
}

/// A datacenter that no Seed has.
pub async fn a_datacenter_that_is_not_there<C: AwsPlace + Clone + 'static>(lab: &mut Lab<C>) {
    let name = lab.name.clone();
    let metadata = json!({"annotations": {"kubermatic.io/aws-region": ""}});
    let spec = json!({"cloud": {"dc": "atlantis"}});
    lab.create_as(&name, json!({}), spec, metadata).await;
    told(lab, "Invalid", &["spec.cloud.dc", "atlantis", "Seed"]).await;
}

/// A region that AWS does not have.
pub async fn a_region_that_is_not_there<C: AwsPlace + Clone + 'static>(lab: &mut Lab<C>) {
    let name = lab.name.clone();
    let metadata = json!({"annotations": {"kubermatic.io/aws-region": "mars-north-1"}});
    lab.create_as(&name, json!({}), json!({}), metadata).await;
    let words = ["kubermatic.io/aws-region", "mars-north-1"];
    told(lab, "Invalid", &words).await;
}

/// Credentials that AWS does not accept, in the spec and in a Secret; then ones that it accepts.
pub async fn credentials_that_are_refused<C: AwsPlace + Clone + 'static>(lab: &mut Lab<C>) {
    let aws = json!({"accessKeyID": WRONG_KEY, "secretAccessKey": "hush"});
    let words = [
        "spec.cloud.aws.accessKeyID",
        WRONG_KEY,
        "InvalidClientTokenId",
    ];
    refused(lab, aws, json!({}), "Invalid", &words).await;
    let said = serde_json::to_string(&lab.cluster().await.status).unwrap();
    assert!(!said.contains("hush"), "{said}");
    lab.patch(json!({"spec": {"cloud": {"aws": {"accessKeyID": "AKIARIGHT"}}}}))
        .await;
    lab.converge().await;
}

/// A pinned value that is no UUID: nobody can tell which claim the object is.
pub async fn a_uuid_that_is_none<C: AwsPlace + Clone + 'static>(lab: &mut Lab<C>) {
    let name = lab.name.clone();
    let metadata = json!({"annotations": {"freehold.dev/claim-uuid": "me"}});
    lab.create_as(&name, json!({}), json!({}), metadata).await;
    told(lab, "Invalid", &["freehold.dev/claim-uuid", "me"]).await;
}

/// A role of another account.
pub async fn a_role_of_another_account<C: AwsPlace + Clone + 'static>(lab: &mut Lab<C>) {
    let aws = json!({"roleARN": "arn:aws:iam::999999999999:role/admin"});
    let words = ["spec.cloud.aws.roleARN", "999999999999"];
    refused(lab, aws, json!({}), "Invalid", &words).await;
}

/// A record that nobody can read: everything waits, also the end, until it is put right.
pub async fn a_record_that_is_none<C: AwsPlace + Clone + 'static>(lab: &mut Lab<C>) {
    lab.create(json!({}), json!({})).await;
    lab.converge().await;
    let annotations = lab.metadata().await.annotations.unwrap();
    let record = annotations["freehold.dev/ledger"].clone();
    let census = lab.hands.census().await;
    lab.patch(json!({"metadata": {"annotations": {"freehold.dev/ledger": "{"}}}))
        .await;
    lab.delete().await;
    lab.settle().await;
    lab.assert_condition("Invalid", &["freehold.dev/ledger"])
        .await;
    assert_eq!(lab.hands.census().await, census);
    lab.patch(json!({"metadata": {"annotations": {"freehold.dev/ledger": record}}}))
        .await;
    lab.settle().await;
    assert!(lab.is_gone().await);
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
    let next = said(lab, condition, words).await;
    assert!(
        matches!(next, Next::After(wait) if wait >= Duration::from_mins(1)),
        "the next look is far away: {next:?}"
    );
}

/// That it is told once, and nothing is made or written again; when the next look is.
async fn said<C: AwsPlace + Clone + 'static>(
    lab: &Lab<C>,
    condition: &str,
    words: &[&str],
) -> Next {
    let (groups, ..) = lab.hands.census().await;
    lab.settle().await;
    lab.assert_condition(condition, words).await;
    let ready = lab.condition("Ready").await.unwrap();
    assert_eq!((ready.holds, ready.reason.as_str()), (false, condition));
    let events = lab.events().await;
    let told = |event: &&String| {
        event.starts_with(condition) && words.iter().all(|word| event.contains(word))
    };
    assert_eq!(
        events.iter().filter(told).count(),
        1,
        "told once: {events:?}"
    );
    assert_eq!(lab.hands.census().await.0, groups);
    let version = lab.metadata().await.resource_version;
    let next = lab.pass().await;
    assert_eq!(lab.metadata().await.resource_version, version);
    next
}
