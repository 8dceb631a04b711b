package nexmark.source;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import nexmark.generator.OptionException;
import nexmark.source.Schedule.Shape;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/** Events due by a moment. */
class ScheduleTest {
    private static final long S = 1_000_000_000L;
    private static final Duration PERIOD = Duration.ofSeconds(10);

    @Test
    void withoutRateEverythingIsDueAtOnce() {
        assertEquals(Long.MAX_VALUE, Schedule.constant(0).eventsDue(0));
    }

    @Test
    void aConstantRateIsALine() {
        Schedule schedule = Schedule.constant(1000);
        assertEquals(0, schedule.eventsDue(-S));
        assertEquals(0, schedule.eventsDue(0));
        assertEquals(1, schedule.eventsDue(1));
        assertEquals(500, schedule.eventsDue(S / 2));
        assertEquals(3_600_000, schedule.eventsDue(3600 * S));
    }

    @Test
    void aSquareTakesTheRatesInTurn() {
        Schedule schedule = new Schedule(Shape.SQUARE, 100, 300, PERIOD);
        assertEquals(100, schedule.eventsDue(S));
        assertEquals(500, schedule.eventsDue(5 * S));
        assertEquals(800, schedule.eventsDue(6 * S));
        assertEquals(2000, schedule.eventsDue(10 * S));
        assertEquals(4100, schedule.eventsDue(21 * S));
    }

    @Test
    void aSineHasTheMeanOfItsRatesAfterEachPeriod() {
        Schedule schedule = new Schedule(Shape.SINE, 0, 300, PERIOD);
        assertEquals(1500, schedule.eventsDue(10 * S), 1);
        assertEquals(750, schedule.eventsDue(5 * S), 1);
        assertTrue(schedule.eventsDue(S) < 30, "it begins slowly");
        long before = 0;
        for (long tenth = 0; tenth < 300; tenth++) {
            long due = schedule.eventsDue(tenth * S / 10);
            assertTrue(due >= before, "events due never become fewer");
            before = due;
        }
    }

    @Test
    void valuesOutOfRangeAreRefused() {
        assertRefused("rate is \"-1.0\"", () -> Schedule.constant(-1));
        assertRefused("rate is \"NaN\"", () -> Schedule.constant(Double.NaN));
        assertRefused("next-rate is", () -> new Schedule(Shape.SINE, 1, 2e11, PERIOD));
        assertRefused("rate is \"0\"", () -> new Schedule(Shape.SQUARE, 0, 0, PERIOD));
        assertRefused("period is", () -> new Schedule(Shape.SQUARE, 1, 2, Duration.ZERO));
    }

    private static void assertRefused(String message, Executable executable) {
        OptionException refused = assertThrows(OptionException.class, executable);
        assertTrue(refused.getMessage().startsWith(message), refused.getMessage());
    }
}
