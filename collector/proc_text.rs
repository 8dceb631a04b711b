//! Reads the texts of `/proc/<pid>/…`. Own parsers, since names of processes are any bytes, and the ones of procfs 0.18 panic on
//! truncated text.

/// Counters of `/proc/<pid>/stat`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stat {
    /// Process that started it, or that took it over.
    pub parent: u32,
    /// Time in user mode, clock ticks.
    pub user_ticks: u64,
    /// Time in the kernel, clock ticks.
    pub system_ticks: u64,
    /// Threads.
    pub threads: u64,
    /// Start since boot, clock ticks.
    pub start_ticks: u64,
    /// Resident memory, pages.
    pub rss_pages: u64,
}

/// Counters of `/proc/<pid>/status`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Status {
    /// Highest resident memory, bytes.
    pub rss_bytes_peak: Option<u64>,
    /// Voluntary and involuntary context switches.
    pub context_switches: Option<u64>,
}

/// Counters of `/proc/<pid>/io`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Io {
    /// Bytes fetched from storage.
    pub read_bytes: Option<u64>,
    /// Bytes sent to storage.
    pub write_bytes: Option<u64>,
}

/// Parses `/proc/<pid>/stat`; `None` where it is truncated or no such text.
pub fn stat(text: &[u8]) -> Option<Stat> {
    // The name stands in parentheses and may hold any bytes but NUL, parentheses and newlines, too: only the last `)`
    // is sure to be its end.
    let name_end = text.iter().rposition(|byte| *byte == b')')?;
    let rest = std::str::from_utf8(text.get(name_end + 1..)?).ok()?;
    let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
    // proc(5) counts from 1 and the first field here is number 3.
    let field = |number: usize| fields.get(number - 3)?.parse::<u64>().ok();
    Some(Stat {
        parent: fields.get(1)?.parse().ok()?,
        user_ticks: field(14)?,
        system_ticks: field(15)?,
        threads: field(20)?,
        start_ticks: field(22)?,
        rss_pages: field(24)?,
    })
}

/// Name of a process or thread from `/proc/<pid>/stat`.
pub fn name(text: &[u8]) -> Option<String> {
    let begin = text.iter().position(|byte| *byte == b'(')?;
    let end = text.iter().rposition(|byte| *byte == b')')?;
    Some(String::from_utf8_lossy(text.get(begin + 1..end)?).into_owned())
}

/// Parses `/proc/<pid>/status`; the kernel escapes newlines of names there.
pub fn status(text: &[u8]) -> Status {
    let switches = |key| value(text, key);
    Status {
        rss_bytes_peak: value(text, "VmHWM").and_then(|kib| kib.checked_mul(1024)),
        context_switches: switches("voluntary_ctxt_switches")
            .zip(switches("nonvoluntary_ctxt_switches"))
            .and_then(|(voluntary, involuntary)| voluntary.checked_add(involuntary)),
    }
}

/// Parses `/proc/<pid>/io`.
pub fn io(text: &[u8]) -> Io {
    Io { read_bytes: value(text, "read_bytes"), write_bytes: value(text, "write_bytes") }
}

/// Command line from `/proc/<pid>/cmdline`, arguments joined by spaces.
pub fn command_line(text: &[u8]) -> String {
    let text = text.strip_suffix(b"\0").unwrap_or(text);
    String::from_utf8_lossy(text).replace('\0', " ")
}

/// Every number of a text that has one a line, such as `cgroup.procs`; other lines are passed over.
pub fn numbers(text: &[u8]) -> impl Iterator<Item = u32> + '_ {
    let lines = text.split(|byte| *byte == b'\n');
    lines.filter_map(|line| std::str::from_utf8(line).ok()?.trim().parse().ok())
}

/// First number after `key:` at the beginning of a line.
fn value(text: &[u8], key: &str) -> Option<u64> {
    let mut lines = text.split(|byte| *byte == b'\n');
    let rest = lines.find_map(|line| line.strip_prefix(key.as_bytes())?.strip_prefix(b":"))?;
    std::str::from_utf8(rest).ok()?.split_ascii_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const REST: &str = "S 1 2 3 4 5 6 7 8 9 10 111 222 13 14 15 16 17 0 999 4096 55 18446744073709551615 1";

    fn line(name: &str) -> Vec<u8> {
        format!("42 ({name}) {REST}\n").into_bytes()
    }

    #[test]
    fn names_may_hold_anything() {
        let expected = Stat {
            parent: 1,
            user_ticks: 111,
            system_ticks: 222,
            threads: 17,
            start_ticks: 999,
            rss_pages: 55,
        };
        for name_given in ["java", "a) b (c", "x\ny", ") R 1 1 1 1", "", "((("] {
            let text = line(name_given);
            assert_eq!(stat(&text), Some(expected), "{name_given:?}");
            assert_eq!(name(&text).as_deref(), Some(name_given));
        }
        let mut bytes = b"42 (\xff\xfe) ".to_vec();
        bytes.extend_from_slice(REST.as_bytes());
        assert_eq!(stat(&bytes), Some(expected));
    }

    #[test]
    fn truncated_stat_is_none() {
        let text = line("a) b");
        let complete = text.windows(4).position(|window| window == b" 55 ").unwrap() + 3;
        for length in 0..complete - 2 {
            assert_eq!(stat(&text[..length]), None, "{length} bytes");
        }
        assert!(stat(&text[..complete]).is_some());
    }

    #[test]
    fn status_and_io_take_what_is_there() {
        let text = b"Name:\ta\\nVmHWM:\t1\nVmHWM:\t    2048 kB\nvoluntary_ctxt_switches:\t7\nnonvoluntary_ctxt_switches:\t5\n";
        assert_eq!(status(text), Status { rss_bytes_peak: Some(2048 * 1024), context_switches: Some(12) });
        assert_eq!(status(b"Name:\tx\nvoluntary_ctxt_switches:\t7\n"), Status::default());
        let text = b"rchar: 1\nwchar: 2\nread_bytes: 3\nwrite_bytes: 4\ncancelled_write_bytes: 5\n";
        assert_eq!(io(text), Io { read_bytes: Some(3), write_bytes: Some(4) });
        assert_eq!(command_line(b"java\0-Xmx1g\0Main\0"), "java -Xmx1g Main");
        assert_eq!(numbers(b"12\nx\n7\n").collect::<Vec<_>>(), [12, 7]);
    }

    proptest! {
        #[test]
        fn garbage_never_panics(text in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = (stat(&text), name(&text), status(&text), io(&text));
            let _ = (command_line(&text), numbers(&text).count());
        }

        #[test]
        fn shuffled_punctuation_never_panics(text in "[() 0-9a-z\n:]{0,80}") {
            let _ = (stat(text.as_bytes()), name(text.as_bytes()), status(text.as_bytes()));
        }

        #[test]
        fn any_name_gives_the_same_counters(given in "[^\0]{0,15}") {
            prop_assert_eq!(stat(&line(&given)).map(|stat| stat.user_ticks), Some(111));
        }
    }
}
