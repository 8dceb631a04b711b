package nexmark.source;

import static org.apache.flink.table.api.DataTypes.BIGINT;
import static org.apache.flink.table.api.DataTypes.FIELD;
import static org.apache.flink.table.api.DataTypes.INT;
import static org.apache.flink.table.api.DataTypes.ROW;
import static org.apache.flink.table.api.DataTypes.STRING;
import static org.apache.flink.table.api.DataTypes.TIMESTAMP;

import java.util.Set;
import nexmark.generator.OptionException;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.table.api.ValidationException;
import org.apache.flink.table.connector.source.DynamicTableSource;
import org.apache.flink.table.factories.DynamicTableSourceFactory;
import org.apache.flink.table.factories.FactoryUtil;
import org.apache.flink.table.types.DataType;

/** Makes table source {@code nexmark} from its options, which have the same names as on other engines. */
public final class NexmarkTableSourceFactory implements DynamicTableSourceFactory {
    private static final String IDENTIFIER = "nexmark";

    private static final DataType COLUMNS = ROW(
            FIELD("event_type", INT()),
            FIELD(
                    "person",
                    ROW(
                            FIELD("id", BIGINT()),
                            FIELD("name", STRING()),
                            FIELD("emailAddress", STRING()),
                            FIELD("creditCard", STRING()),
                            FIELD("city", STRING()),
                            FIELD("state", STRING()),
                            FIELD("dateTime", TIMESTAMP(3)),
                            FIELD("extra", STRING()))),
            FIELD(
                    "auction",
                    ROW(
                            FIELD("id", BIGINT()),
                            FIELD("itemName", STRING()),
                            FIELD("description", STRING()),
                            FIELD("initialBid", BIGINT()),
                            FIELD("reserve", BIGINT()),
                            FIELD("dateTime", TIMESTAMP(3)),
                            FIELD("expires", TIMESTAMP(3)),
                            FIELD("seller", BIGINT()),
                            FIELD("category", BIGINT()),
                            FIELD("extra", STRING()))),
            FIELD(
                    "bid",
                    ROW(
                            FIELD("auction", BIGINT()),
                            FIELD("bidder", BIGINT()),
                            FIELD("price", BIGINT()),
                            FIELD("channel", STRING()),
                            FIELD("url", STRING()),
                            FIELD("dateTime", TIMESTAMP(3)),
                            FIELD("extra", STRING()))));

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
        return SourceOptions.all();
    }

    /**
     * @throws ValidationException when an option is unknown, its value is refused, or the table has other columns than the
     *     stream
     */
    @Override
    public DynamicTableSource createDynamicTableSource(Context context) {
        FactoryUtil.TableFactoryHelper helper = FactoryUtil.createTableFactoryHelper(this, context);
        helper.validate();
        String given = context.getPhysicalRowDataType().getLogicalType().copy(true).asSummaryString();
        String expected = COLUMNS.getLogicalType().asSummaryString();
        if (!given.equals(expected)) {
            throw new ValidationException("columns of table " + context.getObjectIdentifier().asSummaryString()
                    + " are " + given + ", connector " + IDENTIFIER + " gives " + expected);
        }
        try {
            return new NexmarkTableSource(SourceOptions.read(helper.getOptions()));
        } catch (OptionException refused) {
            throw new ValidationException("option " + refused.getMessage(), refused);
        }
    }
}
