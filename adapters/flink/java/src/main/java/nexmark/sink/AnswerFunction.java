package nexmark.sink;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.apache.flink.api.common.accumulators.Histogram;
import org.apache.flink.api.common.accumulators.LongCounter;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.typeinfo.PrimitiveArrayTypeInfo;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.metrics.Gauge;
import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.runtime.state.FunctionInitializationContext;
import org.apache.flink.runtime.state.FunctionSnapshotContext;
import org.apache.flink.streaming.api.checkpoint.CheckpointedFunction;
import org.apache.flink.streaming.api.functions.ProcessFunction;
import org.apache.flink.table.data.RowData;
import org.apache.flink.util.Collector;

/**
 * Takes every row of the result and emits nothing. Shows what it keeps as metrics in group {@code nexmark}, and as
 * accumulators of the job, which stay when the job has ended:
 *
 * <ul>
 *   <li>{@code nexmark.records}: changes of the changelog, retractions included
 *   <li>{@code nexmark.rows}: rows added less rows taken back
 *   <li>{@code nexmark.digest}: wrapping sum of the rows' hashes, as a signed number; 0 where it is not asked for
 *   <li>{@code nexmark.answer}: where asked for, at the end, a line for each different row of the answer: how often it is in
 *       it, a space, and its canonical text
 *   <li>{@code nexmark.latency-ms}: where asked for, how many rows left how long after the time in their column, ms, rounded
 *       to three digits
 * </ul>
 *
 * What is kept is part of checkpoints, so that a job that restarts counts each row once.
 */
final class AnswerFunction extends ProcessFunction<RowData, Void> implements CheckpointedFunction {
    private static final long serialVersionUID = 1;

    /** The answer travels in one message of Flink's, which is at most 10 MiB unless the cluster is set otherwise. */
    private static final int ANSWER_BYTES_MAX = 8 << 20;
    /** Latencies from here on are rounded to three digits. */
    private static final long EXACT_MS = 1000;

    private final AnswerLayout layout;
    private transient Answer answer;
    private transient LongCounter records;
    private transient LongCounter rows;
    private transient LongCounter digest;
    private transient TextAccumulator text;
    private transient Histogram latencyMs;
    private transient ListState<long[]> countsState;
    private transient ListState<Tuple2<String, Long>> rowsState;
    private transient ListState<Tuple2<String, Long>> sumsState;

    AnswerFunction(AnswerLayout layout) {
        this.layout = layout;
    }

    @Override
    public void initializeState(FunctionInitializationContext context) throws Exception {
        var states = context.getOperatorStateStore();
        countsState = states.getListState(
                new ListStateDescriptor<>("counts", PrimitiveArrayTypeInfo.LONG_PRIMITIVE_ARRAY_TYPE_INFO));
        rowsState = states.getListState(new ListStateDescriptor<>("rows", Types.TUPLE(Types.STRING, Types.LONG)));
        sumsState = states.getListState(new ListStateDescriptor<>("sums", Types.TUPLE(Types.STRING, Types.LONG)));
        answer = new Answer(layout);
        for (long[] counts : countsState.get()) {
            if (layout.sum != AnswerLayout.NO_SUM && counts[3] != parallelism()) {
                throw new IllegalStateException("an answer with a summed column is kept by parallelism " + counts[3]
                        + " and cannot go on with " + parallelism() + ": equal rows would no longer meet");
            }
            answer.restore(counts[0], counts[1], counts[2]);
        }
        for (Tuple2<String, Long> row : rowsState.get()) {
            answer.rows().merge(row.f0, row.f1, Long::sum);
        }
        for (Tuple2<String, Long> sum : sumsState.get()) {
            answer.sums().merge(sum.f0, sum.f1, Long::sum);
        }
    }

    @Override
    public void open(OpenContext context) {
        records = accumulator("nexmark.records");
        rows = accumulator("nexmark.rows");
        digest = accumulator("nexmark.digest");
        if (layout.mode == AnswerMode.ROWS) {
            text = new TextAccumulator();
            getRuntimeContext().addAccumulator("nexmark.answer", text);
        }
        if (layout.latency != null) {
            latencyMs = new Histogram();
            getRuntimeContext().addAccumulator("nexmark.latency-ms", latencyMs);
        }
        MetricGroup group = getRuntimeContext().getMetricGroup().addGroup("nexmark");
        group.gauge("records", (Gauge<Long>) records::getLocalValue);
        group.gauge("rows", (Gauge<Long>) rows::getLocalValue);
        group.gauge("digest", (Gauge<Long>) digest::getLocalValue);
        publish();
    }

    @Override
    public void processElement(RowData row, Context context, Collector<Void> out) {
        answer.update(row);
        publish();
        if (layout.latency != null && !layout.latency.isNull(row)) {
            latencyMs.add(rounded(System.currentTimeMillis() - layout.latency.timeMs(row)));
        }
    }

    @Override
    public void snapshotState(FunctionSnapshotContext context) throws Exception {
        countsState.update(
                List.of(new long[] {answer.records(), answer.rowCount(), answer.digest(), parallelism()}));
        save(rowsState, answer.rows());
        save(sumsState, answer.sums());
    }

    /** @throws IOException when the answer is larger than what Flink can carry */
    @Override
    public void close() throws IOException {
        if (text == null) {
            return;
        }
        StringBuilder lines = new StringBuilder();
        for (Map.Entry<String, Long> row : answer.rows().entrySet()) {
            lines.append(row.getValue()).append(' ').append(row.getKey()).append('\n');
            if (lines.length() > ANSWER_BYTES_MAX) {
                throw new IOException("the answer is larger than " + ANSWER_BYTES_MAX
                        + " bytes in one subtask; ask for its digest, or for fewer events");
            }
        }
        text.resetLocal();
        text.add(lines.toString());
    }

    private void publish() {
        set(records, answer.records());
        set(rows, answer.rowCount());
        set(digest, answer.digest());
    }

    private int parallelism() {
        return getRuntimeContext().getTaskInfo().getNumberOfParallelSubtasks();
    }

    private LongCounter accumulator(String name) {
        LongCounter counter = new LongCounter();
        getRuntimeContext().addAccumulator(name, counter);
        return counter;
    }

    private static void set(LongCounter counter, long value) {
        counter.add(value - counter.getLocalValuePrimitive());
    }

    private static void save(ListState<Tuple2<String, Long>> state, Map<String, Long> values) throws Exception {
        state.clear();
        for (Map.Entry<String, Long> value : values.entrySet()) {
            state.add(Tuple2.of(value.getKey(), value.getValue()));
        }
    }

    /** Three digits of a latency; a negative one stays as it is, since it shows clocks that differ. */
    private static int rounded(long ms) {
        long unit = 1;
        while (ms / unit >= EXACT_MS) {
            unit *= 10;
        }
        long value = ms / unit * unit;
        return (int) Math.max(Integer.MIN_VALUE, Math.min(Integer.MAX_VALUE, value));
    }
}
