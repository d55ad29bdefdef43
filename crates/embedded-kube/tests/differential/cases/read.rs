//! Getting and listing.

use serde_json::json;

use crate::harness::{Script, run, run_forgetful};

async fn some_widgets(s: &mut Script) {
    for (name, color, size, team) in [
        ("a", "red", 1, "x"),
        ("b", "green", 2, "x"),
        ("c", "blue", 3, "y"),
        ("d", "red", 4, ""),
    ] {
        let mut labels = json!({"tier": "web"});
        if !team.is_empty() {
            labels["team"] = json!(team);
        }
        let body = json!({"metadata": {"labels": labels}, "spec": {"size": size, "color": color}});
        s.create("widgets", name, body).await;
    }
}

#[test]
fn get_of_what_is_not_there() {
    run(async |s| {
        for path in [
            "configmaps/a",
            "widgets/a",
            "leases/a",
            "namespaces/none",
            "gadgets/none",
        ] {
            s.get(path).await;
        }
        s.get("/api/v1/namespaces/none/configmaps/a").await;
    });
}

#[test]
fn list_of_nothing() {
    run(async |s| {
        s.get("configmaps").await;
        s.get("widgets").await;
        s.get("/api/v1/namespaces/none/configmaps").await;
        s.get("/apis/fixture.freehold.dev/v1/namespaces/none/widgets")
            .await;
    });
}

#[test]
fn list_is_sorted_by_name() {
    run(async |s| {
        for name in ["b", "a", "c", "a.b", "a-b", "10", "9"] {
            s.create("configmaps", name, json!({})).await;
        }
        s.get("configmaps").await;
    });
}

#[test]
fn list_items_of_custom_resources_carry_their_kind() {
    run(async |s| {
        some_widgets(s).await;
        s.get("widgets").await;
        s.get("widgets@v1beta1").await;
    });
}

#[test]
fn label_selectors() {
    run(async |s| {
        some_widgets(s).await;
        for selector in [
            "team=x",
            "team==y",
            "team!=x",
            "team",
            "!team",
            "team in (x,y)",
            "team notin (x)",
            "team in ()",
            "tier=web,team=x",
            "tier=web,!team",
            "team=",
            "",
            "nothing=here",
        ] {
            let query = selector
                .replace(' ', "%20")
                .replace('=', "%3D")
                .replace('!', "%21");
            s.get(&format!("widgets?labelSelector={query}")).await;
        }
    });
}

#[test]
fn bad_label_selectors() {
    run(async |s| {
        for selector in [
            "team in x",
            "team=x,",
            "a b",
            "=x",
            "team in (",
            "k=bad value",
            "!",
            "a=b=c",
            ",",
        ] {
            let query = selector
                .replace(' ', "%20")
                .replace('=', "%3D")
                .replace('!', "%21");
            s.get(&format!("widgets?labelSelector={query}")).await;
            s.get(&format!("configmaps?labelSelector={query}")).await;
        }
    });
}

#[test]
fn numeric_label_selectors() {
    run(async |s| {
        for (name, weight) in [("a", "1"), ("b", "10"), ("c", "x")] {
            s.create(
                "configmaps",
                name,
                json!({"metadata": {"labels": {"weight": weight}}}),
            )
            .await;
        }
        s.get("configmaps?labelSelector=weight%3E5").await;
        s.get("configmaps?labelSelector=weight%3C5").await;
        s.get("configmaps?labelSelector=weight%3Ex").await;
    });
}

#[test]
fn field_selectors_on_metadata() {
    run(async |s| {
        some_widgets(s).await;
        s.create("configmaps", "a", json!({})).await;
        s.create("configmaps", "b", json!({})).await;
        for plural in ["configmaps", "widgets"] {
            for selector in [
                "metadata.name%3Da",
                "metadata.name!%3Da",
                "metadata.namespace%3D{ns}",
                "metadata.name%3D%3Db",
            ] {
                s.get(&format!("{plural}?fieldSelector={selector}")).await;
            }
        }
    });
}

#[test]
fn field_selectors_of_the_definition() {
    run(async |s| {
        some_widgets(s).await;
        s.get("widgets?fieldSelector=spec.color%3Dred").await;
        s.get("widgets?fieldSelector=spec.color!%3Dred").await;
        s.get("widgets?fieldSelector=spec.size%3D3").await;
        s.get("widgets?fieldSelector=spec.color%3Dred,spec.size%3D4")
            .await;
        s.get("widgets?fieldSelector=spec.color%3Dred&labelSelector=team")
            .await;
        s.get("widgets@v1beta1?fieldSelector=spec.color%3Dred")
            .await;
    });
}

#[test]
fn field_selectors_that_are_not_supported() {
    run(async |s| {
        s.get("widgets?fieldSelector=spec.note%3Dx").await;
        s.get("widgets?fieldSelector=metadata.uid%3Dx").await;
        s.get("notes?fieldSelector=spec.color%3Dx").await;
        s.get("configmaps?fieldSelector=data.x%3Dx").await;
        s.get("configmaps?fieldSelector=nonsense").await;
        s.get("widgets?fieldSelector=nonsense").await;
        s.get("secrets?fieldSelector=type%3DOpaque").await;
        s.get("namespaces?fieldSelector=status.phase%3DTerminating,metadata.name%3Dnone")
            .await;
    });
}

#[test]
fn paging() {
    run(async |s| {
        for index in 0..7 {
            s.create("configmaps", &format!("c{index}"), json!({}))
                .await;
        }
        let first = s.get("configmaps?limit=3").await;
        let second = s
            .get(&format!("configmaps?limit=3&continue={}", first.cursor()))
            .await;
        s.get(&format!("configmaps?limit=3&continue={}", second.cursor()))
            .await;
        s.get("configmaps?limit=7").await;
        s.get("configmaps?limit=8").await;
        s.get("configmaps?limit=0").await;
    });
}

#[test]
fn paging_keeps_its_snapshot() {
    run(async |s| {
        for index in 0..5 {
            s.create(
                "widgets",
                &format!("w{index}"),
                json!({"spec": {"size": 1}}),
            )
            .await;
        }
        let first = s.get("widgets?limit=2").await;
        s.delete("widgets/w3").await;
        s.create("widgets", "w2b", json!({"spec": {"size": 1}}))
            .await;
        s.merge("widgets/w4", json!({"spec": {"size": 9}})).await;
        s.get(&format!("widgets?limit=10&continue={}", first.cursor()))
            .await;
    });
}

#[test]
fn paging_with_selectors() {
    run(async |s| {
        some_widgets(s).await;
        let first = s.get("widgets?limit=1&labelSelector=team").await;
        s.get(&format!(
            "widgets?limit=1&labelSelector=team&continue={}",
            first.cursor()
        ))
        .await;
        let first = s
            .get("widgets?limit=1&fieldSelector=spec.color%3Dred")
            .await;
        s.get(&format!(
            "widgets?limit=5&fieldSelector=spec.color%3Dred&continue={}",
            first.cursor()
        ))
        .await;
    });
}

#[test]
fn bad_paging() {
    run(async |s| {
        s.create("configmaps", "a", json!({})).await;
        s.create("configmaps", "b", json!({})).await;
        s.get("configmaps?limit=-1").await;
        s.get("configmaps?limit=x").await;
        s.get("configmaps?continue=nonsense").await;
        s.get("widgets?continue=nonsense").await;
        let first = s.get("configmaps?limit=1").await;
        let query = format!("continue={}&resourceVersion=1", first.cursor());
        s.get(&format!("configmaps?limit=1&{query}")).await;
        let query = format!("continue={}&resourceVersionMatch=Exact", first.cursor());
        s.get(&format!("configmaps?limit=1&{query}")).await;
    });
}

#[test]
fn a_cursor_from_before_compaction_is_expired() {
    run_forgetful(async |s| {
        for index in 0..4 {
            s.create(
                "widgets",
                &format!("w{index}"),
                json!({"spec": {"size": 1}}),
            )
            .await;
        }
        let first = s.get("widgets?limit=2").await;
        s.create("widgets", "later", json!({"spec": {"size": 1}}))
            .await;
        s.compact().await;
        let next = format!("widgets?limit=2&continue={}", first.cursor());
        let answer = s.until(&next, |answer| answer.status == 410).await;
        // The expired answer offers a cursor that goes on in the present.
        s.get(&format!("widgets?limit=9&continue={}", answer.cursor()))
            .await;
    });
}

#[test]
fn list_at_a_version() {
    run(async |s| {
        let first = s.create("widgets", "a", json!({"spec": {"size": 1}})).await;
        let last = s.create("widgets", "b", json!({"spec": {"size": 1}})).await;
        let rv = first.rv();
        s.freshen("widgets", &last).await;
        s.get("widgets?resourceVersion=0").await;
        s.get(&format!("widgets?resourceVersion={rv}")).await;
        s.get(&format!(
            "widgets?resourceVersion={rv}&resourceVersionMatch=NotOlderThan"
        ))
        .await;
        s.get(&format!(
            "widgets?resourceVersion={rv}&resourceVersionMatch=Exact"
        ))
        .await;
        s.get(&format!(
            "widgets?resourceVersion={rv}&resourceVersionMatch=Exact&limit=1"
        ))
        .await;
    });
}

#[test]
fn list_with_bad_versions() {
    run(async |s| {
        s.create("widgets", "a", json!({"spec": {"size": 1}})).await;
        s.get("widgets?resourceVersion=x").await;
        s.get("widgets?resourceVersion=-1").await;
        s.get("widgets?resourceVersionMatch=Exact").await;
        s.get("widgets?resourceVersion=0&resourceVersionMatch=Exact")
            .await;
        s.get("widgets?resourceVersion=1&resourceVersionMatch=Nonsense")
            .await;
        s.get("configmaps?resourceVersion=x").await;
    });
}

#[test]
fn list_in_the_future() {
    run(async |s| {
        s.create("widgets", "a", json!({"spec": {"size": 1}})).await;
        s.get("widgets?resourceVersion=999999999").await;
        s.get("widgets?resourceVersion=999999999&resourceVersionMatch=Exact")
            .await;
        s.get("widgets/a?resourceVersion=999999999").await;
    });
}

#[test]
fn list_at_a_compacted_version() {
    run_forgetful(async |s| {
        let first = s.create("widgets", "a", json!({"spec": {"size": 1}})).await;
        s.create("widgets", "b", json!({"spec": {"size": 1}})).await;
        s.compact().await;
        let rv = first.rv();
        let exact = format!("widgets?resourceVersion={rv}&resourceVersionMatch=Exact");
        s.until(&exact, |answer| answer.status == 410).await;
        s.get(&format!("widgets?resourceVersion={rv}")).await;
    });
}

#[test]
fn get_at_a_version() {
    run(async |s| {
        let made = s.create("widgets", "a", json!({"spec": {"size": 1}})).await;
        let last = s.merge("widgets/a", json!({"spec": {"size": 2}})).await;
        s.freshen("widgets", &last).await;
        s.get("widgets/a?resourceVersion=0").await;
        s.get(&format!("widgets/a?resourceVersion={}", made.rv()))
            .await;
        s.get("widgets/a?resourceVersion=x").await;
    });
}

#[test]
fn all_namespaces() {
    run(async |s| {
        let ns = s.ns.clone();
        let body = json!({"metadata": {"labels": {"case": ns}}, "spec": {"size": 1}});
        s.create("widgets", "a", body.clone()).await;
        s.create("configmaps", "a", body).await;
        s.get(&format!(
            "/apis/fixture.freehold.dev/v1/widgets?labelSelector=case%3D{ns}"
        ))
        .await;
        s.get(&format!("/api/v1/configmaps?labelSelector=case%3D{ns}"))
            .await;
        s.get(&format!(
            "/api/v1/configmaps?fieldSelector=metadata.namespace%3D{ns}"
        ))
        .await;
    });
}

#[test]
fn paging_over_all_namespaces() {
    run(async |s| {
        let ns = s.ns.clone();
        for name in ["a", "b", "c"] {
            let body = json!({"metadata": {"labels": {"case": ns}}, "spec": {"size": 1}});
            s.create("widgets", name, body).await;
        }
        let path =
            format!("/apis/fixture.freehold.dev/v1/widgets?limit=2&labelSelector=case%3D{ns}");
        let first = s.get(&path).await;
        s.get(&format!("{path}&continue={}", first.cursor())).await;
    });
}

#[test]
fn accept_headers() {
    run(async |s| {
        s.create("configmaps", "a", json!({})).await;
        s.create("widgets", "a", json!({"spec": {"size": 1}})).await;
        for path in ["configmaps/a", "widgets/a"] {
            for accept in ["application/json", "*/*", "application/*", "text/html, */*"] {
                s.raw("GET", path, &[("accept", accept)], "").await;
            }
            for accept in ["text/html", "nonsense", "image/png"] {
                s.raw("GET", path, &[("accept", accept)], "").await;
            }
        }
    });
}

#[test]
fn pretty_output_is_the_same_json() {
    run(async |s| {
        s.create("configmaps", "a", json!({})).await;
        s.get("configmaps/a?pretty=true").await;
        s.get("configmaps?pretty=1").await;
    });
}
