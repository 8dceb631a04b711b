package nexmark.source;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import org.apache.flink.api.connector.source.SourceSplit;

/**
 * The positions that one subtask emits: every {@code splits}-th block of them, from block {@code index} on. Blocks keep
 * the event times of the splits close together; their size shares no factor with usual cycles of events, so that each
 * split sees all kinds.
 */
final class PositionsSplit implements SourceSplit {
    /** Positions in a block; a prime number. */
    private static final long BLOCK = 61;

    private final int index;
    private final int splits;
    private final long startMs;
    private long next;

    /**
     * A split before its first event.
     *
     * @param startMs when the schedule starts, epoch ms
     */
    PositionsSplit(int index, int splits, long startMs) {
        this(index, splits, startMs, index * BLOCK);
    }

    private PositionsSplit(int index, int splits, long startMs, long next) {
        this.index = index;
        this.splits = splits;
        this.startMs = startMs;
        this.next = next;
    }

    @Override
    public String splitId() {
        return Integer.toString(index);
    }

    int index() {
        return index;
    }

    /** When the schedule starts, epoch ms; the same for all splits, and kept over a restart. */
    long startMs() {
        return startMs;
    }

    /** Position of the next event. */
    long next() {
        return next;
    }

    /** Number of events of this split before the next one. */
    long emitted() {
        long wholeBlocks = (next / BLOCK - index) / splits;
        return wholeBlocks * BLOCK + next % BLOCK;
    }

    /** Moves past the next event. */
    void advance() {
        next++;
        if (next % BLOCK == 0) {
            next += (splits - 1) * BLOCK;
        }
    }

    /** The split as it is now; this one may go on. */
    PositionsSplit copy() {
        return new PositionsSplit(index, splits, startMs, next);
    }

    void write(DataOutputStream out) throws IOException {
        out.writeInt(index);
        out.writeInt(splits);
        out.writeLong(startMs);
        out.writeLong(next);
    }

    static PositionsSplit read(DataInputStream in) throws IOException {
        return new PositionsSplit(in.readInt(), in.readInt(), in.readLong(), in.readLong());
    }
}
