package nexmark.job;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What the entry point was asked for:
 *
 * <ul>
 *   <li>{@code --sql STATEMENTS}: statements joined by {@code ;}, may be given several times; one of them is an INSERT
 *   <li>{@code --option TABLE KEY=VALUE}: an option of a table that the statements create
 *   <li>{@code --set KEY=VALUE}: a setting of Flink's table programs
 * </ul>
 */
final class Arguments {
    private static final String USAGE = "--sql STATEMENTS, --option TABLE KEY=VALUE, --set KEY=VALUE";

    private final List<String> sql = new ArrayList<>();
    private final Map<String, Map<String, String>> options = new LinkedHashMap<>();
    private final Map<String, String> settings = new LinkedHashMap<>();

    /** @throws IllegalArgumentException naming the argument that is unknown or incomplete */
    Arguments(String... given) {
        int at = 0;
        while (at < given.length) {
            switch (given[at]) {
                case "--sql":
                    sql.addAll(Statements.split(value(given, at + 1)));
                    at += 2;
                    break;
                case "--option":
                    put(options.computeIfAbsent(value(given, at + 1), table -> new LinkedHashMap<>()),
                            value(given, at + 2));
                    at += 3;
                    break;
                case "--set":
                    put(settings, value(given, at + 1));
                    at += 2;
                    break;
                default:
                    throw new IllegalArgumentException(
                            "argument \"" + given[at] + "\" is unknown, allowed is " + USAGE);
            }
        }
    }

    /** The statements in their order, without comments around them. */
    List<String> sql() {
        return sql;
    }

    /** Options by table. */
    Map<String, Map<String, String>> options() {
        return options;
    }

    /** Settings of table programs. */
    Map<String, String> settings() {
        return settings;
    }

    private static String value(String[] given, int at) {
        if (at >= given.length) {
            throw new IllegalArgumentException(
                    "argument \"" + given[given.length - 1] + "\" lacks what follows it, allowed is " + USAGE);
        }
        return given[at];
    }

    private static void put(Map<String, String> values, String entry) {
        int equals = entry.indexOf('=');
        if (equals < 1) {
            throw new IllegalArgumentException("argument \"" + entry + "\" is not of the form KEY=VALUE");
        }
        values.put(entry.substring(0, equals), entry.substring(equals + 1));
    }
}
