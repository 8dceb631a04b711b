package nexmark.source;

import java.util.List;
import org.apache.flink.api.connector.source.Boundedness;
import org.apache.flink.api.connector.source.Source;
import org.apache.flink.api.connector.source.SourceReader;
import org.apache.flink.api.connector.source.SourceReaderContext;
import org.apache.flink.api.connector.source.SplitEnumerator;
import org.apache.flink.api.connector.source.SplitEnumeratorContext;
import org.apache.flink.core.io.SimpleVersionedSerializer;
import org.apache.flink.table.data.RowData;

/** The event stream as a source. The union over its subtasks is every position once, also after a restore. */
final class NexmarkSource implements Source<RowData, PositionsSplit, List<PositionsSplit>> {
    private static final long serialVersionUID = 1;

    private final SourceSettings settings;

    NexmarkSource(SourceSettings settings) {
        this.settings = settings;
    }

    @Override
    public Boundedness getBoundedness() {
        return settings.events == SourceSettings.UNBOUNDED
                ? Boundedness.CONTINUOUS_UNBOUNDED
                : Boundedness.BOUNDED;
    }

    @Override
    public SplitEnumerator<PositionsSplit, List<PositionsSplit>> createEnumerator(
            SplitEnumeratorContext<PositionsSplit> context) {
        long startMs = settings.startMs == SourceSettings.AT_JOB_START
                ? System.currentTimeMillis()
                : settings.startMs;
        return restoreEnumerator(context, PositionsEnumerator.deal(context.currentParallelism(), startMs));
    }

    @Override
    public SplitEnumerator<PositionsSplit, List<PositionsSplit>> restoreEnumerator(
            SplitEnumeratorContext<PositionsSplit> context, List<PositionsSplit> waiting) {
        return new PositionsEnumerator(context, waiting);
    }

    @Override
    public SourceReader<RowData, PositionsSplit> createReader(SourceReaderContext context) {
        return new EventReader(EventCounter.of(context.metricGroup()), settings);
    }

    @Override
    public SimpleVersionedSerializer<PositionsSplit> getSplitSerializer() {
        return new PositionsSerializer().ofOne();
    }

    @Override
    public SimpleVersionedSerializer<List<PositionsSplit>> getEnumeratorCheckpointSerializer() {
        return new PositionsSerializer();
    }
}
