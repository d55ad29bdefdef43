//! Images: which one a machine starts from, where nobody has named one.

use ownership::Text;

/// The images that are looked for: the newest of them is taken.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ImageQuery {
    /// The account that has them.
    pub owner: Text,
    /// What they are called: `*` stands for anything, `?` for one character.
    pub name: Text,
    /// The type of the machine: images are for the architecture that it has.
    pub machine: Text,
}
