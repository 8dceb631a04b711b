//! The options of the event stream: one table gives their names, ranges and meaning to the command line, the
//! configuration file, messages and other engines.

/// An option that is unknown, unreadable or out of its range.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OptionError {
    /// No such option.
    #[error("unknown option {name:?} of the event stream{}", nearest.map(|name| format!(", did you mean {name:?}?")).unwrap_or_default())]
    Unknown {
        /// What was given.
        name: String,
        /// The known name that is most alike.
        nearest: Option<&'static str>,
    },
    /// Not a number, or out of range.
    #[error("{name} is {value:?}, allowed is {allowed}")]
    Value {
        /// Name of the option.
        name: &'static str,
        /// What was given.
        value: String,
        /// What may be given.
        allowed: String,
    },
}

/// Options of the event stream. Names, defaults and meaning are in [`Options::TABLE`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "Options::TABLE documents them")]
pub struct Options {
    pub seed: u64,
    pub base_time: u64,
    pub event_rate: u64,
    pub person_proportion: u64,
    pub auction_proportion: u64,
    pub bid_proportion: u64,
    pub person_avg_size: u64,
    pub auction_avg_size: u64,
    pub bid_avg_size: u64,
    pub bid_hot_ratio_auctions: u64,
    pub bid_hot_ratio_bidders: u64,
    pub auction_hot_ratio_sellers: u64,
    pub auctions_in_flight: u64,
    pub people_active: u64,
    pub out_of_order_group_size: u64,
}

/// One option: its name, what is allowed, and where it is kept.
#[derive(Clone, Copy, Debug)]
pub struct OptionEntry {
    /// Name on the command line, in the configuration and in other engines.
    pub name: &'static str,
    /// Lowest value.
    pub min: u64,
    /// Highest value.
    pub max: u64,
    /// What it does, one line.
    pub meaning: &'static str,
    get: fn(&Options) -> u64,
    get_mut: fn(&mut Options) -> &mut u64,
}

/// Draws are made below 2^31; this leaves room for the ten ids ahead.
const DRAW_MAX: u64 = (1 << 31) - 12;
/// Event times stay in the range of SQL's timestamps on every engine.
const TIME_MAX: u64 = 1 << 52;
/// Events are numbered up to here.
const NUMBER_MAX: u64 = 1 << 53;

macro_rules! entries {
    ($($name:literal $field:ident $min:expr, $max:expr; $meaning:literal)*) => {
        &[$(OptionEntry {
            name: $name,
            min: $min,
            max: $max,
            meaning: $meaning,
            get: |options| options.$field,
            get_mut: |options| &mut options.$field,
        }),*]
    };
}

impl Default for Options {
    fn default() -> Self {
        Self {
            seed: 1,
            base_time: 1_436_918_400_000,
            event_rate: 1_000_000,
            person_proportion: 1,
            auction_proportion: 3,
            bid_proportion: 46,
            person_avg_size: 200,
            auction_avg_size: 500,
            bid_avg_size: 100,
            bid_hot_ratio_auctions: 2,
            bid_hot_ratio_bidders: 4,
            auction_hot_ratio_sellers: 4,
            auctions_in_flight: 100,
            people_active: 1000,
            out_of_order_group_size: 1,
        }
    }
}

impl Options {
    /// Every option, in the order in which they are shown.
    pub const TABLE: &'static [OptionEntry] = entries! {
        "seed" seed 0, u64::MAX; "seed of all draws"
        "base.time" base_time 0, TIME_MAX; "event time of event 0, epoch ms"
        "event.rate" event_rate 1, u64::MAX; "events per second of event time"
        "person.proportion" person_proportion 1, DRAW_MAX; "persons in a cycle of events"
        "auction.proportion" auction_proportion 1, DRAW_MAX; "auctions in a cycle of events"
        "bid.proportion" bid_proportion 0, DRAW_MAX; "bids in a cycle of events"
        "person.avg-size" person_avg_size 0, 500_000; "average bytes of a person; extra fills up to it"
        "auction.avg-size" auction_avg_size 0, 500_000; "average bytes of an auction; extra fills up to it"
        "bid.avg-size" bid_avg_size 0, 500_000; "average bytes of a bid; extra fills up to it"
        "bid.hot-ratio.auctions" bid_hot_ratio_auctions 1, DRAW_MAX; "share 1 - 1/ratio of bids goes to a hot auction"
        "bid.hot-ratio.bidders" bid_hot_ratio_bidders 1, DRAW_MAX; "share 1 - 1/ratio of bids comes from a hot bidder"
        "auction.hot-ratio.sellers" auction_hot_ratio_sellers 1, DRAW_MAX; "share 1 - 1/ratio of auctions is a hot seller's"
        "auctions.in-flight" auctions_in_flight 1, DRAW_MAX; "cold bids go to one of the last that many auctions"
        "people.active" people_active 1, DRAW_MAX; "cold bidders and sellers are among the last that many persons"
        "out-of-order.group-size" out_of_order_group_size 1, NUMBER_MAX; "each group of that many positions is permuted; not a multiple of 953"
    };

    /// Value of an option.
    ///
    /// # Errors
    /// The name is unknown.
    pub fn get(&self, name: &str) -> Result<u64, OptionError> {
        Ok((entry(name)?.get)(self))
    }

    /// Sets an option from text and checks it on its own; [`Options::check`] checks them together.
    ///
    /// # Errors
    /// The name is unknown, or the value is no number or out of range.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), OptionError> {
        let entry = entry(name)?;
        let digits = value.replace('_', "");
        let number = digits.parse::<u64>().map_err(|_bad| entry.error(value))?;
        entry.check(number)?;
        *(entry.get_mut)(self) = number;
        Ok(())
    }

    /// Every option with its value.
    pub fn entries(&self) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        Self::TABLE.iter().map(|entry| (entry.name, (entry.get)(self)))
    }

    /// Checks all options, alone and together.
    ///
    /// # Errors
    /// The first option that is out of its range.
    pub fn check(&self) -> Result<(), OptionError> {
        for entry in Self::TABLE {
            entry.check((entry.get)(self))?;
        }
        if self.horizon_ms_max() >= 1 << 30 {
            return Err(OptionError::Value {
                name: "auctions.in-flight",
                value: self.auctions_in_flight.to_string(),
                allowed: format!(
                    "what keeps auctions open for less than 2^30 ms of event time; {} ms at event.rate {}",
                    self.horizon_ms_max(),
                    self.event_rate
                ),
            });
        }
        Ok(())
    }

    /// Event time over which a group of permuted positions spreads, ms, rounded up. A watermark delay below it makes
    /// events late.
    pub fn disorder_ms(&self) -> u64 {
        let span = u128::from(self.out_of_order_group_size - 1) * 1000;
        u64::try_from(span.div_ceil(u128::from(self.event_rate))).unwrap_or(u64::MAX)
    }

    /// Events in a cycle.
    pub(super) fn cycle(&self) -> u64 {
        self.person_proportion + self.auction_proportion + self.bid_proportion
    }

    /// Number of events in which `auctions.in-flight` auctions are opened.
    pub(super) fn auction_ahead(&self) -> u64 {
        let ahead = u128::from(self.auctions_in_flight) * u128::from(self.cycle())
            / u128::from(self.auction_proportion);
        u64::try_from(ahead).unwrap_or(u64::MAX)
    }

    fn horizon_ms_max(&self) -> u64 {
        let horizon = u128::from(self.auction_ahead()) * 1000 / u128::from(self.event_rate) + 1;
        u64::try_from(horizon).unwrap_or(u64::MAX)
    }
}

impl OptionEntry {
    fn check(&self, value: u64) -> Result<(), OptionError> {
        let multiple_of_stride =
            self.name == "out-of-order.group-size" && value.is_multiple_of(super::GROUP_STRIDE);
        if value < self.min || value > self.max || multiple_of_stride {
            return Err(self.error(&value.to_string()));
        }
        Ok(())
    }

    fn error(&self, value: &str) -> OptionError {
        let but = if self.name == "out-of-order.group-size" { ", no multiple of 953" } else { "" };
        OptionError::Value {
            name: self.name,
            value: value.to_owned(),
            allowed: format!("a whole number from {} to {}{but}", self.min, self.max),
        }
    }
}

fn entry(name: &str) -> Result<&'static OptionEntry, OptionError> {
    Options::TABLE.iter().find(|entry| entry.name == name).ok_or_else(|| OptionError::Unknown {
        name: name.to_owned(),
        nearest: crate::nearest(name, Options::TABLE.iter().map(|entry| entry.name)),
    })
}
