package nexmark.source;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Splits cover every position once, whatever their number, and go on where they were. */
class PositionsSplitTest {
    private static final int EVENTS = 10_000;

    @Test
    void theUnionIsEveryPositionOnce() throws IOException {
        SplittableRandom random = new SplittableRandom(1);
        for (int parallelism = 1; parallelism <= 70; parallelism++) {
            int[] seen = new int[EVENTS];
            for (PositionsSplit split : PositionsEnumerator.deal(parallelism, 0)) {
                PositionsSplit current = split;
                long emitted = 0;
                while (current.next() < EVENTS) {
                    assertEquals(emitted++, current.emitted());
                    seen[(int) current.next()]++;
                    current.advance();
                    if (random.nextInt(500) == 0) {
                        current = restored(current);
                    }
                }
                assertEquals(emitted, current.emitted());
            }
            for (int position = 0; position < EVENTS; position++) {
                assertEquals(1, seen[position], "position " + position + " of " + parallelism + " splits");
            }
        }
    }

    @Test
    void everySplitSeesEveryKindOfEvent() {
        // The default cycle: 1 person, 3 auctions, 46 bids.
        for (int parallelism : new int[] {1, 2, 5, 10, 16, 25, 50}) {
            for (PositionsSplit split : PositionsEnumerator.deal(parallelism, 0)) {
                boolean person = false;
                while (split.next() < 100L * 50 * parallelism) {
                    person |= split.next() % 50 == 0;
                    split.advance();
                }
                assertTrue(person, "split " + split.index() + " of " + parallelism);
            }
        }
    }

    @Test
    void aCopyStaysWhereItIs() {
        PositionsSplit split = new PositionsSplit(1, 2, 7);
        PositionsSplit copy = split.copy();
        long before = copy.next();
        split.advance();
        assertEquals(before, copy.next());
        assertEquals(7, copy.startMs());
    }

    @Test
    void splitsOfAnotherVersionAreRefused() {
        assertThrows(IOException.class, () -> new PositionsSerializer().deserialize(2, new byte[4]));
    }

    private static PositionsSplit restored(PositionsSplit split) throws IOException {
        PositionsSerializer serializer = new PositionsSerializer();
        byte[] bytes = serializer.serialize(List.of(split));
        return serializer.deserialize(serializer.getVersion(), bytes).get(0);
    }
}
