//! A copied manifest beside its original, when both are restored: new uids, one UUID, and nothing but
//! the cloud and the records to tell them apart.

use cloud_port::aws::AwsPlace;
use serde_json::{Value, json};

use super::set;
use crate::Lab;

const LEDGER: &str = "freehold.dev/ledger";

/// An original and a copy of it, as a backup has them.
struct Pair {
    original: String,
    copy: String,
    backups: [Value; 2],
    /// How many groups, roles and profiles there were before, and with the original's.
    census: [(usize, usize, usize); 2],
}

impl Pair {
    /// A cluster that converged, and a copy of its manifest that was told to be one; then the
    /// management cluster is lost.
    async fn lost<C: AwsPlace + Clone + 'static>(lab: &mut Lab<C>, name: &str, aws: Value) -> Self {
        let before = lab.hands.census().await;
        name.clone_into(&mut lab.name);
        lab.create(aws, json!({})).await;
        lab.converge().await;
        let mut backup = lab.backup().await;
        let original = lab.name.clone();
        let copy = format!("a-copy-of-{original}");
        backup["metadata"]["name"] = json!(copy);
        lab.restore(&backup).await;
        lab.name.clone_from(&copy);
        lab.settle().await;
        lab.assert_condition("Conflict", &[&original, "copy"]).await;
        let census = [before, lab.hands.census().await];
        let mut backups = Vec::new();
        for name in [&original, &copy] {
            lab.name.clone_from(name);
            backups.push(lab.backup().await);
            lab.lose().await;
        }
        lab.restart();
        Self {
            original,
            copy,
            backups: backups.try_into().unwrap(),
            census,
        }
    }

    /// Restores both, the original first or the copy, and looks at both of them more than once.
    async fn restore<C: AwsPlace + Clone + 'static>(&self, lab: &Lab<C>, original_first: bool) {
        let [original, copy] = &self.backups;
        let order = if original_first {
            [(original, &self.original), (copy, &self.copy)]
        } else {
            [(copy, &self.copy), (original, &self.original)]
        };
        for (backup, _) in order {
            lab.restore(backup).await;
        }
        for (_, name) in order.into_iter().cycle().take(4) {
            lab.settle_as(name).await;
        }
    }

    /// The original works on, the copy is told to be one, and nothing was made or lost.
    async fn assert_told_apart<C: AwsPlace + Clone + 'static>(&self, lab: &mut Lab<C>) {
        lab.name.clone_from(&self.original);
        lab.converge().await;
        lab.name.clone_from(&self.copy);
        lab.assert_condition("Conflict", &[&self.original, "copy"])
            .await;
        assert_eq!(lab.hands.census().await, self.census[1]);
    }

    /// Both end, one after the other; the original's resources go with the original, and only then.
    async fn end<C: AwsPlace + Clone + 'static>(&self, lab: &mut Lab<C>, original_first: bool) {
        if original_first {
            self.end_original(lab).await;
            self.end_copy(lab, 0).await;
        } else {
            self.end_copy(lab, 1).await;
            lab.name.clone_from(&self.original);
            lab.converge().await;
            self.end_original(lab).await;
        }
        assert_eq!(lab.hands.traces_of(&self.original).await, set(&[]));
    }

    async fn end_original<C: AwsPlace + Clone + 'static>(&self, lab: &mut Lab<C>) {
        lab.name.clone_from(&self.original);
        lab.delete().await;
        lab.settle().await;
        assert!(lab.is_gone().await);
        assert_eq!(lab.hands.census().await, self.census[0]);
        assert_eq!(lab.hands.traces_of(&self.original).await, set(&[]));
    }

    async fn end_copy<C: AwsPlace + Clone + 'static>(&self, lab: &mut Lab<C>, census: usize) {
        lab.name.clone_from(&self.copy);
        lab.delete().await;
        lab.settle().await;
        assert!(lab.is_gone().await);
        assert_eq!(lab.hands.census().await, self.census[census]);
    }
}

async fn restored<C: AwsPlace + Clone + 'static>(lab: &mut Lab<C>, original_first: bool) {
    let first = lab.name.clone();
    for original_ends_first in [false, true] {
        let name = format!("{first}-{}", u8::from(original_ends_first));
        let pair = Pair::lost(lab, &name, json!({})).await;
        pair.restore(lab, original_first).await;
        pair.assert_told_apart(lab).await;
        pair.end(lab, original_ends_first).await;
    }
}

/// The order of a restore says nothing.
pub async fn the_original_is_restored_first<C: AwsPlace + Clone + 'static>(lab: &mut Lab<C>) {
    restored(lab, true).await;
}

/// The order of a restore says nothing.
pub async fn the_copy_is_restored_first<C: AwsPlace + Clone + 'static>(lab: &mut Lab<C>) {
    restored(lab, false).await;
}

/// Its record is lost, too: the marks in the cloud have its name in them.
pub async fn an_original_without_its_record<C: AwsPlace + Clone + 'static>(lab: &mut Lab<C>) {
    let first = lab.name.clone();
    for original_ends_first in [false, true] {
        let name = format!("{first}-{}", u8::from(original_ends_first));
        let mut pair = Pair::lost(lab, &name, json!({})).await;
        for backup in &mut pair.backups {
            let annotations = backup["metadata"]["annotations"].as_object_mut();
            annotations.unwrap().remove(LEDGER).unwrap();
        }
        pair.restore(lab, false).await;
        pair.assert_told_apart(lab).await;
        pair.end(lab, original_ends_first).await;
    }
}

/// The copy is restored first and alone, so it works and is pinned for itself; then the original
/// comes, and works on. Either goes with what is its own.
pub async fn a_copy_that_was_restored_alone<C: AwsPlace + Clone + 'static>(lab: &mut Lab<C>) {
    let first = lab.name.clone();
    for original_ends_first in [false, true] {
        let name = format!("{first}-{}", u8::from(original_ends_first));
        let pair = Pair::lost(lab, &name, json!({})).await;
        let [original, copy] = &pair.backups;
        lab.restore(copy).await;
        lab.name.clone_from(&pair.copy);
        lab.settle().await;
        let pinned = lab.metadata().await;
        let annotations = pinned.annotations.unwrap();
        let uid = annotations.get("freehold.dev/claim-pinned-for");
        assert_eq!(uid, pinned.uid.as_ref());
        lab.restore(original).await;
        lab.name.clone_from(&pair.original);
        lab.converge().await;
        assert_eq!(lab.hands.census().await, pair.census[1]);
        let order = if original_ends_first {
            [&pair.original, &pair.copy]
        } else {
            [&pair.copy, &pair.original]
        };
        for name in order {
            lab.name.clone_from(name);
            lab.delete().await;
            lab.settle().await;
        }
        // What the copy has added to the original's role keeps that until the copy has gone.
        lab.settle_as(order[0]).await;
        for name in order {
            lab.name.clone_from(name);
            assert!(
                lab.is_gone().await,
                "{name}: {:?}",
                lab.cluster().await.status
            );
        }
        assert_eq!(lab.hands.census().await, pair.census[0]);
        assert_eq!(lab.hands.traces_of(&pair.original).await, set(&[]));
    }
}

/// It owns nothing, and its own record tells what it has added to what it uses.
pub async fn an_original_that_only_uses<C: AwsPlace + Clone + 'static>(lab: &mut Lab<C>) {
    let vpc = lab.hands.default_vpc().await;
    let group = lab.hands.make_group("shared", &vpc, &[]).await;
    let rules = lab.hands.group("shared").await.unwrap().rules;
    let aws = json!({"securityGroupID": group, "disableIAMReconciling": true});
    let name = lab.name.clone();
    let pair = Pair::lost(lab, &name, aws).await;
    pair.restore(lab, false).await;
    pair.assert_told_apart(lab).await;
    pair.end(lab, true).await;
    assert_eq!(lab.hands.group("shared").await.unwrap().rules, rules);
}

/// Both are restored, and the original is deleted before anybody has looked at it.
pub async fn an_original_that_ends_as_soon_as_it_is_restored<C: AwsPlace + Clone + 'static>(
    lab: &mut Lab<C>,
) {
    let name = lab.name.clone();
    let pair = Pair::lost(lab, &name, json!({})).await;
    let [original, copy] = &pair.backups;
    lab.restore(copy).await;
    lab.restore(original).await;
    pair.end(lab, true).await;
}

/// Nothing was made for either of them: one of them works, and the other says so.
pub async fn two_of_whom_nothing_is_known<C: AwsPlace + Clone + 'static>(lab: &mut Lab<C>) {
    let (one, other) = (lab.name.clone(), format!("{}-too", lab.name));
    let census = lab.hands.census().await;
    let uuid = "7f6a2f2e-58b5-4c1f-9d0e-0a3f4f1f2b11";
    let annotations =
        json!({"freehold.dev/claim-uuid": uuid, "freehold.dev/claim-pinned-for": uuid});
    for name in [&one, &other] {
        let metadata = json!({"annotations": annotations});
        lab.create_as(name, json!({}), json!({}), metadata).await;
    }
    for name in [&one, &other, &one, &other] {
        lab.settle_as(name).await;
    }
    let mut ready = Vec::new();
    for name in [&one, &other] {
        lab.name.clone_from(name);
        let condition = lab.condition("Ready").await.unwrap();
        ready.push((condition.holds, condition.reason));
    }
    ready.sort();
    let told = |(holds, reason): &(bool, String)| format!("{holds} {reason}");
    let ready: Vec<String> = ready.iter().map(told).collect();
    assert_eq!(ready, ["false Conflict", "true Converged"]);
    for name in [&one, &other] {
        lab.name.clone_from(name);
        lab.delete().await;
        lab.settle().await;
        assert!(lab.is_gone().await);
    }
    assert_eq!(lab.hands.census().await, census);
    assert_eq!(lab.hands.traces_of(&one).await, set(&[]));
}
