package nexmark.sink;

import java.io.Serializable;
import java.util.Optional;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.utils.LogicalTypeChecks;

/** A column of the answer: where it is in a row, and how its value is written. */
final class AnswerColumn implements Serializable {
    private static final long serialVersionUID = 1;

    private enum Kind {
        INTEGER,
        TIME,
        DECIMAL,
        TEXT
    }

    private final int index;
    private final Kind kind;
    private final int precision;
    private final int scale;

    private AnswerColumn(int index, Kind kind, int precision, int scale) {
        this.index = index;
        this.kind = kind;
        this.precision = precision;
        this.scale = scale;
    }

    /** The column at an index of a row; empty when answers have no values of its type. */
    static Optional<AnswerColumn> of(int index, LogicalType type) {
        switch (type.getTypeRoot()) {
            case BIGINT:
                return Optional.of(new AnswerColumn(index, Kind.INTEGER, 0, 0));
            case TIMESTAMP_WITHOUT_TIME_ZONE:
                return Optional.of(new AnswerColumn(index, Kind.TIME, LogicalTypeChecks.getPrecision(type), 0));
            case DECIMAL:
                return Optional.of(new AnswerColumn(
                        index, Kind.DECIMAL, LogicalTypeChecks.getPrecision(type), LogicalTypeChecks.getScale(type)));
            case VARCHAR:
                return Optional.of(new AnswerColumn(index, Kind.TEXT, 0, 0));
            default:
                return Optional.empty();
        }
    }

    boolean isInteger() {
        return kind == Kind.INTEGER;
    }

    boolean isTime() {
        return kind == Kind.TIME;
    }

    /** Value of an integer column. */
    long integer(RowData row) {
        return row.getLong(index);
    }

    /** Value of a time column, epoch ms. */
    long timeMs(RowData row) {
        return row.getTimestamp(index, precision).getMillisecond();
    }

    boolean isNull(RowData row) {
        return row.isNullAt(index);
    }

    /** Appends the value of this column. */
    void write(RowData row, CanonicalText text) {
        if (row.isNullAt(index)) {
            text.appendNull();
            return;
        }
        switch (kind) {
            case INTEGER:
                text.append(row.getLong(index));
                break;
            case TIME:
                text.append(timeMs(row));
                break;
            case DECIMAL:
                text.append(row.getDecimal(index, precision, scale).toBigDecimal());
                break;
            default:
                text.append(row.getString(index));
        }
    }
}
