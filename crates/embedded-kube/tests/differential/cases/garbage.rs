//! Owner references: background, foreground and orphan deletion.

use serde_json::{Value, json};

use crate::harness::{Answer, Script, run};

/// An owner reference to what `made` answered.
fn owned_by(made: &Answer, extra: Value) -> Value {
    let reference = json!({
        "apiVersion": made.body["apiVersion"], "kind": made.body["kind"],
        "name": made.name(), "uid": made.uid(),
    });
    crate::harness::merge(reference, extra)
}

fn with_owners(owners: Value) -> Value {
    json!({"metadata": {"ownerReferences": owners}, "spec": {"size": 1}})
}

async fn family(s: &mut Script, extra: Value) -> Answer {
    let owner = s.create("configmaps", "owner", json!({})).await;
    let reference = owned_by(&owner, extra);
    s.create(
        "configmaps",
        "child",
        with_owners(json!([reference.clone()])),
    )
    .await;
    s.create("secrets", "child", with_owners(json!([reference])))
        .await;
    owner
}

#[test]
fn background_deletion_takes_the_dependents() {
    run(async |s| {
        family(s, json!({})).await;
        s.delete_with(
            "configmaps/owner",
            json!({"propagationPolicy": "Background"}),
        )
        .await;
        s.get("configmaps/owner").await;
        s.until_gone("configmaps/child").await;
        s.until_gone("secrets/child").await;
    });
}

#[test]
fn background_is_the_default() {
    run(async |s| {
        s.collects("widgets").await;
        let owner = s
            .create("widgets", "owner", json!({"spec": {"size": 1}}))
            .await;
        s.create(
            "widgets",
            "child",
            with_owners(json!([owned_by(&owner, json!({}))])),
        )
        .await;
        s.create(
            "configmaps",
            "child",
            with_owners(json!([owned_by(&owner, json!({}))])),
        )
        .await;
        s.delete("widgets/owner").await;
        s.until_gone("widgets/child").await;
        s.until_gone("configmaps/child").await;
    });
}

#[test]
fn orphan_deletion_leaves_the_dependents() {
    run(async |s| {
        family(s, json!({})).await;
        s.delete_with("configmaps/owner", json!({"propagationPolicy": "Orphan"}))
            .await;
        s.until_gone("configmaps/owner").await;
        s.until("configmaps/child", |child| {
            child.body["metadata"]["ownerReferences"].is_null()
        })
        .await;
        s.until("secrets/child", |child| {
            child.body["metadata"]["ownerReferences"].is_null()
        })
        .await;
    });
}

#[test]
fn orphan_deletion_by_the_old_option() {
    run(async |s| {
        family(s, json!({})).await;
        s.delete_with("configmaps/owner", json!({"orphanDependents": true}))
            .await;
        s.until_gone("configmaps/owner").await;
        s.until("configmaps/child", |child| {
            child.body["metadata"]["ownerReferences"].is_null()
        })
        .await;
    });
}

#[test]
fn orphan_deletion_of_an_object_with_finalizers() {
    run(async |s| {
        let held = json!({"metadata": {"finalizers": ["example.com/x"]}});
        let owner = s.create("configmaps", "owner", held).await;
        s.create(
            "configmaps",
            "child",
            with_owners(json!([owned_by(&owner, json!({}))])),
        )
        .await;
        s.delete_with("configmaps/owner", json!({"propagationPolicy": "Orphan"}))
            .await;
        s.until("configmaps/child", |child| {
            child.body["metadata"]["ownerReferences"].is_null()
        })
        .await;
        s.until("configmaps/owner", |owner| {
            owner.body["metadata"]["finalizers"] == json!(["example.com/x"])
        })
        .await;
        s.merge("configmaps/owner", json!({"metadata": {"finalizers": []}}))
            .await;
        s.get("configmaps/owner").await;
        s.get("configmaps/child").await;
    });
}

#[test]
fn foreground_deletion_waits_for_blocking_dependents() {
    run(async |s| {
        let owner = s.create("configmaps", "owner", json!({})).await;
        let blocking = owned_by(&owner, json!({"blockOwnerDeletion": true}));
        let held = json!({"metadata": {"ownerReferences": [blocking],
            "finalizers": ["example.com/x"]}});
        s.create("configmaps", "child", held).await;
        s.delete_with(
            "configmaps/owner",
            json!({"propagationPolicy": "Foreground"}),
        )
        .await;
        s.until("configmaps/child", |child| {
            !child.body["metadata"]["deletionTimestamp"].is_null()
        })
        .await;
        s.get("configmaps/owner").await;
        s.merge("configmaps/child", json!({"metadata": {"finalizers": []}}))
            .await;
        s.until_gone("configmaps/owner").await;
        s.get("configmaps/child").await;
    });
}

#[test]
fn foreground_deletion_does_not_wait_for_others() {
    run(async |s| {
        let owner = s.create("configmaps", "owner", json!({})).await;
        let held = json!({"metadata": {"ownerReferences": [owned_by(&owner, json!({}))],
            "finalizers": ["example.com/x"]}});
        s.create("configmaps", "child", held).await;
        s.delete_with(
            "configmaps/owner",
            json!({"propagationPolicy": "Foreground"}),
        )
        .await;
        s.until_gone("configmaps/owner").await;
        s.until("configmaps/child", |child| {
            !child.body["metadata"]["deletionTimestamp"].is_null()
        })
        .await;
    });
}

#[test]
fn foreground_deletion_without_dependents() {
    run(async |s| {
        s.collects("widgets").await;
        s.create("widgets", "a", json!({"spec": {"size": 1}})).await;
        let answer = s
            .delete_with("widgets/a", json!({"propagationPolicy": "Foreground"}))
            .await;
        s.note("finalizers", answer.body["metadata"]["finalizers"].clone());
        s.until_gone("widgets/a").await;
    });
}

#[test]
fn foreground_deletion_reaches_grandchildren() {
    run(async |s| {
        let owner = s.create("configmaps", "owner", json!({})).await;
        let block = json!({"blockOwnerDeletion": true});
        let child = with_owners(json!([owned_by(&owner, block.clone())]));
        let child = s.create("secrets", "child", child).await;
        let grandchild = json!({"metadata": {"ownerReferences": [owned_by(&child, block)],
            "finalizers": ["example.com/x"]}});
        s.create("configmaps", "grandchild", grandchild).await;
        s.delete_with(
            "configmaps/owner",
            json!({"propagationPolicy": "Foreground"}),
        )
        .await;
        s.until("configmaps/grandchild", |it| {
            !it.body["metadata"]["deletionTimestamp"].is_null()
        })
        .await;
        s.get("configmaps/owner").await;
        s.get("secrets/child").await;
        s.merge(
            "configmaps/grandchild",
            json!({"metadata": {"finalizers": null}}),
        )
        .await;
        s.until_gone("configmaps/owner").await;
        s.get("secrets/child").await;
    });
}

#[test]
fn background_deletion_reaches_grandchildren() {
    run(async |s| {
        let owner = s.create("configmaps", "owner", json!({})).await;
        let child = with_owners(json!([owned_by(&owner, json!({}))]));
        let child = s.create("secrets", "child", child).await;
        let grandchild = with_owners(json!([owned_by(&child, json!({}))]));
        s.create("configmaps", "grandchild", grandchild).await;
        s.delete("configmaps/owner").await;
        s.until_gone("configmaps/grandchild").await;
        s.get("secrets/child").await;
    });
}

#[test]
fn a_dependent_with_another_owner_stays() {
    run(async |s| {
        let first = s.create("configmaps", "first", json!({})).await;
        let second = s.create("configmaps", "second", json!({})).await;
        let owners = json!([owned_by(&first, json!({})), owned_by(&second, json!({}))]);
        s.create("configmaps", "child", with_owners(owners)).await;
        s.delete("configmaps/first").await;
        s.until("configmaps/child", |child| {
            child.body["metadata"]["ownerReferences"]
                .as_array()
                .is_some_and(|all| all.len() == 1)
        })
        .await;
        s.delete("configmaps/second").await;
        s.until_gone("configmaps/child").await;
    });
}

#[test]
fn an_owner_that_never_was() {
    run(async |s| {
        let ghost = json!([{"apiVersion": "v1", "kind": "ConfigMap", "name": "ghost",
            "uid": "12345678-1234-1234-1234-123456789abc"}]);
        s.create("configmaps", "child", with_owners(ghost)).await;
        s.until_gone("configmaps/child").await;
    });
}

#[test]
fn an_owner_of_the_same_name_but_another_uid() {
    run(async |s| {
        s.create("configmaps", "owner", json!({})).await;
        let other = json!([{"apiVersion": "v1", "kind": "ConfigMap", "name": "owner",
            "uid": "12345678-1234-1234-1234-123456789abc"}]);
        s.create("configmaps", "child", with_owners(other)).await;
        s.until_gone("configmaps/child").await;
        s.get("configmaps/owner").await;
    });
}

#[test]
fn an_owner_of_the_whole_cluster() {
    run(async |s| {
        s.collects("gadgets").await;
        let name = format!("owner-{}", s.ns);
        let owner = s.create("gadgets", &name, json!({})).await;
        s.create(
            "configmaps",
            "child",
            with_owners(json!([owned_by(&owner, json!({}))])),
        )
        .await;
        s.delete(&format!("gadgets/{name}")).await;
        s.until_gone("configmaps/child").await;
    });
}

#[test]
fn a_dependent_with_finalizers_is_marked() {
    run(async |s| {
        let owner = s.create("configmaps", "owner", json!({})).await;
        let held = json!({"metadata": {"ownerReferences": [owned_by(&owner, json!({}))],
            "finalizers": ["example.com/x"]}});
        s.create("configmaps", "child", held).await;
        s.delete("configmaps/owner").await;
        s.until("configmaps/child", |child| {
            !child.body["metadata"]["deletionTimestamp"].is_null()
        })
        .await;
    });
}

#[test]
fn a_second_deletion_changes_the_policy() {
    run(async |s| {
        let held = json!({"metadata": {"finalizers": ["example.com/x"]}});
        let owner = s.create("configmaps", "owner", held).await;
        s.create(
            "configmaps",
            "child",
            with_owners(json!([owned_by(&owner, json!({}))])),
        )
        .await;
        s.delete_with(
            "configmaps/owner",
            json!({"propagationPolicy": "Background"}),
        )
        .await;
        s.delete_with("configmaps/owner", json!({"propagationPolicy": "Orphan"}))
            .await;
        s.until("configmaps/child", |child| {
            child.body["metadata"]["ownerReferences"].is_null()
        })
        .await;
        s.until("configmaps/owner", |owner| {
            owner.body["metadata"]["finalizers"] == json!(["example.com/x"])
        })
        .await;
    });
}

#[test]
fn collection_deletion_takes_dependents() {
    run(async |s| {
        s.collects("widgets").await;
        let owner = s
            .create("widgets", "owner", json!({"spec": {"size": 1}}))
            .await;
        s.create(
            "secrets",
            "child",
            with_owners(json!([owned_by(&owner, json!({}))])),
        )
        .await;
        s.delete_with("widgets", json!({"propagationPolicy": "Background"}))
            .await;
        s.until_gone("secrets/child").await;
    });
}

#[test]
fn the_stream_of_a_foreground_deletion() {
    run(async |s| {
        let owner = s.create("configmaps", "owner", json!({})).await;
        let blocking = owned_by(&owner, json!({"blockOwnerDeletion": true}));
        s.create("secrets", "child", with_owners(json!([blocking])))
            .await;
        let query = format!(
            "watch=true&resourceVersion={}&fieldSelector=metadata.name%3Downer",
            owner.rv()
        );
        let mut watch = s.watch(&format!("configmaps?{query}")).await;
        s.delete_with(
            "configmaps/owner",
            json!({"propagationPolicy": "Foreground"}),
        )
        .await;
        watch.take(s, 2).await;
        s.get("secrets/child").await;
    });
}

#[test]
fn the_stream_of_an_orphan_deletion() {
    run(async |s| {
        let owner = s.create("configmaps", "owner", json!({})).await;
        let child = with_owners(json!([owned_by(&owner, json!({}))]));
        let child = s.create("secrets", "child", child).await;
        let mut owners = s
            .watch(&format!(
                "configmaps?watch=true&resourceVersion={}",
                owner.rv()
            ))
            .await;
        let mut children = s
            .watch(&format!(
                "secrets?watch=true&resourceVersion={}",
                child.rv()
            ))
            .await;
        s.delete_with("configmaps/owner", json!({"propagationPolicy": "Orphan"}))
            .await;
        owners.take(s, 2).await;
        children.take(s, 1).await;
    });
}
