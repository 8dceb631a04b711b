package nexmark.source;

import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import nexmark.generator.OptionException;
import nexmark.generator.StreamOption;
import nexmark.generator.StreamOptions;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.ConfigOptions;
import org.apache.flink.configuration.ReadableConfig;
import org.apache.flink.util.TimeUtils;

/**
 * The options of table source {@code nexmark}. All are read as text, so that a value that is refused can be shown as it was
 * given.
 */
final class SourceOptions {
    private static final ConfigOption<String> EVENTS =
            option("events", null, "number of events of all kinds, over all subtasks; without it there is no end");
    private static final ConfigOption<String> RATE =
            option("rate", "0", "events offered per second, over all subtasks; 0 for as fast as they are taken");
    private static final ConfigOption<String> SHAPE =
            option("shape", "constant", "how the rate changes over time: constant, square or sine");
    private static final ConfigOption<String> NEXT_RATE =
            option("next-rate", null, "the other rate of a square or sine, events per second");
    private static final ConfigOption<String> PERIOD =
            option("period", null, "length of a period of a square or sine, such as 60 s");
    private static final ConfigOption<String> START_TIME =
            option("start.time", null, "when the first event is due, epoch ms; without it when the job starts");
    private static final ConfigOption<String> END_DELAY = option(
            "end.delay", "0 s", "time from the last event to the end of the input, so that windows of the clock can fire");

    private static final List<ConfigOption<String>> OF_SOURCE =
            List.of(EVENTS, RATE, SHAPE, NEXT_RATE, PERIOD, START_TIME, END_DELAY);
    private static final Duration END_DELAY_MAX = Duration.ofDays(1);

    private SourceOptions() {}

    /** Every option that the source knows. */
    static Set<ConfigOption<?>> all() {
        Set<ConfigOption<?>> all = new HashSet<>(OF_SOURCE);
        for (StreamOption option : StreamOption.values()) {
            all.add(ofStream(option));
        }
        return all;
    }

    /**
     * Reads and checks all options.
     *
     * @throws OptionException naming the first option whose value is refused
     */
    static SourceSettings read(ReadableConfig config) {
        Map<StreamOption, String> stream = new EnumMap<>(StreamOption.class);
        for (StreamOption option : StreamOption.values()) {
            stream.put(option, config.get(ofStream(option)));
        }
        long events = whole(config, EVENTS, 0, 1L << 53, SourceSettings.UNBOUNDED);
        long startMs = whole(config, START_TIME, 0, 1L << 52, SourceSettings.AT_JOB_START);
        Duration endDelay = duration(config, END_DELAY);
        if (endDelay.compareTo(END_DELAY_MAX) > 0) {
            throw new OptionException(END_DELAY.key(), config.get(END_DELAY), "a time up to 1 d");
        }
        return new SourceSettings(new StreamOptions(stream), events, schedule(config), startMs, endDelay.toMillis());
    }

    private static Schedule schedule(ReadableConfig config) {
        Schedule.Shape shape = shape(config);
        double rate = number(config, RATE);
        if (shape != Schedule.Shape.CONSTANT) {
            return new Schedule(shape, rate, number(config, NEXT_RATE), duration(config, PERIOD));
        }
        for (ConfigOption<String> unused : List.of(NEXT_RATE, PERIOD)) {
            if (config.get(unused) != null) {
                throw new OptionException(unused.key(), config.get(unused), "no value where shape is constant");
            }
        }
        return Schedule.constant(rate);
    }

    private static Schedule.Shape shape(ReadableConfig config) {
        List<String> names = new ArrayList<>();
        for (Schedule.Shape shape : Schedule.Shape.values()) {
            names.add(shape.name().toLowerCase(Locale.ROOT));
        }
        int index = names.indexOf(config.get(SHAPE));
        if (index < 0) {
            throw new OptionException(SHAPE.key(), config.get(SHAPE), String.join(", ", names));
        }
        return Schedule.Shape.values()[index];
    }

    private static long whole(
            ReadableConfig config, ConfigOption<String> option, long min, long max, long whenAbsent) {
        String text = config.get(option);
        if (text == null) {
            return whenAbsent;
        }
        String allowed = "a whole number from " + min + " to " + max;
        try {
            long value = Long.parseLong(text.trim());
            if (value >= min && value <= max) {
                return value;
            }
        } catch (NumberFormatException noNumber) {
            throw new OptionException(option.key(), text, allowed);
        }
        throw new OptionException(option.key(), text, allowed);
    }

    private static double number(ReadableConfig config, ConfigOption<String> option) {
        String text = required(config, option);
        try {
            return Double.parseDouble(text.trim());
        } catch (NumberFormatException noNumber) {
            throw new OptionException(option.key(), text, "a number of events per second");
        }
    }

    private static Duration duration(ReadableConfig config, ConfigOption<String> option) {
        String text = required(config, option);
        try {
            return TimeUtils.parseDuration(text);
        } catch (IllegalArgumentException noTime) {
            throw new OptionException(option.key(), text, "a time such as 500 ms, 60 s or 1 min");
        }
    }

    private static String required(ReadableConfig config, ConfigOption<String> option) {
        String text = config.get(option);
        if (text == null) {
            throw new OptionException(option.key(), "", "a value, since shape is not constant");
        }
        return text;
    }

    private static ConfigOption<String> ofStream(StreamOption option) {
        return option(option.optionName(), option.defaultValue(), option.meaning());
    }

    private static ConfigOption<String> option(String name, String defaultValue, String meaning) {
        ConfigOptions.TypedConfigOptionBuilder<String> option = ConfigOptions.key(name).stringType();
        ConfigOption<String> typed = defaultValue == null ? option.noDefaultValue() : option.defaultValue(defaultValue);
        return typed.withDescription(meaning);
    }
}
