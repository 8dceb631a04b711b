package nexmark.source;

import org.apache.flink.table.connector.ChangelogMode;
import org.apache.flink.table.connector.source.DynamicTableSource;
import org.apache.flink.table.connector.source.ScanTableSource;
import org.apache.flink.table.connector.source.SourceProvider;

/** The event stream as a table: one column for the kind of an event and one nested row for each kind. */
final class NexmarkTableSource implements ScanTableSource {
    private final SourceSettings settings;

    NexmarkTableSource(SourceSettings settings) {
        this.settings = settings;
    }

    @Override
    public ChangelogMode getChangelogMode() {
        return ChangelogMode.insertOnly();
    }

    @Override
    public ScanRuntimeProvider getScanRuntimeProvider(ScanContext context) {
        return SourceProvider.of(new NexmarkSource(settings));
    }

    @Override
    public DynamicTableSource copy() {
        return new NexmarkTableSource(settings);
    }

    @Override
    public String asSummaryString() {
        return "nexmark";
    }
}
