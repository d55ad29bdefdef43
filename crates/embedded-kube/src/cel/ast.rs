//! Expressions as trees.

/// How many parts a name may have that means something as a whole.
const MAX_PARTS: usize = 16;

/// A part of an expression, and where it begins in the text.
#[derive(Clone, Debug)]
pub(super) struct Expr {
    pub(super) at: usize,
    /// How many levels are below it, itself included.
    pub(super) depth: usize,
    pub(super) node: Node,
}

#[derive(Clone, Debug)]
pub(super) enum Node {
    Literal(Literal),
    Name(String),
    Select(Box<Select>),
    /// `&&` (true) or `||` of any number of terms.
    Logic(bool, Vec<Expr>),
    Choice(Box<[Expr; 3]>),
    Call(Box<Call>),
    /// The items, each with whether it is optional.
    List(Vec<(Expr, bool)>),
    /// Keys and values, each with whether the value is optional.
    Map(Vec<(Expr, Expr, bool)>),
    /// Something that looks like a message of this name.
    Struct(String),
    Loop(Box<Loop>),
}

/// A constant.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Literal {
    Null,
    Bool(bool),
    Int(i64),
    /// An integer before its sign is known.
    Magnitude(u64),
    Uint(u64),
    Double(f64),
    String(String),
    Bytes(Vec<u8>),
}

/// `operand.field`, `has(operand.field)` or `operand.?field`.
#[derive(Clone, Debug)]
pub(super) struct Select {
    pub(super) operand: Expr,
    pub(super) field: String,
    pub(super) how: How,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum How {
    Get,
    Has,
    Optional,
}

/// A call of a function or an operator.
#[derive(Clone, Debug)]
pub(super) struct Call {
    pub(super) function: String,
    pub(super) target: Option<Expr>,
    pub(super) args: Vec<Expr>,
    /// Which overloads fit by their types; the check finds them.
    pub(super) overloads: Vec<usize>,
}

/// What a macro repeats over the items of a list or a map.
#[derive(Clone, Debug)]
pub(super) struct Loop {
    pub(super) kind: LoopKind,
    pub(super) range: Expr,
    pub(super) variable: String,
    /// With it the first variable is the index or the key, and this one the value.
    pub(super) second: Option<String>,
    pub(super) filter: Option<Expr>,
    pub(super) body: Expr,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LoopKind {
    All,
    Exists,
    ExistsOne,
    Map,
    Filter,
    TransformMap,
    TransformMapEntry,
    SortBy,
    /// The range is an optional, and the body its new content.
    OptMap,
    /// The same with a body that is an optional.
    OptFlatMap,
}

impl Expr {
    pub(super) fn new(at: usize, node: Node) -> Self {
        let depth = 1 + match &node {
            Node::Literal(_) | Node::Name(_) | Node::Struct(_) => 0,
            Node::Select(select) => select.operand.depth,
            Node::Logic(_, terms) => deepest(terms.iter()),
            Node::Choice(parts) => deepest(parts.iter()),
            Node::Call(call) => deepest(call.target.iter().chain(&call.args)),
            Node::List(items) => deepest(items.iter().map(|(item, _)| item)),
            Node::Map(entries) => deepest(entries.iter().flat_map(|(key, value, _)| [key, value])),
            Node::Loop(body) => deepest([&body.range, &body.body].into_iter().chain(&body.filter)),
        };
        Self { at, depth, node }
    }

    pub(super) fn call(at: usize, function: &str, args: Vec<Expr>) -> Self {
        Self::new(
            at,
            Node::Call(Box::new(Call {
                function: function.to_owned(),
                target: None,
                args,
                overloads: Vec::new(),
            })),
        )
    }

    /// `a.b.c`, if it is nothing but names, and few of them: each longer one is asked for this.
    pub(super) fn qualified(&self) -> Option<String> {
        if self.depth > MAX_PARTS {
            return None;
        }
        match &self.node {
            Node::Name(name) => Some(name.clone()),
            Node::Select(select) if select.how == How::Get => {
                let prefix = select.operand.qualified()?;
                Some(format!("{prefix}.{}", select.field))
            }
            _ => None,
        }
    }
}

fn deepest<'a>(parts: impl Iterator<Item = &'a Expr>) -> usize {
    parts.map(|part| part.depth).max().unwrap_or(0)
}
