package nexmark.source;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import nexmark.generator.Generator;
import org.apache.flink.api.connector.source.ReaderOutput;
import org.apache.flink.api.connector.source.SourceReader;
import org.apache.flink.core.io.InputStatus;
import org.apache.flink.metrics.Counter;
import org.apache.flink.table.data.RowData;

/**
 * Emits the events of its splits that are due, the lowest position first. Flink's {@code numRecordsIn} of the source and of
 * its vertex counts each event once: after a restore it goes on from the number of events up to there.
 */
final class EventReader implements SourceReader<RowData, PositionsSplit> {
    /** Events handed over before Flink may do something else; so few that a checkpoint waits some microseconds only. */
    private static final int EVENTS_PER_POLL = 16;
    /** How long a reader that is ahead of its schedule sleeps, ms. */
    private static final long WAIT_MS = 1;
    private static final long NS_PER_MS = 1_000_000;

    private final SourceSettings settings;
    private final Counter emitted;
    private final List<PositionsSplit> splits = new ArrayList<>();
    private Generator generator;
    private CompletableFuture<Void> available = new CompletableFuture<>();
    private boolean allSplits;
    /** Positions below this are known to be due. */
    private long due;
    /** When this reader ran out of events, as {@link System#nanoTime}; null before. */
    private Long endedNs;

    /** @param emitted counts the events of this reader's splits, from their beginning */
    EventReader(Counter emitted, SourceSettings settings) {
        this.settings = settings;
        this.emitted = emitted;
    }

    @Override
    public void start() {
        generator = new Generator(settings.stream);
    }

    @Override
    public void addSplits(List<PositionsSplit> added) {
        for (PositionsSplit split : added) {
            splits.add(split);
            emitted.inc(split.emitted());
        }
        available.complete(null);
    }

    @Override
    public void notifyNoMoreSplits() {
        allSplits = true;
        available.complete(null);
    }

    @Override
    public InputStatus pollNext(ReaderOutput<RowData> output) {
        PositionsSplit split = lowest();
        if (split == null) {
            return atEnd();
        }
        for (int i = 0; i < EVENTS_PER_POLL && split.next() < settings.events; i++) {
            long position = split.next();
            if (position >= due && !isDue(split)) {
                return sleep();
            }
            split.advance();
            emitted.inc();
            output.collect(generator.event(position));
            if (split.next() != position + 1) {
                // The next block may be far ahead in event time, and that of another split may come first.
                break;
            }
        }
        return InputStatus.MORE_AVAILABLE;
    }

    @Override
    public CompletableFuture<Void> isAvailable() {
        return available;
    }

    @Override
    public List<PositionsSplit> snapshotState(long checkpoint) {
        List<PositionsSplit> state = new ArrayList<>();
        for (PositionsSplit split : splits) {
            state.add(split.copy());
        }
        return state;
    }

    @Override
    public void close() {}

    /** The split with the lowest position, of those that have events left; null if there is none. */
    private PositionsSplit lowest() {
        PositionsSplit lowest = null;
        for (PositionsSplit split : splits) {
            if (split.next() < settings.events && (lowest == null || split.next() < lowest.next())) {
                lowest = split;
            }
        }
        return lowest;
    }

    private InputStatus atEnd() {
        if (!allSplits) {
            available = new CompletableFuture<>();
            return InputStatus.NOTHING_AVAILABLE;
        }
        if (endedNs == null) {
            endedNs = System.nanoTime();
        }
        boolean over = System.nanoTime() - endedNs >= settings.lingerMs * NS_PER_MS;
        return over ? InputStatus.END_OF_INPUT : sleep();
    }

    private boolean isDue(PositionsSplit split) {
        if (settings.schedule.unlimited()) {
            due = Long.MAX_VALUE;
        } else {
            due = settings.schedule.eventsDue((System.currentTimeMillis() - split.startMs()) * NS_PER_MS);
        }
        return split.next() < due;
    }

    private InputStatus sleep() {
        available = new CompletableFuture<Void>().completeOnTimeout(null, WAIT_MS, TimeUnit.MILLISECONDS);
        return InputStatus.NOTHING_AVAILABLE;
    }
}
