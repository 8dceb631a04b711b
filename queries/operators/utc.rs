//! Days and minutes of times, in UTC, and their texts.

use crate::event::{ShortAscii, ShortText};

const MS_PER_MINUTE: i64 = 60_000;
const MINUTES_PER_DAY: i64 = 24 * 60;
const MS_PER_DAY: i64 = MINUTES_PER_DAY * MS_PER_MINUTE;

/// Day of a time, counted from the epoch.
#[inline]
pub fn day(epoch_ms: i64) -> i64 {
    epoch_ms.div_euclid(MS_PER_DAY)
}

/// Minute of the day of a time, 0 to 1439.
#[inline]
pub fn minute_of_day(epoch_ms: i64) -> i64 {
    epoch_ms.div_euclid(MS_PER_MINUTE).rem_euclid(MINUTES_PER_DAY)
}

/// First and last moment of a day, epoch ms, as far as times go.
pub fn day_range(day: i64) -> std::ops::RangeInclusive<i64> {
    let start = day.saturating_mul(MS_PER_DAY);
    start..=day.saturating_add(1).saturating_mul(MS_PER_DAY).saturating_sub(i64::from(day < day_max()))
}

fn day_max() -> i64 {
    i64::MAX / MS_PER_DAY
}

/// Text of a day as `yyyy-MM-dd`.
pub fn day_text(day: i64) -> ShortText {
    let (year, month, of_month) = date(day);
    let sign = if year < 0 { "-" } else { "" };
    short(&format!("{sign}{:04}-{month:02}-{of_month:02}", year.abs()))
}

/// Text of a minute of the day as `HH:mm`.
pub fn minute_text(minute_of_day: i64) -> ShortText {
    let (hour, minute) = ((minute_of_day / 60) as u8, (minute_of_day % 60) as u8);
    let mut text = ShortAscii::default();
    for byte in [b'0' + hour / 10, b'0' + hour % 10, b':', b'0' + minute / 10, b'0' + minute % 10] {
        text.push(byte);
    }
    text.text()
}

/// The text of the day that was asked for last: nearly every row has the same.
#[derive(Debug, Default)]
pub struct DayTexts {
    last: Option<(i64, ShortText)>,
}

impl DayTexts {
    /// Text of a day as `yyyy-MM-dd`.
    pub fn text(&mut self, day: i64) -> ShortText {
        match self.last {
            Some((last, text)) if last == day => text,
            _ => self.last.insert((day, day_text(day))).1,
        }
    }
}

fn short(text: &str) -> ShortText {
    let mut short = ShortAscii::default();
    text.bytes().for_each(|byte| short.push(byte));
    short.text()
}

/// Year, month and day of a day counted from the epoch, Gregorian throughout, with a year 0. Years begin in March here, so
/// that the leap day is the last of its year (Hinnant, `civil_from_days`).
pub fn date(days: i64) -> (i64, i64, i64) {
    let from_march_0 = days + 719_468;
    let era = from_march_0.div_euclid(146_097);
    let day_of_era = from_march_0.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Texts;

    #[test]
    fn texts_of_days_and_minutes() {
        let texts = Texts::default();
        let text = |epoch_ms: i64| {
            let (day, minute) = (day_text(day(epoch_ms)), minute_text(minute_of_day(epoch_ms)));
            format!("{} {}", day.get(&texts), minute.get(&texts))
        };
        assert_eq!(text(1_436_918_400_000), "2015-07-15 00:00");
        assert_eq!(text(-1), "1969-12-31 23:59");
        assert_eq!(text(951_826_020_000), "2000-02-29 12:07");
        assert_eq!(text(i64::MAX), "292278994-08-17 07:12");
        assert_eq!(text(i64::MIN), "-292275055-05-16 16:47");
    }

    #[test]
    fn a_day_holds_its_first_and_last_moment() {
        for epoch_ms in [0, -1, 1_436_918_400_000, i64::MAX, i64::MIN] {
            assert!(day_range(day(epoch_ms)).contains(&epoch_ms), "{epoch_ms}");
        }
        assert_eq!(day_range(0), 0..=MS_PER_DAY - 1);
        assert_eq!(day_range(-1), -MS_PER_DAY..=-1);
    }
}
