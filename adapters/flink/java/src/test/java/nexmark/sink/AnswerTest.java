package nexmark.sink;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Map;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.StringData;
import org.apache.flink.table.types.logical.BigIntType;
import org.apache.flink.table.types.logical.VarCharType;
import org.apache.flink.types.RowKind;
import org.junit.jupiter.api.Test;

/** What the sink keeps of a changelog. */
class AnswerTest {
    private static final AnswerColumn[] COLUMNS = {
        AnswerColumn.of(0, new VarCharType(VarCharType.MAX_LENGTH)).orElseThrow(),
        AnswerColumn.of(1, new BigIntType()).orElseThrow()
    };

    @Test
    void aRowThatIsTakenBackIsAsIfItHadNeverBeen() {
        Answer one = answer(AnswerMode.ROWS, AnswerLayout.NO_SUM);
        one.update(row(RowKind.INSERT, "x", 1));
        one.update(row(RowKind.UPDATE_BEFORE, "x", 1));
        one.update(row(RowKind.UPDATE_AFTER, "x", 2));
        one.update(row(RowKind.INSERT, "y", 3));
        one.update(row(RowKind.DELETE, "y", 3));
        Answer other = answer(AnswerMode.DIGEST, AnswerLayout.NO_SUM);
        other.update(row(RowKind.INSERT, "x", 2));
        assertEquals(other.digest(), one.digest());
        assertEquals(1, one.rowCount());
        assertEquals(5, one.records());
        assertEquals(Map.of("x\u001f2", 1L), one.rows());
    }

    @Test
    void rowsAreCountedWithoutADigest() {
        Answer answer = answer(AnswerMode.COUNT, AnswerLayout.NO_SUM);
        answer.update(row(RowKind.INSERT, "x", 1));
        answer.update(row(RowKind.DELETE, "x", 1));
        assertEquals(2, answer.records());
        assertEquals(0, answer.rowCount());
        assertEquals(0, answer.digest());
    }

    @Test
    void aSummedColumnIsTheSumOverEqualRows() {
        Answer summed = answer(AnswerMode.ROWS, 1);
        summed.update(row(RowKind.INSERT, "x", 1));
        summed.update(row(RowKind.INSERT, "y", 5));
        summed.update(row(RowKind.INSERT, "x", 41));
        assertEquals(Map.of("x\u001f42", 1L, "y\u001f5", 1L), summed.rows());
        Answer whole = answer(AnswerMode.DIGEST, AnswerLayout.NO_SUM);
        whole.update(row(RowKind.INSERT, "x", 42));
        whole.update(row(RowKind.INSERT, "y", 5));
        assertEquals(whole.digest(), summed.digest());
        assertEquals(2, summed.rowCount());
    }

    @Test
    void partsOfAnAnswerAddUp() {
        Answer first = answer(AnswerMode.DIGEST, AnswerLayout.NO_SUM);
        first.update(row(RowKind.INSERT, "x", 1));
        Answer second = answer(AnswerMode.DIGEST, AnswerLayout.NO_SUM);
        second.restore(first.records(), first.rowCount(), first.digest());
        second.update(row(RowKind.DELETE, "x", 1));
        assertEquals(0, second.rowCount());
        assertEquals(0, second.digest());
    }

    private static Answer answer(AnswerMode mode, int sum) {
        return new Answer(new AnswerLayout(mode, COLUMNS, sum, null));
    }

    private static RowData row(RowKind kind, String text, long number) {
        return GenericRowData.ofKind(kind, StringData.fromString(text), number);
    }
}
