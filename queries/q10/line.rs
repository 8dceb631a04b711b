//! A line of the files: auction, bidder, price, dateTime in epoch ms, and extra, as RFC 4180 has it, but ended by a line
//! feed alone, as other tools on the same machines write it. The partition's columns are in the path.

use std::io::{self, BufRead};

use crate::event::Bid;

/// A line that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Record {
    pub(super) auction: i64,
    pub(super) bidder: i64,
    pub(super) price: i64,
    pub(super) date_time: i64,
    pub(super) extra: String,
}

/// Digits of the numbers up to 99, two bytes each.
static PAIRS: [u8; 200] = {
    let mut pairs = [0; 200];
    let mut number = 0;
    while number < 100 {
        pairs[2 * number] = b'0' + (number / 10) as u8;
        pairs[2 * number + 1] = b'0' + (number % 10) as u8;
        number += 1;
    }
    pairs
};

/// Appends a bid.
#[inline]
pub(super) fn push(bid: &Bid, extra: &str, out: &mut Vec<u8>) {
    // 19 digits of 2^63, a sign and a comma, four times.
    let mut numbers = [0; 4 * 21];
    let mut at = numbers.len();
    for number in [bid.date_time, bid.price, bid.bidder, bid.auction] {
        at -= 1;
        numbers[at] = b',';
        at = write_before(number, &mut numbers, at);
    }
    out.extend_from_slice(&numbers[at..]);
    push_text(extra.as_bytes(), out);
    out.push(b'\n');
}

/// Writes a number that ends before `at`; where it begins.
#[inline]
fn write_before(number: i64, bytes: &mut [u8; 4 * 21], mut at: usize) -> usize {
    let mut rest = number.unsigned_abs();
    while rest >= 10 {
        let pair = 2 * (rest % 100) as usize;
        rest /= 100;
        at -= 2;
        bytes[at..at + 2].copy_from_slice(&PAIRS[pair..pair + 2]);
    }
    if rest > 0 || number == 0 {
        at -= 1;
        bytes[at] = b'0' + rest as u8;
    }
    if number < 0 {
        at -= 1;
        bytes[at] = b'-';
    }
    at
}

#[inline]
fn push_text(text: &[u8], out: &mut Vec<u8>) {
    // A comma is the highest of the bytes that need quotes, and texts of letters have none as low.
    let plain = least(text) > b',' || !needs_quotes(text);
    if plain { out.extend_from_slice(text) } else { push_quoted(text, out) }
}

/// Least byte of a text, sixteen at a time; the last ones are looked at together with some of those before.
#[inline]
fn least(text: &[u8]) -> u8 {
    let mut least = [u8::MAX; 16];
    let Some(last) = text.last_chunk() else { return text.iter().copied().min().unwrap_or(u8::MAX) };
    for chunk in text.as_chunks::<16>().0.iter().chain([last]) {
        for (least, byte) in least.iter_mut().zip(chunk) {
            *least = (*least).min(*byte);
        }
    }
    least.into_iter().min().unwrap_or(u8::MAX)
}

fn needs_quotes(text: &[u8]) -> bool {
    memchr::memchr3(b',', b'"', b'\n', text).is_some() || memchr::memchr(b'\r', text).is_some()
}

#[cold]
fn push_quoted(text: &[u8], out: &mut Vec<u8>) {
    out.push(b'"');
    for byte in text {
        if *byte == b'"' {
            out.push(b'"');
        }
        out.push(*byte);
    }
    out.push(b'"');
}

/// Reads the next line, which goes on behind a line feed between quotes; whether there was one.
pub(super) fn read(content: &mut dyn BufRead, line: &mut Vec<u8>) -> io::Result<bool> {
    line.clear();
    loop {
        let more = content.read_until(b'\n', line)?;
        let quoted = line.iter().filter(|byte| **byte == b'"').count() % 2 == 1;
        if more == 0 || !quoted {
            return Ok(!line.is_empty());
        }
    }
}

/// The bid of a line; `None` where it is none.
pub(super) fn parse(line: &[u8]) -> Option<Record> {
    let line = std::str::from_utf8(line).ok()?.strip_suffix('\n')?;
    let mut fields = line.splitn(5, ',');
    let mut number = || fields.next()?.parse().ok();
    let (auction, bidder, price, date_time) = (number()?, number()?, number()?, number()?);
    Some(Record { auction, bidder, price, date_time, extra: unquoted(fields.next()?)? })
}

/// Text of a field; `None` where its quotes are wrong.
fn unquoted(field: &str) -> Option<String> {
    let Some(start) = field.strip_prefix('"') else {
        return (!field.contains([',', '"', '\r', '\n'])).then(|| field.to_owned());
    };
    let mut parts = start.strip_suffix('"')?.split('"');
    let mut text = parts.next()?.to_owned();
    // Quotes come in pairs: there is an empty part between the two.
    while let Some(between) = parts.next() {
        if !between.is_empty() {
            return None;
        }
        text.push('"');
        text.push_str(parts.next()?);
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn bid(auction: i64, bidder: i64, price: i64, date_time: i64) -> Bid {
        let (channel, url, extra) = Default::default();
        Bid { auction, bidder, price, date_time, channel, url, extra }
    }

    fn line(bid: &Bid, extra: &str) -> String {
        let mut out = Vec::new();
        push(bid, extra, &mut out);
        String::from_utf8(out).expect("text of text")
    }

    #[test]
    fn lines_hold_the_columns_and_quotes_only_where_needed() {
        let bid = bid(1000, -7, 0, i64::MIN);
        let start = "1000,-7,0,-9223372036854775808,";
        let cases = [
            ("", "\n"),
            ("plain é text ; '", "plain é text ; '\n"),
            ("a,b", "\"a,b\"\n"),
            ("\"", "\"\"\"\"\n"),
            ("say \"x\"", "\"say \"\"x\"\"\"\n"),
            ("two\nlines", "\"two\nlines\"\n"),
            ("\r", "\"\r\"\n"),
        ];
        for (extra, end) in cases {
            assert_eq!(line(&bid, extra), format!("{start}{end}"));
        }
    }

    #[test]
    fn what_is_not_a_line_is_refused() {
        for text in [
            "1,2,3,4,x",
            "1,2,3,x\n",
            "1,2,3,4\n",
            "1,2,3,x,y\n",
            "1,2,3,4,\"\n",
            "1,2,3,4,\"a\"b\"\n",
            "1,2,3,4,a\"b\n",
            "1,2,3,4,x,y\n",
            "\n",
        ] {
            assert_eq!(parse(text.as_bytes()), None, "{text:?}");
        }
        assert_eq!(parse(b"1,2,3,4,\xff\n"), None);
    }

    #[test]
    fn quotes_are_needed_wherever_the_byte_is() {
        for len in 0..70 {
            assert_eq!(line(&bid(1, 2, 3, 4), &"x".repeat(len)), format!("1,2,3,4,{}\n", "x".repeat(len)));
            for (at, special) in
                (0..len).flat_map(|at| [",", "\"", "\n", "\r", " "].map(|special| (at, special)))
            {
                let mut extra = "x".repeat(len);
                extra.replace_range(at..=at, special);
                let quoted = line(&bid(1, 2, 3, 4), &extra).starts_with("1,2,3,4,\"");
                assert_eq!(quoted, special != " ", "{extra:?}");
            }
        }
    }

    proptest! {
        #[test]
        fn numbers_are_written_as_the_standard_library_does(number in prop_oneof![any::<i64>(), -1000..1000_i64]) {
            let expected = format!("{number},{number},{number},{number},x\n");
            prop_assert_eq!(line(&bid(number, number, number, number), "x"), expected);
        }

        #[test]
        fn lines_are_read_back_as_they_were_written(
            rows in prop::collection::vec((any::<[i64; 4]>(), "[a,\"\r\né\u{0}]{0,9}"), 0..20),
        ) {
            let mut content = Vec::new();
            for ([a, b, c, d], extra) in &rows {
                push(&bid(*a, *b, *c, *d), extra, &mut content);
            }
            let (mut content, mut line, mut found) = (&content[..], Vec::new(), Vec::new());
            while read(&mut content, &mut line).expect("memory is read") {
                let record = parse(&line).expect("a line");
                found.push(([record.auction, record.bidder, record.price, record.date_time], record.extra));
            }
            prop_assert_eq!(found, rows);
        }
    }
}
