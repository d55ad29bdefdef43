//! Tables: what `kubectl get` shows, as the server makes it.

use serde_json::{Value, json};

use crate::harness::{Script, run};

/// What `kubectl` says that it takes.
const TABLE: &str = "application/json;as=Table;v=v1;g=meta.k8s.io,\
                     application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json";

async fn table(s: &mut Script, path: &str) {
    s.raw("GET", path, &[("accept", TABLE)], "").await;
}

#[test]
fn of_config_maps_and_secrets() {
    run(async |s| {
        table(s, "configmaps?fieldSelector=metadata.name=a").await;
        let data = json!({"data": {"a": "1", "b": "2"}, "binaryData": {"c": "AA=="}});
        s.create("configmaps", "a", data).await;
        s.create("configmaps", "empty", json!({})).await;
        table(s, "configmaps/a").await;
        table(s, "configmaps/empty").await;
        table(s, "configmaps?labelSelector=none=such").await;
        table(s, "configmaps?fieldSelector=metadata.name=a").await;
        s.create("secrets", "s", json!({"stringData": {"k": "v"}}))
            .await;
        let typed = json!({"type": "example.com/t", "data": {"k": "dg==", "l": "dg=="}});
        s.create("secrets", "t", typed).await;
        table(s, "secrets").await;
        table(s, "secrets/none").await;
    });
}

#[test]
fn of_namespaces_and_service_accounts() {
    run(async |s| {
        table(s, "/api/v1/namespaces/{ns}").await;
        table(
            s,
            "/api/v1/namespaces?labelSelector=kubernetes.io/metadata.name={ns}",
        )
        .await;
        s.create("serviceaccounts", "a", json!({})).await;
        table(s, "serviceaccounts/a").await;
    });
}

#[test]
fn of_leases() {
    run(async |s| {
        s.create("leases", "free", json!({})).await;
        s.create("leases", "held", json!({"spec": {"holderIdentity": "me"}}))
            .await;
        table(s, "leases").await;
    });
}

#[test]
fn of_roles_and_policies() {
    run(async |s| {
        let group = "rbac.authorization.k8s.io";
        s.create("roles", "r", json!({})).await;
        table(s, "roles").await;
        table(s, "roles?labelSelector=none=such").await;
        let subjects = json!([
            {"kind": "User", "apiGroup": group, "name": "ann"},
            {"kind": "User", "apiGroup": group, "name": "ben"},
            {"kind": "Group", "apiGroup": group, "name": "red"},
            {"kind": "ServiceAccount", "name": "bot", "namespace": "there"},
        ]);
        let role = json!({"apiGroup": group, "kind": "Role", "name": "r"});
        s.create(
            "rolebindings",
            "b",
            json!({"subjects": subjects, "roleRef": role}),
        )
        .await;
        s.create("rolebindings", "c", json!({"roleRef": role}))
            .await;
        table(s, "rolebindings").await;
        let base = "/apis/admissionregistration.k8s.io/v1";
        let name = format!("tables-{}", s.ns);
        let policy = json!({"metadata": {"name": name}, "spec": {
            "matchConstraints": {"resourceRules": [{"apiGroups": ["none.example.com"],
                "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["nothings"]}]},
            "validations": [{"expression": "true"}, {"expression": "1 < 2"}]}});
        s.post(&format!("{base}/validatingadmissionpolicies"), policy)
            .await;
        table(s, &format!("{base}/validatingadmissionpolicies/{name}")).await;
        let binding = json!({"metadata": {"name": name},
            "spec": {"policyName": name, "validationActions": ["Deny"]}});
        let bindings = format!("{base}/validatingadmissionpolicybindings");
        s.post(&bindings, binding).await;
        table(s, &format!("{bindings}/{name}")).await;
    });
}

#[test]
fn of_events() {
    run(async |s| {
        let about = json!({"kind": "ConfigMap", "name": "c", "namespace": s.ns.clone(),
            "fieldPath": "data.x"});
        let old = json!({"involvedObject": about, "reason": "Old", "message": "  spaces  ",
            "type": "Normal", "count": 7, "source": {"component": "tester", "host": "here"},
            "firstTimestamp": "2020-01-01T00:00:00Z", "lastTimestamp": "2020-06-01T00:00:00Z"});
        s.create("events", "old", old).await;
        let new = json!({"involvedObject": {"kind": "Secret", "namespace": s.ns.clone()},
            "reason": "New", "action": "Act", "message": "m", "type": "Warning",
            "reportingComponent": "example.com/tester", "reportingInstance": "one",
            "eventTime": "2020-01-01T00:00:00.000000Z"});
        s.create("events", "new", new).await;
        let series = json!({"involvedObject": about, "reason": "Series", "action": "Act",
            "type": "Normal", "reportingComponent": "example.com/tester",
            "reportingInstance": "one", "eventTime": "2020-01-01T00:00:00.000000Z",
            "series": {"count": 3, "lastObservedTime": "2021-01-01T00:00:00.000000Z"}});
        s.create("events", "series", series).await;
        table(s, "events").await;
        table(s, "/apis/events.k8s.io/v1/namespaces/{ns}/events").await;
        table(
            s,
            "/apis/events.k8s.io/v1/namespaces/{ns}/events/old?includeObject=Object",
        )
        .await;
    });
}

#[test]
fn of_volumes_and_claims() {
    run(async |s| {
        let spec = json!({"spec": {"capacity": {"storage": "1024Mi"},
            "accessModes": ["ReadWriteMany", "ReadWriteOnce", "ReadOnlyMany"],
            "hostPath": {"path": "/x"}, "storageClassName": "fast",
            "claimRef": {"namespace": "n", "name": "c"}}});
        let name = format!("tables-{}", s.ns);
        s.create("persistentvolumes", &name, spec).await;
        table(s, &format!("persistentvolumes/{name}")).await;
        s.delete(&format!("persistentvolumes/{name}")).await;
        table(s, &format!("persistentvolumes/{name}")).await;
        s.patch(
            &format!("persistentvolumes/{name}"),
            json!([{"op": "remove", "path": "/metadata/finalizers"}]),
        )
        .await;
        let claim = json!({"spec": {"accessModes": ["ReadWriteOncePod"],
            "resources": {"requests": {"storage": "1Gi"}}, "storageClassName": "fast"}});
        s.create("persistentvolumeclaims", "c", claim.clone()).await;
        let mut bound = claim;
        bound["spec"]["volumeName"] = json!("v");
        s.create("persistentvolumeclaims", "bound", bound).await;
        s.merge(
            "persistentvolumeclaims/bound/status",
            json!({"status": {"phase": "Bound", "accessModes": ["ReadWriteOncePod"],
                "capacity": {"storage": "2Gi"}}}),
        )
        .await;
        table(s, "persistentvolumeclaims").await;
    });
}

#[test]
fn of_definitions() {
    run(async |s| {
        let crd = s.definition("things", "Thing", json!({"type": "object"}));
        s.crd(crd).await;
        let name = format!("things.{}", s.group);
        let answer = s
            .ask_with(
                &format!("customresourcedefinitions/{name}"),
                &[("accept", TABLE)],
            )
            .await;
        s.note(
            "columns",
            json!({"columnDefinitions": answer.body["columnDefinitions"]}),
        );
        s.note("name", answer.body["rows"][0]["cells"][0].clone());
        table(s, "customresourcedefinitions?labelSelector=none=such").await;
    });
}

/// A definition with these columns.
fn with_columns(s: &Script, columns: Value) -> Value {
    let schema = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    let mut crd = s.definition("things", "Thing", schema);
    crd["spec"]["versions"][0]["additionalPrinterColumns"] = columns;
    crd
}

#[test]
fn of_custom_resources_without_columns() {
    run(async |s| {
        let crd = with_columns(s, json!([]));
        s.crd(crd).await;
        table(s, "things").await;
        s.create("things", "a", json!({})).await;
        table(s, "things").await;
        table(s, "things/a").await;
    });
}

#[test]
fn of_custom_resources_with_columns() {
    run(async |s| {
        let column = |name: &str, kind: &str, path: &str| json!({"name": name, "type": kind, "jsonPath": path});
        let crd = with_columns(
            s,
            json!([
                column("Text", "string", ".spec.text"),
                column("Whole", "integer", ".spec.whole"),
                column("Number", "number", ".spec.number"),
                column("Flag", "boolean", ".spec.flag"),
                {"name": "When", "type": "date", "jsonPath": ".spec.when", "format": "date-time",
                 "description": "of the case: when"},
                {"name": "Wide", "type": "string", "jsonPath": ".metadata.uid", "priority": 1},
                column("Age", "date", ".metadata.creationTimestamp"),
            ]),
        );
        s.crd(crd).await;
        s.create("things", "empty", json!({})).await;
        let spec = json!({"text": "t", "whole": 3, "number": 1.5, "flag": true,
            "when": "2020-01-01T00:00:00Z"});
        s.create("things", "full", json!({"spec": spec})).await;
        let odd = json!({"text": 5, "whole": 3.7, "number": 2, "flag": "true", "when": "soon"});
        s.create("things", "odd", json!({"spec": odd})).await;
        let worse = json!({"text": {"b": "<&>", "a": [1, 2.5]}, "whole": "3", "number": "1.5",
            "flag": 1, "when": 5});
        s.create("things", "worse", json!({"spec": worse})).await;
        let nulls = json!({"text": null, "whole": null, "number": null, "flag": null, "when": ""});
        s.create("things", "nulls", json!({"spec": nulls})).await;
        let texts = json!({"text": [1, "a"], "whole": 1e20, "number": 1e21, "flag": false,
            "when": "2999-01-01T00:00:00Z"});
        s.create("things", "texts", json!({"spec": texts})).await;
        table(s, "things").await;
        table(s, "things?limit=2").await;
    });
}

#[test]
fn paths_of_columns() {
    run(async |s| {
        let paths = [
            ".spec.list[0].name",
            ".spec.list[-1].name",
            ".spec.list[*].name",
            ".spec.list[1:3].name",
            ".spec.list[?(@.name==\"b\")].value",
            ".spec.list[?(@.value>1)].name",
            ".spec.list[?(@.value>=1.5)].name",
            ".spec.list[?(@.flag==true)].name",
            ".spec.list[?(@.missing)].name",
            ".spec.list[?(@.name!=\"a\")].name",
            ".spec.list[7].name",
            ".spec.list[0,2].name",
            ".spec.list",
            ".spec.map.dotted\\.key",
            ".spec.map['dotted\\.key']",
            ".spec.map['plain']",
            ".spec..name",
            ".spec.map.plain.deeper",
            ".spec.map[0]",
            ".spec.list.name",
            ".spec.*",
            ".",
            ".spec.list[::2].name",
            ".spec.float",
            ".spec.big",
        ];
        let columns: Vec<Value> = paths
            .iter()
            .map(|path| json!({"name": path, "type": "string", "jsonPath": path}))
            .collect();
        let crd = with_columns(s, json!(columns));
        s.crd(crd).await;
        let list = json!([{"name": "a", "value": 1, "flag": false},
            {"name": "b", "value": 2, "flag": true}, {"name": "c", "value": 3}]);
        let spec = json!({"list": list, "float": 0.000_01, "big": 12_345_678.5,
            "map": {"plain": "p", "dotted.key": "d"}});
        s.create("things", "a", json!({"spec": spec})).await;
        // What `..` finds first is up to Go's maps, and so is `.*`; `.` is the whole object.
        let answer = s
            .ask_with("things/a?includeObject=None", &[("accept", TABLE)])
            .await;
        let cells = answer.body["rows"][0]["cells"].as_array().cloned();
        for (path, cell) in paths.iter().zip(cells.unwrap_or_default().iter().skip(1)) {
            if ![".spec..name", ".spec.*", "."].contains(path) {
                s.note(path, cell.clone());
            }
        }
    });
}

#[test]
fn a_path_that_nobody_understands_ends_the_columns() {
    run(async |s| {
        let crd = with_columns(
            s,
            json!([
                {"name": "One", "type": "string", "jsonPath": ".spec.a"},
                {"name": "Two", "type": "string", "jsonPath": ".spec.a[x]"},
                {"name": "Three", "type": "string", "jsonPath": ".spec.b"},
            ]),
        );
        s.crd(crd).await;
        s.create("things", "a", json!({"spec": {"a": "1", "b": "2"}}))
            .await;
        table(s, "things").await;
    });
}

#[test]
fn columns_belong_to_a_version() {
    run(async |s| {
        s.create("widgets", "a", json!({"spec": {"size": 7}})).await;
        table(s, "widgets/a").await;
        table(s, "widgets@v1beta1/a?includeObject=Object").await;
        table(s, "widgets/a/status").await;
        table(s, "widgets/a/scale").await;
    });
}

#[test]
fn what_rows_include() {
    run(async |s| {
        let labels = json!({"metadata": {"labels": {"a": "b"}}, "data": {"k": "v"}});
        s.create("configmaps", "a", labels).await;
        s.create("widgets", "a", json!({"spec": {"size": 7}})).await;
        for plural in ["configmaps", "widgets"] {
            for include in ["Object", "Metadata", "None", "", "Nonsense", "none"] {
                table(s, &format!("{plural}/a?includeObject={include}")).await;
            }
            table(
                s,
                &format!("{plural}?includeObject=Object&fieldSelector=metadata.name=a"),
            )
            .await;
            table(
                s,
                &format!("{plural}?includeObject=Nonsense&fieldSelector=metadata.name=a"),
            )
            .await;
        }
    });
}

#[test]
fn negotiation() {
    run(async |s| {
        s.create("configmaps", "a", json!({})).await;
        s.create("widgets", "a", json!({"spec": {"size": 7}})).await;
        for accept in [
            "application/json;as=Table;g=meta.k8s.io;v=v1",
            "application/json;as=Table;g=meta.k8s.io;v=v1beta1",
            "application/json;as=Table;g=meta.k8s.io;v=v2",
            "application/json;as=Table;g=meta.k8s.io;v=v2,application/json",
            "application/json;as=Table;v=v1",
            "application/json;as=Table",
            "application/json;g=meta.k8s.io;v=v1",
            "application/json;as=table;g=meta.k8s.io;v=v1",
            "application/json;as=Chair;g=meta.k8s.io;v=v1",
            "application/json; as=Table; g=meta.k8s.io; v=v1",
            "*/*;as=Table;g=meta.k8s.io;v=v1",
            "application/*;as=Table;g=meta.k8s.io;v=v1",
            "application/json;q=0.1,application/json;as=Table;g=meta.k8s.io;v=v1",
            "application/json,application/json;as=Table;g=meta.k8s.io;v=v1",
            "text/html,application/json;as=Table;g=meta.k8s.io;v=v1",
            "text/html;as=Table;g=meta.k8s.io;v=v1",
            "application/json;as=Table;g=meta.k8s.io;v=v1;pretty=0;export=1;x=y",
            "application/json;as=Table;g=meta.k8s.io;v=v1;sv=v1",
            "application/json;as=Table;g=meta.k8s.io;v=v1;sv=v2",
            "application/json;as=Table;g=meta.k8s.io;v=v1;stream=watch",
            "application/json;as=Table;g=meta.k8s.io;v=v1;stream=other",
        ] {
            for plural in ["configmaps/a", "widgets/a"] {
                s.raw("GET", plural, &[("accept", accept)], "").await;
            }
        }
    });
}

#[test]
fn watched() {
    run(async |s| {
        s.create("configmaps", "a", json!({"data": {"k": "v"}}))
            .await;
        let path = "configmaps?watch=true&fieldSelector=metadata.name=a";
        let mut watch = s.watch_with(path, &[("accept", TABLE)]).await;
        watch.take(s, 1).await;
        s.merge("configmaps/a", json!({"data": {"l": "w"}})).await;
        watch.take(s, 1).await;
        s.delete("configmaps/a").await;
        watch.take(s, 1).await;
    });
}

#[test]
fn watched_with_bookmarks() {
    run(async |s| {
        s.create("widgets", "a", json!({"spec": {"size": 7}})).await;
        let path = "widgets?watch=true&sendInitialEvents=true&allowWatchBookmarks=true\
                    &resourceVersionMatch=NotOlderThan&timeoutSeconds=1";
        for include in ["", "&includeObject=None", "&includeObject=Object"] {
            let path = format!("{path}{include}");
            let mut watch = s.watch_with(&path, &[("accept", TABLE)]).await;
            watch.take(s, 2).await;
        }
        let path = "widgets?watch=true&includeObject=Nonsense";
        let mut watch = s.watch_with(path, &[("accept", TABLE)]).await;
        watch.take(s, 1).await;
    });
}

#[test]
fn of_what_is_written() {
    run(async |s| {
        let body = s.object("configmaps", "a", json!({"data": {"k": "v"}}));
        let headers = [("accept", TABLE), ("content-type", "application/json")];
        s.raw("POST", "configmaps", &headers, body.to_string())
            .await;
        s.raw("PUT", "configmaps/a", &headers, body.to_string())
            .await;
        let patch = [
            ("accept", TABLE),
            ("content-type", "application/merge-patch+json"),
        ];
        s.raw("PATCH", "configmaps/a", &patch, r#"{"data":{"l":"w"}}"#)
            .await;
        s.raw(
            "PATCH",
            "configmaps/a?includeObject=x",
            &patch,
            r#"{"data":{"m":"x"}}"#,
        )
        .await;
        s.get("configmaps/a").await;
        s.raw("DELETE", "configmaps/a", &headers, "").await;
    });
}
