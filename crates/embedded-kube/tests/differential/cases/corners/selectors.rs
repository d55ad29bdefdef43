//! Selectors, in every shape.

use std::fmt::Write as _;

use serde_json::json;

use crate::harness::run;

fn escaped(text: &str) -> String {
    text.bytes().fold(String::new(), |mut escaped, byte| {
        write!(escaped, "%{byte:02X}").expect("a string takes everything");
        escaped
    })
}

#[test]
fn label_selectors_of_every_shape() {
    run(async |s| {
        for (name, labels) in [
            ("a", json!({"team": "x", "n": "5"})),
            ("b", json!({"team": "", "n": "-1"})),
            ("c", json!({"in": "notin"})),
        ] {
            s.create("configmaps", name, json!({"metadata": {"labels": labels}}))
                .await;
        }
        for selector in [
            "team in (x,)",
            "team in (,x)",
            "team in (,)",
            "team in (x,,y)",
            "team in (,,)",
            "team in ( x , y )",
            "team in (x y)",
            "team in (x",
            "team in (x,",
            "team in (=)",
            "team in (!)",
            "team in x)",
            "team notin ()",
            "team in (-x)",
            "team in (y,-x)",
            "team in (in)",
            "in",
            "in in (notin)",
            "in=notin",
            "in=in",
            "notin",
            "!in",
            "in notin (x)",
            "n>4",
            "n<4",
            "n>-5",
            "n>+4",
            "n>=4",
            "n>",
            "n>4.5",
            "n>99999999999999999999",
            "team=!x",
            "team!x",
            "team=x y",
            "team==",
            "team!=",
            "team===x",
            "!team=x",
            "!!team",
            "! team",
            "team ,n",
            "team x",
            "(team)",
            "team in (x)) ",
            "team in ((x))",
            "team%",
            "-team",
            "/team",
            "a/b/c",
            "UPPER.example.com/x=1",
            "a_b.com/x",
            "team=-x-",
            "team=ümlaut",
            "ü",
            "\tteam\n",
            "team&x",
            "team<x>",
            "a=b,,c=d",
            "a,!",
            ",a",
        ] {
            s.get(&format!("configmaps?labelSelector={}", escaped(selector)))
                .await;
        }
        let long = "k".repeat(70);
        for selector in [
            format!("{long}-"),
            format!("a={long}-"),
            format!("{long}-={long}-"),
            format!("a in ({long}-,-)"),
        ] {
            s.get(&format!("widgets?labelSelector={}", escaped(&selector)))
                .await;
        }
    });
}

#[test]
fn field_selectors_of_every_shape() {
    run(async |s| {
        for name in ["a", "b"] {
            s.create("configmaps", name, json!({})).await;
            s.create("widgets", name, json!({"spec": {"size": 1}}))
                .await;
        }
        // Gadgets are the whole cluster's: other cases have some too.
        let (gadget, own) = (format!("a-{}", s.ns), json!({"case": s.ns}));
        s.create("gadgets", &gadget, json!({"metadata": {"labels": own}}))
            .await;
        for selector in [
            "metadata.name=a,metadata.name=b",
            "metadata.name=a,metadata.name!=b",
            "metadata.name!=a,metadata.name!=b",
            ",metadata.name=a",
            "metadata.name=a,",
            ",,",
            "metadata.name=a\\,b",
            "metadata.name=a\\=b",
            "metadata.name=a\\",
            "metadata.name=a\\x",
            "metadata.name=a\\\\",
            "metadata.name=a=b",
            "metadata.name=a!=b",
            "metadata.name",
            "!metadata.name",
            "=a",
            "==",
            "metadata.name=",
            " metadata.name=a",
            "metadata.name= a",
            "metadata.name===a",
            "metadata\\.name=a",
            "metadata.name in (a)",
            "metadata.namespace=other",
            "metadata.namespace!=other",
            "spec.size=1",
            "name=a",
        ] {
            let selector = escaped(selector);
            for list in [
                "configmaps?",
                "widgets?",
                "gadgets?labelSelector=case%3D{ns}&",
            ] {
                s.get(&format!("{list}fieldSelector={selector}")).await;
            }
        }
    });
}

#[test]
fn one_name_is_never_paged() {
    run(async |s| {
        for name in ["a", "b", "c"] {
            s.create("configmaps", name, json!({})).await;
            s.create("widgets", name, json!({"spec": {"size": 1}}))
                .await;
        }
        for plural in ["configmaps", "widgets"] {
            for query in [
                "limit=1&fieldSelector=metadata.name%3Da",
                "limit=1&fieldSelector=metadata.name%3Dnone",
                "limit=1&fieldSelector=metadata.name%3Da,metadata.namespace%3D{ns}",
                "limit=1&fieldSelector=metadata.name%3Da&labelSelector=x",
                "limit=1&fieldSelector=metadata.name%3Da&resourceVersion=0",
                "limit=1&fieldSelector=metadata.name%3Dx/y",
            ] {
                s.get(&format!("{plural}?{query}")).await;
            }
        }
        s.get(
            "/api/v1/configmaps?limit=1&fieldSelector=metadata.name%3Da,metadata.namespace%3D{ns}",
        )
        .await;
        s.get("/api/v1/configmaps?limit=1&fieldSelector=metadata.namespace%3D{ns}")
            .await;
    });
}
