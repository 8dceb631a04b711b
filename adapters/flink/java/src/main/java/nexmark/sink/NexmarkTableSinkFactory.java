package nexmark.sink;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.ConfigOptions;
import org.apache.flink.configuration.ReadableConfig;
import org.apache.flink.table.api.DataTypes;
import org.apache.flink.table.api.ValidationException;
import org.apache.flink.table.connector.sink.DynamicTableSink;
import org.apache.flink.table.factories.DynamicTableSinkFactory;
import org.apache.flink.table.factories.FactoryUtil;
import org.apache.flink.table.types.DataType;

/** Makes table sink {@code nexmark-sink}. */
public final class NexmarkTableSinkFactory implements DynamicTableSinkFactory {
    private static final String IDENTIFIER = "nexmark-sink";

    private static final ConfigOption<String> ANSWER = ConfigOptions.key("answer")
            .stringType()
            .defaultValue("count")
            .withDescription("what is kept: count, digest (count and digest), or rows (all three)");
    private static final ConfigOption<String> COLUMNS = ConfigOptions.key("columns")
            .stringType()
            .noDefaultValue()
            .withDescription("names of the answer columns, joined by ;, without it all columns of the table");
    private static final ConfigOption<String> SUM = ConfigOptions.key("sum")
            .stringType()
            .noDefaultValue()
            .withDescription("answer column that is summed over rows that are equal in all other answer columns");
    private static final ConfigOption<String> LATENCY = ConfigOptions.key("latency")
            .stringType()
            .noDefaultValue()
            .withDescription("column with the time from which the latency of a row is counted");

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
        return Set.of(ANSWER, COLUMNS, SUM, LATENCY);
    }

    /** @throws ValidationException when an option is unknown or its value is refused */
    @Override
    public DynamicTableSink createDynamicTableSink(Context context) {
        FactoryUtil.TableFactoryHelper helper = FactoryUtil.createTableFactoryHelper(this, context);
        helper.validate();
        ReadableConfig options = helper.getOptions();
        List<DataTypes.Field> fields = new ArrayList<>(DataType.getFields(context.getPhysicalRowDataType()));
        List<String> names = new ArrayList<>();
        fields.forEach(field -> names.add(field.getName()));
        List<String> answerNames = options.getOptional(COLUMNS).map(list -> List.of(list.split(";"))).orElse(names);
        AnswerColumn[] columns = new AnswerColumn[answerNames.size()];
        for (int i = 0; i < columns.length; i++) {
            columns[i] = column(COLUMNS, answerNames.get(i), fields, names);
        }
        return new NexmarkTableSink(new AnswerLayout(
                mode(options.get(ANSWER)), columns, sum(options, answerNames, columns), latency(options, fields, names)));
    }

    private static AnswerMode mode(String text) {
        List<String> allowed = new ArrayList<>();
        for (AnswerMode mode : AnswerMode.values()) {
            allowed.add(mode.name().toLowerCase(Locale.ROOT));
        }
        int index = allowed.indexOf(text);
        if (index < 0) {
            throw refused(ANSWER, text, String.join(", ", allowed));
        }
        return AnswerMode.values()[index];
    }

    private static AnswerColumn column(
            ConfigOption<String> option, String name, List<DataTypes.Field> fields, List<String> names) {
        int index = names.indexOf(name);
        if (index < 0) {
            throw refused(option, name, "a column of the table: " + String.join(", ", names));
        }
        DataType type = fields.get(index).getDataType();
        return AnswerColumn.of(index, type.getLogicalType())
                .orElseThrow(() -> refused(
                        option, name + " " + type, "a column of type BIGINT, TIMESTAMP, DECIMAL or STRING"));
    }

    private static int sum(ReadableConfig options, List<String> names, AnswerColumn[] columns) {
        String name = options.get(SUM);
        if (name == null) {
            return AnswerLayout.NO_SUM;
        }
        int index = names.indexOf(name);
        if (index < 0 || !columns[index].isInteger()) {
            throw refused(SUM, name, "an answer column of type BIGINT");
        }
        return index;
    }

    private static AnswerColumn latency(ReadableConfig options, List<DataTypes.Field> fields, List<String> names) {
        String name = options.get(LATENCY);
        if (name == null) {
            return null;
        }
        AnswerColumn column = column(LATENCY, name, fields, names);
        if (!column.isTime()) {
            throw refused(LATENCY, name, "a column of type TIMESTAMP");
        }
        return column;
    }

    private static ValidationException refused(ConfigOption<String> option, String value, String allowed) {
        return new ValidationException("option " + option.key() + " is \"" + value + "\", allowed is " + allowed);
    }
}
