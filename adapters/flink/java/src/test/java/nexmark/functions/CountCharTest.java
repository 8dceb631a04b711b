package nexmark.functions;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

/** Counting a character. */
class CountCharTest {
    private final CountChar count = new CountChar();

    @Test
    void everyOccurrenceCounts() {
        assertEquals(3, count.eval("cabcc", "c"));
        assertEquals(0, count.eval("CAB", "c"));
        assertEquals(0, count.eval("", "c"));
    }

    @Test
    void nothingCountsNothing() {
        assertEquals(0, count.eval(null, "c"));
        assertEquals(0, count.eval("c", null));
        assertEquals(0, count.eval("c", ""));
    }
}
