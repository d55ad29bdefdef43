//! Fields: properties in the JSON of an object.

use cloud_port::kube::{Field, Shape};
use ownership::{Class, CloudError, Text};
use serde_json::{Map, Value};

/// The text of what a field holds; `None` if it is not there, or holds something else.
pub(crate) fn read(object: &Value, field: &Field) -> Option<Text> {
    let value = object.pointer(field.at)?;
    Some(match field.shape {
        Shape::Text => value.as_str()?.into(),
        Shape::Integer => value.as_i64()?.to_string().into(),
        Shape::Bool => value.as_bool()?.to_string().into(),
        Shape::Texts => {
            let texts = value.as_array()?;
            if !texts.iter().all(Value::is_string) {
                return None;
            }
            value.to_string().into()
        }
    })
}

/// What a field is to hold.
///
/// # Errors
/// A text that is none of its shape.
pub(crate) fn value(field: &Field, text: &str) -> Result<Value, CloudError> {
    let parsed = match field.shape {
        Shape::Text => Some(Value::from(text)),
        Shape::Integer => text.parse().ok().map(|number: i64| Value::from(number)),
        Shape::Bool => text.parse().ok().map(|flag: bool| Value::from(flag)),
        Shape::Texts => serde_json::from_str(text)
            .ok()
            .map(|texts: Vec<String>| Value::from(texts)),
    };
    parsed.ok_or_else(|| {
        let (prop, shape) = (field.prop, field.shape);
        let message = format!("{prop}: {text:?} is not what the field holds ({shape:?})");
        CloudError::new(Class::Fatal, "InvalidValue", message)
    })
}

/// Puts a value where a JSON pointer leads, with whatever is missing on the way.
pub(crate) fn put(object: &mut Value, pointer: &str, value: Value) {
    let mut here = object;
    for part in pointer.split('/').skip(1) {
        if !here.is_object() {
            *here = Value::Object(Map::new());
        }
        let key = part.replace("~1", "/").replace("~0", "~");
        here = &mut here[key];
    }
    *here = value;
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const fn field(at: &'static str, shape: Shape) -> Field {
        let prop = "prop";
        Field { prop, at, shape }
    }

    #[test]
    fn what_is_written_is_read_as_it_was_wished_for() {
        for (shape, text) in [
            (Shape::Text, "1Gi"),
            (Shape::Text, ""),
            (Shape::Integer, "-3"),
            (Shape::Bool, "true"),
            (Shape::Texts, r#"["a","b c"]"#),
        ] {
            let field = field("/spec/a~1b/c~0d", shape);
            let mut object = json!({"spec": {"other": 1}});
            put(&mut object, field.at, value(&field, text).unwrap());
            assert_eq!(object["spec"]["other"], 1);
            assert!(object.pointer("/spec/a~1b/c~0d").is_some());
            assert_eq!(read(&object, &field).as_deref(), Some(text));
        }
    }

    #[test]
    fn what_does_not_fit_is_refused_with_the_property() {
        for (shape, text) in [
            (Shape::Integer, "3.5"),
            (Shape::Bool, "yes"),
            (Shape::Texts, "a"),
        ] {
            let error = value(&field("/spec/a", shape), text).unwrap_err();
            assert_eq!(error.class, Class::Fatal);
            assert!(error.message.starts_with("prop: "), "{error}");
        }
        let number = json!({"spec": {"a": 3, "b": ["x", 1]}});
        assert_eq!(read(&number, &field("/spec/a", Shape::Text)), None);
        assert_eq!(read(&number, &field("/spec/b", Shape::Texts)), None);
        assert_eq!(read(&number, &field("/spec/c", Shape::Bool)), None);
    }
}
