//! Built-in kinds and owners.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Value, json};

use crate::harness::{merge, run};

#[test]
fn secrets_of_every_type() {
    run(async |s| {
        let b64 = |text: &str| STANDARD.encode(text);
        for (kind, data) in [
            ("kubernetes.io/dockercfg", json!({".dockercfg": b64("{}")})),
            ("kubernetes.io/dockercfg", json!({".dockercfg": b64("x")})),
            (
                "kubernetes.io/dockerconfigjson",
                json!({".dockerconfigjson": b64("{\"auths\":{}}")}),
            ),
            (
                "kubernetes.io/dockerconfigjson",
                json!({".dockerconfigjson": b64("[]")}),
            ),
            (
                "kubernetes.io/dockerconfigjson",
                json!({".dockerconfigjson": b64("null")}),
            ),
            (
                "kubernetes.io/dockerconfigjson",
                json!({".dockerconfigjson": ""}),
            ),
            ("kubernetes.io/ssh-auth", json!({"ssh-privatekey": ""})),
            (
                "kubernetes.io/ssh-auth",
                json!({"ssh-privatekey": b64("x")}),
            ),
            ("kubernetes.io/basic-auth", json!({"username": ""})),
            ("kubernetes.io/basic-auth", json!({})),
            ("kubernetes.io/tls", json!({"tls.crt": "", "tls.key": ""})),
            ("bootstrap.kubernetes.io/token", json!({})),
            ("nonsense", json!({})),
            ("", json!({})),
        ] {
            s.create(
                "secrets?dryRun=All",
                "a",
                json!({"type": kind, "data": data}),
            )
            .await;
        }
        s.create("secrets", "a", json!({"type": "x"})).await;
        s.replace("secrets", "a", json!({"data": {"a": "eA=="}}))
            .await;
        s.replace("secrets", "a", json!({"type": "", "data": {"a": "eA=="}}))
            .await;
        s.replace("secrets", "a", json!({"type": "y"})).await;
        for data in [
            json!({"a": "eA"}),
            json!({"a": "eA=\n="}),
            json!({"a": "e A=="}),
            json!({"a": "-_=="}),
            json!({"a": "eB=="}),
            json!({"a": 5}),
            json!({"": "eA=="}),
            json!({".": "eA=="}),
            json!({"..a": "eA=="}),
            json!({"a/b": "eA=="}),
            json!([]),
            json!("x"),
        ] {
            s.create("secrets?dryRun=All", "b", json!({"data": data}))
                .await;
        }
        s.create(
            "secrets?dryRun=All",
            "c",
            json!({"stringData": {"a": "x", "b": ""}, "data": {"a": "eQ==", "c": ""}}),
        )
        .await;
        s.create(
            "secrets?dryRun=All",
            "c",
            json!({"stringData": {"a": null}}),
        )
        .await;
        s.create("secrets?dryRun=All", "c", json!({"stringData": {}}))
            .await;
    });
}

#[test]
fn volumes_that_warn() {
    run(async |s| {
        let volume = |change: Value| {
            merge(
                json!({"spec": {"accessModes": ["ReadWriteOnce"], "capacity": {"storage": "1Gi"},
                    "nfs": {"server": "s", "path": "/"}}}),
                change,
            )
        };
        for change in [
            json!({"spec": {"persistentVolumeReclaimPolicy": "Recycle"}}),
            json!({"metadata": {"annotations": {"volume.beta.kubernetes.io/storage-class": "x"}}}),
            json!({"metadata": {"annotations": {"volume.beta.kubernetes.io/mount-options": "x"}}}),
            json!({"spec": {"capacity": {"storage": "1500m"}}}),
            json!({"spec": {"capacity": {"storage": "1", "other": "2"}}}),
            json!({"spec": {"capacity": {"storage": 5}}}),
            json!({"spec": {"capacity": {"storage": "1e3"}}}),
            json!({"spec": {"capacity": {"storage": "1.5Gi"}}}),
            json!({"spec": {"capacity": {"storage": "x"}}}),
            json!({"spec": {"accessModes": []}}),
            json!({"spec": {"accessModes": ["ReadWriteOncePod", "ReadWriteOnce"]}}),
            json!({"spec": {"mountOptions": ["a"]}}),
            json!({"spec": {"volumeMode": "Nonsense"}}),
            json!({"spec": {"storageClassName": "X"}}),
            json!({"spec": {"claimRef": {"name": "a", "namespace": "b"}}}),
            json!({"spec": {"nfs": {"server": "s", "path": "x"}}}),
            json!({"spec": {"nfs": {"server": "s", "path": "/", "readOnly": true}}}),
            json!({"spec": {"nfs": null, "csi": {"driver": "d", "volumeHandle": "h", "fsType": "ext4"}}}),
        ] {
            let name = format!("{}-v", s.ns);
            s.create("persistentvolumes?dryRun=All", &name, volume(change))
                .await;
        }
        let claim = |change: Value| {
            merge(
                json!({"spec": {"accessModes": ["ReadWriteOnce"],
                    "resources": {"requests": {"storage": "1Gi"}}}}),
                change,
            )
        };
        for change in [
            json!({"spec": {"resources": {"requests": {"storage": "1500m"}}}}),
            json!({"spec": {"resources": {"limits": {"storage": "1500m"}}}}),
            json!({"spec": {"resources": {"limits": {"storage": "1Mi"}}}}),
            json!({"spec": {"resources": {"requests": {"storage": "0"}}}}),
            json!({"spec": {"resources": {"requests": {"cpu": "1"}}}}),
            json!({"metadata": {"annotations": {"volume.beta.kubernetes.io/storage-class": "x"}}}),
            json!({"spec": {"selector": {"matchLabels": {"a": "b"}}}}),
            json!({"spec": {"volumeName": "x"}}),
            json!({"spec": {"storageClassName": ""}}),
            json!({"spec": {"volumeAttributesClassName": "x"}}),
        ] {
            s.create("persistentvolumeclaims?dryRun=All", "c", claim(change))
                .await;
        }
    });
}

#[test]
fn leases_events_and_accounts() {
    run(async |s| {
        for spec in [
            json!({"holderIdentity": ""}),
            json!({"leaseDurationSeconds": 0}),
            json!({"leaseTransitions": -1}),
            json!({"strategy": "OldestEmulationVersion"}),
            json!({"strategy": "nonsense"}),
            json!({"preferredHolder": "x"}),
            json!(null),
            json!([]),
            json!("x"),
        ] {
            s.create("leases?dryRun=All", "a", json!({"spec": spec}))
                .await;
        }
        for body in [
            json!({"secrets": [{"name": "a", "kind": "x"}, {"name": "a"}]}),
            json!({"imagePullSecrets": [{"name": "a"}, {"name": "a"}]}),
            json!({"imagePullSecrets": [{"more": "a"}]}),
            json!({"automountServiceAccountToken": "x"}),
            json!({"automountServiceAccountToken": false}),
        ] {
            s.create("serviceaccounts?dryRun=All", "a", body).await;
        }
        let ns = s.ns.clone();
        for body in [
            json!({"involvedObject": {"namespace": ns}, "type": "Nonsense", "count": -1}),
            json!({"involvedObject": {"namespace": ns}, "series": {"count": 1}}),
            json!({"involvedObject": {"namespace": ns}, "related": {"kind": "x"}}),
            json!({"involvedObject": {"namespace": ns}, "source": {"component": "c", "host": "h"}}),
            json!({"involvedObject": {"namespace": ns}, "message": "m".repeat(2000)}),
            json!({"involvedObject": {"namespace": ns}, "count": 2_147_483_648_u32}),
            json!({}),
        ] {
            s.create("events?dryRun=All", "a", body).await;
        }
    });
}

#[test]
fn owners_that_cannot_be_judged() {
    run(async |s| {
        s.collects("notes").await;
        let gone = json!({"apiVersion": "v1", "kind": "ConfigMap", "name": "gone",
            "uid": "00000000-0000-4000-8000-000000000001"});
        let strange = json!({"apiVersion": "strange.example.com/v1", "kind": "Strange",
            "name": "s", "uid": "00000000-0000-4000-8000-000000000002"});
        for (name, owners) in [
            ("a", json!([strange, gone])),
            ("b", json!([gone, strange])),
            ("c", json!([strange])),
        ] {
            s.create(
                "configmaps",
                name,
                json!({"metadata": {"ownerReferences": owners}}),
            )
            .await;
            s.create(
                "notes",
                name,
                json!({"metadata": {"ownerReferences": owners}}),
            )
            .await;
        }
        // What comes later is looked at later.
        s.create(
            "configmaps",
            "z",
            json!({"metadata": {"ownerReferences": [gone]}}),
        )
        .await;
        s.until_gone("configmaps/z").await;
        s.get("configmaps?fieldSelector=metadata.name!%3Dz").await;
        s.get("notes?fieldSelector=metadata.name!%3Dz").await;
    });
}
