package nexmark.job;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Map;
import org.apache.flink.table.api.TableConfig;
import org.junit.jupiter.api.Test;

class EffectiveSettingsTest {
    @Test
    void whatAPlanIsMadeWithIsShownAndNothingElse() {
        TableConfig config = TableConfig.getDefault();
        Map<String, String> before = new EffectiveSettings(config).toMap();
        config.set("table.exec.mini-batch.size", "7");
        config.set("execution.checkpointing.interval", "5 s");
        config.set("s3.secret-key", "hush");
        config.set("pipeline.jars", "file:/a.jar");
        Map<String, String> shown = new EffectiveSettings(config).toMap();
        assertEquals("7", shown.get("table.exec.mini-batch.size"));
        assertEquals("5 s", shown.get("execution.checkpointing.interval"));
        assertEquals(before.size() + 2, shown.size());
    }
}
