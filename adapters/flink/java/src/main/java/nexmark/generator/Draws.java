package nexmark.generator;

/**
 * The draws of one event: draw number {@code k} is a hash of (seed, event number, k) and needs no other draw. All values
 * are unsigned 64-bit integers that wrap.
 */
final class Draws {
    private static final long GOLDEN_GAMMA = 0x9E3779B97F4A7C15L;

    private final long seed;
    private long start;

    Draws(long seed) {
        this.seed = seed;
    }

    /** Draws of a stream outside the events, such as that of the shared text. */
    Draws(long seed, long number) {
        this(seed);
        event(number);
    }

    /** Moves to the draws of another event. */
    void event(long number) {
        start = Mixer.mix(seed + GOLDEN_GAMMA * (number + 1));
    }

    /** Draw number {@code k}, 64 bits. */
    long draw(long k) {
        return Mixer.mix(start + GOLDEN_GAMMA * (k + 1));
    }

    /** Number in {@code 0..bound}, for a bound of 1 to 2^31 - 1. */
    long below(long k, long bound) {
        return ((draw(k) >>> 32) * bound) >>> 32;
    }
}
