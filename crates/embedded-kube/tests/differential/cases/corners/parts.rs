//! Scales, and paths with too many parts.

use serde_json::json;

use crate::harness::{merge, run};

#[test]
fn scales_of_every_shape() {
    run(async |s| {
        let made = s
            .create("widgets", "a", json!({"spec": {"size": 1, "replicas": 3}}))
            .await;
        let base = json!({"apiVersion": "autoscaling/v1", "kind": "Scale",
            "metadata": {"name": "a", "namespace": s.ns}, "spec": {"replicas": 4}});
        for change in [
            json!({"spec": {"replicas": 3_000_000_000_u32}}),
            json!({"spec": {"replicas": 1.5}}),
            json!({"spec": {"replicas": -1}}),
            json!({"spec": {"replicas": null}}),
            json!({"spec": "x"}),
            json!({"spec": []}),
            json!({"spec": null}),
            json!({"spec": {"replicas": 5, "more": 1}}),
            json!({"more": 1}),
            json!({"metadata": {"name": ""}}),
            json!({"metadata": {"name": null}}),
            json!({"metadata": {"namespace": "other"}}),
            json!({"metadata": {"namespace": ""}}),
            json!({"metadata": {"uid": "other"}}),
            json!({"metadata": {"uid": made.uid()}}),
            json!({"metadata": {"resourceVersion": "1"}}),
            json!({"metadata": {"resourceVersion": "x"}}),
            json!({"metadata": {"labels": {"a": "b"}}}),
            json!({"metadata": {"labels": {"a": 1}}}),
            json!({"metadata": "x"}),
            json!({"status": {"replicas": 9}}),
            json!({"status": "x"}),
            json!({"apiVersion": ""}),
            json!({"kind": ""}),
            json!({"apiVersion": "autoscaling/v2"}),
            json!({"apiVersion": "extensions/v1beta1"}),
            json!({"apiVersion": "apps/v1beta1"}),
            json!({"kind": "Other"}),
        ] {
            s.put("widgets/a/scale", merge(base.clone(), change.clone()))
                .await;
            s.put(
                "widgets/a/scale?fieldValidation=Strict",
                merge(base.clone(), change.clone()),
            )
            .await;
            s.merge("widgets/a/scale", change).await;
        }
        for body in ["", "null", "[]", "{", "5"] {
            s.typed("PUT", "widgets/a/scale", "application/json", body)
                .await;
        }
        s.put("widgets/a/scale?dryRun=All", base.clone()).await;
        s.put(
            "widgets/none/scale",
            merge(base, json!({"metadata": {"name": "none"}})),
        )
        .await;
        s.get("widgets/a").await;
    });
}

#[test]
fn paths_that_are_too_long() {
    run(async |s| {
        s.create("widgets", "a", json!({"spec": {"size": 1, "replicas": 1}}))
            .await;
        s.create("configmaps", "a", json!({})).await;
        for path in [
            "widgets/a/status/more",
            "widgets/a/scale/more/still",
            "widgets/a/more",
            "widgets/a/more/status",
            "widgets/a/finalize",
            "widgets/a/status/",
            "configmaps/a/status",
            "namespaces/{ns}/more",
            "namespaces/{ns}/finalize",
            "namespaces/{ns}/status/more",
            "/apis/fixture.freehold.dev/v1/namespaces/{ns}/status",
            "/apis/fixture.freehold.dev/v1/namespaces/{ns}",
            "/apis/fixture.freehold.dev/v1/namespaces",
            "/apis/fixture.freehold.dev/v1/widgets/a",
            "/apis/fixture.freehold.dev/v1/namespaces/{ns}/gadgets",
            "/apis/fixture.freehold.dev/v1/nothing",
            "/apis/fixture.freehold.dev/v2/widgets",
            "/apis/fixture.freehold.dev/v1/proxy/widgets",
            "/api/v1/proxy/namespaces/{ns}/configmaps/a",
            "/api/v1/nothing",
            "/api/v2/configmaps",
            "/apis/v1/configmaps",
            "/apis/coordination.k8s.io/v1beta9/leases",
            "/apis/coordination.k8s.io/v1/nothing",
            "/nothing",
            "/api/v1/namespaces/{ns}/configmaps/a%3F",
            "/API/v1/configmaps",
            "/apis/FIXTURE.freehold.dev/v1/widgets",
        ] {
            s.hostile("GET", path, &[], "").await;
        }
        for method in ["POST", "PUT", "DELETE", "PATCH"] {
            for path in [
                "widgets/a/status/more",
                "widgets/a/more",
                "configmaps/a/status",
                "configmaps/a/more",
                "/apis/fixture.freehold.dev/v1/nothing",
                "/api/v1/nothing",
            ] {
                s.hostile(
                    method,
                    path,
                    &[("content-type", "application/merge-patch+json")],
                    "{}",
                )
                .await;
            }
        }
    });
}
