//! The bids with three directories of their URL, as references to its parts.

use crate::answer::{Columns, Output};
use crate::block::Bids;
use crate::event::{Channel, Text, Texts};
use crate::operators::byte_mask::{byte_mask, first_bits};
use crate::operators::kernel::kernel;
use crate::operators::{Blocks, Environment};

/// The first part that is a directory, counted from 0: before it are the scheme, nothing, and the host.
const FIRST_PART: usize = 3;

/// An output row.
#[derive(Clone, Copy, Debug)]
struct Row {
    auction: i64,
    bidder: i64,
    price: i64,
    channel: Channel,
    directories: [Option<Text>; 3],
}

impl Output for Row {
    fn columns(&self, texts: &Texts, columns: &mut dyn Columns) {
        columns.integer(self.auction);
        columns.integer(self.bidder);
        columns.integer(self.price);
        columns.text(texts.channel(self.channel));
        for directory in self.directories {
            match directory {
                Some(directory) => columns.text(texts.get(directory)),
                None => columns.null(),
            }
        }
    }
}

pub(super) fn dataflow(blocks: Blocks<'_>, environment: &Environment) {
    let texts = environment.texts.clone();
    let rows = kernel(blocks, "q22", move |block, rows| split_urls(&block.bids, &texts, rows));
    environment.output(rows);
}

fn split_urls(bids: &Bids, texts: &Texts, rows: &mut Vec<Row>) {
    let numbers = bids.auction.iter().zip(&bids.bidder).zip(&bids.price);
    let bids = numbers.zip(bids.channel.iter().zip(&bids.url));
    rows.extend(bids.map(|(((auction, bidder), price), (channel, url))| Row {
        auction: *auction,
        bidder: *bidder,
        price: *price,
        channel: *channel,
        directories: directories(texts.url_text(*url), texts),
    }));
}

/// Parts 3, 4 and 5 of a URL that is split at its slashes.
#[inline(always)]
fn directories(url: Text, texts: &Texts) -> [Option<Text>; 3] {
    if let Some(window) = texts.window(url) {
        let without_lowest = |bits: u64| bits & bits.wrapping_sub(1);
        let slashes = byte_mask(window, b'/') & first_bits(url.len);
        let from_before = without_lowest(without_lowest(slashes));
        let from_first = without_lowest(from_before);
        let from_second = without_lowest(from_first);
        let from_third = without_lowest(from_second);
        if from_third != 0 {
            let place = |bits: u64| bits.trailing_zeros() as usize;
            return [
                Some(url.slice(place(from_before) + 1..place(from_first))),
                Some(url.slice(place(from_first) + 1..place(from_second))),
                Some(url.slice(place(from_second) + 1..place(from_third))),
            ];
        }
    }
    search_directories(texts.get(url).as_bytes(), url)
}

/// As [`directories`], for URLs whose directories are long or missing.
#[cold]
fn search_directories(url: &[u8], text: Text) -> [Option<Text>; 3] {
    let mut slashes = memchr::memchr_iter(b'/', url);
    let Some(before) = slashes.nth(FIRST_PART - 1) else { return [None; 3] };
    let mut start = Some(before + 1);
    std::array::from_fn(|_part| {
        let from = start?;
        let end = slashes.next();
        start = end.map(|slash| slash + 1);
        Some(text.slice(from..end.unwrap_or(url.len())))
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::operators::against_oracle::{Made, answer};
    use crate::operators::byte_mask::WINDOW;

    fn lines(urls: &[&str]) -> Vec<String> {
        // Without text behind, a window does not fit, and the other way is taken.
        let long = "/".repeat(WINDOW);
        let [short, long] = ["", long.as_str()].map(|extra| {
            let made = |url: &&'_ str| {
                answer(&crate::q22::QUERY, &[Made { url, extra, ..Made::default() }], split_urls)
            };
            urls.iter().flat_map(made).collect::<Vec<_>>()
        });
        assert_eq!(short, long);
        long
    }

    #[test]
    fn directories_are_found_near_and_far_empty_and_missing() {
        let long = "d".repeat(60);
        let (far, padded) = (format!("h://x/{long}/{long}/e?/"), format!("a/b/c/d/é/f?/{long}"));
        let cases = [
            ("https://www.nexmark.com/abc/def/ghi/item.htm?query=1&x=2", "abc|def|ghi"),
            (&far, &format!("{long}|{long}|e?")),
            (&padded, "d|é|f?"),
            (&padded.replace("f?", ""), "d|é|"),
            ("https://h/a/b/c", "a|b|c"),
            ("https://h/a/b", "a|b|\\N"),
            ("https://h/", "|\\N|\\N"),
            ("https://h", "\\N|\\N|\\N"),
            ("", "\\N|\\N|\\N"),
            ("//////", "||"),
        ];
        for (url, directories) in cases {
            assert_eq!(lines(&[url]), [format!("1|2|3|c|{directories}")], "{url}");
        }
    }

    #[test]
    fn the_last_slash_of_a_window_counts() {
        for at in WINDOW - 3..WINDOW + 3 {
            let url = format!("a/b/c/d/e/{}/rest of it, long enough for a window", "f".repeat(at - 10));
            assert_eq!(url.find("/rest"), Some(at));
            assert_eq!(lines(&[&url]), [format!("1|2|3|c|d|e|{}", "f".repeat(at - 10))]);
        }
    }

    proptest! {
        #[test]
        fn any_url_is_split_as_the_oracle_does(urls in prop::collection::vec("[/a/é/.¯\u{1}o]{0,90}", 1..20)) {
            let urls: Vec<&str> = urls.iter().map(String::as_str).collect();
            prop_assert_eq!(lines(&urls).len(), urls.len());
        }
    }
}
