//! A machine from its `Machine` to ready to gone; and what does not change under a living one.

use api::capa::{AwsCluster, OwnerMachine};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use cloud_port::aws::instance::{INSTANCE, USER_DATA};
use cloud_sim::{Actor, Settings};
use serde_json::json;

use crate::lab::{behind, create, edit_owner, end, ever, instances, lab, namespace, object, with};
use crate::world;

#[tokio::test]
async fn a_machine_from_its_owner_to_ready_to_gone() {
    let settings = Settings {
        paces: cloud_sim::aws_paces(),
        ..Settings::default()
    };
    let lab = with("life", "classic", settings).await;
    lab.create_sample().await;
    lab.pass().await;
    lab.wait(std::time::Duration::from_secs(16));
    lab.pass().await;
    let made = object(&lab).await;
    assert_eq!(made["status"]["ready"], false);
    assert!(made["spec"]["instanceID"].is_string(), "recorded at once");
    lab.converge().await;
    let [instance] = &instances(&lab)[..] else {
        panic!("one instance");
    };
    let object = object(&lab).await;
    let (spec, status) = (&object["spec"], &object["status"]);
    assert_eq!(spec["instanceID"], instance.id.as_str());
    assert_eq!(spec["providerID"], format!("aws:///zone-a/{}", instance.id));
    assert_eq!(spec["ami"]["id"], "ami-0123456789abcdef0");
    assert!(spec["subnet"]["id"].is_string());
    assert_eq!(
        (&status["ready"], &status["instanceState"]),
        (&json!(true), &json!("running"))
    );
    let addresses = status["addresses"].as_array().unwrap();
    assert_eq!(addresses.len(), 2, "{addresses:?}");
    assert_eq!(addresses[1]["type"], "InternalIP");
    lab.assert_silent().await;
    end(&lab).await;
    assert_eq!(ever(&lab), 1);
    assert!(instances(&lab).is_empty());
}

/// What it is told at its first start is compressed, and the secret is in no place but the instance.
#[tokio::test]
async fn bootstrap_data_become_user_data() {
    let lab = lab("data").await.unwrap();
    create(&lab, json!({"uncompressedUserData": true})).await;
    lab.converge().await;
    let account = lab.account().clone();
    let life = account
        .lives()
        .find(|life| life.target.kind == &INSTANCE)
        .unwrap();
    let sent = life.secrets.get(USER_DATA).unwrap().reveal();
    assert_eq!(STANDARD.decode(sent).unwrap(), b"#cloud-config\n");
    let said = object(&lab).await.to_string();
    assert!(
        !said.contains(sent) && !said.contains("cloud-config"),
        "{said}"
    );
}

/// A newer image, a subnet more and another wish of the template change nothing under a living machine.
#[tokio::test]
async fn what_was_chosen_stays_chosen() {
    let mut lab = lab("chosen").await.unwrap();
    lab.create_sample().await;
    lab.converge().await;
    let (before, made) = (object(&lab).await, instances(&lab));
    lab.account().publish_image(
        "ami-0123456789abcdeff",
        "819546954734",
        "capa-ami-ubuntu-24.04-v1.34.2-1799999999",
        false,
    );
    edit_owner(&lab, json!({"spec": {"failureDomain": "zone-b"}})).await;
    lab.restart();
    lab.converge().await;
    assert_eq!(object(&lab).await["spec"], before["spec"]);
    assert_eq!(instances(&lab), made);
    lab.patch(json!({"spec": {"instanceType": "t3.xlarge"}}))
        .await;
    lab.settle().await;
    lab.assert_condition("Degraded", &["type", "t3.large"])
        .await;
    assert_eq!(instances(&lab), made);
    assert_eq!(ever(&lab), 1);
}

/// Cluster API replaces machines: one that is gone is told, and another is never made.
#[tokio::test]
async fn one_that_was_killed_by_hand_is_told_and_not_made_again() {
    let mut lab = lab("killed").await.unwrap();
    lab.create_sample().await;
    lab.converge().await;
    let made = instances(&lab);
    lab.account().delete(Actor::Stranger, &made[0]).unwrap();
    lab.wait(laboratory::RESYNC);
    lab.settle().await;
    let status = object(&lab).await["status"].take();
    assert_eq!(status["failureReason"], "InstanceTerminated", "{status}");
    assert!(
        status["failureMessage"]
            .as_str()
            .unwrap()
            .contains("delete the Machine")
    );
    assert_eq!(
        (&status["ready"], &status["instanceState"]),
        (&json!(false), &json!("terminated"))
    );
    // Nor after its operator and its record were lost.
    lab.patch(json!({"metadata": {"annotations": {"freehold.dev/ledger": null}}}))
        .await;
    lab.restart();
    lab.settle().await;
    lab.wait(laboratory::RESYNC);
    lab.settle().await;
    assert_eq!(ever(&lab), 1);
    let status = object(&lab).await["status"].take();
    assert_eq!(status["failureReason"], "InstanceTerminated", "{status}");
    end(&lab).await;
}

#[tokio::test]
async fn a_machine_waits_for_its_owner_its_cluster_and_its_data() {
    let lab = behind("waits", "classic").await;
    let mut sample = lab.sample.manifest.clone();
    let owners = sample["metadata"]["ownerReferences"].take();
    let not_yet = json!({"status": {"ready": false}});
    world::edit_status::<AwsCluster>(&lab.client, "waits", "prod", not_yet).await;
    edit_owner(
        &lab,
        json!({"spec": {"bootstrap": {"dataSecretName": null}}}),
    )
    .await;
    lab.create_object(&sample).await;
    let waits = async |word: &str| {
        lab.settle().await;
        let ready = lab.condition("Ready").await.unwrap();
        assert_eq!(
            (ready.holds, ready.reason.as_str()),
            (false, "Waiting"),
            "{ready:?}"
        );
        assert!(ready.message.contains(word), "{ready:?}");
        assert_eq!(ever(&lab), 0);
    };
    waits("its owner").await;
    lab.patch(json!({"metadata": {"ownerReferences": owners}}))
        .await;
    waits("the AWSCluster prod to be ready").await;
    let ready = json!({"status": {"ready": true}});
    world::edit_status::<AwsCluster>(&lab.client, "waits", "prod", ready).await;
    waits("the Machine cp to have its bootstrap data").await;
    let named = json!({"spec": {"bootstrap": {"dataSecretName": "late"}}});
    world::edit::<OwnerMachine>(&lab.client, namespace(&lab), "cp", named).await;
    lab.settle().await;
    lab.assert_condition("Invalid", &["late", "a Secret that is there"])
        .await;
    world::secret(&lab.client, "waits", "late", "hello").await;
    lab.wait(laboratory::RESYNC);
    lab.converge().await;
    assert_eq!(ever(&lab), 1);
}
