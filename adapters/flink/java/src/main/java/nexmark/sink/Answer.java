package nexmark.sink;

import java.util.HashMap;
import java.util.Map;
import org.apache.flink.table.data.RowData;
import org.apache.flink.types.RowKind;

/**
 * The answer so far of one subtask: rows that were added less rows that were taken back, with a digest that does not depend
 * on their order. Answers of several subtasks are added up.
 */
final class Answer {
    private final AnswerLayout layout;
    private final CanonicalText text = new CanonicalText();
    /** Rows of the answer with how often each is in it; kept in mode rows only. */
    private final Map<String, Long> rows = new HashMap<>();
    /** Sums by the text of the other columns; kept only where a column is summed. */
    private final Map<String, Long> sums = new HashMap<>();
    private long records;
    private long rowCount;
    private long digest;

    Answer(AnswerLayout layout) {
        this.layout = layout;
    }

    /** Takes a row of a changelog. */
    void update(RowData row) {
        long difference = row.getRowKind() == RowKind.INSERT || row.getRowKind() == RowKind.UPDATE_AFTER ? 1 : -1;
        records++;
        if (layout.mode == AnswerMode.COUNT) {
            rowCount += difference;
        } else if (layout.sum == AnswerLayout.NO_SUM) {
            write(row, null);
            add(difference);
        } else {
            addToSum(row, difference);
        }
    }

    /** Changes of the changelog: rows added, and rows taken back. */
    long records() {
        return records;
    }

    /** Rows added less rows taken back; where a column is summed, rows of the answer. */
    long rowCount() {
        return rowCount;
    }

    /** Wrapping sum of the rows' hashes; 0 in mode count. */
    long digest() {
        return digest;
    }

    Map<String, Long> rows() {
        return rows;
    }

    Map<String, Long> sums() {
        return sums;
    }

    /** Adds what another subtask, or this one before a restart, had. */
    void restore(long records, long rowCount, long digest) {
        this.records += records;
        this.rowCount += rowCount;
        this.digest += digest;
    }

    private void addToSum(RowData row, long difference) {
        long change = difference * layout.columns[layout.sum].integer(row);
        write(row, 0L);
        String key = text.toString();
        Long before = sums.get(key);
        if (before != null) {
            write(row, before);
            add(-1);
        }
        long after = (before == null ? 0 : before) + change;
        sums.put(key, after);
        write(row, after);
        add(1);
    }

    /** Writes the canonical text of a row, with another value in the summed column where one is given. */
    private void write(RowData row, Long sum) {
        text.clear();
        for (int i = 0; i < layout.columns.length; i++) {
            if (sum != null && i == layout.sum) {
                text.append(sum);
            } else {
                layout.columns[i].write(row, text);
            }
        }
    }

    private void add(long difference) {
        rowCount += difference;
        digest += difference * text.hash();
        if (layout.mode == AnswerMode.ROWS) {
            rows.merge(text.toString(), difference, (a, b) -> a + b == 0 ? null : a + b);
        }
    }
}
