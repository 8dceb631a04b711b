-- q5, hot items: for each 10 s window, every 2 s, the auctions with the most bids in it; all of them when several
-- tie.

CREATE TABLE ${run}q5_counts WITH (KAFKA_TOPIC='${run}q5_counts', KEY_FORMAT='KAFKA', VALUE_FORMAT='JSON') AS
SELECT auction, AS_VALUE(auction) AS auction_id, WINDOWSTART AS ws, COUNT(*) AS num
FROM ${run}bid
WINDOW HOPPING (SIZE 10 SECONDS, ADVANCE BY 2 SECONDS, RETENTION 1 DAY, GRACE PERIOD ${grace})
GROUP BY auction
EMIT FINAL;

CREATE STREAM ${run}q5_counts_s (auction_id BIGINT, ws BIGINT, num BIGINT)
WITH (KAFKA_TOPIC='${run}q5_counts', KEY_FORMAT='NONE', VALUE_FORMAT='JSON', TIMESTAMP='ws');

CREATE TABLE ${run}q5_top WITH (KAFKA_TOPIC='${run}q5_top', KEY_FORMAT='KAFKA', VALUE_FORMAT='JSON') AS
SELECT ws, TOPK(num, auction_id, 100) AS top
FROM ${run}q5_counts_s
GROUP BY ws
EMIT CHANGES;

CREATE TABLE ${run}q5 WITH (KAFKA_TOPIC='${run}q5', KEY_FORMAT='KAFKA', VALUE_FORMAT='JSON') AS
SELECT ws, FILTER(top, x => x->`sort_col` = top[1]->`sort_col`) AS hot
FROM ${run}q5_top
EMIT CHANGES;
