//! The bids with the id of their channel, known by the channel's name or found in the URL.

use crate::answer::{Columns, Output};
use crate::block::Bids;
use crate::event::{Channel, Text, Texts};
use crate::operators::kernel::kernel;
use crate::operators::{Blocks, Environment};

/// The only character beyond ASCII whose lower case, `k`, is ASCII.
const KELVIN_SIGN: &str = "\u{212a}";

/// Where the id of a channel comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ChannelId {
    /// The channel's name.
    Known(&'static str),
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
            ChannelId::Known(id) => id,
            ChannelId::InUrl(id) => texts.get(id),
        });
    }
}

pub(super) fn dataflow(blocks: Blocks<'_>, environment: &Environment) {
    let texts = environment.texts.clone();
    let rows = kernel(blocks, "q21", move |block, rows| add_channel_ids(&block.bids, &texts, rows));
    environment.output(rows);
}

fn add_channel_ids(bids: &Bids, texts: &Texts, rows: &mut Vec<Row>) {
    rows.reserve(bids.len());
    let numbers = bids.auction.iter().zip(&bids.bidder).zip(&bids.price);
    for (((auction, bidder), price), (channel, url)) in numbers.zip(bids.channel.iter().zip(&bids.url)) {
        let channel_id = match known_id(texts.channel(*channel)) {
            Some(id) => ChannelId::Known(id),
            None => match parameter(texts.url(*url)) {
                Some(range) => ChannelId::InUrl(texts.url_text(*url).slice(range)),
                None => continue,
            },
        };
        rows.push(Row { auction: *auction, bidder: *bidder, price: *price, channel: *channel, channel_id });
    }
}

/// The id of a channel whose name in lower case is one of the four. The length tells which it may be: only the Kelvin sign,
/// three bytes for one `k`, changes it.
#[inline]
fn known_id(name: &str) -> Option<&'static str> {
    let is = |lower: &str| name.eq_ignore_ascii_case(lower);
    match name.len() {
        5 if is("apple") => Some("0"),
        6 if is("google") => Some("1"),
        8 if is("facebook") => Some("2"),
        5 if is("baidu") => Some("3"),
        10 => {
            let start = name.strip_suffix(KELVIN_SIGN)?;
            start.eq_ignore_ascii_case("faceboo").then_some("2")
        }
        _ => None,
    }
}

/// Where in a URL the value of the first parameter `channel_id` is: the second group of the leftmost match of
/// `(&|^)channel_id=([^&]*)`.
#[inline]
fn parameter(url: &str) -> Option<std::ops::Range<usize>> {
    const NAME: &[u8] = b"channel_id=";
    let url = url.as_bytes();
    let from = if url.starts_with(NAME) {
        NAME.len()
    } else {
        let named = |ampersand: &usize| url[ampersand + 1..].starts_with(NAME);
        memchr::memchr_iter(b'&', url).find(named)? + 1 + NAME.len()
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
        answer(&crate::q21::QUERY, &[Made { channel, url, ..Made::default() }], add_channel_ids)
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
            prop_assert_eq!(parameter(&url), expected);
        }

        #[test]
        fn any_bid_gets_the_id_that_the_oracle_gives(channel in name(), url in url()) {
            prop_assert!(lines(&channel, &url).len() <= 1);
        }
    }
}
