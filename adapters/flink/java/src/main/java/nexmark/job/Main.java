package nexmark.job;

import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/** Entry point of the jar: submits the one job that its arguments describe, see {@link Arguments}. */
public final class Main {
    private Main() {}

    /** @throws IllegalArgumentException when an argument is unknown or incomplete, or there is not one INSERT */
    public static void main(String[] arguments) {
        new Job(new Arguments(arguments)).submit(StreamExecutionEnvironment.getExecutionEnvironment());
    }
}
