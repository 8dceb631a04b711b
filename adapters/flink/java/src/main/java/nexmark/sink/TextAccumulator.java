package nexmark.sink;

import org.apache.flink.api.common.accumulators.Accumulator;
import org.apache.flink.api.common.accumulators.SimpleAccumulator;

/** Lines of text; those of several subtasks follow each other. */
public final class TextAccumulator implements SimpleAccumulator<String> {
    private static final long serialVersionUID = 1;

    private String lines = "";

    /** Adds whole lines, each ended by a line feed. */
    @Override
    public void add(String whole) {
        lines = lines + whole;
    }

    @Override
    public String getLocalValue() {
        return lines;
    }

    @Override
    public void resetLocal() {
        lines = "";
    }

    @Override
    public void merge(Accumulator<String, String> other) {
        lines = lines + other.getLocalValue();
    }

    @Override
    public TextAccumulator clone() {
        TextAccumulator copy = new TextAccumulator();
        copy.lines = lines;
        return copy;
    }
}
