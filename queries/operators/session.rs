//! Session windows: rows of one key that follow each other within a gap. Rows of a batch are merged before they cross the
//! exchange; sessions are merged as rows come, and leave when the watermark shows that nothing can extend them.

use serde::{Deserialize, Serialize};
use timely::dataflow::StreamVec;
use timely::dataflow::operators::generic::Operator;

use super::calendar::Calendar;
use super::held::Held;
use super::{Environment, Map, Time, exchange, route, time};

/// Rows of one key, each at most a gap after the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Session {
    /// The key.
    pub key: i64,
    /// Time of the first row, epoch ms.
    pub first: i64,
    /// Time of the last row, epoch ms.
    pub last: i64,
    /// Number of rows.
    pub count: i64,
}

impl Session {
    /// Whether the two belong to one session.
    #[inline]
    fn joins(&self, other: &Self, gap_ms: i64) -> bool {
        other.first <= self.last.saturating_add(gap_ms) && self.first <= other.last.saturating_add(gap_ms)
    }

    #[inline]
    fn absorb(&mut self, other: &Self) {
        self.first = self.first.min(other.first);
        self.last = self.last.max(other.last);
        self.count += other.count;
    }
}

/// Adds to sessions of one key, none of which joins another, and keeps it so.
pub fn merge(sessions: &mut Vec<Session>, mut session: Session, gap_ms: i64) {
    let mut at = 0;
    while at < sessions.len() {
        if sessions[at].joins(&session, gap_ms) {
            session.absorb(&sessions.swap_remove(at));
        } else {
            at += 1;
        }
    }
    sessions.push(session);
}

/// Sessions that are open, and when to look at each of them.
#[derive(Debug)]
struct Open {
    gap_ms: i64,
    /// One session of each key; nearly all keys have just one.
    first: Map<i64, Session>,
    /// The other sessions of keys that have several.
    more: Map<i64, Vec<Session>>,
    /// Keys to look at when the watermark passes the time: each session's key stands under a time at or before its end.
    due: Calendar<i64>,
}

/// Complete sessions per key, emitted when the watermark passes their last row by the gap.
pub fn session<'scope>(
    rows: StreamVec<'scope, Time, Session>,
    gap_ms: i64,
    environment: &Environment,
) -> StreamVec<'scope, Time, Session> {
    let environment = environment.clone();
    let by_key = exchange(|session: &Session| route(session.key));
    rows.unary_frontier(by_key, "session", move |_capability, _info| {
        let gauge = environment.state_gauge();
        let mut held = Held::default();
        let mut open = Open::new(gap_ms);
        let mut complete = Vec::new();
        let mut fired = time::NEVER;
        move |(input, frontier), output| {
            let mut late = 0;
            input.for_each(|capability, sessions| {
                held.retain(&capability);
                for session in sessions.drain(..) {
                    late += open.add(session, fired);
                }
            });
            environment.count_late(late);
            let watermark = time::watermark(frontier.frontier());
            if watermark > fired {
                open.close(watermark, &mut complete);
                if let Some(capability) = held.get() {
                    output.session(capability).give_iterator(complete.drain(..));
                }
                fired = watermark;
            }
            gauge.set(open.bytes());
            held.advance(frontier.frontier(), !open.first.is_empty());
        }
    })
}

impl Open {
    fn new(gap_ms: i64) -> Self {
        Self { gap_ms, first: Map::default(), more: Map::default(), due: Calendar::default() }
    }

    fn end(&self, session: &Session) -> i64 {
        session.last.saturating_add(self.gap_ms)
    }

    /// Adds rows of one key; the number of them that came too late for any session.
    fn add(&mut self, session: Session, fired: i64) -> u64 {
        let several = !self.more.is_empty() && self.more.contains_key(&session.key);
        if !several
            && let Some(open) = self.first.get_mut(&session.key)
            && open.joins(&session, self.gap_ms)
        {
            open.absorb(&session);
            return 0;
        }
        // A row that reaches an open session is part of it however late it is; alone, it is dropped.
        let mut sessions = self.more.remove(&session.key).unwrap_or_default();
        sessions.extend(self.first.remove(&session.key));
        let late =
            self.end(&session) <= fired && !sessions.iter().any(|open| open.joins(&session, self.gap_ms));
        if !late {
            merge(&mut sessions, session, self.gap_ms);
            self.due.add(self.end(&session), session.key);
        }
        self.put_back(session.key, sessions);
        if late { session.count as u64 } else { 0 }
    }

    fn put_back(&mut self, key: i64, mut sessions: Vec<Session>) {
        if let Some(last) = sessions.pop() {
            self.first.insert(key, last);
        }
        if !sessions.is_empty() {
            self.more.insert(key, sessions);
        }
    }

    /// Moves the sessions that end at or before the watermark to `complete`.
    fn close(&mut self, watermark: i64, complete: &mut Vec<Session>) {
        while let Some(keys) = self.due.next(watermark) {
            for key in keys {
                self.close_key(key, watermark, complete);
            }
        }
    }

    fn close_key(&mut self, key: i64, watermark: i64, complete: &mut Vec<Session>) {
        if self.more.is_empty() {
            let Some(open) = self.first.get(&key).copied() else { return };
            if self.end(&open) <= watermark {
                self.first.remove(&key);
                complete.push(open);
            } else {
                self.due.add(self.end(&open), key);
            }
            return;
        }
        let mut sessions = self.more.remove(&key).unwrap_or_default();
        sessions.extend(self.first.remove(&key));
        let (ended, open): (Vec<_>, Vec<_>) =
            sessions.into_iter().partition(|session| self.end(session) <= watermark);
        complete.extend(ended);
        if let Some(next) = open.iter().map(|session| self.end(session)).min() {
            self.due.add(next, key);
        }
        self.put_back(key, open);
    }

    fn bytes(&self) -> usize {
        let more: usize = self.more.values().map(|sessions| sessions.capacity() * size_of::<Session>()).sum();
        self.first.allocation_size() + self.more.allocation_size() + more + self.due.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GAP: i64 = 10;

    fn row(key: i64, at: i64) -> Session {
        Session { key, first: at, last: at, count: 1 }
    }

    fn closed(open: &mut Open, watermark: i64) -> Vec<(i64, i64, i64, i64)> {
        let mut complete = Vec::new();
        open.close(watermark, &mut complete);
        let mut complete: Vec<_> = complete.iter().map(|s| (s.key, s.first, s.last, s.count)).collect();
        complete.sort_unstable();
        complete
    }

    #[test]
    fn rows_exactly_a_gap_apart_are_one_session() {
        let mut open = Open::new(GAP);
        for at in [0, 10, 21] {
            open.add(row(1, at), time::NEVER);
        }
        assert_eq!(closed(&mut open, time::END), [(1, 0, 10, 2), (1, 21, 21, 1)]);
    }

    #[test]
    fn a_row_between_two_sessions_makes_them_one() {
        let mut open = Open::new(GAP);
        for at in [0, 20, -20, 10] {
            open.add(row(1, at), time::NEVER);
        }
        assert_eq!(closed(&mut open, time::END), [(1, -20, -20, 1), (1, 0, 20, 3)]);
    }

    #[test]
    fn sessions_leave_when_the_watermark_has_passed_their_end() {
        let mut open = Open::new(GAP);
        open.add(row(1, 0), time::NEVER);
        open.add(row(2, 0), time::NEVER);
        open.add(row(2, 500), time::NEVER);
        assert_eq!(closed(&mut open, 9), []);
        assert_eq!(closed(&mut open, 200), [(1, 0, 0, 1), (2, 0, 0, 1)]);
        open.add(row(2, 505), 200);
        assert_eq!(closed(&mut open, 1000), [(2, 500, 505, 2)]);
        assert_eq!(closed(&mut open, time::END), []);
        assert_eq!((open.first.len(), open.more.len(), open.due.is_empty()), (0, 0, true));
    }

    #[test]
    fn a_late_row_is_dropped_unless_it_reaches_an_open_session() {
        let mut open = Open::new(GAP);
        open.add(row(1, 100), 0);
        assert_eq!(open.add(row(1, 50), 95), 1);
        assert_eq!(open.add(row(1, 91), 102), 0);
        assert_eq!(closed(&mut open, time::END), [(1, 91, 100, 2)]);
    }
}
