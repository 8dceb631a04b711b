package nexmark.job;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.ObjectMapper;

/** The golden answers of one configuration of the stream. */
final class Golden {
    private static final Path ROOT = Path.of("../../..");

    private final JsonNode file;

    Golden(String configuration) throws IOException {
        file = new ObjectMapper()
                .readTree(ROOT.resolve("tests/golden/answers-" + configuration + ".json").toFile());
    }

    /** SQL of a query, or the tables of the stream as {@code source}. */
    static String sql(String folder) throws IOException {
        return Files.readString(ROOT.resolve("queries").resolve(folder).resolve("flink.sql"));
    }

    /** Canonical texts of the golden events of a table, under the default options. */
    static List<String> events(String table) throws IOException {
        List<String> rows = new ArrayList<>();
        for (String line : Files.readAllLines(ROOT.resolve("tests/golden/events-a.ndjson"))) {
            JsonNode event = new ObjectMapper().readTree(line).get(table);
            if (event != null) {
                List<String> values = new ArrayList<>();
                event.forEach(value -> values.add(value.asText()));
                rows.add(String.join("\u001f", values));
            }
        }
        return rows;
    }

    /** Rows and digest of a query, in the form in which they are compared. */
    String answer(String query) {
        JsonNode answer = file.get("answers").get(query);
        return answer.get("rows").asLong() + " " + answer.get("digest").asText();
    }

    /** Arguments that give the source this configuration. */
    List<String> sourceOptions() {
        List<String> arguments = new ArrayList<>();
        for (String key : List.of("events", "seed")) {
            arguments.addAll(List.of("--option", "nexmark", key + "=" + file.get(key).asText()));
        }
        file.get("options").fields().forEachRemaining(option ->
                arguments.addAll(List.of("--option", "nexmark", option.getKey() + "=" + option.getValue().asText())));
        return arguments;
    }
}
