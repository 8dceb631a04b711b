package nexmark.generator;

/** An option whose value is no number or out of its range; the message names the option, the value and what is allowed. */
public final class OptionException extends IllegalArgumentException {
    public OptionException(String name, String value, String allowed) {
        super(name + " is \"" + value + "\", allowed is " + allowed);
    }
}
