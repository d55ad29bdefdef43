//! One request of a generated sequence, as data.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde_json::{Value, json};

use crate::harness::{Answer, Script, merge};

/// The kinds that sequences use.
pub(crate) const PLURALS: [&str; 5] = ["configmaps", "widgets", "notes", "secrets", "leases"];

/// What a request says about the version it expects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Version {
    Absent,
    /// The one that was last seen.
    Seen,
    /// The one that was seen before it.
    Stale,
}

/// One request.
#[derive(Clone, Debug)]
pub(crate) enum Operation {
    Create {
        plural: String,
        name: String,
        query: String,
        body: Value,
    },
    Replace {
        path: String,
        query: String,
        version: Version,
        body: Value,
    },
    Merge {
        path: String,
        query: String,
        version: Version,
        patch: Value,
    },
    Patch {
        path: String,
        patch: Value,
    },
    Apply {
        path: String,
        query: String,
        version: Version,
        body: Value,
    },
    Get {
        path: String,
    },
    List {
        plural: String,
        query: String,
    },
    Delete {
        path: String,
        version: Version,
        options: Value,
    },
    DeleteAll {
        plural: String,
        query: String,
    },
}

/// The key under which a body names its owners before they have uids; see [`owners`].
pub(crate) const OWNERS: &str = "owners";

/// The uid that no object has.
const NOBODY: &str = "00000000-0000-4000-8000-000000000000";

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Create {
                plural,
                name,
                query,
                body,
            } => {
                write!(f, "create {plural} {name} {query} {body}")
            }
            Self::Replace {
                path,
                query,
                version,
                body,
            } => {
                write!(f, "replace {path} {query} {version:?} {body}")
            }
            Self::Merge {
                path,
                query,
                version,
                patch,
            } => {
                write!(f, "merge {path} {query} {version:?} {patch}")
            }
            Self::Patch { path, patch } => write!(f, "patch {path} {patch}"),
            Self::Apply {
                path,
                query,
                version,
                body,
            } => {
                write!(f, "apply {path} {query} {version:?} {body}")
            }
            Self::Get { path } => write!(f, "get {path}"),
            Self::List { plural, query } => write!(f, "list {plural} {query}"),
            Self::Delete {
                path,
                version,
                options,
            } => {
                write!(f, "delete {path} {version:?} {options}")
            }
            Self::DeleteAll { plural, query } => write!(f, "delete all {plural} {query}"),
        }
    }
}

/// What a client remembers between requests: the versions it has seen, and where its watches begin.
pub(crate) struct Memory {
    begin: BTreeMap<&'static str, String>,
    used: BTreeSet<String>,
    seen: BTreeMap<String, Vec<String>>,
    /// The uids that the objects of a name had, the oldest first.
    uids: BTreeMap<String, Vec<String>>,
}

impl Memory {
    pub(crate) async fn start(script: &Script) -> Self {
        let mut begin = BTreeMap::new();
        for plural in PLURALS {
            begin.insert(plural, script.peek(&format!("{plural}?limit=1")).await.rv());
        }
        Self {
            begin,
            used: BTreeSet::new(),
            seen: BTreeMap::new(),
            uids: BTreeMap::new(),
        }
    }

    /// The objects of the kinds that were used, as the garbage collector cares for them.
    pub(crate) async fn family(&self, script: &Script) -> Value {
        let mut family = json!({});
        for plural in &self.used {
            let list = script.peek(plural).await;
            let items = list.body["items"].as_array().cloned().unwrap_or_default();
            for item in items {
                let metadata = &item["metadata"];
                let owners = metadata["ownerReferences"].as_array().cloned();
                let owners: Vec<Value> = owners
                    .unwrap_or_default()
                    .iter()
                    .map(|owner| json!([owner["kind"], owner["name"], owner["blockOwnerDeletion"]]))
                    .collect();
                let name = metadata["name"].as_str().unwrap_or_default();
                family[format!("{plural}/{name}")] = json!({
                    "deleting": !metadata["deletionTimestamp"].is_null(),
                    "finalizers": metadata["finalizers"],
                    "owners": owners,
                });
            }
        }
        family
    }

    fn remember(&mut self, item: &str, answer: &Answer) {
        let version = answer.rv();
        // What was not stored has neither.
        if version.is_empty() {
            return;
        }
        for (known, new) in [(&mut self.seen, version), (&mut self.uids, answer.uid())] {
            let known = known.entry(item.to_owned()).or_default();
            if !new.is_empty() && known.last() != Some(&new) {
                known.push(new);
            }
        }
    }

    /// Puts owner references where a body names its owners: `[item, which uid, blocks]`, where the
    /// uid is that of the object of that name (`last`), of one before it (`first`), or nobody's.
    fn owners(&self, script: &Script, mut body: Value) -> Value {
        let Some(wanted) = body.as_object_mut().and_then(|body| body.remove(OWNERS)) else {
            return body;
        };
        let reference = |wanted: &Value| {
            let item = wanted[0].as_str().unwrap_or_default();
            let (plural, name) = item.split_once('/').unwrap_or_default();
            let uids = self.uids.get(item);
            let uid = match wanted[1].as_str() {
                Some("last") => uids.and_then(|uids| uids.last()),
                Some("first") => uids.and_then(|uids| uids.first()),
                _ => None,
            };
            let owner = script.object(plural, name, json!({}));
            let mut reference = json!({"apiVersion": owner["apiVersion"], "kind": owner["kind"],
                "name": name, "uid": uid.map_or(NOBODY, String::as_str)});
            if !wanted[2].is_null() {
                reference["blockOwnerDeletion"] = wanted[2].clone();
            }
            reference
        };
        let references: Option<Vec<Value>> = wanted
            .as_array()
            .map(|wanted| wanted.iter().map(reference).collect());
        body["metadata"]["ownerReferences"] = json!(references);
        body
    }

    fn version(&self, item: &str, version: Version) -> Option<String> {
        let seen = self.seen.get(item)?;
        match version {
            Version::Absent => None,
            Version::Seen => seen.last().cloned(),
            Version::Stale => seen.iter().rev().nth(1).cloned(),
        }
    }

    /// Every change of the kinds that were used, as watches from the beginning tell it: of all
    /// objects, and of those with a label. An object at the end says that no more is to come.
    pub(crate) async fn streams(&self, script: &mut Script) {
        for plural in &self.used {
            let body = json!({"metadata": {"labels": {"team": "x"}}, "spec": last_spec(plural)});
            script.create(plural, "zz-last", body).await;
            let begin = self.begin.get(plural.as_str()).cloned().unwrap_or_default();
            for query in ["", "&labelSelector=team%3Dx"] {
                let path = format!("{plural}?watch=true&resourceVersion={begin}{query}");
                let mut watch = script.watch(&path).await;
                watch.take_until(script, "zz-last").await;
            }
        }
    }
}

fn last_spec(plural: &str) -> Value {
    match plural {
        "widgets" => json!({"size": 1}),
        _ => json!({}),
    }
}

impl Operation {
    pub(crate) async fn perform(&self, script: &mut Script, memory: &mut Memory) {
        let (plural, item) = self.target();
        memory.used.insert(plural);
        let with_version = |value: &Value, version: Version| match memory.version(&item, version) {
            Some(version) => merge(
                value.clone(),
                json!({"metadata": {"resourceVersion": version}}),
            ),
            None => value.clone(),
        };
        let answer = match self {
            Self::Create {
                plural,
                name,
                query,
                body,
            } => {
                let body = memory.owners(script, body.clone());
                script.create(&format!("{plural}{query}"), name, body).await
            }
            Self::Replace {
                path,
                query,
                version,
                body,
            } => {
                let name = item.rsplit('/').next().unwrap_or_default().to_owned();
                let body = script.object(path, &name, with_version(body, *version));
                script.put(&format!("{path}{query}"), body).await
            }
            Self::Merge {
                path,
                query,
                version,
                patch,
            } => {
                let patch = memory.owners(script, with_version(patch, *version));
                script.merge(&format!("{path}{query}"), patch).await
            }
            Self::Patch { path, patch } => script.patch(path, patch.clone()).await,
            Self::Apply {
                path,
                query,
                version,
                body,
            } => {
                let name = item.rsplit('/').next().unwrap_or_default().to_owned();
                let mut body = script.object(path, &name, with_version(body, *version));
                if path.ends_with("/scale") {
                    body["apiVersion"] = json!("autoscaling/v1");
                    body["kind"] = json!("Scale");
                }
                script.apply(&format!("{path}{query}"), body).await
            }
            Self::Get { path } => script.get(path).await,
            Self::List { plural, query } => {
                if query.contains("resourceVersion=0") {
                    let now = script.peek(&format!("{plural}?limit=1")).await;
                    script.freshen(plural, &now).await;
                }
                script.get(&format!("{plural}{query}")).await;
                return;
            }
            Self::Delete {
                path,
                version,
                options,
            } => {
                let mut options = options.clone();
                if let Some(version) = memory.version(&item, *version) {
                    options["preconditions"] = json!({"resourceVersion": version});
                }
                script.delete_with(path, options).await
            }
            Self::DeleteAll { plural, query } => {
                script.delete(&format!("{plural}{query}")).await;
                return;
            }
        };
        memory.remember(&item, &answer);
    }

    /// The plural and, where there is one, `plural/name` without sub-resource and version.
    pub(crate) fn target(&self) -> (String, String) {
        let path = match self {
            Self::Create { plural, name, .. } => format!("{plural}/{name}"),
            Self::Replace { path, .. }
            | Self::Merge { path, .. }
            | Self::Patch { path, .. }
            | Self::Apply { path, .. }
            | Self::Get { path }
            | Self::Delete { path, .. } => path.clone(),
            Self::List { plural, .. } | Self::DeleteAll { plural, .. } => plural.clone(),
        };
        let mut parts = path.split('/');
        let plural = parts.next().unwrap_or_default();
        let plural = plural.split('@').next().unwrap_or_default().to_owned();
        let item = format!("{plural}/{}", parts.next().unwrap_or_default());
        (plural, item)
    }
}
