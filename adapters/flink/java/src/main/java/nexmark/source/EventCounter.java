package nexmark.source;

import org.apache.flink.metrics.Counter;
import org.apache.flink.metrics.groups.OperatorIOMetricGroup;
import org.apache.flink.metrics.groups.SourceReaderMetricGroup;
import org.apache.flink.runtime.metrics.groups.InternalOperatorIOMetricGroup;
import org.apache.flink.runtime.util.EnvironmentInformation;

/** The counter of events, which is both the source's {@code numRecordsIn} and that of its vertex. */
final class EventCounter {
    private EventCounter() {}

    static Counter of(SourceReaderMetricGroup metrics) {
        OperatorIOMetricGroup group = metrics.getIOMetricGroup();
        // Remove when Flink 1.20 is dropped: 2.x lets the vertex follow its source by itself, and a second time would count
        // every event twice.
        boolean vertexFollows = !EnvironmentInformation.getVersion().startsWith("1.");
        if (!vertexFollows && group instanceof InternalOperatorIOMetricGroup) {
            ((InternalOperatorIOMetricGroup) group).reuseInputMetricsForTask();
        }
        return group.getNumRecordsInCounter();
    }
}
