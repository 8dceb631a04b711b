package nexmark.generator;

import java.io.Serializable;
import java.math.BigInteger;
import java.util.EnumMap;
import java.util.Map;

/** Checked values of all options of the event stream. */
public final class StreamOptions implements Serializable {
    private static final long serialVersionUID = 1;

    /** Spreads the numbers of a group; prime, so it permutes every group whose size it does not divide. */
    static final long GROUP_STRIDE = 953;

    private static final long MS_PER_S = 1000;

    private final EnumMap<StreamOption, Long> values = new EnumMap<>(StreamOption.class);

    /**
     * Options that are not given have their default.
     *
     * @throws OptionException naming the first option that is no number or out of range, alone or together with others
     */
    public StreamOptions(Map<StreamOption, String> given) {
        for (StreamOption option : StreamOption.values()) {
            values.put(option, option.parse(given.getOrDefault(option, option.defaultValue())));
        }
        checkHorizon();
    }

    /** Value of an option; seed and event rate are unsigned. */
    public long get(StreamOption option) {
        return values.get(option);
    }

    /** Events in a cycle of persons, auctions and bids. */
    long cycle() {
        return get(StreamOption.PERSON_PROPORTION)
                + get(StreamOption.AUCTION_PROPORTION)
                + get(StreamOption.BID_PROPORTION);
    }

    /** Number of events in which {@code auctions.in-flight} auctions are opened. */
    long auctionAhead() {
        // Two factors below 2^31 and 2^33.
        return unsigned(StreamOption.AUCTIONS_IN_FLIGHT)
                .multiply(BigInteger.valueOf(cycle()))
                .divide(unsigned(StreamOption.AUCTION_PROPORTION))
                .min(BigInteger.valueOf(Long.MAX_VALUE))
                .longValue();
    }

    private BigInteger unsigned(StreamOption option) {
        return new BigInteger(Long.toUnsignedString(get(option)));
    }

    /** An auction's length is drawn below twice the horizon, and draws are made below 2^31. */
    private void checkHorizon() {
        BigInteger horizonMs = BigInteger.valueOf(auctionAhead())
                .multiply(BigInteger.valueOf(MS_PER_S))
                .divide(unsigned(StreamOption.EVENT_RATE))
                .add(BigInteger.ONE);
        if (horizonMs.compareTo(BigInteger.ONE.shiftLeft(30)) >= 0) {
            throw new OptionException(
                    StreamOption.AUCTIONS_IN_FLIGHT.optionName(),
                    Long.toString(get(StreamOption.AUCTIONS_IN_FLIGHT)),
                    "what keeps auctions open for less than 2^30 ms of event time; they are open up to " + horizonMs
                            + " ms at event.rate " + unsigned(StreamOption.EVENT_RATE));
        }
    }
}
