-- q6, average selling price by seller: for each auction that was bid on, the average of the winning prices of its
-- seller's last ten such auctions up to it, in the order of (expires, id).

CREATE TABLE ${run}q6_win WITH (KAFKA_TOPIC='${run}q6_win', KEY_FORMAT='JSON', VALUE_FORMAT='JSON') AS
SELECT a.id AS id, a.seller AS seller, MAX(b.price) AS price
FROM ${run}auction a
JOIN ${run}bid b WITHIN (0 SECONDS, 1 DAY) GRACE PERIOD 1 DAY ON a.id = b.auction
WHERE b.date_time BETWEEN a.date_time AND a.expires
GROUP BY a.id, a.seller
EMIT CHANGES;

CREATE TABLE ${run}q6_list WITH (KAFKA_TOPIC='${run}q6_list', KEY_FORMAT='KAFKA', VALUE_FORMAT='JSON') AS
SELECT seller, COLLECT_LIST(price) AS prices
FROM ${run}q6_win
GROUP BY seller
EMIT CHANGES;

CREATE TABLE ${run}q6 WITH (KAFKA_TOPIC='${run}q6', VALUE_FORMAT='JSON') AS
SELECT seller, REDUCE(SLICE(prices, GREATEST(1, ARRAY_LENGTH(prices) - 9), ARRAY_LENGTH(prices)), CAST(0 AS BIGINT),
  (s, x) => s + x) / LEAST(10, ARRAY_LENGTH(prices)) AS avg_price
FROM ${run}q6_list
EMIT CHANGES;
