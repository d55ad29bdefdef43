use serde_json::json;

use super::*;

fn env() -> Env {
    Env {
        variables: [("x".to_owned(), Type::Dyn), ("n".to_owned(), Type::Int)].into(),
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

/// What doubles with each step, although nothing in it is there twice.
fn doubled(steps: usize) -> String {
    format!("dyn([0]{})", ".map(a, dyn([a, a]))".repeat(steps))
}

#[test]
fn what_functions_do_is_bounded() {
    let large = doubled(40);
    let long = "a".repeat(1_000_000);
    let value = json!({"s": long, "l": vec!["a"; 400_000]});
    for text in [
        format!("{large} == {large}"),
        format!("[{large}].exists(v, v == v)"),
        format!("'%s'.format([{large}]) == ''"),
        format!("{large}.flatten(50).size() == 0"),
        format!("[{large}, {large}].distinct().size() == 1"),
        format!("true && ({large} == {large} || true)"),
        "lists.range(100000).distinct().size() == 1".to_owned(),
        "sets.equivalent(lists.range(100000), lists.range(100000).reverse())".to_owned(),
        "sets.intersects(lists.range(100000), lists.range(50000).map(i, -i - 1))".to_owned(),
        "lists.range(100000).map(i, '').join(x.s) == ''".to_owned(),
        "lists.range(100000).map(i, x.s + 'b').size() == 1".to_owned(),
        "x.l.sort() == x.l && x.l.sort() == x.l && x.l.sort() == x.l".to_owned(),
        format!("(x.l{}).size() == 1", " + x.l".repeat(9)),
        format!("(x.s{}).size() == 1", " + x.s".repeat(20)),
        "'%s%s%s%s%s%s%s%s%s'.format(lists.range(9).map(i, x.s)) == ''".to_owned(),
        "(x.s + x.s + x.s).split('').size() == 0".to_owned(),
        "x.s.replace('a', x.s) == ''".to_owned(),
        "x.s.findAll('.*b|a').size() == 1".to_owned(),
        format!("x.s.matches('^({})*$')", vec!["a"; 30].join("|")),
        format!("x.s.find('({})b') == ''", vec!["a"; 30].join("|")),
        "lists.range(10000).all(i, !'x'.matches('y' + string(i)))".to_owned(),
    ] {
        budget::renew();
        let program = Program::compile(&text, &env()).unwrap();
        let outcome = program.eval(&Known(free(&value)));
        let fault = outcome.unwrap_err().0;
        let wanted = "operation cancelled: actual cost limit exceeded";
        assert_eq!(fault, wanted, "{text:.60}");
    }
}

#[test]
fn places_of_parts_are_found_at_once() {
    let value = json!({"s": "a".repeat(1_000_000), "t": format!("{}b", "a".repeat(500_000))});
    for (text, wanted) in [
        ("x.s.indexOf(x.t) == -1 && x.s.lastIndexOf(x.t) == -1", true),
        (
            "x.t.indexOf('b') == 500000 && x.t.lastIndexOf('a') == 499999",
            true,
        ),
        (
            "'héhé'.indexOf('é') == 1 && 'héhé'.indexOf('é', 2) == 3",
            true,
        ),
        (
            "'héhé'.lastIndexOf('é') == 3 && 'héhé'.lastIndexOf('é', 2) == 1",
            true,
        ),
        (
            "'héhé'.lastIndexOf('h', 0) == 0 && 'ab'.lastIndexOf('aé', 0) == -1",
            true,
        ),
        (
            "'éa'.indexOf('a', 7) == -1 && ''.lastIndexOf('a') == -1",
            true,
        ),
    ] {
        budget::renew();
        let program = Program::compile(text, &env()).unwrap();
        let outcome = program.eval(&Known(free(&value))).unwrap();
        assert_eq!(outcome.as_bool(), Some(wanted), "{text}");
    }
}

#[test]
fn texts_are_not_copied_for_a_look() {
    let value = json!({"s": "a".repeat(100_000)});
    let text = "[x.s + 'b'].all(s, [1].map(i, s) == [s] && {s: 1}.all(k, k == s))";
    budget::renew();
    let program = Program::compile(text, &env()).unwrap();
    let outcome = program.eval(&Known(free(&value)));
    assert_eq!(outcome.unwrap().as_bool(), Some(true));
    let made = Val::text("made".to_owned());
    let (Val::String(a), Val::String(b)) = (&made, &made.clone()) else {
        panic!("a text");
    };
    assert_eq!(a.as_ptr(), b.as_ptr());
}

#[test]
fn values_do_not_get_deeper_than_there_is_room() {
    let fine = format!("dyn([x]{}).size() == 1", ".map(a, dyn([a]))".repeat(90));
    assert_eq!(run(&fine), Ok(true));
    for step in ["dyn([a])", "dyn({1: a})", "dyn(optional.of(a))"] {
        let text = format!(
            "dyn([x]{}).size() == 1",
            format!(".map(a, {step})").repeat(3_000)
        );
        let why = "operation cancelled: actual cost limit exceeded";
        assert_eq!(run(&text), Err(why.to_owned()), "{step}");
    }
}

#[test]
fn types_do_not_double_without_end() {
    for step in ["{a: a}", "[{a: a}]", "{a: [a]}"] {
        let text = format!("[0]{}.size() == 1", format!(".map(a, {step})").repeat(40));
        let error = run(&text).unwrap_err();
        let why = "the types of the expression are too large";
        assert!(error.contains(why), "{step}: {error:.200}");
    }
    let text = format!("[0]{}.size() == 1", ".map(a, [a])".repeat(40));
    assert_eq!(run(&text), Ok(true));
}

#[test]
fn a_long_name_is_read_once() {
    let text = format!("has(x{})", ".a".repeat(9_000));
    assert_eq!(run(&text), Err("no such overload".to_owned()));
}

#[test]
fn a_sort_of_what_has_no_order_says_so() {
    let numbers: Vec<String> = (0..200).map(|i| format!("{i}.0, 0.0 / 0.0")).collect();
    let text = format!("[{}].sort().size() == 1", numbers.join(", "));
    assert_eq!(run(&text), Err("NaN values cannot be ordered".to_owned()));
}
