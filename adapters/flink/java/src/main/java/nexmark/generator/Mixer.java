package nexmark.generator;

/** Finalizer of SplitMix64. Draws and digests are made from it. */
public final class Mixer {
    private Mixer() {}

    /** Spreads every bit of {@code z} over the result. */
    public static long mix(long z) {
        z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
        z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
        return z ^ (z >>> 31);
    }
}
