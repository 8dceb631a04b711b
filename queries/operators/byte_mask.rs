//! Where a byte occurs in a chunk of text, as bits. Short texts so are searched without a jump that depends on where it is.

/// Bytes that are looked at together.
pub const WINDOW: usize = 64;

/// Bit `i` says whether byte `i` of the window is `byte`.
#[inline(always)]
pub fn byte_mask(window: &[u8; WINDOW], byte: u8) -> u64 {
    let (chunks, _) = window.as_chunks::<16>();
    chunks.iter().enumerate().fold(0, |bits, (index, chunk)| bits | (mask_of_16(chunk, byte) << (16 * index)))
}

/// As [`byte_mask`], for 16 bytes.
#[inline(always)]
#[cfg(target_arch = "x86_64")]
pub fn mask_of_16(chunk: &[u8; 16], byte: u8) -> u64 {
    use std::arch::x86_64::{_mm_cmpeq_epi8, _mm_movemask_epi8, _mm_set_epi64x, _mm_set1_epi8};
    let whole = u128::from_le_bytes(*chunk);
    // SAFETY: SSE2 is a part of every x86-64, and no memory is touched. It buys one comparison for 16 bytes.
    unsafe {
        // The compiler makes one load of the two halves.
        let bytes = _mm_set_epi64x((whole >> 64) as i64, whole as i64);
        let equal = _mm_cmpeq_epi8(bytes, _mm_set1_epi8(byte as i8));
        _mm_movemask_epi8(equal) as u64
    }
}

/// As [`byte_mask`], for 16 bytes.
#[inline(always)]
#[cfg(not(target_arch = "x86_64"))]
pub fn mask_of_16(chunk: &[u8; 16], byte: u8) -> u64 {
    mask_of_words(chunk, byte)
}

/// [`mask_of_16`] in plain arithmetic.
#[inline(always)]
#[cfg(any(test, not(target_arch = "x86_64")))]
fn mask_of_words(chunk: &[u8; 16], byte: u8) -> u64 {
    const LOW: u64 = 0x7f7f_7f7f_7f7f_7f7f;
    let (words, _) = chunk.as_chunks::<8>();
    words.iter().enumerate().fold(0, |bits, (index, word)| {
        let other = u64::from_le_bytes(*word) ^ (0x0101_0101_0101_0101 * u64::from(byte));
        // The high bit of each byte that is 0, and no other bit.
        let zero = !(((other & LOW) + LOW) | other | LOW);
        // The product gathers the eight bits in its highest byte.
        bits | (((zero >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56) << (8 * index))
    })
}

/// The lowest `count` bits: what of a mask belongs to a text of that length.
#[inline(always)]
pub fn first_bits(count: u32) -> u64 {
    if count >= 64 { u64::MAX } else { (1 << count) - 1 }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_byte_is_judged_alone(
            bytes in prop::array::uniform32(prop_oneof![any::<u8>(), Just(b'/'), Just(b'.'), Just(b'/' | 0x80)]),
            byte in prop_oneof![Just(b'/'), any::<u8>()],
            at in 0..=WINDOW - 32,
        ) {
            let mut window = [byte; WINDOW];
            window[at..at + 32].copy_from_slice(&bytes);
            let bits = byte_mask(&window, byte);
            for (index, found) in window.iter().enumerate() {
                prop_assert_eq!(bits >> index & 1 == 1, *found == byte, "byte {} of {:?}", index, window);
            }
            for chunk in window.as_chunks::<16>().0 {
                prop_assert_eq!(mask_of_16(chunk, byte), mask_of_words(chunk, byte));
            }
        }
    }

    #[test]
    fn first_bits_are_as_many_as_asked_for() {
        assert_eq!([0, 1, 63, 64, 65].map(|count| first_bits(count).count_ones()), [0, 1, 63, 64, 64]);
        assert_eq!(first_bits(3), 7);
    }
}
