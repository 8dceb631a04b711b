package nexmark.job;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What two subtasks of the source emit together are the golden events, each once. */
class EventsTest {
    private static TestCluster flink;

    @BeforeAll
    static void start(@TempDir Path checkpoints) throws Exception {
        flink = new TestCluster(checkpoints);
    }

    @AfterAll
    static void stop() throws Exception {
        flink.close();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "person|id BIGINT, name STRING, emailAddress STRING, creditCard STRING, city STRING, state STRING, T,"
                        + " extra STRING",
                "auction|id BIGINT, itemName STRING, description STRING, initialBid BIGINT, reserve BIGINT, T,"
                        + " expires TIMESTAMP(3), seller BIGINT, category BIGINT, extra STRING",
                "bid|auction BIGINT, bidder BIGINT, price BIGINT, channel STRING, url STRING, T, extra STRING"
            })
    void rowsOfATable(String table, String columns) throws Exception {
        String sql = "CREATE TABLE answer (" + columns.replace(" T,", " `dateTime` TIMESTAMP(3),")
                + ") WITH ('connector' = 'nexmark-sink', 'answer' = 'rows'); INSERT INTO answer SELECT * FROM " + table;
        Job job = new Job(new Arguments(
                "--sql", Golden.sql("source"), "--sql", sql, "--option", "nexmark", "events=200"));
        String rows = (String) job.submit(flink.environment(2))
                .getJobClient()
                .orElseThrow()
                .getJobExecutionResult()
                .get()
                .getAllAccumulatorResults()
                .get("nexmark.answer");
        List<String> expected = new ArrayList<>();
        for (String row : Golden.events(table)) {
            expected.add("1 " + row);
        }
        assertEquals(sorted(expected), sorted(rows.lines().collect(Collectors.toList())));
    }

    private static String sorted(List<String> rows) {
        return rows.stream().sorted().collect(Collectors.joining("\n"));
    }
}
