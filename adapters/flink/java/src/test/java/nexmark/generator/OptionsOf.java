package nexmark.generator;

import java.util.EnumMap;
import java.util.Map;

/** Options from texts such as {@code seed=7}. */
final class OptionsOf {
    private OptionsOf() {}

    static StreamOptions text(String... given) {
        Map<StreamOption, String> values = new EnumMap<>(StreamOption.class);
        for (String entry : given) {
            String[] parts = entry.split("=", 2);
            for (StreamOption option : StreamOption.values()) {
                if (option.optionName().equals(parts[0])) {
                    values.put(option, parts[1]);
                }
            }
        }
        return new StreamOptions(values);
    }
}
