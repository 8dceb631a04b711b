package nexmark.generator;

/** The options of the event stream, by the names that they have on every engine. */
public enum StreamOption {
    SEED("seed", "1", 0, -1, "seed of all draws"),
    BASE_TIME("base.time", "1436918400000", 0, 1L << 52, "event time of event 0, epoch ms"),
    EVENT_RATE("event.rate", "1000000", 1, -1, "events per second of event time"),
    PERSON_PROPORTION("person.proportion", "1", 1, Limits.DRAW_MAX, "persons in a cycle of events"),
    AUCTION_PROPORTION("auction.proportion", "3", 1, Limits.DRAW_MAX, "auctions in a cycle of events"),
    BID_PROPORTION("bid.proportion", "46", 0, Limits.DRAW_MAX, "bids in a cycle of events"),
    PERSON_AVG_SIZE("person.avg-size", "200", 0, 500_000, "average bytes of a person; extra fills up to it"),
    AUCTION_AVG_SIZE("auction.avg-size", "500", 0, 500_000, "average bytes of an auction; extra fills up to it"),
    BID_AVG_SIZE("bid.avg-size", "100", 0, 500_000, "average bytes of a bid; extra fills up to it"),
    BID_HOT_RATIO_AUCTIONS(
            "bid.hot-ratio.auctions", "2", 1, Limits.DRAW_MAX, "share 1 - 1/ratio of bids goes to a hot auction"),
    BID_HOT_RATIO_BIDDERS(
            "bid.hot-ratio.bidders", "4", 1, Limits.DRAW_MAX, "share 1 - 1/ratio of bids comes from a hot bidder"),
    AUCTION_HOT_RATIO_SELLERS(
            "auction.hot-ratio.sellers", "4", 1, Limits.DRAW_MAX, "share 1 - 1/ratio of auctions is a hot seller's"),
    AUCTIONS_IN_FLIGHT(
            "auctions.in-flight", "100", 1, Limits.DRAW_MAX, "cold bids go to one of the last that many auctions"),
    PEOPLE_ACTIVE(
            "people.active", "1000", 1, Limits.DRAW_MAX, "cold bidders and sellers are among the last that many persons"),
    OUT_OF_ORDER_GROUP_SIZE(
            "out-of-order.group-size", "1", 1, Limits.NUMBER_MAX, "each group of that many positions is permuted") {
        @Override
        boolean accepts(long value) {
            return super.accepts(value) && value % StreamOptions.GROUP_STRIDE != 0;
        }

        @Override
        String allowed() {
            return super.allowed() + ", no multiple of " + StreamOptions.GROUP_STRIDE;
        }
    };

    private static final class Limits {
        /** Draws are made below 2^31; this leaves room for the ten ids ahead. */
        static final long DRAW_MAX = (1L << 31) - 12;

        /** Events are numbered up to here. */
        static final long NUMBER_MAX = 1L << 53;
    }

    private final String optionName;
    private final String defaultValue;
    private final long min;
    /** Unsigned: -1 is the largest number of 64 bits. */
    private final long max;
    private final String meaning;

    StreamOption(String optionName, String defaultValue, long min, long max, String meaning) {
        this.optionName = optionName;
        this.defaultValue = defaultValue;
        this.min = min;
        this.max = max;
        this.meaning = meaning;
    }

    /** Name in SQL, in settings and in messages. */
    public String optionName() {
        return optionName;
    }

    /** Value when none is given. */
    public String defaultValue() {
        return defaultValue;
    }

    /** What the option does, one line. */
    public String meaning() {
        return meaning;
    }

    /**
     * Reads a value of this option.
     *
     * @throws OptionException when it is no number or out of range
     */
    public long parse(String text) {
        long value;
        try {
            value = Long.parseUnsignedLong(text.trim());
        } catch (NumberFormatException noNumber) {
            throw refused(text);
        }
        if (!accepts(value)) {
            throw refused(text);
        }
        return value;
    }

    boolean accepts(long value) {
        return Long.compareUnsigned(value, min) >= 0 && Long.compareUnsigned(value, max) <= 0;
    }

    String allowed() {
        return "a whole number from " + min + " to " + Long.toUnsignedString(max);
    }

    private OptionException refused(String text) {
        return new OptionException(optionName, text, allowed());
    }
}
