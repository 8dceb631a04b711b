-- q7, highest bid: for each 10 s window the bids at its highest price, all of them when several tie.
--
-- Deviation from the query as it is usually benchmarked: a bid on the end of a window is not in that window, only in the
-- next one.

CREATE TABLE answer (
  auction BIGINT,
  bidder BIGINT,
  price BIGINT,
  `dateTime` TIMESTAMP(3),
  extra STRING
) WITH (
  'connector' = 'nexmark-sink'
);

INSERT INTO answer
SELECT B.auction, B.bidder, B.price, B.`dateTime`, B.extra
FROM bid AS B
JOIN (
  SELECT MAX(price) AS highest, window_start AS starttime, window_end AS endtime
  FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(`dateTime`), INTERVAL '10' SECOND))
  GROUP BY window_start, window_end
) AS W
ON B.price = W.highest
WHERE B.`dateTime` >= W.starttime AND B.`dateTime` < W.endtime;
