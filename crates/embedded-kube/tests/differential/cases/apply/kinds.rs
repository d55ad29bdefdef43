//! Built-in kinds.

use serde_json::json;

use crate::harness::run;

#[test]
fn secrets() {
    run(async |s| {
        s.apply_as(
            "one",
            "secrets/a",
            json!({"stringData": {"a": "x"}, "data": {"b": "aGk="}}),
        )
        .await;
        s.apply_as(
            "two",
            "secrets/a",
            json!({"data": {"a": "eA==", "c": "aGk="}}),
        )
        .await;
        s.apply_as("one", "secrets/a", json!({"stringData": {"a": "y"}}))
            .await;
        s.apply_as("one", "secrets/a", json!({"type": "Other"}))
            .await;
        s.apply_as("two", "secrets/a", json!({"data": {"a": "not base64!"}}))
            .await;
        s.create(
            "secrets?fieldManager=maker",
            "b",
            json!({"stringData": {"a": "x"}}),
        )
        .await;
        s.merge(
            "secrets/b?fieldManager=two",
            json!({"stringData": {"a": "y", "b": "z"}}),
        )
        .await;
    });
}

#[test]
fn service_accounts() {
    run(async |s| {
        s.apply_as(
            "one",
            "serviceaccounts/a",
            json!({"secrets": [{"name": "x"}],
            "imagePullSecrets": [{"name": "p"}], "automountServiceAccountToken": false}),
        )
        .await;
        s.apply_as(
            "two",
            "serviceaccounts/a",
            json!({"secrets": [{"name": "y"}]}),
        )
        .await;
        s.apply_as(
            "two",
            "serviceaccounts/a",
            json!({"imagePullSecrets": [{"name": "q"}]}),
        )
        .await;
        s.apply_as(
            "one",
            "serviceaccounts/a",
            json!({"secrets": [{"name": "x", "namespace": "n"}]}),
        )
        .await;
        s.apply_as(
            "one",
            "serviceaccounts/a",
            json!({"secrets": [{"namespace": "n"}]}),
        )
        .await;
        s.apply_as("one", "serviceaccounts/a", json!({"secrets": []}))
            .await;
        s.strategic(
            "serviceaccounts/a?fieldManager=three",
            json!({"imagePullSecrets": [{"name": "r"}]}),
        )
        .await;
    });
}

#[test]
fn leases() {
    run(async |s| {
        s.apply_as(
            "one",
            "leases/a",
            json!({"spec": {"holderIdentity": "x",
            "leaseDurationSeconds": 15, "renewTime": "2020-01-01T00:00:00.000000Z"}}),
        )
        .await;
        s.apply_as("two", "leases/a", json!({"spec": {"holderIdentity": "y"}}))
            .await;
        s.apply_as(
            "one",
            "leases/a",
            json!({"spec": {"leaseDurationSeconds": "x"}}),
        )
        .await;
        s.apply_as("one", "leases/a", json!({"spec": {"renewTime": "never"}}))
            .await;
        s.apply_as(
            "one",
            "leases/a",
            json!({"spec": {"leaseDurationSeconds": 30}}),
        )
        .await;
        s.replace(
            "leases",
            "a",
            json!({"spec": {"holderIdentity": "z"}, "metadata": {
            "resourceVersion": s.peek("leases/a").await.rv()}}),
        )
        .await;
        s.replace(
            "leases?fieldManager=putter",
            "b",
            json!({"spec": {"holderIdentity": "z"}}),
        )
        .await;
    });
}

#[test]
fn claims_and_volumes() {
    run(async |s| {
        let claim = json!({"spec": {"accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "1Gi"}}, "storageClassName": "none"}});
        s.apply_as("one", "persistentvolumeclaims/a", claim.clone())
            .await;
        s.apply_as("one", "persistentvolumeclaims/a", claim.clone())
            .await;
        s.apply_as(
            "two",
            "persistentvolumeclaims/a",
            json!({"spec": {"resources": {
            "requests": {"storage": "1024Mi"}}}}),
        )
        .await;
        s.apply_as(
            "two",
            "persistentvolumeclaims/a",
            json!({"spec": {"resources": {
            "requests": {"storage": "lots"}}}}),
        )
        .await;
        s.apply_as("two", "persistentvolumeclaims/a/status", json!({"status": {
            "capacity": {"storage": "1Gi"}, "conditions": [{"type": "Resizing", "status": "True"}]}}))
            .await;
        s.apply_as(
            "one",
            "persistentvolumeclaims/a/status",
            json!({"status": {
            "conditions": [{"type": "Other", "status": "True"}]}}),
        )
        .await;
        s.create(
            "persistentvolumeclaims?fieldManager=maker",
            "b",
            json!({"spec": {
            "accessModes": ["ReadWriteOnce"], "selector": {"matchLabels": {"a": "b"}},
            "resources": {"requests": {"storage": "1Gi"}, "limits": {"storage": "2Gi"}}}}),
        )
        .await;
        let name = format!("persistentvolumes/{}", s.ns);
        let volume = json!({"spec": {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"],
            "csi": {"driver": "d.example.com", "volumeHandle": "h",
                "nodeStageSecretRef": {"name": "n", "namespace": "m"}},
            "claimRef": {"name": "c", "namespace": "x"}}});
        s.apply_as("one", &name, volume).await;
        s.apply_as("two", &name, json!({"spec": {"claimRef": {"uid": "u"}}}))
            .await;
        s.apply_as(
            "two",
            &name,
            json!({"spec": {"persistentVolumeReclaimPolicy": "Delete"}}),
        )
        .await;
        s.merge(
            &format!("{name}?fieldManager=three"),
            json!({"metadata": {"finalizers": null}}),
        )
        .await;
        s.delete(&name).await;
    });
}

#[test]
fn a_namespace() {
    run(async |s| {
        let name = format!("{}-x", s.ns);
        let item = format!("namespaces/{name}");
        s.apply_as("one", &item, json!({"metadata": {"labels": {"a": "b"}}}))
            .await;
        s.apply_as(
            "one",
            &item,
            json!({"spec": {"finalizers": ["kubernetes"]}}),
        )
        .await;
        s.apply_as(
            "two",
            &format!("{item}/status"),
            json!({"status": {"conditions": [
            {"type": "X", "status": "True"}]}}),
        )
        .await;
        s.apply_as("one", &item, json!({})).await;
        let found = s.get(&item).await;
        let mut body = found.body.clone();
        body["spec"] = json!({"finalizers": ["kubernetes", "example.com/x"]});
        let put = s
            .put(&format!("{item}/finalize?fieldManager=ender"), body)
            .await;
        let mut body = put.body.clone();
        body["spec"] = json!({"finalizers": ["kubernetes"]});
        s.put(&format!("{item}/finalize?fieldManager=ender"), body)
            .await;
        s.delete(&item).await;
        s.until_gone(&item).await;
    });
}

#[test]
fn events_of_both_groups() {
    run(async |s| {
        let event = json!({"involvedObject": {"kind": "X", "name": "x", "namespace": s.ns},
            "reason": "R", "message": "m", "source": {"component": "c"}, "type": "Normal",
            "firstTimestamp": "2020-01-01T00:00:00Z", "count": 1});
        s.create("events?fieldManager=one", "a", event.clone())
            .await;
        let new = "/apis/events.k8s.io/v1/namespaces/{ns}/events";
        s.get(&format!("{new}/a")).await;
        s.merge(
            &format!("{new}/a?fieldManager=two"),
            json!({"deprecatedCount": 2, "note": "n"}),
        )
        .await;
        s.merge("events/a?fieldManager=one", json!({"count": 3}))
            .await;
        s.apply_as("three", "events/a", json!({"message": "n", "count": 4}))
            .await;
        s.apply_as("three&force=true", "events/a", json!({"message": "o"}))
            .await;
        let config = json!({"apiVersion": "events.k8s.io/v1", "kind": "Event",
            "metadata": {"name": "a"}, "note": "p"});
        s.apply(&format!("{new}/a?fieldManager=four"), config.clone())
            .await;
        s.apply(&format!("{new}/a?fieldManager=four&force=true"), config)
            .await;
        s.merge(
            &format!("{new}/a?fieldManager=four"),
            json!({"metadata": {"labels": {"x": "y"}}}),
        )
        .await;
        s.apply_as("five", "events/b", event).await;
        s.get(&format!("{new}/b")).await;
        let fresh = json!({"apiVersion": "events.k8s.io/v1", "kind": "Event",
            "metadata": {"name": "c"}, "eventTime": "2020-01-01T00:00:00.000000Z", "reason": "R",
            "reportingController": "example.com/c", "reportingInstance": "i", "action": "A",
            "type": "Normal", "regarding": {"kind": "X", "name": "x", "namespace": s.ns}});
        s.post(&format!("{new}?fieldManager=one"), fresh.clone())
            .await;
        s.merge(
            "events/c?fieldManager=two",
            json!({"metadata": {"labels": {"x": "y"}}}),
        )
        .await;
        s.merge(
            &format!("{new}/c?fieldManager=two"),
            json!({"metadata": {"labels": {"x": "z"}}}),
        )
        .await;
    });
}

#[test]
fn definitions() {
    run(async |s| {
        let schema = json!({"type": "object", "properties": {"spec": {"type": "object",
            "properties": {"a": {"type": "string"}}}}});
        let crd = s.definition("things", "Thing", schema);
        let item = format!("customresourcedefinitions/things.{}", s.group);
        let path = format!("{item}?fieldManager=one");
        s.apply(&path, crd.clone()).await;
        s.until(&item, |answer| {
            answer.body["status"]["conditions"]
                .as_array()
                .is_some_and(|all| all.iter().filter(|c| c["status"] == "True").count() == 2)
        })
        .await;
        s.apply(&path, crd.clone()).await;
        let mut changed = crd.clone();
        changed["spec"]["names"]["shortNames"] = json!(["th"]);
        s.apply(&format!("{item}?fieldManager=two"), changed.clone())
            .await;
        changed["spec"]["names"]["shortNames"] = json!(["ti"]);
        s.apply(&path, changed.clone()).await;
        changed["spec"]["nope"] = json!(1);
        s.apply(&path, changed).await;
        let mut strange = crd.clone();
        strange["spec"]["versions"][0]["nope"] = json!(1);
        s.apply(&path, strange).await;
        for (place, value) in [
            ("nope", json!(1)),
            ("maximum", json!("x")),
            ("nullable", json!("x")),
            ("allOf", json!([{"nope": 1}])),
            (
                "properties",
                json!({"a": {"properties": {"b": {"nope": 1}}}}),
            ),
            ("items", json!({"nope": 1})),
            ("description", json!(1)),
        ] {
            let mut strange = crd.clone();
            strange["spec"]["versions"][0]["schema"]["openAPIV3Schema"][place] = value;
            s.apply(&path, strange).await;
        }
        s.merge(
            &format!("{item}?fieldManager=three"),
            json!({"metadata": {"labels": {"a": "b"}}}),
        )
        .await;
        s.merge(
            &format!("{item}/status?fieldManager=four"),
            json!({"status": {"conditions": [
            {"type": "X", "status": "True", "lastTransitionTime": "2020-01-01T00:00:00Z"}]}}),
        )
        .await;
        s.delete(&item).await;
        s.until_gone(&item).await;
    });
}

#[test]
fn fields_that_a_kind_does_not_have() {
    run(async |s| {
        s.apply_as("one", "configmaps/a", json!({"nope": 1})).await;
        s.apply_as("one", "configmaps/a", json!({"data": {"a": 1}}))
            .await;
        s.apply_as("one", "configmaps/a", json!({"data": ["a"]}))
            .await;
        s.apply_as("one", "configmaps/a", json!({"data": {"a": null}}))
            .await;
        s.apply_as("one", "configmaps/a", json!({"immutable": "yes"}))
            .await;
        s.apply_as(
            "one",
            "configmaps/a",
            json!({"metadata": {"labels": ["a"]}}),
        )
        .await;
        s.apply_as(
            "one",
            "configmaps/a",
            json!({"metadata": {"labels": {"a": null}}}),
        )
        .await;
        s.apply_as(
            "one",
            "configmaps/a",
            json!({"metadata": {"annotations": null}, "data": null}),
        )
        .await;
        s.apply_as("one", "leases/a", json!({"spec": {"nope": 1}}))
            .await;
        s.apply_as("one", "leases/a", json!({"status": {}})).await;
        s.get("configmaps/a").await;
    });
}
