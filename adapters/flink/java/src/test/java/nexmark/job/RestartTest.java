package nexmark.job;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A job that fails in its middle goes on from a checkpoint: each event is in the answer once. */
class RestartTest {
    private static final String BIDS = "CREATE TABLE answer (auction BIGINT, bidder BIGINT, price BIGINT,"
            + " `dateTime` TIMESTAMP(3), extra STRING) WITH ('connector' = 'nexmark-sink');"
            + "CREATE TEMPORARY FUNCTION fail_once AS 'nexmark.job.FailOnce';"
            + "INSERT INTO answer SELECT fail_once(auction), bidder, price, `dateTime`, extra FROM bid";

    @Test
    void anAnswerSurvivesARestart(@TempDir Path checkpoints) throws Exception {
        Golden golden = new Golden("a");
        List<String> arguments = new ArrayList<>(List.of("--sql", Golden.sql("source"), "--sql", BIDS));
        arguments.addAll(golden.sourceOptions());
        // 2 s for 20 000 events, in which there are about 20 checkpoints.
        arguments.addAll(List.of("--option", "nexmark", "rate=10000", "--option", "answer", "answer=rows"));
        try (TestCluster flink = new TestCluster(checkpoints)) {
            StreamExecutionEnvironment environment = flink.environment(2);
            Configuration restarts = new Configuration();
            restarts.setString("restart-strategy.type", "fixed-delay");
            restarts.setString("restart-strategy.fixed-delay.attempts", "1");
            restarts.setString("restart-strategy.fixed-delay.delay", "10 ms");
            environment.configure(restarts);
            Map<String, Object> kept = new Job(new Arguments(arguments.toArray(new String[0])))
                    .submit(environment)
                    .getJobClient()
                    .orElseThrow()
                    .getJobExecutionResult()
                    .get()
                    .getAllAccumulatorResults();
            String answer = String.format("%d %016x", kept.get("nexmark.rows"), kept.get("nexmark.digest"));
            assertEquals(golden.answer("q0"), answer);
            assertTrue(FailOnce.CALLS.get() > 9000 + 9000, "it failed and went on: " + FailOnce.CALLS.get());
            long rows = ((String) kept.get("nexmark.answer")).lines()
                    .mapToLong(line -> Long.parseLong(line.substring(0, line.indexOf(' '))))
                    .sum();
            assertEquals(kept.get("nexmark.rows"), rows);
        }
    }
}
