package nexmark.generator;

import org.apache.flink.table.data.RowData;

/** An event as a line of JSON, in the form of the golden events. */
final class EventJson {
    private static final String[][] FIELDS = {
        {"id", "name", "emailAddress", "creditCard", "city", "state", "dateTime", "extra"},
        {
            "id", "itemName", "description", "initialBid", "reserve", "dateTime", "expires", "seller", "category",
            "extra"
        },
        {"auction", "bidder", "price", "channel", "url", "dateTime", "extra"},
    };
    private static final String TEXTS =
            " name emailAddress creditCard city state extra itemName description channel url ";
    private static final String TIMES = " dateTime expires ";

    private EventJson() {}

    static String of(RowData row) {
        EventType type = EventType.values()[row.getInt(0)];
        String[] names = FIELDS[type.ordinal()];
        for (EventType other : EventType.values()) {
            if (row.isNullAt(other.column()) != (other != type)) {
                throw new AssertionError("nested rows of " + type + " are null where they should not be: " + other);
            }
        }
        RowData event = row.getRow(type.column(), names.length);
        StringBuilder json = new StringBuilder("{\"").append(type.name().toLowerCase()).append("\":{");
        for (int field = 0; field < names.length; field++) {
            json.append(field == 0 ? "\"" : ",\"").append(names[field]).append("\":");
            String word = " " + names[field] + " ";
            if (TEXTS.contains(word)) {
                json.append('"').append(event.getString(field)).append('"');
            } else if (TIMES.contains(word)) {
                json.append(event.getTimestamp(field, 3).getMillisecond());
            } else {
                json.append(event.getLong(field));
            }
        }
        return json.append("}}").toString();
    }
}
