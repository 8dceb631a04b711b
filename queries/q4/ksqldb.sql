-- q4, average price for a category: for each category the average of the winning prices of its auctions, where a bid
-- counts when it is made while the auction is open.

CREATE TABLE ${run}q4_max WITH (KAFKA_TOPIC='${run}q4_max', KEY_FORMAT='JSON', VALUE_FORMAT='JSON') AS
SELECT a.id AS id, a.category AS category, MAX(b.price) AS final
FROM ${run}auction a
JOIN ${run}bid b WITHIN (0 SECONDS, 1 DAY) GRACE PERIOD 1 DAY ON a.id = b.auction
WHERE b.date_time BETWEEN a.date_time AND a.expires
GROUP BY a.id, a.category
EMIT CHANGES;

CREATE TABLE ${run}q4 WITH (KAFKA_TOPIC='${run}q4', KEY_FORMAT='JSON', VALUE_FORMAT='JSON') AS
SELECT category, AVG(final) AS avg_final
FROM ${run}q4_max
GROUP BY category
EMIT CHANGES;
