-- q13, bounded side input join: every bid with the value that a side table of 10 000 keys has for its auction, as of
-- processing time.

CREATE STREAM ${run}q13 WITH (KAFKA_TOPIC='${run}q13', VALUE_FORMAT='JSON') AS
SELECT s.side_key AS side_key, b.auction AS auction, b.bidder AS bidder, b.price AS price, b.date_time AS date_time,
  s.side_value AS side_value
FROM ${run}bid b
JOIN ${run}side_input s ON b.auction % 10000 = s.side_key
EMIT CHANGES;
