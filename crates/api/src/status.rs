//! Where a served API tells how its objects are: conditions as a list or as a map.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube::Resource;
use serde::Serialize;
use serde_json::{Value, json};

use crate::Change;

/// A field, name by name.
pub type Path = &'static [&'static str];

/// What one condition says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// Whether it holds.
    pub holds: bool,
    /// One word for programs.
    pub reason: String,
    /// A sentence for people.
    pub message: String,
}

/// Where a served API wants to be told how its objects are.
#[derive(Clone, Copy, Debug)]
pub struct Status {
    /// Where the conditions are.
    pub conditions: Path,
    /// How they stand there.
    pub form: Form,
    /// The field that says which generation of the object the rest is about, where there is one.
    pub observed_generation: Option<Path>,
}

/// How conditions stand in a status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A list, as Kubernetes has it for its own kinds.
    List,
    /// A map by type.
    Map {
        /// The field of a condition that says which version wrote it.
        version: Option<&'static str>,
        /// The field of a condition that says when it was written.
        heartbeat: Option<&'static str>,
    },
}

impl Status {
    /// Conditions in a list at `status.conditions`, and nothing else.
    pub const LIST: Self = Self {
        conditions: &["status", "conditions"],
        form: Form::List,
        observed_generation: None,
    };

    /// What an object says of one condition.
    pub fn said(&self, object: &impl Serialize, kind: &str) -> Option<Condition> {
        let object = serde_json::to_value(object).unwrap_or_default();
        let all = at(&object, self.conditions);
        let said = match self.form {
            Form::List => all.as_array()?.iter().find(|one| one["type"] == kind)?,
            Form::Map { .. } => all.get(kind)?,
        };
        let text = |field: &str| said[field].as_str().unwrap_or_default().to_owned();
        Some(Condition {
            holds: said["status"] == "True",
            reason: text("reason"),
            message: text("message"),
        })
    }

    /// The types of the conditions that an object says hold.
    pub fn hold(&self, object: &impl Serialize) -> Vec<String> {
        let object = serde_json::to_value(object).unwrap_or_default();
        let all = at(&object, self.conditions);
        let holds = |one: &Value| one["status"] == "True";
        match self.form {
            Form::List => {
                let all = all.as_array().into_iter().flatten();
                let holding = all.filter(|one| holds(one));
                let kinds = holding.filter_map(|one| one["type"].as_str());
                kinds.map(str::to_owned).collect()
            }
            Form::Map { .. } => {
                let all = all.as_object().into_iter().flatten();
                let holding = all.filter(|(_, one)| holds(one));
                holding.map(|(kind, _)| kind.clone()).collect()
            }
        }
    }
}

/// What stands in a field, `null` if nothing.
pub(crate) fn at<'v>(value: &'v Value, path: &[&str]) -> &'v Value {
    path.iter().fold(value, |value, name| &value[name])
}

impl<K: Resource + Serialize> Change<K> {
    /// Tells a condition, as `version` of the operator.
    ///
    /// # Guarantees
    /// A condition that says the same already is left as it is, with the times and the version of its
    /// last change (law 8). Those of others keep their place.
    pub fn condition(
        &mut self,
        status: &Status,
        kind: &str,
        told: &Condition,
        version: &str,
        now: &Time,
    ) {
        let holds = if told.holds { "True" } else { "False" };
        let said = [
            ("status", holds),
            ("reason", &told.reason),
            ("message", &told.message),
        ];
        let says = |old: &Value| said.iter().all(|&(field, value)| old[field] == value);
        match status.form {
            Form::List => {
                let mut list = self.list(status.conditions);
                let place = list.iter().position(|one| one["type"] == kind);
                let old = place.map_or(Value::Null, |at| list[at].clone());
                if says(&old) {
                    return;
                }
                let mut new = if old.is_null() {
                    json!({"type": kind})
                } else {
                    old.clone()
                };
                for (field, value) in said {
                    new[field] = json!(value);
                }
                if old["status"] != holds {
                    new["lastTransitionTime"] = time(now);
                }
                match place {
                    Some(at) => list[at] = new,
                    None => list.push(new),
                }
                self.want(status.conditions, list.into());
            }
            Form::Map {
                version: by,
                heartbeat,
            } => {
                let path = |field| [status.conditions, &[kind, field]].concat();
                let one = [status.conditions, &[kind]].concat();
                let old = self.current(&one).clone();
                if says(&old) {
                    self.want_nothing_below(&one);
                    return;
                }
                if old["status"] != holds {
                    self.want(&path("lastTransitionTime"), time(now));
                }
                for (field, value) in said {
                    self.want(&path(field), json!(value));
                }
                if let Some(by) = by {
                    self.want(&path(by), json!(version));
                }
                if let Some(heartbeat) = heartbeat {
                    self.want(&path(heartbeat), time(now));
                }
            }
        }
    }
}

/// A time as the API has it.
pub(crate) fn time(time: &Time) -> Value {
    serde_json::to_value(time).expect("a time is a text")
}

#[cfg(test)]
mod tests {
    use kube::core::{ApiResource, DynamicObject};

    use super::*;

    fn object(conditions: Value) -> DynamicObject {
        let kind = ApiResource {
            group: "example.com".to_owned(),
            version: "v1".to_owned(),
            api_version: "example.com/v1".to_owned(),
            kind: "Thing".to_owned(),
            plural: "things".to_owned(),
        };
        let mut object = DynamicObject::new("a", &kind);
        object.metadata.resource_version = Some("7".to_owned());
        object.data(json!({"status": {"conditions": conditions}}))
    }

    fn ready(message: &str) -> Condition {
        Condition {
            holds: true,
            reason: "Converged".to_owned(),
            message: message.to_owned(),
        }
    }

    fn tell(object: &DynamicObject, told: &[(&str, Condition)]) -> Option<Value> {
        let mut change = Change::new(object).unwrap();
        let now = Time("2026-01-01T00:00:00Z".parse().unwrap());
        for (kind, condition) in told {
            change.condition(&Status::LIST, kind, condition, "0.1.0", &now);
        }
        change.status_patch()
    }

    #[test]
    fn a_list_keeps_what_others_say_and_its_order() {
        let theirs = json!({"type": "Theirs", "status": "True", "reason": "X", "message": "",
            "lastTransitionTime": "2025-01-01T00:00:00Z", "severity": "Info"});
        let old = json!({"type": "Ready", "status": "True", "reason": "Converged", "message": "a",
            "lastTransitionTime": "2025-01-01T00:00:00Z"});
        let there = object(json!([old, theirs]));
        assert_eq!(tell(&there, &[("Ready", ready("a"))]), None);
        let blocked = Condition {
            holds: false,
            ..ready("c")
        };
        let patch = tell(&there, &[("Ready", ready("b")), ("Blocked", blocked)]).unwrap();
        assert_eq!(
            patch["status"]["conditions"],
            json!([
                {"type": "Ready", "status": "True", "reason": "Converged", "message": "b",
                    "lastTransitionTime": "2025-01-01T00:00:00Z"},
                theirs,
                {"type": "Blocked", "status": "False", "reason": "Converged", "message": "c",
                    "lastTransitionTime": "2026-01-01T00:00:00Z"},
            ])
        );
    }

    #[test]
    fn what_is_said_is_read_from_lists_and_maps() {
        let said =
            json!({"type": "Ready", "status": "True", "reason": "Converged", "message": "m"});
        let map = Status {
            form: Form::Map {
                version: None,
                heartbeat: None,
            },
            ..Status::LIST
        };
        for (status, conditions) in [
            (Status::LIST, json!([said])),
            (map, json!({"Ready": said, "Other": {"status": "False"}})),
        ] {
            let object = object(conditions);
            assert_eq!(status.said(&object, "Ready"), Some(ready("m")));
            assert_eq!(status.said(&object, "Absent"), None);
            assert_eq!(status.hold(&object), ["Ready"]);
        }
    }
}
