package nexmark.job;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.StringJoiner;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.api.TableResult;
import org.apache.flink.table.api.bridge.java.StreamTableEnvironment;

/** One job: tables and views, their options, and the one INSERT that runs. */
final class Job {
    private final List<String> definitions = new ArrayList<>();
    private final String insert;
    private final Arguments arguments;

    /** @throws IllegalArgumentException when the statements hold no INSERT or several */
    Job(Arguments arguments) {
        List<String> inserts = new ArrayList<>();
        for (String statement : arguments.sql()) {
            boolean isInsert = statement.toUpperCase(Locale.ROOT).startsWith("INSERT");
            (isInsert ? inserts : definitions).add(statement);
        }
        if (inserts.size() != 1) {
            throw new IllegalArgumentException("a job has one INSERT, there are " + inserts.size());
        }
        this.insert = inserts.get(0);
        this.arguments = arguments;
    }

    /** Submits the job. Flink's error is passed on when it refuses a statement, an option or a setting. */
    TableResult submit(StreamExecutionEnvironment environment) {
        StreamTableEnvironment tables = StreamTableEnvironment.create(environment);
        String statement = prepare(tables);
        environment.getConfig().setGlobalJobParameters(new EffectiveSettings(tables.getConfig()));
        return tables.executeSql(statement);
    }

    /** Makes everything that the job's INSERT needs; the INSERT. */
    String prepare(StreamTableEnvironment tables) {
        arguments.settings().forEach(tables.getConfig()::set);
        definitions.forEach(tables::executeSql);
        arguments.options().forEach((table, options) -> tables.executeSql(alter(table, options)));
        if (AverageSellingPrice.isReadBy(insert)) {
            AverageSellingPrice.register(tables);
        }
        return insert;
    }

    private static String alter(String table, Map<String, String> options) {
        StringJoiner entries = new StringJoiner(", ");
        options.forEach((key, value) -> entries.add(quoted(key) + " = " + quoted(value)));
        return "ALTER TABLE `" + table.replace("`", "``") + "` SET (" + entries + ")";
    }

    private static String quoted(String text) {
        return "'" + text.replace("'", "''") + "'";
    }
}
