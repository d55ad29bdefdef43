//! The rules of the built-in kinds.

use serde_json::json;

use crate::harness::{merge, run};

#[test]
fn config_map_keys() {
    run(async |s| {
        for (index, key) in ["ok.key_-1", "bad key", "", "..", "a/b", "ä"]
            .iter()
            .enumerate()
        {
            s.create(
                "configmaps",
                &format!("c{index}"),
                json!({"data": {*key: "v"}}),
            )
            .await;
        }
        s.create(
            "configmaps",
            "long",
            json!({"data": {"k".repeat(254): "v"}}),
        )
        .await;
        let both = json!({"data": {"k": "v"}, "binaryData": {"k": "aGk="}});
        s.create("configmaps", "both", both).await;
        s.create("configmaps", "binary", json!({"binaryData": {"b": "aGk="}}))
            .await;
        s.create(
            "configmaps",
            "bad-binary",
            json!({"binaryData": {"b": "not base64!"}}),
        )
        .await;
        s.create(
            "configmaps",
            "big",
            json!({"data": {"k": "x".repeat(1_048_577)}}),
        )
        .await;
    });
}

#[test]
fn immutable_config_maps() {
    run(async |s| {
        s.create(
            "configmaps",
            "a",
            json!({"immutable": true, "data": {"a": "b"}}),
        )
        .await;
        s.merge("configmaps/a", json!({"data": {"a": "c"}})).await;
        s.merge("configmaps/a", json!({"immutable": false})).await;
        s.merge(
            "configmaps/a",
            json!({"immutable": null, "data": {"x": "y"}}),
        )
        .await;
        s.merge("configmaps/a", json!({"metadata": {"labels": {"x": "y"}}}))
            .await;
        s.create("configmaps", "b", json!({"immutable": false}))
            .await;
        s.merge("configmaps/b", json!({"immutable": true})).await;
        s.delete("configmaps/a").await;
    });
}

#[test]
fn secrets() {
    run(async |s| {
        s.create("secrets", "a", json!({"data": {"k": "aGVsbG8="}}))
            .await;
        s.create("secrets", "b", json!({"stringData": {"k": "hello"}}))
            .await;
        s.create(
            "secrets",
            "c",
            json!({"data": {"k": "b2xk"}, "stringData": {"k": "new"}}),
        )
        .await;
        s.create("secrets", "d", json!({"data": {"k": "not base64!"}}))
            .await;
        s.create("secrets", "e", json!({"data": {"bad key": "aGVsbG8="}}))
            .await;
        s.create("secrets", "f", json!({"type": "example.com/mine"}))
            .await;
        s.create("secrets", "g", json!({"data": {"k": null, "e": ""}}))
            .await;
        s.merge("secrets/a", json!({"stringData": {"other": "x"}}))
            .await;
        s.get("secrets?fieldSelector=type%3Dexample.com/mine").await;
    });
}

#[test]
fn secret_types() {
    run(async |s| {
        s.create("secrets", "tls", json!({"type": "kubernetes.io/tls"}))
            .await;
        let tls =
            json!({"type": "kubernetes.io/tls", "stringData": {"tls.crt": "x", "tls.key": "y"}});
        s.create("secrets", "tls2", tls).await;
        s.create(
            "secrets",
            "basic",
            json!({"type": "kubernetes.io/basic-auth"}),
        )
        .await;
        s.create("secrets", "ssh", json!({"type": "kubernetes.io/ssh-auth"}))
            .await;
        s.create(
            "secrets",
            "docker",
            json!({"type": "kubernetes.io/dockerconfigjson"}),
        )
        .await;
        let token = json!({"type": "kubernetes.io/service-account-token"});
        s.create("secrets", "token", token).await;
        s.merge("secrets/tls2", json!({"type": "Opaque"})).await;
    });
}

#[test]
fn immutable_secrets() {
    run(async |s| {
        s.create(
            "secrets",
            "a",
            json!({"immutable": true, "data": {"a": "aGk="}}),
        )
        .await;
        s.merge("secrets/a", json!({"data": {"a": "aGVsbG8="}}))
            .await;
        s.merge("secrets/a", json!({"stringData": {"b": "x"}}))
            .await;
        s.merge("secrets/a", json!({"immutable": false})).await;
    });
}

#[test]
fn service_accounts() {
    run(async |s| {
        s.create(
            "serviceaccounts",
            "a",
            json!({"automountServiceAccountToken": false}),
        )
        .await;
        s.merge("serviceaccounts/a", json!({"secrets": [{"name": "x"}]}))
            .await;
        s.merge(
            "serviceaccounts/a",
            json!({"imagePullSecrets": [{"name": "y"}]}),
        )
        .await;
        s.get("serviceaccounts").await;
    });
}

#[test]
fn leases() {
    run(async |s| {
        let spec = json!({"holderIdentity": "me", "leaseDurationSeconds": 15, "leaseTransitions": 0,
            "acquireTime": "2020-01-01T00:00:00.000000Z", "renewTime": "2020-01-01T00:00:05.123456Z"});
        let made = s.create("leases", "a", json!({"spec": spec})).await;
        let body = merge(
            made.body.clone(),
            json!({"spec": {"holderIdentity": "you"}}),
        );
        s.put("leases/a", body).await;
        s.put("leases/a", made.body).await;
        s.create("leases", "b", json!({"spec": {"leaseDurationSeconds": 0}}))
            .await;
        s.create("leases", "c", json!({"spec": {"leaseTransitions": -1}}))
            .await;
        s.create("leases", "d", json!({"spec": {"renewTime": "yesterday"}}))
            .await;
        s.create(
            "leases",
            "e",
            json!({"spec": {"renewTime": "2020-01-01T00:00:05Z"}}),
        )
        .await;
        s.create(
            "leases",
            "f",
            json!({"spec": {"strategy": "OldestEmulationVersion"}}),
        )
        .await;
    });
}

#[test]
fn lease_times_are_normalised() {
    run(async |s| {
        for (name, time) in [
            ("a", "2020-01-01T00:00:05.1Z"),
            ("b", "2020-01-01T00:00:05+02:00"),
            ("c", "2020-01-01T00:00:05.123456789Z"),
        ] {
            s.create("leases", name, json!({"spec": {"renewTime": time}}))
                .await;
        }
    });
}

#[test]
fn core_events() {
    run(async |s| {
        let ns = s.ns.clone();
        let event = json!({
            "involvedObject": {"kind": "ConfigMap", "namespace": ns, "name": "a", "apiVersion": "v1"},
            "reason": "Tested", "message": "it was", "type": "Normal", "count": 1,
            "firstTimestamp": "2020-01-01T00:00:00Z", "lastTimestamp": "2020-01-01T00:00:00Z",
            "source": {"component": "test"},
        });
        s.create("events", "a.1", event.clone()).await;
        s.merge("events/a.1", json!({"count": 2})).await;
        s.get("events").await;
        s.get("events?fieldSelector=involvedObject.name%3Da,reason%3DTested,type%3DNormal")
            .await;
        s.get("events?fieldSelector=involvedObject.name%3Db").await;
        s.get("/apis/events.k8s.io/v1/namespaces/{ns}/events/a.1")
            .await;
        let elsewhere = json!({"involvedObject": {"namespace": "default"}});
        s.create("events", "a.2", merge(event.clone(), elsewhere))
            .await;
        s.create("events", "a.3", json!({})).await;
        s.delete("events/a.1").await;
    });
}

#[test]
fn new_events() {
    run(async |s| {
        let ns = s.ns.clone();
        let event = json!({
            "apiVersion": "events.k8s.io/v1", "kind": "Event", "metadata": {"name": "a.1"},
            "eventTime": "2020-01-01T00:00:00.000000Z", "action": "Testing", "reason": "Tested",
            "reportingController": "example.com/test", "reportingInstance": "test-0", "type": "Normal",
            "note": "it was",
            "regarding": {"kind": "ConfigMap", "namespace": ns, "name": "a", "apiVersion": "v1"},
        });
        let path = "/apis/events.k8s.io/v1/namespaces/{ns}/events";
        s.post(path, event.clone()).await;
        s.get("events/a.1").await;
        s.get(path).await;
        let series = json!({"series": {"count": 2,
            "lastObservedTime": "2020-01-01T00:01:00.000000Z"}});
        s.merge(&format!("{path}/a.1"), series).await;
        for (name, change) in [
            ("b.1", json!({"action": ""})),
            ("b.2", json!({"reason": ""})),
            ("b.3", json!({"type": "Nonsense"})),
            ("b.4", json!({"reportingController": ""})),
            ("b.5", json!({"eventTime": null})),
            ("b.6", json!({"note": "x".repeat(1025)})),
            ("b.7", json!({"reportingController": "bad one"})),
        ] {
            let change = merge(change, json!({"metadata": {"name": name}}));
            s.post(path, merge(event.clone(), change)).await;
        }
        s.merge(&format!("{path}/a.1"), json!({"note": "changed"}))
            .await;
    });
}

#[test]
fn persistent_volumes() {
    run(async |s| {
        let name = format!("pv-{}", s.ns);
        let spec = json!({"capacity": {"storage": "10Gi"}, "accessModes": ["ReadWriteMany"],
            "nfs": {"server": "10.0.0.1", "path": "/x"}, "storageClassName": ""});
        s.create("persistentvolumes", &name, json!({"spec": spec}))
            .await;
        s.get(&format!("persistentvolumes/{name}")).await;
        s.merge(
            &format!("persistentvolumes/{name}"),
            json!({"spec": {"capacity": {"storage": "20Gi"}}}),
        )
        .await;
        s.merge(
            &format!("persistentvolumes/{name}/status"),
            json!({"status": {"phase": "Available"}}),
        )
        .await;
        s.delete(&format!("persistentvolumes/{name}")).await;
    });
}

#[test]
fn persistent_volumes_that_are_refused() {
    run(async |s| {
        let name = format!("pv-{}", s.ns);
        s.create("persistentvolumes", &name, json!({"spec": {}}))
            .await;
        let two = json!({"spec": {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"],
            "nfs": {"server": "10.0.0.1", "path": "/x"}, "hostPath": {"path": "/y"}}});
        s.create("persistentvolumes", &name, two).await;
    });
}

#[test]
fn persistent_volume_claims() {
    run(async |s| {
        let spec = json!({"accessModes": ["ReadWriteMany"], "volumeName": "v", "storageClassName": "",
            "resources": {"requests": {"storage": "10Gi"}}});
        s.create("persistentvolumeclaims", "a", json!({"spec": spec}))
            .await;
        s.merge(
            "persistentvolumeclaims/a",
            json!({"spec": {"volumeName": "w"}}),
        )
        .await;
        s.merge(
            "persistentvolumeclaims/a/status",
            json!({"status": {"phase": "Bound"}}),
        )
        .await;
        s.create("persistentvolumeclaims", "b", json!({"spec": {}}))
            .await;
        s.delete("persistentvolumeclaims/a").await;
    });
}

#[test]
fn quantities_are_normalised() {
    run(async |s| {
        for (name, quantity) in [
            ("a", json!("1024Mi")),
            ("b", json!("1.5Gi")),
            ("c", json!(1000)),
            ("d", json!("1e3")),
            ("e", json!("nonsense")),
        ] {
            let spec = json!({"accessModes": ["ReadWriteOnce"],
                "resources": {"requests": {"storage": quantity}}});
            s.create("persistentvolumeclaims", name, json!({"spec": spec}))
                .await;
        }
    });
}
