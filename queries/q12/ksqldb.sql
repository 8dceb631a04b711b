-- q12, processing-time windows: for each bidder the number of bids in each 10 s of processing time.

CREATE STREAM ${run}q12_pt WITH (KAFKA_TOPIC='${run}q12_pt', VALUE_FORMAT='JSON', TIMESTAMP='p_time') AS
SELECT auction, bidder, UNIX_TIMESTAMP() AS p_time
FROM ${run}bid
EMIT CHANGES;

CREATE TABLE ${run}q12 WITH (KAFKA_TOPIC='${run}q12', KEY_FORMAT='KAFKA', VALUE_FORMAT='JSON') AS
SELECT bidder, COUNT(*) AS bid_count, WINDOWSTART AS starttime, WINDOWEND AS endtime
FROM ${run}q12_pt
WINDOW TUMBLING (SIZE 10 SECONDS, GRACE PERIOD 0 SECONDS)
GROUP BY bidder
EMIT CHANGES;
