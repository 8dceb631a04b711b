package nexmark.sink;

import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import nexmark.generator.Mixer;
import org.apache.flink.table.data.StringData;

/** Canonical text of a row: its columns in order, joined by the byte 0x1F. It is reused from row to row. */
final class CanonicalText {
    private static final byte SEPARATOR = 0x1F;
    private static final byte[] NULL = {'\\', 'N'};
    private static final int FIRST_CAPACITY = 512;
    /** 19 digits of 2^63 and a sign. */
    private static final int LONGEST_INTEGER = 20;
    private static final long FNV_OFFSET = 0xCBF29CE484222325L;
    private static final long FNV_PRIME = 0x100000001B3L;

    private byte[] bytes = new byte[FIRST_CAPACITY];
    private int end;
    private boolean first = true;

    /** Begins the next row. */
    void clear() {
        end = 0;
        first = true;
    }

    void append(long value) {
        separate(LONGEST_INTEGER);
        if (value == Long.MIN_VALUE) {
            raw(Long.toString(value).getBytes(StandardCharsets.US_ASCII));
            return;
        }
        long rest = value;
        if (rest < 0) {
            bytes[end++] = '-';
            rest = -rest;
        }
        int from = end;
        do {
            bytes[end++] = (byte) ('0' + rest % 10);
            rest /= 10;
        } while (rest > 0);
        reverse(from, end - 1);
    }

    /** Appends a decimal with all places of its scale. */
    void append(BigDecimal value) {
        separate(0);
        raw(value.toPlainString().getBytes(StandardCharsets.US_ASCII));
    }

    void append(StringData value) {
        separate(0);
        raw(value.toBytes());
    }

    void appendNull() {
        separate(0);
        raw(NULL);
    }

    /** FNV-1a of the text, 64 bits, then mixed: what a row adds to a digest. */
    long hash() {
        long hash = FNV_OFFSET;
        for (int i = 0; i < end; i++) {
            hash = (hash ^ (bytes[i] & 0xFF)) * FNV_PRIME;
        }
        return Mixer.mix(hash);
    }

    @Override
    public String toString() {
        return new String(bytes, 0, end, StandardCharsets.UTF_8);
    }

    private void separate(int room) {
        ensure(room + 1);
        if (!first) {
            bytes[end++] = SEPARATOR;
        }
        first = false;
    }

    private void raw(byte[] text) {
        ensure(text.length);
        System.arraycopy(text, 0, bytes, end, text.length);
        end += text.length;
    }

    private void ensure(int room) {
        if (end + room > bytes.length) {
            bytes = Arrays.copyOf(bytes, Math.max(2 * bytes.length, end + room));
        }
    }

    private void reverse(int from, int to) {
        for (int low = from, high = to; low < high; low++, high--) {
            byte digit = bytes[low];
            bytes[low] = bytes[high];
            bytes[high] = digit;
        }
    }
}
