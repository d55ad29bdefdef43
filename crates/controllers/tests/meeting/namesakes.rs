//! Namesakes: gates of one name in two namespaces, which use one network.

use cloud_port::aws::vpc::VPC;
use serde_json::json;

use crate::lab::{Lab, lab};

fn has_cluster_mark(lab: &Lab) -> bool {
    let account = lab.account();
    let key = format!("kubernetes.io/cluster/{}", lab.name);
    account.alive(&VPC).any(|vpc| vpc.tags.get(&key).is_some())
}

/// Two gates of one name in one account, in two namespaces.
async fn namesakes(case: &str) -> (Lab, Lab) {
    join(lab(case).await.unwrap(), case).await
}

async fn join(first: Lab, case: &str) -> (Lab, Lab) {
    first.create_sample().await;
    first.converge().await;
    let mut second = crate::lab::around(first.client.clone(), &format!("{case}_other")).await;
    second.lead_to(first.cloud().clone());
    second.name = first.name.clone();
    let mut sample = second.sample.manifest.clone();
    sample["metadata"]["name"] = json!(first.name);
    second.create_object(&sample).await;
    second.converge().await;
    assert!(has_cluster_mark(&first));
    (first, second)
}

#[tokio::test]
async fn the_cluster_mark_goes_with_the_last_namesake() {
    let (first, second) = namesakes("last").await;
    first.delete().await;
    first.settle().await;
    assert!(first.is_gone().await);
    assert!(has_cluster_mark(&first), "the other one uses it");
    second.delete().await;
    second.settle().await;
    assert!(second.is_gone().await);
    assert!(!has_cluster_mark(&first), "law 7: it was ours, and stays");
}

#[tokio::test]
async fn the_cluster_mark_goes_with_the_first_if_it_is_the_last() {
    let (first, second) = namesakes("reverse").await;
    second.delete().await;
    second.settle().await;
    assert!(second.is_gone().await);
    assert!(has_cluster_mark(&first), "the other one uses it");
    first.delete().await;
    first.settle().await;
    assert!(first.is_gone().await);
    assert!(!has_cluster_mark(&first), "law 7");
}

#[tokio::test]
async fn the_cluster_mark_goes_with_two_namesakes_that_end_at_once() {
    let (first, second) = namesakes("together").await;
    first.delete().await;
    second.delete().await;
    for _ in 0..5 {
        first.pass().await;
        second.pass().await;
    }
    first.settle().await;
    second.settle().await;
    assert!(first.is_gone().await && second.is_gone().await);
    assert!(!has_cluster_mark(&first), "law 7: it was ours, and stays");
}

/// One of them is through before the other one has begun, and the other way round.
#[tokio::test]
async fn the_cluster_mark_goes_with_the_slower_of_two_namesakes_that_end() {
    for (case, reverse) in [("slower", false), ("faster", true)] {
        let (first, second) = namesakes(case).await;
        first.delete().await;
        second.delete().await;
        let order = if reverse {
            [&second, &first]
        } else {
            [&first, &second]
        };
        for lab in order {
            lab.settle().await;
            assert!(lab.is_gone().await);
        }
        assert!(!has_cluster_mark(&first), "law 7: it was ours, and stays");
    }
}

/// A namesake that was handed a mark rests, and writes nothing.
#[tokio::test]
async fn a_namesake_that_was_handed_a_mark_rests() {
    let (first, second) = namesakes("handed").await;
    first.delete().await;
    first.settle().await;
    second.converge().await;
    second.assert_silent().await;
    assert!(has_cluster_mark(&second));
}

/// A mark that was there before us is nobody's to take off.
#[tokio::test]
async fn a_mark_that_was_there_before_both_namesakes_stays() {
    let first = lab("before").await.unwrap();
    {
        let mut account = first.account();
        let vpc = account.alive(&VPC).next().unwrap().id.clone();
        let key = format!("kubernetes.io/cluster/{}", first.name);
        let tags = [
            (key.into(), "shared".into()),
            (
                format!(
                    "sigs.k8s.io/cluster-api-provider-aws/cluster/{}",
                    first.name
                )
                .into(),
                "shared".into(),
            ),
        ];
        let target = ownership::Target::new(&VPC, vpc);
        account
            .tag(cloud_sim::Actor::Stranger, &[target], &tags)
            .unwrap();
    }
    let (first, second) = join(first, "before").await;
    for lab in [&first, &second] {
        lab.delete().await;
        lab.settle().await;
        assert!(lab.is_gone().await);
    }
    assert!(has_cluster_mark(&first), "law 7: it is a stranger's");
}
