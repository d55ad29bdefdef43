//! What the served systems have to do with the resources of clouds: permissions are made of this.

use ownership::Kind;

/// What a system does with resources of AWS.
#[derive(Clone, Copy, Debug)]
pub struct Resources {
    /// The Kinds that it creates, changes and deletes.
    pub owns: &'static [&'static Kind],
    /// The Kinds that it looks for, reads and marks; those that it owns may be among them.
    pub uses: &'static [&'static Kind],
    /// The inner Kinds of the parts that it adds.
    pub adds: &'static [&'static str],
    /// The parts that it adds to what it only uses, and removes again.
    pub adds_in: &'static [(&'static Kind, &'static str)],
}

#[cfg(test)]
mod tests {
    use crate::registry::ENTRIES;

    #[test]
    fn what_a_system_owns_it_may_use() {
        for entry in ENTRIES {
            let resources = &entry.resources;
            for owned in resources.owns {
                assert!(resources.uses.contains(owned), "{}", owned.name);
            }
        }
    }
}
