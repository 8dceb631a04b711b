package nexmark.job;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.api.bridge.java.StreamTableEnvironment;
import org.junit.jupiter.api.Test;

/** An option that is unknown, or whose value is refused, is an error that says what is allowed. */
class OptionsTest {
    @Test
    void optionsOfTheSource() throws Exception {
        assertRefused("nexmark", "event.rate=0",
                "option event.rate is \"0\", allowed is a whole number from 1 to 18446744073709551615");
        assertRefused("nexmark", "events=-1", "option events is \"-1\", allowed is a whole number from 0 to");
        assertRefused("nexmark", "shape=step", "option shape is \"step\", allowed is constant, square, sine");
        assertRefused("nexmark", "period=1 s", "option period is \"1 s\", allowed is no value where shape is constant");
        assertRefused("nexmark", "rate=fast", "option rate is \"fast\", allowed is a number of events per second");
        assertRefused("nexmark", "end.delay=soon", "option end.delay is \"soon\", allowed is a time such as");
        assertRefused("nexmark", "tps=5", "Unsupported options:\n\ntps\n\nSupported options:");
    }

    @Test
    void optionsOfTheSink() throws Exception {
        assertRefused("answer", "answer=all", "option answer is \"all\", allowed is count, digest, rows");
        assertRefused("answer", "columns=auction;cost", "option columns is \"cost\", allowed is a column of the table:");
        assertRefused("answer", "sum=extra", "option sum is \"extra\", allowed is an answer column of type BIGINT");
        assertRefused("answer", "latency=price", "option latency is \"price\", allowed is a column of type TIMESTAMP");
        assertRefused("answer", "colums=price", "Unsupported options:\n\ncolums");
    }

    @Test
    void columnsOfTheSource() {
        String other = "CREATE TABLE nexmark (event_type INT) WITH ('connector' = 'nexmark');"
                + "CREATE TABLE answer (n BIGINT) WITH ('connector' = 'nexmark-sink');"
                + "INSERT INTO answer SELECT event_type FROM nexmark";
        assertMessage("are ROW<`event_type` INT>, connector nexmark gives ROW<`event_type` INT, `person` ROW<",
                List.of("--sql", other));
    }

    private static void assertRefused(String table, String option, String message) throws Exception {
        assertMessage(message, new ArrayList<>(List.of(
                "--sql", Golden.sql("source"), "--sql", Golden.sql("q0"), "--option", table, option)));
    }

    private static void assertMessage(String message, List<String> arguments) {
        Job job = new Job(new Arguments(arguments.toArray(new String[0])));
        StreamTableEnvironment tables = StreamTableEnvironment.create(
                StreamExecutionEnvironment.createLocalEnvironment(1, new Configuration()));
        Throwable error = assertThrows(Exception.class, () -> tables.explainSql(job.prepare(tables)));
        StringBuilder messages = new StringBuilder();
        for (Throwable cause = error; cause != null; cause = cause.getCause()) {
            messages.append(cause.getMessage()).append('\n');
        }
        assertTrue(messages.indexOf(message) >= 0, messages.toString());
    }
}
