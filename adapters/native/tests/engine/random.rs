//! The engine's answers are the oracles', on generated streams of random options and on recorded ones of random events.

use nexmark_driver::engine::Job;
use nexmark_queries::event::Event;
use nexmark_queries::generator::Options;
use nexmark_queries::{ALL, ndjson::Recording};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

use crate::harness::{Spread, against_oracle, cases, disorder_ms, events, generated, job, recorded};
use crate::streams::record;

const DAY_MS: u64 = 86_400_000;

fn spread() -> impl Strategy<Value = Spread> {
    let block_events = prop_oneof![Just(1), 2..64u64, 64..1000u64, Just(4096)];
    (select(vec![1usize, 2, 3, 5]), block_events)
        .prop_map(|(workers, block_events)| Spread { workers, block_events })
}

/// Options all over their ranges, on and around the borders of days.
fn options() -> impl Strategy<Value = Options> {
    let size = || select(vec![0, 8, 31, 32, 33, 80, 200, 500, 5000]);
    let ratio = || prop_oneof![Just(1u64), Just(2), 1..=1000u64];
    let proportions = prop_oneof![
        Just((1u64, 3u64, 46u64)),
        (1..200u64, 1..5u64, 0..100u64),
        (1..5u64, 1..200u64, 0..5u64),
        (1..5u64, 1..5u64, 0..1000u64),
    ];
    let base = (0..20_000u64, prop_oneof![0..3000u64, DAY_MS - 3000..DAY_MS, 0..DAY_MS]);
    let rate = select(vec![1u64, 2, 7, 40, 150, 1000, 20_000, 1_000_000, 10_000_000]);
    let group = prop_oneof![Just(1u64), 2..50u64, 50..900u64, select(vec![954, 1000, 2000])];
    let in_flight = prop_oneof![1..100u64, 1..=10_000u64];
    let active = prop_oneof![1..50u64, 1..10_000u64];
    let population = (ratio(), ratio(), ratio(), in_flight, active);
    ((any::<u64>(), base, rate, group), proportions, (size(), size(), size()), population)
        .prop_map(|((seed, (day, of_day), rate, group), proportions, sizes, population)| Options {
            seed,
            base_time: day * DAY_MS + of_day,
            event_rate: rate,
            out_of_order_group_size: group,
            person_proportion: proportions.0,
            auction_proportion: proportions.1,
            bid_proportion: proportions.2,
            person_avg_size: sizes.0,
            auction_avg_size: sizes.1,
            bid_avg_size: sizes.2,
            bid_hot_ratio_auctions: population.0,
            bid_hot_ratio_bidders: population.1,
            auction_hot_ratio_sellers: population.2,
            auctions_in_flight: population.3,
            people_active: population.4,
        })
        .prop_filter("auctions would be open too long", |options| options.check().is_ok())
}

proptest! {
    #![proptest_config(cases(32))]

    #[test]
    fn generated_streams_have_the_oracles_answers(
        options in options(), count in prop_oneof![1..100u64, 1..1500u64], spread in spread(),
    ) {
        // A group of permuted positions reaches back by its span, rounded either way.
        let watermark_delay_ms = (options.disorder_ms() + 1).max(4000);
        for query in ALL {
            // Every bidder's bids times its auctions: rows grow with the square.
            let count = if query.name == "q23" { count.min(500) } else { count };
            let (events, texts) = events(&options, count);
            let job = Job { watermark_delay_ms, ..generated(query, &options, count, spread.workers) };
            let result = against_oracle(&job, spread.block_events, &events, &texts);
            prop_assert!(result.is_ok(), "{}", result.unwrap_err());
        }
    }
}

/// How the times and numbers of a recorded stream are chosen.
#[derive(Clone, Copy, Debug)]
enum Numbers {
    /// Few ids, times of a minute.
    Near,
    /// Times of days on both sides of the epoch.
    Days,
    /// Times near 2^53 and -2^53, and the ends of ids and prices.
    Far,
    /// Everything up to the ends of 64 bits.
    Ends,
}

impl Numbers {
    fn time(self) -> BoxedStrategy<i64> {
        let around = |middle: i64| middle - 20_000..middle + 20_000;
        match self {
            Self::Near => (-30_000..30_000i64).boxed(),
            Self::Days => (-2 * DAY_MS as i64..2 * DAY_MS as i64).boxed(),
            Self::Far => prop_oneof![around(1 << 53), around(-(1 << 53)), around(0)].boxed(),
            Self::Ends => prop_oneof![
                i64::MAX - 20_000..=i64::MAX,
                i64::MIN..=i64::MIN + 20_000,
                Just(i64::MAX),
                Just(i64::MIN),
                around(0),
                any::<i64>(),
            ]
            .boxed(),
        }
    }

    fn id(self) -> BoxedStrategy<i64> {
        let near = prop_oneof![4 => -3..6i64, 1 => select(vec![123, -246, 9999, 10_000, 1 << 27, 1 << 40])];
        match self {
            Self::Near | Self::Days => near.boxed(),
            Self::Far | Self::Ends => {
                prop_oneof![3 => near, 1 => select(vec![i64::MIN, i64::MIN + 1, i64::MAX])].boxed()
            }
        }
    }

    fn price(self) -> BoxedStrategy<i64> {
        let near = prop_oneof![-3..6i64, 9_990..10_010i64, 999_990..1_101_330i64, 0..60_000_000i64];
        match self {
            Self::Near | Self::Days => near.boxed(),
            Self::Far | Self::Ends => {
                prop_oneof![near, select(vec![i64::MIN, i64::MIN + 1, i64::MAX, i64::MAX - 1])].boxed()
            }
        }
    }

    fn event(self) -> impl Strategy<Value = Value> {
        let texts = || (text(), text(), text(), text());
        let states = select(vec!["OR", "ID", "CA", "or", "WA", ""]);
        let person =
            (self.id(), text(), states, self.time(), texts()).prop_map(|(id, name, state, at, texts)| {
                json!({"person": {
                    "id": id, "name": name, "emailAddress": texts.0, "creditCard": texts.1, "city": texts.2,
                    "state": state, "dateTime": at, "extra": texts.3,
                }})
            });
        let open = (self.time(), prop_oneof![self.time(), Just(i64::MAX), Just(i64::MIN)]);
        let auction = (self.id(), self.id(), 9..13i64, open, self.price(), texts()).prop_map(
            |(id, seller, category, (at, expires), price, texts)| {
                json!({"auction": {
                    "id": id, "itemName": texts.0, "description": texts.1, "initialBid": price, "reserve": price,
                    "dateTime": at, "expires": expires, "seller": seller, "category": category, "extra": texts.2,
                }})
            },
        );
        let bid = (self.id(), self.id(), self.price(), self.time(), channel(), url(), text()).prop_map(
            |(auction, bidder, price, at, channel, url, extra)| {
                json!({"bid": {
                    "auction": auction, "bidder": bidder, "price": price, "channel": channel, "url": url,
                    "dateTime": at, "extra": extra,
                }})
            },
        );
        prop_oneof![1 => person, 2 => auction, 4 => bid]
    }
}

fn text() -> BoxedStrategy<String> {
    prop_oneof![Just(String::new()), Just("c".repeat(70)), any::<String>(), "[a-cC\"\n\r,|\\x1f]{0,40}"]
        .boxed()
}

fn channel() -> BoxedStrategy<String> {
    let known = select(vec!["apple", "GOOGLE", "facebooK", "Baidu", "apples", "channel-1", "", "ſ"]);
    prop_oneof![4 => known.prop_map(str::to_owned), 1 => text()].boxed()
}

fn url() -> BoxedStrategy<String> {
    let pieces =
        select(vec!["https:/", "/", "&", "?", "channel_id=", "channel_id", "=", "7", "é", "x", "a/b", ""]);
    prop_oneof![3 => vec(pieces, 0..12).prop_map(|pieces| pieces.concat()), 1 => text()].boxed()
}

fn recording(numbers: Numbers) -> impl Strategy<Value = Recording> {
    let some = prop_oneof![0..12usize, 0..120usize];
    some.prop_flat_map(move |count| vec(numbers.event(), count)).prop_map(|objects| {
        let lines: Vec<String> = objects.iter().map(Value::to_string).collect();
        record(&lines)
    })
}

fn any_recording() -> impl Strategy<Value = Recording> {
    prop_oneof![
        recording(Numbers::Near),
        recording(Numbers::Days),
        recording(Numbers::Far),
        recording(Numbers::Ends),
    ]
}

/// In the order of their times but for short runs that go backwards, so that windows fire all along.
fn sorted_by_blocks(mut events: Vec<Event>, chunk: usize) -> Vec<Event> {
    events.sort_by_key(Event::date_time);
    events.chunks_mut(chunk).for_each(<[Event]>::reverse);
    events
}

proptest! {
    #![proptest_config(cases(64))]

    #[test]
    fn recorded_streams_have_the_oracles_answers(
        recording in any_recording(), chunk in prop_oneof![Just(None), (1..9usize).prop_map(Some)], spread in spread(),
    ) {
        let events = match chunk {
            Some(chunk) => sorted_by_blocks(recording.events.clone(), chunk),
            None => recording.events.clone(),
        };
        for query in ALL {
            let job = Job {
                watermark_delay_ms: disorder_ms(&events),
                ..job(query, recorded(&events, &recording.texts), spread.workers)
            };
            let result = against_oracle(&job, spread.block_events, &events, &recording.texts);
            prop_assert!(result.is_ok(), "{}", result.unwrap_err());
        }
    }
}
