package nexmark.job;

import java.util.concurrent.atomic.AtomicInteger;
import org.apache.flink.table.functions.ScalarFunction;

/** Hands a number on, and fails one time in this process after some thousands of calls. */
public final class FailOnce extends ScalarFunction {
    private static final long serialVersionUID = 1;
    private static final int CALLS_BEFORE = 9000;

    static final AtomicInteger CALLS = new AtomicInteger();

    public Long eval(Long number) {
        if (CALLS.incrementAndGet() == CALLS_BEFORE) {
            throw new IllegalStateException("as planned");
        }
        return number;
    }

    @Override
    public boolean isDeterministic() {
        return false;
    }
}
