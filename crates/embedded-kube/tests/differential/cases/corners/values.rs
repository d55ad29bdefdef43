//! Formats, patterns and numbers of custom resources.

use serde_json::{Value, json};

use crate::harness::{Script, run};

async fn things(s: &mut Script, fields: Value) {
    let schema = json!({"type": "object", "properties": {"spec": {"type": "object",
        "properties": fields}}});
    let crd = s.definition("things", "Thing", schema);
    s.crd(crd).await;
}

#[test]
fn texts_of_every_format() {
    run(async |s| {
        let formats: [(&str, &[&str]); 24] = [
            (
                "email",
                &[
                    "a@b",
                    "A <a@b.c>",
                    "a b@c",
                    "\"a b\"@c",
                    "a@",
                    "@b",
                    "a@b@c",
                    "a@b.c, d@e.f",
                    "a@[1.2.3.4]",
                    "<a@b>",
                    "ü@b.c",
                ],
            ),
            (
                "hostname",
                &[
                    "a",
                    "a.b",
                    "a.bc",
                    "a.b1",
                    "1.2",
                    "-a",
                    "a-",
                    "a_b",
                    "a..b",
                    "a.",
                    "ümlaut.de",
                    "a.b.c1",
                    "A.COM",
                    "x--y.com",
                    "☃.com",
                    "",
                ],
            ),
            (
                "uri",
                &[
                    "/a",
                    "a",
                    "http:",
                    "http://",
                    "http://[::1]",
                    "http://[::1",
                    "http://a b",
                    "http://a/%zz",
                    "//x",
                    "mailto:a@b",
                    "1:a",
                    ":a",
                    "http://a:b",
                    "http://a:99999",
                    "/a b",
                    "/a%20b",
                    "*",
                    "?x",
                    "#x",
                    "http://a#b",
                    "/ü",
                    "http://a/\u{7f}",
                ],
            ),
            (
                "ipv4",
                &[
                    "1.2.3.4",
                    "01.02.03.04",
                    "::ffff:1.2.3.4",
                    "1.2.3",
                    "1.2.3.4.5",
                    "256.1.1.1",
                    "1.2.3.4 ",
                    "::1.2.3.4",
                ],
            ),
            (
                "ipv6",
                &[
                    "::",
                    "1::2",
                    "::ffff:1.2.3.4",
                    "fe80::1%eth0",
                    "1.2.3.4",
                    "1:2:3:4:5:6:7:8:9",
                    "::ffff:01.2.3.4",
                    "[::1]",
                ],
            ),
            (
                "cidr",
                &[
                    "1.2.3.4/32",
                    "1.2.3.4/33",
                    "1.2.3.4/032",
                    "01.2.3.4/8",
                    "::1/129",
                    "::/0",
                    "1.2.3.4",
                    "1.2.3.4/",
                    "1.2.3.4/-1",
                    "1.2.3.4/+1",
                ],
            ),
            (
                "mac",
                &[
                    "00:11:22:33:44:55",
                    "00-11-22-33-44-55",
                    "0011.2233.4455",
                    "001122334455",
                    "00:11:22:33:44",
                    "00:11:22:33:44:55:66:77",
                    "00:11-22:33:44:55",
                    "0:1:2:3:4:5",
                    "GG:11:22:33:44:55",
                ],
            ),
            (
                "uuid",
                &[
                    "12345678123412341234123456789abc",
                    "12345678-1234123412341234-56789abc",
                    "1-2345678123412341234123456789abc",
                    "12345678-1234-1234-1234-123456789ABC",
                    "{12345678-1234-1234-1234-123456789abc}",
                ],
            ),
            (
                "uuid3",
                &[
                    "12345678-1234-3234-1234-123456789abc",
                    "12345678-1234-4234-1234-123456789abc",
                ],
            ),
            (
                "uuid4",
                &[
                    "12345678-1234-4234-1234-123456789abc",
                    "12345678-1234-4234-8234-123456789abc",
                ],
            ),
            (
                "uuid5",
                &[
                    "12345678-1234-5234-b234-123456789abc",
                    "12345678-1234-5234-c234-123456789abc",
                ],
            ),
            (
                "byte",
                &[
                    "",
                    "YQ==",
                    "YQ",
                    "YQ=",
                    "Y===",
                    "YR==",
                    "YW Jj",
                    "YWJj\n",
                    "-_-_",
                    "YWJjZA==YQ==",
                ],
            ),
            (
                "date",
                &[
                    "2020-01-01",
                    "2020-1-1",
                    "0000-01-01",
                    "2020-02-29",
                    "2021-02-29",
                    "2020-01-01Z",
                    "12020-01-01",
                ],
            ),
            (
                "date-time",
                &[
                    "2020-01-01T00:00:00Z",
                    "2020-01-01t00:00:00z",
                    "2020-01-01T24:00:00Z",
                    "2020-01-01T00:00:60Z",
                    "2020-01-01T00:00:00",
                    "2020-01-01T00:00:00+99:99",
                    "2020-01-01T00:00:00x5Z",
                    "2020-01-01 00:00:00Z",
                    "2020-01-01T00:00Z",
                    "2020-01-01T0:00:00Z",
                    "2020-01-01T00:00:00.Z",
                    "2020-01-01T00:00:00ZT",
                ],
            ),
            (
                "duration",
                &[
                    "1h",
                    "1.5h",
                    "-1h",
                    "+1h",
                    "1",
                    "0",
                    "",
                    "1 h",
                    "1 day",
                    "2days",
                    "3 weeks ago",
                    "x1hx",
                    "1x",
                    "1h 2x",
                    "1µs",
                    "1us",
                    "1H",
                    "1 MIN",
                    "1 minutes",
                    "hours",
                    ".5s",
                    "1..5s",
                    "9999999999999999999h",
                    "1 hrs",
                    "1wk",
                    "1nanoseconds",
                    "5 s 6",
                ],
            ),
            (
                "isbn",
                &["0-306-40615-2", "978-0-306-40615-7", "0306406153", "x"],
            ),
            (
                "isbn10",
                &[
                    "0306406152",
                    "080442957X",
                    "0306406153",
                    "978-0-306-40615-7",
                ],
            ),
            ("isbn13", &["9780306406157", "9780306406158", "0306406152"]),
            (
                "creditcard",
                &[
                    "4111111111111111",
                    "4111-1111-1111-1111",
                    "4111111111111112",
                    "x",
                ],
            ),
            (
                "ssn",
                &["123-45-6789", "123456789", "123 45 6789", "123-45-678"],
            ),
            ("hexcolor", &["#fff", "fff", "#ffff", "#FFFFFF", "red", ""]),
            (
                "rgbcolor",
                &[
                    "rgb(1,2,3)",
                    "rgb( 1 , 2 , 3 )",
                    "rgb(256,0,0)",
                    "rgb(1,2)",
                    "rgba(1,2,3,4)",
                ],
            ),
            (
                "bsonobjectid",
                &["507f1f77bcf86cd799439011", "507f1f77bcf86cd79943901", "x"],
            ),
            ("k8s-short-name", &["a", "a.b", "A", "-a", ""]),
        ];
        let mut fields = json!({});
        for (format, _) in formats {
            fields[format] = json!({"type": "string", "format": format});
        }
        things(s, fields).await;
        for (format, values) in formats {
            for value in values {
                let body = json!({"spec": {format: value}});
                s.create("things?dryRun=All", "a", body).await;
            }
        }
    });
}

#[test]
fn patterns_are_those_of_go() {
    run(async |s| {
        let patterns: [(&str, &[&str]); 16] = [
            (r"^\d+$", &["12", "٣", "x"]),
            (r"^\w+$", &["aZ_9", "é", "-"]),
            (r"^\s$", &[" ", "\u{a0}", "\u{b}", "\t"]),
            (r"^\D$", &["٣", "1"]),
            (r"^[\d\-]+$", &["1-2", "٣"]),
            (r"^[^\w]$", &["é", "a"]),
            (r"\bé", &["é", "aé", "x é"]),
            (r"\bx\B", &["éxy", "xy", "x"]),
            (r"^.$", &["\n", "é", "ab"]),
            (r"^a$", &["a", "a\n"]),
            (r"(?i)^k$", &["K", "\u{212a}"]),
            (r"^[[:alpha:]]$", &["a", "é"]),
            (r"^[^a]$", &["\n", "b"]),
            (r"(?m)^a$", &["b\na", "a\r\nb"]),
            (r"^\x{e9}\pL$", &["éé", "é1"]),
            (r"^[a-z[]+$", &["a[", "]"]),
        ];
        let mut fields = json!({});
        for (index, (pattern, _)) in patterns.iter().enumerate() {
            fields[format!("p{index}")] = json!({"type": "string", "pattern": pattern});
        }
        things(s, fields).await;
        for (index, (_, values)) in patterns.iter().enumerate() {
            for value in *values {
                let body = json!({"spec": {format!("p{index}"): value}});
                s.create("things?dryRun=All", "a", body).await;
            }
        }
    });
}

#[test]
fn numbers_and_their_limits() {
    run(async |s| {
        let fields = json!({
            "tenth": {"type": "number", "multipleOf": 0.1},
            "three": {"type": "integer", "multipleOf": 3},
            "big": {"type": "integer", "maximum": 9_007_199_254_740_993_i64},
            "i32": {"type": "integer", "format": "int32"},
            "i64": {"type": "integer", "format": "int64"},
            "float": {"type": "number", "format": "float"},
            "double": {"type": "number", "format": "double"},
            "open": {"type": "number", "minimum": 0, "exclusiveMinimum": true, "maximum": 1, "exclusiveMaximum": true},
            "one": {"enum": [1, 2.5, "x", null, true, {"a": 1}, [1]], "x-kubernetes-preserve-unknown-fields": true},
            "text": {"type": "string", "minLength": 2, "maxLength": 3},
            "map": {"type": "object", "minProperties": 1, "maxProperties": 2, "additionalProperties": {"type": "integer"}},
            "list": {"type": "array", "minItems": 1, "maxItems": 2, "items": {"type": "integer"}},
        });
        things(s, fields).await;
        for spec in [
            r#"{"tenth":0.3}"#,
            r#"{"tenth":0.35}"#,
            r#"{"three":9}"#,
            r#"{"three":10}"#,
            r#"{"three":-3}"#,
            r#"{"three":0}"#,
            r#"{"big":9007199254740993}"#,
            r#"{"big":9007199254740994}"#,
            r#"{"i32":2147483647}"#,
            r#"{"i32":2147483648}"#,
            r#"{"i32":-2147483649}"#,
            r#"{"i32":1.0}"#,
            r#"{"i32":1.5}"#,
            r#"{"i32":1e3}"#,
            r#"{"i64":9223372036854775807}"#,
            r#"{"i64":9223372036854775808}"#,
            r#"{"i64":1e18}"#,
            r#"{"i64":1e19}"#,
            r#"{"float":1e38}"#,
            r#"{"float":1e39}"#,
            r#"{"float":1}"#,
            r#"{"double":1e308}"#,
            r#"{"double":"1"}"#,
            r#"{"open":0}"#,
            r#"{"open":1}"#,
            r#"{"open":0.5}"#,
            r#"{"one":1}"#,
            r#"{"one":1.0}"#,
            r#"{"one":2.5}"#,
            r#"{"one":2}"#,
            r#"{"one":"1"}"#,
            r#"{"one":null}"#,
            r#"{"one":false}"#,
            r#"{"one":{"a":1}}"#,
            r#"{"one":{"a":2}}"#,
            r#"{"one":[1]}"#,
            r#"{"text":"é"}"#,
            r#"{"text":"ééé"}"#,
            r#"{"text":"éééé"}"#,
            r#"{"map":{}}"#,
            r#"{"map":{"a":1,"b":2,"c":"x"}}"#,
            r#"{"map":null}"#,
            r#"{"list":[]}"#,
            r#"{"list":[1,2,3]}"#,
            r#"{"list":[null]}"#,
            r#"{"list":["x",{},1.5]}"#,
            r#"{"list":{}}"#,
        ] {
            let group = s.group.clone();
            let body = format!(
                r#"{{"apiVersion":"{group}/v1","kind":"Thing","metadata":{{"name":"a"}},"spec":{spec}}}"#
            );
            s.typed("POST", "things?dryRun=All", "application/json", body)
                .await;
        }
    });
}
