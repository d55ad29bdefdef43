//! What functions and operators say, true or not.

use serde_json::json;

use super::ask;
use crate::harness::run;

#[test]
fn numbers() {
    run(async |s| {
        let rules = [
            "self + 1 == 8",
            "self * 2 - 4 == 10",
            "self / 2 == 3 && self % 4 == 3",
            "-self < 0 && - -self == 7",
            "self >= 7 && self <= 7 && self != 8",
            "self < 7.5 && self > 6.9",
            "double(self) / 2.0 == 3.5",
            "self in [1, 7, 9]",
            "string(self) == '7'",
            "uint(self) == 7u",
            "self == 7 ? true : false",
            "self / (self - 7) == 1",
            "self % (self - 7) == 1",
            "9223372036854775807 + self > 0",
            "-9223372036854775808 - self < 0",
            "0x10 + self > 22",
            "int(3.99) == 3 && int('12') == 12",
            "type(self) == int",
            "dyn(self) == 7.0",
            "[self, 1, 5].sort() == [1, 5, 7]",
        ];
        let values = [json!(7), json!(0), json!(-7)];
        ask(s, json!({"type": "integer"}), &values, &rules).await;
    });
}

#[test]
fn floats() {
    run(async |s| {
        let rules = [
            "self > 1.0",
            "self == 1.5",
            "self * 2.0 == 3.0",
            "self / 0.0 > 1.0",
            "string(self) == '1.5'",
            "int(self) == 1",
            "self < 2 && self >= 1",
            "double('1e3') == 1000.0",
        ];
        let values = [json!(1.5), json!(2), json!(-0.25), json!(0.001)];
        ask(s, json!({"type": "number"}), &values, &rules).await;
    });
}

#[test]
fn texts() {
    run(async |s| {
        let rules = [
            "self.size() == 5 && size(self) == 5",
            "self.startsWith('h') && self.endsWith('o') && self.contains('ll')",
            "self.matches('^h.*o$')",
            "matches(self, 'l{2}')",
            "self.charAt(1) == 'e'",
            "self.charAt(9) == ''",
            "self.indexOf('l') == 2 && self.lastIndexOf('l') == 3",
            "self.indexOf('l', 3) == 3 && self.indexOf('', 2) == 2",
            "self.lastIndexOf('h', 3) == 0",
            "self.indexOf('l', -1) == 0",
            "self.upperAscii() == 'HELLO' && 'ÄB'.lowerAscii() == 'Äb'",
            "self.replace('l', 'L') == 'heLLo' && self.replace('l', 'L', 1) == 'heLlo'",
            "self.replace('l', 'L', 0) == 'hello' && self.replace('', '-') == '-h-e-l-l-o-'",
            "self.split('l') == ['he', '', 'o'] && self.split('l', 2) == ['he', 'lo']",
            "self.split('').size() == 5 && self.split('l', 0) == [] && self.split('', 2) == ['h', 'ello']",
            "self.substring(1) == 'ello' && self.substring(1, 3) == 'el'",
            "self.substring(4, 9) == ''",
            "self.substring(3, 1) == ''",
            "'  x '.trim() == 'x' && self.trim() == self",
            "strings.quote('a\"b\\n') == '\"a\\\\\"b\\\\n\"'",
            "self > 'a' && self <= 'hello'",
            "self + '!' == 'hello!'",
            "bytes(self) == b'hello' && string(b'hello') == self",
            "self.find('l+') == 'll' && self.findAll('l') == ['l', 'l']",
            "self.findAll('[a-z]', 2) == ['h', 'e'] && self.find('x') == ''",
            "bool('true') && !bool('0')",
            "bool(self)",
            "r'\\d' == '\\\\d' && '\\x41\\u00e9' == 'Aé'",
            "'''a'b''' == 'a\\'b'",
            "size('äöü') == 3 && size(b'äöü') == 6",
        ];
        let values = [json!("hello"), json!(""), json!("hällö")];
        ask(
            s,
            json!({"type": "string", "maxLength": 50}),
            &values,
            &rules,
        )
        .await;
    });
}

#[test]
fn formatting() {
    run(async |s| {
        let rules = [
            "'%s'.format([self]) == 'abc'",
            "'%d %s %%'.format([7, 'x']) == '7 x %'",
            "'%.2f'.format([3.14159]) == '3.14'",
            "'%f'.format([1234567.5]) == '1,234,567.500000'",
            "'%b %o %x %X'.format([5, 8, 255, 255]) == '101 10 ff FF'",
            "'%x'.format([self]) == '616263'",
            "'%s'.format([['a', 1.5, true, null]]) == 'x'",
            "'%s'.format([{'k': self, 'j': 'v'}]) == '{\"j\":\"v\", \"k\":\"abc\"}'",
            "'%s'.format([duration('90s')]) == '90s'",
            "'%s'.format([timestamp('2020-01-02T03:04:05Z')]) == '2020-01-02T03:04:05Z'",
            "'%s'.format([[duration('1h'), duration('1ms')]]) == '[duration(\"3600s\"), duration(\"0.001s\")]'",
            "'%s'.format([b'xyz']) == 'xyz'",
            "'%s'.format([1.5]) == '1.5' && '%s'.format([100u]) == '100'",
            "'%s'.format([type(self)]) == 'string'",
            "'%s %s'.format(['a', self]) == 'a abc'",
        ];
        ask(
            s,
            json!({"type": "string", "maxLength": 50}),
            &[json!("abc"), json!("é")],
            &rules,
        )
        .await;
    });
}

#[test]
fn lists() {
    run(async |s| {
        let rules = [
            "self.size() == 3 && size(self) == 3",
            "self.all(x, x > 0) && self.exists(x, x == 2) && self.exists_one(x, x == 3)",
            "self.map(x, x * 2) == [6, 2, 4]",
            "self.map(x, x > 1, x * 2) == [6, 4]",
            "self.filter(x, x > 1) == [3, 2]",
            "self.isSorted()",
            "self.sum() == 6 && self.min() == 1 && self.max() == 3",
            "self.indexOf(1) == 1 && self.lastIndexOf(9) == -1",
            "self.slice(0, 2) == [3, 1]",
            "self.sort() == [1, 2, 3] && self.reverse() == [2, 1, 3]",
            "self.sortBy(x, -x) == [3, 2, 1]",
            "self.distinct() == self && [1, 1, 2].distinct() == [1, 2]",
            "[[1, 2], [3]].flatten() == [1, 2, 3] && [[1], [2]].flatten(2) == [1, 2]",
            "lists.range(3) == [0, 1, 2]",
            "self.first().value() == 3 && self.last().orValue(0) == 2",
            "self[0] == 3 && self[?9].orValue(7) == 7",
            "self[5] == 1",
            "self[-1] == 1",
            "2 in self && !(9 in self)",
            "self + [4] == [3, 1, 2, 4]",
            "self == [3, 1, 2]",
            "sets.contains(self, [1, 2]) && !sets.contains([1], self)",
            "sets.equivalent(self, [1, 2, 3, 3]) && sets.intersects(self, [9, 1])",
            "self.all(i, v, i < 3 && v > 0)",
            "self.exists(i, v, i == 1 && v == 1) && self.existsOne(i, v, v == i)",
            "self.transformList(i, v, i * v) == [0, 1, 4]",
            "self.transformList(i, v, i > 0, v) == [1, 2]",
            "self.transformMap(i, v, v) == {0: 3, 1: 1, 2: 2}",
            "self.transformMapEntry(i, v, {v: i}) == {3: 0, 1: 1, 2: 2}",
            "self.map(x, {'k': x})[0].k == 3",
            "self.all(x, 6 / (x - 1) > 0)",
            "self.exists(x, 6 / (x - 1) == 3)",
            "self.exists_one(x, 6 / (x - 1) == 3)",
        ];
        let schema = json!({"type": "array", "maxItems": 5, "items": {"type": "integer"}});
        let values = [json!([3, 1, 2]), json!([]), json!([1, 1]), json!([-5, 5])];
        ask(s, schema, &values, &rules).await;
    });
}

#[test]
fn maps() {
    run(async |s| {
        let rules = [
            "'a' in self && self['a'] == 'x' && self.a == 'x'",
            "size(self) == 2",
            "self.all(k, self[k] != '')",
            "self.exists(k, k.startsWith('b'))",
            "self.map(k, k).sort() == ['a', 'b-c']",
            "self.filter(k, self[k] == 'y') == ['b-c']",
            "self == {'a': 'x', 'b-c': 'y'}",
            "has(self.a) && !has(self.zzz)",
            "self[?'zzz'].orValue('d') == 'd' && self.?a.hasValue()",
            "self.transformMap(k, v, v + k) == {'a': 'xa', 'b-c': 'yb-c'}",
            "self.transformList(k, v, v).sort() == ['x', 'y']",
            "self.all(k, v, v in ['x', 'y'])",
            "self.zzz == 'x'",
            "{'k': 1, ?'l': optional.none()} == {'k': 1}",
            "[?optional.of(1), ?optional.none()] == [1]",
        ];
        let schema = json!({"type": "object", "maxProperties": 5,
            "additionalProperties": {"type": "string", "maxLength": 20}});
        let values = [json!({"a": "x", "b-c": "y"}), json!({}), json!({"b": ""})];
        ask(s, schema, &values, &rules).await;
    });
}

#[test]
fn optionals() {
    run(async |s| {
        let rules = [
            "self.?a.hasValue()",
            "self.?a.orValue(3) == 3",
            "self.?a.or(self.?b).orValue(9) == 2",
            "self.?a.optMap(v, v + 1).orValue(0) == 0",
            "self.?a.optFlatMap(v, v > 5 ? optional.of(v) : optional.none()).hasValue()",
            "self.?c.?d.orValue('none') == 'none'",
            "self.?c.d.orValue('none') == 'x'",
            "optional.ofNonZeroValue(self.b).hasValue()",
            "optional.of(self.b).value() == 2",
            "optional.none().hasValue()",
            "self.?a.value() == 1",
            "[self.?a, self.?b].unwrapOpt() == [2] || optional.unwrap([self.?a]).size() == 1",
            "optional.of(1) == optional.of(1) && optional.none() != optional.of(1)",
        ];
        let schema = json!({"type": "object", "properties": {
            "a": {"type": "integer"}, "b": {"type": "integer", "default": 2},
            "c": {"type": "object", "properties": {"d": {"type": "string", "maxLength": 20}}},
        }});
        let values = [
            json!({}),
            json!({"a": 1, "b": 0}),
            json!({"a": 10, "c": {}}),
            json!({"c": {"d": "x"}}),
        ];
        ask(s, schema, &values, &rules).await;
    });
}

#[test]
fn addresses() {
    run(async |s| {
        let rules = [
            "isIP(self)",
            "isIP(self) && ip(self).family() == 4",
            "isIP(self) && ip(self).isLoopback()",
            "isIP(self) && ip(self).isGlobalUnicast()",
            "isIP(self) && ip(self).isLinkLocalUnicast()",
            "isIP(self) && ip(self).isUnspecified()",
            "isIP(self) && ip(self).isLinkLocalMulticast()",
            "isIP(self) && ip.isCanonical(self)",
            "isIP(self) && string(ip(self)) == self",
            "isIP(self) && cidr('10.0.0.0/8').containsIP(self)",
            "isIP(self) && cidr('10.0.0.0/8').containsIP(ip(self))",
            "isCIDR(self)",
            "isCIDR(self) && cidr(self).prefixLength() > 8",
            "isCIDR(self) && cidr('10.0.0.0/8').containsCIDR(self)",
            "isCIDR(self) && cidr(self).masked() == cidr(self)",
            "isCIDR(self) && string(cidr(self).masked()) == self",
            "isCIDR(self) && cidr(self).ip() == ip('10.1.0.0')",
            "ip(self).family() == 4",
        ];
        let values: Vec<_> = [
            "10.1.2.3",
            "127.0.0.1",
            "::1",
            "fe80::1",
            "0.0.0.0",
            "224.0.0.5",
            "ff02::1",
            "2001:db8::0:1",
            "2001:db8::1",
            "::ffff:1.2.3.4",
            "1.2.3",
            "01.2.3.4",
            "fe80::1%eth0",
            "10.1.0.0/16",
            "10.1.2.3/16",
            "10.0.0.0/33",
            "2001:db8::/32",
            "x",
            "255.255.255.255",
        ]
        .iter()
        .map(|text| json!(text))
        .collect();
        ask(
            s,
            json!({"type": "string", "maxLength": 50}),
            &values,
            &rules,
        )
        .await;
    });
}

#[test]
fn urls() {
    run(async |s| {
        let rules = [
            "isURL(self)",
            "isURL(self) && url(self).getScheme() == 'https'",
            "isURL(self) && url(self).getHost() == 'example.com:80'",
            "isURL(self) && url(self).getHostname() == 'example.com'",
            "isURL(self) && url(self).getPort() == '80'",
            "isURL(self) && url(self).getEscapedPath() == '/a%20b/c'",
            "isURL(self) && url(self).getQuery() == {'k': ['v', 'w'], 'x': ['']}",
            "isURL(self) && url(self).getHostname() == '::1'",
            "isURL(self) && url(self) == url('https://example.com/')",
        ];
        let values: Vec<_> = [
            "https://example.com:80/a%20b/c?k=v&k=w&x",
            "https://user:pw@example.com/",
            "https://example.com/",
            "http://[::1]:80/x#frag",
            "/path/only",
            "relative/path",
            "mailto:a@b.c",
            "https://example.com/ä b",
            "",
            "https://exa mple.com",
        ]
        .iter()
        .map(|text| json!(text))
        .collect();
        ask(
            s,
            json!({"type": "string", "maxLength": 50}),
            &values,
            &rules,
        )
        .await;
    });
}

#[test]
fn quantities() {
    run(async |s| {
        let rules = [
            "isQuantity(self)",
            "isQuantity(self) && quantity(self).isInteger()",
            "isQuantity(self) && quantity(self).isInteger() && quantity(self).asInteger() == 1073741824",
            "isQuantity(self) && quantity(self).isGreaterThan(quantity('1M'))",
            "isQuantity(self) && quantity(self).isLessThan(quantity('1M'))",
            "isQuantity(self) && quantity(self).compareTo(quantity('1Gi')) == 0",
            "isQuantity(self) && sign(quantity(self)) == -1",
            "isQuantity(self) && quantity(self).asApproximateFloat() == 0.5",
            "isQuantity(self) && quantity(self).add(quantity('1')).isGreaterThan(quantity('1'))",
            "isQuantity(self) && quantity(self).sub(1).add(1) == quantity(self)",
            "quantity('1k') == quantity('1000')",
            "quantity(self).isInteger()",
        ];
        let values: Vec<_> = [
            "1Gi", "500m", "0.5", "-3", "1e3", "1.5.2", "", "Gi", "100k", "1Zi",
        ]
        .iter()
        .map(|text| json!(text))
        .collect();
        ask(
            s,
            json!({"type": "string", "maxLength": 50}),
            &values,
            &rules,
        )
        .await;
    });
}

#[test]
fn semantic_versions() {
    run(async |s| {
        let rules = [
            "isSemver(self)",
            "isSemver(self, true)",
            "isSemver(self) && semver(self).major() == 1",
            "isSemver(self) && semver(self).minor() == 2 && semver(self).patch() == 3",
            "isSemver(self) && semver(self).isGreaterThan(semver('1.2.3-rc.1'))",
            "isSemver(self) && semver(self).isLessThan(semver('1.10.0'))",
            "isSemver(self) && semver(self).compareTo(semver('1.2.3+build')) == 0",
            "isSemver(self, true) && semver(self, true).compareTo(semver('1.2.0')) == 0",
            "semver(self).major() == 1",
        ];
        let values: Vec<_> = [
            "1.2.3",
            "v1.2",
            "1.2.3-rc.2",
            "1.2.3-rc.10",
            "01.2.3",
            "1.2.3+b.1",
            "1",
            "1.2.3-",
            "",
            "x.y.z",
            "1.2.3-α",
            "v01.002.0",
        ]
        .iter()
        .map(|text| json!(text))
        .collect();
        ask(
            s,
            json!({"type": "string", "maxLength": 50}),
            &values,
            &rules,
        )
        .await;
    });
}

#[test]
fn named_formats() {
    run(async |s| {
        let rules = [
            "!format.dns1123Label().validate(self).hasValue()",
            "!format.dns1123Subdomain().validate(self).hasValue()",
            "!format.dns1035Label().validate(self).hasValue()",
            "!format.qualifiedName().validate(self).hasValue()",
            "!format.dns1123LabelPrefix().validate(self).hasValue()",
            "!format.dns1123SubdomainPrefix().validate(self).hasValue()",
            "!format.dns1035LabelPrefix().validate(self).hasValue()",
            "!format.labelValue().validate(self).hasValue()",
            "!format.uri().validate(self).hasValue()",
            "!format.uuid().validate(self).hasValue()",
            "!format.byte().validate(self).hasValue()",
            "!format.date().validate(self).hasValue()",
            "!format.datetime().validate(self).hasValue()",
            "format.named('dns1123Label').hasValue() && !format.named('nope').hasValue()",
        ];
        let values: Vec<_> = [
            "abc",
            "a.b",
            "1a",
            "a-",
            "A_b",
            "https://a.b/c",
            "aGVsbG8=",
            "123e4567-e89b-12d3-a456-426614174000",
            "2020-01-02",
            "2020-01-02T03:04:05Z",
            "x/y",
            "",
        ]
        .iter()
        .map(|text| json!(text))
        .collect();
        ask(
            s,
            json!({"type": "string", "maxLength": 50}),
            &values,
            &rules,
        )
        .await;
    });
}

#[test]
fn times() {
    run(async |s| {
        let rules = [
            "self > timestamp('2020-01-01T00:00:00Z')",
            "self - timestamp('2020-01-01T00:00:00Z') < duration('24h')",
            "self + duration('1h') > self",
            "self.getFullYear() == 2020 && self.getMonth() == 1 && self.getDayOfMonth() == 28",
            "self.getDate() == 29 && self.getDayOfYear() == 59 && self.getDayOfWeek() == 6",
            "self.getHours() == 12 && self.getMinutes() == 30 && self.getSeconds() == 15",
            "self.getMilliseconds() == 500",
            "self.getHours('02:00') == 14 && self.getHours('-03:30') == 9",
            "string(self) == '2020-02-29T12:30:15.5Z'",
            "int(self) == 1582979415",
            "self == timestamp('2020-02-29T13:30:15.5+01:00')",
            "timestamp(0) < self",
        ];
        let schema = json!({"type": "string", "format": "date-time"});
        let values = [
            json!("2020-02-29T12:30:15.5Z"),
            json!("2020-02-29T12:30:15.500+02:00"),
            json!("1999-12-31T23:59:59Z"),
        ];
        ask(s, schema, &values, &rules).await;
    });
}

#[test]
fn durations() {
    run(async |s| {
        let rules = [
            "self > duration('1m')",
            "self + duration('30s') == duration('2m')",
            "self.getHours() == 1 && self.getMinutes() == 90",
            "self.getSeconds() == 90 && self.getMilliseconds() == 90000",
            "string(self) == '90s'",
            "int(self) == 90000000000",
            "-1 * int(self) < 0",
            "duration('1h30m') == duration('90m')",
        ];
        let schema = json!({"type": "string", "format": "duration"});
        let values = [
            json!("90s"),
            json!("1h30m"),
            json!("1.5ms"),
            json!("2 days"),
        ];
        ask(s, schema, &values, &rules).await;
    });
}

#[test]
fn dates_and_bytes() {
    run(async |s| {
        let schema = json!({"type": "object", "x-kubernetes-validations": [
            {"rule": "!has(self.d) || self.d > timestamp('2020-01-01T00:00:00Z')"},
            {"rule": "!has(self.b) || self.b == b'hello'"},
            {"rule": "!has(self.b) || size(self.b) == 5"},
            {"rule": "!has(self.b) || string(self.b) == 'hello'"},
        ], "properties": {
            "d": {"type": "string", "format": "date"},
            "b": {"type": "string", "format": "byte"},
        }});
        super::things(s, schema).await;
        super::each(
            s,
            &[
                json!({"d": "2020-01-02"}),
                json!({"d": "2019-01-02"}),
                json!({"b": "aGVsbG8="}),
                json!({"b": "d29ybGQh"}),
            ],
        )
        .await;
    });
}
