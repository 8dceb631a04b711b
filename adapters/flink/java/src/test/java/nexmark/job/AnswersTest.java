package nexmark.job;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Every query answers as the golden files say, on a Flink inside this process. */
class AnswersTest {
    private static TestCluster flink;

    @TempDir
    private Path files;

    @BeforeAll
    static void start(@TempDir Path checkpoints) throws Exception {
        flink = new TestCluster(checkpoints);
    }

    @AfterAll
    static void stop() throws Exception {
        flink.close();
    }

    static Stream<String> queries() {
        return IntStream.range(0, 24).mapToObj(number -> "q" + number);
    }

    @ParameterizedTest
    @MethodSource("queries")
    void oneSubtaskAndAStreamInOrder(String query) throws Exception {
        assertAnswer("a", 1, query);
    }

    @ParameterizedTest
    @MethodSource("queries")
    void twoSubtasksAndAStreamOutOfOrder(String query) throws Exception {
        assertAnswer("b", 2, query);
    }

    private void assertAnswer(String configuration, int parallelism, String query) throws Exception {
        Golden golden = new Golden(configuration);
        List<String> arguments = new ArrayList<>(List.of("--sql", Golden.sql("source"), "--sql", Golden.sql(query)));
        arguments.addAll(golden.sourceOptions());
        if (query.equals("q10")) {
            List<String> path = List.of("--option", "log", "path=" + files.toUri());
            arguments.addAll(path);
            run(parallelism, arguments);
            arguments = new ArrayList<>(List.of("--sql", Golden.sql("q10/answer")));
            arguments.addAll(path);
        }
        if (query.equals("q12")) {
            arguments.addAll(List.of("--option", "nexmark", "end.delay=11 s"));
        }
        arguments.addAll(List.of("--option", "answer", "answer=digest"));
        Map<String, Object> kept = run(parallelism, arguments);
        String answer = String.format("%d %016x", kept.get("nexmark.rows"), kept.get("nexmark.digest"));
        assertEquals(golden.answer(query), answer);
    }

    private static Map<String, Object> run(int parallelism, List<String> arguments) throws Exception {
        Job job = new Job(new Arguments(arguments.toArray(new String[0])));
        return job.submit(flink.environment(parallelism))
                .getJobClient()
                .orElseThrow()
                .getJobExecutionResult()
                .get()
                .getAllAccumulatorResults();
    }
}
