package nexmark.source;

import java.io.Serializable;
import nexmark.generator.StreamOptions;

/** What a source emits, how much of it, and when. */
final class SourceSettings implements Serializable {
    private static final long serialVersionUID = 1;

    /** For {@link #events}: no end. */
    static final long UNBOUNDED = Long.MAX_VALUE;
    /** For {@link #startMs}: when the job starts. */
    static final long AT_JOB_START = -1;

    /** The stream. */
    final StreamOptions stream;
    /** Number of events of all kinds, over all subtasks. */
    final long events;
    /** When an event may be emitted. */
    final Schedule schedule;
    /** When the schedule starts, epoch ms. */
    final long startMs;
    /** How long the source waits between its last event and the end of its input, ms. */
    final long lingerMs;

    SourceSettings(StreamOptions stream, long events, Schedule schedule, long startMs, long lingerMs) {
        this.stream = stream;
        this.events = events;
        this.schedule = schedule;
        this.startMs = startMs;
        this.lingerMs = lingerMs;
    }
}
