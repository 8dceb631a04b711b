package nexmark.generator;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;

/**
 * The text that generated events point into, in one array: letters, words, names, cities, states, channels and URLs. It is
 * made once per seed and never changes. A text is a place in the array: offset in the upper 32 bits, length in the lower.
 */
final class SharedText {
    /** Size of the pools of letters and of words, bytes. */
    static final int POOL = 1 << 20;
    /** Longest slice of a pool, bytes. */
    static final int SLICE_MAX = 1 << 19;
    static final int HOT_CHANNELS = 4;
    static final int COLD_CHANNELS = 10_000;

    private static final long LETTERS_STREAM = -2;
    private static final long WORDS_STREAM = -3;
    private static final long URLS_STREAM = -4;

    private static final String[] FIRST_NAMES = {
        "Peter", "Paul", "Luke", "John", "Saul", "Vicky", "Kate", "Julie", "Sarah", "Deiter", "Walter"
    };
    private static final String[] LAST_NAMES = {
        "Shultz", "Abrams", "Spencer", "White", "Bartels", "Walton", "Smith", "Jones", "Noris"
    };
    private static final String[] CITIES = {
        "Phoenix", "Los Angeles", "San Francisco", "Boise", "Portland",
        "Bend", "Redmond", "Seattle", "Kent", "Cheyenne"
    };
    private static final String[] STATES = {"AZ", "CA", "ID", "OR", "WA", "WY"};
    private static final String[] HOT_CHANNEL_NAMES = {"Google", "Facebook", "Baidu", "Apple"};

    private final byte[] bytes;
    private final long[] names = new long[FIRST_NAMES.length * LAST_NAMES.length];
    private final long[] cities;
    private final long[] states;
    private final long[] channels = new long[HOT_CHANNELS + COLD_CHANNELS];
    private final long[] urls = new long[HOT_CHANNELS + COLD_CHANNELS];

    SharedText(long seed) {
        ByteArrayOutputStream out = new ByteArrayOutputStream(4 * POOL);
        // The pools come first: slices rely on their offsets.
        Draws letters = new Draws(seed, LETTERS_STREAM);
        for (int k = 0; k < POOL; k++) {
            out.write((int) ('a' + letters.below(k, 26)));
        }
        Draws words = new Draws(seed, WORDS_STREAM);
        for (int k = 0; k < POOL; k++) {
            out.write(wordCharacter(words, k, ' '));
        }
        for (int first = 0; first < FIRST_NAMES.length; first++) {
            for (int last = 0; last < LAST_NAMES.length; last++) {
                names[first * LAST_NAMES.length + last] = append(out, FIRST_NAMES[first] + " " + LAST_NAMES[last]);
            }
        }
        cities = appendAll(out, CITIES);
        states = appendAll(out, STATES);
        Draws urlDraws = new Draws(seed, URLS_STREAM);
        for (int number = 0; number < channels.length; number++) {
            boolean hot = number < HOT_CHANNELS;
            channels[number] = append(out, hot ? HOT_CHANNEL_NAMES[number] : "channel-" + (number - HOT_CHANNELS));
            urls[number] = append(out, url(urlDraws, number));
        }
        bytes = out.toByteArray();
    }

    static int offset(long text) {
        return (int) (text >>> 32);
    }

    static int length(long text) {
        return (int) text;
    }

    /** What all texts point into. Nobody may change it. */
    byte[] bytes() {
        return bytes;
    }

    /** {@code length} letters from a place that draw {@code k} gives. */
    long letters(Draws draws, long k, long length) {
        return text((int) draws.below(k, POOL - length), (int) length);
    }

    /** {@code length} characters of the words from a place that draw {@code k} gives, without spaces at the ends. */
    long words(Draws draws, long k, long length) {
        int from = POOL + (int) draws.below(k, POOL - length);
        int to = from + (int) length;
        while (from < to && bytes[from] == ' ') {
            from++;
        }
        while (from < to && bytes[to - 1] == ' ') {
            to--;
        }
        return text(from, to - from);
    }

    long name(Draws draws, long firstDraw, long lastDraw) {
        int first = (int) draws.below(firstDraw, FIRST_NAMES.length);
        return names[first * LAST_NAMES.length + (int) draws.below(lastDraw, LAST_NAMES.length)];
    }

    long city(Draws draws, long k) {
        return cities[(int) draws.below(k, cities.length)];
    }

    long state(Draws draws, long k) {
        return states[(int) draws.below(k, states.length)];
    }

    long channel(int number) {
        return channels[number];
    }

    long url(int number) {
        return urls[number];
    }

    private static long text(int offset, int length) {
        return (long) offset << 32 | length;
    }

    private static long[] appendAll(ByteArrayOutputStream out, String[] texts) {
        long[] places = new long[texts.length];
        for (int i = 0; i < texts.length; i++) {
            places[i] = append(out, texts[i]);
        }
        return places;
    }

    private static long append(ByteArrayOutputStream out, String text) {
        byte[] ascii = text.getBytes(StandardCharsets.US_ASCII);
        int offset = out.size();
        out.write(ascii, 0, ascii.length);
        return text(offset, ascii.length);
    }

    private static char wordCharacter(Draws draws, long k, char space) {
        long value = draws.below(k, 338);
        return value % 13 == 0 ? space : (char) ('a' + value / 13);
    }

    private static String url(Draws draws, int number) {
        long base = 16L * number;
        StringBuilder url = new StringBuilder("https://www.nexmark.com/");
        for (int directory = 0; directory < 3; directory++) {
            long first = base + 5L * directory;
            long length = 3 + draws.below(first, 2);
            for (int j = 0; j < length; j++) {
                url.append(wordCharacter(draws, first + 1 + j, '_'));
            }
            url.append('/');
        }
        url.append("item.htm?query=1");
        if (number >= HOT_CHANNELS && draws.below(base + 15, 10) > 0) {
            int reversed = Integer.reverse(number - HOT_CHANNELS);
            url.append("&channel_id=").append(Integer.toUnsignedString(reversed));
        }
        return url.toString();
    }
}
