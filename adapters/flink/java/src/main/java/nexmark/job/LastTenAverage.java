package nexmark.job;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.PrimitiveArrayTypeInfo;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.types.Row;
import org.apache.flink.util.Collector;

/**
 * For each auction of a seller the average, truncated, of the winning prices of its last ten auctions up to it, in the order
 * of (expires, id). An auction is taken when the watermark has passed its end, so that none before it can still come.
 */
final class LastTenAverage extends KeyedProcessFunction<Long, Winner, Row> {
    private static final long serialVersionUID = 1;

    private static final int LAST = 10;

    /** Auctions by their end (epoch ms): id, price, id, price and so on. */
    private transient MapState<Long, long[]> waiting;
    /** Up to ten prices, the latest last. */
    private transient ValueState<long[]> prices;

    @Override
    public void open(OpenContext context) {
        var type = PrimitiveArrayTypeInfo.LONG_PRIMITIVE_ARRAY_TYPE_INFO;
        waiting = getRuntimeContext().getMapState(new MapStateDescriptor<>("waiting", Types.LONG, type));
        prices = getRuntimeContext().getState(new ValueStateDescriptor<>("prices", type));
    }

    @Override
    public void processElement(Winner winner, Context context, Collector<Row> out) throws Exception {
        long[] before = waiting.get(winner.expires);
        int length = before == null ? 0 : before.length;
        long[] after = before == null ? new long[2] : Arrays.copyOf(before, length + 2);
        after[length] = winner.auction;
        after[length + 1] = winner.price;
        waiting.put(winner.expires, after);
        context.timerService().registerEventTimeTimer(winner.expires);
    }

    @Override
    public void onTimer(long expires, OnTimerContext context, Collector<Row> out) throws Exception {
        long[] ended = waiting.get(expires);
        if (ended == null) {
            return;
        }
        waiting.remove(expires);
        List<long[]> auctions = new ArrayList<>();
        for (int i = 0; i < ended.length; i += 2) {
            auctions.add(new long[] {ended[i], ended[i + 1]});
        }
        auctions.sort(Comparator.comparingLong(auction -> auction[0]));
        long[] last = prices.value();
        for (long[] auction : auctions) {
            last = appended(last == null ? new long[0] : last, auction[1]);
            out.collect(Row.of(context.getCurrentKey(), auction[0], Arrays.stream(last).sum() / last.length));
        }
        prices.update(last);
    }

    private static long[] appended(long[] last, long price) {
        int kept = Math.min(last.length, LAST - 1);
        long[] next = new long[kept + 1];
        System.arraycopy(last, last.length - kept, next, 0, kept);
        next[kept] = price;
        return next;
    }
}
