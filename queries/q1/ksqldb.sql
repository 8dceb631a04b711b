-- q1, currency conversion: every bid with its price in euros: price × 0.908, exact to three decimals.

CREATE STREAM ${run}q1 WITH (KAFKA_TOPIC='${run}q1', VALUE_FORMAT='JSON') AS
SELECT auction, bidder, CAST(0.908 * price AS DECIMAL(23, 3)) AS price, date_time, extra
FROM ${run}bid
EMIT CHANGES;
