//! The text that generated events point into: letters, words, URLs and names, made once per seed.

use std::sync::Arc;

use super::{Draw, Draws};
use crate::event::{Text, Texts};

/// Size of the pools of letters and of words, bytes.
pub(super) const POOL: u64 = 1 << 20;
/// Longest slice of a pool, bytes.
pub(super) const SLICE_MAX: u64 = 1 << 19;

const LETTERS_STREAM: u64 = u64::MAX - 1;
const WORDS_STREAM: u64 = u64::MAX - 2;
const URLS_STREAM: u64 = u64::MAX - 3;

pub(super) const HOT_CHANNELS: u64 = 4;
pub(super) const COLD_CHANNELS: u64 = 10_000;
pub(super) const FIRST_NAMES: u64 = FIRST_NAME.len() as u64;
pub(super) const LAST_NAMES: u64 = LAST_NAME.len() as u64;
pub(super) const CITIES: u64 = CITY.len() as u64;
pub(super) const STATES: u64 = STATE.len() as u64;

const FIRST_NAME: [&str; 11] =
    ["Peter", "Paul", "Luke", "John", "Saul", "Vicky", "Kate", "Julie", "Sarah", "Deiter", "Walter"];
const LAST_NAME: [&str; 9] =
    ["Shultz", "Abrams", "Spencer", "White", "Bartels", "Walton", "Smith", "Jones", "Noris"];
const CITY: [&str; 10] = [
    "Phoenix",
    "Los Angeles",
    "San Francisco",
    "Boise",
    "Portland",
    "Bend",
    "Redmond",
    "Seattle",
    "Kent",
    "Cheyenne",
];
const STATE: [&str; 6] = ["AZ", "CA", "ID", "OR", "WA", "WY"];
const HOT_CHANNEL: [&str; HOT_CHANNELS as usize] = ["Google", "Facebook", "Baidu", "Apple"];

/// The pools and tables of one seed.
pub(super) struct SharedText {
    pub(super) texts: Arc<Texts>,
    words_bytes: Box<[u8]>,
    names: Box<[Text]>,
    cities: Box<[Text]>,
    states: Box<[Text]>,
}

impl SharedText {
    pub(super) fn new(seed: u64) -> Self {
        let letters = Draws::new(seed, LETTERS_STREAM);
        let letters: String = (0..POOL).map(|k| char::from(b'a' + letters.below(k, 26) as u8)).collect();
        let words = Draws::new(seed, WORDS_STREAM);
        let words: String = (0..POOL).map(|k| word_character(words, k, ' ')).collect();

        let mut texts = Texts::default();
        let mut push = |text: &str| push(&mut texts, text);
        // The pools come first: `letters` and `words` rely on their offsets.
        push(&letters);
        push(&words);
        let names = FIRST_NAME
            .iter()
            .flat_map(|first| LAST_NAME.iter().map(move |last| format!("{first} {last}")))
            .map(|name| push(&name))
            .collect();
        let cities = CITY.iter().map(|city| push(city)).collect();
        let states = STATE.iter().map(|state| push(state)).collect();

        for name in HOT_CHANNEL {
            push_channel(&mut texts, name);
        }
        for number in 0..COLD_CHANNELS {
            push_channel(&mut texts, &format!("channel-{number}"));
        }
        let urls = Draws::new(seed, URLS_STREAM);
        for number in 0..HOT_CHANNELS + COLD_CHANNELS {
            push_url(&mut texts, &url(urls, number));
        }
        Self { texts: Arc::new(texts), words_bytes: words.into_bytes().into(), names, cities, states }
    }

    /// `len` letters from a place that draw `k` gives.
    #[inline(always)]
    pub(super) fn letters(&self, draws: &impl Draw, k: u64, len: u64) -> Text {
        letters_at(draws.below(k, POOL - len), len)
    }

    /// `len` characters of the words from a place that draw `k` gives, without spaces at the ends.
    #[inline]
    pub(super) fn words(&self, draws: &impl Draw, k: u64, len: u64) -> Text {
        let mut from = draws.below(k, POOL - len) as usize;
        let mut to = from + len as usize;
        while from < to && self.words_bytes[from] == b' ' {
            from += 1;
        }
        while from < to && self.words_bytes[to - 1] == b' ' {
            to -= 1;
        }
        Text { at: POOL as u32 + from as u32, len: (to - from) as u32 }
    }

    pub(super) fn name(&self, first: u64, last: u64) -> Text {
        self.names[(first * LAST_NAMES + last) as usize]
    }

    pub(super) fn city(&self, number: u64) -> Text {
        self.cities[number as usize]
    }

    pub(super) fn state(&self, number: u64) -> Text {
        self.states[number as usize]
    }
}

/// `len` letters from offset `at` of the letters on, which are at the start of the pool.
#[inline(always)]
pub(super) fn letters_at(at: u64, len: u64) -> Text {
    Text { at: at as u32, len: len as u32 }
}

/// The text made here is 3 MiB, far below what a pool holds.
const FITS: &str = "shared text fits a pool";

fn push(texts: &mut Texts, text: &str) -> Text {
    texts.push(text).expect(FITS)
}

fn push_channel(texts: &mut Texts, name: &str) {
    texts.push_channel(name).expect(FITS);
}

fn push_url(texts: &mut Texts, url: &str) {
    texts.push_url(url).expect(FITS);
}

fn word_character(draws: Draws, k: u64, space: char) -> char {
    let value = draws.below(k, 338);
    if value.is_multiple_of(13) { space } else { char::from(b'a' + (value / 13) as u8) }
}

fn url(draws: Draws, number: u64) -> String {
    let base = 16 * number;
    let mut url = String::from("https://www.nexmark.com/");
    for directory in 0..3 {
        let first = base + 5 * directory;
        url.extend((0..3 + draws.below(first, 2)).map(|j| word_character(draws, first + 1 + j, '_')));
        url.push('/');
    }
    url.push_str("item.htm?query=1");
    if number >= HOT_CHANNELS && draws.below(base + 15, 10) > 0 {
        let reversed = ((number - HOT_CHANNELS) as u32).reverse_bits();
        url.push_str(&format!("&channel_id={reversed}"));
    }
    url
}
