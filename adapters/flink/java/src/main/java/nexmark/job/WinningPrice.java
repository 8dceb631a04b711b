package nexmark.job;

import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.PrimitiveArrayTypeInfo;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.table.data.RowData;
import org.apache.flink.util.Collector;

/**
 * The highest price of an auction among the bids made while it was open, both ends included; emitted when the watermark has
 * passed its end. Auctions without such a bid are left out. Bids that come before their auction are held as long as an
 * auction that was open at their time could still come.
 */
final class WinningPrice extends KeyedProcessFunction<Long, RowData, Winner> {
    private static final long serialVersionUID = 1;

    /** Columns of the input. */
    static final int ID = 0;

    private static final int DATE_TIME = 1;
    private static final int SELLER = 2;
    private static final int EXPIRES = 3;
    private static final int PRICE = 4;
    private static final int TIME_PRECISION = 3;
    private static final long NO_BID = -1;

    /** The auction: seller, start and end (epoch ms), highest price so far. */
    private transient ValueState<long[]> auction;
    /** Bids that came before it: time (epoch ms), price. */
    private transient ListState<long[]> early;

    @Override
    public void open(OpenContext context) {
        var type = PrimitiveArrayTypeInfo.LONG_PRIMITIVE_ARRAY_TYPE_INFO;
        auction = getRuntimeContext().getState(new ValueStateDescriptor<>("auction", type));
        early = getRuntimeContext().getListState(new ListStateDescriptor<>("early", type));
    }

    @Override
    public void processElement(RowData row, Context context, Collector<Winner> out) throws Exception {
        long time = row.getTimestamp(DATE_TIME, TIME_PRECISION).getMillisecond();
        if (row.isNullAt(SELLER)) {
            bid(time, row.getLong(PRICE), context);
        } else {
            long expires = row.getTimestamp(EXPIRES, TIME_PRECISION).getMillisecond();
            begin(new long[] {row.getLong(SELLER), time, expires, NO_BID}, context);
        }
    }

    @Override
    public void onTimer(long timer, OnTimerContext context, Collector<Winner> out) throws Exception {
        long[] open = auction.value();
        if (open != null && open[2] <= timer) {
            if (open[3] != NO_BID) {
                out.collect(new Winner(open[0], context.getCurrentKey(), open[2], open[3]));
            }
            auction.clear();
        }
        dropEarly(timer);
    }

    private void begin(long[] opened, Context context) throws Exception {
        for (long[] bid : early.get()) {
            offer(opened, bid[0], bid[1]);
        }
        early.clear();
        auction.update(opened);
        context.timerService().registerEventTimeTimer(opened[2]);
    }

    private void bid(long time, long price, Context context) throws Exception {
        long[] open = auction.value();
        if (open == null) {
            early.add(new long[] {time, price});
            context.timerService().registerEventTimeTimer(time);
        } else if (offer(open, time, price)) {
            auction.update(open);
        }
    }

    /** Whether a bid changes the auction. */
    private static boolean offer(long[] open, long time, long price) {
        boolean better = open[1] <= time && time <= open[2] && price > open[3];
        if (better) {
            open[3] = price;
        }
        return better;
    }

    private void dropEarly(long timer) throws Exception {
        List<long[]> kept = new ArrayList<>();
        boolean dropped = false;
        for (long[] bid : early.get()) {
            if (bid[0] > timer) {
                kept.add(bid);
            } else {
                dropped = true;
            }
        }
        if (dropped) {
            early.update(kept);
        }
    }
}
