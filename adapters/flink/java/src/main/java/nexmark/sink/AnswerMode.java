package nexmark.sink;

/** What the sink keeps of the rows that it gets. */
enum AnswerMode {
    /** Only their number. */
    COUNT,
    /** Their number and the digest of the answer columns. */
    DIGEST,
    /** As {@link #DIGEST}, and the rows of the answer themselves. */
    ROWS
}
