package nexmark.generator;

/** Prices that are spread evenly over six decades, from 100 on. */
final class PriceTable {
    private static final int STEPS = 4096;

    private final int[] table = new int[STEPS + 1];

    PriceTable() {
        for (int i = 0; i <= STEPS; i++) {
            // No entry lies near a rounding boundary, so that the accuracy of pow does not matter.
            table[i] = (int) Math.round(100 * Math.pow(10, 6.0 * i / STEPS));
        }
    }

    /** The price of a draw: its first 12 bits choose a step, the next 32 the place within it. */
    long price(long draw) {
        int step = (int) (draw >>> 52);
        long low = table[step];
        return low + ((table[step + 1] - low) * (draw >>> 20 & 0xFFFFFFFFL) >>> 32);
    }
}
