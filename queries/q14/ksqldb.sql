-- q14, calculation: bids whose converted price lies between one and fifty millions, with the time of day as words
-- and the number of `c` in their text.

CREATE STREAM ${run}q14 WITH (KAFKA_TOPIC='${run}q14', VALUE_FORMAT='JSON') AS
SELECT
  auction,
  bidder,
  CAST(0.908 * price AS DECIMAL(23, 3)) AS price,
  CASE
    WHEN CAST(FORMAT_TIMESTAMP(date_time, 'HH', 'UTC') AS INT) >= 8
      AND CAST(FORMAT_TIMESTAMP(date_time, 'HH', 'UTC') AS INT) <= 18 THEN 'dayTime'
    WHEN CAST(FORMAT_TIMESTAMP(date_time, 'HH', 'UTC') AS INT) <= 6
      OR CAST(FORMAT_TIMESTAMP(date_time, 'HH', 'UTC') AS INT) >= 20 THEN 'nightTime'
    ELSE 'otherTime'
  END AS bid_time_type,
  date_time,
  extra,
  LEN(extra) - LEN(REPLACE(extra, 'c', '')) AS c_counts
FROM ${run}bid
WHERE 0.908 * price > 1000000 AND 0.908 * price < 50000000
EMIT CHANGES;
