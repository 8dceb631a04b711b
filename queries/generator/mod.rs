//! Event number -> event. Every field of every event is a pure function of (seed, options, event number), in wrapping
//! unsigned 64-bit arithmetic, so that every engine, split and machine sees the same stream to the last byte.

mod fill;
mod options;
mod shared_text;

use std::sync::Arc;

pub use options::{OptionError, Options};
use shared_text::SharedText;

use crate::event::{Auction, Bid, Channel, Event, Person, ShortAscii, Text, Texts, Url};

const GOLDEN_GAMMA: u64 = 0x9E37_79B9_7F4A_7C15;
/// Ids shown to users begin here.
const FIRST_ID: u64 = 1000;
/// One person and one auction in this many is hot.
const HOT_EVERY: u64 = 100;
/// Cold bids and sellers may refer to ids that many ahead of those that exist.
const AHEAD: u64 = 10;
/// Spreads the numbers of a group; prime, so it permutes every group whose size it does not divide.
const GROUP_STRIDE: u64 = 953;
/// Steps of the table of prices.
const PRICE_STEPS: usize = 4096;

/// Finalizer of SplitMix64: spreads every bit of `z` over the result.
#[inline(always)]
pub fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// What all draws of an event are made from.
#[inline(always)]
fn start(seed: u64, number: u64) -> u64 {
    mix(seed.wrapping_add(GOLDEN_GAMMA.wrapping_mul(number.wrapping_add(1))))
}

/// The draws of one event: number `k` needs no other.
trait Draw {
    /// Draw number `k`.
    fn draw(&self, k: u64) -> u64;

    /// Number in `0..bound`, for a bound below 2^31.
    #[inline(always)]
    fn below(&self, k: u64, bound: u64) -> u64 {
        ((self.draw(k) >> 32) * bound) >> 32
    }
}

/// Draws that are made one by one.
#[derive(Clone, Copy)]
struct Draws {
    start: u64,
}

impl Draws {
    #[inline(always)]
    fn new(seed: u64, number: u64) -> Self {
        Self { start: start(seed, number) }
    }
}

impl Draw for Draws {
    #[inline(always)]
    fn draw(&self, k: u64) -> u64 {
        mix(self.start.wrapping_add(GOLDEN_GAMMA.wrapping_mul(k + 1)))
    }
}

/// The stream of one set of options.
pub struct Generator {
    options: Options,
    total: u64,
    /// `2 * horizon` is drawn from; horizon is the event time of this many events.
    auction_ahead: u64,
    cycle: Divisor,
    rate: Divisor,
    prices: Box<[u32; PRICE_STEPS + 1]>,
    shared: SharedText,
}

impl std::fmt::Debug for Generator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Generator").field("options", &self.options).finish_non_exhaustive()
    }
}

impl Generator {
    /// Checks the options and makes the shared text (2 MiB and 10 004 URLs).
    ///
    /// # Errors
    /// An option out of its range.
    pub fn new(options: Options) -> Result<Self, OptionError> {
        options.check()?;
        let total = options.cycle();
        Ok(Self {
            total,
            cycle: Divisor::new(total),
            rate: Divisor::new(options.event_rate),
            auction_ahead: options.auction_ahead(),
            prices: price_table(),
            shared: SharedText::new(options.seed),
            options,
        })
    }

    /// The options.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// The text that the events refer to.
    pub fn texts(&self) -> &Arc<Texts> {
        &self.shared.texts
    }

    /// Event time of event `number`, epoch ms.
    #[inline]
    pub fn timestamp(&self, number: u64) -> i64 {
        // 128 bits only where 64 would overflow.
        let passed = match number.checked_mul(1000) {
            Some(thousands) => self.rate.divide(thousands).0,
            None => (u128::from(number) * 1000 / u128::from(self.options.event_rate)) as u64,
        };
        self.options.base_time.wrapping_add(passed) as i64
    }

    /// Number of the event at a position: groups of `out-of-order.group-size` are permuted.
    #[inline]
    pub fn number(&self, position: u64) -> u64 {
        let group = self.options.out_of_order_group_size;
        if group == 1 {
            return position;
        }
        position / group * group + position.wrapping_mul(GROUP_STRIDE) % group
    }

    /// The event at `position`.
    pub fn event(&self, position: u64) -> Event {
        let number = self.number(position);
        let offset = self.cycle.divide(number).1;
        let draws = &Draws::new(self.options.seed, number);
        let persons = self.options.person_proportion;
        if offset < persons {
            Event::Person(self.person(number, draws))
        } else if offset < persons + self.options.auction_proportion {
            Event::Auction(self.auction(number, draws))
        } else {
            Event::Bid(self.bid(number, draws))
        }
    }

    #[inline(always)]
    fn last_person(&self, number: u64) -> u64 {
        let (epoch, offset) = self.cycle.divide(number);
        epoch * self.options.person_proportion + offset.min(self.options.person_proportion - 1)
    }

    /// For an auction or a bid.
    #[inline(always)]
    fn last_auction(&self, number: u64) -> u64 {
        let (epoch, offset) = self.cycle.divide(number);
        let after_persons = offset - self.options.person_proportion;
        epoch * self.options.auction_proportion + after_persons.min(self.options.auction_proportion - 1)
    }

    #[inline(always)]
    fn cold_person(&self, draws: &impl Draw, k: u64, last_person: u64) -> u64 {
        let people = last_person + 1;
        let active = people.min(self.options.people_active);
        people - active + draws.below(k, active + AHEAD)
    }

    #[inline(always)]
    fn price(&self, draws: &impl Draw, k: u64) -> u64 {
        let draw = draws.draw(k);
        let (index, fraction) = ((draw >> 52) as usize, (draw >> 20) & 0xFFFF_FFFF);
        let low = u64::from(self.prices[index]);
        low + (((u64::from(self.prices[index + 1]) - low) * fraction) >> 32)
    }

    #[inline(always)]
    fn extra(&self, draws: &impl Draw, k: u64, size: u64, average: u64) -> Text {
        if average <= size {
            return Text::default();
        }
        let want = average - size;
        let delta = (want + 2) / 5;
        let len = if delta == 0 { want } else { want - delta + draws.below(k, 2 * delta) };
        self.shared.letters(draws, k + 1, len.min(shared_text::SLICE_MAX))
    }

    fn person(&self, number: u64, draws: &impl Draw) -> Person {
        let id = self.last_person(number);
        let name = self
            .shared
            .name(draws.below(0, shared_text::FIRST_NAMES), draws.below(1, shared_text::LAST_NAMES));
        let email_address = email_address(draws);
        let credit_card = credit_card(draws);
        let city = self.shared.city(draws.below(8, shared_text::CITIES));
        let state = self.shared.state(draws.below(9, shared_text::STATES));
        let short = email_address.len() + credit_card.len();
        let size = 8 + u64::from(name.len) + short as u64 + u64::from(city.len) + u64::from(state.len);
        Person {
            id: (id + FIRST_ID) as i64,
            name,
            email_address: email_address.text(),
            credit_card: credit_card.text(),
            city,
            state,
            date_time: self.timestamp(number),
            extra: self.extra(draws, 10, size, self.options.person_avg_size),
        }
    }

    fn auction(&self, number: u64, draws: &impl Draw) -> Auction {
        let last_person = self.last_person(number);
        let seller = if draws.below(0, self.options.auction_hot_ratio_sellers) > 0 {
            last_person / HOT_EVERY * HOT_EVERY
        } else {
            self.cold_person(draws, 1, last_person)
        };
        let initial_bid = self.price(draws, 3);
        let date_time = self.timestamp(number);
        let horizon = (self.timestamp(number + self.auction_ahead) - date_time) as u64;
        let item_name = self.shared.words(draws, 6, 3 + draws.below(5, 17));
        let description = self.shared.words(draws, 8, 3 + draws.below(7, 97));
        let size = 48 + u64::from(item_name.len) + u64::from(description.len);
        Auction {
            id: (self.last_auction(number) + FIRST_ID) as i64,
            item_name,
            description,
            initial_bid: initial_bid as i64,
            reserve: (initial_bid + self.price(draws, 9)) as i64,
            date_time,
            expires: date_time + 1 + draws.below(4, (2 * horizon).max(1)) as i64,
            seller: (seller + FIRST_ID) as i64,
            category: 10 + draws.below(2, 5) as i64,
            extra: self.extra(draws, 10, size, self.options.auction_avg_size),
        }
    }

    fn bid(&self, number: u64, draws: &impl Draw) -> Bid {
        let (last_person, last_auction) = (self.last_person(number), self.last_auction(number));
        let auction = if draws.below(0, self.options.bid_hot_ratio_auctions) > 0 {
            last_auction / HOT_EVERY * HOT_EVERY
        } else {
            let low = last_auction.saturating_sub(self.options.auctions_in_flight);
            low + draws.below(1, last_auction - low + 1 + AHEAD)
        };
        let bidder = if draws.below(2, self.options.bid_hot_ratio_bidders) > 0 {
            last_person / HOT_EVERY * HOT_EVERY + 1
        } else {
            self.cold_person(draws, 3, last_person)
        };
        let channel = if draws.below(5, 2) > 0 {
            draws.below(6, shared_text::HOT_CHANNELS)
        } else {
            shared_text::HOT_CHANNELS + draws.below(7, shared_text::COLD_CHANNELS)
        };
        Bid {
            auction: (auction + FIRST_ID) as i64,
            bidder: (bidder + FIRST_ID) as i64,
            price: self.price(draws, 4) as i64,
            date_time: self.timestamp(number),
            channel: Channel(channel as u32),
            url: Url(channel as u32),
            extra: self.extra(draws, 8, 32, self.options.bid_avg_size),
        }
    }
}

/// `T[i] = round(100 * 10^(6i/4096))`: prices are spread evenly over six decades.
fn price_table() -> Box<[u32; PRICE_STEPS + 1]> {
    let mut prices = Box::new([0; PRICE_STEPS + 1]);
    for (i, price) in prices.iter_mut().enumerate() {
        *price = (100.0 * 10f64.powf(6.0 * i as f64 / PRICE_STEPS as f64)).round() as u32;
    }
    prices
}

/// Exact division by a number that is known late: a multiplication in place of the machine's division.
#[derive(Clone, Copy, Debug)]
struct Divisor {
    divisor: u64,
    reciprocal: u64,
}

impl Divisor {
    fn new(divisor: u64) -> Self {
        Self { divisor, reciprocal: u64::MAX / divisor }
    }

    /// Quotient and remainder.
    #[inline(always)]
    fn divide(self, dividend: u64) -> (u64, u64) {
        // The reciprocal is low by less than 2 in 2^64, so the estimate is low by at most 2.
        let mut quotient = ((u128::from(dividend) * u128::from(self.reciprocal)) >> 64) as u64;
        let mut remainder = dividend - quotient * self.divisor;
        for _ in 0..2 {
            if remainder >= self.divisor {
                quotient += 1;
                remainder -= self.divisor;
            }
        }
        (quotient, remainder)
    }
}

fn email_address(draws: &impl Draw) -> ShortAscii {
    let letter = |k: u64| b'a' + draws.below(k, 26) as u8;
    let mut text = ShortAscii::default();
    for j in 0..3 + draws.below(2, 4) {
        text.push(letter(16 + j));
    }
    text.push(b'@');
    for j in 0..3 + draws.below(3, 2) {
        text.push(letter(24 + j));
    }
    for byte in *b".com" {
        text.push(byte);
    }
    text
}

fn credit_card(draws: &impl Draw) -> ShortAscii {
    let mut text = ShortAscii::default();
    for group in 0..4 {
        if group > 0 {
            text.push(b' ');
        }
        let number = draws.below(4 + group, 10000) as u16;
        for unit in [1000, 100, 10, 1] {
            text.push(b'0' + (number / unit % 10) as u8);
        }
    }
    text
}
