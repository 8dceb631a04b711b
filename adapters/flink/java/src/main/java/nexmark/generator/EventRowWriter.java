package nexmark.generator;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import org.apache.flink.core.memory.MemorySegmentFactory;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.binary.BinaryRowData;

/**
 * Writes an event as a row {@code (event_type, person, auction, bid)} in Flink's binary layout, of which two nested rows
 * are null. Such a row is one array: when Flink copies it between operators, as it does unless objects are reused, bytes
 * are copied and no objects. Each row has an array of its own, so that it may be kept.
 *
 * <p>The layout of a row: a header of 8 bytes (kind, then a bit per field that is null), 8 bytes per field, then what does
 * not fit there, padded to words. A field holds a number, a text of up to 7 bytes, or offset and size of the rest.
 */
final class EventRowWriter {
    private static final VarHandle LONG = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.nativeOrder());
    private static final VarHandle INT = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.nativeOrder());
    private static final boolean LITTLE_ENDIAN = ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN;

    private static final int COLUMNS = 1 + EventType.values().length;
    private static final int WORD = 8;
    private static final int NESTED = WORD + COLUMNS * WORD;
    /** Texts up to here are kept in the field itself. */
    private static final int SHORT_TEXT = 7;

    private byte[] row;
    private int end;

    /** Bytes that a text takes beside its field. */
    static int textBytes(int length) {
        return length <= SHORT_TEXT ? 0 : (length + WORD - 1) & -WORD;
    }

    /**
     * Begins a row.
     *
     * @param textBytes sum of {@link #textBytes} over all texts that will be written
     */
    void begin(EventType type, int textBytes) {
        int fixed = WORD + type.fields() * WORD;
        row = new byte[NESTED + fixed + textBytes];
        end = NESTED + fixed;
        // The kind in the first byte is 0, an insertion. The bits of the columns begin in the second byte.
        int allNested = (1 << COLUMNS) - 2;
        row[1] = (byte) (allNested & ~(1 << type.column()));
        INT.set(row, WORD, type.ordinal());
        LONG.set(row, WORD + type.column() * WORD, (long) NESTED << 32 | (fixed + textBytes));
    }

    /** Writes an integer, or a time as epoch ms. */
    void number(int field, long value) {
        LONG.set(row, fieldOffset(field), value);
    }

    /** Writes a text of the shared text. */
    void text(int field, SharedText shared, long text) {
        text(field, shared.bytes(), SharedText.offset(text), SharedText.length(text));
    }

    /** Writes a text. */
    void text(int field, byte[] from, int offset, int length) {
        if (length <= SHORT_TEXT) {
            LONG.set(row, fieldOffset(field), shortText(from, offset, length));
        } else {
            System.arraycopy(from, offset, row, end, length);
            LONG.set(row, fieldOffset(field), (long) (end - NESTED) << 32 | length);
            end += textBytes(length);
        }
    }

    /** The row that was begun. */
    RowData finish() {
        assert end == row.length : "texts differ from what was announced";
        BinaryRowData finished = new BinaryRowData(COLUMNS);
        finished.pointTo(MemorySegmentFactory.wrap(row), 0, row.length);
        return finished;
    }

    private static int fieldOffset(int field) {
        return NESTED + WORD + field * WORD;
    }

    /** The top bit marks a text in a field; then 7 bits of length, then the text in the order of memory. */
    private static long shortText(byte[] from, int offset, int length) {
        long bytes = 0;
        for (int i = 0; i < length; i++) {
            int place = LITTLE_ENDIAN ? i : SHORT_TEXT - 1 - i;
            bytes |= (from[offset + i] & 0xFFL) << (8 * place);
        }
        return (0x80L | length) << 56 | bytes;
    }
}
