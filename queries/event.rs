//! Events of the three tables, as small `Copy` records. Their text is a reference into [`Texts`], so that an
//! event fits a cache line and can be exchanged or kept without allocation.

use serde::{Deserialize, Serialize};

/// Reference to bytes `at .. at + len` of the pool of a [`Texts`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Text {
    /// Offset of the first byte.
    pub at: u32,
    /// Length, bytes.
    pub len: u32,
}

impl Text {
    /// Reference to a part of the text, given by the bytes where it begins and ends.
    #[inline]
    pub fn slice(self, range: std::ops::Range<usize>) -> Self {
        debug_assert!(range.start <= range.end && range.end <= self.len as usize, "{range:?} of {self:?}");
        Self { at: self.at + range.start as u32, len: (range.end - range.start) as u32 }
    }
}

/// Number of a channel name in a [`Texts`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Channel(pub u32);

/// Number of a URL in a [`Texts`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Url(pub u32);

/// Longest text that a [`ShortText`] holds itself, bytes.
const INLINE_MAX: usize = 23;
/// Marks a [`ShortText`] that refers to the pool.
const POOLED: u8 = u8::MAX;

/// Text that is made for one event alone (an e-mail address, a card number): held in place when short, else in the pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ShortText {
    len: u8,
    bytes: [u8; INLINE_MAX],
}

impl ShortText {
    /// Holds `text` in place; `None` when it is longer than 23 bytes.
    pub fn inline(text: &str) -> Option<Self> {
        let mut bytes = [0; INLINE_MAX];
        bytes.get_mut(..text.len())?.copy_from_slice(text.as_bytes());
        Some(Self { len: text.len() as u8, bytes })
    }

    /// Refers to text of the pool.
    pub fn pooled(text: Text) -> Self {
        let mut bytes = [0; INLINE_MAX];
        bytes[..4].copy_from_slice(&text.at.to_le_bytes());
        bytes[4..8].copy_from_slice(&text.len.to_le_bytes());
        Self { len: POOLED, bytes }
    }

    /// The text; `texts` are those of the event's stream.
    pub fn get<'a>(&'a self, texts: &'a Texts) -> &'a str {
        if self.len == POOLED {
            let word = |at: usize| {
                u32::from_le_bytes([
                    self.bytes[at],
                    self.bytes[at + 1],
                    self.bytes[at + 2],
                    self.bytes[at + 3],
                ])
            };
            return texts.get(Text { at: word(0), len: word(4) });
        }
        // Only `inline` sets a length, from a whole `str`.
        std::str::from_utf8(&self.bytes[..usize::from(self.len)]).unwrap_or_default()
    }
}

/// Builds a [`ShortText`] of up to 23 ASCII characters.
#[derive(Clone, Copy, Default)]
pub(crate) struct ShortAscii {
    len: u8,
    bytes: [u8; INLINE_MAX],
}

impl ShortAscii {
    /// Appends an ASCII character.
    #[inline(always)]
    pub(crate) fn push(&mut self, byte: u8) {
        debug_assert!(byte.is_ascii(), "byte {byte} is no ASCII character");
        self.bytes[usize::from(self.len)] = byte;
        self.len += 1;
    }

    pub(crate) fn len(&self) -> usize {
        usize::from(self.len)
    }

    pub(crate) fn text(self) -> ShortText {
        ShortText { len: self.len, bytes: self.bytes }
    }
}

/// A row of table person. Times are epoch ms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the columns of the table, under its names")]
pub struct Person {
    pub id: i64,
    pub name: Text,
    pub email_address: ShortText,
    pub credit_card: ShortText,
    pub city: Text,
    pub state: Text,
    pub date_time: i64,
    pub extra: Text,
}

/// A row of table auction. Times are epoch ms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the columns of the table, under its names")]
pub struct Auction {
    pub id: i64,
    pub item_name: Text,
    pub description: Text,
    pub initial_bid: i64,
    pub reserve: i64,
    pub date_time: i64,
    pub expires: i64,
    pub seller: i64,
    pub category: i64,
    pub extra: Text,
}

/// A row of table bid. Times are epoch ms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the columns of the table, under its names")]
pub struct Bid {
    pub auction: i64,
    pub bidder: i64,
    pub price: i64,
    pub date_time: i64,
    pub channel: Channel,
    pub url: Url,
    pub extra: Text,
}

/// A bid without the id that is its key, the auction's or the bidder's. Times are epoch ms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the columns of the table, under its names")]
pub struct KeylessBid {
    /// The other id.
    pub id: i64,
    pub price: i64,
    pub date_time: i64,
    pub channel: Channel,
    pub url: Url,
    pub extra: Text,
}

impl Bid {
    /// What is left beside the auction.
    #[inline]
    pub fn without_auction(self) -> KeylessBid {
        let Self { auction: _, bidder, price, date_time, channel, url, extra } = self;
        KeylessBid { id: bidder, price, date_time, channel, url, extra }
    }

    /// What is left beside the bidder.
    #[inline]
    pub fn without_bidder(self) -> KeylessBid {
        let Self { auction, bidder: _, price, date_time, channel, url, extra } = self;
        KeylessBid { id: auction, price, date_time, channel, url, extra }
    }
}

impl KeylessBid {
    /// The bid of which the auction was left out.
    #[inline]
    pub fn with_auction(self, auction: i64) -> Bid {
        let Self { id: bidder, price, date_time, channel, url, extra } = self;
        Bid { auction, bidder, price, date_time, channel, url, extra }
    }

    /// The bid of which the bidder was left out.
    #[inline]
    pub fn with_bidder(self, bidder: i64) -> Bid {
        let Self { id: auction, price, date_time, channel, url, extra } = self;
        Bid { auction, bidder, price, date_time, channel, url, extra }
    }
}

/// An event of the stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names of the tables")]
pub enum Event {
    Person(Person),
    Auction(Auction),
    Bid(Bid),
}

impl Event {
    /// Event time, epoch ms.
    pub fn date_time(&self) -> i64 {
        match self {
            Event::Person(person) => person.date_time,
            Event::Auction(auction) => auction.date_time,
            Event::Bid(bid) => bid.date_time,
        }
    }
}

/// The text that the events of one stream refer to.
#[derive(Debug, Default)]
pub struct Texts {
    pool: String,
    channels: Vec<Text>,
    urls: Vec<Text>,
}

/// The text of a stream has outgrown what a [`Text`] can refer to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the text of the events is over 4 GiB, more than one stream can hold")]
pub struct TextsFull;

impl Texts {
    /// Text behind a reference.
    pub fn get(&self, text: Text) -> &str {
        let at = text.at as usize;
        &self.pool[at..at + text.len as usize]
    }

    /// Name of a channel.
    pub fn channel(&self, channel: Channel) -> &str {
        self.get(self.channels[channel.0 as usize])
    }

    /// The pool from the begin of a text on: the text and, where it is shorter than `N` bytes, what follows there. `None`
    /// near the end of the pool. For looking at the start of a text without a jump that depends on its length.
    #[inline(always)]
    pub fn window<const N: usize>(&self, text: Text) -> Option<&[u8; N]> {
        self.pool.as_bytes().get(text.at as usize..)?.first_chunk()
    }

    /// Reference to the name of a channel.
    pub fn channel_text(&self, channel: Channel) -> Text {
        self.channels[channel.0 as usize]
    }

    /// Reference to a URL, for rows that hold a part of it.
    pub fn url_text(&self, url: Url) -> Text {
        self.urls[url.0 as usize]
    }

    /// A URL.
    pub fn url(&self, url: Url) -> &str {
        self.get(self.urls[url.0 as usize])
    }

    /// Appends text to the pool.
    pub fn push(&mut self, text: &str) -> Result<Text, TextsFull> {
        let at = u32::try_from(self.pool.len()).map_err(|_full| TextsFull)?;
        let len = u32::try_from(text.len()).map_err(|_full| TextsFull)?;
        at.checked_add(len).ok_or(TextsFull)?;
        self.pool.push_str(text);
        Ok(Text { at, len })
    }

    /// Appends text that belongs to one event: held in place when short.
    pub fn push_short(&mut self, text: &str) -> Result<ShortText, TextsFull> {
        ShortText::inline(text).map_or_else(|| Ok(ShortText::pooled(self.push(text)?)), Ok)
    }

    /// Appends a channel name.
    pub fn push_channel(&mut self, name: &str) -> Result<Channel, TextsFull> {
        let number = u32::try_from(self.channels.len()).map_err(|_full| TextsFull)?;
        let text = self.push(name)?;
        self.channels.push(text);
        Ok(Channel(number))
    }

    /// Appends a URL.
    pub fn push_url(&mut self, url: &str) -> Result<Url, TextsFull> {
        let number = u32::try_from(self.urls.len()).map_err(|_full| TextsFull)?;
        let text = self.push(url)?;
        self.urls.push(text);
        Ok(Url(number))
    }
}
