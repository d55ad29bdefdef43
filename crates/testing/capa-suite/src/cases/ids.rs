//! Ids in the spec are written by the controller and by people: what we recorded is a hint, what a person
//! wrote is a wish.

use api::names::LEDGER;
use cloud_port::aws::AwsPlace;
use cloud_port::aws::route_table::{ASSOCIATION, ROUTE_TABLE};
use serde_json::{Value, json};

use super::brought::plant;
use crate::lab::{Lab, TWO_ZONES};

/// Whoever takes recorded ids out of the spec has them written again: nothing is made.
pub async fn recorded_ids_that_were_taken_out_are_written_again<C: AwsPlace + Clone + 'static>(
    lab: &mut Lab<C>,
) {
    lab.create_sample().await;
    lab.converge().await;
    let (before, told) = (lab.everything().await, lab.network().await);
    let mut subnets = told["subnets"].clone();
    for subnet in subnets.as_array_mut().unwrap() {
        let subnet = subnet.as_object_mut().unwrap();
        for field in ["resourceID", "routeTableId", "natGatewayId"] {
            subnet.remove(field);
        }
    }
    let none = json!({"vpc": {"id": null, "internetGatewayId": null}, "subnets": subnets});
    lab.edit(json!({"network": none})).await;
    lab.converge().await;
    assert_eq!(lab.network().await, told);
    lab.assert_same(&before, "law 3").await;
}

/// What we recorded and somebody deleted is made again, under its new id: a hint is no wish.
pub async fn what_we_recorded_and_is_gone_is_made_again<C: AwsPlace + Clone + 'static>(
    lab: &mut Lab<C>,
) {
    lab.create_sample().await;
    lab.converge().await;
    let before = lab.network().await;
    let of = |network: &Value| network["subnets"][1]["routeTableId"].clone();
    let gone = of(&before);
    let (hands, id) = (&lab.hands, gone.as_str().unwrap());
    let associations = hands.inside(&ROUTE_TABLE, id, ASSOCIATION).await;
    for key in associations.into_keys() {
        hands.remove(&ROUTE_TABLE, id, ASSOCIATION, &key).await;
    }
    hands.delete(&ROUTE_TABLE, id).await;
    lab.wait(laboratory::RESYNC);
    lab.converge().await;
    let after = lab.network().await;
    assert!(of(&after).is_string() && of(&after) != gone, "{after}");
    assert_eq!(after["vpc"], before["vpc"]);
    assert_eq!(lab.marked().await.len(), TWO_ZONES);
    lab.assert_silent().await;
    lab.end().await;
}

/// A person writes the id of a VPC of their own over ours: that is a wish, and nothing of theirs is ours
/// for it. Nothing of ours is lost by it, either.
pub async fn a_persons_vpc_written_over_ours_stays_theirs<C: AwsPlace + Clone + 'static>(
    lab: &mut Lab<C>,
) {
    let network = plant(lab).await;
    let before = lab.everything().await;
    lab.create_sample().await;
    lab.converge().await;
    let ours = lab.marked().await;
    lab.edit(json!({"network": {"vpc": {"id": network.vpc}}}))
        .await;
    lab.restart();
    lab.settle().await;
    let ready = lab.condition("Ready").await.unwrap();
    assert!(!ready.holds, "{ready:?}");
    assert!(ready.message.contains(&network.vpc), "{ready:?}");
    assert_eq!(lab.network().await["vpc"]["id"], network.vpc, "their wish");
    assert_eq!(lab.marked().await, ours, "nothing is made, nothing ends");
    let during = lab.everything().await;
    assert!(before.iter().all(|(id, said)| during[id] == *said), "law 7");
    lab.end().await;
    lab.assert_same(&before, "law 7").await;
}

/// A cluster that was given another's ids, as a copied spec has them, uses them at most; their owner's
/// network outlives it as it was.
pub async fn ids_copied_from_another_cluster_are_no_ownership<C: AwsPlace + Clone + 'static>(
    lab: &mut Lab<C>,
) {
    lab.create_sample().await;
    lab.converge().await;
    let (before, network) = (lab.everything().await, lab.network().await);
    let other = lab.beside(&format!("{}-copy", lab.name)).await;
    other.create(json!({"network": network})).await;
    other.settle().await;
    let during = lab.everything().await;
    assert!(before.keys().all(|id| during.contains_key(id)));
    other.delete().await;
    other.settle().await;
    assert!(
        other.is_gone().await,
        "{:?}",
        other.condition("Ready").await
    );
    lab.assert_same(&before, "law 7").await;
    lab.converge().await;
    lab.assert_silent().await;
    lab.end().await;
}

/// Of ids that stand there without a record nobody says who wrote them: the marks do. What is ours ends,
/// what is somebody's stays. What we wrote on it nobody knows any more: that stays, too.
pub async fn without_a_record_marks_say_whose_an_id_is<C: AwsPlace + Clone + 'static>(
    lab: &mut Lab<C>,
) {
    let network = plant(lab).await;
    let before = lab.census().await;
    lab.create(json!({"network": network.spec()})).await;
    lab.converge().await;
    let during = lab.everything().await;
    let none = json!({"metadata": {"annotations": {LEDGER: null}}});
    lab.patch(none.clone()).await;
    lab.restart();
    lab.converge().await;
    lab.assert_same(&during, "law 6").await;
    lab.patch(none).await;
    lab.restart();
    lab.end().await;
    assert_eq!(lab.census().await, before, "laws 3 and 6");
    let after = lab.everything().await;
    let same = |id: &String| after[id] == during[id];
    assert!(before.iter().all(same), "law 7: {after:#?}");
}
