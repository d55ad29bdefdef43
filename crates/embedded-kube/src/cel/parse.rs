//! From text to a tree, with the macros read as what they mean.

use super::ast::{Call, Expr, How, Literal, Loop, LoopKind, Node, Select};
use super::lex::{self, Kind, Token};
use super::source::Issue;
use crate::deep;

/// How deep brackets may nest.
const MAX_NESTING: usize = 250;
/// How many characters an expression may have.
const MAX_LENGTH: usize = 100_000;

/// Words that no expression may use for a name.
pub(super) const RESERVED: [&str; 17] = [
    "as",
    "break",
    "const",
    "continue",
    "else",
    "for",
    "function",
    "if",
    "import",
    "let",
    "loop",
    "package",
    "namespace",
    "return",
    "var",
    "void",
    "while",
];

/// Reads an expression.
pub(super) fn parse(source: &str) -> Result<Expr, Vec<Issue>> {
    let length = source.chars().count();
    if length > MAX_LENGTH {
        let message =
            format!("expression code point size exceeds limit: size: {length}, limit {MAX_LENGTH}");
        return Err(vec![Issue::new(0, message)]);
    }
    let tokens = lex::tokens(source).map_err(|issue| vec![issue])?;
    let mut parser = Parser {
        tokens,
        next: 0,
        nesting: 0,
        issues: Vec::new(),
    };
    // A level needs a word. What is not taken is dropped in there as well.
    let parsed = deep::with_room(parser.tokens.len(), || {
        let expr = parser.expression()?;
        parser.end()?;
        Ok(parser.issues.is_empty().then_some(expr))
    });
    match parsed {
        Ok(Some(expr)) => Ok(expr),
        Ok(None) => Err(parser.issues),
        Err(issue) => {
            parser.issues.push(issue);
            Err(parser.issues)
        }
    }
}

struct Parser {
    tokens: Vec<Token>,
    next: usize,
    nesting: usize,
    /// Complaints that do not keep the rest from being read.
    issues: Vec<Issue>,
}

type Parsed = Result<Expr, Issue>;

impl Parser {
    fn peek(&self) -> &Token {
        // The last word is the end, and nobody goes beyond it.
        &self.tokens[self.next.min(self.tokens.len() - 1)]
    }

    fn advance(&mut self) -> Token {
        let token = self.peek().clone();
        self.next += 1;
        token
    }

    fn is(&self, sign: &str) -> bool {
        matches!(&self.peek().kind, Kind::Sign(found) if *found == sign)
    }

    /// Takes the sign if it is next; the answer is where it was.
    fn take(&mut self, sign: &str) -> Option<usize> {
        self.is(sign).then(|| self.advance().at)
    }

    fn want(&mut self, sign: &str) -> Result<usize, Issue> {
        self.take(sign).ok_or_else(|| self.unexpected(sign))
    }

    fn unexpected(&self, wanted: &str) -> Issue {
        let token = self.peek();
        let shown = match &token.kind {
            Kind::End => "<EOF>".to_owned(),
            Kind::Sign(sign) => (*sign).to_owned(),
            Kind::Name(name) => name.clone(),
            Kind::Literal(_) => "a literal".to_owned(),
        };
        let message = format!("Syntax error: mismatched input '{shown}' expecting '{wanted}'");
        Issue::new(token.at, message)
    }

    fn end(&self) -> Result<(), Issue> {
        if self.peek().kind == Kind::End {
            Ok(())
        } else {
            Err(self.unexpected("<EOF>"))
        }
    }

    fn name(&mut self) -> Result<(usize, String), Issue> {
        let token = self.peek().clone();
        match token.kind {
            Kind::Name(name) => {
                self.next += 1;
                Ok((token.at, name))
            }
            _ => Err(self.unexpected("IDENTIFIER")),
        }
    }

    fn expression(&mut self) -> Parsed {
        self.nesting += 1;
        if self.nesting > MAX_NESTING {
            let message = format!("expression recursion limit exceeded: {MAX_NESTING}");
            return Err(Issue::new(self.peek().at, message));
        }
        let condition = self.logic("||")?;
        let result = if let Some(at) = self.take("?") {
            let yes = self.logic("||")?;
            self.want(":")?;
            let no = self.expression()?;
            Expr::new(at, Node::Choice(Box::new([condition, yes, no])))
        } else {
            condition
        };
        self.nesting -= 1;
        Ok(result)
    }

    fn logic(&mut self, sign: &'static str) -> Parsed {
        let term = |parser: &mut Self| {
            if sign == "||" {
                parser.logic("&&")
            } else {
                parser.relation()
            }
        };
        let first = term(self)?;
        let mut terms = vec![first];
        let mut place = None;
        while let Some(at) = self.take(sign) {
            place = Some(at);
            terms.push(term(self)?);
        }
        Ok(match place {
            Some(at) => Expr::new(at, Node::Logic(sign == "&&", terms)),
            None => terms.remove(0),
        })
    }

    fn relation(&mut self) -> Parsed {
        let signs = ["<", "<=", ">=", ">", "==", "!=", "in"];
        self.chain(&signs, |parser| {
            parser.chain(&["+", "-"], |parser| {
                parser.chain(&["*", "/", "%"], Self::unary)
            })
        })
    }

    fn chain(&mut self, signs: &[&'static str], term: impl Fn(&mut Self) -> Parsed) -> Parsed {
        let mut left = term(self)?;
        while let Some(sign) = signs.iter().find(|sign| self.is(sign)) {
            let at = self.advance().at;
            let right = term(self)?;
            let function = if *sign == "in" {
                "@in".to_owned()
            } else {
                format!("_{sign}_")
            };
            left = Expr::call(at, &function, vec![left, right]);
            if left.depth >= deep::MAX_DEPTH {
                return Err(Issue::new(at, "expression recursion limit exceeded"));
            }
        }
        Ok(left)
    }

    fn unary(&mut self) -> Parsed {
        for (sign, function) in [("!", "!_"), ("-", "-_")] {
            let Some(at) = self.take(sign) else { continue };
            let mut count = 1;
            while self.take(sign).is_some() {
                count += 1;
            }
            let token = self.peek().clone();
            if sign == "-" {
                // The sign belongs to the number.
                match token.kind {
                    Kind::Literal(Literal::Magnitude(value)) => {
                        self.next += 1;
                        let number = i64::try_from(-i128::from(value))
                            .map_err(|_| Issue::new(token.at, "invalid int literal"))?;
                        let literal = Expr::new(at, Node::Literal(Literal::Int(number)));
                        let inner = self.postfix(literal)?;
                        return Ok(repeat(inner, at, function, count - 1));
                    }
                    Kind::Literal(Literal::Double(value)) => {
                        self.next += 1;
                        let literal = Expr::new(at, Node::Literal(Literal::Double(-value)));
                        let inner = self.postfix(literal)?;
                        return Ok(repeat(inner, at, function, count - 1));
                    }
                    _ => {}
                }
            }
            let inner = self.member()?;
            return Ok(repeat(inner, at, function, count));
        }
        self.member()
    }

    fn member(&mut self) -> Parsed {
        let first = self.primary()?;
        self.postfix(first)
    }

    fn postfix(&mut self, mut expr: Expr) -> Parsed {
        loop {
            if expr.depth >= deep::MAX_DEPTH {
                return Err(Issue::new(expr.at, "expression recursion limit exceeded"));
            }
            if let Some(at) = self.take(".") {
                let optional = self.take("?").is_some();
                let (_, field) = self.name()?;
                if !optional && self.is("(") {
                    let open = self.advance().at;
                    let args = self.arguments(")")?;
                    expr = method(open, expr, field, args)?;
                    continue;
                }
                let how = if optional { How::Optional } else { How::Get };
                expr = select(at, expr, field, how);
            } else if let Some(at) = self.take("[") {
                let optional = self.take("?").is_some();
                let index = self.expression()?;
                self.want("]")?;
                let function = if optional { "_[?_]" } else { "_[_]" };
                expr = Expr::call(at, function, vec![expr, index]);
            } else if self.is("{") && expr.qualified().is_some() {
                let at = self.advance().at;
                let name = expr.qualified().unwrap_or_default();
                self.skip_fields()?;
                expr = Expr::new(at, Node::Struct(name));
            } else {
                return Ok(expr);
            }
        }
    }

    /// The fields of a message: there are no messages, so that nobody wants to know.
    fn skip_fields(&mut self) -> Result<(), Issue> {
        while self.take("}").is_none() {
            self.take("?");
            self.name()?;
            self.want(":")?;
            self.expression()?;
            if !self.is("}") {
                self.want(",")?;
            }
        }
        Ok(())
    }

    fn arguments(&mut self, close: &str) -> Result<Vec<Expr>, Issue> {
        let mut args = Vec::new();
        while self.take(close).is_none() {
            args.push(self.expression()?);
            if !self.is(close) {
                self.want(",")?;
                if close == ")" && self.is(close) {
                    return Err(self.unexpected("expression"));
                }
            }
        }
        Ok(args)
    }

    fn primary(&mut self) -> Parsed {
        let token = self.advance();
        let at = token.at;
        match token.kind {
            Kind::Literal(Literal::Magnitude(value)) => {
                let number =
                    i64::try_from(value).map_err(|_| Issue::new(at, "invalid int literal"))?;
                Ok(Expr::new(at, Node::Literal(Literal::Int(number))))
            }
            Kind::Literal(literal) => Ok(Expr::new(at, Node::Literal(literal))),
            Kind::Name(name) => self.named(at, name),
            Kind::Sign("(") => {
                let inner = self.expression()?;
                self.want(")")?;
                Ok(inner)
            }
            Kind::Sign("[") => {
                let mut items = Vec::new();
                while self.take("]").is_none() {
                    let optional = self.take("?").is_some();
                    items.push((self.expression()?, optional));
                    if !self.is("]") {
                        self.want(",")?;
                    }
                }
                Ok(Expr::new(at, Node::List(items)))
            }
            Kind::Sign("{") => {
                let mut entries = Vec::new();
                while self.take("}").is_none() {
                    let optional = self.take("?").is_some();
                    let key = self.expression()?;
                    self.want(":")?;
                    entries.push((key, self.expression()?, optional));
                    if !self.is("}") {
                        self.want(",")?;
                    }
                }
                Ok(Expr::new(at, Node::Map(entries)))
            }
            // A leading dot: the name is absolute, and there is nothing else here.
            Kind::Sign(".") => {
                let (at, name) = self.name()?;
                self.named(at, name)
            }
            _ => {
                self.next -= 1;
                Err(self.unexpected("expression"))
            }
        }
    }

    fn named(&mut self, at: usize, name: String) -> Parsed {
        if RESERVED.contains(&name.as_str()) {
            self.issues
                .push(Issue::new(at, format!("reserved identifier: {name}")));
        }
        if !self.is("(") {
            return Ok(Expr::new(at, Node::Name(name)));
        }
        let open = self.advance().at;
        let mut args = self.arguments(")")?;
        if name == "has" && args.len() == 1 {
            let arg = args.remove(0);
            return match arg.node {
                Node::Select(inner) if inner.how == How::Get => {
                    Ok(select(open, inner.operand, inner.field, How::Has))
                }
                _ => Err(Issue::new(arg.at, "invalid argument to has() macro")),
            };
        }
        Ok(Expr::call(open, &name, args))
    }
}

/// A call on a target, or a macro.
fn method(at: usize, target: Expr, function: String, args: Vec<Expr>) -> Parsed {
    let kind = match (function.as_str(), args.len()) {
        ("all", 2 | 3) => Some(LoopKind::All),
        ("exists", 2 | 3) => Some(LoopKind::Exists),
        ("exists_one" | "existsOne", 2 | 3) => Some(LoopKind::ExistsOne),
        ("map", 2 | 3) | ("transformList", 3 | 4) => Some(LoopKind::Map),
        ("filter", 2) => Some(LoopKind::Filter),
        ("transformMap", 3 | 4) => Some(LoopKind::TransformMap),
        ("transformMapEntry", 3 | 4) => Some(LoopKind::TransformMapEntry),
        ("sortBy", 2) => Some(LoopKind::SortBy),
        ("optMap", 2) => Some(LoopKind::OptMap),
        ("optFlatMap", 2) => Some(LoopKind::OptFlatMap),
        _ => None,
    };
    let Some(kind) = kind else {
        return Ok(Expr::new(
            at,
            Node::Call(Box::new(Call {
                function,
                target: Some(target),
                args,
                overloads: Vec::new(),
            })),
        ));
    };
    let two = match kind {
        LoopKind::All | LoopKind::Exists | LoopKind::ExistsOne => args.len() == 3,
        LoopKind::Map => function != "map",
        LoopKind::TransformMap | LoopKind::TransformMapEntry => true,
        _ => false,
    };
    let mut args = args.into_iter();
    let first = variable(args.next(), at, &function, two)?;
    let second = if two {
        let place = args.as_slice().first().map_or(at, |arg| arg.at);
        let second = variable(args.next(), at, &function, two)?;
        if second == first {
            let message = format!("duplicate variable name: {first}");
            return Err(Issue::new(place, message));
        }
        Some(second)
    } else {
        None
    };
    let missing = || Issue::new(at, "a macro without a body");
    let last = args.next().ok_or_else(missing)?;
    let (filter, body) = match args.next() {
        Some(body) => (Some(last), body),
        None => (None, last),
    };
    Ok(Expr::new(
        at,
        Node::Loop(Box::new(Loop {
            kind,
            range: target,
            variable: first,
            second,
            filter,
            body,
        })),
    ))
}

fn select(at: usize, operand: Expr, field: String, how: How) -> Expr {
    Expr::new(
        at,
        Node::Select(Box::new(Select {
            operand,
            field,
            how,
        })),
    )
}

/// The same sign twice is none.
fn repeat(inner: Expr, at: usize, function: &str, count: usize) -> Expr {
    if count.is_multiple_of(2) {
        inner
    } else {
        Expr::call(at, function, vec![inner])
    }
}

fn variable(arg: Option<Expr>, at: usize, function: &str, two: bool) -> Result<String, Issue> {
    let arg = arg.ok_or_else(|| Issue::new(at, "a macro without a variable"))?;
    let message = match (&arg.node, function) {
        (Node::Name(name), _) if name != "__result__" => return Ok(name.clone()),
        (Node::Name(_), _) => "iteration variable overwrites accumulator variable".to_owned(),
        (_, "optMap" | "optFlatMap") => {
            format!("{function}() variable name must be a simple identifier")
        }
        (_, "map" | "filter" | "sortBy") if !two => "argument is not an identifier".to_owned(),
        _ => "argument must be a simple name".to_owned(),
    };
    Err(Issue::new(arg.at, message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trees_are_as_deep_as_they_look() {
        for (source, depth) in [
            ("1", 1),
            ("a.b.c", 3),
            ("1 + 2 + 3", 3),
            ("a && b && c", 2),
            ("x.all(i, i > 0)", 3),
        ] {
            assert_eq!(parse(source).unwrap().depth, depth, "{source}");
        }
    }

    #[test]
    fn what_is_no_expression_is_refused() {
        for source in [
            "",
            "1 +",
            "(1",
            "a b",
            "has(a)",
            "x.all(1, true)",
            "for",
            "f(1,)",
            "x.map(i)[",
            "a ? b",
        ] {
            assert!(parse(source).is_err(), "{source}");
        }
        for deep in ["for", "1 +", "2 2"] {
            let source = format!("{}{deep}", "1+".repeat(9_000));
            assert!(parse(&source).is_err(), "{deep}");
        }
        let nested = format!("{}1{}", "(".repeat(300), ")".repeat(300));
        assert!(parse(&nested).is_err());
    }
}
