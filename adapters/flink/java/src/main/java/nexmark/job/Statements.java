package nexmark.job;

import java.util.ArrayList;
import java.util.List;

/** Splits SQL at semicolons outside quotes and comments, and leaves comments out. */
final class Statements {
    private final String text;
    private final StringBuilder statement = new StringBuilder();
    private final List<String> statements = new ArrayList<>();
    private int at;

    private Statements(String text) {
        this.text = text;
    }

    /** The statements, without the semicolons. Empty ones are left out. */
    static List<String> split(String text) {
        Statements split = new Statements(text);
        while (split.at < text.length()) {
            split.step();
        }
        split.end();
        return split.statements;
    }

    private void step() {
        char next = text.charAt(at);
        if (text.startsWith("--", at)) {
            skipTo("\n", 0);
        } else if (text.startsWith("/*", at) && !text.startsWith("/*+", at)) {
            skipTo("*/", 2);
        } else if (next == '\'' || next == '`' || next == '"') {
            quoted(next);
        } else if (next == ';') {
            end();
            at++;
        } else {
            statement.append(next);
            at++;
        }
    }

    /** A quote within quotes is doubled, which reads as two quoted texts beside each other. */
    private void quoted(char quote) {
        int close = text.indexOf(quote, at + 1);
        int to = close < 0 ? text.length() : close + 1;
        statement.append(text, at, to);
        at = to;
    }

    private void skipTo(String mark, int length) {
        int found = text.indexOf(mark, at);
        at = found < 0 ? text.length() : found + length;
    }

    private void end() {
        String whole = statement.toString().trim();
        if (!whole.isEmpty()) {
            statements.add(whole);
        }
        statement.setLength(0);
    }
}
