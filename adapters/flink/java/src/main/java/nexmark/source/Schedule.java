package nexmark.source;

import java.io.Serializable;
import java.time.Duration;
import nexmark.generator.OptionException;

/**
 * How many events have been offered by when: a pure function of the time since the start, so that a source that falls
 * behind catches up and never stretches the schedule.
 */
final class Schedule implements Serializable {
    private static final long serialVersionUID = 1;
    private static final double NS_PER_S = 1e9;
    private static final double EVENTS_PER_S_MAX = 1e11;
    private static final Duration PERIOD_MIN = Duration.ofMillis(1);
    private static final Duration PERIOD_MAX = Duration.ofDays(1);

    /** How the rate changes over time. */
    enum Shape {
        /** The same rate throughout. */
        CONSTANT,
        /** Two rates in turn, each for half a period. */
        SQUARE,
        /** From one rate to the other and back in a period, along a sine. */
        SINE
    }

    private final Shape shape;
    private final double first;
    private final double next;
    private final double periodSeconds;

    /**
     * @param rate events per second; 0 for as fast as they are taken, which only a constant shape may be
     * @param next the other rate, events per second
     * @throws OptionException naming the value that is out of range
     */
    Schedule(Shape shape, double rate, double next, Duration period) {
        check("rate", rate);
        check("next-rate", next);
        if (shape != Shape.CONSTANT && rate + next == 0) {
            throw new OptionException("rate", "0", "above 0 where next-rate is 0 and shape is not constant");
        }
        if (period.compareTo(PERIOD_MIN) < 0 || period.compareTo(PERIOD_MAX) > 0) {
            throw new OptionException("period", period.toString(), "1 ms to 1 d");
        }
        this.shape = shape;
        this.first = rate;
        this.next = next;
        this.periodSeconds = period.toNanos() / NS_PER_S;
    }

    /**
     * The same rate throughout.
     *
     * @param rate events per second; 0 for as fast as they are taken
     */
    static Schedule constant(double rate) {
        return new Schedule(Shape.CONSTANT, rate, 0, PERIOD_MAX);
    }

    /** Whether every event is due at the start. */
    boolean unlimited() {
        return shape == Shape.CONSTANT && first == 0;
    }

    /** Number of events that are due before a moment after the start: the positions from 0 up to it. */
    long eventsDue(long elapsedNs) {
        if (unlimited()) {
            return Long.MAX_VALUE;
        }
        double seconds = Math.max(elapsedNs, 0) / NS_PER_S;
        // The cast saturates.
        return (long) Math.ceil(eventsOffered(seconds));
    }

    private double eventsOffered(double seconds) {
        if (shape == Shape.CONSTANT) {
            return first * seconds;
        }
        double periods = Math.floor(seconds / periodSeconds);
        // Both shapes spend half a period on either side of the mean.
        return periods * periodSeconds * (first + next) / 2 + eventsWithinPeriod(seconds - periods * periodSeconds);
    }

    private double eventsWithinPeriod(double seconds) {
        if (shape == Shape.SQUARE) {
            double half = periodSeconds / 2;
            return first * Math.min(seconds, half) + next * Math.max(seconds - half, 0);
        }
        double turn = 2 * Math.PI;
        double wave = seconds / 2 - periodSeconds / (2 * turn) * Math.sin(turn * seconds / periodSeconds);
        return Math.max(first * seconds + (next - first) * wave, 0);
    }

    private static void check(String name, double rate) {
        if (!(rate >= 0 && rate <= EVENTS_PER_S_MAX)) {
            throw new OptionException(name, Double.toString(rate), "a number of events per second from 0 to 1e11");
        }
    }
}
