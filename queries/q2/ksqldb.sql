-- q2, selection: the bids on every 123rd auction.

CREATE STREAM ${run}q2 WITH (KAFKA_TOPIC='${run}q2', VALUE_FORMAT='JSON') AS
SELECT auction, price
FROM ${run}bid
WHERE auction % 123 = 0
EMIT CHANGES;
