package nexmark.source;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import nexmark.generator.EventType;
import nexmark.generator.StreamOption;
import nexmark.generator.StreamOptions;
import org.apache.flink.api.common.eventtime.Watermark;
import org.apache.flink.api.connector.source.ReaderOutput;
import org.apache.flink.api.connector.source.SourceOutput;
import org.apache.flink.core.io.InputStatus;
import org.apache.flink.metrics.Counter;
import org.apache.flink.metrics.SimpleCounter;
import org.apache.flink.table.data.RowData;
import org.junit.jupiter.api.Test;

/** A reader emits the positions of its splits in their order, each once, also when it goes on from a checkpoint. */
class EventReaderTest {
    private static final long EVENTS = 1000;
    private static final long BASE_TIME = 5_000_000;
    private static final String POSITIONS =
            LongStream.range(0, EVENTS).mapToObj(Long::toString).collect(Collectors.joining(" "));

    private final List<Long> emitted = new ArrayList<>();

    @Test
    void severalSplitsAreMerged() {
        Counter counter = new SimpleCounter();
        readToEnd(reader(counter, PositionsEnumerator.deal(3, 0)));
        assertEquals(POSITIONS, emittedPositions());
        assertEquals(EVENTS, counter.getCount());
    }

    @Test
    void aRestoredReaderGoesOn() {
        EventReader first = reader(new SimpleCounter(), PositionsEnumerator.deal(2, 0));
        for (int i = 0; i < 20; i++) {
            first.pollNext(output());
        }
        List<PositionsSplit> state = first.snapshotState(1);
        int upToHere = emitted.size();
        first.pollNext(output());
        emitted.subList(upToHere, emitted.size()).clear();
        Counter counter = new SimpleCounter();
        readToEnd(reader(counter, state));
        assertEquals(POSITIONS, emittedPositions());
        assertEquals(EVENTS, counter.getCount());
    }

    @Test
    void aReaderWithoutSplitsWaitsThenEnds() {
        EventReader reader = new EventReader(new SimpleCounter(), settings());
        reader.start();
        assertEquals(InputStatus.NOTHING_AVAILABLE, reader.pollNext(output()));
        reader.notifyNoMoreSplits();
        assertEquals(true, reader.isAvailable().isDone());
        assertEquals(InputStatus.END_OF_INPUT, reader.pollNext(output()));
    }

    private String emittedPositions() {
        return emitted.stream().map(position -> Long.toString(position)).collect(Collectors.joining(" "));
    }

    private static EventReader reader(Counter counter, List<PositionsSplit> splits) {
        EventReader reader = new EventReader(counter, settings());
        reader.start();
        reader.addSplits(splits);
        reader.notifyNoMoreSplits();
        return reader;
    }

    private void readToEnd(EventReader reader) {
        while (reader.pollNext(output()) != InputStatus.END_OF_INPUT) {
            assertEquals(true, emitted.size() <= EVENTS);
        }
    }

    /** An event each millisecond, so that event times show positions. */
    private static SourceSettings settings() {
        StreamOptions stream = new StreamOptions(Map.of(
                StreamOption.EVENT_RATE, "1000", StreamOption.BASE_TIME, Long.toString(BASE_TIME)));
        return new SourceSettings(stream, EVENTS, Schedule.constant(0), 0, 0);
    }

    private static long position(RowData row) {
        EventType type = EventType.values()[row.getInt(0)];
        int dateTime = type == EventType.PERSON ? 6 : 5;
        RowData event = row.getRow(type.column(), type.fields());
        return event.getTimestamp(dateTime, 3).getMillisecond() - BASE_TIME;
    }

    private ReaderOutput<RowData> output() {
        return new ReaderOutput<>() {
            @Override
            public void collect(RowData row) {
                emitted.add(position(row));
            }

            @Override
            public void collect(RowData row, long timestamp) {
                collect(row);
            }

            @Override
            public void emitWatermark(Watermark watermark) {}

            @Override
            public void markIdle() {}

            @Override
            public void markActive() {}

            @Override
            public SourceOutput<RowData> createOutputForSplit(String split) {
                return this;
            }

            @Override
            public void releaseOutputForSplit(String split) {}
        };
    }
}
