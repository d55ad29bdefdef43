//! Namespaces and their end.

use serde_json::json;

use crate::harness::run;

#[test]
fn have_a_label_a_phase_and_a_finalizer() {
    run(async |s| {
        let name = format!("{}-x", s.ns);
        s.create("namespaces", &name, json!({})).await;
        s.get(&format!("namespaces/{name}")).await;
    });
}

#[test]
fn that_every_cluster_has() {
    run(async |s| {
        for name in ["default", "kube-system", "kube-public", "kube-node-lease"] {
            s.get(&format!("namespaces/{name}")).await;
        }
    });
}

#[test]
fn that_cannot_be_deleted() {
    run(async |s| {
        for name in ["default", "kube-system", "kube-public"] {
            s.delete(&format!("namespaces/{name}")).await;
        }
    });
}

#[test]
fn deletion_marks_then_empties() {
    run(async |s| {
        s.collects("widgets").await;
        s.create("configmaps", "a", json!({})).await;
        s.create("widgets", "a", json!({"spec": {"size": 1}})).await;
        s.create("secrets", "a", json!({})).await;
        let path = format!("namespaces/{}", s.ns);
        let answer = s.peek(&path).await;
        assert_eq!(answer.status, 200);
        s.delete_with(&path, json!({})).await;
        s.until_gone(&path).await;
        s.get("configmaps/a").await;
        s.get("widgets").await;
        s.get("secrets").await;
    });
}

#[test]
fn deletion_waits_for_finalizers() {
    run(async |s| {
        let held = json!({"metadata": {"finalizers": ["example.com/x"]}, "spec": {"size": 1}});
        s.create("configmaps", "a", held).await;
        s.create("configmaps", "b", json!({})).await;
        let path = format!("namespaces/{}", s.ns);
        s.delete(&path).await;
        s.until("configmaps", |list| {
            list.body["items"].as_array().is_some_and(|items| {
                items.len() == 1 && !items[0]["metadata"]["deletionTimestamp"].is_null()
            })
        })
        .await;
        let answer = s.peek(&path).await;
        s.note("phase", answer.body["status"]["phase"].clone());
        s.merge("configmaps/a", json!({"metadata": {"finalizers": null}}))
            .await;
        s.until_gone(&path).await;
    });
}

#[test]
fn nothing_is_created_in_a_terminating_one() {
    run(async |s| {
        let held = json!({"metadata": {"finalizers": ["example.com/x"]}, "spec": {"size": 1}});
        s.create("configmaps", "a", held).await;
        s.delete(&format!("namespaces/{}", s.ns)).await;
        s.create("configmaps", "late", json!({})).await;
        s.create("widgets", "late", json!({"spec": {"size": 1}}))
            .await;
        s.create("leases", "late", json!({})).await;
        // What is there can still be changed.
        s.until("configmaps/a", |it| {
            !it.body["metadata"]["deletionTimestamp"].is_null()
        })
        .await;
        s.merge("configmaps/a", json!({"data": {"a": "b"}})).await;
    });
}

#[test]
fn with_finalizers_of_their_own() {
    run(async |s| {
        let name = format!("{}-x", s.ns);
        let held = json!({"metadata": {"finalizers": ["example.com/x"]}});
        s.create("namespaces", &name, held).await;
        let path = format!("namespaces/{name}");
        s.delete(&path).await;
        s.until(&path, |it| it.body["spec"]["finalizers"].is_null())
            .await;
        s.merge(&path, json!({"metadata": {"finalizers": null}}))
            .await;
        s.until_gone(&path).await;
    });
}

#[test]
fn finalize_sub_resource() {
    run(async |s| {
        let name = format!("{}-x", s.ns);
        let made = s
            .create(
                "namespaces",
                &name,
                json!({"spec": {"finalizers": ["example.com/y"]}}),
            )
            .await;
        let mut body = made.body;
        body["spec"]["finalizers"] = json!([]);
        s.put(&format!("/api/v1/namespaces/{name}/finalize"), body)
            .await;
    });
}

#[test]
fn labels_can_be_changed() {
    run(async |s| {
        let path = format!("namespaces/{}", s.ns);
        s.merge(&path, json!({"metadata": {"labels": {"a": "b"}}}))
            .await;
        s.merge(&path, json!({"metadata": {"labels": null}})).await;
        s.merge(&path, json!({"spec": {"finalizers": []}})).await;
        s.merge(&path, json!({"status": {"phase": "Terminating"}}))
            .await;
        s.merge(
            &format!("{path}/status"),
            json!({"metadata": {"labels": {"c": "d"}}}),
        )
        .await;
    });
}

#[test]
fn field_selectors() {
    run(async |s| {
        let ns = s.ns.clone();
        s.get(&format!("namespaces?fieldSelector=metadata.name%3D{ns}"))
            .await;
        s.get(&format!(
            "namespaces?fieldSelector=metadata.name%3D{ns},status.phase%3DActive"
        ))
        .await;
        s.get(&format!(
            "namespaces?labelSelector=kubernetes.io/metadata.name%3D{ns}"
        ))
        .await;
    });
}

#[test]
fn preconditions_on_deletion() {
    run(async |s| {
        let path = format!("namespaces/{}", s.ns);
        let other = "12345678-1234-1234-1234-123456789abc";
        s.delete_with(&path, json!({"preconditions": {"uid": other}}))
            .await;
        let answer = s.peek(&path).await;
        s.note("phase", answer.body["status"]["phase"].clone());
    });
}
