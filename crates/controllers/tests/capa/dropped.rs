//! What is not wanted any more, where something else happens to it, too: an end, a fault, a person.

use api::names::LEDGER;
use cloud_port::aws::classic_load_balancer::CLASSIC_LOAD_BALANCER;
use cloud_port::aws::elastic_ip::ELASTIC_IP;
use cloud_port::aws::nat_gateway::NAT_GATEWAY;
use cloud_port::aws::route_table::ROUTE_TABLE;
use cloud_port::aws::subnet::SUBNET;
use cloud_port::aws::vpc::VPC;
use cloud_sim::Actor;
use ownership::Target;
use ownership::mark::Tags;
use ownership::part::Props;
use serde_json::{Value, json};

use crate::meetings::props;
use crate::small::{Lab, TWO_ZONES, create, end, lab, object, settings, with};

/// Law 6: an id that the user wrote is a wish, and never a create; what he names is not ended.
#[tokio::test]
async fn law_6_a_subnet_of_ours_that_the_user_names_by_id_stays() {
    let lab = lab("names").await.unwrap();
    lab.create_sample().await;
    lab.converge().await;
    let mut subnets = object(&lab).await["spec"]["network"]["subnets"].take();
    let named = subnets[3]["resourceID"].as_str().unwrap().to_owned();
    // As objects of older versions of the original have it; the range is another one by mistake.
    subnets[3] = json!({
        "id": named, "cidrBlock": "10.0.240.0/24", "availabilityZone": "zone-b",
    });
    lab.patch(json!({"spec": {"network": {"subnets": subnets}}}))
        .await;
    lab.settle().await;
    let condition = lab.condition("Ready").await;
    let account = lab.account();
    let alive: Vec<String> = account.alive(&SUBNET).map(|it| it.id.to_string()).collect();
    assert!(
        alive.contains(&named),
        "law 6: {named} is gone: {condition:?}"
    );
    assert_eq!(alive.len(), 4 + 2, "law 6: {condition:?}");
}

/// Law 1, law 7: a tag that somebody wrote on a resource of ours is his, although we want the same for a
/// while.
#[tokio::test]
async fn law_1_a_tag_that_somebody_wrote_stays_his() {
    let lab = lab("tag").await.unwrap();
    lab.create_sample().await;
    lab.converge().await;
    let vpc = object(&lab).await["spec"]["network"]["vpc"]["id"].take();
    let vpc = Target::new(&VPC, ownership::ResourceId::new(vpc.as_str().unwrap()));
    let team = ("team".into(), "blue".into());
    lab.account()
        .tag(
            Actor::Stranger,
            std::slice::from_ref(&vpc),
            std::slice::from_ref(&team),
        )
        .unwrap();
    lab.patch(json!({"spec": {"additionalTags": {"team": "blue"}}}))
        .await;
    lab.converge().await;
    lab.patch(json!({"spec": {"additionalTags": null}})).await;
    lab.converge().await;
    let account = lab.account();
    let vpc = account.alive(&VPC).find(|it| it.id == vpc.id).unwrap();
    assert!(vpc.tags.has("team", "blue"), "law 1: {:?}", vpc.tags);
}

/// Law 2, and what the ledger knows and the blueprint no longer wants is ended in life: a condemned twin
/// of a slot that is dropped meanwhile.
#[tokio::test]
async fn law_2_a_condemned_twin_of_a_dropped_slot_goes() {
    let lab = lab("twin").await.unwrap();
    lab.create_sample().await;
    lab.converge().await;
    let all = object(&lab).await["spec"]["network"]["subnets"].take();
    let first = all[3]["resourceID"].as_str().unwrap().to_owned();
    let (twin, guest) = {
        let mut account = lab.account();
        let kept = account.alive(&SUBNET).find(|it| it.id.as_str() == first);
        let kept = kept.unwrap().clone();
        let vpc = kept.props.get("vpc").unwrap().clone();
        let like = props(&[("vpc", &vpc), ("cidr", "10.0.240.0/24"), ("zone", "zone-b")]);
        let twin = account.plant(Actor::Engine(0), &SUBNET, "", &like, &kept.tags);
        let twin = twin.unwrap();
        let eip = account
            .plant(
                Actor::Stranger,
                &ELASTIC_IP,
                "",
                &Props::new(),
                &Tags::new(),
            )
            .unwrap();
        let nat = props(&[
            ("subnet", twin.id.as_str()),
            ("allocation", eip.id.as_str()),
        ]);
        let nat = account.plant(Actor::Stranger, &NAT_GATEWAY, "", &nat, &Tags::new());
        (twin, nat.unwrap())
    };
    lab.wait(laboratory::RESYNC);
    lab.settle().await;
    let record = object(&lab).await["metadata"]["annotations"][LEDGER].to_string();
    assert!(record.contains("condemned"), "{record}");
    let fewer: Vec<Value> = all.as_array().unwrap()[..2].to_vec();
    lab.patch(json!({"spec": {"network": {"subnets": fewer}}}))
        .await;
    lab.settle().await;
    lab.account().delete(Actor::Stranger, &guest).unwrap();
    for _ in 0..6 {
        lab.wait(laboratory::RESYNC);
        lab.settle().await;
    }
    let marked = lab.marked().await;
    assert!(
        !marked.contains(&format!("{} {}", SUBNET.name, twin.id)),
        "law 2: {:?}",
        lab.condition("Ready").await
    );
    assert_eq!(marked.len(), TWO_ZONES - 6);
}

/// What an engine made and nobody has ended.
fn left(lab: &Lab) -> Vec<String> {
    let account = lab.account();
    let ours = account.lives();
    let ours = ours.filter(|life| life.is_alive() && matches!(life.by, Actor::Engine(_)));
    ours.map(|life| format!("{} {:?} {:?}", life.target, life.slot, life.tags))
        .collect()
}

async fn drop_zone_b(lab: &Lab) {
    let all = object(lab).await["spec"]["network"]["subnets"].take();
    let fewer: Vec<Value> = all.as_array().unwrap()[..2].to_vec();
    lab.patch(json!({"spec": {"network": {"subnets": fewer}}}))
        .await;
}

/// Law 3: a partly removed mark is repaired, in life and at the end. In a slot that is dropped it must
/// not be forgotten: the dialect's marks and the record still say whose it is.
#[tokio::test]
async fn law_3_a_dropped_slot_whose_mark_is_partly_gone_is_no_orphan() {
    let lab = lab("partly").await.unwrap();
    lab.create_sample().await;
    lab.converge().await;
    let subnet = object(&lab).await["spec"]["network"]["subnets"][3]["resourceID"].take();
    let subnet = Target::new(
        &SUBNET,
        ownership::ResourceId::new(subnet.as_str().unwrap()),
    );
    let mark = {
        let account = lab.account();
        let subnet = account
            .alive(&SUBNET)
            .find(|it| it.id == subnet.id)
            .unwrap();
        let mut tags = subnet.tags.iter();
        tags.find(|(key, _)| key.starts_with("freehold.dev/"))
            .unwrap()
            .clone()
    };
    lab.account()
        .untag(Actor::Stranger, std::slice::from_ref(&subnet), &[mark])
        .unwrap();
    drop_zone_b(&lab).await;
    for _ in 0..4 {
        lab.settle().await;
        lab.wait(laboratory::RESYNC);
    }
    let told = lab.condition("Ready").await;
    let events = lab.events().await;
    lab.delete().await;
    lab.settle().await;
    assert!(lab.is_gone().await, "{:?}", lab.condition("Ready").await);
    let left = left(&lab);
    assert!(left.is_empty(), "law 3: {left:#?} {told:?} {events:#?}");
}

/// Law 3: groups that let each other in go, also when the object has just stopped asking for that.
#[tokio::test]
async fn law_3_groups_that_the_spec_has_just_parted_go() {
    let lab = lab("parted").await.unwrap();
    let rule = |role: &str| {
        json!([{"description": "x", "protocol": "tcp", "fromPort": 9000, "toPort": 9000,
                "sourceSecurityGroupRoles": [role]}])
    };
    create(
        &lab,
        json!({
            "network": {"additionalNodeIngressRules": rule("apiserver-lb")},
            "controlPlaneLoadBalancer": {"ingressRules": rule("node")},
        }),
    )
    .await;
    lab.converge().await;
    lab.patch(json!({"spec": {
        "network": {"additionalNodeIngressRules": null},
        "controlPlaneLoadBalancer": {"ingressRules": null},
    }}))
    .await;
    lab.delete().await;
    for _ in 0..4 {
        lab.settle().await;
        if lab.is_gone().await {
            break;
        }
        lab.wait(laboratory::RESYNC);
    }
    assert!(
        lab.is_gone().await,
        "law 3: {:?} {:?}",
        lab.condition("Ready").await,
        lab.condition("Blocked").await
    );
    assert!(left(&lab).is_empty());
}

/// Law 3: the record is lost, and a zone is dropped besides: nothing is left at the end.
#[tokio::test]
async fn law_3_a_lost_record_and_a_zone_less_leave_nothing() {
    let mut lab = lab("less").await.unwrap();
    lab.create_sample().await;
    lab.converge().await;
    drop_zone_b(&lab).await;
    lab.patch(json!({"metadata": {"annotations": {LEDGER: null}}}))
        .await;
    lab.restart();
    lab.settle().await;
    end(&lab).await;
    assert!(left(&lab).is_empty(), "law 3: {:#?}", left(&lab));
}

/// Law 3: the same, where the object had named its subnets and has forgotten them.
#[tokio::test]
async fn law_3_named_subnets_that_are_forgotten_leave_nothing() {
    let mut lab = lab("named").await.unwrap();
    let subnets = json!([
        {"id": "one", "availabilityZone": "zone-a", "cidrBlock": "10.0.0.0/24", "isPublic": true},
        {"id": "two", "availabilityZone": "zone-a", "cidrBlock": "10.0.1.0/24"},
    ]);
    create(&lab, json!({"network": {"subnets": subnets}})).await;
    lab.converge().await;
    lab.patch(json!({
        "metadata": {"annotations": {LEDGER: null}}, "spec": {"network": null},
    }))
    .await;
    lab.delete().await;
    lab.restart();
    lab.settle().await;
    assert!(lab.is_gone().await, "{:?}", lab.condition("Ready").await);
    assert!(left(&lab).is_empty(), "law 3: {:#?}", left(&lab));
}

/// What is not wanted any more is ended: that a word is a load balancer's name does not mean that it is
/// meant.
#[tokio::test]
async fn law_2_a_load_balancer_that_is_called_like_a_zone_goes() {
    let lab = lab("like").await.unwrap();
    create(
        &lab,
        json!({"controlPlaneLoadBalancer": {"name": "zone-a"}}),
    )
    .await;
    lab.converge().await;
    lab.patch(json!({"spec": {"controlPlaneLoadBalancer": {"loadBalancerType": "disabled"}}}))
        .await;
    for _ in 0..3 {
        lab.settle().await;
        lab.wait(laboratory::RESYNC);
    }
    let balancers = lab.account().alive(&CLASSIC_LOAD_BALANCER).count();
    assert_eq!(balancers, 0, "{:?}", lab.condition("Ready").await);
}

/// Law 7: what is given back carries no mark of ours, in a slot that was just dropped, too.
#[tokio::test]
async fn law_7_what_is_given_back_carries_no_mark() {
    let lab = lab("given").await.unwrap();
    lab.create_sample().await;
    lab.converge().await;
    drop_zone_b(&lab).await;
    lab.patch(json!({"metadata": {"annotations": {"freehold.dev/deletion": "retain"}}}))
        .await;
    lab.delete().await;
    lab.settle().await;
    assert!(lab.is_gone().await, "{:?}", lab.condition("Ready").await);
    let account = lab.account();
    let marked: Vec<String> = account
        .lives()
        .filter(|life| life.is_alive() && matches!(life.by, Actor::Engine(_)))
        .filter_map(|life| {
            let marks = ["kubernetes.io/cluster/", "sigs.k8s.io/", "freehold.dev/"];
            let tags = life.tags.iter();
            let text = format!("{:?} {:?}", life.slot, tags.collect::<Vec<_>>());
            marks.iter().any(|mark| text.contains(mark)).then_some(text)
        })
        .collect();
    assert!(marked.is_empty(), "law 7: {marked:#?}");
}

/// Law 5, law 10: the claim is taken over and made smaller there; the operator before it, whose object
/// still wants all, makes and takes nothing.
#[tokio::test]
async fn law_5_a_take_over_that_shrinks_is_not_undone() {
    let here = with("over", settings(2)).await;
    here.create_sample().await;
    here.converge().await;
    let backup = here.backup().await;
    let mut there = with("over", settings(2)).await;
    there.lead_to(here.cloud().clone());
    there.move_to("elsewhere", &[]);
    there.restore(&backup).await;
    drop_zone_b(&there).await;
    let both = async |there: &Lab| {
        for _ in 0..60 {
            there.pass().await;
            there.wait(std::time::Duration::from_secs(45));
            here.wait(std::time::Duration::from_secs(45));
        }
    };
    both(&there).await;
    assert_eq!(here.marked().await.len(), TWO_ZONES, "law 5: not confirmed");
    there.move_to("elsewhere", &["here"]);
    both(&there).await;
    let after = here.marked().await;
    assert_eq!(
        after.len(),
        TWO_ZONES - 6,
        "{:?}",
        there.condition("Ready").await
    );
    here.wait(laboratory::RESYNC);
    here.settle().await;
    assert_eq!(here.marked().await, after, "law 5");
    here.delete().await;
    here.settle().await;
    assert_eq!(here.marked().await, after, "law 5");
}

/// Law 3: a zone less while something of it is announced, or was made and is not recorded.
#[tokio::test]
async fn law_3_a_zone_less_in_the_middle_of_a_create_leaves_nothing() {
    for (at, kind) in [&SUBNET, &ELASTIC_IP, &NAT_GATEWAY, &ROUTE_TABLE]
        .into_iter()
        .enumerate()
    {
        for keep in [0, 2] {
            let mut lab = lab(&format!("middle_{at}_{keep}")).await.unwrap();
            lab.create_sample().await;
            lab.crash_in_create(kind).await;
            let all = object(&lab).await["spec"]["network"]["subnets"].take();
            let fewer: Vec<Value> = all.as_array().unwrap()[keep..keep + 2].to_vec();
            lab.patch(json!({"spec": {"network": {"subnets": fewer}}}))
                .await;
            lab.converge().await;
            for _ in 0..3 {
                lab.wait(laboratory::RESYNC);
                lab.settle().await;
            }
            let there = left(&lab);
            assert_eq!(
                there.len(),
                TWO_ZONES - 6,
                "{} {keep}: {there:#?}",
                kind.name
            );
            end(&lab).await;
            assert!(left(&lab).is_empty(), "law 3");
        }
    }
}

/// Law 2: a zone that is dropped, and wanted again at any moment before everything of it is forgotten.
#[tokio::test]
async fn law_2_a_zone_that_is_wanted_again_is_there_once() {
    for passes in 0..14 {
        for ids in [false, true] {
            let lab = lab(&format!("again_{passes}_{ids}")).await.unwrap();
            lab.create_sample().await;
            lab.converge().await;
            let all = object(&lab).await["spec"]["network"]["subnets"].take();
            drop_zone_b(&lab).await;
            for _ in 0..passes {
                lab.pass().await;
                lab.wait(std::time::Duration::from_secs(3));
            }
            let mut more = all.clone();
            if !ids {
                for subnet in &mut more.as_array_mut().unwrap()[2..] {
                    for field in ["resourceID", "routeTableId", "natGatewayId"] {
                        subnet[field] = Value::Null;
                    }
                }
            }
            lab.patch(json!({"spec": {"network": {"subnets": more}}}))
                .await;
            for _ in 0..3 {
                lab.settle().await;
                lab.wait(laboratory::RESYNC);
            }
            let ready = lab.condition("Ready").await.unwrap();
            let there = left(&lab);
            let named = ids && ready.reason == "Invalid";
            assert!(ready.holds || named, "{passes} {ids} {ready:?}");
            if ready.holds {
                assert_eq!(there.len(), TWO_ZONES, "law 2: {passes} {ids} {there:#?}");
            }
            end(&lab).await;
            assert!(left(&lab).is_empty(), "law 3");
        }
    }
}
