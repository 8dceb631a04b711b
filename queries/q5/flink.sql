-- q5, hot items: for each 10 s window, every 2 s, the auctions with the most bids in it, all of them when several tie.

CREATE TABLE answer (
  auction BIGINT,
  num BIGINT,
  starttime TIMESTAMP(3),
  endtime TIMESTAMP(3)
) WITH (
  'connector' = 'nexmark-sink'
);

INSERT INTO answer
SELECT counts.auction, counts.num, counts.starttime, counts.endtime
FROM (
  SELECT auction, COUNT(*) AS num, window_start AS starttime, window_end AS endtime
  FROM TABLE(HOP(TABLE bid, DESCRIPTOR(`dateTime`), INTERVAL '2' SECOND, INTERVAL '10' SECOND))
  GROUP BY auction, window_start, window_end
) AS counts
JOIN (
  SELECT MAX(num) AS most, starttime, endtime
  FROM (
    SELECT auction, COUNT(*) AS num, window_start AS starttime, window_end AS endtime
    FROM TABLE(HOP(TABLE bid, DESCRIPTOR(`dateTime`), INTERVAL '2' SECOND, INTERVAL '10' SECOND))
    GROUP BY auction, window_start, window_end
  )
  GROUP BY starttime, endtime
) AS highest
ON counts.starttime = highest.starttime AND counts.endtime = highest.endtime AND counts.num >= highest.most;
