package nexmark.functions;

import java.util.Set;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.table.api.DataTypes;
import org.apache.flink.table.api.ValidationException;
import org.apache.flink.table.connector.source.DynamicTableSource;
import org.apache.flink.table.connector.source.LookupTableSource;
import org.apache.flink.table.connector.source.lookup.LookupFunctionProvider;
import org.apache.flink.table.factories.DynamicTableSourceFactory;
import org.apache.flink.table.factories.FactoryUtil;

/** Makes lookup table {@code nexmark-side}: (key BIGINT, value STRING), a row for each key of {@link SideTable}. */
public final class SideTableFactory implements DynamicTableSourceFactory {
    private static final String IDENTIFIER = "nexmark-side";
    private static final String COLUMNS = DataTypes.ROW(
                    DataTypes.FIELD("key", DataTypes.BIGINT()), DataTypes.FIELD("value", DataTypes.STRING()))
            .getLogicalType()
            .asSummaryString();

    @Override
    public String factoryIdentifier() {
        return IDENTIFIER;
    }

    @Override
    public Set<ConfigOption<?>> requiredOptions() {
        return Set.of();
    }

    @Override
    public Set<ConfigOption<?>> optionalOptions() {
        return Set.of();
    }

    /** @throws ValidationException when the table has options or other columns */
    @Override
    public DynamicTableSource createDynamicTableSource(Context context) {
        FactoryUtil.createTableFactoryHelper(this, context).validate();
        String given = context.getPhysicalRowDataType().getLogicalType().copy(true).asSummaryString();
        if (!given.equals(COLUMNS)) {
            throw new ValidationException("columns of table " + context.getObjectIdentifier().asSummaryString()
                    + " are " + given + ", connector " + IDENTIFIER + " gives " + COLUMNS);
        }
        return new Source();
    }

    private static final class Source implements LookupTableSource {
        @Override
        public LookupRuntimeProvider getLookupRuntimeProvider(LookupContext context) {
            int[][] keys = context.getKeys();
            if (keys.length != 1 || keys[0].length != 1 || keys[0][0] != 0) {
                throw new ValidationException("connector " + IDENTIFIER + " is looked up by column key alone");
            }
            return LookupFunctionProvider.of(new SideTable());
        }

        @Override
        public DynamicTableSource copy() {
            return new Source();
        }

        @Override
        public String asSummaryString() {
            return IDENTIFIER;
        }
    }
}
