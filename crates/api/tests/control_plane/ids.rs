//! KKP's own policy: the ids in `spec.cloud.aws`.

use api::names::LEDGER;
use kube::Client;
use kube::api::{Api, DynamicObject, Patch, PatchParams};
use serde_json::{Value, json};

use crate::claims::cluster_api;
use crate::policies;
use crate::{create, eventually};

const NAME: &str = "ids";
const PROBE: &str = "ids-probe";
const ROLE: &str = "kubernetes-a-control-plane";
const ARN: &str = "arn:aws:iam::123456789012:role/kubernetes-a-control-plane";
/// The ids without a rule of their own, and what the record calls them.
const IDS: [(&str, &str); 4] = [
    ("vpcID", "vpc"),
    ("routeTableID", "route-table"),
    ("securityGroupID", "security-group"),
    ("instanceProfileName", "instance-profile"),
];

struct People(Api<DynamicObject>);

impl People {
    async fn attempt(&self, patch: Value) -> Result<(), String> {
        policies::attempt(&self.0, NAME, patch).await
    }

    async fn allow(&self, field: &str, value: &str) {
        let allowed = self.attempt(aws(field, value)).await;
        assert_eq!(allowed, Ok(()), "{field} {value}");
    }

    async fn refuse(&self, field: &str, value: &str) {
        let refusal = self.attempt(aws(field, value)).await;
        let refusal = refusal.expect_err(&format!("{field} {value}"));
        assert!(refusal.contains(field), "{refusal}");
    }

    /// The operator's record says that it recorded these itself.
    async fn record(&self, ids: &[(&str, &str)]) {
        let known = |(id, slot): &(&str, &str)| {
            // As it is written; the suite of KKP shows that it is.
            format!(r#"{{"kind":"aws/kind","id":"{id}","slot":"{slot}","origin":"found"}}"#)
        };
        let known: Vec<String> = ids.iter().map(known).collect();
        let record = format!(r#"{{"known":[{}]}}"#, known.join(","));
        let patch = json!({"metadata": {"annotations": {LEDGER: record}}});
        self.attempt(patch).await.unwrap();
    }
}

fn aws(field: &str, value: &str) -> Value {
    json!({"spec": {"cloud": {"aws": {field: value}}}})
}

pub(crate) async fn the_policy_holds(people: &Client, operator: &Client) {
    for name in [NAME, PROBE] {
        create(people, name).await;
    }
    let [people, operator] = [people, operator].map(|client| People(cluster_api(client)));
    is_in_force(&people).await;
    for (field, _) in IDS {
        people.allow(field, "").await;
        people.allow(field, "first").await;
        people.allow(field, "first").await;
        people.refuse(field, "second").await;
        people.refuse(field, "").await;
    }
    a_role_is_called_by_its_name_or_its_arn(&people).await;
    what_the_operator_recorded_can_be_cleared(&people, &operator).await;
    mistakes_can_be_corrected(&people).await;
    the_operator_repairs(&people, &operator).await;

    // What is not ours is nobody's business here.
    let theirs = json!({"spec": {"pause": true, "version": "1.34.2"}});
    people.attempt(theirs).await.unwrap();
    people.allow("nodePortsAllowedIPRange", "10.0.0.0/8").await;
}

/// A server takes a policy up a moment later: then an id cannot go there and back any more.
async fn is_in_force(people: &People) {
    eventually("the policy is in force", || async {
        let mut refused = false;
        for id in ["one", "another"] {
            let sent = policies::attempt(&people.0, PROBE, aws("vpcID", id)).await;
            refused |= sent.is_err();
        }
        refused.then_some(())
    })
    .await;
}

async fn a_role_is_called_by_its_name_or_its_arn(people: &People) {
    people.allow("roleARN", ROLE).await;
    for refused in [
        "",
        "another-name",
        "control-plane",
        "arn:aws:iam::123456789012:role/another",
        // Its name ends like ours and is another.
        "arn:aws:iam::123456789012:role/not-kubernetes-a-control-plane",
        "arn:aws:iam::123456789012:user/kubernetes-a-control-plane",
        "arn:aws:iam::12:role/kubernetes-a-control-plane",
        "arn:aws:s3:::role/kubernetes-a-control-plane",
    ] {
        people.refuse("roleARN", refused).await;
    }
    for same in [ARN, ARN, ROLE, ARN] {
        people.allow("roleARN", same).await;
    }
    for refused in [
        "",
        "control-plane",
        "arn:aws:iam::123456789012:role/path/kubernetes-a-control-plane",
        "arn:aws:iam::210987654321:role/kubernetes-a-control-plane",
    ] {
        people.refuse("roleARN", refused).await;
    }
}

/// Whoever applies a manifest without the ids clears them. What a person wrote stays.
async fn what_the_operator_recorded_can_be_cleared(people: &People, operator: &People) {
    for (field, slot) in IDS {
        // Another id, and the same one of another slot, is not what was recorded.
        operator
            .record(&[("second", slot), ("first", "other"), ("first-", slot)])
            .await;
        people.refuse(field, "").await;
        operator.record(&[("first", slot)]).await;
        people.refuse(field, "second").await;
        people.allow(field, "").await;
        people.allow(field, "first").await;
    }
    operator
        .record(&[("control-plane", "control-plane-role")])
        .await;
    people.refuse("roleARN", "").await;
    operator.record(&[(ROLE, "control-plane-role")]).await;
    for written in [ARN, ROLE, ARN] {
        people.allow("roleARN", written).await;
        people.refuse("roleARN", "another").await;
        people.allow("roleARN", "").await;
    }
    people.allow("roleARN", ARN).await;
    // Where there is no cloud, nothing can be recorded again.
    let mut all = IDS.map(|(_, slot)| ("first", slot)).to_vec();
    all.push((ROLE, "control-plane-role"));
    operator.record(&all).await;
    let no_cloud = json!({"spec": {"cloud": {"aws": null}}});
    people.attempt(no_cloud).await.unwrap_err();
    operator.record(&[]).await;
}

/// What Freehold complains about can be corrected or cleared, and nothing else.
async fn mistakes_can_be_corrected(people: &People) {
    let complain = async |status: &str, words: &str| {
        let condition = json!({"status": status, "message": words, "reason": "InvalidField",
            "kubermaticVersion": "v2.29", "lastHeartbeatTime": "2026-01-01T00:00:00Z"});
        let patch = json!({"status": {"conditions": {"Invalid": condition}}});
        let (parameters, patch) = (PatchParams::default(), Patch::Merge(patch));
        let patched = people.0.patch_status(NAME, &parameters, &patch);
        patched.await.unwrap();
    };
    for (field, words) in [
        ("vpcID", "spec.cloud.aws.vpcID: first does not exist"),
        ("roleARN", "spec.cloud.aws.roleARN: \"x\" is no ARN"),
    ] {
        complain("False", words).await;
        people.refuse(field, "").await;
        complain("True", "spec.cloud.aws.vpcIDs: another field").await;
        people.refuse(field, "").await;
        complain("True", words).await;
        people.refuse("securityGroupID", "").await;
        people.allow(field, "").await;
        people.allow(field, "second").await;
    }
    complain("False", "").await;
}

/// The operator records another id where what was recorded is gone.
async fn the_operator_repairs(people: &People, operator: &People) {
    for (field, value) in [
        ("securityGroupID", "second"),
        ("instanceProfileName", ""),
        ("roleARN", "arn:aws:iam::210987654321:role/another"),
    ] {
        people.refuse(field, value).await;
        operator.allow(field, value).await;
    }
}

/// The checks above are for something: without a rule they fail.
#[tokio::test(start_paused = true)]
async fn a_missing_rule_about_ids_is_noticed() {
    for rule in 0..policies::kkp().rules() {
        let broken = policies::kkp().without_rule(rule);
        assert!(
            !broken
                .passes(|people, operator| Box::pin(the_policy_holds(people, operator)))
                .await,
            "without rule {rule}"
        );
    }
    assert!(
        policies::kkp()
            .passes(|people, operator| Box::pin(the_policy_holds(people, operator)))
            .await
    );
}
