//! Rules that are expressions (`x-kubernetes-validations`): verdicts, words, places.

mod definitions;
mod functions;
mod updates;
mod values;
mod words;

use serde_json::{Value, json};

use crate::harness::Script;

/// Installs a kind `things` with this schema of `spec`.
async fn things(s: &mut Script, spec: Value) {
    let schema = json!({"type": "object", "properties": {"spec": spec}});
    let crd = s.definition("things", "Thing", schema);
    let answer = s.crd(crd).await;
    assert_eq!(answer.status, 200, "{}", answer.text("/message"));
}

/// Creates an object for each value of `spec`.
async fn each(s: &mut Script, specs: &[Value]) {
    for (index, spec) in specs.iter().enumerate() {
        let name = format!("t{index}");
        s.create("things?dryRun=All", &name, json!({"spec": spec}))
            .await;
    }
}

/// Expressions of `self`, each the rule of a field of its own with this schema, asked of each value.
async fn ask(s: &mut Script, schema: Value, values: &[Value], rules: &[&str]) {
    let field = |rule: &&str| {
        let mut schema = schema.clone();
        schema["x-kubernetes-validations"] = json!([{"rule": rule}]);
        schema
    };
    let name = |index: usize| format!("f{index:03}");
    let fields: serde_json::Map<String, Value> = rules
        .iter()
        .enumerate()
        .map(|(index, rule)| (name(index), field(rule)))
        .collect();
    things(s, json!({"type": "object", "properties": fields})).await;
    for (index, value) in values.iter().enumerate() {
        let fields: serde_json::Map<String, Value> = (0..rules.len())
            .map(|index| (name(index), value.clone()))
            .collect();
        s.create(
            "things?dryRun=All",
            &format!("t{index}"),
            json!({"spec": fields}),
        )
        .await;
    }
}

/// Offers a definition with each of these rules on `spec`, which has this schema.
async fn offer(s: &mut Script, schema: &Value, rules: &[Value]) {
    for rule in rules {
        let mut schema = schema.clone();
        schema["x-kubernetes-validations"] = json!([rule]);
        let root = json!({"type": "object", "properties": {"spec": schema}});
        let crd = s.definition("others", "Other", root);
        s.post("customresourcedefinitions?dryRun=All", crd).await;
    }
}
