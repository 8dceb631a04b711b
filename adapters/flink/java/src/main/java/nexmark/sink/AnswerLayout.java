package nexmark.sink;

import java.io.Serializable;

/** How rows become an answer. */
final class AnswerLayout implements Serializable {
    private static final long serialVersionUID = 1;

    /** For {@link #sum}: rows are the answer as they are. */
    static final int NO_SUM = -1;

    final AnswerMode mode;
    /** The answer columns, in order. */
    final AnswerColumn[] columns;
    /** Which of them is summed over the rows that are equal in all others. */
    final int sum;
    /** Time column from which the latency of a row is taken, or null. */
    final AnswerColumn latency;

    AnswerLayout(AnswerMode mode, AnswerColumn[] columns, int sum, AnswerColumn latency) {
        this.mode = mode;
        this.columns = columns;
        this.sum = sum;
        this.latency = latency;
    }
}
