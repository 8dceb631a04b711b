package nexmark.job;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.flink.api.common.ExecutionConfig.GlobalJobParameters;
import org.apache.flink.table.api.TableConfig;

/**
 * The settings that a job's plan is made with, wherever they came from: the cluster, the request or an argument. Flink shows
 * them with the job as its user's configuration, in the web interface and over REST.
 */
final class EffectiveSettings extends GlobalJobParameters {
    private static final long serialVersionUID = 1;

    /** Begin of the settings that a result depends on; others may hold secrets. */
    private static final List<String> SHOWN =
            List.of("table.", "execution.", "state.", "pipeline.", "restart-strategy.", "parallelism.");
    /** What the cluster adds for itself. */
    private static final List<String> HIDDEN = List.of("pipeline.jars", "pipeline.classpaths", "pipeline.global-job-parameters");

    private final TreeMap<String, String> settings = new TreeMap<>();

    EffectiveSettings(TableConfig config) {
        config.toMap().forEach((key, value) -> {
            if (SHOWN.stream().anyMatch(key::startsWith) && !HIDDEN.contains(key)) {
                settings.put(key, value);
            }
        });
    }

    @Override
    public Map<String, String> toMap() {
        return settings;
    }
}
