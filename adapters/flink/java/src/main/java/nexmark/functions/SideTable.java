package nexmark.functions;

import java.util.Collection;
import java.util.List;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.StringData;
import org.apache.flink.table.functions.FunctionContext;
import org.apache.flink.table.functions.LookupFunction;

/** The bounded side input, kept in memory: keys 0 to 9999, each with its decimal text as value. */
public final class SideTable extends LookupFunction {
    private static final long serialVersionUID = 1;
    private static final int KEYS = 10_000;

    private transient StringData[] values;

    @Override
    public void open(FunctionContext context) {
        values = new StringData[KEYS];
        for (int key = 0; key < KEYS; key++) {
            values[key] = StringData.fromString(Integer.toString(key));
        }
    }

    @Override
    public Collection<RowData> lookup(RowData keys) {
        if (keys.isNullAt(0) || keys.getLong(0) < 0 || keys.getLong(0) >= KEYS) {
            return List.of();
        }
        long key = keys.getLong(0);
        return List.of(GenericRowData.of(key, values[(int) key]));
    }
}
