//! Admission policies.

use serde_json::{Value, json};

use crate::harness::{Script, merge, run_guarded as run};

const POLICIES: &str = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies";
const BINDINGS: &str = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings";

fn policy(name: &str, spec: Value) -> Value {
    json!({"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": name}, "spec": spec})
}

fn binding(name: &str, spec: Value) -> Value {
    let own = json!({"policyName": name, "validationActions": ["Deny"]});
    json!({"apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicyBinding", "metadata": {"name": name},
        "spec": merge(own, spec)})
}

fn rules(s: &Script, operations: &[&str], resources: &[&str]) -> Value {
    json!({"resourceRules": [{"apiGroups": [s.group], "apiVersions": ["*"],
        "operations": operations, "resources": resources}]})
}

/// Defines a kind that takes everything, binds a policy to it, and waits until that is in force: what
/// is called `probe` is always refused.
async fn bind(s: &mut Script, mut spec: Value, more: Value) {
    let schema = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    let mut crd = s.definition("things", "Thing", schema);
    crd["spec"]["versions"][0]["subresources"] = json!({"status": {}});
    s.crd(crd).await;
    let name = s.ns.clone();
    if spec["matchConstraints"].is_null() {
        spec["matchConstraints"] = rules(
            s,
            &["CREATE", "UPDATE", "DELETE"],
            &["things", "things/status"],
        );
    }
    s.post(POLICIES, policy(&name, spec)).await;
    s.post(BINDINGS, binding(&name, more)).await;
    let guard = format!("probe-{name}");
    let probe = json!({"matchConstraints": rules(s, &["CREATE"], &["things"]), "validations": [
        {"expression": "object.metadata.name != 'probe'"}]});
    s.try_post(POLICIES, policy(&guard, probe)).await;
    s.try_post(BINDINGS, binding(&guard, json!({}))).await;
    let object = s.object("things", "probe", json!({}));
    s.until_code("POST", "things?dryRun=All", object, 422).await;
}

#[test]
fn writes_are_judged() {
    run(async |s| {
        let spec = json!({"validations": [
            {"expression": "request.operation == 'DELETE' || object.?spec.?size.orValue(0) < 10", "message": "too large"},
            {"expression": "request.operation == 'DELETE' || !has(object.spec) || !has(object.spec.color) || object.spec.color != 'red'",
             "messageExpression": "'no ' + object.spec.color", "reason": "Forbidden"},
            {"expression": "request.operation != 'UPDATE' || oldObject.?spec.?fixed == object.?spec.?fixed"},
            {"expression": "request.operation != 'DELETE' || oldObject.metadata.name != 'kept'", "reason": "RequestEntityTooLarge"},
        ]});
        bind(s, spec, json!({})).await;
        s.create("things", "a", json!({"spec": {"size": 1, "fixed": "x"}}))
            .await;
        s.create("things", "b", json!({"spec": {"size": 10}})).await;
        s.create("things", "c", json!({"spec": {"color": "red"}}))
            .await;
        s.create(
            "things?dryRun=All",
            "d",
            json!({"spec": {"size": 11, "color": "red"}}),
        )
        .await;
        s.create("things", "kept", json!({})).await;
        s.merge("things/a", json!({"spec": {"fixed": "y"}})).await;
        s.merge("things/a", json!({"spec": {"fixed": null}})).await;
        s.merge("things/a", json!({"spec": {"size": 12}})).await;
        s.merge("things/a/status", json!({"status": {"x": 1}}))
            .await;
        s.delete("things/kept").await;
        s.delete("things/a").await;
        s.delete("things").await;
    });
}

#[test]
fn variables_and_conditions() {
    run(async |s| {
        let spec = json!({
            "matchConditions": [
                {"name": "named", "expression": "object.metadata.name.startsWith('x')"},
                {"name": "no-admins", "expression": "request.userInfo.username != 'boss'"},
            ],
            "variables": [
                {"name": "size", "expression": "object.?spec.?size.orValue(0)"},
                {"name": "double", "expression": "variables.size * 2"},
                {"name": "broken", "expression": "object.spec.nothing"},
            ],
            "validations": [
                {"expression": "variables.double < 10",
                 "messageExpression": "'twice ' + string(variables.size) + ' is ' + string(variables.double)"},
                {"expression": "variables.size != 3 || variables.broken == 1"},
            ],
            "matchConstraints": rules(s, &["CREATE"], &["things"]),
        });
        bind(s, spec, json!({})).await;
        s.create("things", "a", json!({"spec": {"size": 100}}))
            .await;
        s.create("things", "xa", json!({"spec": {"size": 100}}))
            .await;
        s.create("things", "xb", json!({"spec": {"size": 3}})).await;
        s.create("things", "xc", json!({"spec": {"size": 1}})).await;
        let object = s.object("things", "xd", json!({"spec": {"size": 100}}));
        s.act("boss", &["system:masters"], "POST", "things", Some(object))
            .await;
    });
}

#[test]
fn who_and_where() {
    run(async |s| {
        let spec = json!({"validations": [
            {"expression": "request.userInfo.username == 'good' || 'team' in request.userInfo.groups",
             "messageExpression": "'not you, ' + request.userInfo.username"},
            {"expression": "namespaceObject.metadata.name == request.namespace && request.name == object.metadata.name"},
            {"expression": "request.kind.kind == 'Thing' && request.resource.resource == 'things' && !has(request.subResource)"},
            {"expression": "request.dryRun == (object.metadata.name == 'dry')"},
        ], "matchConstraints": rules(s, &["CREATE"], &["things"])});
        bind(s, spec, json!({})).await;
        for (user, name, query) in [
            ("good", "a", ""),
            ("bad", "b", ""),
            ("bad", "c", ""),
            ("good", "dry", "?dryRun=All"),
            ("good", "dry", ""),
        ] {
            let object = s.object("things", name, json!({}));
            let groups: &[&str] = if name == "c" {
                &["system:masters", "team"]
            } else {
                &["system:masters"]
            };
            s.act(
                user,
                groups,
                "POST",
                &format!("things{query}"),
                Some(object),
            )
            .await;
        }
    });
}

#[test]
fn what_cannot_be_evaluated() {
    run(async |s| {
        let spec = json!({"validations": [{"expression": "object.spec.missing == 1"}],
            "matchConstraints": rules(s, &["CREATE"], &["things"])});
        bind(s, spec, json!({})).await;
        s.create("things", "a", json!({"spec": {}})).await;
        s.create("things", "b", json!({"spec": {"missing": "x"}}))
            .await;
        s.create("things", "c", json!({"spec": {"missing": 1}}))
            .await;
    });
}

#[test]
fn what_may_fail() {
    run(async |s| {
        let spec = json!({"failurePolicy": "Ignore", "validations": [
            {"expression": "object.spec.missing == 1"}, {"expression": "object.metadata.name != 'bad'"}],
            "matchConstraints": rules(s, &["CREATE"], &["things"])});
        bind(s, spec, json!({})).await;
        s.create("things", "a", json!({"spec": {}})).await;
        s.create("things", "bad", json!({"spec": {}})).await;
    });
}

#[test]
fn warnings() {
    run(async |s| {
        let spec = json!({"validations": [
            {"expression": "object.metadata.name != 'bad'", "message": "a bad name"},
            {"expression": "has(object.spec)"},
        ], "matchConstraints": rules(s, &["CREATE"], &["things"])});
        bind(s, spec, json!({"validationActions": ["Warn", "Audit"]})).await;
        s.create("things", "bad", json!({})).await;
        s.create("things", "good", json!({"spec": {}})).await;
    });
}

#[test]
fn selectors_and_exceptions() {
    run(async |s| {
        let constraints = merge(
            rules(s, &["*"], &["*"]),
            json!({
                "objectSelector": {"matchLabels": {"checked": "yes"}},
                "namespaceSelector": {"matchExpressions": [
                    {"key": "kubernetes.io/metadata.name", "operator": "In", "values": [s.ns]}]},
                "excludeResourceRules": [{"apiGroups": ["*"], "apiVersions": ["*"], "operations": ["CREATE"],
                    "resources": ["things"], "resourceNames": ["free"]}],
            }),
        );
        let spec =
            json!({"matchConstraints": constraints, "validations": [{"expression": "false"}]});
        bind(s, spec, json!({})).await;
        let labels = json!({"metadata": {"labels": {"checked": "yes"}}});
        s.create("things", "a", json!({})).await;
        s.create("things", "b", labels.clone()).await;
        s.create("things", "free", labels.clone()).await;
        s.merge("things/a", labels).await;
        s.merge("things/free", json!({"metadata": {"labels": null}}))
            .await;
        s.merge("things/free/status", json!({"status": {"x": 1}}))
            .await;
    });
}

#[test]
fn policies_as_objects() {
    run(async |s| {
        let name = s.ns.clone();
        let constraints = rules(s, &["CREATE"], &["things"]);
        let good =
            json!({"matchConstraints": constraints, "validations": [{"expression": "true"}]});
        s.post(POLICIES, policy(&name, good.clone())).await;
        s.get(&format!("{POLICIES}/{name}")).await;
        let patch = json!({"spec": {"validations": [{"expression": "1 == 1"}]}});
        s.merge(&format!("{POLICIES}/{name}"), patch).await;
        s.merge(
            &format!("{POLICIES}/{name}"),
            json!({"metadata": {"labels": {"a": "b"}}}),
        )
        .await;
        for (index, spec) in [
            json!({}),
            json!({"validations": [{"expression": "object.x"}], "matchConstraints": constraints}),
            json!({"validations": [{"expression": "nope == 1"}], "matchConstraints": constraints}),
            json!({"validations": [{"expression": "request.nope == ''"}], "matchConstraints": constraints}),
            json!({"validations": [{"expression": "1 +"}], "matchConstraints": constraints}),
            json!({"validations": [{"expression": "true", "messageExpression": "1"}], "matchConstraints": constraints}),
            json!({"validations": [{"expression": "true", "reason": "Odd"}], "matchConstraints": constraints}),
            json!({"validations": [{"expression": "true"}], "matchConstraints": {}}),
            json!({"validations": [{"expression": "true"}], "failurePolicy": "Maybe", "matchConstraints": constraints}),
            json!({"validations": [{"expression": "variables.b"}], "variables": [{"name": "a", "expression": "true"}],
                "matchConstraints": constraints}),
        ]
        .into_iter()
        .enumerate()
        {
            let name = format!("p{index}-{name}");
            s.post(&format!("{POLICIES}?dryRun=All"), policy(&name, spec)).await;
        }
        s.delete(&format!("{POLICIES}/{name}")).await;
    });
}

#[test]
fn bindings_as_objects() {
    run(async |s| {
        let name = s.ns.clone();
        s.post(BINDINGS, binding(&name, json!({}))).await;
        s.get(&format!("{BINDINGS}/{name}")).await;
        for (index, spec) in [
            json!({"policyName": ""}),
            json!({"policyName": "Bad Name"}),
            json!({"validationActions": []}),
            json!({"validationActions": ["Deny", "Deny"]}),
            json!({"validationActions": ["Deny", "Warn"]}),
            json!({"validationActions": ["Nothing"]}),
            json!({"matchResources": {}}),
        ]
        .into_iter()
        .enumerate()
        {
            let name = format!("b{index}-{name}");
            s.post(&format!("{BINDINGS}?dryRun=All"), binding(&name, spec))
                .await;
        }
        s.delete(&format!("{BINDINGS}/{name}")).await;
    });
}
