//! The bids with three directories of their URL, as references to its parts.

use crate::answer::{Columns, Output};
use crate::block::Bids;
use crate::event::{Channel, Text, Texts};
use crate::operators::kernel::kernel;
use crate::operators::{Blocks, Environment};

/// The first part that is a directory, counted from 0: before it are the scheme, nothing, and the host.
const FIRST_PART: usize = 3;
/// Slashes around the directories: the one before the first part, and those that end the three.
const SLASHES: usize = FIRST_PART + 3;
/// Bytes of a URL that are looked at together. The directories of most URLs end before, those of others are searched for.
const HEAD: usize = 48;

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
        directories: directories(texts.url(*url), texts.url_text(*url)),
    }));
}

/// Parts 3, 4 and 5 of a URL that is split at its slashes; `text` is the reference to the whole.
#[inline]
fn directories(url: &str, text: Text) -> [Option<Text>; 3] {
    let url = url.as_bytes();
    if let Some(head) = url.first_chunk::<HEAD>() {
        let mut slashes = slashes(head);
        if slashes.count_ones() as usize >= SLASHES {
            let mut next = || {
                let slash = slashes.trailing_zeros();
                slashes &= slashes - 1;
                slash as usize
            };
            let [_, _, before, first, second, third] = [next(), next(), next(), next(), next(), next()];
            return [
                Some(text.slice(before + 1..first)),
                Some(text.slice(first + 1..second)),
                Some(text.slice(second + 1..third)),
            ];
        }
    }
    search_directories(url, text)
}

/// A bit for each byte: whether it is a slash.
#[inline]
fn slashes(head: &[u8; HEAD]) -> u64 {
    const LOW: u64 = 0x7f7f_7f7f_7f7f_7f7f;
    const SLASH: u64 = 0x2f2f_2f2f_2f2f_2f2f;
    let (words, _) = head.as_chunks::<8>();
    let mut bits = 0;
    for (index, word) in words.iter().enumerate() {
        let other = u64::from_le_bytes(*word) ^ SLASH;
        // The high bit of each byte that is 0, and no other bit.
        let zero = !(((other & LOW) + LOW) | other | LOW);
        // The product gathers the eight bits in its highest byte.
        bits |= ((zero >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56) << (8 * index);
    }
    bits
}

/// As [`directories`], for URLs that are short or whose directories are long or missing.
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

    fn lines(urls: &[&str]) -> Vec<String> {
        let bids: Vec<Made<'_>> = urls.iter().map(|url| Made { url, ..Made::default() }).collect();
        answer(&crate::q22::QUERY, &bids, split_urls)
    }

    #[test]
    fn directories_are_found_near_and_far_empty_and_missing() {
        let long = "d".repeat(60);
        let (far, padded) = (format!("h://x/{long}/{long}/e?/"), format!("a/b/c/d/é/f?{long}"));
        let cases = [
            ("https://www.nexmark.com/abc/def/ghi/item.htm?query=1&x=2", "abc|def|ghi"),
            (&far, &format!("{long}|{long}|e?")),
            (&padded, "d|é|f?"),
            (&padded.replace("f?", "/"), "d|é|"),
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
    fn the_last_slash_of_a_head_counts() {
        for at in HEAD - 3..HEAD + 3 {
            let url = format!("a/b/c/d/e/{}/rest of it, long enough for a head", "f".repeat(at - 10));
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

        #[test]
        fn every_byte_of_a_head_is_judged_alone(head in prop::array::uniform32(any::<u8>()), at in 0..=HEAD - 32) {
            let mut bytes = [b'/'; HEAD];
            bytes[at..at + 32].copy_from_slice(&head);
            let bits = slashes(&bytes);
            for (index, byte) in bytes.iter().enumerate() {
                prop_assert_eq!(bits >> index & 1 == 1, *byte == b'/', "byte {} of {:?}", index, bytes);
            }
        }
    }
}
