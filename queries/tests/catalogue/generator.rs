//! Properties of the event stream: the same under any split, permuted within its groups only, with the ids, proportions,
//! sizes and times that its options ask for.

use std::collections::BTreeSet;

use nexmark_queries::block::Block;
use nexmark_queries::event::{Event, Texts};
use nexmark_queries::generator::{Generator, OptionError, Options};
use proptest::prelude::*;

use crate::golden::events;
use crate::streams::{lines, options, position};

fn generator(options: &Options) -> Generator {
    Generator::new(options.clone()).expect("options that were checked")
}

fn block_of(generator: &Generator, positions: std::ops::Range<u64>) -> Block {
    let mut block = Block::default();
    positions.for_each(|position| block.push(generator.event(position)));
    block
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_block_holds_the_events_at_its_positions(
        options in options(),
        from in position(),
        first in 0..800u64,
        second in 0..800u64,
    ) {
        let generator = generator(&options);
        // The second block takes the place of the first one, which may be longer.
        let mut block = Block::default();
        generator.fill(from..from + first, &mut block);
        prop_assert_eq!(&block, &block_of(&generator, from..from + first));
        let next = from + first;
        generator.fill(next..next + second, &mut block);
        prop_assert_eq!(&block, &block_of(&generator, next..next + second));
    }

    #[test]
    fn any_split_gives_the_same_stream(
        options in options(),
        from in position(),
        partitions in 1..9usize,
        block_size in 1..300u64,
        blocks in 1..12u64,
    ) {
        // Blocks are dealt out in turn. Each partition has a generator of its own, as on machines of their own, and
        // the last partition runs first.
        let mut dealt = vec![Block::default(); blocks as usize];
        for partition in (0..partitions).rev() {
            let generator = generator(&options);
            for number in (partition as u64..blocks).step_by(partitions) {
                let start = from + number * block_size;
                generator.fill(start..start + block_size, &mut dealt[number as usize]);
            }
        }
        let mut union = Block::default();
        for block in dealt {
            union.persons.extend(block.persons);
            union.auctions.extend(block.auctions);
            block.bids.iter().for_each(|bid| union.bids.push(bid));
        }
        prop_assert_eq!(union, block_of(&generator(&options), from..from + blocks * block_size));
    }

    #[test]
    fn groups_are_permutations_of_the_stream_in_order(options in options(), group in 0..1_000_000u64) {
        let ordered = generator(&Options { out_of_order_group_size: 1, ..options.clone() });
        let size = options.out_of_order_group_size;
        let permuted = generator(&options);
        let positions = group * size..(group + 1) * size;
        let numbers: BTreeSet<u64> = positions.clone().map(|position| permuted.number(position)).collect();
        prop_assert!(numbers.iter().copied().eq(positions.clone()));
        for position in positions {
            prop_assert_eq!(permuted.event(position), ordered.event(permuted.number(position)));
        }
    }

    #[test]
    fn ids_are_dense_and_proportions_exact(options in options(), cycle in 0..1_000_000u64) {
        let options = Options { out_of_order_group_size: 1, ..options };
        let total = options.person_proportion + options.auction_proportion + options.bid_proportion;
        let block = block_of(&generator(&options), cycle * total..(cycle + 3) * total);
        let ids = |proportion: u64| 1000 + (cycle * proportion) as i64..1000 + ((cycle + 3) * proportion) as i64;
        prop_assert!(block.persons.iter().map(|person| person.id).eq(ids(options.person_proportion)));
        prop_assert!(block.auctions.iter().map(|auction| auction.id).eq(ids(options.auction_proportion)));
        prop_assert_eq!(block.bids.len() as u64, 3 * options.bid_proportion);
    }

    #[test]
    fn references_stay_near_what_exists(options in options(), from in position()) {
        let options = Options { out_of_order_group_size: 1, ..options };
        let block = block_of(&generator(&options), from..from + 500);
        let total = options.person_proportion + options.auction_proportion + options.bid_proportion;
        let cycles = (from + 500) / total + 1;
        // Up to ten ids ahead, and never before the first.
        let persons = 1000..1000 + (cycles * options.person_proportion) as i64 + 10;
        let auctions = 1000..1000 + (cycles * options.auction_proportion) as i64 + 10;
        for bid in block.bids.iter() {
            prop_assert!(auctions.contains(&bid.auction), "{bid:?}");
            // The hot bidder is one after the first of its hundred.
            prop_assert!(persons.contains(&bid.bidder), "{bid:?}");
            prop_assert!((100..=100_000_000).contains(&bid.price), "{bid:?}");
        }
        for auction in &block.auctions {
            prop_assert!(persons.contains(&auction.seller), "{auction:?}");
            prop_assert!((10..15).contains(&auction.category), "{auction:?}");
            prop_assert!(auction.expires > auction.date_time, "{auction:?}");
            prop_assert!(auction.reserve >= auction.initial_bid + 100, "{auction:?}");
        }
    }

    #[test]
    fn event_time_is_exact_at_any_rate(options in options(), number in 0..1u64 << 53) {
        let passed = u128::from(number) * 1000 / u128::from(options.event_rate);
        let expected = u128::from(options.base_time) + passed;
        prop_assert_eq!(generator(&options).timestamp(number) as u128, expected);
    }
}

/// Bytes of an event as the sizes of the options count them.
fn size(event: &Event, texts: &Texts) -> usize {
    let len = |text| texts.get(text).len();
    match event {
        Event::Person(person) => {
            let own = person.email_address.get(texts).len() + person.credit_card.get(texts).len();
            8 + own + len(person.name) + len(person.city) + len(person.state) + len(person.extra)
        }
        Event::Auction(auction) => {
            48 + len(auction.item_name) + len(auction.description) + len(auction.extra)
        }
        Event::Bid(bid) => 32 + len(bid.extra),
    }
}

#[test]
fn sizes_are_on_average_as_configured() {
    for average in [200u64, 1000, 20_000] {
        let options = Options {
            person_proportion: 1,
            auction_proportion: 1,
            bid_proportion: 1,
            person_avg_size: average,
            auction_avg_size: average,
            bid_avg_size: average,
            ..Options::default()
        };
        let generator = generator(&options);
        let events = events(&generator, 6_000);
        for kind in 0..3 {
            let sizes = events.iter().skip(kind).step_by(3).map(|event| size(event, generator.texts()));
            let mean = sizes.sum::<usize>() as f64 / 2_000.0;
            // A size varies by a fifth each way, evenly: the mean of 2000 stays within 1 % (four standard deviations).
            assert!((mean / average as f64 - 1.0).abs() < 0.011, "kind {kind}: {mean}, expected {average}");
        }
    }
}

#[test]
fn hot_ratios_are_as_configured() {
    for ratio in [1u64, 2, 10, 1000] {
        let options = Options {
            bid_hot_ratio_auctions: ratio,
            bid_hot_ratio_bidders: ratio,
            auction_hot_ratio_sellers: ratio,
            ..Options::default()
        };
        let generator = generator(&options);
        let block = block_of(&generator, 5_000_000..5_100_000);
        let bids = block.bids.len() as f64;
        let share = |hot: usize, of: f64| hot as f64 / of;
        let shares = [
            share(block.bids.auction.iter().filter(|id| (**id - 1000) % 100 == 0).count(), bids),
            share(block.bids.bidder.iter().filter(|id| (**id - 1000) % 100 == 1).count(), bids),
            share(
                block.auctions.iter().filter(|auction| (auction.seller - 1000) % 100 == 0).count(),
                block.auctions.len() as f64,
            ),
        ];
        let hot = 1.0 - 1.0 / ratio as f64;
        // A hundredth of the cold ones has such an id by chance.
        let expected = hot + (1.0 - hot) / 100.0;
        for share in shares {
            assert!((share - expected).abs() < 0.02, "ratio {ratio}: {shares:?}, expected {expected}");
        }
    }
}

#[test]
fn seeds_differ() {
    let a = generator(&Options::default());
    let b = generator(&Options { seed: 2, ..Options::default() });
    assert_ne!(lines(&events(&a, 50), a.texts()), lines(&events(&b, 50), b.texts()));
}

#[test]
fn an_option_out_of_range_names_itself_its_value_and_the_range() {
    for entry in Options::TABLE {
        let below = (entry.min > 0).then(|| (entry.min - 1).to_string());
        let above = entry.max.checked_add(1).map(|above| above.to_string());
        let never = ["-1", "1.5", "x", "", "18446744073709551616"].map(str::to_owned);
        for value in below.into_iter().chain(above).chain(never) {
            let error = Options::default().set(entry.name, &value).expect_err(&value).to_string();
            let range = format!("from {} to {}", entry.min, entry.max);
            for part in [entry.name, &format!("{value:?}"), &range] {
                assert!(error.contains(part), "{error} does not say {part}");
            }
        }
        for value in [entry.min, entry.max] {
            let mut options = Options::default();
            options.set(entry.name, &value.to_string()).unwrap();
            assert_eq!(options.get(entry.name), Ok(value));
        }
    }
}

#[test]
fn a_group_that_the_stride_divides_is_refused() {
    for size in ["953", "1906"] {
        let error = Options::default().set("out-of-order.group-size", size).unwrap_err().to_string();
        assert!(error.contains(size) && error.contains("no multiple of 953"), "{error}");
        let options = Options { out_of_order_group_size: size.parse().unwrap(), ..Options::default() };
        assert!(Generator::new(options).is_err());
    }
}

#[test]
fn options_are_checked_together() {
    let options = Options { event_rate: 1, auctions_in_flight: 1_000_000, ..Options::default() };
    let error = Generator::new(options).unwrap_err().to_string();
    assert!(error.contains("auctions.in-flight") && error.contains("1000000"), "{error}");
}

#[test]
fn an_unknown_option_suggests_the_nearest() {
    let suggestion = |name: &str| match Options::default().set(name, "1") {
        Err(OptionError::Unknown { nearest, .. }) => nearest,
        other => panic!("{other:?}"),
    };
    assert_eq!(suggestion("event.rat"), Some("event.rate"));
    assert_eq!(suggestion("bid.hot-ratio.auction"), Some("bid.hot-ratio.auctions"));
    assert_eq!(suggestion("out-of-order-group-size"), Some("out-of-order.group-size"));
    assert_eq!(suggestion("zzz"), None);
    let error = Options::default().set("event.rat", "1").unwrap_err().to_string();
    assert!(error.contains("\"event.rat\"") && error.contains("\"event.rate\""), "{error}");
}
