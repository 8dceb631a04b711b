package nexmark.generator;

import org.apache.flink.table.data.RowData;

/**
 * Position in the stream to event. Every field of every event is a pure function of the options and the number of the
 * event, in wrapping unsigned 64-bit arithmetic, so that every engine, split and machine sees the same stream.
 *
 * <p>Not for use by several threads; the shared text is made in the constructor (about 3 MB).
 */
public final class Generator {
    /** Ids shown to users begin here. */
    private static final long FIRST_ID = 1000;
    /** One person and one auction in this many is hot. */
    private static final long HOT_EVERY = 100;
    /** Cold bids and sellers may refer to ids that many ahead of those that exist. */
    private static final long AHEAD = 10;
    private static final long FIRST_CATEGORY = 10;
    private static final long CATEGORIES = 5;
    private static final int BID_FIXED_SIZE = 32;
    private static final int AUCTION_FIXED_SIZE = 48;
    private static final int PERSON_FIXED_SIZE = 8;
    /** Six letters, {@code @}, four letters, {@code .com}. */
    private static final int EMAIL_ADDRESS_MAX = 15;
    /** Four groups of four digits, with spaces between them. */
    private static final int CREDIT_CARD = 19;
    private static final byte[] DOMAIN = {'.', 'c', 'o', 'm'};
    /** Above this, 1000 times a number needs more than 63 bits. */
    private static final long THOUSANDS_MAX = Long.MAX_VALUE / 1000;

    private final long baseTime;
    private final long eventRate;
    private final long persons;
    private final long auctions;
    private final long total;
    private final long auctionAhead;
    private final long personSize;
    private final long auctionSize;
    private final long bidSize;
    private final long auctionRatio;
    private final long bidderRatio;
    private final long sellerRatio;
    private final long inFlight;
    private final long active;
    private final long groupSize;
    private final SharedText shared;
    private final Draws draws;
    private final PriceTable prices = new PriceTable();
    private final EventRowWriter row = new EventRowWriter();
    private final byte[] emailAddress = new byte[EMAIL_ADDRESS_MAX];
    private final byte[] creditCard = new byte[CREDIT_CARD];

    public Generator(StreamOptions options) {
        baseTime = options.get(StreamOption.BASE_TIME);
        eventRate = options.get(StreamOption.EVENT_RATE);
        persons = options.get(StreamOption.PERSON_PROPORTION);
        auctions = options.get(StreamOption.AUCTION_PROPORTION);
        total = options.cycle();
        auctionAhead = options.auctionAhead();
        personSize = options.get(StreamOption.PERSON_AVG_SIZE);
        auctionSize = options.get(StreamOption.AUCTION_AVG_SIZE);
        bidSize = options.get(StreamOption.BID_AVG_SIZE);
        auctionRatio = options.get(StreamOption.BID_HOT_RATIO_AUCTIONS);
        bidderRatio = options.get(StreamOption.BID_HOT_RATIO_BIDDERS);
        sellerRatio = options.get(StreamOption.AUCTION_HOT_RATIO_SELLERS);
        inFlight = options.get(StreamOption.AUCTIONS_IN_FLIGHT);
        active = options.get(StreamOption.PEOPLE_ACTIVE);
        groupSize = options.get(StreamOption.OUT_OF_ORDER_GROUP_SIZE);
        long seed = options.get(StreamOption.SEED);
        shared = new SharedText(seed);
        draws = new Draws(seed);
    }

    /** The event at a position, as a row {@code (event_type, person, auction, bid)} that nothing else refers to. */
    public RowData event(long position) {
        long number = number(position);
        long epoch = number / total;
        long offset = number - epoch * total;
        draws.event(number);
        if (offset < persons) {
            return person(number, epoch * persons + offset);
        }
        long lastPerson = epoch * persons + persons - 1;
        long lastAuction = epoch * auctions + Math.min(offset - persons, auctions - 1);
        if (offset < persons + auctions) {
            return auction(number, lastPerson, lastAuction);
        }
        return bid(number, lastPerson, lastAuction);
    }

    /** Event time of the event with a number, epoch ms. */
    long timestamp(long number) {
        boolean small = number >= 0 && number <= THOUSANDS_MAX && eventRate > 0;
        return baseTime + (small ? number * 1000 / eventRate : Long.divideUnsigned(number * 1000, eventRate));
    }

    private long number(long position) {
        if (groupSize == 1) {
            return position;
        }
        long group = position / groupSize;
        // Only the place within the group matters modulo its size, and it does not overflow.
        return group * groupSize + (position - group * groupSize) * StreamOptions.GROUP_STRIDE % groupSize;
    }

    private RowData person(long number, long id) {
        long name = shared.name(draws, 0, 1);
        int emailAddressLength = emailAddress();
        creditCard();
        long city = shared.city(draws, 8);
        long state = shared.state(draws, 9);
        long size = PERSON_FIXED_SIZE + SharedText.length(name) + emailAddressLength + creditCard.length
                + SharedText.length(city) + SharedText.length(state);
        long extra = extra(10, size, personSize);
        row.begin(
                EventType.PERSON,
                textBytes(name) + EventRowWriter.textBytes(emailAddressLength)
                        + EventRowWriter.textBytes(creditCard.length)
                        + textBytes(city) + textBytes(state) + textBytes(extra));
        row.number(0, id + FIRST_ID);
        row.text(1, shared, name);
        row.text(2, emailAddress, 0, emailAddressLength);
        row.text(3, creditCard, 0, creditCard.length);
        row.text(4, shared, city);
        row.text(5, shared, state);
        row.number(6, timestamp(number));
        row.text(7, shared, extra);
        return row.finish();
    }

    private RowData auction(long number, long lastPerson, long lastAuction) {
        long seller = draws.below(0, sellerRatio) > 0 ? lastPerson / HOT_EVERY * HOT_EVERY : coldPerson(1, lastPerson);
        long initialBid = prices.price(draws.draw(3));
        long dateTime = timestamp(number);
        long horizon = timestamp(number + auctionAhead) - dateTime;
        long itemName = shared.words(draws, 6, 3 + draws.below(5, 17));
        long description = shared.words(draws, 8, 3 + draws.below(7, 97));
        long size = AUCTION_FIXED_SIZE + SharedText.length(itemName) + SharedText.length(description);
        long extra = extra(10, size, auctionSize);
        row.begin(EventType.AUCTION, textBytes(itemName) + textBytes(description) + textBytes(extra));
        row.number(0, lastAuction + FIRST_ID);
        row.text(1, shared, itemName);
        row.text(2, shared, description);
        row.number(3, initialBid);
        row.number(4, initialBid + prices.price(draws.draw(9)));
        row.number(5, dateTime);
        row.number(6, dateTime + 1 + draws.below(4, Math.max(2 * horizon, 1)));
        row.number(7, seller + FIRST_ID);
        row.number(8, FIRST_CATEGORY + draws.below(2, CATEGORIES));
        row.text(9, shared, extra);
        return row.finish();
    }

    private RowData bid(long number, long lastPerson, long lastAuction) {
        int channelNumber = (int) (draws.below(5, 2) > 0
                ? draws.below(6, SharedText.HOT_CHANNELS)
                : SharedText.HOT_CHANNELS + draws.below(7, SharedText.COLD_CHANNELS));
        long channel = shared.channel(channelNumber);
        long url = shared.url(channelNumber);
        long extra = extra(8, BID_FIXED_SIZE, bidSize);
        row.begin(EventType.BID, textBytes(channel) + textBytes(url) + textBytes(extra));
        row.number(0, auctionOfBid(lastAuction) + FIRST_ID);
        row.number(1, bidder(lastPerson) + FIRST_ID);
        row.number(2, prices.price(draws.draw(4)));
        row.text(3, shared, channel);
        row.text(4, shared, url);
        row.number(5, timestamp(number));
        row.text(6, shared, extra);
        return row.finish();
    }

    private long auctionOfBid(long lastAuction) {
        if (draws.below(0, auctionRatio) > 0) {
            return lastAuction / HOT_EVERY * HOT_EVERY;
        }
        long low = Math.max(lastAuction - inFlight, 0);
        return low + draws.below(1, lastAuction - low + 1 + AHEAD);
    }

    private long bidder(long lastPerson) {
        return draws.below(2, bidderRatio) > 0 ? lastPerson / HOT_EVERY * HOT_EVERY + 1 : coldPerson(3, lastPerson);
    }

    private long coldPerson(long k, long lastPerson) {
        long people = lastPerson + 1;
        long recent = Math.min(people, active);
        return people - recent + draws.below(k, recent + AHEAD);
    }

    /** Fills an event of {@code size} bytes up to about {@code average}. */
    private long extra(long k, long size, long average) {
        long want = average - size;
        if (want <= 0) {
            return 0;
        }
        long delta = (want + 2) / 5;
        long length = delta == 0 ? want : want - delta + draws.below(k, 2 * delta);
        return shared.letters(draws, k + 1, Math.min(length, SharedText.SLICE_MAX));
    }

    private int emailAddress() {
        int end = letters(0, 16, 3 + draws.below(2, 4));
        emailAddress[end++] = '@';
        end = letters(end, 24, 3 + draws.below(3, 2));
        for (byte letter : DOMAIN) {
            emailAddress[end++] = letter;
        }
        return end;
    }

    private int letters(int end, long firstDraw, long count) {
        for (long j = 0; j < count; j++) {
            emailAddress[end++] = (byte) ('a' + draws.below(firstDraw + j, 26));
        }
        return end;
    }

    private void creditCard() {
        int end = 0;
        for (long group = 0; group < 4; group++) {
            if (group > 0) {
                creditCard[end++] = ' ';
            }
            int digits = (int) draws.below(4 + group, 10000);
            for (int unit = 1000; unit > 0; unit /= 10) {
                creditCard[end++] = (byte) ('0' + digits / unit % 10);
            }
        }
    }

    private static int textBytes(long text) {
        return EventRowWriter.textBytes(SharedText.length(text));
    }
}
