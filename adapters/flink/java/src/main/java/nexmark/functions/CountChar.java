package nexmark.functions;

import org.apache.flink.table.functions.ScalarFunction;

/** {@code count_char(text, character)}: how often a character occurs in a text. Null or an empty character counts 0. */
public final class CountChar extends ScalarFunction {
    private static final long serialVersionUID = 1;

    public long eval(String text, String character) {
        if (text == null || character == null || character.isEmpty()) {
            return 0;
        }
        char wanted = character.charAt(0);
        long count = 0;
        for (int i = 0; i < text.length(); i++) {
            if (text.charAt(i) == wanted) {
                count++;
            }
        }
        return count;
    }
}
