package nexmark.source;

import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.connector.source.SplitEnumerator;
import org.apache.flink.api.connector.source.SplitEnumeratorContext;

/**
 * Deals one split to each subtask. After a restore with another parallelism the number of splits stays, and Flink gives
 * each subtask some of them, or none.
 */
final class PositionsEnumerator implements SplitEnumerator<PositionsSplit, List<PositionsSplit>> {
    private final SplitEnumeratorContext<PositionsSplit> context;
    private final List<PositionsSplit> waiting;

    /** @param waiting splits that no subtask has yet */
    PositionsEnumerator(SplitEnumeratorContext<PositionsSplit> context, List<PositionsSplit> waiting) {
        this.context = context;
        this.waiting = new ArrayList<>(waiting);
    }

    /** The splits of a new job. */
    static List<PositionsSplit> deal(int parallelism, long startMs) {
        List<PositionsSplit> splits = new ArrayList<>();
        for (int index = 0; index < parallelism; index++) {
            splits.add(new PositionsSplit(index, parallelism, startMs));
        }
        return splits;
    }

    @Override
    public void start() {}

    @Override
    public void addReader(int subtask) {
        waiting.removeIf(split -> {
            boolean mine = split.index() % context.currentParallelism() == subtask;
            if (mine) {
                context.assignSplit(split, subtask);
            }
            return mine;
        });
        context.signalNoMoreSplits(subtask);
    }

    @Override
    public void addSplitsBack(List<PositionsSplit> splits, int subtask) {
        // They are dealt again when a subtask of their index registers, which a restarted one does.
        waiting.addAll(splits);
    }

    @Override
    public void handleSplitRequest(int subtask, String host) {
        // Subtasks get their splits when they register and never ask.
    }

    @Override
    public List<PositionsSplit> snapshotState(long checkpoint) {
        return new ArrayList<>(waiting);
    }

    @Override
    public void close() {}
}
