use serde_json::json;

use super::*;

fn env() -> Env {
    Env {
        variables: vec![("x".to_owned(), Type::Dyn), ("n".to_owned(), Type::Int)],
    }
}

fn run(text: &str) -> Result<bool, String> {
    budget::renew();
    let program = Program::compile(text, &env())?;
    let value = json!({"a": 1, "l": [3, 1, 2], "m": {"k": "v"}, "s": "héllo", "z": null});
    let variables = Known(free(&value));
    let value = program.eval(&variables);
    let value = value.map_err(|fault| fault.0.into_owned())?;
    value.as_bool().ok_or_else(|| "no bool".to_owned())
}

struct Known<'a>(Val<'a>);

impl<'a> Variables<'a> for Known<'a> {
    fn get(&self, name: &str) -> Option<Outcome<'a>> {
        match name {
            "x" => Some(Ok(self.0.clone())),
            "n" => Some(Ok(Val::Int(5))),
            _ => None,
        }
    }
}

#[test]
fn expressions_are_true() {
    for text in [
        "1 + 2 * 3 == 7 && -n == -5",
        "x.a == 1 && x['a'] == 1 && !has(x.b) && has(x.m.k)",
        "x.l.all(i, i > 0) && x.l.exists(i, i == 2) && x.l.exists_one(i, i == 3)",
        "x.l.map(i, i * 2) == [6, 2, 4] && x.l.filter(i, i > 1) == [3, 2]",
        "x.l.sort() == [1, 2, 3] && x.l.sortBy(i, -i) == [3, 2, 1] && x.l.sum() == 6",
        "size(x.s) == 5 && x.s.matches('^h.l+o$') && x.s.find('l+') == 'll'",
        "x.?b.orValue(7) == 7 && x.?m.?k.hasValue() && !x.?m.?q.hasValue()",
        "x.m.?k.optMap(v, v + '!').value() == 'v!'",
        "[1, 2].all(i, v, i < v) && {'a': 1}.transformMap(k, v, v + 1) == {'a': 2}",
        "quantity('1Gi').isGreaterThan(quantity('1000Mi')) && quantity('1k').asInteger() == 1000",
        "ip('10.0.0.1').family() == 4 && cidr('10.0.0.0/8').containsIP('10.1.2.3')",
        "url('https://a.b:80/c?d=e').getHostname() == 'a.b' && isURL('https://x/y')",
        "semver('1.2.3').isLessThan(semver('1.10.0')) && isSemver('v1.2', true)",
        "'%s-%d'.format(['a', 1]) == 'a-1' && 'a,b'.split(',').join('-') == 'a-b'",
        "!format.dns1123Label().validate('abc').hasValue()",
        "duration('1h') > duration('59m') && timestamp('2026-01-01T00:00:00Z').getFullYear() == 2026",
        "type(n) == int && type(x.s) == string && dyn(1) == 1.0",
        "sets.contains([1, 2], [2]) && lists.range(3) == [0, 1, 2]",
        "true || x.nothing.here",
        "x.z == null && [?x.?a, ?x.?b] == [1]",
        "'é'.charAt(0) == 'é' && 'abc'.substring(1, 2) == 'b' && 'tacocat'.lastIndexOf('ac') == 1",
    ] {
        assert_eq!(run(text), Ok(true), "{text}");
    }
}

#[test]
fn what_has_no_value_says_why() {
    for (text, why) in [
        ("x.b == 1", "no such key: b"),
        ("x.l[9] == 1", "index out of bounds: 9"),
        ("1 / (n - 5) == 1", "division by zero"),
        ("x.s > 1", "no such overload"),
        ("9223372036854775807 + n > 0", "integer overflow"),
        ("x.l.all(i, i.foo)", "no such overload"),
        (
            "lists.range(2000000).size() > 0",
            "operation cancelled: actual cost limit exceeded",
        ),
    ] {
        assert_eq!(run(text), Err(why.to_owned()), "{text}");
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    for (text, why) in [
        (
            "n == 'a'",
            "found no matching overload for '_==_' applied to '(int, string)'",
        ),
        ("y > 1", "undeclared reference to 'y' (in container '')"),
        ("n.foo", "type 'int' does not support field selection"),
        ("n && true", "expected type 'bool' but found 'int'"),
        (
            "n.startsWith('a')",
            "found no matching overload for 'startsWith' applied to 'int.(string)'",
        ),
        ("[1].all(i, i)", "expected type 'bool' but found 'int'"),
        (
            "n.all(i, true)",
            "expression of type 'int' cannot be range of a comprehension (must be list, map, or dynamic)",
        ),
        (
            "nope(1)",
            "undeclared reference to 'nope' (in container '')",
        ),
        (
            "duration('1x') > duration('1s')",
            "invalid duration argument",
        ),
    ] {
        let error = run(text).unwrap_err();
        assert!(error.contains(why), "{text}: {error}");
    }
    assert_eq!(
        run("n == 1 && n.b").unwrap_err(),
        "compilation failed: ERROR: <input>:1:12: type 'int' does not support field selection\n | n == 1 && n.b\n | \
         ...........^"
    );
}

#[test]
fn long_chains_are_no_danger() {
    let text = format!("{} > 0", vec!["n"; 5_000].join(" + "));
    assert_eq!(run(&text), Ok(true));
    let text = vec!["n == 5"; 5_000].join(" && ");
    assert_eq!(run(&text), Ok(true));
}

#[test]
fn work_is_bounded_whatever_it_is() {
    let numbers: Vec<usize> = (0..400_000).collect();
    let value = json!({"l": numbers, "o": {"p": numbers}});
    for text in [
        "x.l.all(i, has(x.l))",
        "x.l.all(i, x.o == x.o)",
        "x.l.all(i, x.l.size() > 0)",
        "x.l.all(i, 7 in x.l)",
        "x.l.map(i, x.l).size() > 0",
    ] {
        budget::renew();
        let program = Program::compile(text, &env()).unwrap();
        let outcome = program.eval(&Known(free(&value)));
        let fault = outcome.unwrap_err().0;
        assert!(fault.starts_with("operation cancelled"), "{text}: {fault}");
    }
}
