//! FNV-1a of many texts. Each step of the hash waits for the one before, a multiplication for each byte, so that a text alone leaves
//! most of a core idle: several go side by side.

/// Texts that go side by side: a multiplication takes three to four cycles and one can begin in each.
const LANES: usize = 4;
const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0000_0100_0000_01b3;

/// A text on its way.
#[derive(Clone, Copy)]
struct Lane<'a> {
    number: usize,
    hash: u64,
    left: &'a [u8],
}

/// FNV-1a, 64 bits (Fowler, Noll, Vo), of every text; `take` gets the text's number and its hash, in any order.
pub(super) fn fnv1a64_each(texts: &[&[u8]], mut take: impl FnMut(usize, u64)) {
    let mut waiting =
        texts.iter().enumerate().map(|(number, text)| Lane { number, hash: OFFSET, left: text });
    let mut rest: Vec<Lane<'_>> = waiting.by_ref().take(LANES).collect();
    if let Ok(lanes) = <&mut [Lane<'_>; LANES]>::try_from(rest.as_mut_slice()) {
        // Whenever a lane is through, the next text takes it.
        'texts: loop {
            step_together(lanes);
            for lane in lanes.iter_mut().filter(|lane| lane.left.is_empty()) {
                let Some(next) = waiting.next() else { break 'texts };
                take(lane.number, lane.hash);
                *lane = next;
            }
        }
    }
    rest.iter().for_each(|lane| take(lane.number, step(lane.hash, lane.left)));
}

fn step(hash: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(hash, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(PRIME))
}

/// Takes as many bytes of each as the shortest has left.
fn step_together(lanes: &mut [Lane<'_>; LANES]) {
    let len = lanes.iter().map(|lane| lane.left.len()).min().unwrap_or_default();
    let [mut hash_0, mut hash_1, mut hash_2, mut hash_3] = lanes.map(|lane| lane.hash);
    let [bytes_0, bytes_1, bytes_2, bytes_3] = lanes.map(|lane| &lane.left[..len]);
    for (((byte_0, byte_1), byte_2), byte_3) in bytes_0.iter().zip(bytes_1).zip(bytes_2).zip(bytes_3) {
        hash_0 = (hash_0 ^ u64::from(*byte_0)).wrapping_mul(PRIME);
        hash_1 = (hash_1 ^ u64::from(*byte_1)).wrapping_mul(PRIME);
        hash_2 = (hash_2 ^ u64::from(*byte_2)).wrapping_mul(PRIME);
        hash_3 = (hash_3 ^ u64::from(*byte_3)).wrapping_mul(PRIME);
    }
    for (lane, hash) in lanes.iter_mut().zip([hash_0, hash_1, hash_2, hash_3]) {
        (lane.hash, lane.left) = (hash, &lane.left[len..]);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn hashes(texts: &[&[u8]]) -> Vec<u64> {
        let mut hashes = vec![None; texts.len()];
        fnv1a64_each(texts, |number, hash| assert_eq!(hashes[number].replace(hash), None, "taken once"));
        hashes.into_iter().map(|hash| hash.expect("every text is taken")).collect()
    }

    #[test]
    fn published_vectors_alone_and_side_by_side() {
        let vectors: [(&[u8], u64); 3] =
            [(b"", 0xcbf2_9ce4_8422_2325), (b"a", 0xaf63_dc4c_8601_ec8c), (b"foobar", 0x8594_4171_f739_67e8)];
        for (text, hash) in vectors {
            assert_eq!(hashes(&[text]), [hash]);
        }
        let many: Vec<_> = vectors.into_iter().cycle().take(20).collect();
        let texts: Vec<&[u8]> = many.iter().map(|(text, _)| *text).collect();
        assert!(hashes(&texts).into_iter().eq(many.iter().map(|(_, hash)| *hash)));
    }

    proptest! {
        #[test]
        fn side_by_side_is_as_alone(texts in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 0..12)) {
            let texts: Vec<&[u8]> = texts.iter().map(Vec::as_slice).collect();
            let alone: Vec<u64> = texts.iter().map(|text| step(OFFSET, text)).collect();
            prop_assert_eq!(hashes(&texts), alone);
        }
    }
}
