package nexmark.generator;

/** The three kinds of events, numbered as in column {@code event_type}; each has a nested row of its own. */
public enum EventType {
    PERSON(8),
    AUCTION(10),
    BID(7);

    private final int fields;

    EventType(int fields) {
        this.fields = fields;
    }

    /** Number of fields of the nested row. */
    public int fields() {
        return fields;
    }

    /** Column of the nested row: the first one is {@code event_type}. */
    public int column() {
        return 1 + ordinal();
    }
}
