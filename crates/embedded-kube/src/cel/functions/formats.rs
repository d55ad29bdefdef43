//! Formats of texts, by name.

use super::super::value::{Outcome, Val};
use super::{Row, text};
use crate::names;
use crate::schema::formats::fits;
use crate::text::go_quote;

/// A format: what is wrong with a text that should have it.
#[derive(Debug)]
pub(crate) struct NamedFormat {
    pub(in crate::cel) name: &'static str,
    complaints: fn(&str) -> Vec<String>,
}

static FORMATS: [NamedFormat; 13] = [
    NamedFormat {
        name: "dns1123Label",
        complaints: |text| names::dns_label(text, false),
    },
    NamedFormat {
        name: "dns1123Subdomain",
        complaints: |text| names::dns_subdomain(text, false),
    },
    NamedFormat {
        name: "dns1035Label",
        complaints: names::dns1035_label,
    },
    NamedFormat {
        name: "qualifiedName",
        complaints: names::qualified_name,
    },
    NamedFormat {
        name: "dns1123LabelPrefix",
        complaints: |text| names::dns_label(text, true),
    },
    NamedFormat {
        name: "dns1123SubdomainPrefix",
        complaints: |text| names::dns_subdomain(text, true),
    },
    NamedFormat {
        name: "dns1035LabelPrefix",
        complaints: |text| names::dns1035_label(&names::masked(text, true)),
    },
    NamedFormat {
        name: "labelValue",
        complaints: names::label_value,
    },
    NamedFormat {
        name: "uri",
        complaints: |text| {
            let message = format!("parse {}: invalid URI for request", go_quote(text));
            unless(fits("uri", text), &message)
        },
    },
    NamedFormat {
        name: "uuid",
        complaints: |text| unless(fits("uuid", text), "does not match the UUID format"),
    },
    NamedFormat {
        name: "byte",
        complaints: |text| unless(fits("byte", text), "invalid base64"),
    },
    NamedFormat {
        name: "date",
        complaints: |text| unless(fits("date", text), "invalid date"),
    },
    NamedFormat {
        name: "datetime",
        complaints: |text| unless(fits("datetime", text), "invalid datetime"),
    },
];

pub(super) const ROWS: &[Row] = &[
    ("format.validate(string) optional<list<string>>", validate),
    ("format:named(string) optional<format>", |args| {
        let wanted = text(args, 0)?;
        let found = FORMATS.iter().find(|format| format.name == wanted);
        Ok(found.map_or(Val::Optional(None), |found| Val::some(Val::Format(found))))
    }),
    ("format:dns1123Label() format", |_| {
        Ok(Val::Format(&FORMATS[0]))
    }),
    ("format:dns1123Subdomain() format", |_| {
        Ok(Val::Format(&FORMATS[1]))
    }),
    ("format:dns1035Label() format", |_| {
        Ok(Val::Format(&FORMATS[2]))
    }),
    ("format:qualifiedName() format", |_| {
        Ok(Val::Format(&FORMATS[3]))
    }),
    ("format:dns1123LabelPrefix() format", |_| {
        Ok(Val::Format(&FORMATS[4]))
    }),
    ("format:dns1123SubdomainPrefix() format", |_| {
        Ok(Val::Format(&FORMATS[5]))
    }),
    ("format:dns1035LabelPrefix() format", |_| {
        Ok(Val::Format(&FORMATS[6]))
    }),
    ("format:labelValue() format", |_| {
        Ok(Val::Format(&FORMATS[7]))
    }),
    ("format:uri() format", |_| Ok(Val::Format(&FORMATS[8]))),
    ("format:uuid() format", |_| Ok(Val::Format(&FORMATS[9]))),
    ("format:byte() format", |_| Ok(Val::Format(&FORMATS[10]))),
    ("format:date() format", |_| Ok(Val::Format(&FORMATS[11]))),
    ("format:datetime() format", |_| {
        Ok(Val::Format(&FORMATS[12]))
    }),
];

fn unless(fine: bool, message: &str) -> Vec<String> {
    if fine {
        Vec::new()
    } else {
        vec![message.to_owned()]
    }
}

fn validate<'a>(args: &[Val<'a>]) -> Outcome<'a> {
    let Val::Format(format) = &args[0] else {
        return Err(super::Fault::no_overload());
    };
    let complaints = (format.complaints)(text(args, 1)?);
    if complaints.is_empty() {
        return Ok(Val::Optional(None));
    }
    let complaints = complaints.into_iter().map(Val::text).collect();
    Ok(Val::some(Val::list(complaints)))
}
