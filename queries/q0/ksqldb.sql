-- q0, pass-through: every bid, unchanged.

CREATE STREAM ${run}q0 WITH (KAFKA_TOPIC='${run}q0', VALUE_FORMAT='JSON') AS
SELECT auction, bidder, price, date_time, extra
FROM ${run}bid
EMIT CHANGES;
