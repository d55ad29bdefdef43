//! The real definitions of the systems that Freehold serves, on both servers.
//!
//! They are not part of this repository: `FREEHOLD_UPSTREAM_CRDS` names a folder of YAML files. A
//! definition that the real server refuses because of what its CEL rules might cost is installed
//! without them on both sides. Conversion webhooks are replaced by `None`.

mod ruled;
mod samples;

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::harness::{
    Script, Server, beside_others, compare, embedded, enabled, read_with_kubectl, real, say,
};

#[test]
fn definitions_and_samples() {
    if !enabled("upstream definitions") {
        return;
    }
    let Some(folder) = std::env::var_os("FREEHOLD_UPSTREAM_CRDS").map(PathBuf::from) else {
        say("SKIPPED: upstream definitions: FREEHOLD_UPSTREAM_CRDS is not set");
        return;
    };
    let _guest = beside_others();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    runtime.expect("a runtime").block_on(async {
        let real = real().await;
        let mut definitions = read(&real, &folder);
        let costly = without_costly_rules(&real, &mut definitions).await;
        say(&format!(
            "{costly} of them are refused with their rules, for their cost"
        ));
        assert!(
            !definitions.is_empty(),
            "{} holds no definitions",
            folder.display()
        );
        let on_real = perform(Script::new(real, "upstream").await, &definitions).await;
        let on_embedded = perform(
            Script::new(embedded().await, "upstream").await,
            &definitions,
        )
        .await;
        for server in [&on_real, &on_embedded] {
            let installed = installed(server, &definitions).await;
            say(&format!(
                "{}: {installed} of {} upstream definitions installed",
                server.server.name,
                definitions.len()
            ));
            assert_eq!(installed, definitions.len(), "a definition is missing");
        }
        let (real, embedded) = (on_real.transcript(), on_embedded.transcript());
        let accepted = real
            .0
            .iter()
            .filter(|entry| entry.outcome["status"] == 201)
            .count();
        assert!(
            accepted > definitions.len(),
            "samples that are all refused show nothing"
        );
        let requests = real.0.len();
        let differences = compare(real, embedded);
        say(&format!(
            "{} upstream definitions, {requests} requests ({accepted} objects accepted): {} differ",
            definitions.len(),
            differences.len()
        ));
        let text: String = differences
            .iter()
            .take(30)
            .map(ToString::to_string)
            .collect();
        assert!(
            differences.is_empty(),
            "{} answers differ\n{text}",
            differences.len()
        );
    });
}

async fn perform(mut script: Script, definitions: &[Value]) -> Script {
    let s = &mut script;
    for definition in definitions {
        s.learn(definition);
    }
    s.crds(definitions).await;
    let mut groups: Vec<String> = Vec::new();
    for definition in definitions {
        let group = definition["spec"]["group"].as_str().unwrap_or_default();
        for version in versions(definition) {
            groups.push(format!(
                "/apis/{group}/{}",
                version["name"].as_str().unwrap_or_default()
            ));
        }
    }
    groups.sort();
    groups.dedup();
    for group in groups {
        discover(s, &group).await;
    }
    for definition in definitions {
        for version in versions(definition) {
            try_samples(s, definition, version).await;
        }
    }
    script
}

/// How many of the definitions a server has established.
async fn installed(script: &Script, definitions: &[Value]) -> usize {
    let mut count = 0;
    for definition in definitions {
        let name = definition["metadata"]["name"].as_str().unwrap_or_default();
        let path = format!("customresourcedefinitions/{name}");
        let answer = script.peek(&path).await;
        let conditions = answer.body["status"]["conditions"].as_array();
        let established = conditions
            .into_iter()
            .flatten()
            .any(|condition| condition["type"] == "Established" && condition["status"] == "True");
        count += usize::from(established);
    }
    count
}

fn versions(definition: &Value) -> impl Iterator<Item = &Value> {
    let all = definition["spec"]["versions"]
        .as_array()
        .into_iter()
        .flatten();
    all.filter(|version| version["served"] == true)
}

async fn discover(s: &mut Script, path: &str) {
    let answer = s.until_peek(path, |answer| answer.status == 200).await;
    let mut resources = answer.body["resources"]
        .as_array()
        .cloned()
        .unwrap_or_default();
    for resource in &mut resources {
        // Clients only compare it with itself.
        if let Some(hash) = resource.get_mut("storageVersionHash") {
            *hash = json!("<hash>");
        }
    }
    resources.sort_by_key(|resource| resource["name"].as_str().unwrap_or_default().to_owned());
    s.note(path, json!([answer.body["groupVersion"], resources]));
}

async fn try_samples(s: &mut Script, definition: &Value, version: &Value) {
    let plural = definition["spec"]["names"]["plural"]
        .as_str()
        .unwrap_or_default();
    let group = definition["spec"]["group"].as_str().unwrap_or_default();
    let name = version["name"].as_str().unwrap_or_default();
    let kind = definition["spec"]["names"]["kind"]
        .as_str()
        .unwrap_or_default();
    let path = if definition["spec"]["scope"] == "Namespaced" {
        format!("/apis/{group}/{name}/namespaces/{{ns}}/{plural}")
    } else {
        format!("/apis/{group}/{name}/{plural}")
    };
    let header = json!({"apiVersion": format!("{group}/{name}"), "kind": kind,
        "metadata": {"name": "sample"}});
    let schema = &version["schema"]["openAPIV3Schema"];
    for (what, sample) in samples::all(schema) {
        let body = crate::harness::merge(sample, header.clone());
        let answer = s
            .post(&format!("{path}?dryRun=All&fieldManager={what}"), body)
            .await;
        s.note(&what, json!(answer.status));
    }
    try_rules(s, schema, &path, &header).await;
    // Written for real, in this version, and read in every other.
    let body = crate::harness::merge(samples::full(schema), header);
    s.post(&path, body).await;
    for other in versions(definition) {
        let other = other["name"].as_str().unwrap_or_default();
        s.get(
            &path
                .replace(&format!("/{name}/"), &format!("/{other}/"))
                .replace(plural, &format!("{plural}/sample")),
        )
        .await;
    }
    s.delete(&format!("{path}/sample")).await;
}

/// Objects that obey and break the rules of a schema, as new ones, and as changes of one that obeys.
async fn try_rules(s: &mut Script, schema: &Value, path: &str, header: &Value) {
    let objects: Vec<Value> = ruled::objects(schema)
        .into_iter()
        .map(|object| crate::harness::merge(object, header.clone()))
        .collect();
    let mut good = Vec::new();
    for object in &objects {
        let answer = s.post(&format!("{path}?dryRun=All"), object.clone()).await;
        if answer.status == 201 {
            good.push(object);
        }
    }
    // The first and the last that are accepted differ the most.
    good.dedup();
    let ends = [good.first(), good.last()];
    for object in ends.into_iter().flatten() {
        let stored = s.post(path, (*object).clone()).await;
        let version = json!({"metadata": {"resourceVersion": stored.rv()}});
        for other in &objects {
            let body = crate::harness::merge(other.clone(), version.clone());
            s.put(&format!("{path}/sample?dryRun=All"), body).await;
        }
        s.delete(&format!("{path}/sample")).await;
    }
}

fn read(real: &Server, folder: &PathBuf) -> Vec<Value> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| {
        panic!(
            "FREEHOLD_UPSTREAM_CRDS: {} cannot be read: {error}",
            folder.display()
        )
    });
    let mut paths: Vec<PathBuf> = entries
        .map(|entry| entry.expect("an entry of the folder").path())
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "yaml")
        })
        .collect();
    paths.sort();
    let read = |path: &PathBuf| {
        let text = std::fs::read_to_string(path).expect("a readable file");
        let mut definition: Value = serde_saphyr::from_str(&text).unwrap_or_else(|error| {
            // One of the originals is no YAML 1.2: the further lines of a quoted text are indented no
            // more than their key. No option of this reader takes that; the originals' own does.
            let message = error.without_snippet().to_string();
            let known = message.contains("invalid indentation in multiline quoted scalar");
            assert!(known, "{}: {message}", path.display());
            say(&format!("{}: {message}; read by kubectl", path.display()));
            read_with_kubectl(real, path)
        });
        definition["spec"]["conversion"] = json!({"strategy": "None"});
        definition
    };
    paths.iter().map(read).collect()
}

/// Takes the rules out of the definitions that the real server refuses for their cost; the answer is
/// how many.
async fn without_costly_rules(real: &Server, definitions: &mut [Value]) -> usize {
    let script = Script::new(real.clone(), "upstream-costs").await;
    let mut costly = 0;
    for definition in definitions {
        let path = "customresourcedefinitions?dryRun=All";
        let answer = script.try_post(path, definition.clone()).await;
        if answer.status == 422 {
            let message = answer.text("/message");
            assert!(message.contains("exceeds budget"), "{message}");
            strip(definition);
            costly += 1;
        }
    }
    costly
}

/// Takes every CEL rule out.
fn strip(value: &mut Value) {
    match value {
        Value::Object(map) => {
            map.remove("x-kubernetes-validations");
            map.values_mut().for_each(strip);
        }
        Value::Array(items) => items.iter_mut().for_each(strip),
        _ => {}
    }
}
