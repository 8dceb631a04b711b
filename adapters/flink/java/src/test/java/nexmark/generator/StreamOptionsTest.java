package nexmark.generator;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.api.Test;

/** Ranges of the options, at their ends. */
class StreamOptionsTest {
    @Test
    void endsOfRangesAreAccepted() {
        OptionsOf.text("seed=18446744073709551615", "event.rate=18446744073709551615", "base.time=4503599627370496");
        OptionsOf.text("bid.proportion=0", "person.avg-size=500000", "out-of-order.group-size=1");
    }

    @Test
    void anythingElseIsRefusedWithNameValueAndRange() {
        assertRefused("event.rate=0", "event.rate is \"0\", allowed is a whole number from 1 to 18446744073709551615");
        assertRefused("seed=x", "seed is \"x\", allowed is a whole number from 0 to 18446744073709551615");
        assertRefused("bid.avg-size=500001", "bid.avg-size is \"500001\", allowed is a whole number from 0 to 500000");
        assertRefused(
                "out-of-order.group-size=1906",
                "out-of-order.group-size is \"1906\", allowed is a whole number from 1 to 9007199254740992"
                        + ", no multiple of 953");
        assertRefused(
                "people.active=2147483637",
                "people.active is \"2147483637\", allowed is a whole number from 1 to 2147483636");
    }

    @Test
    void auctionsMayNotBeOpenForTooLong() {
        OptionException refused = assertThrows(
                OptionException.class, () -> OptionsOf.text("event.rate=1", "auctions.in-flight=1000000"));
        assertEquals(
                "auctions.in-flight is \"1000000\", allowed is what keeps auctions open for less than 2^30 ms of event"
                        + " time; they are open up to 16666666001 ms at event.rate 1",
                refused.getMessage());
    }

    private static void assertRefused(String option, String message) {
        OptionException refused = assertThrows(OptionException.class, () -> OptionsOf.text(option));
        assertEquals(message, refused.getMessage());
    }
}
