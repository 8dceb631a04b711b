package nexmark.sink;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.math.BigDecimal;
import nexmark.generator.Mixer;
import org.apache.flink.table.data.StringData;
import org.junit.jupiter.api.Test;

/** The text of a row and its hash, as on every other engine. */
class CanonicalTextTest {
    private final CanonicalText text = new CanonicalText();

    @Test
    void columnsAreJoined() {
        text.append(-7);
        text.append(1436918400000L);
        text.append(new BigDecimal("1234.500"));
        text.append(StringData.fromString("a b"));
        text.append(StringData.fromString(""));
        text.appendNull();
        assertEquals("-7\u001f1436918400000\u001f1234.500\u001fa b\u001f\u001f\\N", text.toString());
    }

    @Test
    void integersAreWhole() {
        for (long value : new long[] {0, 9, 10, -10, 123456789, Long.MAX_VALUE, Long.MIN_VALUE}) {
            text.clear();
            text.append(value);
            assertEquals(Long.toString(value), text.toString());
        }
    }

    @Test
    void itGrows() {
        String longText = "x".repeat(5000);
        text.append(1);
        text.append(StringData.fromString(longText));
        assertEquals("1\u001f" + longText, text.toString());
    }

    @Test
    void theHashIsFnvThenMixed() {
        text.append(StringData.fromString("foobar"));
        assertEquals(Mixer.mix(0x85944171f73967e8L), text.hash());
    }
}
