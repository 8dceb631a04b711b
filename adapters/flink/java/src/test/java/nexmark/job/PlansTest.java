package nexmark.job;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.runtime.util.EnvironmentInformation;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.api.bridge.java.StreamTableEnvironment;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Flink's plan of every query is the one on file, so that a change of its planner is seen. After such a change, run with
 * {@code -Dplans=write} and look at the difference.
 */
class PlansTest {
    private static final Path PLANS = Path.of("src/test/resources/plans");
    private static final String SECTION = "== Optimized Execution Plan ==\n";

    static Stream<String> queries() {
        return IntStream.range(0, 24).mapToObj(number -> "q" + number);
    }

    @ParameterizedTest
    @MethodSource("queries")
    void thePlanIsTheOneOnFile(String query) throws Exception {
        Path file = PLANS.resolve(minorVersion()).resolve(query + ".txt");
        String plan = plan(query);
        if ("write".equals(System.getProperty("plans"))) {
            Files.createDirectories(file.getParent());
            Files.writeString(file, plan);
        }
        assumeTrue(Files.isDirectory(file.getParent()), "there are no plans of Flink " + minorVersion());
        assertEquals(Files.readString(file), plan);
    }

    private static String plan(String query) throws Exception {
        Configuration configuration = new Configuration();
        configuration.setString("table.exec.mini-batch.enabled", "true");
        configuration.setString("table.exec.mini-batch.allow-latency", "2 s");
        configuration.setString("table.exec.mini-batch.size", "50000");
        configuration.setString("table.optimizer.distinct-agg.split.enabled", "true");
        StreamTableEnvironment tables =
                StreamTableEnvironment.create(StreamExecutionEnvironment.createLocalEnvironment(2, configuration));
        List<String> arguments = new ArrayList<>(List.of("--sql", Golden.sql("source"), "--sql", Golden.sql(query)));
        if (query.equals("q10")) {
            arguments.addAll(List.of("--option", "log", "path=file:///nowhere"));
        }
        Job job = new Job(new Arguments(arguments.toArray(new String[0])));
        String explained = tables.explainSql(job.prepare(tables));
        String plan = explained.substring(explained.indexOf(SECTION) + SECTION.length());
        // Streams have numbers that grow over the life of a process.
        return plan.replaceAll("Unregistered_DataStream_Source_\\d+", "Unregistered_DataStream_Source")
                .replaceAll("\\$?Unregistered_DataStream_\\d+", "Unregistered_DataStream")
                .trim() + "\n";
    }

    private static String minorVersion() {
        return EnvironmentInformation.getVersion().replaceAll("^(\\d+\\.\\d+).*", "$1");
    }
}
