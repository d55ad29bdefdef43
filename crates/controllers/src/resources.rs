//! What the served systems have to do with the resources of clouds: permissions are made of this.

use ownership::Kind;

use crate::kkp;

/// What a system does with resources of AWS.
#[derive(Clone, Copy, Debug)]
pub struct Resources {
    /// The Kinds that it creates, changes and deletes.
    pub owns: &'static [&'static Kind],
    /// The Kinds that it looks for, reads and marks; those that it owns may be among them.
    pub uses: &'static [&'static Kind],
    /// The inner Kinds of the parts that it adds.
    pub adds: &'static [&'static str],
}

/// What the system of this name does with resources of AWS; `None` if it has nothing to do with AWS, or
/// there is no such system.
pub fn of(name: &str) -> Option<Resources> {
    [(kkp::ENTRY.name, kkp::RESOURCES)]
        .into_iter()
        .find_map(|(known, resources)| (known == name).then_some(resources))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::ENTRIES;

    #[test]
    fn every_system_declares_its_resources() {
        for entry in ENTRIES {
            let resources = of(entry.name).expect(entry.name);
            for owned in resources.owns {
                assert!(resources.uses.contains(owned), "{}", owned.name);
            }
        }
        assert!(of("moon").is_none());
    }
}
