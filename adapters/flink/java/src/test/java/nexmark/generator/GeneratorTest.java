package nexmark.generator;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Events equal the golden ones to the byte, and depend on their position alone. */
class GeneratorTest {
    private static final Path GOLDEN = Path.of("../../../tests/golden");
    private static final String[] CONFIGURATION_B = {
        "seed=7", "event.rate=3", "out-of-order.group-size=1000", "person.proportion=2", "auction.proportion=5",
        "bid.proportion=13", "person.avg-size=20", "auction.avg-size=2000", "bid.avg-size=32"
    };

    @Test
    void defaultsGiveGoldenEventsA() throws Exception {
        assertGolden("events-a.ndjson", generator(), 0);
    }

    @Test
    void otherOptionsGiveGoldenEventsB() throws Exception {
        assertGolden("events-b.ndjson", generator(CONFIGURATION_B), 1_000_000_000_000L);
    }

    @Test
    void anEventDependsOnItsPositionAlone() {
        Generator used = generator(CONFIGURATION_B);
        Random random = new Random(1);
        for (int i = 0; i < 50; i++) {
            long position = random.nextLong() >>> (11 + random.nextInt(40));
            used.event(random.nextInt(1000));
            String expected = EventJson.of(generator(CONFIGURATION_B).event(position));
            assertEquals(expected, EventJson.of(used.event(position)), "position " + position);
        }
    }

    @Test
    void rowsMayBeKept() {
        Generator generator = generator();
        var first = generator.event(4);
        String before = EventJson.of(first);
        assertNotSame(first, generator.event(5));
        assertEquals(before, EventJson.of(first));
    }

    @Test
    void groupsArePermuted() {
        Generator ordered = generator("event.rate=1000");
        Generator permuted = generator("event.rate=1000", "out-of-order.group-size=1000");
        Map<String, Integer> difference = new HashMap<>();
        for (long position = 5000; position < 6000; position++) {
            difference.merge(EventJson.of(ordered.event(position)), 1, Integer::sum);
            difference.merge(EventJson.of(permuted.event(position)), -1, Integer::sum);
        }
        difference.values().removeIf(count -> count == 0);
        assertEquals(Map.of(), difference);
    }

    private static void assertGolden(String file, Generator generator, long from) throws Exception {
        List<String> lines = Files.readAllLines(GOLDEN.resolve(file));
        assertEquals(200, lines.size());
        for (int i = 0; i < lines.size(); i++) {
            assertEquals(lines.get(i), EventJson.of(generator.event(from + i)), file + ", line " + (i + 1));
        }
    }

    private static Generator generator(String... given) {
        return new Generator(OptionsOf.text(given));
    }
}
