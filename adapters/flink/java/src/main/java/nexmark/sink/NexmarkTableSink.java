package nexmark.sink;

import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.DataStreamSink;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.apache.flink.table.connector.ChangelogMode;
import org.apache.flink.table.connector.ProviderContext;
import org.apache.flink.table.connector.sink.DataStreamSinkProvider;
import org.apache.flink.table.connector.sink.DynamicTableSink;
import org.apache.flink.table.data.RowData;

/**
 * Takes a whole changelog: a row that changes is taken back as it was before it is added as it is now, so that a digest can
 * be kept without the rows.
 */
final class NexmarkTableSink implements DynamicTableSink {
    private static final String NAME = "nexmark-sink";

    private final AnswerLayout layout;

    NexmarkTableSink(AnswerLayout layout) {
        this.layout = layout;
    }

    @Override
    public ChangelogMode getChangelogMode(ChangelogMode requested) {
        return ChangelogMode.all();
    }

    @Override
    public SinkRuntimeProvider getSinkRuntimeProvider(Context context) {
        return new DataStreamSinkProvider() {
            @Override
            public DataStreamSink<?> consumeDataStream(ProviderContext provider, DataStream<RowData> rows) {
                return consume(provider, rows);
            }
        };
    }

    @Override
    public DynamicTableSink copy() {
        return new NexmarkTableSink(layout);
    }

    @Override
    public String asSummaryString() {
        return NAME;
    }

    /** The answer is kept in a function, since a sink has no accumulators; nothing reaches the sink behind it. */
    private DataStreamSink<?> consume(ProviderContext provider, DataStream<RowData> rows) {
        SingleOutputStreamOperator<Void> answer = rows.process(new AnswerFunction(layout)).name(NAME);
        provider.generateUid(NAME).ifPresent(answer::uid);
        return answer.sinkTo(new DiscardingSink<>()).name("nothing");
    }
}
