//! How many connections there is room for.
//!
//! Each takes a file descriptor, and the rest of the process needs some too: a server that gave out
//! the last one could not open its own files. The limit is only read: no safe function raises it.

/// How many connections there may be if this many are wanted.
pub(super) fn at_most(wanted: usize) -> usize {
    // Where the system does not say it this way, the wish stands.
    let limits = std::fs::read_to_string("/proc/self/limits").unwrap_or_default();
    room(wanted, open_files(&limits))
}

/// The soft limit of open files; none if there is none.
fn open_files(limits: &str) -> Option<usize> {
    let mut lines = limits.lines();
    let soft = lines.find_map(|line| line.strip_prefix("Max open files"))?;
    soft.split_whitespace().next()?.parse().ok()
}

/// An eighth stays for others, and a few in any case.
fn room(wanted: usize, files: Option<usize>) -> usize {
    let Some(files) = files else { return wanted };
    let reserve = (files / 8).max(32);
    wanted.min(files.saturating_sub(reserve).max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_no_more_places_than_descriptors() {
        let limits = "Limit                     Soft Limit           Hard Limit           Units     \n\
            Max processes             unlimited            unlimited            processes \n\
            Max open files            1024                 524288               files     \n";
        assert_eq!(open_files(limits), Some(1024));
        assert_eq!(open_files(&limits.replace("1024", "unlimited")), None);
        assert_eq!(open_files(""), None);
        for (wanted, files, places) in [
            (16_384, None, 16_384),
            (16_384, Some(1_048_576), 16_384),
            (16_384, Some(1024), 896),
            (16_384, Some(64), 32),
            (16_384, Some(16), 1),
            (1, Some(1024), 1),
        ] {
            assert_eq!(room(wanted, files), places, "{files:?}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_system_says_how_many_there_are() {
        assert!(at_most(usize::MAX) < usize::MAX);
    }
}
