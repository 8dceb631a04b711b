//! Logical time of the dataflows: the watermark of a source before a block, then the block's number at that source. The
//! frontier of an operator's input so gives both the watermark and, block by block, what is finished.

use timely::progress::frontier::AntichainRef;

/// High half: watermark (order-preserving), low half: number of the block. Both only grow.
pub type Time = u128;

/// Watermark that nothing has reached.
pub const NEVER: i64 = i64::MIN;
/// Watermark after the end of the input: everything may fire.
pub const END: i64 = i64::MAX;

/// Time of block number `block` that is sent while the watermark is `watermark`, epoch ms.
pub fn stamp(watermark: i64, block: u64) -> Time {
    // Flipping the sign bit makes the order of signed numbers that of unsigned ones.
    (u128::from(watermark as u64 ^ (1 << 63)) << 64) | u128::from(block)
}

/// Watermark of a time, epoch ms.
pub fn watermark_of(time: Time) -> i64 {
    ((time >> 64) as u64 ^ (1 << 63)) as i64
}

/// Watermark of an input, epoch ms; [`END`] when the input has ended.
pub fn watermark(frontier: AntichainRef<'_, Time>) -> i64 {
    frontier.first().map_or(END, |time| watermark_of(*time))
}

/// Whether a watermark has passed a time, epoch ms, that may lie beyond 64 bits.
pub fn passed(epoch_ms: i128, watermark: i64) -> bool {
    watermark == END || epoch_ms <= i128::from(watermark)
}

/// A time that may lie beyond 64 bits, as rows show it.
pub fn shown(epoch_ms: i128) -> i64 {
    epoch_ms.clamp(i64::MIN.into(), i64::MAX.into()) as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stamps_are_ordered_by_watermark_then_block() {
        let times = [stamp(NEVER, 0), stamp(NEVER, 9), stamp(-5, 1), stamp(0, 0), stamp(7, 3), stamp(END, 0)];
        assert!(times.is_sorted());
        assert_eq!(times.map(watermark_of), [NEVER, NEVER, -5, 0, 7, END]);
        assert_eq!(stamp(NEVER, 0), Time::MIN, "dataflows begin at the least time");
    }
}
