//! Other forms of objects and lists that a client can ask for: tables, and metadata alone.

mod age;
mod columns;
mod path;

use bytes::Bytes;
use jiff::Timestamp;
use serde_json::{Map, Value, json};

use crate::builtin::{self, Builtin};
use crate::json;
use crate::meta;
use crate::resource::{Resource, Sub};
use crate::status::{ApiError, ApiResult};
use crate::storage::Body;
use crate::text::{go_float, go_quote};
use crate::typed::{self, Findings};

use path::Path;

/// What an answer is to look like.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Form {
    /// As it is.
    #[default]
    Whole,
    Table(MetaVersion),
    Metadata(MetaVersion),
    MetadataList(MetaVersion),
}

/// The versions of the group that these forms belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MetaVersion {
    V1,
    V1beta1,
}

impl MetaVersion {
    fn api_version(self) -> &'static str {
        match self {
            Self::V1 => "meta.k8s.io/v1",
            Self::V1beta1 => "meta.k8s.io/v1beta1",
        }
    }
}

impl Form {
    /// The form that the parameters of a media type name.
    pub(crate) fn named(group: &str, version: &str, kind: &str) -> Option<Self> {
        let version = match (group, version) {
            ("meta.k8s.io", "v1") => MetaVersion::V1,
            ("meta.k8s.io", "v1beta1") => MetaVersion::V1beta1,
            _ => return None,
        };
        match kind {
            "Table" => Some(Self::Table(version)),
            "PartialObjectMetadata" => Some(Self::Metadata(version)),
            "PartialObjectMetadataList" => Some(Self::MetadataList(version)),
            _ => None,
        }
    }
}

/// A column that a definition gives to the tables of its objects.
#[derive(Clone, Debug)]
pub(crate) struct CustomColumn {
    name: Box<str>,
    kind: Box<str>,
    format: Box<str>,
    about: Box<str>,
    priority: i64,
    path: Box<str>,
}

/// The columns of one version of a definition.
pub(crate) fn custom_columns(version: &Value) -> Vec<CustomColumn> {
    let text = |value: &Value| value.as_str().unwrap_or_default().into();
    let columns = version["additionalPrinterColumns"].as_array();
    let columns = columns.filter(|columns| !columns.is_empty());
    let Some(columns) = columns else {
        return vec![age_column()];
    };
    let mut all = Vec::new();
    for column in columns {
        let path = column["jsonPath"].as_str().unwrap_or_default();
        // What follows a path that nobody can walk is not shown either.
        if Path::parse(path).is_none() {
            break;
        }
        let about = match column["description"].as_str() {
            None | Some("") => {
                format!("Custom resource definition column (in JSONPath format): {path}").into()
            }
            Some(about) => about.into(),
        };
        all.push(CustomColumn {
            name: text(&column["name"]),
            kind: text(&column["type"]),
            format: text(&column["format"]),
            about,
            priority: column["priority"].as_i64().unwrap_or(0),
            path: path.into(),
        });
    }
    all
}

fn age_column() -> CustomColumn {
    CustomColumn {
        name: "Age".into(),
        kind: "date".into(),
        format: "".into(),
        about: "How long ago the object was created.".into(),
        priority: 0,
        path: ".metadata.creationTimestamp".into(),
    }
}

/// The columns of what `scale` shows.
fn scale_columns() -> Vec<CustomColumn> {
    let number = |name: &str, about: &str, path: &str| CustomColumn {
        name: name.into(),
        kind: "integer".into(),
        format: "".into(),
        about: about.into(),
        priority: 0,
        path: path.into(),
    };
    vec![
        number("Desired", "How many are wanted.", ".spec.replicas"),
        number("Available", "How many there are.", ".status.replicas"),
        age_column(),
    ]
}

/// How much of an object goes into the row of a table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Include {
    #[default]
    Metadata,
    Object,
    Nothing,
}

/// A form, and what the request says about it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shape {
    pub(crate) form: Form,
    include: Include,
}

impl Shape {
    /// The shape that a request asks for. `include` is its `includeObject`.
    pub(crate) fn new(form: Form, include: &str) -> ApiResult<Self> {
        let include = match (form, include) {
            (Form::Table(_), "Object") => Include::Object,
            (Form::Table(_), "None") => Include::Nothing,
            (Form::Table(_), "" | "Metadata") => Include::Metadata,
            (Form::Table(_), other) => {
                return Err(ApiError::bad_request(format!(
                    "Unable to convert to Table as requested: includeObject: Invalid value: {}: \
                     must be 'Metadata', 'Object', 'None', or empty",
                    go_quote(other)
                )));
            }
            _ => Include::Metadata,
        };
        Ok(Self { form, include })
    }

    pub(crate) fn is_whole(&self) -> bool {
        self.form == Form::Whole
    }

    /// The bytes of an object or a list, in this shape.
    pub(crate) fn of_bytes(
        &self,
        resource: &Resource,
        sub: Sub,
        body: Bytes,
        now: Timestamp,
    ) -> ApiResult<Bytes> {
        if self.is_whole() {
            return Ok(body);
        }
        let value = json::parse(&body).map(|d| d.value).unwrap_or_default();
        let value = self.of(resource, sub, value, now, true)?;
        Ok(Body::write(&value, None).to_bytes())
    }

    /// An object or a list, in this shape. `headers` says whether a table names its columns.
    pub(crate) fn of(
        &self,
        resource: &Resource,
        sub: Sub,
        value: Value,
        now: Timestamp,
        headers: bool,
    ) -> ApiResult<Value> {
        if value["kind"] == "Status" && value["apiVersion"] == "v1" {
            return Ok(value);
        }
        let is_list = value["items"].is_array() && value["kind"] == *resource.list_kind;
        let wrong = |message: String| Err(ApiError::new(406, "NotAcceptable", message));
        match self.form {
            Form::Whole => Ok(value),
            Form::Metadata(_) if is_list => wrong(format!(
                "you requested PartialObjectMetadata, but the requested object is a list ({})",
                go_type(resource, true)
            )),
            Form::Metadata(version) => Ok(partial(&value, version)),
            Form::MetadataList(_) if !is_list && resource.custom().is_some() => {
                Err(ApiError::new(500, "", "content is not a list"))
            }
            Form::MetadataList(_) if !is_list => wrong(format!(
                "you requested PartialObjectMetadataList, but the requested object is not a list \
                 ({})",
                go_type(resource, false)
            )),
            Form::MetadataList(version) => {
                let items = value["items"].as_array().into_iter().flatten();
                let items: Vec<Value> = items.map(|item| partial(item, version)).collect();
                // A list of nothing is told as nothing at all.
                let items = if items.is_empty() {
                    Value::Null
                } else {
                    items.into()
                };
                Ok(json!({
                    "kind": "PartialObjectMetadataList",
                    "apiVersion": version.api_version(),
                    "metadata": list_meta(&value),
                    "items": items,
                }))
            }
            Form::Table(version) => {
                Ok(self.table(version, resource, sub, value, is_list, now, headers))
            }
        }
    }

    #[expect(clippy::too_many_arguments, reason = "one arm of `of`, split off")]
    fn table(
        &self,
        version: MetaVersion,
        resource: &Resource,
        sub: Sub,
        mut value: Value,
        is_list: bool,
        now: Timestamp,
        headers: bool,
    ) -> Value {
        let meta = list_meta(&value);
        let custom: Option<Vec<CustomColumn>> = resource.custom().map(|custom| {
            if sub == Sub::Scale {
                scale_columns()
            } else {
                custom.columns.clone()
            }
        });
        let objects = if is_list {
            match value["items"].take() {
                Value::Array(items) => items,
                _ => Vec::new(),
            }
        } else {
            vec![value]
        };
        let rows: Vec<Value> = objects
            .into_iter()
            .map(|mut object| {
                let cells = match &custom {
                    Some(columns) => custom_cells(columns, &object, now),
                    None => builtin_cells(resource, &object, now),
                };
                if is_list && custom.is_none() {
                    // Items of typed lists do not say what they are; in a table they do.
                    object["apiVersion"] = json!(resource.api_version());
                    object["kind"] = json!(&*resource.kind);
                }
                let ends_state = object["metadata"]["annotations"]
                    .get("k8s.io/initial-events-end")
                    .is_some_and(|value| value == "true");
                let object = match self.include {
                    Include::Object => object,
                    Include::Nothing if !ends_state => Value::Null,
                    _ => partial(&object, version),
                };
                json!({"cells": cells, "object": object})
            })
            .collect();
        let null_rows = rows.is_empty() && resource.builtin().is_some_and(columns::says_null);
        json!({
            "kind": "Table",
            "apiVersion": version.api_version(),
            "metadata": meta,
            "columnDefinitions": if headers {
                definitions(resource, custom.as_deref())
            } else {
                Value::Null
            },
            "rows": if null_rows { Value::Null } else { rows.into() },
        })
    }
}

/// What a list, or an object in the place of one, says of itself.
fn list_meta(value: &Value) -> Value {
    let mut meta = Map::new();
    for key in ["resourceVersion", "continue", "remainingItemCount"] {
        let found = &value["metadata"][key];
        if !found.is_null() && *found != "" {
            meta.insert(key.to_owned(), found.clone());
        }
    }
    meta.into()
}

/// An object without anything but its metadata.
fn partial(object: &Value, version: MetaVersion) -> Value {
    let mut metadata = object["metadata"].clone();
    // Only the fields that every object has, whatever a schema lets through.
    let decoded = typed::decode(&mut metadata, &meta::OBJECT_META, &mut Findings::default());
    debug_assert!(decoded.is_ok(), "metadata is checked before it is stored");
    json!({
        "kind": "PartialObjectMetadata",
        "apiVersion": version.api_version(),
        "metadata": metadata,
    })
}

/// What a program in Go calls the type of such an object.
fn go_type(resource: &Resource, list: bool) -> String {
    let Some(builtin) = resource.builtin() else {
        let list = if list { "List" } else { "" };
        return format!("*unstructured.Unstructured{list}");
    };
    let package = match builtin {
        Builtin::NewEvent => "core",
        _ => match resource.group.split('.').next().unwrap_or_default() {
            "" => "core",
            first => first,
        },
    };
    let kind = if list {
        &resource.list_kind
    } else {
        &resource.kind
    };
    format!("*{package}.{kind}")
}

fn definitions(resource: &Resource, custom: Option<&[CustomColumn]>) -> Value {
    let column = |name: &str, kind: &str, format: &str, about: &str, priority: i64| {
        json!({
            "name": name, "type": kind, "format": format, "description": about,
            "priority": priority,
        })
    };
    let all: Vec<Value> = match (resource.builtin(), custom) {
        (Some(builtin), _) => columns::of(builtin)
            .iter()
            .map(|c| {
                let format = if c.name == "Name" { "name" } else { "" };
                column(c.name, c.kind, format, c.about, i64::from(c.wide))
            })
            .collect(),
        (None, custom) => {
            let name = column("Name", "string", "name", "The name of the object.", 0);
            let rest = custom.unwrap_or_default().iter();
            let rest = rest.map(|c| column(&c.name, &c.kind, &c.format, &c.about, c.priority));
            std::iter::once(name).chain(rest).collect()
        }
    };
    all.into()
}

fn builtin_cells(resource: &Resource, object: &Value, now: Timestamp) -> Vec<Value> {
    let Some(builtin) = resource.builtin() else {
        return Vec::new();
    };
    if builtin == Builtin::NewEvent {
        let mut core = object.clone();
        builtin::event_to_core(&mut core);
        return columns::cells(builtin, &core, now);
    }
    columns::cells(builtin, object, now)
}

fn custom_cells(columns: &[CustomColumn], object: &Value, now: Timestamp) -> Vec<Value> {
    let name = json!(meta::text(object, "name"));
    let cells = columns.iter().map(|column| {
        let path = Path::parse(&column.path);
        let found = path.as_ref().and_then(|path| path.first(object));
        found.map_or(Value::Null, |value| cell(&column.kind, &value, now))
    });
    std::iter::once(name).chain(cells).collect()
}

/// A value in a column of this type; nothing if it does not fit.
fn cell(kind: &str, value: &Value, now: Timestamp) -> Value {
    match (kind, value) {
        ("string", value) => json!(as_text(value)),
        ("integer", Value::Number(number)) => {
            #[expect(
                clippy::cast_possible_truncation,
                reason = "a float in such a column is cut, as in Go"
            )]
            let cut = |float: f64| {
                // Where it does not fit, a processor says so in this way.
                if float.abs() < 9.2e18 {
                    float as i64
                } else {
                    i64::MIN
                }
            };
            json!(number.as_i64().or(number.as_f64().map(cut)))
        }
        ("number", Value::Number(number)) => json!(number.as_f64()),
        ("boolean", Value::Bool(_)) => value.clone(),
        ("date", Value::String(text)) => match text.as_str() {
            "" | "null" => json!("<unknown>"),
            text if typed::read_time(text).is_none() => json!("<invalid>"),
            _ => json!(columns::since(value, now)),
        },
        _ => Value::Null,
    }
}

/// A value as a text, as templates write one.
fn as_text(value: &Value) -> String {
    match value {
        Value::Null => "<no value>".to_owned(),
        Value::Bool(flag) => flag.to_string(),
        Value::Number(number) => match number.as_i64() {
            Some(whole) => whole.to_string(),
            None => go_float(number.as_f64().unwrap_or_default()),
        },
        Value::String(text) => text.clone(),
        Value::Array(_) | Value::Object(_) => {
            let text = String::from_utf8_lossy(&crate::storage::to_vec(value)).into_owned();
            text.replace('<', "\\u003c")
                .replace('>', "\\u003e")
                .replace('&', "\\u0026")
        }
    }
}
