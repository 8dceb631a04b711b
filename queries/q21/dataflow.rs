//! The bids with the id of their channel, known by the channel's name or found in the URL.

use crate::answer::{Columns, Output};
use crate::block::Bids;
use crate::event::{Channel, Text, Texts};
use crate::operators::byte_mask::{WINDOW, byte_mask, first_bits, mask_of_16};
use crate::operators::kernel::kernel;
use crate::operators::{Blocks, Environment};

/// The only character beyond ASCII whose lower case, `k`, is ASCII.
const KELVIN_SIGN: &str = "\u{212a}";

/// Ids of the channels that are known by name, by their place in [`NAMES`].
const IDS: [&str; 4] = ["0", "1", "2", "3"];
const NAMES: [&str; 4] = ["apple", "google", "facebook", "baidu"];
/// Place of a name that is not among them.
const UNKNOWN: usize = NAMES.len();

/// The parameter of a URL with what stands between its name and its value.
const PARAMETER: &[u8] = b"channel_id=";

/// Where the id of a channel comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ChannelId {
    /// The channel's name, at that place of [`NAMES`].
    Known(u8),
    /// A part of the URL.
    InUrl(Text),
}

/// An output row.
#[derive(Clone, Copy, Debug)]
struct Row {
    auction: i64,
    bidder: i64,
    price: i64,
    channel: Channel,
    channel_id: ChannelId,
}

impl Output for Row {
    fn columns(&self, texts: &Texts, columns: &mut dyn Columns) {
        columns.integer(self.auction);
        columns.integer(self.bidder);
        columns.integer(self.price);
        columns.text(texts.channel(self.channel));
        columns.text(match self.channel_id {
            ChannelId::Known(place) => IDS[usize::from(place)],
            ChannelId::InUrl(id) => texts.get(id),
        });
    }
}

pub(super) fn dataflow(blocks: Blocks<'_>, environment: &Environment) {
    let texts = environment.texts.clone();
    let mut sorted = Sorted::default();
    let rows =
        kernel(blocks, "q21", move |block, rows| add_channel_ids(&block.bids, &texts, &mut sorted, rows));
    environment.output(rows);
}

/// Numbers of the bids of a block, by whether their channel is known by name.
#[derive(Debug, Default)]
struct Sorted {
    /// With the place in [`NAMES`].
    known: Vec<(u32, u8)>,
    unknown: Vec<u32>,
}

impl Sorted {
    /// Which list a bid belongs to cannot be foreseen, so it is written to both, and the place moves on in one: no jump to
    /// be guessed wrong.
    fn fill(&mut self, bids: &Bids, texts: &Texts) {
        if self.unknown.len() < bids.len() {
            self.known.resize(bids.len(), (0, 0));
            self.unknown.resize(bids.len(), 0);
        }
        self.known.resize(self.unknown.len(), (0, 0));
        let (mut known, mut unknown) = (0, 0);
        for (index, channel) in bids.channel.iter().enumerate() {
            let place = place(texts.channel_text(*channel), texts);
            self.known[known] = (index as u32, place as u8);
            self.unknown[unknown] = index as u32;
            known += usize::from(place != UNKNOWN);
            unknown += usize::from(place == UNKNOWN);
        }
        self.known.truncate(known);
        self.unknown.truncate(unknown);
    }
}

fn add_channel_ids(bids: &Bids, texts: &Texts, sorted: &mut Sorted, rows: &mut Vec<Row>) {
    sorted.fill(bids, texts);
    let row = |index: u32, channel_id| {
        let index = index as usize;
        Row {
            auction: bids.auction[index],
            bidder: bids.bidder[index],
            price: bids.price[index],
            channel: bids.channel[index],
            channel_id,
        }
    };
    rows.reserve(bids.len());
    rows.extend(sorted.known.iter().map(|(index, place)| row(*index, ChannelId::Known(*place))));
    for index in &sorted.unknown {
        let url = texts.url_text(bids.url[*index as usize]);
        if let Some(id) = parameter_text(url, texts) {
            rows.push(row(*index, ChannelId::InUrl(id)));
        }
    }
}

/// The place of a channel's name, in lower case, in [`NAMES`]; [`UNKNOWN`] when it is not there.
#[inline(always)]
fn place(name: Text, texts: &Texts) -> usize {
    let Some(window) = texts.window(name) else { return place_of(texts.get(name)) };
    // Only the two cases of a letter become that letter by this bit.
    let lower = u64::from_le_bytes(*window) | 0x2020_2020_2020_2020;
    let starts = |start: &str| {
        let mut bytes = [0; 8];
        bytes[..start.len()].copy_from_slice(start.as_bytes());
        lower & first_bits(8 * start.len() as u32) == u64::from_le_bytes(bytes)
    };
    if starts("faceboo") & (name.len == 10) {
        return place_of(texts.get(name));
    }
    let is = |place: usize| usize::from(starts(NAMES[place]) & (name.len as usize == NAMES[place].len()));
    UNKNOWN - is(0) * UNKNOWN - is(1) * (UNKNOWN - 1) - is(2) * (UNKNOWN - 2) - is(3) * (UNKNOWN - 3)
}

/// As [`place`], for names that a window does not decide.
#[cold]
fn place_of(name: &str) -> usize {
    let ascii = match name.strip_suffix(KELVIN_SIGN) {
        Some(start) => &format!("{start}k"),
        None => name,
    };
    NAMES.iter().position(|known| ascii.eq_ignore_ascii_case(known)).unwrap_or(UNKNOWN)
}

/// The value that [`parameter`] finds. Decides in two windows where the first ampersand and the value lie in them.
#[inline(always)]
fn parameter_text(url: Text, texts: &Texts) -> Option<Text> {
    let bytes = texts.get(url).as_bytes();
    if let Some(window) = texts.window(url) {
        let ampersands = byte_mask(window, b'&') & first_bits(url.len);
        if ampersands == 0 && bytes.len() <= WINDOW && !bytes.starts_with(PARAMETER) {
            return None;
        }
        let from = ampersands.trailing_zeros() as usize + 1;
        if ampersands != 0 && bytes[from..].starts_with(PARAMETER) && !bytes.starts_with(PARAMETER) {
            let value = url.slice(from + PARAMETER.len()..bytes.len());
            if let (Some(window), true) = (texts.window(value), value.len <= 16) {
                let end = mask_of_16(window, b'&') & first_bits(value.len);
                return Some(value.slice(0..end.trailing_zeros().min(value.len) as usize));
            }
        }
    }
    parameter(bytes).map(|range| url.slice(range))
}

/// Where in a URL the value of the first parameter `channel_id` is: the second group of the leftmost match of
/// `(&|^)channel_id=([^&]*)`.
fn parameter(url: &[u8]) -> Option<std::ops::Range<usize>> {
    let from = if url.starts_with(PARAMETER) {
        PARAMETER.len()
    } else {
        let named = |ampersand: &usize| url[ampersand + 1..].starts_with(PARAMETER);
        memchr::memchr_iter(b'&', url).find(named)? + 1 + PARAMETER.len()
    };
    let to = memchr::memchr(b'&', &url[from..]).map_or(url.len(), |ampersand| from + ampersand);
    Some(from..to)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use regex::Regex;

    use super::*;
    use crate::operators::against_oracle::{Made, answer};

    fn lines(channel: &str, url: &str) -> Vec<String> {
        // Without text behind, the windows do not fit, and the other ways are taken.
        let [short, long] = ["", &"&channel_id=&".repeat(9)].map(|extra| {
            let made = [Made { channel, url, extra, ..Made::default() }];
            let mut sorted = Sorted { known: vec![(7, 7)], unknown: vec![7; 3] };
            answer(&crate::q21::QUERY, &made, |bids, texts, rows| {
                add_channel_ids(bids, texts, &mut sorted, rows);
            })
        });
        assert_eq!(short, long);
        long
    }

    #[test]
    fn names_are_known_in_any_case_and_before_the_url() {
        let cases = [
            ("apple", "0"),
            ("aPPLe", "0"),
            ("Google", "1"),
            ("FACEBOOK", "2"),
            ("faceBoo\u{212a}", "2"),
            ("baidu", "3"),
            ("BAIDU", "3"),
        ];
        for (channel, id) in cases {
            assert_eq!(lines(channel, "&channel_id=9"), [format!("1|2|3|{channel}|{id}")]);
        }
    }

    #[test]
    fn other_names_are_looked_up_in_the_url() {
        let names = [
            "",
            "apples",
            "appl",
            "appla",
            "goog1e",
            "faceboox",
            "faceboo\u{212b}",
            "baİdu",
            "baıdu",
            "ａpple",
            "@pple",
        ];
        for channel in names {
            assert_eq!(lines(channel, "u?&channel_id=9&x"), [format!("1|2|3|{channel}|9")]);
            assert_eq!(lines(channel, "u?channel_id=9"), [""; 0]);
        }
    }

    #[test]
    fn only_the_kelvin_sign_lower_cases_to_ascii() {
        let beyond =
            ('\u{80}'..=char::MAX).filter(|character| character.to_lowercase().all(|lower| lower.is_ascii()));
        assert_eq!(beyond.map(String::from).collect::<Vec<_>>(), [KELVIN_SIGN]);
    }

    #[test]
    fn the_leftmost_parameter_gives_its_whole_value() {
        let cases = [
            ("channel_id=1&channel_id=2", "1"),
            ("channel_id=", ""),
            ("&channel_id=&channel_id=2", ""),
            ("&&channel_id=a=b#c/é\n", "a=b#c/é\n"),
            ("&channel_i&channel_id=3", "3"),
            ("&channel_idx=1&channel_id=4", "4"),
            ("xchannel_id=1&channel_id=channel_id=5", "channel_id=5"),
        ];
        for (url, id) in cases {
            assert_eq!(lines("c", url), [format!("1|2|3|c|{id}")], "{url:?}");
        }
        for url in ["", "&", "channel_id", "&channel_id", "Channel_id=1", "?channel_id=1", "\nchannel_id=1"] {
            assert_eq!(lines("c", url), [""; 0], "{url:?}");
        }
    }

    /// Text made of pieces of the parameter, so that near matches are as frequent as matches.
    fn url() -> impl Strategy<Value = String> {
        let piece = prop::sample::select(vec![
            "&",
            "channel_id=",
            "&channel_id=",
            "channel_id",
            "=",
            "&channel",
            "_id=",
            "\n",
            "é",
            "x",
            "",
        ]);
        prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
    }

    /// A known name, each character perhaps changed to another.
    fn name() -> impl Strategy<Value = String> {
        let name = prop::sample::select(vec!["apple", "google", "facebook", "baidu"]);
        let change = prop::sample::select(vec!["", "", "", "", "A", "k", "K", "\u{212a}", "İ", "é", "@"]);
        (name, prop::collection::vec((any::<bool>(), change), 8)).prop_map(|(name, changes)| {
            let change = |(character, (upper, change)): (char, (bool, &str))| match (change, upper) {
                ("", true) => character.to_uppercase().collect(),
                ("", false) => character.to_string(),
                (change, _) => change.to_owned(),
            };
            name.chars().zip(changes).map(change).collect()
        })
    }

    proptest! {
        #[test]
        fn the_parameter_is_that_of_the_regular_expression(url in url()) {
            let pattern = Regex::new("(&|^)channel_id=([^&]*)").expect("the pattern is valid");
            let expected = pattern.captures(&url).and_then(|found| found.get(2)).map(|value| value.range());
            prop_assert_eq!(parameter(url.as_bytes()), expected);
        }

        #[test]
        fn any_bid_gets_the_id_that_the_oracle_gives(channel in name(), url in url()) {
            prop_assert!(lines(&channel, &url).len() <= 1);
        }
    }
}
