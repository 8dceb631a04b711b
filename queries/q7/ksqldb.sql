-- q7, highest bid: for each 10 s window the bids at its highest price; all of them when several tie.

CREATE TABLE ${run}q7_top WITH (KAFKA_TOPIC='${run}q7_top', KEY_FORMAT='KAFKA', VALUE_FORMAT='JSON') AS
SELECT 1 AS k, WINDOWEND AS we, TOPK(price, auction, bidder, date_time, extra, 20) AS top
FROM ${run}bid
WINDOW TUMBLING (SIZE 10 SECONDS, RETENTION 1 DAY, GRACE PERIOD ${grace})
GROUP BY 1
EMIT FINAL;

CREATE STREAM ${run}q7_top_s (we BIGINT, top ARRAY<STRUCT<`sort_col` BIGINT, `col0` BIGINT, `col1` BIGINT,
  `col2` TIMESTAMP, `col3` STRING>>)
WITH (KAFKA_TOPIC='${run}q7_top', KEY_FORMAT='NONE', VALUE_FORMAT='JSON');

CREATE STREAM ${run}q7 WITH (KAFKA_TOPIC='${run}q7', VALUE_FORMAT='JSON') AS
SELECT EXPLODE(FILTER(top, x => x->`sort_col` = top[1]->`sort_col`)) AS r
FROM ${run}q7_top_s
EMIT CHANGES;
