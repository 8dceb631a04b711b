package nexmark.job;

import java.util.regex.Pattern;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.table.api.Table;
import org.apache.flink.table.api.bridge.java.StreamTableEnvironment;
import org.apache.flink.table.data.RowData;
import org.apache.flink.types.Row;

/**
 * View {@code average_selling_price(seller, auction, avg_price)}, which SQL cannot say: an average over the last rows needs
 * rows that do not change, while the winning bid of an auction changes until the auction is over. Here a winner is known
 * when the watermark has passed the end of its auction; the rows of a seller are then taken in the order of (expires, id).
 *
 * <p>It reads table {@code nexmark}, so that there is one source.
 */
final class AverageSellingPrice {
    private static final String VIEW = "average_selling_price";
    private static final Pattern WORD = Pattern.compile("(?i)\\b" + VIEW + "\\b");

    private AverageSellingPrice() {}

    /** Whether a statement names the view. */
    static boolean isReadBy(String statement) {
        return WORD.matcher(statement).find();
    }

    /** Makes the view. Table {@code nexmark} must have its final options by now. */
    static void register(StreamTableEnvironment tables) {
        // With mini-batches, and no operator of SQL that needs event time, Flink replaces the watermarks by the clock. There
        // is nothing in this job that mini-batches could help.
        tables.getConfig().set("table.exec.mini-batch.enabled", "false");
        // A bid has no seller.
        Table events = tables.sqlQuery("SELECT COALESCE(auction.id, bid.auction) AS id, `dateTime`,"
                + " auction.seller, auction.expires, bid.price FROM nexmark WHERE event_type > 0");
        DataStream<RowData> rows = tables.toDataStream(
                events, events.getResolvedSchema().toPhysicalRowDataType().bridgedTo(RowData.class));
        DataStream<Winner> winners = rows.keyBy(row -> row.getLong(WinningPrice.ID), Types.LONG)
                .process(new WinningPrice())
                .name("winning-price");
        TypeInformation<Row> columns =
                Types.ROW_NAMED(new String[] {"seller", "auction", "avg_price"}, Types.LONG, Types.LONG, Types.LONG);
        DataStream<Row> averages = winners.keyBy(winner -> winner.seller, Types.LONG)
                .process(new LastTenAverage())
                .returns(columns)
                .name("last-ten-average");
        tables.createTemporaryView(VIEW, averages);
    }
}
