package nexmark.job;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import org.junit.jupiter.api.Test;

/** Statements of a text. */
class StatementsTest {
    @Test
    void semicolonsEndStatements() {
        assertEquals(List.of("a", "b"), Statements.split(" a ;; b"));
        assertEquals(List.of(), Statements.split(" ; \n"));
    }

    @Test
    void quotesHoldAnything() {
        assertEquals(List.of("x 'a;''b--' `c;` \"d;/*\"", "y"), Statements.split("x 'a;''b--' `c;` \"d;/*\"; y"));
    }

    @Test
    void commentsAreLeftOut() {
        assertEquals(List.of("a \n b", "c"), Statements.split("-- it's; one\na -- two;\n b; /* ; ' */ c"));
        assertEquals(List.of("select /*+ hint */ 1"), Statements.split("select /*+ hint */ 1"));
    }

    @Test
    void whatIsNotClosedGoesToTheEnd() {
        assertEquals(List.of("a 'b;"), Statements.split("a 'b;"));
        assertEquals(List.of("a"), Statements.split("a /* b;"));
    }
}
