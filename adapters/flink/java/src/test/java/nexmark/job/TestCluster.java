package nexmark.job;

import java.net.URI;
import java.nio.file.Path;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.runtime.minicluster.MiniClusterConfiguration;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/** A Flink of two slots inside this process, reached through its REST interface as any other. */
final class TestCluster implements AutoCloseable {
    private static final int SLOTS = 2;

    private final MiniCluster cluster;
    private final URI rest;
    private final Path checkpoints;

    /** @param checkpoints folder for checkpoints */
    TestCluster(Path checkpoints) throws Exception {
        this.checkpoints = checkpoints;
        Configuration configuration = new Configuration();
        configuration.setString("rest.bind-port", "0");
        configuration.setString("rest.port", "0");
        cluster = new MiniCluster(new MiniClusterConfiguration.Builder()
                .setConfiguration(configuration)
                .setNumTaskManagers(1)
                .setNumSlotsPerTaskManager(SLOTS)
                .build());
        cluster.start();
        rest = cluster.getRestAddress().get();
    }

    /** Checkpoints and mini-batches as in the settings under which queries are measured, but with shorter times. */
    StreamExecutionEnvironment environment(int parallelism) {
        Configuration configuration = new Configuration();
        configuration.setString("restart-strategy.type", "none");
        configuration.setString("execution.checkpointing.dir", checkpoints.toUri().toString());
        configuration.setString("execution.checkpointing.interval", "100 ms");
        // Otherwise a job that has read all its input waits for one more checkpoint.
        configuration.setString("execution.checkpointing.checkpoints-after-tasks-finish.enabled", "false");
        configuration.setString("table.exec.mini-batch.enabled", "true");
        configuration.setString("table.exec.mini-batch.allow-latency", "200 ms");
        configuration.setString("table.exec.mini-batch.size", "5000");
        configuration.setString("table.optimizer.distinct-agg.split.enabled", "true");
        StreamExecutionEnvironment environment =
                StreamExecutionEnvironment.createRemoteEnvironment(rest.getHost(), rest.getPort(), configuration);
        environment.setParallelism(parallelism);
        return environment;
    }

    @Override
    public void close() throws Exception {
        cluster.close();
    }
}
