//! Cores, memory and disk, as the system tells them.

use std::path::Path;

/// What the machine has. Nothing where the system does not tell.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Machine {
    pub(super) cores: usize,
    /// Bytes of memory that this process may use, and that are free.
    pub(super) memory: Option<u64>,
    pub(super) free_memory: Option<u64>,
    /// Bytes of disk that are free where runs are written.
    pub(super) free_disk: Option<u64>,
    /// Cores that were busy in the last minute, on average.
    pub(super) load: Option<f64>,
}

impl Machine {
    /// Looks around; `runs` is where runs are to be written, or will be made.
    pub(super) fn look(runs: &Path) -> Machine {
        let memory = std::fs::read_to_string("/proc/meminfo").ok();
        let field = |name| kibibytes(memory.as_ref()?, name).map(|it| it * 1024);
        let limit = std::fs::read_to_string("/sys/fs/cgroup/memory.max").ok();
        let limit = limit.and_then(|text| text.trim().parse::<u64>().ok());
        let within = |bytes: u64| bytes.min(limit.unwrap_or(u64::MAX));
        let load = std::fs::read_to_string("/proc/loadavg").ok();
        Machine {
            cores: super::cores(),
            memory: field("MemTotal:").map(within),
            free_memory: field("MemAvailable:").map(within),
            free_disk: free_bytes(runs),
            load: load.and_then(|text| text.split(' ').next()?.parse().ok()),
        }
    }
}

/// A number of `/proc/meminfo`.
fn kibibytes(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse().ok()
}

/// Free bytes on the disk of a folder, or of the one it would be made in.
fn free_bytes(folder: &Path) -> Option<u64> {
    let folder = std::path::absolute(folder).ok()?;
    let there = folder.ancestors().find(|path| path.exists())?;
    let disk = rustix::fs::statvfs(there).ok()?;
    Some(disk.f_bavail * disk.f_frsize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_read_by_name() {
        let text = "MemTotal:       16384 kB\nMemFree: 1 kB\nMemAvailable:    8192 kB\n";
        assert_eq!(kibibytes(text, "MemAvailable:"), Some(8192));
        assert_eq!(kibibytes(text, "SwapTotal:"), None);
    }

    #[test]
    fn a_folder_to_be_made_has_the_disk_it_would_be_made_on() {
        assert!(free_bytes(Path::new("/no/such/folder")).is_some());
    }
}
