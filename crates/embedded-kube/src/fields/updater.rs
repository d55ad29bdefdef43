//! What a write does to the fields of the managers of an object, and where an apply conflicts.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::Value;

use super::compare::{Comparison, compare};
use super::element::{Element, same};
use super::entries::{Entry, Identity, Managed};
use super::merge::merge;
use super::remove::remove;
use super::set::{Node, Set};
use super::shape::Ref;
use super::typed::fields_of;

/// An object in one version, with its shape.
pub(super) struct Typed<'v, 'a> {
    pub(super) value: Cow<'v, Value>,
    pub(super) at: Ref<'a>,
}

impl<'a> Typed<'_, 'a> {
    fn borrow(&self) -> Typed<'_, 'a> {
        Typed {
            value: Cow::Borrowed(&self.value),
            at: self.at,
        }
    }

    fn less(&self, fields: &Set) -> Typed<'static, 'a> {
        Typed {
            value: Cow::Owned(remove(Some(self.at), &self.value, fields)),
            at: self.at,
        }
    }

    fn fields(&self) -> Result<Set, String> {
        fields_of(self.at, &self.value)
    }
}

/// Why an object cannot be had in another version.
pub(super) enum Unconvertible {
    /// There is no such version: whoever manages fields of it does so no longer.
    Missing,
    Broken(String),
}

/// The versions of a resource.
pub(super) trait Versions<'a> {
    /// The version that a request sees.
    fn own(&self) -> &str;

    /// The fields of a version that a request cannot change.
    fn reset(&self, version: &str) -> Option<&'static Set>;

    /// An object in another version.
    fn convert<'v>(
        &self,
        object: &'v Typed<'_, 'a>,
        version: &str,
    ) -> Result<Typed<'v, 'a>, Unconvertible>;
}

/// Why fields cannot be had.
#[derive(Debug)]
pub(super) enum Failure {
    /// Others manage these, and have other values for them.
    Conflicts(Vec<(Identity, Vec<Element>)>),
    Broken(String),
}

impl From<String> for Failure {
    fn from(why: String) -> Self {
        Self::Broken(why)
    }
}

/// The fields that a change sets; others lose them, and those that it removes.
pub(super) fn update<'a>(
    versions: &impl Versions<'a>,
    live: &Typed<'_, 'a>,
    new: &Typed<'_, 'a>,
    managed: &mut Managed,
) -> Result<Set, Failure> {
    reconcile_all(versions, live, managed)?;
    let comparison = settle(versions, live, new, managed, None, true)?;
    let set = comparison.modified.and(comparison.added);
    Ok(match versions.reset(versions.own()) {
        Some(reset) => set.without(reset),
        None => set,
    })
}

/// What an object becomes if this manager applies a configuration; nothing, if it stays as it is.
pub(super) fn apply<'a>(
    versions: &impl Versions<'a>,
    live: &Typed<'_, 'a>,
    config: &Typed<'_, 'a>,
    managed: &mut Managed,
    applier: &Identity,
    force: bool,
) -> Result<Option<Value>, Failure> {
    reconcile_all(versions, live, managed)?;
    let merged = merge(live.at, &live.value, &config.value)
        .map_err(|why| format!("failed to merge config: {why}"))?;
    let mut set = config
        .fields()
        .map_err(|why| format!("failed to get field set: {why}"))?;
    if let Some(reset) = versions.reset(versions.own()) {
        set = set.without(reset);
    }
    let last = managed.entries.get(applier).cloned();
    let entry = Entry {
        version: versions.own().to_owned(),
        set,
        time: last.as_ref().and_then(|last| last.time.clone()),
    };
    managed.entries.insert(applier.clone(), entry);
    let merged = Typed {
        value: Cow::Owned(merged),
        at: live.at,
    };
    let new = match last.filter(|last| !last.set.is_empty()) {
        None => merged,
        Some(last) => Typed {
            value: Cow::Owned(
                prune(versions, &merged, managed, &last)
                    .map_err(|why| format!("failed to prune fields: {why}"))?,
            ),
            at: live.at,
        },
    };
    settle(versions, live, &new, managed, Some(applier), force)?;
    if same(&live.value, &new.value) {
        return Ok(None);
    }
    Ok(Some(new.value.into_owned()))
}

/// Takes from all managers but one what a change gave another value, or removed.
fn settle<'a>(
    versions: &impl Versions<'a>,
    old: &Typed<'_, 'a>,
    new: &Typed<'_, 'a>,
    managed: &mut Managed,
    own: Option<&Identity>,
    force: bool,
) -> Result<Comparison, Failure> {
    let differences = |old: &Typed<'_, '_>, new: &Typed<'_, '_>, version: &str| {
        compare(old.at, &old.value, &new.value)
            .map(|found| found.without(versions.reset(version)))
            .map_err(|why| format!("failed to compare objects: {why}"))
    };
    let comparison = differences(old, new, versions.own())?;
    let mut others: BTreeMap<String, Comparison> = BTreeMap::new();
    let (mut losses, mut conflicts) = (Vec::new(), Vec::new());
    let mut gone = Vec::new();
    for (identity, entry) in &managed.entries {
        if own == Some(identity) {
            continue;
        }
        if entry.version != versions.own() && !others.contains_key(&entry.version) {
            let named = |what: &str, unconvertible| match unconvertible {
                Unconvertible::Broken(why) => {
                    Unconvertible::Broken(format!("failed to convert {what} object: {why}"))
                }
                missing @ Unconvertible::Missing => missing,
            };
            let old = versions.convert(old, &entry.version);
            let old = old.map_err(|error| named("old", error));
            let both = old.and_then(|old| {
                let new = versions.convert(new, &entry.version);
                Ok((old, new.map_err(|error| named("new", error))?))
            });
            match both {
                Ok((old, new)) => {
                    let found = differences(&old, &new, &entry.version)?;
                    others.insert(entry.version.clone(), found);
                }
                Err(Unconvertible::Missing) => {
                    gone.push(identity.clone());
                    continue;
                }
                Err(Unconvertible::Broken(why)) => return Err(Failure::Broken(why)),
            }
        }
        let found = others.get(&entry.version).unwrap_or(&comparison);
        let taken = entry.set.intersection(&found.modified.union(&found.added));
        let left = entry.set.difference(&taken).difference(&found.removed);
        if !taken.is_empty() {
            conflicts.push((identity.clone(), taken));
        }
        losses.push((identity.clone(), left));
    }
    if !force && !conflicts.is_empty() {
        let each = conflicts.into_iter().flat_map(|(identity, set)| {
            let paths = set.paths().into_iter();
            paths.map(move |path| (identity.clone(), path))
        });
        return Err(Failure::Conflicts(each.collect()));
    }
    for identity in gone {
        managed.entries.remove(&identity);
    }
    for (identity, left) in losses {
        if let Some(entry) = managed.entries.get_mut(&identity) {
            entry.set = left;
        }
    }
    managed.entries.retain(|_, entry| !entry.set.is_empty());
    Ok(comparison)
}

/// Takes from an object what its applier named the last time and names no longer, unless others
/// manage it.
fn prune<'a>(
    versions: &impl Versions<'a>,
    merged: &Typed<'_, 'a>,
    managed: &Managed,
    last: &Entry,
) -> Result<Value, String> {
    let converted = match versions.convert(merged, &last.version) {
        Ok(converted) => converted,
        Err(Unconvertible::Missing) => return Ok(merged.value.clone().into_owned()),
        Err(Unconvertible::Broken(why)) => {
            return Err(format!(
                "failed to convert merged object to last applied version: {why}"
            ));
        }
    };
    let at = Some(converted.at);
    let pruned = converted.less(&last.set.with_named(at));
    let pruned = add_back_owned(versions, &converted, pruned, managed, &last.version)
        .map_err(|why| format!("failed add back owned items: {why}"))?;
    let pruned = add_back_dangling(versions, &converted, &pruned, last)
        .map_err(|why| format!("failed add back dangling items: {why}"))?;
    match versions.convert(&pruned, versions.own()) {
        Ok(pruned) => Ok(pruned.value.into_owned()),
        Err(Unconvertible::Missing) => Ok(pruned.value.into_owned()),
        Err(Unconvertible::Broken(why)) => Err(why),
    }
}

/// Puts back what somebody manages, by each version that fields are managed in.
fn add_back_owned<'a>(
    versions: &impl Versions<'a>,
    merged: &Typed<'_, 'a>,
    pruned: Typed<'static, 'a>,
    managed: &Managed,
    first: &str,
) -> Result<Typed<'static, 'a>, String> {
    let mut by_version: BTreeMap<&str, Set> = BTreeMap::new();
    for entry in managed.entries.values() {
        let known = by_version.entry(&entry.version).or_default();
        *known = known.union(&entry.set);
    }
    let mut order: Vec<(&str, Set)> = Vec::new();
    order.extend(by_version.remove(first).map(|set| (first, set)));
    order.extend(by_version);
    let mut merged = Typed {
        value: Cow::Owned(merged.value.clone().into_owned()),
        at: merged.at,
    };
    let mut pruned = pruned;
    for (version, owned) in order {
        let both = versions
            .convert(&merged, version)
            .and_then(|merged| Ok((merged, versions.convert(&pruned, version)?)));
        let (all, left) = match both {
            Ok((all, left)) => (owned_typed(all), owned_typed(left)),
            Err(Unconvertible::Missing) => continue,
            Err(Unconvertible::Broken(why)) => {
                return Err(format!(
                    "failed to convert merged object at version {version}: {why}"
                ));
            }
        };
        let at = Some(all.at);
        let kept = left.fields()?.with_named(at).union(&owned.with_named(at));
        pruned = all.less(&all.fields()?.with_named(at).difference(&kept));
        merged = all;
    }
    Ok(pruned)
}

fn owned_typed<'a>(typed: Typed<'_, 'a>) -> Typed<'static, 'a> {
    Typed {
        value: Cow::Owned(typed.value.into_owned()),
        at: typed.at,
    }
}

/// Puts back what the applier did not manage.
fn add_back_dangling<'a>(
    versions: &impl Versions<'a>,
    merged: &Typed<'_, 'a>,
    pruned: &Typed<'_, 'a>,
    last: &Entry,
) -> Result<Typed<'static, 'a>, String> {
    let left = match versions.convert(pruned, &last.version) {
        Ok(left) => left,
        Err(Unconvertible::Missing) => return Ok(owned_typed(merged.borrow())),
        Err(Unconvertible::Broken(why)) => {
            return Err(format!(
                "failed to convert pruned object to last applied version: {why}"
            ));
        }
    };
    let at = Some(merged.at);
    let left = left.fields()?.with_named(at);
    let all = merged.fields()?.with_named(at);
    let last = last.set.with_named(at);
    Ok(merged.less(&all.difference(&left).intersection(&last)))
}

/// Brings the fields of all managers into line with the schemas as they are now.
fn reconcile_all<'a>(
    versions: &impl Versions<'a>,
    live: &Typed<'_, 'a>,
    managed: &mut Managed,
) -> Result<(), String> {
    let mut gone = Vec::new();
    for (identity, entry) in &mut managed.entries {
        let at = if entry.version == versions.own() {
            live.at
        } else {
            match versions.convert(live, &entry.version) {
                Ok(converted) => converted.at,
                Err(Unconvertible::Missing) => {
                    gone.push(identity.clone());
                    continue;
                }
                Err(Unconvertible::Broken(why)) => return Err(why),
            }
        };
        if let Some(set) = reconcile(at, &entry.set) {
            entry.set = set;
        }
    }
    for identity in gone {
        managed.entries.remove(&identity);
    }
    Ok(())
}

/// The set in which what is atomic has no parts; nothing, if it was so already.
fn reconcile(at: Ref<'_>, set: &Set) -> Option<Set> {
    let atom = at.atom();
    let below = |element: &Element| match (&atom.map, atom.scalar, &atom.list) {
        (Some(map), _, _) if map.is_unknown() => None,
        (Some(map), _, _) => match element.name() {
            Some(name) => map.at(name),
            None => map.other,
        },
        (None, None, Some(list)) => Some(list.item),
        _ => None,
    };
    let mut changed: Option<Vec<(Element, Node)>> = None;
    for (element, node) in set.nodes().filter(|(_, node)| !node.below.is_empty()) {
        let Some(next) = below(element) else {
            continue;
        };
        let inner = next.atom();
        let atomic = match (&inner.map, inner.scalar, &inner.list) {
            (Some(map), _, _) => map.atomic && !map.is_unknown(),
            (None, None, Some(list)) => list.is_atomic(),
            _ => false,
        };
        let replaced = if atomic {
            Some(Node {
                member: true,
                below: Set::default(),
            })
        } else {
            reconcile(next, &node.below).map(|below| Node {
                member: node.member,
                below,
            })
        };
        if let Some(replaced) = replaced {
            let all = changed.get_or_insert_with(|| {
                set.nodes()
                    .map(|(element, node)| (element.clone(), node.clone()))
                    .collect()
            });
            if let Some((_, node)) = all.iter_mut().find(|(known, _)| known == element) {
                *node = replaced;
            }
        }
    }
    changed.map(|nodes| {
        let mut set = Set::default();
        for (element, node) in nodes {
            set.attach(element, node);
        }
        set
    })
}
