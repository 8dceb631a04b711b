-- q12, processing-time windows: for each bidder the number of bids in each 10 s of processing time. The windows differ from
-- run to run, so that the answer is their sum for each bidder.
--
-- The last window fires only if the job outlives it: an answer is taken with a source that ends 'end.delay' = '11 s' after its
-- last event.

CREATE TABLE answer (
  bidder BIGINT,
  bid_count BIGINT,
  starttime TIMESTAMP(3),
  endtime TIMESTAMP(3)
) WITH (
  'connector' = 'nexmark-sink',
  'columns' = 'bidder;bid_count',
  'sum' = 'bid_count'
);

INSERT INTO answer
SELECT
  bidder,
  COUNT(*),
  TUMBLE_START(clock, INTERVAL '10' SECOND),
  TUMBLE_END(clock, INTERVAL '10' SECOND)
FROM (SELECT bidder, PROCTIME() AS clock FROM bid)
GROUP BY bidder, TUMBLE(clock, INTERVAL '10' SECOND);
