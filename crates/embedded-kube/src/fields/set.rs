//! A set of fields, as a tree.

use serde_json::{Map, Value, json};

use super::element::Element;
use super::shape::Ref;

/// Fields below one place, in the order of their elements.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Set {
    nodes: Vec<(Element, Node)>,
}

/// One place: whether it is in the set itself, and what is below it. A place that is not and has
/// nothing below it is in no set.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Node {
    pub(super) member: bool,
    pub(super) below: Set,
}

impl Node {
    pub(super) fn is_empty(&self) -> bool {
        !self.member && self.below.is_empty()
    }
}

impl Set {
    pub(crate) fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// A set of these paths, each of field names.
    pub(super) fn of_names(paths: &[&[&str]]) -> Self {
        let mut set = Self::default();
        for path in paths {
            set.insert(path.iter().map(|name| Element::field(name)));
        }
        set
    }

    /// Adds a path; those above it are not added.
    pub(super) fn insert(&mut self, path: impl IntoIterator<Item = Element>) {
        let mut path = path.into_iter();
        let Some(mut element) = path.next() else {
            return;
        };
        let mut set = self;
        for next in path {
            set = &mut set.descend(element).below;
            element = next;
        }
        set.descend(element).member = true;
    }

    fn descend(&mut self, element: Element) -> &mut Node {
        let at = match self.find(&element) {
            Ok(at) => at,
            Err(at) => {
                self.nodes.insert(at, (element, Node::default()));
                at
            }
        };
        &mut self.nodes[at].1
    }

    fn find(&self, element: &Element) -> Result<usize, usize> {
        self.nodes.binary_search_by(|(known, _)| known.cmp(element))
    }

    /// Puts a node into its place, beside or onto what is there.
    pub(super) fn attach(&mut self, element: Element, node: Node) {
        if node.is_empty() {
            return;
        }
        // What is walked in order arrives in order.
        if self.nodes.last().is_none_or(|(last, _)| *last < element) {
            self.nodes.push((element, node));
            return;
        }
        let known = self.descend(element);
        known.member |= node.member;
        known.below = known.below.union(&node.below);
    }

    pub(super) fn get(&self, element: &Element) -> Option<&Node> {
        let at = self.find(element).ok()?;
        Some(&self.nodes[at].1)
    }

    /// Whether a path is in the set.
    pub(crate) fn has(&self, path: &[Element]) -> bool {
        let Some((last, above)) = path.split_last() else {
            return false;
        };
        let found = above.iter().try_fold(self, |set, element| {
            set.get(element).map(|node| &node.below)
        });
        found
            .and_then(|set| set.get(last))
            .is_some_and(|node| node.member)
    }

    /// The places right below, with what is there.
    pub(super) fn nodes(&self) -> impl Iterator<Item = (&Element, &Node)> {
        self.nodes.iter().map(|(element, node)| (element, node))
    }

    /// What is in either.
    pub(crate) fn union(&self, other: &Self) -> Self {
        self.combine(other, true, true, |a, b| Node {
            member: a.member || b.member,
            below: a.below.union(&b.below),
        })
    }

    /// The same, where both are given away.
    pub(super) fn and(self, other: Self) -> Self {
        if self.is_empty() {
            other
        } else if other.is_empty() {
            self
        } else {
            self.union(&other)
        }
    }

    /// Takes out what is in the other one.
    pub(super) fn subtract(&mut self, other: &Self) {
        for (element, taken) in &other.nodes {
            if let Ok(at) = self.find(element) {
                let node = &mut self.nodes[at].1;
                node.member &= !taken.member;
                node.below.subtract(&taken.below);
                if node.is_empty() {
                    self.nodes.remove(at);
                }
            }
        }
    }

    /// What is in both.
    pub(crate) fn intersection(&self, other: &Self) -> Self {
        self.combine(other, false, false, |a, b| Node {
            member: a.member && b.member,
            below: a.below.intersection(&b.below),
        })
    }

    /// What is in this one only.
    pub(crate) fn difference(&self, other: &Self) -> Self {
        self.combine(other, true, false, |a, b| Node {
            member: a.member && !b.member,
            below: a.below.difference(&b.below),
        })
    }

    /// The same, without what is below anything in the other one.
    pub(crate) fn without(mut self, other: &Self) -> Self {
        for (element, taken) in &other.nodes {
            if let Ok(at) = self.find(element) {
                let node = &mut self.nodes[at].1;
                if !taken.member {
                    node.below = std::mem::take(&mut node.below).without(&taken.below);
                }
                if taken.member || node.is_empty() {
                    self.nodes.remove(at);
                }
            }
        }
        self
    }

    /// Walks both in order; `left` and `right` say whether what is in one only stays.
    fn combine(
        &self,
        other: &Self,
        left: bool,
        right: bool,
        both: impl Fn(&Node, &Node) -> Node,
    ) -> Self {
        let mut nodes = Vec::new();
        let (mut ours, mut theirs) = (self.nodes.iter().peekable(), other.nodes.iter().peekable());
        loop {
            let order = match (ours.peek(), theirs.peek()) {
                (Some((a, _)), Some((b, _))) => a.cmp(b),
                (Some(_), None) => std::cmp::Ordering::Less,
                (None, Some(_)) => std::cmp::Ordering::Greater,
                (None, None) => break,
            };
            let ours = if order.is_le() { ours.next() } else { None };
            let theirs = if order.is_ge() { theirs.next() } else { None };
            match (ours, theirs) {
                (Some((element, a)), Some((_, b))) => {
                    let node = both(a, b);
                    if !node.is_empty() {
                        nodes.push((element.clone(), node));
                    }
                }
                (Some(one), None) if left => nodes.push(one.clone()),
                (None, Some(one)) if right => nodes.push(one.clone()),
                _ => {}
            }
        }
        Self { nodes }
    }

    /// The same set with every field of a struct that something below is in: a set of `a.b` has `a`
    /// as well, if that is a field and not a key of a map.
    pub(crate) fn with_named(&self, at: Option<Ref<'_>>) -> Self {
        let atom = at.map(Ref::atom).unwrap_or_default();
        let nodes = self.nodes.iter().map(|(element, node)| {
            let (mut member, mut next) = (node.member, None);
            if let (Some(name), Some(map)) = (element.name(), &atom.map) {
                let field = map.field(name);
                member |= field.is_some() && !node.below.is_empty();
                next = field.or(map.other);
            } else if let (Element::Key(_), Some(list)) = (element, &atom.list) {
                next = Some(list.item);
            }
            let below = node.below.with_named(next);
            (element.clone(), Node { member, below })
        });
        Self {
            nodes: nodes.collect(),
        }
    }

    /// All paths, each place before what is below it, the members of a place before its children.
    pub(crate) fn paths(&self) -> Vec<Vec<Element>> {
        let mut paths = Vec::new();
        self.walk(&mut Vec::new(), &mut paths);
        paths
    }

    fn walk(&self, above: &mut Vec<Element>, paths: &mut Vec<Vec<Element>>) {
        for (element, node) in &self.nodes {
            if node.member {
                let mut path = above.clone();
                path.push(element.clone());
                paths.push(path);
            }
        }
        for (element, node) in &self.nodes {
            above.push(element.clone());
            node.below.walk(above, paths);
            above.pop();
        }
    }

    /// How deep `fieldsV1` nests.
    pub(super) fn levels(&self) -> usize {
        let below = self.nodes.iter().map(|(_, node)| node.below.levels());
        1 + below.max().unwrap_or(0)
    }

    /// As `fieldsV1`.
    pub(crate) fn encode(&self) -> Value {
        let mut map = Map::new();
        self.write(&mut map);
        Value::Object(map)
    }

    fn write(&self, map: &mut Map<String, Value>) {
        for (element, node) in &self.nodes {
            let mut inner = Map::new();
            if node.member && !node.below.is_empty() {
                inner.insert(".".to_owned(), json!({}));
            }
            node.below.write(&mut inner);
            map.insert(element.encode(), Value::Object(inner));
        }
    }

    /// From `fieldsV1`.
    pub(crate) fn decode(value: &Value) -> Result<Self, String> {
        Ok(read(value)?.below)
    }
}

/// A part of `fieldsV1`: an object without anything is the place itself.
fn read(value: &Value) -> Result<Node, String> {
    let mut node = Node::default();
    let map = match value {
        Value::Object(map) => map,
        Value::Null => {
            node.member = true;
            return Ok(node);
        }
        _ => return Err("expect { or n".to_owned()),
    };
    let mut parts = Vec::with_capacity(map.len());
    for (key, value) in map {
        if key == "." {
            node.member = true;
        } else if let Some(element) = Element::decode(key)? {
            parts.push((element, read(value)?));
        }
    }
    // In order, so that each is put behind those before it.
    parts.sort_by(|(a, _), (b, _)| a.cmp(b));
    for (element, below) in parts {
        node.below.attach(element, below);
    }
    node.member |= node.below.is_empty();
    Ok(node)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(value: Value) -> Set {
        Set::decode(&value).unwrap()
    }

    #[test]
    fn sets_are_written_as_they_are_read() {
        let fields =
            json!({"f:a": {".": {}, "f:b": {}, "k:{\"n\":\"x\"}": {"f:c": {}}}, "f:d": {}});
        assert_eq!(set(fields.clone()).encode(), fields);
        assert_eq!(set(json!({})).encode(), json!({}));
        assert_eq!(set(json!({"f:a": {".": {}}})), set(json!({"f:a": {}})));
        assert_eq!(
            set(json!({"x:a": {}, "f:b": null})),
            set(json!({"f:b": {}}))
        );
        assert!(Set::decode(&json!({"f:a": 1})).is_err());
        assert!(Set::decode(&json!({"a": {}})).is_err());
    }

    #[test]
    fn sets_are_combined() {
        let (a, b) = (
            set(json!({"f:a": {".": {}, "f:x": {}}, "f:b": {}})),
            set(json!({"f:a": {}, "f:c": {"f:y": {}}})),
        );
        assert_eq!(
            a.union(&b).encode(),
            json!({"f:a": {".": {}, "f:x": {}}, "f:b": {}, "f:c": {"f:y": {}}})
        );
        assert_eq!(a.intersection(&b).encode(), json!({"f:a": {}}));
        assert_eq!(
            a.difference(&b).encode(),
            json!({"f:a": {"f:x": {}}, "f:b": {}})
        );
        assert_eq!(a.clone().without(&b).encode(), json!({"f:b": {}}));
        let mut left = a.clone();
        left.subtract(&b);
        assert_eq!(left, a.difference(&b));
        assert!(a.has(&[Element::field("a"), Element::field("x")]));
        assert!(!b.has(&[Element::field("c")]));
        let shown: Vec<String> = a
            .paths()
            .iter()
            .map(|path| path.iter().map(ToString::to_string).collect())
            .collect();
        assert_eq!(shown, [".a", ".b", ".a.x"]);
    }
}
