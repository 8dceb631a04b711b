package nexmark.job;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What the entry point understands. */
class ArgumentsTest {
    @Test
    void argumentsKeepTheirOrder() {
        Arguments arguments = new Arguments(
                "--sql", "a; b", "--option", "t", "k=v=w", "--set", "x=", "--sql", "c", "--option", "t", "l=m");
        assertEquals(List.of("a", "b", "c"), arguments.sql());
        assertEquals(Map.of("t", Map.of("k", "v=w", "l", "m")), arguments.options());
        assertEquals(Map.of("x", ""), arguments.settings());
    }

    @Test
    void anythingElseIsRefused() {
        assertRefused("argument \"--query\" is unknown, allowed is "
                + "--sql STATEMENTS, --option TABLE KEY=VALUE, --set KEY=VALUE", "--query", "q0");
        assertRefused("argument \"t\" lacks what follows it, allowed is "
                + "--sql STATEMENTS, --option TABLE KEY=VALUE, --set KEY=VALUE", "--option", "t");
        assertRefused("argument \"k\" is not of the form KEY=VALUE", "--set", "k");
    }

    @Test
    void aJobHasOneInsert() {
        for (String sql : List.of("CREATE TABLE t (a INT)", "INSERT INTO t SELECT 1; insert into t select 2")) {
            assertThrows(IllegalArgumentException.class, () -> new Job(new Arguments("--sql", sql)));
        }
    }

    private static void assertRefused(String message, String... given) {
        assertEquals(message, assertThrows(IllegalArgumentException.class, () -> new Arguments(given)).getMessage());
    }
}
