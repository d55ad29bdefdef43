//! Uids and name suffixes: random looking, and the same for the same seed.

/// A stream of ids (`SplitMix64`): small, fast, and good enough for names.
#[derive(Clone, Debug)]
pub(crate) struct Ids {
    state: u64,
}

/// The letters of generated names: no vowels and nothing that reads like another letter.
const ALPHABET: &[u8; 27] = b"bcdfghjklmnpqrstvwxz2456789";

impl Ids {
    /// The stream of this cluster under this seed.
    pub(crate) fn new(seed: u64, cluster: &str) -> Self {
        // FNV-1a, so that clusters of one server do not share uids.
        let hash = cluster.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |h, b| {
            (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3)
        });
        Self { state: seed ^ hash }
    }

    /// Where the stream is, to go on there.
    pub(crate) fn position(&self) -> u64 {
        self.state
    }

    /// A stream that goes on where another one was.
    pub(crate) fn at(position: u64) -> Self {
        Self { state: position }
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A uid in the form of a version 4 UUID.
    pub(crate) fn uid(&mut self) -> String {
        let (high, low) = (self.next(), self.next());
        format!(
            "{:08x}-{:04x}-4{:03x}-{:04x}-{:012x}",
            high >> 32,
            (high >> 16) & 0xffff,
            high & 0xfff,
            0x8000 | ((low >> 48) & 0x3fff),
            low & 0xffff_ffff_ffff
        )
    }

    /// The five letters that follow a `generateName`.
    pub(crate) fn suffix(&mut self) -> String {
        let mut random = self.next();
        (0..5)
            .map(|_| {
                let letter = ALPHABET[usize::try_from(random % 27).unwrap_or(0)];
                random /= 27;
                char::from(letter)
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_repeats_and_clusters_differ() {
        let (mut a, mut b, mut c) = (Ids::new(1, "x"), Ids::new(1, "x"), Ids::new(1, "y"));
        let uid = a.uid();
        assert_eq!(uid, b.uid());
        assert_ne!(uid, c.uid());
        assert_eq!(uid.len(), 36);
        assert_eq!(uid.as_bytes()[14], b'4');
        assert!(a.suffix().bytes().all(|letter| ALPHABET.contains(&letter)));
    }
}
